//! The score for programs. The layout is versioned by `format`.

use super::{Runs, Scored, Stopped, share::Share};
use crate::{
    failure::Failure,
    mutants::{
        describe::{Described, DroppedCounts},
        not_mutated::NotMutated,
    },
};
use cairn_mutants::analysis::{Fate, survivors::ranked};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    program: &'a str,
    set: &'a str,
    score: Totals,
    runs: Runs,
    seconds: f64,
    stopped: Option<Stopped>,
    /// Why there is no score, though something was found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorEntry<'a>>,
    inputs: Vec<InputEntry<'a>>,
    subset: Option<Subset<'a>>,
    /// Survivors by id, the most telling first.
    survivors: Vec<String>,
    mutants: Vec<MutantEntry<'a>>,
}

#[derive(Serialize)]
struct Totals {
    generated: usize,
    dropped: DroppedCounts,
    not_mutated: NotMutated,
    selected: usize,
    reached: usize,
    infected: usize,
    killed: usize,
    killed_by: BTreeMap<&'static str, usize>,
    survived: usize,
    unnoticed: usize,
    never_infected: usize,
    not_reached: usize,
    layout_dependent: usize,
    undecided: usize,
    pending: usize,
    /// Absent while mutants are pending: then only the bounds are known.
    percent_of_all: Option<f64>,
    percent_of_reached: Option<f64>,
    bounds_of_all: Option<Share>,
    bounds_of_reached: Option<Share>,
}

/// A score that there is not.
#[derive(Serialize)]
struct Refused<'a> {
    format: u32,
    program: &'a str,
    set: &'a str,
    score: Option<Totals>,
    error: ErrorEntry<'a>,
}

#[derive(Serialize)]
struct ErrorEntry<'a> {
    exit: u8,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl<'a> ErrorEntry<'a> {
    fn of(failure: &'a Failure) -> Self {
        Self { exit: failure.exit as u8, message: &failure.message, hint: failure.hint.as_deref() }
    }
}

#[derive(Serialize)]
struct InputEntry<'a> {
    name: &'a str,
    left_out: Option<&'a str>,
    masked: &'a [String],
    reached: usize,
    infected: usize,
    killed: usize,
}

#[derive(Serialize)]
struct Subset<'a> {
    inputs: Vec<&'a str>,
    at_least: usize,
}

#[derive(Serialize)]
struct MutantEntry<'a> {
    #[serde(flatten)]
    described: Described<'a>,
    fate: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    killed_by: Vec<&'a str>,
}

/// The report where nothing was found out, because of `failure`.
pub fn render_failure(program: &str, set: &str, failure: &Failure) -> String {
    let report = Refused { format: 1, program, set, score: None, error: ErrorEntry::of(failure) };
    serde_json::to_string_pretty(&report).expect("a report is always JSON") + "\n"
}

/// The report; `failure` says why it does not amount to a score.
pub fn render(scored: &Scored, failure: Option<&Failure>) -> String {
    let score = scored.score();
    let table = &scored.mutants.table;
    let fates = scored.matrix.fates(table.mutants.len());
    let inputs = scored.tests.iter().enumerate().map(|(index, test)| {
        let row = scored.matrix.row(cairn_mutants::analysis::InputNumber(index as u32));
        InputEntry {
            name: &test.name,
            left_out: test.left_out.as_deref(),
            masked: &test.masked,
            reached: row.map_or(0, |row| row.reached.len()),
            infected: row.map_or(0, |row| row.infected.len()),
            killed: row.map_or(0, |row| {
                row.verdicts.values().filter(|verdict| verdict.kill_reason().is_some()).count()
            }),
        }
    });
    let mutants = scored.selected.iter().map(|mutant| {
        let fate = fates[mutant.index()];
        MutantEntry {
            described: scored.mutants.describe(mutant),
            fate: fate.name(),
            reason: match fate {
                Fate::Killed { reason, .. } => Some(reason.to_string()),
                _ => None,
            },
            killed_by: scored.matrix.killers(mutant).map(|input| scored.name(input)).collect(),
        }
    });
    let subset = scored.is_full.then(|| {
        let cover = scored.subset();
        Subset {
            inputs: cover.inputs.iter().map(|index| scored.tests[*index].name.as_str()).collect(),
            at_least: cover.at_least,
        }
    });
    let report = Report {
        format: 1,
        program: &scored.program,
        set: &table.set,
        runs: scored.runs,
        seconds: scored.elapsed.as_secs_f64(),
        stopped: scored.stopped,
        error: failure.map(ErrorEntry::of),
        inputs: inputs.collect(),
        subset,
        survivors: ranked(table, &scored.selected, &scored.matrix)
            .iter()
            .map(|survivor| table.mutants[survivor.mutant.index()].stable_id.to_string())
            .collect(),
        mutants: mutants.collect(),
        score: Totals {
            generated: score.n_generated,
            dropped: score.dropped.into(),
            not_mutated: NotMutated::of(scored.mutants),
            selected: score.n_selected,
            reached: score.n_reached,
            infected: score.n_infected,
            killed: score.n_killed(),
            survived: score.n_survived(),
            unnoticed: score.n_unnoticed,
            never_infected: score.n_never_infected,
            not_reached: score.n_not_reached,
            layout_dependent: score.n_layout_dependent,
            undecided: score.n_undecided,
            pending: score.n_pending,
            percent_of_all: Share::of_all(&score).and_then(Share::exact),
            percent_of_reached: Share::of_reached(&score).and_then(Share::exact),
            bounds_of_all: Share::of_all(&score),
            bounds_of_reached: Share::of_reached(&score),
            killed_by: score.killed,
        },
    };
    serde_json::to_string_pretty(&report).expect("a report is always JSON") + "\n"
}
