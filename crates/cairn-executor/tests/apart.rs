//! Nothing of a run reaches the next one, the keeper, or the machine after the executor's end.

mod support;

use cairn_executor::{Executor, ExecutorError, RunConfig, SandboxLevel, Target};
use cairn_model::{Ending, Input, outcome::FileChange};
use std::{fs, os::unix::fs::PermissionsExt, process::Command, time::Duration};
use support::{args, config, executor, is_ordinary_user, processes_running, program, run, stdout};

const LEVELS: [SandboxLevel; 3] = [SandboxLevel::Full, SandboxLevel::Basic, SandboxLevel::Off];

/// Tells about its folder, then spoils it.
const SPOILER: &str = r#"
    #include <stdio.h>
    #include <sys/stat.h>
    #include <sys/xattr.h>
    #include <unistd.h>
    int main(void) {
        struct stat s;
        char names[100];
        int access = stat(".", &s);
        printf("%d %o %ld %ld", access, s.st_mode, (long)s.st_mtime, (long)listxattr(".", names, sizeof names));
        setxattr(".", "user.left", "x", 1, 0);
        mkdir("closed", 0700); mkdir("closed/inner", 0700); mkdir("closed/inner/most", 0700);
        chmod("closed/inner", 0); chmod("closed", 0); mkdir("born", 0);
        chmod(".", 0);
    }"#;

fn check_spoiler() {
    let program = program(SPOILER);
    for level in LEVELS {
        let mut executor = match Executor::new(
            Target { program: program.path.clone(), n_counters: 0 },
            RunConfig { wall_limit: Duration::from_secs(10), ..config(level) },
        ) {
            Err(ExecutorError::SandboxUnavailable { .. }) => continue,
            other => other.unwrap(),
        };
        let stability = executor.run_twice(&Input::default()).unwrap();
        assert!(stability.is_stable(), "{level}: {:?}", stability.unstable);
        assert!(stability.unknown.is_empty(), "{level}: {:?}", stability.unknown);
        let told = stdout(&stability.first);
        assert!(told.starts_with("0 40755 1000000000 "), "{level}: {told}");
        assert!(stability.first.outcome.files.contains_key("closed/inner/most"), "{level}");
        executor.run(&Input::default()).unwrap();
    }
}

#[test]
fn what_a_run_does_to_its_folder_does_not_reach_the_next() {
    check_spoiler();
}

#[test]
fn closed_folders_do_not_stop_an_ordinary_user() {
    if is_ordinary_user("closed_folders_do_not_stop_an_ordinary_user") {
        check_spoiler();
    }
}

#[test]
fn files_beyond_the_limit_make_outcomes_unknown() {
    let text = r#"
        #include <stdio.h>
        #include <fcntl.h>
        #include <unistd.h>
        int main(void) {
            char name[20];
            for (int i = 0; i < 10100; i++) { sprintf(name, "%d", i); close(open(name, O_CREAT, 0600)); }
        }"#;
    let program = program(text);
    let config = RunConfig { wall_limit: Duration::from_secs(10), ..config(SandboxLevel::Full) };
    let stability = executor(&program, config).run_twice(&Input::default()).unwrap();
    assert!(stability.first.outcome.files_cut);
    assert_eq!((stability.unstable.len(), stability.unknown), (0, vec!["files".to_string()]));
}

#[test]
fn pipes_and_sockets_come_back_as_what_they_are() {
    let text = r#"
        #include <sys/stat.h>
        int main(void) { return mkfifo("pipe", 0600) || mknod("socket", S_IFSOCK | 0600, 0); }"#;
    for level in LEVELS {
        let outcome = run(text, &Input::default(), level).outcome;
        assert_eq!(outcome.ending, Ending::Exited { code: 0 }, "{level}");
        for name in ["pipe", "socket"] {
            let FileChange::Special { kind, mode } = &outcome.files[name] else { panic!("{outcome:?}") };
            assert_eq!((kind.to_string().as_str(), *mode), (name, 0o600), "{level}");
        }
    }
}

#[test]
fn signals_a_program_sends_itself_keep_their_names() {
    let text = r#"
        #include <signal.h>
        #include <stdlib.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            int signal = atoi(argv[1]);
            if (argc > 2) kill(0, signal);
            raise(signal);
        }"#;
    for level in LEVELS {
        for signal in [libc::SIGSYS, libc::SIGXFSZ] {
            for more in [&[][..], &["group"]] {
                let number = signal.to_string();
                let arguments: Vec<_> = [number.as_str()].iter().chain(more).copied().collect();
                let ending = run(text, &args(&arguments), level).outcome.ending;
                assert_eq!(ending, Ending::Signalled { signal }, "{level} {more:?}");
            }
        }
    }
}

