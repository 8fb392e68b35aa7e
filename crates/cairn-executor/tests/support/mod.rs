//! Compiles small programs and runs them.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod mutants;
pub mod view;

use cairn_executor::{Execution, Executor, RunConfig, SandboxLevel, Target};
use cairn_model::Input;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use tempfile::TempDir;

/// A compiled program in a folder of its own.
pub struct Program {
    pub folder: TempDir,
    pub path: PathBuf,
}

/// Compiles C text.
pub fn program(text: &str) -> Program {
    program_with(text, &[])
}

/// Compiles C text with more arguments.
pub fn program_with(text: &str, arguments: &[&str]) -> Program {
    let folder = readable_folder();
    let source = folder.path().join("target.c");
    fs::write(&source, text).unwrap();
    compile(folder, &source, "target", arguments)
}

/// Compiles `fixtures/<name>/target.c`; the executable is called like the fixture.
pub fn fixture(name: &str) -> Program {
    let source = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells it"))
        .join("../../fixtures")
        .join(name)
        .join("target.c");
    compile(readable_folder(), &source, name, &[])
}

fn compile(folder: TempDir, source: &Path, name: &str, arguments: &[&str]) -> Program {
    let path = folder.path().join(name);
    let output = Command::new("clang-19")
        .args(["-O1", "-Wall", "-Werror", "-pthread", "-o"])
        .arg(&path)
        .arg(source)
        .args(arguments)
        .output()
        .expect("clang-19 is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Program { folder, path }
}

/// A temporary folder everybody can enter.
pub fn readable_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Short limits, so that endless programs end soon.
pub fn config(level: SandboxLevel) -> RunConfig {
    RunConfig {
        wall_limit: Duration::from_millis(500),
        memory_limit: 128 << 20,
        file_limit: 8 << 20,
        max_processes: 16,
        level,
        ..RunConfig::default()
    }
}

pub fn executor(program: &Program, config: RunConfig) -> Executor {
    Executor::new(Target { program: program.path.clone(), n_counters: 0 }, config).unwrap()
}

/// Compiles `text` and runs it once with a generous wall limit.
pub fn run(text: &str, input: &Input, level: SandboxLevel) -> Execution {
    let program = program(text);
    let config = RunConfig { wall_limit: Duration::from_secs(10), ..config(level) };
    executor(&program, config).run(input).unwrap()
}

pub fn args(arguments: &[&str]) -> Input {
    Input { args: arguments.iter().map(|argument| (*argument).into()).collect(), ..Input::default() }
}

pub fn stdout(execution: &Execution) -> String {
    String::from_utf8_lossy(&execution.outcome.stdout.bytes.0).into_owned()
}

/// Runs the test `name` of this binary as an ordinary user if it was started by root. Returns whether the caller, being
/// an ordinary user, is to go on.
pub fn is_ordinary_user(name: &str) -> bool {
    use std::os::unix::process::CommandExt;
    if !nix::unistd::geteuid().is_root() {
        return true;
    }
    // The user may be unable to reach the original.
    let folder = readable_folder();
    let copy = folder.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let (user, group) = cairn_executor::sandbox::UNPRIVILEGED;
    let output = Command::new(copy)
        .args(["--exact", name, "--nocapture"])
        .current_dir("/")
        .uid(user)
        .gid(group)
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}

/// Processes that run this program, known by its folder, which no other test shares.
pub fn processes_running(program: &Program) -> Vec<String> {
    let folder = program.folder.path().file_name().unwrap();
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path().join("exe")).ok())
        .filter(|path| path.iter().any(|name| name == folder))
        .map(|path| path.display().to_string())
        .collect()
}
