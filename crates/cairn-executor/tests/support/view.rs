//! Views made by hand: a program linked with the runtime and with what the instrumenter would add.

use super::{Program, program_with, readable_folder};
use cairn_abi::{ABI_VERSION, view::VIEW_MAGIC};
use cairn_executor::{RunConfig, Session, SessionConfig, Target};
use cairn_testkit::dist;
use std::{fs, time::Duration};

/// The number of counters of these views.
pub const N_COUNTERS: u32 = 100;

/// Compiles C text into a view; `HIT(n)` counts, `STEP()` uses fuel.
pub fn view(text: &str) -> Program {
    build(text, &[])
}

/// Compiles a harness into a view.
pub fn harness(text: &str) -> Program {
    build(text, &["-DHARNESS"])
}

fn build(text: &str, more: &[&str]) -> Program {
    let folder = readable_folder();
    let header = folder.path().join("view.h");
    fs::write(&header, include_str!("view.h")).unwrap();
    let header = header.display().to_string();
    let archive = dist().runtime_archive().display().to_string();
    let defines = [
        format!("-DVIEW_MAGIC={VIEW_MAGIC}ull"),
        format!("-DABI_VERSION={ABI_VERSION}"),
        format!("-DABI_SYMBOL=cairn_abi_v{ABI_VERSION}"),
    ];
    let mutants = folder.path().join("mutants.h");
    fs::write(&mutants, include_str!("../../../cairn-runtime/tests/programs/mutants.h")).unwrap();
    let mutants = mutants.display().to_string();
    let mut arguments = Vec::new();
    if text.contains("MUTANTS(") {
        arguments.extend(["-include", &mutants]);
    }
    arguments.extend(["-include", &header, &archive, "-fuse-ld=lld", "-Wno-deprecated-non-prototype"]);
    arguments.extend(defines.iter().map(String::as_str));
    arguments.extend(more);
    program_with(text, &arguments)
}

pub fn target(program: &Program) -> Target {
    Target { program: program.path.clone(), n_counters: N_COUNTERS }
}

/// Limits with which hangs end soon, but not so soon that a busy machine looks like one.
pub fn session_config() -> SessionConfig {
    let run = RunConfig {
        wall_limit: Duration::from_secs(1),
        memory_limit: 256 << 20,
        file_limit: 8 << 20,
        ..RunConfig::default()
    };
    SessionConfig { run, ..SessionConfig::default() }
}

pub fn session(program: &Program) -> Session {
    Session::new(target(program), session_config()).unwrap()
}

/// The processes of live sessions of `program`: those that hold the descriptors only a session gives.
pub fn session_processes(program: &Program) -> Vec<i32> {
    let folder = program.folder.path().file_name().unwrap();
    let marker = cairn_abi::session::descriptors::STDIN_CONTENT.to_string();
    let mut processes: Vec<i32> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let exe = fs::read_link(entry.path().join("exe")).ok()?;
            fs::read_link(entry.path().join("fd").join(&marker)).ok()?;
            let is_ours = exe.iter().any(|name| name == folder);
            if is_ours { entry.file_name().to_str()?.parse().ok() } else { None }
        })
        .collect();
    processes.sort_unstable();
    processes
}