#[test]
fn too_large_a_file_is_told_even_if_it_is_gone() {
    let text = r#"
        #include <fcntl.h>
        #include <unistd.h>
        static char block[1 << 20];
        int main(int argc, char **argv) {
            int fd = open("large", O_CREAT | O_RDWR, 0600);
            if (argc > 1) unlink("large");
            for (;;) if (write(fd, block, sizeof block) < 0) return 1;
        }"#;
    for level in LEVELS {
        assert_eq!(run(text, &Input::default(), level).outcome.ending, Ending::TooMuchOutput, "{level}");
    }
    let ending = run(text, &args(&["remove"]), SandboxLevel::Full).outcome.ending;
    assert_eq!(ending, Ending::TooMuchOutput);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_of_another_architecture_end_the_run() {
    let text = r#"
        int main(void) {
            int result;
            __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
            return result < 0;
        }"#;
    let ending = |level| run(text, &Input::default(), level).outcome.ending;
    if ending(SandboxLevel::Off) != (Ending::Exited { code: 0 }) {
        println!("this kernel has no such calls");
        return;
    }
    for level in [SandboxLevel::Full, SandboxLevel::Basic] {
        let what = "a system call of another architecture".into();
        assert_eq!(ending(level), Ending::Forbidden { what }, "{level}");
    }
}

#[test]
fn a_program_below_the_mount_point_runs() {
    let base = support::readable_folder();
    let program = program("#include <stdio.h>\n#include <unistd.h>\nint main(void) { puts(getcwd(0, 0)); }");
    let folder = base.path().join("cairn-sandbox/project");
    fs::create_dir_all(&folder).unwrap();
    let moved = folder.join("target");
    fs::copy(&program.path, &moved).unwrap();
    let config = RunConfig { base_folder: base.path().into(), ..config(SandboxLevel::Full) };
    let mut executor = Executor::new(Target { program: moved, n_counters: 0 }, config).unwrap();
    let stability = executor.run_twice(&Input::default()).unwrap();
    assert_eq!(stability.first.outcome.ending, Ending::Exited { code: 0 });
    assert!(stability.is_stable());
}

/// Tries to change its parent, then itself; prints a bit for each way that worked.
const MEDDLER: &str = r#"
    #define _GNU_SOURCE
    #include <sched.h>
    #include <stdio.h>
    #include <sys/resource.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static int meddle(int pid) {
        cpu_set_t cpus;
        struct sched_param p = {0};
        struct rlimit limit;
        sched_getaffinity(0, sizeof cpus, &cpus);
        getrlimit(RLIMIT_CPU, &limit);
        return !sched_setaffinity(pid, sizeof cpus, &cpus) | !setpriority(PRIO_PROCESS, pid, 5) << 1
            | !sched_setscheduler(pid, SCHED_BATCH, &p) << 2 | !syscall(SYS_ioprio_set, 1, pid, 3 << 13) << 3
            | !prlimit(pid, RLIMIT_CPU, &limit, 0) << 4 | (syscall(SYS_pidfd_open, pid, 0) >= 0) << 5;
    }
    int main(int argc, char **argv) {
        // Where it is not refused, it would change all of the user's processes.
        int user = argc > 1 && (!setpriority(PRIO_USER, 0, 5) || !syscall(SYS_ioprio_set, 3, 0, 3 << 13));
        printf("%d %d %d", meddle(getppid()), user, meddle(getpid()));
    }"#;

#[test]
fn a_keeper_cannot_be_changed_by_its_target() {
    if !is_ordinary_user("a_keeper_cannot_be_changed_by_its_target") {
        return;
    }
    for level in [SandboxLevel::Full, SandboxLevel::Basic] {
        let program = program(MEDDLER);
        match Executor::new(Target { program: program.path.clone(), n_counters: 0 }, config(level)) {
            Err(ExecutorError::SandboxUnavailable { .. }) => continue,
            other => {
                let execution = other.unwrap().run(&args(&["user"])).unwrap();
                assert_eq!(stdout(&execution), "0 0 63", "{level}: {:?}", execution.refused);
                assert!(execution.refused.contains(&"sched_setaffinity".into()), "{level}");
            }
        }
    }
    // The proof that it would work otherwise.
    assert_eq!(stdout(&run(MEDDLER, &Input::default(), SandboxLevel::Off)), "63 0 63");
}

