//! The score as rows, then the survivors that are worth a look.

use super::{Kind, Scored, Stopped, share::Share};
use crate::{mutants::not_mutated::NotMutated, screen::count};
use cairn_mutants::analysis::{
    Fate, Score,
    survivors::{Survivor, ranked},
};
use std::fmt::Write;

/// Survivors shown unless all are asked for.
const SHOWN: usize = 20;

/// The report.
pub fn render(scored: &Scored, all_survivors: bool) -> String {
    let score = scored.score();
    let mut text = summary(scored, &score);
    let survivors = ranked(&scored.mutants.table, &scored.selected, &scored.matrix);
    if survivors.is_empty() {
        return text;
    }
    text.push_str("\nsurvivors:\n");
    let n_shown = if all_survivors { survivors.len() } else { SHOWN };
    for survivor in survivors.iter().take(n_shown) {
        text.push_str(&shown(scored, survivor));
    }
    if survivors.len() > n_shown {
        let n_more = survivors.len() - n_shown;
        let _ = writeln!(text, "  … and {n_more} more; `--survivors` lists all, `--format json` everything");
    }
    text
}

fn summary(scored: &Scored, score: &Score) -> String {
    let mut lines = Vec::new();
    let mut row = |name: &str, text: String| lines.push(format!("  {name:<10} {text}"));
    let table = &scored.mutants.table;
    row("target", format!("{} ({}, set {})", scored.program, count(score.n_selected, "mutant"), table.set));
    let partial = match score.n_pending {
        0 => String::new(),
        n => format!(" (partial: {n} pending)"),
    };
    let (of_all, of_reached) = (Share::of_all(score), Share::of_reached(score));
    row(
        "score",
        format!("{} of all, {} of those reached{partial}", shown_share(of_all), shown_share(of_reached)),
    );
    let reasons: Vec<String> = score.killed.iter().map(|(reason, n)| format!("{n} by {reason}")).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) };
    row("killed", format!("{} of {}{reasons}", score.n_killed(), score.n_selected));
    if let (Some(n), Some(limit)) = (score.killed.get("timeout"), scored.wall_limit) {
        row(
            "timeouts",
            format!(
                "{} killed by the clock alone, after {} ms or more; raise `run.wall_limit_ms` if time is all they \
                 need",
                count(*n, "mutant"),
                limit.as_millis()
            ),
        );
    }
    row(
        "survived",
        format!(
            "{}: {} differ and nobody notices, {} never differ",
            score.n_survived(),
            score.n_unnoticed,
            score.n_never_infected
        ),
    );
    row(
        "reached",
        format!(
            "{}, of which {} differ; {} not reached",
            score.n_reached, score.n_infected, score.n_not_reached
        ),
    );
    if score.n_layout_dependent > 0 {
        row("unscored", format!("{} depend on where things lie in memory", score.n_layout_dependent));
    }
    if score.n_undecided > 0 {
        let failed = match scored.runs.compare_failed {
            0 => String::new(),
            n => format!(", or `oracle.compare` failed ({})", count(n as usize, "run")),
        };
        row(
            "unscored",
            format!(
                "{} could not be told: output cut off, or stopped by the sandbox{failed}",
                score.n_undecided
            ),
        );
    }
    if score.dropped.total() > 0 {
        let dropped = score.dropped;
        let mut parts = vec![
            format!("{} equal the original", dropped.n_equivalent),
            format!("{} equal another", dropped.n_duplicate),
        ];
        if dropped.n_invalid > 0 {
            parts.push(format!("{} are no valid code", dropped.n_invalid));
        }
        row("dropped", format!("{} of {} made: {}", dropped.total(), score.n_generated, parts.join(", ")));
    }
    for line in NotMutated::of(scored.mutants).lines() {
        row("unmutated", line);
    }
    let n_left_out = scored.tests.len() - scored.n_usable();
    let left_out = if n_left_out > 0 { format!(", {n_left_out} left out") } else { String::new() };
    row(&format!("{}s", scored.kind.noun()), format!("{}{left_out}", scored.n_usable()));
    if scored.is_full && scored.stopped.is_none() {
        let cover = scored.subset();
        let bound = match cover.inputs.len() == cover.at_least {
            true => "no fewer do".to_owned(),
            false => format!("at least {} are needed", cover.at_least),
        };
        let what = match scored.kind {
            Kind::Inputs => "all kills and branches",
            Kind::Tests => "all kills",
        };
        row("subset", format!("{} keep {what}; {bound}", cover.inputs.len()));
    }
    let runs = scored.runs;
    let seconds = scored.elapsed.as_secs_f64();
    let remembered = match runs.remembered {
        0 => String::new(),
        n => format!(", {n} remembered"),
    };
    row("runs", format!("{} of mutants{remembered}, {seconds:.1} s", runs.made));
    if let Some(stopped) = scored.stopped {
        let why = match stopped {
            Stopped::Budget => "the budget is used up",
            Stopped::Signal => "interrupted",
        };
        row("left", format!("{why}; {} not finished, run again to go on", count(score.n_pending, "mutant")));
    }
    lines.join("\n") + "\n"
}

fn shown_share(share: Option<Share>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| share.to_string())
}

fn shown(scored: &Scored, survivor: &Survivor) -> String {
    let inputs = || count(survivor.n_inputs, scored.kind.noun());
    let how = match survivor.fate {
        Fate::Infected => format!("differs on {}, nobody notices", inputs()),
        Fate::Reached => format!("executed by {}, never differs", inputs()),
        _ => "not reached".to_owned(),
    };
    format!("{}\n    {how}\n", scored.mutants.shown(survivor.mutant))
}
