//! The process that runs inputs.

use super::{
    Entry, Regions, change, crash, filter, input,
    report::{self, Batch, RUINED, Run},
    snapshot,
    switch::Left,
    template::{pass_turn, wait_for},
    trap,
    vault::{self, Vault},
    watch,
};
use crate::{channel, harness::TestOneInput, system};
use cairn_abi::{
    channel::Stage,
    session::{BatchKind, InputSlot, Obstacle, RunnerMode, Turn, flags},
};
use core::sync::atomic::Ordering;

/// Turns a fresh fork of the template into a runner. Comes back once per run of `main`, with the program's status.
pub fn become_runner(regions: Regions, entry: Entry, mode: RunnerMode) -> i32 {
    let Some(top) = vault::make(regions, entry, mode) else { give_up(&regions, Obstacle::Setup) };
    let Some(vault) = vault::vault() else { give_up(&regions, Obstacle::Setup) };
    // SAFETY: the switch lies in the vault, as the stack does, and `live` does not return.
    unsafe { vault.switch.begin(top, live) }
}

fn give_up(regions: &Regions, why: Obstacle) -> ! {
    regions.board.obstacle.store(why as u32, Ordering::Relaxed);
    system::exit(cairn_abi::channel::RUNTIME_EXIT_CODE)
}

/// The life of a runner, on its own stack.
extern "C" fn live() -> ! {
    let Some(vault) = vault::vault() else { system::exit(1) };
    let regions = vault.regions;
    if let Err(why) = set_up(vault) {
        give_up(&regions, why);
    }
    loop {
        pass_turn(&regions, Turn::Host);
        wait_for(&regions, Turn::Runner);
        let board = regions.board;
        let mut batch = Batch {
            kind: match board.batch_kind.load(Ordering::Relaxed) {
                0 => BatchKind::Inputs,
                _ => BatchKind::Changes,
            },
            n_inputs: (board.n_inputs.load(Ordering::Relaxed) as usize).min(regions.capacity()),
            wants: board.wants.load(Ordering::Relaxed),
            first_run: board.first_run.load(Ordering::Relaxed),
            fuel: board.fuel.load(Ordering::Relaxed),
            captured: 0,
        };
        work_off(vault, &mut batch);
    }
}

fn set_up(vault: &mut Vault) -> Result<(), Obstacle> {
    for part in [vault.regions.inputs, vault.regions.baseline] {
        // SAFETY: only the host writes these.
        unsafe { system::make_read_only(part.start, part.size) };
    }
    if let Some(mutants) = vault.regions.mutants {
        // The last runner may have died of a mutant.
        mutants.rest();
    }
    if vault.mode == RunnerMode::Persistent {
        vault.own = system::page_of_this_process().ok_or(Obstacle::Setup)?;
    }
    if vault.mode == RunnerMode::Snapshot {
        // The first process of a namespace of their own is the parent of templates.
        vault.proc_watches = watch::watch_proc(vault.regions.parent == 1, vault.regions.process);
        snapshot::take(vault)?;
        let known = vault.regions.board.signals.load(Ordering::Relaxed);
        vault.snapshot.changed_signals = known & snapshot::signals::CHANGEABLE;
    }
    vault.regions.board.snapshot_size.store(vault.snapshot.size() as u64, Ordering::Relaxed);
    if !trap::install() {
        return Err(Obstacle::Setup);
    }
    // The host must know whom to end from the first turn on.
    vault.regions.board.runner.store(vault.thread as u32, Ordering::Relaxed);
    let caught = crash::install(vault);
    if !filter::install(vault.mode, vault.snapshot.changed_signals, caught) {
        return Err(Obstacle::Filter);
    }
    Ok(())
}

fn work_off(vault: &mut Vault, batch: &mut Batch) {
    let board = vault.regions.board;
    // The host may have laid out other files since.
    vault.written = None;
    for index in 0..batch.n_inputs {
        board.current.store(index as u32, Ordering::Release);
        input::clear(vault, batch.fuel);
        let run = match batch.kind {
            BatchKind::Inputs => run_input(vault, batch, index),
            BatchKind::Changes => change::carry_out(vault, index, index + 1 == batch.n_inputs),
        };
        let run = run.unwrap_or(Run::new(Left::Runtime, RUINED | flags::LAST | flags::LEAVES));
        let is_last = report::write(vault, batch, index, &run);
        board.n_done.store(index as u32 + 1, Ordering::Release);
        if run.flags & flags::LEAVES != 0 {
            // The template notices and passes the turn.
            system::exit(0);
        }
        if is_last {
            break;
        }
    }
}

