//! Decides random branches of real programs otherwise, and looks whether the new inputs do what they were made for.

use super::{
    pairs::{Walked, n_pairs, walk},
    subject::{Tracer, open},
};
use crate::results;
use anyhow::{Result, ensure};
use cairn_abi::channel::TraceLevel;
use cairn_concolic::{Event, Flip, Path, Verification, flip, verify, verify_whole};
use cairn_executor::SymbolicConfig;
use cairn_model::ProgramMap;
use cairn_solver::{Budget, Config, Strength, standard};
use cairn_targets::Cache;
use serde_json::{Value, json};
use std::{
    fs,
    time::{Duration, Instant},
};

/// Of answers to whole questions, at most this share may leave the way before the branch.
const MAX_DIVERGED: f64 = 0.01;

/// What came of one program.
#[derive(Default)]
struct Tally {
    /// Answers to whole questions, and what the new inputs did.
    n_flipped: usize,
    n_diverged: usize,
    /// Answers to a part of the question, and how many of them did what they should all the same.
    n_optimistic: usize,
    n_optimistic_flipped: usize,
    n_unsat: usize,
    /// No answer because values were fixed on the way: what is true of the program is not known.
    n_fixed: usize,
    n_unknown: usize,
    n_no_input: usize,
    /// In new runs.
    n_mistakes: usize,
    solving: Duration,
    walked: Walked,
    /// Everything that did not go as it should, for people.
    notes: Vec<String>,
}

