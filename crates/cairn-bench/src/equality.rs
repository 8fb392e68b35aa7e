//! A session's run is the run of a fresh process: the same outcome and the same counters, in any order.
//!
//! Every recorded input and many generated ones run in a fresh process, and in sessions in two orders. Where a run
//! differs, the input runs in more fresh processes: the parts in which those differ among themselves prove nothing,
//! the others still count.
//!
//! Runs that a session hands to a fresh process are compared too, because it could mix up whose result is whose. And
//! since a comparison that cannot fail would pass just as well, each program ends with runs that never were, which
//! must be found out.

use crate::{
    difference::{Difference, describe, difference, falsified},
    generate::generate,
    measure::Pinned,
    random::Random,
    results,
    speed::session,
};
use anyhow::{Context, Result, ensure};
use cairn_executor::{
    Execution, Executor, Ran, RunConfig, Session, SessionConfig, SessionMode, Target, Wants,
};
use cairn_model::Input;
use cairn_targets::{Built, Cache, Kind, find};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// Whose runs are compared.
pub const ALL: &[&str] = &["sort", "grep", "sed", "find", "busybox-ls", "busybox-printf"];

/// Generated inputs for each program, unless `CAIRN_BENCH_GENERATED` says otherwise.
const N_GENERATED: usize = 10_000;

/// Fresh runs that must all agree before a difference is believed: `sort -R` of few lines agrees with itself often.
const FRESH_RUNS: usize = 30;

/// Inputs handed to a session at once.
const BATCH: usize = 64;

/// The share of all runs that must be made in the session: with fewer, little was compared with anything. `find` lists its own
/// descriptors in most runs, which needs a process of its own.
const LEAST_LIVE: f64 = 0.1;

/// What came of one program.
#[derive(Default)]
struct Tally {
    n_inputs: usize,
    n_generated: usize,
    n_runs: usize,
    /// Differences, each with the input that shows it.
    differences: Vec<String>,
    /// Runs of which too much was cut to tell.
    n_unknown: usize,
    /// Inputs whose fresh runs differ among themselves, with the parts that do.
    unstable: BTreeMap<String, BTreeSet<String>>,
    n_live: usize,
    /// Runs that needed a process of their own, by reason.
    needs_fork: BTreeMap<String, usize>,
    /// Why sessions ended otherwise than live.
    given_up: Vec<String>,
}

