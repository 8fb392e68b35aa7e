//! Makes an [`Execution`] of what a run in the session left.

use super::{config::Wants, live::Live};
use crate::{capture, channel::Channel, error::ExecutorError, executor::Execution, judge, scratch::Changes};
use cairn_abi::{
    channel::{EndedBy, RUNTIME_EXIT_CODE, Stage},
    session::{ResultSlot, RunEnd, Span},
};
use cairn_model::{Ending, Outcome, input::Bytes, outcome::Captured};
use std::time::Duration;

/// How a run with this result ended.
pub(super) fn ending(slot: &ResultSlot) -> Ending {
    match RunEnd::from_target(slot.end) {
        RunEnd::Runtime => judge::exited(RUNTIME_EXIT_CODE, EndedBy::from_target(slot.ended_by)),
        RunEnd::Exited => judge::exited(slot.value & 0xff, EndedBy::Program),
        RunEnd::Signalled => Ending::Signalled { signal: slot.value },
        // In a process of its own it would wait until its time is over.
        RunEnd::Waiting => Ending::TimedOut,
        // A harness that returns ends the program with success.
        _ => Ending::Exited { code: 0 },
    }
}

/// What the harness returned, however the process ended after that.
pub(super) fn harness_return(slot: &ResultSlot) -> Option<i32> {
    match RunEnd::from_target(slot.end) {
        RunEnd::Returned => Some(slot.value),
        _ => (Stage::from_target(slot.stage) == Stage::HarnessReturned).then_some(slot.harness_return),
    }
}

/// What `slot` says, which was checked.
pub(super) fn of_result(
    channel: &Channel,
    slot: &ResultSlot,
    changes: Changes,
    elapsed: Duration,
) -> Execution {
    let n_counters = channel.layout().n_counters as u32;
    let stage = Stage::from_target(slot.stage);
    // The channel's region ends at a page, the limit may not.
    let limit = channel.layout().output;
    let kept = |span: Span, total: u64| {
        let bytes = bytes(channel, span);
        Captured { bytes: Bytes(bytes[..bytes.len().min(limit)].to_vec()), total }
    };
    Execution {
        outcome: Outcome {
            ending: ending(slot),
            stdout: kept(slot.stdout, slot.totals[0]),
            stderr: kept(slot.stderr, slot.totals[1]),
            files: changes.files,
            files_cut: changes.is_cut,
            harness_return: harness_return(slot),
            harness_output: kept(slot.output, slot.totals[2]),
            reached_main: judge::reached_main(stage, n_counters),
            elapsed,
        },
        counters: bytes(channel, slot.counters).to_vec(),
        path_hash: slot.path_hash,
        stage: judge::reported_stage(stage, n_counters),
        ended_by: EndedBy::from_target(slot.ended_by),
        fuel_used: slot.fuel_used,
        trace: Vec::new(),
        n_trace_records: (0, 0),
        refused: Vec::new(),
        owners_left: Vec::new(),
    }
}

/// What lies in the channel and the memory files after a run that ended its runner.
pub(super) fn of_remains(
    live: &Live,
    ending: Ending,
    changes: Changes,
    elapsed: Duration,
    wants: Wants,
    fuel: u64,
) -> Result<Execution, ExecutorError> {
    let channel = &live.channel;
    let limit = if wants.output { channel.layout().output as u64 } else { 0 };
    let failed = || ExecutorError::system("read what the run printed");
    let [stdout, stderr] = live.streams();
    let mut harness_output = channel.harness_output();
    harness_output.bytes.0.truncate(limit as usize);
    let n_counters = channel.layout().n_counters as u32;
    let stage = channel.stage();
    Ok(Execution {
        outcome: Outcome {
            ending,
            stdout: capture::read(stdout, limit).map_err(failed())?,
            stderr: capture::read(stderr, limit).map_err(failed())?,
            files: changes.files,
            files_cut: changes.is_cut,
            harness_return: channel.harness_return(),
            harness_output,
            reached_main: judge::reached_main(stage, n_counters),
            elapsed,
        },
        counters: channel.counters().to_vec(),
        path_hash: channel.path_hash(),
        stage: judge::reported_stage(stage, n_counters),
        ended_by: channel.ended_by(),
        fuel_used: channel.fuel_used(fuel),
        trace: Vec::new(),
        n_trace_records: (0, 0),
        refused: Vec::new(),
        owners_left: Vec::new(),
    })
}

/// A part of the captured region; empty if it does not lie within.
pub(super) fn bytes(channel: &Channel, span: Span) -> &[u8] {
    let captured = channel.captured();
    captured.get(span.offset as usize..).and_then(|rest| rest.get(..span.length as usize)).unwrap_or(&[])
}