/// Flips branches of each program; fails if too many answers diverge.
pub fn flips(cache: &Cache, names: &[String]) -> Result<()> {
    println!(
        "| program | inputs | pairs | solved | flipped | diverged | in part solved (flipped) | unsat | values fixed | unknown | no input | mistakes | running | reading paths | solving |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut failed = Vec::new();
    for name in names {
        let tally = match flip_program(cache, name) {
            Ok(tally) => tally,
            Err(error) => {
                failed.push(format!("{name}: {error:#}"));
                continue;
            }
        };
        println!("{}", tally.line(name));
        let path = cache.folder.join(format!("results/flips-{name}.txt"));
        fs::create_dir_all(cache.folder.join("results"))?;
        fs::write(&path, tally.notes.concat())?;
        failed.extend(tally.failure().map(|failure| format!("{name}: {failure}; see {}", path.display())));
        results::merge(cache, "flips", vec![tally.to_json(name)])?;
    }
    println!("\nwritten to {}\n", results::path(cache, "flips").display());
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

fn flip_program(cache: &Cache, name: &str) -> Result<Tally> {
    let subject = open(cache, name)?;
    let map = &subject.build.map;
    let mut solver = standard(Config::default());
    let mut tally = Tally::default();
    if let Some(missing) = &solver.smt_unavailable {
        eprintln!("{missing}");
    }
    let mut whole_tracer: Option<Tracer> = None;
    tally.walked = walk(cache, &subject, n_pairs()?, 23, |tracer, path, steps| {
        for step in steps {
            let start = Instant::now();
            let answer = flip(path, *step, &mut solver, Budget::default());
            tally.solving += start.elapsed();
            let solved = match answer {
                Flip::Solved(solved) => solved,
                Flip::Unsat => {
                    tally.n_unsat += 1;
                    continue;
                }
                Flip::Fixed(fixed) => {
                    tally.n_fixed += 1;
                    tally.note(map, path, *step, &format!("values were fixed: {fixed}"));
                    continue;
                }
                Flip::Unknown(reason) => {
                    tally.n_unknown += 1;
                    tally.note(map, path, *step, &format!("unknown: {reason}"));
                    continue;
                }
                Flip::NoInput(error) => {
                    tally.n_no_input += 1;
                    tally.note(map, path, *step, &format!("no input: {error}"));
                    continue;
                }
                Flip::NotSymbolic => unreachable!("only steps that can be decided otherwise are chosen"),
            };
            let (_, new) = tracer.trace(&solved.input)?;
            tally.n_mistakes += new.n_mistakes();
            let mut verification = verify(path, *step, &new);
            if verification != Verification::Flipped {
                let tracer = match &mut whole_tracer {
                    Some(tracer) => tracer,
                    None => whole_tracer.insert(subject.tracer(whole_traces())?),
                };
                let (_, whole) = tracer.trace(path.regions().input())?;
                let (_, new) = tracer.trace(&solved.input)?;
                verification = verify_whole(path, *step, &whole, &new).unwrap_or(verification);
            }
            let is_flipped = verification == Verification::Flipped;
            if solved.strength != Strength::Full {
                tally.n_optimistic += 1;
                tally.n_optimistic_flipped += usize::from(is_flipped);
            } else if is_flipped {
                tally.n_flipped += 1;
            } else {
                tally.n_diverged += 1;
                let told = format!("{verification}, solved by {}\n{}", solved.stage, solved.input);
                tally.note(map, path, *step, &told);
            }
        }
        Ok(())
    })?;
    tally.n_mistakes += tally.walked.n_mistakes;
    Ok(tally)
}

/// With conditions that do not depend on the input.
fn whole_traces() -> SymbolicConfig {
    SymbolicConfig { trace_level: TraceLevel::All, ..SymbolicConfig::default() }
}

impl Tally {
    fn note(&mut self, map: &ProgramMap, path: &Path, step: usize, what: &str) {
        let branch = match path.steps()[step].event {
            Event::Conditional { condition: Some(condition), occurrence, direction, .. } => {
                let condition = &map.conditions[condition.index()];
                let place = map.show(condition.extent.start);
                format!("{place} `{}` was {direction}, time {occurrence}", condition.text)
            }
            _ => "no condition".into(),
        };
        let input = path.regions().input();
        self.notes.push(format!("{branch}, step {step}, input {}\n{input}\n{what}\n\n", input.address()));
    }

    fn n_solved(&self) -> usize {
        self.n_flipped + self.n_diverged
    }

    /// Why this does not show that answers are right, if it does not.
    fn failure(&self) -> Option<String> {
        if self.n_solved() == 0 {
            return Some("no question was answered".into());
        }
        let share = self.n_diverged as f64 / self.n_solved() as f64;
        (share > MAX_DIVERGED).then(|| {
            format!(
                "{} of {} answers leave the way before the branch ({:.1} %)",
                self.n_diverged,
                self.n_solved(),
                share * 100.0
            )
        })
    }

    fn line(&self, name: &str) -> String {
        format!(
            "| {name} | {} ({} cut) | {} | {} | {} | {} | {} ({}) | {} | {} | {} | {} | {} | {:.1} s | {:.1} s | {:.1} s |",
            self.walked.n_inputs,
            self.walked.n_cut,
            self.walked.n_pairs,
            self.n_solved(),
            self.n_flipped,
            self.n_diverged,
            self.n_optimistic,
            self.n_optimistic_flipped,
            self.n_unsat,
            self.n_fixed,
            self.n_unknown,
            self.n_no_input,
            self.n_mistakes,
            self.walked.running.as_secs_f64(),
            self.walked.reading.as_secs_f64(),
            self.solving.as_secs_f64(),
        )
    }

    fn to_json(&self, name: &str) -> Value {
        json!({
            "name": name,
            "inputs": self.walked.n_inputs,
            "cut": self.walked.n_cut,
            "pairs": self.walked.n_pairs,
            "flipped": self.n_flipped,
            "diverged": self.n_diverged,
            "optimistic": self.n_optimistic,
            "optimistic_flipped": self.n_optimistic_flipped,
            "unsat": self.n_unsat,
            "values_fixed": self.n_fixed,
            "unknown": self.n_unknown,
            "no_input": self.n_no_input,
            "mistakes": self.n_mistakes,
            "solving_seconds": self.solving.as_secs_f64(),
            "running_seconds": self.walked.running.as_secs_f64(),
            "reading_seconds": self.walked.reading.as_secs_f64(),
            "failure": self.failure(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_hundred_may_diverge() {
        let tally = |n_flipped, n_diverged| Tally { n_flipped, n_diverged, ..Tally::default() };
        assert_eq!(tally(99, 1).failure(), None);
        assert!(tally(98, 2).failure().is_some_and(|why| why.contains("2 of 100")));
        assert!(tally(0, 0).failure().is_some());
    }
}
