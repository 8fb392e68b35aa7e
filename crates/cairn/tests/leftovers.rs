//! A run in a session leaves nothing behind: what it does equals what a fresh process does, in content and coverage.
//!
//! Each fixture `leftover_*` changes one kind of state. Its inputs are run in one session again and again, forwards and
//! backwards, and every run is compared with a fresh process. The texts below say where the runs were made: `live`, or in
//! a process of their own and why.

use cairn_executor::{
    Execution, Executor, Ran, RunConfig, Session, SessionConfig, SessionRun, Target, Wants,
};
use cairn_model::{Ending, Input, ProgramMap, input::FileRegion, versioned};
use cairn_testkit::{Workspace, fixture};
use expect_test::{Expect, expect};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

/// How often each order is repeated.
const ROUNDS: usize = 3;

/// Time for a run that ends by itself, so much that a busy machine does not matter.
const PATIENCE: Duration = Duration::from_secs(10);

/// Time for a run that never ends.
const SHORT: Duration = Duration::from_secs(1);

fn limits(wall_limit: Duration) -> RunConfig {
    RunConfig { wall_limit, ..RunConfig::default() }
}

struct Built {
    _workspace: Workspace,
    target: Target,
    is_harness: bool,
    inputs: BTreeMap<String, Vec<u8>>,
}

fn build(name: &str) -> Built {
    let workspace = Workspace::new();
    let folder = fixture(name);
    let source =
        ["target.c", "target.cpp"].map(|name| folder.join(name)).into_iter().find(|path| path.is_file());
    let source = source.unwrap_or_else(|| panic!("{name} has no target")).display().to_string();
    let compiler = if source.ends_with("cpp") { "cairn-c++" } else { "cairn-cc" };
    let mut sources = vec![source];
    let others = ["other.c", "other.cpp"].map(|name| folder.join(name)).into_iter();
    sources.extend(others.filter(|path| path.is_file()).map(|path| path.display().to_string()));
    let words = sources.iter().map(String::as_str).chain(["-w", "-o", "program", "-pthread", "-lm"]);
    workspace.run(compiler, words).success();
    workspace.run("cairn", ["build", "./program"]).success();
    let views = find(&workspace.root().join(".cairn"), "program.map");
    let map: ProgramMap = versioned::decode(&fs::read(&views).unwrap()).unwrap();
    let inputs = fs::read_dir(folder.join("inputs"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
        .collect::<BTreeMap<_, _>>();
    let inputs = if inputs.is_empty() { BTreeMap::from([("nothing".into(), Vec::new())]) } else { inputs };
    Built {
        target: Target { program: views.with_file_name("plain"), n_counters: map.n_counters },
        is_harness: fs::read_to_string(&sources[0]).unwrap().contains("LLVMFuzzerTestOneInput"),
        _workspace: workspace,
        inputs,
    }
}

fn find(folder: &Path, name: &str) -> PathBuf {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|found| found == name) {
                return path;
            }
        }
    }
    panic!("no `{name}` in `{}`", folder.display())
}

impl Built {
    /// The two ways to run it, within the same limits.
    fn both(&self, run: RunConfig) -> (Executor, Session) {
        let fresh = Executor::new(self.target.clone(), run.clone()).unwrap();
        let session = Session::new(self.target.clone(), SessionConfig { run, ..SessionConfig::default() });
        (fresh, session.unwrap())
    }

    fn input(&self, bytes: &[u8]) -> Input {
        match self.is_harness {
            true => Input { buffer: Some(bytes.to_vec().into()), ..Input::default() },
            false => Input {
                stdin: bytes.to_vec().into(),
                args: vec!["argument".into()],
                files: vec![FileRegion {
                    path: "given".into(),
                    kind: cairn_model::input::FileKind::Regular(bytes.to_vec().into()),
                    mode: None,
                    size: None,
                    modified: None,
                    accessed: None,
                    owner: None,
                }],
                ..Input::default()
            },
        }
    }
}

/// What must be equal.
fn content(execution: &Execution) -> String {
    let mut outcome = execution.outcome.clone();
    outcome.elapsed = Default::default();
    format!(
        "{outcome:?}\nstage {:?} ended by {:?}\ncounters {:?}",
        execution.stage, execution.ended_by, execution.counters
    )
}

