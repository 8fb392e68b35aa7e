//! Programs that misbehave: each gets a named verdict, and nothing outside the scratch folder changes.
//!
//! The level this machine reaches is printed: `cargo test -p cairn-executor --test hostile -- --nocapture`.

mod support;

use cairn_executor::{
    Execution, Executor, ExecutorError, RunConfig, SandboxLevel, Target,
    sandbox::{UNPRIVILEGED, probe},
};
use cairn_model::{Ending, Input};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    time::Duration,
};
use support::{args, config, fixture, processes_running};
use tempfile::TempDir;

/// Runs `fixtures/hostile_<name>` at both levels, the path of a victim folder as its argument, and passes each run
/// to `check`.
fn check(name: &str, check: impl Fn(&Execution)) {
    let program = fixture(&format!("hostile_{name}"));
    for level in [SandboxLevel::Full, SandboxLevel::Basic] {
        let target = Target { program: program.path.clone(), n_counters: 0 };
        let mut executor = match Executor::new(target, config(level)) {
            Ok(executor) => executor,
            Err(error @ ExecutorError::SandboxUnavailable { .. }) => {
                println!("{name} at {level}: not run, {error}");
                assert!(error.hint().is_some());
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        println!("{name} at {level}: {}", executor.layers());
        let victim = Victim::new();
        let input = args(&[victim.path()]);
        let execution = executor.run(&input).unwrap();
        check(&execution);
        victim.assert_unharmed(name, level);
        assert_eq!(processes_running(&program), [""; 0], "{name} at {level}");
        // The keeper is well: an ordinary verdict follows.
        assert!(executor.run(&input).is_ok());
    }
}

fn check_ending(name: &str, ending: Ending) {
    check(name, |execution| assert_eq!(execution.outcome.ending, ending, "{execution:?}"));
}

/// It tried, was refused, and said so.
const REFUSED: Ending = Ending::Exited { code: 1 };

fn forbidden(what: &str) -> Ending {
    Ending::Forbidden { what: what.into() }
}

#[test]
fn the_level_reached_here_is_told() {
    let report = probe(Path::new("/tmp"));
    println!("{report}");
    for level in [SandboxLevel::Full, SandboxLevel::Basic, SandboxLevel::Off] {
        let target = Target { program: "/bin/true".into(), n_counters: 0 };
        let reached = Executor::new(target, config(level));
        assert_eq!(reached.is_ok(), level <= report.level(), "{level}: {:?}", reached.err());
        if let Ok(executor) = reached {
            assert_eq!(Ok(executor.layers()), report.layers(level));
        }
    }
}

#[test]
fn a_crash_before_main_is_a_crash() {
    check_ending("crashes_before_main", Ending::Signalled { signal: libc::SIGABRT });
}

#[test]
fn a_hang_is_timed_out() {
    check_ending("hangs", Ending::TimedOut);
}

#[test]
fn a_fork_bomb_is_timed_out_and_gone() {
    check_ending("fork_bomb", Ending::TimedOut);
}

#[test]
fn a_daemon_does_not_outlive_the_run() {
    check_ending("leaves_a_daemon", Ending::Exited { code: 0 });
}

/// The victim's path is an argument, so the program ignores the signal and goes on printing.
#[test]
fn endless_output_is_cut_even_if_the_program_insists() {
    check("prints_forever", |execution| {
        assert_eq!(execution.outcome.ending, Ending::TimedOut);
        assert!(execution.outcome.stdout.is_truncated());
        assert_eq!(execution.outcome.stdout.bytes.0.len(), 1 << 20);
    });
}

#[test]
fn deleting_outside_is_refused() {
    check_ending("deletes_outside", REFUSED);
}

#[test]
fn writing_outside_is_refused() {
    check_ending("writes_outside", REFUSED);
}

#[test]
fn renaming_outside_is_refused() {
    check_ending("renames_outside", REFUSED);
}

#[test]
fn chmod_outside_is_refused() {
    check_ending("chmods_outside", REFUSED);
}

#[test]
fn chown_outside_is_refused() {
    check_ending("chowns_outside", REFUSED);
}

#[test]
fn setting_times_outside_is_refused() {
    check_ending("sets_times_outside", REFUSED);
}

#[test]
fn setting_attributes_outside_is_refused() {
    check_ending("sets_xattrs_outside", REFUSED);
}

#[test]
fn truncating_outside_is_refused() {
    check_ending("truncates_outside", REFUSED);
}

#[test]
fn sockets_are_refused_and_noted() {
    check("opens_sockets", |execution| {
        assert_eq!(execution.outcome.ending, REFUSED);
        assert_eq!(execution.refused, ["socket"]);
    });
}

#[test]
fn shared_memory_is_refused_and_noted() {
    check("makes_shared_memory", |execution| {
        assert_eq!(execution.outcome.ending, REFUSED);
        assert_eq!(execution.refused, ["shmget"]);
    });
}

#[test]
fn killing_the_parent_ends_the_run() {
    check_ending("kills_its_parent", forbidden("kill"));
}

#[test]
fn signalling_everybody_ends_the_run() {
    check_ending("kills_everybody", forbidden("kill"));
}

#[test]
fn stopping_is_noticed_at_once() {
    check_ending("stops_itself", Ending::Stopped);
}

#[test]
fn io_uring_ends_the_run() {
    check_ending("uses_io_uring", forbidden("io_uring_setup"));
}

#[test]
fn ptrace_ends_the_run() {
    check_ending("uses_ptrace", forbidden("ptrace"));
}

/// Runs without a victim: an argument changes what these programs do.
fn ending_alone(name: &str, arguments: &[&str], level: SandboxLevel) -> Ending {
    let program = fixture(name);
    let config = RunConfig { wall_limit: Duration::from_secs(10), ..config(level) };
    support::executor(&program, config).run(&args(arguments)).unwrap().outcome.ending
}

#[test]
fn memory_without_end_is_told_from_a_crash_and_from_an_exit() {
    for level in [SandboxLevel::Full, SandboxLevel::Basic, SandboxLevel::Off] {
        let ending = |arguments: &[&str]| ending_alone("hostile_allocates_forever", arguments, level);
        assert_eq!(ending(&[]), Ending::OutOfMemory, "{level}");
        assert_eq!(ending(&["careful"]), Ending::Exited { code: 3 }, "{level}");
    }
}

#[test]
fn the_limit_on_output_holds_without_a_sandbox() {
    for level in [SandboxLevel::Full, SandboxLevel::Off] {
        assert_eq!(ending_alone("hostile_prints_forever", &[], level), Ending::TooMuchOutput, "{level}");
    }
}

/// The proof that the tests above can fail.
#[test]
fn the_same_programs_do_harm_without_the_sandbox() {
    for name in [
        "writes_outside",
        "deletes_outside",
        "renames_outside",
        "chmods_outside",
        "chowns_outside",
        "sets_times_outside",
        "sets_xattrs_outside",
        "truncates_outside",
    ] {
        let program = fixture(&format!("hostile_{name}"));
        let victim = Victim::new();
        let mut executor = support::executor(&program, config(SandboxLevel::Off));
        let execution = executor.run(&args(&[victim.path()])).unwrap();
        assert_eq!(execution.outcome.ending, Ending::Exited { code: 0 }, "{name}: {execution:?}");
        assert_ne!(victim.before, snapshot(victim.folder.path()), "{name}");
    }
}

/// Likewise for the search for processes left behind.
#[test]
fn processes_of_a_run_are_seen_from_outside_while_it_lasts() {
    let program = fixture("hostile_hangs");
    for level in [SandboxLevel::Full, SandboxLevel::Off] {
        let mut executor = support::executor(&program, config(level));
        std::thread::scope(|scope| {
            let run = scope.spawn(move || executor.run(&Input::default()).unwrap());
            let mut seen = false;
            while !run.is_finished() && !seen {
                seen = !processes_running(&program).is_empty();
            }
            assert!(seen, "{level}");
        });
        assert_eq!(processes_running(&program), [""; 0], "{level}");
    }
}

#[test]
fn a_keeper_killed_without_the_sandbox_is_an_error_with_a_hint() {
    let program = fixture("hostile_kills_its_parent");
    let error = support::executor(&program, config(SandboxLevel::Off)).run(&Input::default()).unwrap_err();
    assert!(matches!(error, ExecutorError::KeeperLost), "{error}");
    assert!(error.hint().unwrap().contains("--sandbox full"));
}

/// A folder outside that the target's user owns, so that only the sandbox protects it.
struct Victim {
    folder: TempDir,
    before: BTreeMap<PathBuf, String>,
}

impl Victim {
    fn new() -> Self {
        let folder = support::readable_folder();
        let path = folder.path();
        fs::create_dir(path.join("folder")).unwrap();
        fs::write(path.join("file"), "precious").unwrap();
        fs::write(path.join("folder/inner"), "precious too").unwrap();
        for entry in ["", "file", "folder", "folder/inner"] {
            let entry = path.join(entry);
            let mode = if entry.is_dir() { 0o777 } else { 0o666 };
            fs::set_permissions(&entry, fs::Permissions::from_mode(mode)).unwrap();
            // Without privileges the target runs as this user, who owns it already.
            let _ = chown(&entry, Some(UNPRIVILEGED.0), Some(UNPRIVILEGED.1));
        }
        let before = snapshot(path);
        Self { folder, before }
    }

    fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    fn assert_unharmed(&self, name: &str, level: SandboxLevel) {
        assert_eq!(self.before, snapshot(self.folder.path()), "{name} at {level}");
    }
}

/// Everything about a folder. The change time moves with content, mode, owner, times, attributes and links.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        let status = path.symlink_metadata().unwrap();
        let content = if status.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            String::new()
        } else {
            fs::read_to_string(&path).unwrap()
        };
        let text = format!(
            "{content:?} mode={:o} owner={}:{} links={} modified={}.{} changed={}.{}",
            status.mode(),
            status.uid(),
            status.gid(),
            status.nlink(),
            status.mtime(),
            status.mtime_nsec(),
            status.ctime(),
            status.ctime_nsec(),
        );
        found.insert(path, text);
    }
    found
}