/// Runs an input of a batch; `None` when it does not fit together.
fn run_input(vault: &mut Vault, batch: &Batch, index: usize) -> Option<Run> {
    // SAFETY: `index` is below the capacity, and the host does not write now.
    let slot = unsafe { vault.regions.inputs.start.cast::<InputSlot>().add(index).read() };
    if let Some(mutants) = vault.regions.mutants {
        mutants.begin(&slot);
    }
    if let Some(symbolic) = vault.regions.symbolic {
        symbolic.begin((batch.first_run + index as u64) as u32);
    }
    let arguments = input::ready(vault, &slot);
    let run =
        arguments.map(|arguments| run(vault, index + 1 == batch.n_inputs, |vault| enter(vault, arguments)));
    if let Some(mutants) = vault.regions.mutants {
        mutants.end(&slot);
    }
    run
}

/// A runner that has taken note of this many changes of signals is replaced by one that expects them.
const MAX_SIGNALS_NOTED: u32 = 100;

/// A runner whose stack has grown this often is replaced by one that looks anew at how much runs need.
const MAX_STACK_GROWN: u32 = 1000;

/// Calls the program on an input that is laid out.
fn enter(vault: &mut Vault, arguments: input::Arguments) -> Left {
    let [first, second, third] = arguments;
    match (vault.entry, vault.mode) {
        (Entry::Harness(harness), RunnerMode::Persistent) => {
            let harness = (harness.test_one_input as *const ()).expose_provenance();
            // SAFETY: the harness is called as libFuzzer calls it, again and again.
            unsafe { vault.switch.call(harness, [first, second]) }
        }
        (Entry::Harness(harness), RunnerMode::Snapshot) => {
            let once = run_harness as unsafe extern "C" fn(*const u8, usize, TestOneInput) -> i32;
            let harness = (harness.test_one_input as *const ()).expose_provenance();
            // SAFETY: memory is as it was when the switch was made.
            unsafe { vault.switch.run((once as *const ()).expose_provenance(), [first, second, harness]) }
        }
        // SAFETY: as above. `main` without a snapshot is not called twice: the run's end is the runner's.
        (Entry::Main { main, .. }, _) => unsafe {
            vault.switch.run((main as *const ()).expose_provenance(), [first, second, third])
        },
    }
}

/// Enters the program and restores the process when it has left.
pub(super) fn run(vault: &mut Vault, is_last: bool, enter: impl FnOnce(&mut Vault) -> Left) -> Run {
    vault.snapshot.expect_run();
    vault.regions.board.is_running.store(1, Ordering::Relaxed);
    let left = enter(vault);
    vault.regions.board.is_running.store(0, Ordering::Relaxed);
    let mut facts = 0;
    if vault.mode == RunnerMode::Persistent {
        // SAFETY: the page was made in `set_up` and stays.
        if unsafe { vault.own.read_volatile() } == 0 {
            // A child of the harness that returned from it.
            system::exit(0);
        }
        if !matches!(left, Left::Returned(_)) {
            // The C library has taken its leave, or the stack was abandoned.
            facts |= flags::LEAVES;
        }
        return Run::new(left, facts);
    }
    // SAFETY: the program has left; this is the runner's stack.
    let sizes = unsafe { vault.snapshot.restore(is_last) };
    if sizes.is_none() {
        facts |= RUINED | flags::LEAVES;
    }
    let sizes = sizes.unwrap_or_default();
    vault.stdin_size = Some(sizes.stdin);
    if vault.snapshot.n_signals_noted > MAX_SIGNALS_NOTED {
        vault.regions.board.signals.fetch_or(vault.snapshot.changed_signals, Ordering::Relaxed);
        facts |= flags::LEAVES;
    }
    if vault.snapshot.stack.n_grown > MAX_STACK_GROWN {
        facts |= flags::LEAVES;
    }
    let seen = watch::look(&vault.proc_watches);
    if seen.scratch || core::mem::take(&mut vault.has_set_times) {
        facts |= flags::FILES_CHANGED | flags::LAST;
    }
    let written = [sizes.stdout, sizes.stderr];
    Run { written, n_looks_at_itself: seen.n_looks_at_itself, ..Run::new(left, facts) }
}

/// What `main` is when a harness runs from a snapshot: the process then ends as a fresh one does.
///
/// # Safety
/// The bytes are readable.
unsafe extern "C" fn run_harness(start: *const u8, length: usize, harness: TestOneInput) -> i32 {
    // SAFETY: the caller vouches for the bytes.
    let returned = unsafe { harness(start, length) };
    if let Some(channel) = channel::find() {
        channel.header().harness_return.store(returned, Ordering::Relaxed);
    }
    channel::reached(Stage::HarnessReturned);
    0
}