fn place(run: &SessionRun) -> String {
    match &run.ran {
        Ran::Live => format!("live, {:?}", run.execution.outcome.ending),
        Ran::Fresh { why } => format!("fresh, because {why}"),
    }
}

/// Runs a fixture in all orders, panics on any difference, and compares where its inputs were run.
#[track_caller]
fn leaves_nothing(name: &str, expected: Expect) {
    let mut text = String::new();
    for (input, place) in places(name, ROUNDS, PATIENCE) {
        text += &format!("{input}: {place}\n");
    }
    expected.assert_eq(&text);
}

/// Runs a fixture in all orders, panics on any difference, and says where its inputs were run last.
fn places(name: &str, rounds: usize, wall_limit: Duration) -> BTreeMap<String, String> {
    let built = build(name);
    let (mut fresh, mut session) = built.both(limits(wall_limit));
    let known: BTreeMap<&String, String> = built
        .inputs
        .iter()
        .map(|(input, bytes)| (input, content(&fresh.run(&built.input(bytes)).unwrap())))
        .collect();
    let forwards: Vec<&String> = built.inputs.keys().collect();
    let backwards = forwards.iter().rev().copied();
    let order: Vec<&String> = forwards
        .iter()
        .copied()
        .cycle()
        .take(rounds * forwards.len())
        .chain(backwards.cycle().take(rounds * forwards.len()))
        .collect();
    let inputs: Vec<Input> = order.iter().map(|name| built.input(&built.inputs[*name])).collect();
    let runs = session.run_batch(&inputs, Wants::EVERYTHING).unwrap();
    assert_eq!(runs.len(), inputs.len());
    let mut places = BTreeMap::new();
    for (input, run) in order.into_iter().zip(&runs) {
        let found = content(&run.execution);
        assert_eq!(found, known[input], "{name}, input {input}, which ran {}", place(run));
        places.insert(input.clone(), place(run));
    }
    assert_eq!(session.mode().to_string(), "snapshot", "{name}");
    places
}

macro_rules! leftovers {
    ($($test:ident $fixture:literal $expected:expr;)*) => {
        const LEFTOVERS: &[&str] = &[$($fixture),*];
        $(
            #[test]
            fn $test() {
                leaves_nothing($fixture, $expected);
            }
        )*
    };
}

