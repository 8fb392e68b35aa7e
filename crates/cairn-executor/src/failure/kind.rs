//! What kind of failure it is, in words for people.

use super::{message::Message, samples::Sample};
use cairn_model::Ending;
use nix::sys::signal::Signal;

/// Addresses below this come from a null pointer.
const NULL_PAGE: u64 = 4096;

/// Names a failure; `sample` is of the moment of death, if there is one.
pub(super) fn kind(ending: &Ending, sample: Option<&Sample>, message: Option<&Message>) -> String {
    match ending {
        Ending::Signalled { signal } => signalled(*signal, sample, message),
        Ending::TimedOut | Ending::OutOfFuel => "hang".into(),
        Ending::OutOfMemory => "out of memory".into(),
        Ending::TooMuchOutput => "too much output".into(),
        Ending::Stopped => "stopped".into(),
        Ending::AssumptionFailed => "assumption failed".into(),
        Ending::GuidepostBroken => "guidepost broken".into(),
        Ending::DeliveryMismatch => "delivery mismatch".into(),
        Ending::Forbidden { what } => format!("forbidden {what}"),
        Ending::Exited { code } => format!("exit code {code}"),
    }
}

fn signalled(signal: i32, sample: Option<&Sample>, message: Option<&Message>) -> String {
    let sample = sample.filter(|sample| sample.signal == signal);
    if sample.is_some_and(Sample::is_stack_overflow) {
        return "stack overflow".into();
    }
    match signal {
        libc::SIGSEGV if sample.is_some_and(is_null) => "null dereference".into(),
        libc::SIGABRT => message.map_or("abort", |message| message.kind).into(),
        _ => {
            Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |signal| signal.to_string())
        }
    }
}

/// Whether the program touched memory near address 0. Addresses the processor does not even look up are shown as 0 too, but
/// with another code.
fn is_null(sample: &Sample) -> bool {
    const NO_MAPPING: i32 = 1;
    const NO_RIGHT: i32 = 2;
    [NO_MAPPING, NO_RIGHT].contains(&sample.code) && sample.fault < NULL_PAGE
}
