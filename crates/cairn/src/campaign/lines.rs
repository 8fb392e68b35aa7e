//! A campaign told in lines, where there is no terminal to draw on.

use crate::{
    commands::cover::verb,
    duration,
    printable::{grouped, one_line},
    screen::count,
};
use cairn_campaign::{Event, EventKind, Why};
use cairn_model::Ending;
use std::time::Duration;

/// How often it is told how far a campaign is, while something changes.
const WHILE_CHANGING: Duration = Duration::from_secs(10);

/// How often when nothing does.
const WHILE_QUIET: Duration = Duration::from_secs(60);

/// Inputs that are told one by one between two moments; the others are counted.
const TOLD_APART: usize = 5;

/// Says what to print, and keeps a log small: it remembers what was said.
#[derive(Debug, Default)]
pub struct Lines {
    /// When it was last told how far the campaign is, and how far it was.
    last: Option<(Duration, Figures)>,
    /// Inputs told since the last moment.
    n_told: usize,
    /// Inputs only counted since then.
    n_untold: usize,
}

/// Branches, inputs, ways to fail, killed mutants.
type Figures = (usize, usize, usize, usize);

impl Lines {
    /// What to print for an event, if anything.
    pub fn line(&mut self, event: &Event) -> Option<String> {
        let after = Duration::from_millis(event.after_ms);
        let text = match &event.kind {
            EventKind::Began { is_resumed, seed, workers, n_branches, n_mutants } => format!(
                "{} with {}, seed {seed}; the program has {}{}",
                if *is_resumed { "going on" } else { "beginning" },
                count(*workers, "worker"),
                count(*n_branches, "branch"),
                if *n_mutants > 0 { format!(" and {}", count(*n_mutants, "mutant")) } else { String::new() },
            ),
            // The line of the input says so.
            EventKind::Killed { .. } => return None,
            EventKind::Kept { .. } if self.n_told == TOLD_APART => {
                self.n_untold += 1;
                return None;
            }
            EventKind::Kept { entry, strategy, made_by, kept_for, n_branches, .. } => {
                self.n_told += 1;
                let reached = count(*n_branches, "branch");
                format!("kept #{entry} ({strategy}: {made_by}): {kept_for}; {reached} reached")
            }
            EventKind::Failed { kind, stack, address, is_smaller, .. } => {
                let place = stack.first().map_or(String::new(), |frame| format!(" in {frame}"));
                let what = if *is_smaller { "a smaller input for" } else { "the program fails:" };
                format!("{what} {kind}{place} (input {address})")
            }
            EventKind::Unconfirmed { address, ending, n_runs, .. } => {
                format!("warning: {}", unconfirmed(address, ending, *n_runs))
            }
            EventKind::Warned { text } => format!("warning: {text}"),
            EventKind::Restarted { worker, why } => {
                format!("warning: worker {worker} was started again: {why}")
            }
            EventKind::Moment {
                n_branches,
                n_entries,
                n_failures,
                n_inputs,
                inputs_per_second,
                n_killed,
                ..
            } => {
                let figures = (*n_branches, *n_entries, *n_failures, *n_killed);
                self.n_told = 0;
                let n_untold = std::mem::take(&mut self.n_untold);
                if n_untold == 0 && !self.is_due(after, figures) {
                    return None;
                }
                self.last = Some((after, figures));
                format!(
                    "{}{}, {}, {}{}, {} tried, {} a second",
                    if n_untold > 0 { format!("{n_untold} more kept: ") } else { String::new() },
                    count(*n_branches, "branch"),
                    count(*n_entries, "input"),
                    ways_to_fail(*n_failures),
                    if *n_killed > 0 { format!(", {n_killed} killed") } else { String::new() },
                    grouped(*n_inputs),
                    grouped(inputs_per_second.round() as u64),
                )
            }
            EventKind::Ended { why } => ended(*why).into(),
        };
        Some(format!("{:>10}  {}", duration::show(after), one_line(&text)))
    }

    fn is_due(&self, now: Duration, figures: Figures) -> bool {
        let Some((then, before)) = self.last else { return true };
        let pause = if figures == before { WHILE_QUIET } else { WHILE_CHANGING };
        now.saturating_sub(then) >= pause
    }
}

/// `1 way to fail`.
pub fn ways_to_fail(n: usize) -> String {
    match n {
        1 => "1 way to fail".into(),
        n => format!("{n} ways to fail"),
    }
}

