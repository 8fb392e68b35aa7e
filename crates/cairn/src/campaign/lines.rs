//! A campaign told in lines, where there is no terminal to draw on.

use crate::{duration, screen::count};
use cairn_campaign::{Event, EventKind, Why};
use std::time::Duration;

/// What to print for an event, if anything.
pub fn line(event: &Event) -> Option<String> {
    let text = match &event.kind {
        EventKind::Began { is_resumed, seed, workers, n_branches } => format!(
            "{} with {}, seed {seed}; the program has {}",
            if *is_resumed { "going on" } else { "beginning" },
            count(*workers, "worker"),
            count(*n_branches, "branch"),
        ),
        EventKind::Kept { entry, strategy, made_by, kept_for, n_branches, .. } => {
            format!(
                "kept #{entry} ({strategy}: {made_by}): {kept_for}; {} reached",
                count(*n_branches, "branch")
            )
        }
        EventKind::Failed { kind, stack, address, is_smaller, .. } => {
            let place = stack.first().map_or(String::new(), |frame| format!(" in {frame}"));
            let what = if *is_smaller { "a smaller input for" } else { "the program fails:" };
            format!("{what} {kind}{place} (input {address})")
        }
        EventKind::Warned { text } => format!("warning: {text}"),
        EventKind::Restarted { worker, why } => format!("warning: worker {worker} was started again: {why}"),
        EventKind::Moment { n_branches, n_entries, n_failures, n_inputs, inputs_per_second, .. } => format!(
            "{}, {}, {} ways to fail, {n_inputs} inputs tried, {inputs_per_second:.0} a second",
            count(*n_branches, "branch"),
            count(*n_entries, "input"),
            n_failures,
        ),
        EventKind::Ended { why } => match why {
            Why::Budget => "ended: the budget is used up".into(),
            Why::Asked => "ended: asked to".into(),
            Why::NothingLeft => "ended: no strategy has anything left to propose".into(),
            Why::Error => "ended by an error".into(),
        },
    };
    Some(format!("{:>10}  {text}", duration::show(Duration::from_millis(event.after_ms))))
}
