//! What a program sees and what comes back, at every level.

mod support;

use cairn_executor::{ExecutorError, RunConfig, SandboxLevel};
use cairn_model::{
    Ending, Input,
    input::{FileKind, FileRegion, Setting},
    outcome::FileChange,
};
use std::{fs, os::unix::fs::PermissionsExt, time::Duration};
use support::{args, config, executor, program, program_with, run, stdout};

const LEVELS: [SandboxLevel; 3] = [SandboxLevel::Full, SandboxLevel::Basic, SandboxLevel::Off];

#[test]
fn arguments_stdin_and_streams_arrive() {
    let text = r#"
        #include <stdio.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            for (int i = 0; i < argc; i++) printf("[%s]", argv[i]);
            for (int c; (c = getchar()) != EOF;) putchar(c);
            printf(" %ld", (long)lseek(0, 1, SEEK_SET));
            fprintf(stderr, "warned");
            return 7;
        }"#;
    for level in LEVELS {
        let input = Input { stdin: "in\0put".into(), ..args(&["-x", "", "a b"]) };
        let execution = run(text, &input, level);
        assert_eq!(execution.outcome.ending, Ending::Exited { code: 7 }, "{level}");
        assert_eq!(stdout(&execution), "[target][-x][][a b]in\0put 1", "{level}");
        assert_eq!(execution.outcome.stderr.bytes, "warned".into(), "{level}");
    }
}

#[test]
fn the_environment_is_exactly_the_inputs() {
    let text = r#"
        #include <stdio.h>
        extern char **environ;
        int main(void) { for (char **e = environ; *e; e++) puts(*e); }"#;
    let input = Input {
        environment: vec![("MODE".into(), "fast".into()), ("HOME".into(), "/home".into())],
        setting: Setting { locale: "C.UTF-8".into(), time_zone: "Asia/Tokyo".into() },
        ..Input::default()
    };
    let execution = run(text, &input, SandboxLevel::Full);
    expect_test::expect![[r#"
        LC_ALL=C.UTF-8
        TZ=Asia/Tokyo
        PATH=/usr/local/bin:/usr/bin:/bin
        MODE=fast
        HOME=/home
    "#]]
    .assert_eq(&stdout(&execution));
}

#[test]
fn only_the_streams_and_the_channel_are_open() {
    let text = r#"
        #include <fcntl.h>
        #include <stdio.h>
        int main(void) { for (int i = 0; i < 1024; i++) if (fcntl(i, F_GETFD) >= 0) printf("%d ", i); }"#;
    for level in LEVELS {
        assert_eq!(stdout(&run(text, &Input::default(), level)), "0 1 2 190 ", "{level}");
    }
}

#[test]
fn crashes_keep_their_signal() {
    let text = r#"
        #include <stdlib.h>
        #include <signal.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            switch (argv[1][0]) {
            case 'a': abort();
            case 's': *(volatile int *)8 = 1;
            case 'f': raise(SIGFPE);
            case 'k': kill(getpid(), SIGKILL);
            case 't': raise(SIGTERM);
            }
        }"#;
    for level in LEVELS {
        for (which, signal) in [("a", 6), ("s", 11), ("f", 8), ("k", 9), ("t", 15)] {
            assert_eq!(
                run(text, &args(&[which]), level).outcome.ending,
                Ending::Signalled { signal },
                "{level} {which}"
            );
        }
    }
}

#[test]
fn addresses_and_process_ids_do_not_change_between_runs() {
    let text = r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            int local;
            printf("%p %p %p", (void *)&local, malloc(1), (void *)main);
            if (argc > 1) printf(" %d", getpid());
        }"#;
    let program = program(text);
    let mut executor = executor(&program, config(SandboxLevel::Full));
    // Without a pid namespace the kernel chooses the number.
    let input = if executor.layers().has_namespaces { args(&["pid"]) } else { Input::default() };
    let stability = executor.run_twice(&input).unwrap();
    assert!(stability.is_stable(), "{stability:?}");
}

#[test]
fn running_twice_names_what_differs() {
    let text = r#"
        #include <stdio.h>
        #include <time.h>
        int main(void) {
            struct timespec now;
            clock_gettime(CLOCK_MONOTONIC, &now);
            FILE *file = fopen("stamp", "w");
            fprintf(file, "%ld", now.tv_nsec);
            puts("same");
        }"#;
    let program = program(text);
    let stability = executor(&program, config(SandboxLevel::Full)).run_twice(&Input::default()).unwrap();
    assert_eq!(stability.unstable, ["file stamp"]);
}