/// What is said of an input that the bare build does not fail on.
pub fn unconfirmed(address: &str, ending: &Ending, n_runs: u32) -> String {
    let seen = format!("an input failed in the plain view (it {})", verb(ending));
    let then = match n_runs {
        0 => ", and there was no time left to confirm that on the bare build".into(),
        n_runs => format!(", and not in {} of the bare build", count(n_runs as usize, "run")),
    };
    format!("{seen}{then}; it is kept as `unconfirmed/{address}`")
}

/// Why a campaign ended.
pub fn ended(why: Why) -> &'static str {
    match why {
        Why::Budget => "ended: the budget is used up",
        Why::Asked => "ended: asked to",
        Why::NothingLeft => "ended: no strategy has anything left to propose",
        Why::Error => "ended by an error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn kept(after_ms: u64, entry: u32, n_branches: usize) -> Event {
        let kind = EventKind::Kept {
            entry,
            address: "ab".into(),
            strategy: "fuzz".into(),
            parent: Some(0),
            made_by: "bit flip".into(),
            kept_for: "calc.c:3:7 `*at == '('` is true".into(),
            n_branches,
        };
        Event { after_ms, kind }
    }

    fn moment(after_ms: u64, n_branches: usize) -> Event {
        let kind = EventKind::Moment {
            n_branches,
            n_entries: 7,
            n_failures: 1,
            n_inputs: 12_345,
            n_target_runs: 12_400,
            n_mutant_runs: 0,
            on_mutants_ms: 0,
            n_killed: 0,
            inputs_per_second: 1_234.5,
            workers: vec!["fuzz".into()],
        };
        Event { after_ms, kind }
    }

    #[track_caller]
    fn check(events: &[Event], expected: Expect) {
        let mut lines = Lines::default();
        let told = events.iter().filter_map(|event| lines.line(event));
        // A bar, because expectations lose what all their lines begin with.
        expected.assert_eq(&told.map(|line| format!("|{line}\n")).collect::<String>());
    }

    #[test]
    fn moments_are_rare_and_rarer_when_nothing_changes() {
        let changing: Vec<Event> = (0..=20).map(|second| moment(second * 1000, second as usize)).collect();
        check(
            &changing,
            expect![[r#"
                |     0.0 s  0 branches, 7 inputs, 1 way to fail, 12 345 tried, 1 235 a second
                |    10.0 s  10 branches, 7 inputs, 1 way to fail, 12 345 tried, 1 235 a second
                |    20.0 s  20 branches, 7 inputs, 1 way to fail, 12 345 tried, 1 235 a second
            "#]],
        );
        let quiet: Vec<Event> = (0..=65).map(|second| moment(second * 1000, 5)).collect();
        check(
            &quiet,
            expect![[r#"
                |     0.0 s  5 branches, 7 inputs, 1 way to fail, 12 345 tried, 1 235 a second
                | 1 min 0 s  5 branches, 7 inputs, 1 way to fail, 12 345 tried, 1 235 a second
            "#]],
        );
    }

    #[test]
    fn many_inputs_at_once_are_counted() {
        let mut events: Vec<Event> = (0..8).map(|entry| kept(100, entry, 3)).collect();
        events.push(moment(1000, 3));
        events.push(kept(1500, 8, 4));
        check(
            &events,
            expect![[r#"
                |     0.1 s  kept #0 (fuzz: bit flip): calc.c:3:7 `*at == '('` is true; 3 branches reached
                |     0.1 s  kept #1 (fuzz: bit flip): calc.c:3:7 `*at == '('` is true; 3 branches reached
                |     0.1 s  kept #2 (fuzz: bit flip): calc.c:3:7 `*at == '('` is true; 3 branches reached
                |     0.1 s  kept #3 (fuzz: bit flip): calc.c:3:7 `*at == '('` is true; 3 branches reached
                |     0.1 s  kept #4 (fuzz: bit flip): calc.c:3:7 `*at == '('` is true; 3 branches reached
                |     1.0 s  3 more kept: 3 branches, 7 inputs, 1 way to fail, 12 345 tried, 1 235 a second
                |     1.5 s  kept #8 (fuzz: bit flip): calc.c:3:7 `*at == '('` is true; 4 branches reached
            "#]],
        );
    }

    #[test]
    fn an_event_is_one_line_and_moves_no_cursor() {
        let warned = |text: &str| Event { after_ms: 0, kind: EventKind::Warned { text: text.into() } };
        check(
            &[warned("a\x1b[2J\n\nhint: b")],
            expect![[r#"
                |     0.0 s  warning: a\u{1b}[2J; hint: b
            "#]],
        );
    }
}