leftovers! {
    memory_is_restored "leftover_memory" expect![[r#"
        a: live, Exited { code: 2 }
        b: live, Exited { code: 2 }
    "#]];
    large_memory_is_restored "leftover_large_memory" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
    "#]];
    mappings_are_taken_back "leftover_mappings" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
        c: live, Exited { code: 0 }
    "#]];
    memory_taken_away_needs_a_process "leftover_own_memory" expect![[r#"
        a: fresh, because it makes the system call `munmap`
        b: fresh, because it makes the system call `mprotect`
    "#]];
    descriptors_are_restored "leftover_descriptors" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
        c: live, Exited { code: 0 }
    "#]];
    flags_of_streams_need_a_process "leftover_stream_flags" expect![[r#"
        a: live, Exited { code: 0 }
        b: fresh, because it makes the system call `fcntl`
    "#]];
    threads_need_a_process "leftover_thread" expect![[r#"
        a: live, Exited { code: 0 }
        b: fresh, because it makes the system call `rt_sigaction`
    "#]];
    children_need_a_process "leftover_child" expect![[r#"
        a: live, Exited { code: 0 }
        b: fresh, because it makes the system call `wait4`
    "#]];
    signals_are_restored "leftover_signals" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
        c: fresh, because the process died in a way that needs a second look
    "#]];
    timers_need_a_process "leftover_timer" expect![[r#"
        a: live, Exited { code: 0 }
        b: fresh, because it makes the system call `alarm`
    "#]];
    the_locale_is_restored "leftover_locale" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
    "#]];
    folder_and_environment_are_restored "leftover_folder" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
    "#]];
    files_are_restored "leftover_files" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
        c: live, Exited { code: 0 }
    "#]];
    every_exit_is_seen "leftover_exits" expect![[r#"
        a: live, Exited { code: 1 }
        b: live, Exited { code: 44 }
        c: live, Exited { code: 3 }
        d: live, Exited { code: 4 }
        e: live, Exited { code: 5 }
        f: live, Exited { code: 8 }
    "#]];
    crashes_end_one_run_only "leftover_crashes" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Signalled { signal: 11 }
        c: live, Signalled { signal: 6 }
        d: live, Signalled { signal: 11 }
    "#]];
    the_stack_is_restored "leftover_stack" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
    "#]];
    rounding_is_restored "leftover_rounding" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
    "#]];
    limits_need_a_process "leftover_limits" expect![[r#"
        a: live, Exited { code: 0 }
        b: fresh, because it makes the system call `prlimit64`
        c: fresh, because it makes the system call `prctl`
    "#]];
    process_ids_are_those_of_a_fresh_process "leftover_process" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
    "#]];
    the_heap_is_restored "leftover_heap" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
        c: live, Signalled { signal: 11 }
        d: fresh, because it makes the system call `mprotect`
    "#]];
    waiting_signals_are_forgotten "leftover_pending" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
    "#]];
    advice_is_undone_or_needs_a_process "leftover_advice" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 0 }
        c: fresh, because it makes the system call `madvise`
    "#]];
    used_time_needs_a_process "leftover_clocks" expect![[r#"
        a: fresh, because it makes the system call `getrusage`
        b: fresh, because it makes the system call `clock_gettime`
    "#]];
    harnesses_forget "leftover_harness" expect![[r#"
        a: live, Exited { code: 0 }
        b: live, Exited { code: 3 }
    "#]];
}

const OVERWRITES: &str = "leftover_overwrites";

/// What is noticed first depends on who reads what the program overwrites.
#[test]
fn wild_writes_are_survived() {
    let places = places(OVERWRITES, ROUNDS, PATIENCE);
    assert_eq!(places["a"], "live, Exited { code: 0 }");
    for input in ["b", "c"] {
        assert!(places[input].starts_with("fresh"), "{input} ran {}", places[input]);
    }
}

macro_rules! agree {
    ($($fixture:ident)*) => {
        pub const NAMES: &[&str] = &[$(stringify!($fixture)),*];

        $(
            #[test]
            fn $fixture() {
                places(stringify!($fixture), 1, PATIENCE);
            }
        )*
    };
}

/// The other fixtures, each under its own name.
mod all_others {
    use super::{PATIENCE, places};

    agree! {
        condition_break
        condition_crash
        condition_cxx
        condition_exit
        condition_gnu
        condition_if
        condition_inline
        condition_large_range
        condition_loops
        condition_macro
        condition_split
        condition_switch
        condition_ternary
        condition_types
        condition_unevaluated
        condition_value
        hostile_chmods_outside
        hostile_chowns_outside
        hostile_deletes_outside
        hostile_kills_everybody
        hostile_kills_its_parent
        hostile_makes_shared_memory
        hostile_opens_sockets
        hostile_renames_outside
        hostile_sets_times_outside
        hostile_sets_xattrs_outside
        hostile_stops_itself
        hostile_truncates_outside
        hostile_uses_io_uring
        hostile_uses_ptrace
        hostile_writes_outside
        mu2_insertion_sort
        mu2_saturated
        mutant_arithmetic
        mutant_assignments
        mutant_calls
        mutant_early
        mutant_figure4
        mutant_files
        mutant_floats
        mutant_harness
        mutant_instances
        mutant_logic
        mutant_loops
        mutant_macros
        mutant_memory
        mutant_skipped
        mutant_spots
        mutant_stack
        mutant_system_macros
        mutant_templates
        overflow_without_branch
    }
}

const HANGS: &str = "hostile_hangs";

#[test]
fn a_hang_ends_as_in_a_fresh_process() {
    let places = places(HANGS, 1, SHORT);
    assert_eq!(places["nothing"], "live, TimedOut");
}

/// There is nothing to take a snapshot of.
#[test]
fn a_program_that_dies_before_main_cannot_be_live() {
    cannot_be_live(BEFORE_MAIN[0], "it died of signal 6 before it was ready");
}

#[test]
fn a_program_that_opens_files_before_main_cannot_be_live() {
    cannot_be_live(BEFORE_MAIN[1], "it opens files, reads its input or leaves its folder before `main`");
}

#[test]
fn a_program_with_threads_before_main_cannot_be_live() {
    cannot_be_live(BEFORE_MAIN[2], "it starts threads before `main`");
}

/// Fixtures that do before `main` what no runner can restore.
const BEFORE_MAIN: &[&str] =
    &["hostile_crashes_before_main", "leftover_before_main", "leftover_thread_before_main"];

#[track_caller]
fn cannot_be_live(name: &str, why: &str) {
    let built = build(name);
    let (mut fresh, mut session) = built.both(limits(PATIENCE));
    assert_eq!(session.mode().to_string(), format!("a fresh process for every run: {why}"));
    let input = built.input(b"");
    let known = content(&fresh.run(&input).unwrap());
    for run in session.run_batch(&[input.clone(), input], Wants::EVERYTHING).unwrap() {
        assert_eq!(content(&run.execution), known);
        assert_eq!(place(&run), "fresh, because the target has no session");
    }
}

/// Fixtures whose fresh runs differ from each other, and in what. Only their endings are compared.
const UNSTABLE: &[(&str, &str)] = &[
    ("hostile_allocates_forever", "how often it can allocate depends on what the process has mapped before"),
    ("hostile_fork_bomb", "how many processes have counted when the time is over"),
    ("hostile_leaves_a_daemon", "how far its child gets before it is killed"),
    ("hostile_prints_forever", "with an argument, how often it prints until the time is over"),
];

/// Runs an unstable fixture with `args` twice in a session and in a fresh process: all end as expected.
#[track_caller]
fn ends(name: &str, args: &[&str], run: RunConfig, expected: Ending) {
    assert!(UNSTABLE.iter().any(|(unstable, _)| *unstable == name), "{name} is stable: compare everything");
    let built = build(name);
    let (mut fresh, mut session) = built.both(run);
    let input = Input { args: args.iter().map(|arg| (*arg).into()).collect(), ..Input::default() };
    assert_eq!(fresh.run(&input).unwrap().outcome.ending, expected, "{name}, fresh");
    for run in session.run_batch(&[input.clone(), input], Wants::EVERYTHING).unwrap() {
        assert_eq!(run.execution.outcome.ending, expected, "{name}, which ran {}", place(&run));
    }
    assert_eq!(session.mode().to_string(), "snapshot", "{name}");
}

#[test]
fn memory_without_end_ends_as_in_a_fresh_process() {
    let limits = || RunConfig { memory_limit: 256 << 20, ..limits(PATIENCE) };
    ends("hostile_allocates_forever", &[], limits(), Ending::OutOfMemory);
    ends("hostile_allocates_forever", &["careful"], limits(), Ending::Exited { code: 3 });
}

#[test]
fn output_without_end_ends_as_in_a_fresh_process() {
    let small = |wall_limit| RunConfig { file_limit: 8 << 20, ..limits(wall_limit) };
    ends("hostile_prints_forever", &[], small(PATIENCE), Ending::TooMuchOutput);
    ends("hostile_prints_forever", &["insist"], small(SHORT), Ending::TimedOut);
}

#[test]
fn a_fork_bomb_ends_as_in_a_fresh_process() {
    let few = RunConfig { max_processes: 16, ..limits(SHORT) };
    ends("hostile_fork_bomb", &[], few, Ending::TimedOut);
}

#[test]
fn a_daemon_is_left_as_in_a_fresh_process() {
    ends("hostile_leaves_a_daemon", &[], limits(PATIENCE), Ending::Exited { code: 0 });
}

#[test]
fn every_fixture_is_compared_here() {
    let single = [OVERWRITES, HANGS];
    let unstable = UNSTABLE.iter().map(|(name, _)| name);
    let compared: BTreeSet<String> = LEFTOVERS
        .iter()
        .chain(all_others::NAMES)
        .chain(&single)
        .chain(BEFORE_MAIN)
        .chain(unstable)
        .map(|name| (*name).to_owned())
        .collect();
    let folders = fs::read_dir(fixture(".")).unwrap().map(|entry| entry.unwrap().path());
    let names: BTreeSet<String> = folders
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        // Ordinary programs, of which there are enough here; `flips.rs`, `events.rs`, `harness_mutators.rs`, `seeds.rs` and the
        // tests of `cairn-hybrid` run them.
        .filter(|name| {
            !["flip_", "event_", "harness_", "search_", "seeds_"].iter().any(|start| name.starts_with(start))
        })
        .collect();
    assert_eq!(names, compared, "each fixture is listed above, or in `UNSTABLE` with a reason");
}