#[test]
fn files_are_laid_out_with_their_metadata_and_changes_come_back() {
    let text = r#"
        #include <stdio.h>
        #include <sys/stat.h>
        #include <unistd.h>
        int main(void) {
            struct stat s;
            stat("in.txt", &s);
            printf("%o %ld %ld\n", s.st_mode & 07777, (long)s.st_size, (long)s.st_mtime);
            FILE *out = fopen("folder/out", "w");
            fputs("made", out);
            unlink("gone");
            return symlink("in.txt", "link") + mkdir("new", 0700);
        }"#;
    let file = |path: &str, content: &str| FileRegion {
        path: path.into(),
        kind: FileKind::Regular(content.into()),
        mode: None,
        size: None,
        modified: None,
        accessed: None,
        owner: None,
    };
    let input = Input {
        files: vec![
            FileRegion { mode: Some(0o640), size: Some(10), modified: Some(77), ..file("in.txt", "abc") },
            file("gone", "x"),
            file("folder/kept", "y"),
        ],
        ..Input::default()
    };
    for level in LEVELS {
        let execution = run(text, &input, level);
        assert_eq!(stdout(&execution), "640 10 77\n", "{level}");
        assert_eq!(execution.outcome.ending, Ending::Exited { code: 0 });
        let changed: Vec<_> = execution.outcome.files.keys().map(String::as_str).collect();
        assert_eq!(changed, ["folder/out", "gone", "link", "new"], "{level}");
        assert_eq!(execution.outcome.files["gone"], FileChange::Removed);
        assert_eq!(execution.outcome.files["link"], FileChange::Link { target: "in.txt".into() });
        let FileChange::Written { content, mode } = &execution.outcome.files["folder/out"] else { panic!() };
        assert_eq!((content.bytes.clone(), *mode), ("made".into(), 0o644));
    }
}

#[test]
fn metadata_in_the_scratch_folder_is_free_where_namespaces_guard_the_rest() {
    let text = r#"
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/stat.h>
        #include <unistd.h>
        int main(void) {
            struct timespec past[2] = {{1, 0}, {1, 0}};
            int fd = open("mine", O_CREAT | O_WRONLY, 0644);
            return fd < 0 || fchmod(fd, 0600) || utimensat(AT_FDCWD, "mine", past, 0) || truncate("mine", 5)
                || chown("mine", getuid(), -1) || rename("mine", "yours");
        }"#;
    let program = program(text);
    let mut executor = executor(&program, config(SandboxLevel::Full));
    let execution = executor.run(&Input::default()).unwrap();
    if executor.layers().has_namespaces {
        assert_eq!(execution.outcome.ending, Ending::Exited { code: 0 }, "{execution:?}");
    } else {
        assert_eq!(execution.refused, ["fchmod"]);
    }
}

#[test]
fn a_run_sees_only_itself_and_harmless_devices() {
    let text = r#"
        #include <dirent.h>
        #include <stdio.h>
        static void list(const char *path, int numbers) {
            DIR *folder = opendir(path);
            struct dirent *entry;
            int n = 0;
            while (folder && (entry = readdir(folder)))
                n += !numbers || (entry->d_name[0] >= '0' && entry->d_name[0] <= '9');
            printf("%s %d\n", path, n);
        }
        int main(void) { list("/proc", 1); list("/dev", 0); list("/dev/shm", 0); }"#;
    let program = program(text);
    let mut executor = executor(&program, config(SandboxLevel::Full));
    let execution = executor.run(&Input::default()).unwrap();
    if executor.layers().has_namespaces {
        // The keeper and the program; five devices, four links, shm, `.` and `..`.
        assert_eq!(stdout(&execution), "/proc 2\n/dev 12\n/dev/shm 2\n");
    }
}

#[test]
fn executors_move_between_threads_and_run_side_by_side() {
    let program = program("int main(int argc, char **argv) { return argv[1][0] - '0'; }");
    let executors: Vec<_> = (0..4).map(|_| executor(&program, config(SandboxLevel::Full))).collect();
    std::thread::scope(|scope| {
        for (number, mut executor) in executors.into_iter().enumerate() {
            scope.spawn(move || {
                for _ in 0..10 {
                    let ending = executor.run(&args(&[&number.to_string()])).unwrap().outcome.ending;
                    assert_eq!(ending, Ending::Exited { code: number as u8 });
                }
            });
        }
    });
}

#[test]
fn a_run_starts_in_a_fresh_folder() {
    let text = r#"
        #include <stdio.h>
        #include <sys/stat.h>
        #include <unistd.h>
        int main(void) {
            int failed = mkdir("deep", 0700);
            for (int i = 0; i < 3000; i++)
                if (mkdir("d", 0700) || chdir("d")) return 2;
            printf("%d", failed);
        }"#;
    let program = program(text);
    let mut executor =
        executor(&program, RunConfig { wall_limit: Duration::from_secs(10), ..config(SandboxLevel::Full) });
    for _ in 0..2 {
        let execution = executor.run(&Input::default()).unwrap();
        assert_eq!(stdout(&execution), "0");
        assert!(execution.outcome.files_cut);
    }
}

#[test]
fn output_beyond_the_limit_is_counted_but_not_kept() {
    let text = r#"
        #include <stdio.h>
        int main(void) { for (int i = 0; i < 5000; i++) putchar('a'); }"#;
    let program = program(text);
    let execution = executor(&program, RunConfig { output_limit: 100, ..config(SandboxLevel::Full) })
        .run(&Input::default())
        .unwrap();
    assert_eq!((execution.outcome.stdout.bytes.0.len(), execution.outcome.stdout.total), (100, 5000));
    assert!(execution.outcome.stdout.is_truncated());
}

