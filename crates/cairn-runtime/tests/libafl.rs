//! Views driven by LibAFL's client, which speaks the new handshake.
//!
//! LibAFL tells its children everything through the environment of this process, and whatever is started meanwhile
//! inherits it. That is why these tests share no binary with others, and each holds [`ENVIRONMENT`] from its first
//! child to its last.

#[path = "programs/support.rs"]
mod support;

use libafl::{
    events::NopEventManager,
    executors::{Executor as _, ExitKind, ForkserverExecutor, StdChildArgs as _},
    fuzzer::StdFuzzer,
    inputs::BytesInput,
    observers::StdMapObserver,
    schedulers::QueueScheduler,
    state::NopState,
};
use libafl_bolts::{
    StdTargetArgs as _,
    shmem::{ShMem as _, ShMemProvider as _, UnixShMem, UnixShMemProvider},
    tuples::tuple_list,
};
use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use support::{FIRST_BYTE, HARNESS, Link, Program};

/// Held by the test whose children may be told something.
static ENVIRONMENT: Mutex<()> = Mutex::new(());

/// Waits until no other test runs. One that failed has nothing more to say, so the next may go on.
fn alone() -> MutexGuard<'static, ()> {
    ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How inputs travel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inputs {
    SharedMemory,
    StandardInput,
}

/// Runs the inputs and returns what became of each, with the counters that are not zero.
fn drive(program: &Program, inputs: Inputs, list: &[&[u8]]) -> Vec<(ExitKind, Vec<(usize, u8)>)> {
    log::set_logger(&LOG)
        .unwrap_or_else(|_| assert!(log::logger().enabled(&log::Metadata::builder().build())));
    log::set_max_level(log::LevelFilter::Info);
    LOG.0.lock().unwrap().clear();

    let mut provider = UnixShMemProvider::new().unwrap();
    let mut map: UnixShMem = provider.new_shmem(1 << 16).unwrap();
    // SAFETY: all tests of this binary wait for this one, and the standard library guards its own reads.
    unsafe { map.write_to_env("__AFL_SHM_ID").unwrap() };
    // A command of any other test would not inherit them.
    let ordinary = program.workspace.command("true");
    assert!(ordinary.get_envs().any(|(name, value)| name == "__AFL_SHM_ID" && value.is_none()));
    // SAFETY: the map lives longer than the observer.
    let observer = unsafe { StdMapObserver::from_mut_ptr("map", map.as_mut_ptr(), 1 << 16) };
    let builder = ForkserverExecutor::builder()
        .program(&program.path)
        .coverage_map_size(1 << 16)
        .is_persistent(true)
        .timeout(Duration::from_secs(5));
    let mut executor = match inputs {
        Inputs::SharedMemory => builder
            .shmem_provider(&mut provider)
            .build::<BytesInput, _, NopState<BytesInput>>(tuple_list!(observer)),
        Inputs::StandardInput => builder.build(tuple_list!(observer)),
    }
    .unwrap();
    // SAFETY: as above.
    unsafe {
        for name in [
            "__AFL_SHM_ID",
            "__AFL_SHM_ID_SIZE",
            "__AFL_SHM_FUZZ_ID",
            "__AFL_SHM_FUZZ_ID_SIZE",
            "__AFL_SHM_FUZZ_MAP_SIZE",
        ] {
            std::env::remove_var(name);
        }
    }
    assert_eq!(executor.coverage_map_size(), Some(192));
    let said = LOG.0.lock().unwrap().join("\n");
    assert!(said.contains("new fork server model version 1 is up"), "{said}");
    assert_eq!(said.contains("SHARED MEMORY FUZZING"), inputs == Inputs::SharedMemory, "{said}");

    let mut fuzzer = StdFuzzer::new(QueueScheduler::new(), (), ());
    let mut state = NopState::new();
    let mut manager = NopEventManager::new();
    let mut run = |input: &&[u8]| {
        map.fill(0);
        let input = BytesInput::new(input.to_vec());
        let kind = executor.run_target(&mut fuzzer, &mut state, &mut manager, &input).unwrap();
        let counters = map[64..].iter().enumerate().filter(|(_, count)| **count != 0);
        (kind, counters.map(|(index, count)| (index, *count)).collect())
    };
    list.iter().map(&mut run).collect()
}

/// Keeps what LibAFL logs.
struct Log(Mutex<Vec<String>>);

static LOG: Log = Log(Mutex::new(Vec::new()));

impl log::Log for Log {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        self.0.lock().unwrap().push(record.args().to_string());
    }

    fn flush(&self) {}
}

#[test]
fn libafl_drives_a_whole_program() {
    let _alone = alone();
    let program = Program::c(Link::View, FIRST_BYTE);
    let told = drive(&program, Inputs::StandardInput, &[&[7], b"A", b"S", &[8]]);
    assert_eq!(
        told,
        [
            (ExitKind::Ok, vec![(7, 1)]),
            (ExitKind::Crash, vec![(65, 1)]),
            (ExitKind::Crash, vec![(83, 1)]),
            (ExitKind::Ok, vec![(8, 1)]),
        ]
    );
}

#[test]
fn libafl_drives_a_harness_through_shared_memory() {
    let _alone = alone();
    let program = Program::c(Link::View, HARNESS);
    let told = drive(&program, Inputs::SharedMemory, &[b"abc", b"ab", b"abcd"]);
    assert_eq!(
        told,
        [
            (ExitKind::Ok, vec![(3, 1)]),
            (ExitKind::Ok, vec![(2, 1), (99, 1)]),
            (ExitKind::Ok, vec![(4, 1), (99, 2)]),
        ]
    );
}

#[test]
fn libafl_drives_a_harness_through_standard_input() {
    let _alone = alone();
    let program = Program::c(Link::View, HARNESS);
    let told = drive(&program, Inputs::StandardInput, &[b"abc", b"ab"]);
    assert_eq!(told, [(ExitKind::Ok, vec![(3, 1)]), (ExitKind::Ok, vec![(2, 1), (99, 1)])]);
}
