//! What `cairn score` says about real programs, and how soon.

use super::subject::recorded;
use crate::{
    measure::{Pair, REPEATS, Samples},
    results,
    table::{Goal, Row, Table},
    tools::print_rows,
};
use anyhow::{Context, Result, ensure};
use cairn_targets::{Cache, find};
use serde_json::{Value, json};
use std::{fs, path::Path, time::Instant};

/// Inputs that are scored.
const N_INPUTS: usize = 128;

/// The task: so many mutants at least, by so many inputs at least, within this time.
const LEAST_MUTANTS: u64 = 10_000;
const LEAST_INPUTS: usize = 100;
const LIMIT_SECONDS: f64 = 120.0;

/// The set that has enough mutants, and how much of it is scored against the clock: twice as many as the task asks for.
const SET: &str = "deminer";
const SAMPLE: &str = "--sample 20000";

/// Prints what became of the mutants of each program.
pub fn counts(cache: &Cache, names: &[String]) -> Result<()> {
    println!(
        "| program | generated | equivalent | duplicate | invalid | reached | infected | killed | by | layout-dependent |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    print_rows(names, |name| {
        let scored = score_once(cache, name, "")?;
        let score = &scored.report["score"];
        let killed_by = score["killed_by"].as_object().cloned().unwrap_or_default();
        let killed_by: Vec<String> = killed_by.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
        results::merge(cache, "mutants-counts", vec![json!({ "name": name, "set": SET, "score": score })])?;
        Ok(format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            score["generated"],
            score["dropped"]["equivalent"],
            score["dropped"]["duplicate"],
            score["dropped"]["invalid"],
            score["reached"],
            score["infected"],
            score["killed"],
            killed_by.join(", "),
            score["layout_dependent"],
        ))
    })
}

/// Scores a program against the clock.
pub fn score(cache: &Cache, name: &str, table: &mut Table) -> Result<()> {
    let mut samples = Vec::new();
    let mut last = None;
    for _ in 0..REPEATS {
        let scored = score_once(cache, name, SAMPLE)?;
        check_task(&scored.report).with_context(|| format!("the score of {name}"))?;
        samples.push(scored.seconds);
        last = Some(scored);
    }
    let scored = last.context("it was scored")?;
    let score = &scored.report["score"];
    let (n_selected, n_inputs) = (&score["selected"], n_with_a_say(&scored.report));
    let peer = Samples(vec![LIMIT_SECONDS; samples.len()]);
    let row = Row {
        what: format!("score of {name}: {n_selected} mutants, {n_inputs} recorded inputs"),
        our_command: scored.command,
        peer_command: "the limit: 2 minutes on 2 cores".into(),
        unit: "s",
        pair: Pair { ours: Samples(samples), peer },
        goal: Goal::AtMost(1.0),
        notes: vec![
            format!(
                "{} reached, {} infected, {} killed",
                score["reached"], score["infected"], score["killed"]
            ),
            "the mutant view was built before; nothing is remembered from earlier scores".into(),
        ],
    };
    table.add(cache, row)
}

/// Fails unless a report is about as much as the task asks for, and all of it was done.
fn check_task(report: &Value) -> Result<()> {
    let number = |name: &str| report["score"][name].as_u64().with_context(|| format!("there is no `{name}`"));
    let (n_selected, n_pending) = (number("selected")?, number("pending")?);
    ensure!(n_selected >= LEAST_MUTANTS, "there are only {n_selected} mutants of the set {SET}");
    ensure!(n_pending == 0, "{n_pending} mutants are pending");
    let n_inputs = n_with_a_say(report);
    ensure!(n_inputs >= LEAST_INPUTS, "only {n_inputs} inputs have a say");
    Ok(())
}

fn n_with_a_say(report: &Value) -> usize {
    let inputs = report["inputs"].as_array().into_iter().flatten();
    inputs.filter(|input| input["left_out"].is_null()).count()
}

struct Scored {
    command: String,
    seconds: f64,
    report: Value,
}

fn score_once(cache: &Cache, name: &str, more: &str) -> Result<Scored> {
    let target = find(name)?;
    let built = target.build(cache)?;
    let inputs = built.folder.join("scored-inputs");
    let _ = fs::remove_dir_all(&inputs);
    fs::create_dir_all(&inputs)?;
    for (path, _) in recorded(cache, target, N_INPUTS)? {
        let name = path.file_name().context("a file has a name")?;
        fs::copy(&path, inputs.join(name))?;
    }
    let program = Path::new(target.program_name);
    // Builds the view, which is not measured.
    let build = format!("cairn mutants ./{} --set {SET} > mutants.txt", program.display());
    cache.shell(&built.folder, &build, &[])?;
    let command = format!(
        "cairn score ./{} scored-inputs --set {SET} {more} --fresh-results --format json -o score.json",
        program.display()
    );
    let path = built.folder.join("score.json");
    if path.exists() {
        fs::remove_file(&path)?;
    }
    let start = Instant::now();
    // Survivors are no failure; whatever fails has no score.
    cache.shell(&built.folder, &command, &[])?;
    let seconds = start.elapsed().as_secs_f64();
    let report = serde_json::from_slice(&fs::read(&path).context("failed to read the score")?)?;
    Ok(Scored { command, seconds, report })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_less_than_the_task_is_refused() {
        let check = |n_mutants: u64, n_pending: u64, n_usable: usize| {
            let mut inputs = vec![json!({ "name": "usable", "left_out": null }); n_usable];
            inputs.extend(vec![json!({ "name": "unstable", "left_out": "the original is unstable" }); 100]);
            let score = json!({ "selected": n_mutants, "pending": n_pending });
            let checked = check_task(&json!({ "score": score, "inputs": inputs }));
            checked.map_or_else(|error| error.to_string(), |()| "enough".into())
        };
        assert_eq!(check(10_000, 0, 100), "enough");
        assert_eq!(check(9_999, 0, 100), "there are only 9999 mutants of the set deminer");
        assert_eq!(check(10_000, 3, 100), "3 mutants are pending");
        assert_eq!(check(10_000, 0, 99), "only 99 inputs have a say");
        assert!(check_task(&json!({ "score": null })).is_err());
    }
}
