//! Names how a run ended.

use crate::{
    channel::Channel,
    config::{RunConfig, SandboxLevel},
    error::ExecutorError,
    keeper::{Board, Step, Verdict},
    program::Program,
    sandbox::policy,
};
use cairn_abi::channel::{EndedBy, RUNTIME_EXIT_CODE};
use cairn_model::Ending;
use std::io;

/// Signals a program dies of when memory it needs is not there.
const DEATHS_OF_MEMORY: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGILL, libc::SIGTRAP, libc::SIGKILL];

/// The ending that `board` and the channel tell of, or why there was no run.
pub(crate) fn ending(
    board: &Board,
    channel: &Channel,
    config: &RunConfig,
    program: &Program,
) -> Result<Ending, ExecutorError> {
    match Verdict::from_number(board.verdict) {
        Verdict::NotStarted => Err(not_started(board, program)),
        Verdict::Leftovers => Err(ExecutorError::Leftovers),
        Verdict::TimedOut => Ok(Ending::TimedOut),
        Verdict::Stopped => Ok(Ending::Stopped),
        Verdict::Forbidden => Ok(Ending::Forbidden { what: policy::name(board.ended_by_call) }),
        Verdict::Ended if libc::WIFSIGNALED(board.wait_status) => {
            Ok(signalled(libc::WTERMSIG(board.wait_status), board, config))
        }
        Verdict::Ended => {
            let code = libc::WEXITSTATUS(board.wait_status);
            Ok(match channel.ended_by() {
                EndedBy::Assumption if code == RUNTIME_EXIT_CODE => Ending::AssumptionFailed,
                EndedBy::Guidepost if code == RUNTIME_EXIT_CODE => Ending::GuidepostBroken,
                _ => Ending::Exited { code: code as u8 },
            })
        }
    }
}

fn signalled(signal: i32, board: &Board, config: &RunConfig) -> Ending {
    let filled = config.memory_limit > 0 && board.peak_resident >= config.memory_limit / 8 * 7;
    match signal {
        libc::SIGXFSZ => Ending::TooMuchOutput,
        // The filter kills only calls in another machine language; the others are answered.
        libc::SIGSYS if config.level != SandboxLevel::Off => {
            Ending::Forbidden { what: "a system call of another architecture".into() }
        }
        _ if filled && DEATHS_OF_MEMORY.contains(&signal) => Ending::OutOfMemory,
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
