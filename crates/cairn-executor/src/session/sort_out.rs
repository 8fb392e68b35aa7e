//! What became of each input of a batch.
//!
//! The runner is not trusted: a result counts if its number and checksum are right, and a batch that ends early must
//! say so. Where anything does not fit, the runner is replaced and the input in question runs in a fresh process.

use super::{
    live::{Live, Posted, Stop},
    why::WhyFresh,
};
use crate::{config::RunConfig, error::ExecutorError, judge, sandbox::policy};
use cairn_abi::session::{ResultSlot, RunEnd, flags};
use cairn_model::Ending;

/// Signals that a runner outlives.
const CRASHES: [i32; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT];

/// What became of one input.
#[derive(Clone, Debug)]
pub(super) enum Taken {
    /// It has this result.
    Result(ResultSlot),
    /// It ended its runner so; what it left lies in the channel and the memory files.
    Ended(Ending),
    /// It is to be posted again.
    Again,
    /// It is to be run in a fresh process.
    Fresh(WhyFresh),
}

impl Taken {
    /// Whether something in the scratch folder changed, by the runner's word.
    pub(super) fn has_changed_files(&self) -> bool {
        matches!(self, Self::Result(slot) if slot.flags & flags::FILES_CHANGED != 0)
    }
}

/// Sorts out a batch of `n_inputs` into `taken`: one entry for each input that is done with, which is at least the first.
/// The rest is to be posted again.
pub(super) fn sort_out(
    live: &mut Live,
    config: &RunConfig,
    n_inputs: usize,
    posted: &Posted,
    taken: &mut Vec<Taken>,
) -> Result<(), ExecutorError> {
    taken.clear();
    let mut is_last = false;
    for index in 0..posted.n_done {
        let slot = live.channel.result(index);
        let run = posted.first_run + index as u64;
        is_last = slot.flags & (flags::LAST | flags::LEAVES) != 0;
        let ends_batch = is_last || slot.flags & flags::FILES_CHANGED != 0;
        let is_odd = ends_batch && index + 1 != posted.n_done || !slot.is_whole(run, live.channel.captured());
        let entry = if is_odd { Taken::Fresh(WhyFresh::Damaged) } else { judge_result(index, slot) };
        taken.push(entry);
        if is_odd {
            return live.retire().map(drop);
        }
        if slot.flags & flags::LEAVES != 0 {
            return live.see_off();
        }
    }
    if taken.len() == n_inputs {
        return Ok(());
    }
    let of_the_next = match posted.stop {
        Stop::Answered if is_last => return Ok(()),
        Stop::Answered | Stop::Confused => {
            // It may still live and believe that it has the turn.
            live.retire()?;
            Taken::Fresh(WhyFresh::Damaged)
        }
        Stop::Died { status, peak, was_running } => judge_death(status, peak, was_running, config),
        Stop::Hung { at_half, at_end, was_running: true } => {
            Taken::Ended(judge::out_of_time(at_half, at_end, config))
        }
        Stop::Hung { was_running: false, .. } => Taken::Fresh(WhyFresh::Ruined),
        Stop::Stopped => Taken::Fresh(WhyFresh::Stopped),
        Stop::Lost => Taken::Fresh(WhyFresh::Killed),
    };
    taken.push(of_the_next);
    Ok(())
}

fn judge_result(index: usize, slot: ResultSlot) -> Taken {
    match RunEnd::from_target(slot.end) {
        RunEnd::NeedsFork => Taken::Fresh(WhyFresh::Call { name: policy::name(slot.value as u32) }),
        RunEnd::Ruined => Taken::Fresh(WhyFresh::Ruined),
        RunEnd::None => Taken::Fresh(WhyFresh::Damaged),
        _ if slot.n_looks_at_itself > 0 => Taken::Fresh(WhyFresh::LooksAtItself),
        // The first of a batch had the whole region for itself.
        _ if slot.flags & flags::NOT_KEPT != 0 && index == 0 => Taken::Fresh(WhyFresh::NotKept),
        _ if slot.flags & flags::NOT_KEPT != 0 => Taken::Again,
        RunEnd::Signalled if !CRASHES.contains(&slot.value) => Taken::Fresh(WhyFresh::Damaged),
        RunEnd::Returned | RunEnd::Exited | RunEnd::Runtime | RunEnd::Signalled | RunEnd::Waiting => {
            Taken::Result(slot)
        }
    }
}

/// Signals a program dies of by its own fault stand; whatever may have another reason is looked at again.
fn judge_death(status: i32, peak: u64, was_running: bool, config: &RunConfig) -> Taken {
    if !libc::WIFSIGNALED(status) {
        return Taken::Fresh(WhyFresh::DiedOddly);
    }
    match libc::WTERMSIG(status) {
        libc::SIGKILL => Taken::Fresh(WhyFresh::Killed),
        // The runner itself died, laying out an input or restoring the process.
        _ if !was_running => Taken::Fresh(WhyFresh::DiedOddly),
        libc::SIGSYS | libc::SIGXFSZ => Taken::Fresh(WhyFresh::DiedOddly),
        signal if judge::died_of_memory(signal, peak, config) => Taken::Fresh(WhyFresh::FilledMemory),
        signal => Taken::Ended(Ending::Signalled { signal }),
    }
}