/// Compares each program; fails if any run differs from a fresh one, or if too few were made in a session to tell.
pub fn run(cache: &Cache, names: &[String]) -> Result<()> {
    println!(
        "| program | inputs | runs in sessions | differ | cut, cannot tell | inputs that differ from themselves | need a fork | most often because |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut failed = Vec::new();
    for name in names {
        let tally = match compare_program(cache, name) {
            Ok(tally) => tally,
            Err(error) => {
                let failure = format!("{error:#}");
                // In the place of older figures, which no longer hold.
                results::merge(cache, "equality", vec![json!({ "name": name, "failure": failure })])?;
                failed.push(format!("{name}: {failure}"));
                continue;
            }
        };
        println!("{}", tally.line(name));
        for difference in tally.differences.iter().take(3) {
            eprintln!("{name}: {difference}");
        }
        failed.extend(tally.failure().map(|failure| format!("{name}: {failure}")));
        // After each program, because the next may take long.
        results::merge(cache, "equality", vec![tally.to_json(name)])?;
    }
    println!("\nwritten to {}\n", results::path(cache, "equality").display());
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

fn compare_program(cache: &Cache, name: &str) -> Result<Tally> {
    let target = find(name)?;
    ensure!(target.kind == Kind::Program, "`{name}` is not a whole program");
    let built = target.build(cache)?;
    let mut inputs = load(&target.record(cache)?.folder)?;
    let generated = generate(&inputs, n_generated()?, 11);
    let n_generated = generated.len();
    inputs.extend(generated);
    // Passing the turn between cores would take longer than most runs.
    let _pinned = Pinned::to_one_core()?;
    let mut fresh = executor(&built, target.program_name)?;
    let expected: Vec<Execution> = inputs.iter().map(|input| fresh.run(input)).collect::<Result<_, _>>()?;
    let mut tally = Tally { n_inputs: inputs.len(), n_generated, ..Tally::default() };
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    for seed in [None, Some(5)] {
        if let Some(seed) = seed {
            Random(seed).shuffle(&mut order);
        }
        let mut session = session(&built, target.program_name, SessionConfig::default())?;
        let believed = in_order(&mut session, &mut fresh, &inputs, &expected, &order, &mut tally)?;
        if let SessionMode::Fresh { why } = session.mode() {
            tally.given_up.push(why.clone());
        }
        let (index, execution) = believed.context("no run in the session was the same as a fresh one")?;
        find_out(&execution, &inputs[index], &expected[index], &mut fresh)?;
    }
    Ok(tally)
}

fn n_generated() -> Result<usize> {
    match std::env::var("CAIRN_BENCH_GENERATED") {
        Ok(number) => {
            number.parse().with_context(|| format!("`CAIRN_BENCH_GENERATED` is `{number}`, no number"))
        }
        Err(_) => Ok(N_GENERATED),
    }
}

/// Runs everything once; returns one input with its run in the session that was the same as a fresh one.
fn in_order(
    session: &mut Session,
    fresh: &mut Executor,
    inputs: &[Input],
    expected: &[Execution],
    order: &[usize],
    tally: &mut Tally,
) -> Result<Option<(usize, Execution)>> {
    let mut believed = None;
    for chunk in order.chunks(BATCH) {
        let batch: Vec<Input> = chunk.iter().map(|index| inputs[*index].clone()).collect();
        let runs = session.run_batch(&batch, Wants::EVERYTHING)?;
        ensure!(runs.len() == batch.len(), "{} inputs gave {} runs", batch.len(), runs.len());
        for ((index, input), run) in chunk.iter().zip(&batch).zip(runs) {
            tally.n_runs += 1;
            let is_live = match run.ran {
                Ran::Live => true,
                Ran::Fresh { why } => {
                    *tally.needs_fork.entry(why.to_string()).or_default() += 1;
                    false
                }
            };
            tally.n_live += usize::from(is_live);
            let judged = judge(&run.execution, input, &expected[*index], fresh)?;
            if is_live && believed.is_none() && matches!(judged, Judged::Same) {
                believed = Some((*index, run.execution));
            }
            tally.add(judged, input);
        }
    }
    Ok(believed)
}

/// What a run says about sessions.
enum Judged {
    Same,
    Unknown,
    Different(String),
    /// The input differs from itself in these parts, and perhaps in others only in the session.
    Unstable {
        parts: BTreeSet<String>,
        beyond: Option<String>,
    },
}

fn judge(found: &Execution, input: &Input, expected: &Execution, fresh: &mut Executor) -> Result<Judged> {
    let compared = difference(found, expected);
    match compared {
        Difference::None => return Ok(Judged::Same),
        Difference::Unknown => return Ok(Judged::Unknown),
        Difference::In(_) => {}
    }
    let mut parts = BTreeSet::new();
    for _ in 0..FRESH_RUNS {
        parts.extend(difference(&fresh.run(input)?, expected).parts());
        if compared.beyond(&parts).is_empty() {
            break;
        }
    }
    let beyond = compared.beyond(&parts);
    let how = (!beyond.is_empty()).then(|| describe(&beyond, found, expected));
    Ok(match how {
        Some(how) if parts.is_empty() => Judged::Different(how),
        beyond => Judged::Unstable { parts, beyond },
    })
}

/// Fails unless runs that never were are told from the real one.
fn find_out(real: &Execution, input: &Input, expected: &Execution, fresh: &mut Executor) -> Result<()> {
    let falsified = falsified(real);
    ensure!(falsified.len() == 3, "a run without counters proves nothing about them");
    for (part, execution) in falsified {
        let judged = judge(&execution, input, expected, fresh)?;
        ensure!(
            matches!(judged, Judged::Different(_)),
            "a run with falsified {part} was taken for the real one, so nothing here was compared"
        );
    }
    Ok(())
}

fn executor(built: &Built, name: &str) -> Result<Executor> {
    let target = Target { program: built.plain.clone(), n_counters: built.n_counters };
    Ok(Executor::new(target, RunConfig { program_name: Some(name.into()), ..RunConfig::default() })?)
}

/// Recorded inputs, in the order of their names.
fn load(folder: &Path) -> Result<Vec<Input>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let inputs = paths.iter().map(|path| {
        serde_json::from_slice(&fs::read(path)?).with_context(|| format!("`{}` is no input", path.display()))
    });
    let inputs = inputs.collect::<Result<Vec<Input>>>()?;
    ensure!(!inputs.is_empty(), "there are no inputs in `{}`", folder.display());
    Ok(inputs)
}

impl Tally {
    fn add(&mut self, judged: Judged, input: &Input) {
        match judged {
            Judged::Same => {}
            Judged::Unknown => self.n_unknown += 1,
            Judged::Different(how) => self.differences.push(format!("{how}\n{input}")),
            Judged::Unstable { parts, beyond } => {
                self.unstable.entry(input.to_string()).or_default().extend(parts);
                self.differences.extend(beyond.map(|how| format!("{how}\n{input}")));
            }
        }
    }

    /// Why this does not show that sessions are right, if it does not.
    fn failure(&self) -> Option<String> {
        if let Some(why) = self.given_up.first() {
            return Some(format!("the session was given up: {why}"));
        }
        let share = self.n_live as f64 / self.n_runs.max(1) as f64;
        if share < LEAST_LIVE {
            return Some(format!(
                "only {} of {} runs were made in a session, and {:.0} % must be",
                self.n_live,
                self.n_runs,
                LEAST_LIVE * 100.0
            ));
        }
        let n = self.differences.len();
        (n > 0).then(|| format!("{n} runs differ from fresh ones"))
    }

    fn line(&self, name: &str) -> String {
        let n_forks: usize = self.needs_fork.values().sum();
        let most = self.needs_fork.iter().max_by_key(|(_, n)| **n);
        format!(
            "| {name} | {} | {} | {} | {} | {} | {n_forks} ({:.1} %) | {} |",
            self.n_inputs,
            self.n_live,
            self.differences.len(),
            self.n_unknown,
            self.unstable.len(),
            n_forks as f64 * 100.0 / self.n_runs.max(1) as f64,
            most.map(|(why, n)| format!("{why} ({n})")).unwrap_or_default(),
        )
    }

    fn to_json(&self, name: &str) -> Value {
        let unstable: Vec<Value> =
            self.unstable.iter().map(|(input, parts)| json!({ "input": input, "parts": parts })).collect();
        json!({
            "name": name,
            "inputs": self.n_inputs,
            "generated": self.n_generated,
            "runs": self.n_runs,
            "live": self.n_live,
            "differences": self.differences,
            "unknown": self.n_unknown,
            "unstable": unstable,
            "needs_fork": self.needs_fork,
            "failure": self.failure(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_was_hardly_used_proves_nothing() {
        let tally = |n_live| Tally { n_runs: 100, n_live, ..Tally::default() };
        assert_eq!(tally(10).failure(), None);
        assert!(tally(9).failure().is_some_and(|why| why.contains("only 9 of 100")));
        assert!(Tally::default().failure().is_some());
        let given_up = Tally { given_up: vec!["it died".into()], ..tally(100) };
        assert!(given_up.failure().is_some_and(|why| why.contains("it died")));
    }

    #[test]
    fn a_stable_part_of_an_unstable_input_still_counts() {
        let mut tally = Tally { n_runs: 2, n_live: 2, ..Tally::default() };
        let parts = BTreeSet::from(["stdout".to_string()]);
        let input = Input::default();
        tally.add(Judged::Unstable { parts: parts.clone(), beyond: None }, &input);
        assert_eq!(tally.failure(), None);
        tally.add(Judged::Unstable { parts, beyond: Some("counters differ".into()) }, &input);
        assert_eq!((tally.unstable.len(), tally.differences.len()), (1, 1));
        assert!(tally.failure().is_some());
    }
}