/// Takes memory as time goes by, so that a slow machine sees the same; with an argument all of it at once.
const GROWER: &str = r#"
    #include <stdlib.h>
    #include <string.h>
    #include <time.h>
    #include <unistd.h>
    static double now(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec + t.tv_nsec / 1e9;
    }
    int main(int argc, char **argv) {
        double start = now();
        for (int taken = 0; taken < 100;) {
            if (argc < 2 && taken > (now() - start) * 100) { usleep(1000); continue; }
            char *volatile block = malloc(1 << 20);
            memset(block, 1, 1 << 20);
            taken++;
        }
        for (;;) pause();
    }"#;

#[test]
fn memory_that_grows_until_the_time_is_up_is_told_from_a_hang() {
    let program = program(GROWER);
    for level in LEVELS {
        let limits = RunConfig { wall_limit: Duration::from_secs(1), ..config(level) };
        let mut executor = executor(&program, limits);
        assert_eq!(executor.run(&Input::default()).unwrap().outcome.ending, Ending::OutOfMemory, "{level}");
        assert_eq!(executor.run(&args(&["once"])).unwrap().outcome.ending, Ending::TimedOut, "{level}");
    }
}

/// The folders an executor of process `pid` has made.
fn folders_of(pid: u32) -> Vec<String> {
    let prefix = format!("cairn-scratch-{pid}-");
    ["/dev/shm", "/tmp"]
        .into_iter()
        .filter_map(|base| fs::read_dir(base).ok())
        .flat_map(|entries| entries.flatten())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(&prefix))
        .collect()
}

#[test]
fn an_executor_that_is_killed_leaves_nothing() {
    const PROGRAM: &str = "CAIRN_TEST_PROGRAM";
    const LEVEL: &str = "CAIRN_TEST_LEVEL";
    if let Some(path) = std::env::var_os(PROGRAM) {
        let level = std::env::var(LEVEL).unwrap().parse().unwrap();
        let config = RunConfig { wall_limit: Duration::from_secs(30), ..config(level) };
        let target = Target { program: path.into(), n_counters: 0 };
        let _ = Executor::new(target, config).unwrap().run(&Input::default());
        return;
    }
    let program = program(
        r#"
        #include <sys/stat.h>
        #include <unistd.h>
        int main(void) {
            mkdir("a", 0700); mkdir("a/b", 0700); mkdir("a/b/c", 0700); mkdir("a/closed", 0);
            for (;;) pause();
        }"#,
    );
    for level in LEVELS {
        let mut host = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "an_executor_that_is_killed_leaves_nothing"])
            .env(PROGRAM, &program.path)
            .env(LEVEL, level.to_string())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while processes_running(&program).is_empty() {
            assert!(host.try_wait().unwrap().is_none(), "{level}: it never ran");
        }
        assert_eq!(folders_of(host.id()).is_empty(), level == SandboxLevel::Full, "{level}");
        host.kill().unwrap();
        host.wait().unwrap();
        // The keeper notices at its own pace.
        let gone = (0..2000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            folders_of(host.id()).is_empty() && processes_running(&program).is_empty()
        });
        assert!(gone, "{level}: {:?} {:?}", folders_of(host.id()), processes_running(&program));
    }
}

#[test]
fn a_folder_nobody_uses_is_removed_by_the_next_executor() {
    let mut gone = Command::new("/bin/true").spawn().unwrap();
    gone.wait().unwrap();
    let base = support::readable_folder();
    let stale = base.path().join(format!("cairn-scratch-{}-x", gone.id()));
    let used = base.path().join(format!("cairn-scratch-{}-x", std::process::id()));
    fs::create_dir_all(stale.join("inner")).unwrap();
    fs::create_dir(&used).unwrap();
    let program = program("int main(void) {}");
    let config = RunConfig { base_folder: base.path().into(), ..config(SandboxLevel::Off) };
    drop(executor(&program, config));
    assert_eq!((stale.exists(), used.exists()), (false, true));
}

#[test]
fn a_copy_of_a_program_only_root_can_read_leaves_no_trace() {
    let program = program("int main(void) { return 4; }");
    fs::set_permissions(&program.path, fs::Permissions::from_mode(0o700)).unwrap();
    let base = support::readable_folder();
    for level in LEVELS {
        let config = RunConfig { base_folder: base.path().into(), ..config(level) };
        let mut executor = executor(&program, config);
        assert_eq!(executor.run(&Input::default()).unwrap().outcome.ending, Ending::Exited { code: 4 });
        let left = fs::read_dir(base.path()).unwrap().flatten().map(|entry| entry.file_name());
        assert!(left.into_iter().all(|name| name == "cairn-sandbox"), "{level}");
    }
}
