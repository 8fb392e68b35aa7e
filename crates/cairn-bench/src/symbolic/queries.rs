//! Replays recorded questions: which stage answers how many of them, and how long that takes.

use super::recording::recorded;
use crate::{
    measure::{Pair, Samples, short},
    results,
    table::{Goal, Row, Table},
};
use anyhow::Result;
use cairn_solver::{
    Answer, Budget, Config, Query, Search, Solver, Stage, Statistics, Strength, slice, standard,
};
use cairn_targets::Cache;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// Evaluations of candidates in a second that JIGSAW publishes, with code generated for each question.
const JIGSAW: f64 = 747_000.0;

/// Design §13: at least 2 M evaluations a second.
const GOAL: Goal = Goal::AtLeast(2.68);

/// Of a search that is over sooner, most of the time is spent on getting ready.
const LONG: u64 = 2_000;

/// What came of the questions of one program.
#[derive(Default)]
struct Replayed {
    n_queries: usize,
    /// Questions and time by stage and answer.
    answers: BTreeMap<(Stage, &'static str), (usize, Duration)>,
    statistics: Statistics,
    time: Duration,
    /// Evaluations and time of long searches, asked by themselves.
    long: (u64, Duration),
}

/// Replays the questions of each program.
pub fn queries(cache: &Cache, names: &[String], table: &mut Table) -> Result<()> {
    println!(
        "| program | questions | answered by | sat | unsat | in part | unknown | time, all | asked | time in the stage | evaluations/s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut failed = Vec::new();
    let mut rates = Samples(Vec::new());
    for name in names {
        match replay(cache, name) {
            Ok(replayed) => {
                replayed.print(name);
                results::merge(cache, "queries", vec![replayed.to_json(name)])?;
                rates.0.extend(replayed.rate());
            }
            Err(error) => failed.push(format!("{name}: {error:#}")),
        }
    }
    println!("\nwritten to {}\n", results::path(cache, "queries").display());
    if !rates.0.is_empty() {
        let pair = Pair { peer: Samples(vec![JIGSAW; rates.0.len()]), ours: rates };
        let row = Row {
            what: "search, recorded questions".into(),
            our_command: format!("search on questions recorded of {}", names.join(", ")),
            peer_command: format!("JIGSAW: {} evaluations/s, published", short(JIGSAW)),
            unit: "evaluations/s",
            pair,
            goal: GOAL,
            notes: vec![format!(
                "one figure a program, of questions on which search tries at least {LONG} candidates"
            )],
        };
        table.add(cache, row)?;
    }
    anyhow::ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

fn replay(cache: &Cache, name: &str) -> Result<Replayed> {
    let recorded = recorded(cache, name)?;
    let mut solver = standard(Config::default());
    let mut replayed = Replayed::default();
    for path in &recorded {
        for (n_before, goal) in &path.queries {
            let query = Query {
                dag: &path.dag,
                constraints: &path.constraints[..*n_before],
                n_always: 0,
                goal: *goal,
                seed: &path.seed,
            };
            let start = Instant::now();
            let response = solver.solve(&query, Budget::default());
            let time = start.elapsed();
            let answer = match (&response.answer, response.strength) {
                (Answer::Sat(_), Strength::Full) => "sat",
                (Answer::Sat(_), _) => "in part",
                (Answer::Unsat, _) => "unsat",
                (Answer::Unknown(_), _) => "unknown",
            };
            let (n, all) = replayed.answers.entry((response.stage, answer)).or_default();
            *n += 1;
            *all += time;
            replayed.n_queries += 1;
            let related = slice(&path.dag, query.constraints, *goal);
            let start = Instant::now();
            let searched = Search::new(0).solve(&query.with_constraints(&related), Config::default().search);
            if searched.work.evaluations >= LONG {
                replayed.long.0 += searched.work.evaluations;
                replayed.long.1 += start.elapsed();
            }
            replayed.time += time;
        }
    }
    replayed.statistics = solver.statistics();
    Ok(replayed)
}

impl Replayed {
    fn n(&self, stage: Stage, answer: &'static str) -> usize {
        self.answers.get(&(stage, answer)).map_or(0, |(n, _)| *n)
    }

    fn time(&self, stage: Stage) -> Duration {
        self.answers.iter().filter(|((by, _), _)| *by == stage).map(|(_, (_, time))| *time).sum()
    }

    /// Evaluations of long searches in a second; `None` if there were none.
    fn rate(&self) -> Option<f64> {
        let (n, time) = self.long;
        (n > 0).then(|| n as f64 / time.as_secs_f64())
    }

    fn print(&self, name: &str) {
        for stage in Stage::ALL {
            let statistics = self.statistics.stage(stage);
            let rate = match statistics.work.evaluations {
                0 => String::new(),
                n => short(n as f64 / statistics.time.as_secs_f64()),
            };
            println!(
                "| {name} | {} | {stage} | {} | {} | {} | {} | {:.2} s | {} | {:.2} s | {rate} |",
                self.n_queries,
                self.n(stage, "sat"),
                self.n(stage, "unsat"),
                self.n(stage, "in part"),
                self.n(stage, "unknown"),
                self.time(stage).as_secs_f64(),
                statistics.n_queries,
                statistics.time.as_secs_f64(),
            );
        }
        let statistics = &self.statistics;
        println!(
            "| {name} | {} | all | | | | | {:.2} s | | {} of {} conditions left by slicing | |",
            self.n_queries,
            self.time.as_secs_f64(),
            statistics.n_sliced_constraints,
            statistics.n_constraints,
        );
    }

    fn to_json(&self, name: &str) -> Value {
        let answers: Vec<Value> = self
            .answers
            .iter()
            .map(|((stage, answer), (n, time))| {
                json!({ "stage": stage.name(), "answer": answer, "n": n, "seconds": time.as_secs_f64() })
            })
            .collect();
        let stages: Vec<Value> = self
            .statistics
            .stages
            .iter()
            .map(|(stage, of)| {
                json!({
                    "stage": stage.name(),
                    "asked": of.n_queries,
                    "sat": of.n_sat,
                    "unsat": of.n_unsat,
                    "unknown": of.n_unknown,
                    "wrong_models": of.n_wrong_models,
                    "evaluations": of.work.evaluations,
                    "rlimit": of.work.rlimit,
                    "seconds": of.time.as_secs_f64(),
                })
            })
            .collect();
        json!({
            "name": name,
            "questions": self.n_queries,
            "seconds": self.time.as_secs_f64(),
            "answers": answers,
            "stages": stages,
            "constraints": self.statistics.n_constraints,
            "constraints_after_slicing": self.statistics.n_sliced_constraints,
            "optimistic": self.statistics.n_optimistic,
        })
    }
}
