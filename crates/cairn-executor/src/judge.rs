//! Names how a run ended.

use crate::{
    channel::Channel,
    config::{RunConfig, SandboxLevel},
    error::ExecutorError,
    keeper::{Board, Step, Verdict},
    program::Program,
    sandbox::policy,
};
use cairn_abi::channel::{EndedBy, RUNTIME_EXIT_CODE, Refusal, Stage};
use cairn_model::Ending;
use std::io;

/// Signals a program dies of when memory it needs is not there.
const DEATHS_OF_MEMORY: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGILL, libc::SIGTRAP, libc::SIGKILL];

/// Whether there was a run, and if not, why.
pub(crate) fn check_started(board: &Board, program: &Program) -> Result<(), ExecutorError> {
    match Verdict::from_number(board.verdict) {
        Verdict::NotStarted => Err(not_started(board, program)),
        Verdict::Leftovers => Err(ExecutorError::Leftovers),
        _ => Ok(()),
    }
}

/// Whether the program of a session was executed, and if not, why.
pub(crate) fn check_executed(board: &Board, program: &Program) -> Result<(), ExecutorError> {
    if board.failed_step == 0 { Ok(()) } else { Err(not_started(board, program)) }
}

/// Why the runtime in the target refused the channel, if it did.
///
/// The target can write what it likes, so the word in the channel counts only where the runtime would have written
/// it: the run ended at once with the runtime's exit status, before `main`, and a count of counters was only
/// compared if there are counters.
pub(crate) fn refusal(board: &Board, channel: &Channel, n_counters: u32) -> Refusal {
    let is_runtimes = Verdict::from_number(board.verdict) == Verdict::Ended
        && libc::WIFEXITED(board.wait_status)
        && libc::WEXITSTATUS(board.wait_status) == RUNTIME_EXIT_CODE
        && channel.stage() < Stage::MainEntered
        && channel.ended_by() == EndedBy::Program;
    match channel.refusal() {
        Refusal::Counters | Refusal::Mutants if n_counters == 0 => Refusal::None,
        refusal if is_runtimes => refusal,
        _ => Refusal::None,
    }
}

/// The ending of a run that started. `reached_file_limit` says whether a file or stream it left did.
pub(crate) fn ending(
    board: &Board,
    channel: &Channel,
    config: &RunConfig,
    reached_file_limit: bool,
) -> Ending {
    match Verdict::from_number(board.verdict) {
        Verdict::TimedOut => out_of_time(board.resident_at_half, board.resident_at_end, config),
        Verdict::Stopped => Ending::Stopped,
        Verdict::Forbidden => Ending::Forbidden { what: policy::name(board.ended_by_call) },
        _ if libc::WIFSIGNALED(board.wait_status) => {
            signalled(libc::WTERMSIG(board.wait_status), board, config, reached_file_limit)
        }
        _ => exited(libc::WEXITSTATUS(board.wait_status), channel.ended_by()),
    }
}

/// The ending of a run that left with `code`.
pub(crate) fn exited(code: i32, ended_by: EndedBy) -> Ending {
    match ended_by {
        EndedBy::Assumption if code == RUNTIME_EXIT_CODE => Ending::AssumptionFailed,
        EndedBy::Guidepost if code == RUNTIME_EXIT_CODE => Ending::GuidepostBroken,
        EndedBy::Delivery if code == RUNTIME_EXIT_CODE => Ending::DeliveryMismatch,
        EndedBy::Fuel if code == RUNTIME_EXIT_CODE => Ending::OutOfFuel,
        _ => Ending::Exited { code: code as u8 },
    }
}

/// The ending of a run that was out of time, which may have been on its way out of memory: see
/// [`RunConfig::memory_limit`]. It held so many bytes when half of the time had passed, and at the end.
pub(crate) fn out_of_time(at_half: u64, at_end: u64, config: &RunConfig) -> Ending {
    let limit = config.memory_limit;
    let grown = at_end.saturating_sub(at_half);
    let is_nearly_full = at_end >= limit / 2 && at_end.saturating_add(grown.saturating_mul(2)) >= limit;
    let is_steady = at_end >= limit / 8 && grown >= at_end / 3;
    if limit > 0 && (is_nearly_full || is_steady) { Ending::OutOfMemory } else { Ending::TimedOut }
}

/// Whether a run that died of `signal` and held at most `peak` bytes may have died of the limit on memory.
pub(crate) fn died_of_memory(signal: i32, peak: u64, config: &RunConfig) -> bool {
    let filled = config.memory_limit > 0 && peak >= config.memory_limit / 8 * 7;
    filled && DEATHS_OF_MEMORY.contains(&signal)
}

/// Whether `main` was entered, for an outcome.
pub(crate) fn reached_main(stage: Stage, n_counters: u32) -> Option<bool> {
    match stage {
        Stage::MainEntered | Stage::HarnessReturned => Some(true),
        // A build without counters need not contain anything that reports.
        _ => (n_counters > 0).then_some(false),
    }
}

/// How far a run came, unless nothing in the target can tell.
pub(crate) fn reported_stage(stage: Stage, n_counters: u32) -> Option<Stage> {
    (stage != Stage::Nothing || n_counters > 0).then_some(stage)
}

fn signalled(signal: i32, board: &Board, config: &RunConfig, reached_file_limit: bool) -> Ending {
    match signal {
        libc::SIGXFSZ if reached_file_limit => Ending::TooMuchOutput,
        // A file that was removed again, or a step far beyond the limit, leaves nothing to see. But the filter tells
        // if the run sent the signal itself; otherwise it was the kernel.
        libc::SIGXFSZ if config.level != SandboxLevel::Off && board.sent_size_signal == 0 => {
            Ending::TooMuchOutput
        }
        _ if died_of_memory(signal, board.peak_resident, config) => Ending::OutOfMemory,
        _ => Ending::Signalled { signal },
    }
}

fn not_started(board: &Board, program: &Program) -> ExecutorError {
    let source = io::Error::from_raw_os_error(board.failed_errno);
    if board.failed_step != Step::Exec as u32 {
        return ExecutorError::Setup { step: Step::text(board.failed_step), source };
    }
    if board.failed_errno == libc::E2BIG {
        let what = "the arguments and environment".to_string();
        return ExecutorError::BadArgument { what, reason: "are larger than the system passes to a program" };
    }
    ExecutorError::Exec { program: program.given.clone(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_fills_slowly_is_told_from_a_hang_that_holds_some() {
        let config = RunConfig { memory_limit: 800, ..RunConfig::default() };
        let is_filling = |at_half, at_end| out_of_time(at_half, at_end, &config) == Ending::OutOfMemory;
        assert!(is_filling(400, 600), "it would be full in as much time again");
        assert!(is_filling(60, 120), "it grew all the time, on a machine that had little of it");
        assert!(!is_filling(40, 80), "that is not much");
        assert!(!is_filling(500, 500), "it holds much, and takes no more");
        assert!(!is_filling(300, 390), "most of it was taken in the beginning");
        assert_eq!(out_of_time(60, 120, &RunConfig { memory_limit: 0, ..config }), Ending::TimedOut);
    }
}