#[test]
fn other_programs_run_only_on_request() {
    let text = r#"
        #include <stdio.h>
        #include <unistd.h>
        int main(void) { execl("/bin/echo", "echo", "executed", (char *)0); perror("exec"); return 1; }"#;
    let program = program(text);
    for level in [SandboxLevel::Full, SandboxLevel::Basic] {
        let execution = executor(&program, config(level)).run(&Input::default()).unwrap();
        assert_eq!(execution.outcome.ending, Ending::Exited { code: 1 });
        assert_eq!(execution.refused, ["execve"]);
        let allowed = executor(&program, RunConfig { allow_exec: true, ..config(level) })
            .run(&Input::default())
            .unwrap();
        assert_eq!(stdout(&allowed), "executed\n");
    }
}

#[test]
fn threads_and_children_of_a_program_work() {
    let text = r#"
        #include <pthread.h>
        #include <signal.h>
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static void *work(void *x) { return x; }
        int main(void) {
            pthread_t thread;
            if (pthread_create(&thread, 0, work, 0) || pthread_join(thread, 0)) return 1;
            pid_t child = fork();
            if (child == 0) for (;;) pause();
            int status;
            kill(child, SIGTERM);
            waitpid(child, &status, 0);
            printf("%d", WTERMSIG(status));
        }"#;
    for level in LEVELS {
        assert_eq!(stdout(&run(text, &Input::default(), level)), "15", "{level}");
    }
}

#[test]
fn a_program_only_root_can_reach_still_runs_with_its_libraries() {
    let library =
        program_with("int answer(void) { return 42; }", &["-shared", "-fPIC", "-Wl,-soname,libanswer.so"]);
    let text = "#include <stdio.h>\nint answer(void); int main(void) { printf(\"%d\", answer()); }";
    let program = program_with(text, &["-Wl,-rpath,$ORIGIN", library.path.to_str().unwrap()]);
    fs::copy(&library.path, program.folder.path().join("libanswer.so")).unwrap();
    fs::set_permissions(program.folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let execution = executor(&program, config(SandboxLevel::Full)).run(&Input::default()).unwrap();
    assert_eq!(stdout(&execution), "42", "{:?}", execution.outcome.stderr.bytes);
}

#[test]
fn a_program_only_root_can_read_still_runs() {
    let text = "#include <unistd.h>\nint main(void) { return access(\"/proc/self/exe\", R_OK); }";
    for level in LEVELS {
        let program = program(text);
        fs::set_permissions(&program.path, fs::Permissions::from_mode(0o700)).unwrap();
        let execution = executor(&program, config(level)).run(&Input::default()).unwrap();
        assert_eq!(execution.outcome.ending, Ending::Exited { code: 0 }, "{level}");
        let program = self::program(text);
        fs::set_permissions(program.folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let execution = executor(&program, config(level)).run(&Input::default()).unwrap();
        assert_eq!(execution.outcome.ending, Ending::Exited { code: 0 }, "{level}");
    }
}

#[test]
fn what_cannot_be_executed_is_an_error_with_a_name() {
    let folder = support::readable_folder();
    let path = folder.path().join("text");
    fs::write(&path, "no program").unwrap();
    let target = |path: &std::path::Path| cairn_executor::Target { program: path.into(), n_counters: 0 };
    let new =
        |path: &std::path::Path| cairn_executor::Executor::new(target(path), config(SandboxLevel::Full));
    assert!(matches!(new(&folder.path().join("absent")).unwrap_err(), ExecutorError::Program { .. }));
    assert!(matches!(new(&path).unwrap_err(), ExecutorError::Program { .. }));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let error = new(&path).unwrap().run(&Input::default()).unwrap_err();
    assert!(matches!(error, ExecutorError::Exec { .. }), "{error}");
    assert!(error.hint().unwrap().contains("executable"));
}

#[test]
fn a_zero_byte_in_an_argument_is_an_error_with_a_name() {
    let program = program("int main(void) { return 0; }");
    let mut executor = executor(&program, config(SandboxLevel::Full));
    let error = executor.run(&args(&["a", "b\0c"])).unwrap_err();
    assert_eq!(error.to_string(), "argument 2 of the input contains a zero byte");
    assert!(executor.run(&args(&["fine"])).is_ok());
}

#[test]
fn too_many_arguments_are_an_error_with_a_name() {
    let program = program("int main(void) { return 0; }");
    let mut executor = executor(&program, config(SandboxLevel::Full));
    let long = "x".repeat(100_000);
    let error = executor.run(&args(&vec![long.as_str(); 40])).unwrap_err();
    assert!(matches!(error, ExecutorError::BadArgument { .. }), "{error}");
    let error = executor.run(&args(&vec![long.as_str(); 80])).unwrap_err();
    assert!(matches!(error, ExecutorError::ArgumentsTooLarge { .. }), "{error}");
}
