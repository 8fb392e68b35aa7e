//! Mutants in the view against the same mutants compiled alone, and against changed sources.

use super::{
    edits::Edits,
    subject::{Subject, open, recorded},
};
use crate::{results, tools::print_rows};
use anyhow::{Result, ensure};
use cairn_model::{Ending, Input, MutantId};
use cairn_targets::Cache;
use cairn_testkit::mutants::{Agreement, Behaviour, Judge, Reference, Tally, sample};
use serde_json::json;
use std::{collections::BTreeMap, env, time::Duration};

/// Mutants of each program that are compiled alone, unless `CAIRN_BENCH_MUTANTS` says otherwise.
const N_ALONE: usize = 500;

/// Of these one in so many is optimised together with the whole program, as the bare build is. Of the others only the
/// function that they change is compiled anew, which takes a twentieth of the time.
const WHOLE: usize = 20;

/// Mutants that are compiled before they are run.
const AT_ONCE: usize = 128;

/// Of these so many in a hundred are also made by changing the source: 200 of two programs.
const PERCENT_EDITED: usize = 20;

/// Inputs each of them is run on: some that infect it, and one that does not.
const N_INFECTED: usize = 3;

/// Recorded inputs to choose from.
const N_INPUTS: usize = 60;

/// Steps a mutant may take.
const FUEL: u64 = 50_000_000;

/// Chooses mutants.
const SEED: u64 = 9;

/// Compares mutants of each program; prints every disagreement, and fails if there is one.
pub fn truth(cache: &Cache, names: &[String]) -> Result<()> {
    println!(
        "| program | mutants | alone: agree | layout-dependent | different | as text | agree | open in C | different |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut n_different = 0;
    print_rows(names, |name| {
        let (row, n) = compare(cache, name)?;
        n_different += n;
        Ok(row)
    })?;
    println!();
    ensure!(n_different == 0, "{n_different} pairs of a mutant and an input disagree");
    Ok(())
}

fn n_alone() -> usize {
    env::var("CAIRN_BENCH_MUTANTS").ok().and_then(|number| number.parse().ok()).unwrap_or(N_ALONE)
}

fn compare(cache: &Cache, name: &str) -> Result<(String, usize)> {
    let subject = open(cache, name, "all")?;
    let inputs: Vec<Input> =
        recorded(cache, subject.target, N_INPUTS)?.into_iter().map(|(_, input)| input).collect();
    let judge =
        Judge::new(&cairn_executor::RunConfig { wall_limit: Duration::from_secs(5), ..subject.run_config() });
    let mut session = subject.build.session(judge.config().clone());
    session.set_fuel(FUEL);
    let reach = reach(&judge, &subject, &mut session, &inputs)?;
    let reached: Vec<MutantId> = reach.keys().copied().collect();
    let chosen = sample(&subject.build.table, &reached, n_alone(), SEED);
    let mut runs: BTreeMap<MutantId, Vec<(usize, Behaviour)>> = BTreeMap::new();
    for (number, input) in inputs.iter().enumerate() {
        let mutants: Vec<MutantId> =
            chosen.iter().copied().filter(|mutant| reach[mutant].contains(&number)).collect();
        for run in session.run(input, &mutants)? {
            runs.entry(run.mutant).or_default().push((number, run.run.execution.outcome.into()));
        }
    }
    let check = |reference: &Reference, kind: &str, tally: &mut Tally| {
        for (number, view) in &runs[&reference.mutant] {
            let agreement = judge.compare(reference, &inputs[*number], view, &subject.build);
            let what = format!("{} {kind}, input {number}", subject.build.describe(reference.mutant));
            if agreement != Agreement::Same {
                (cache.say)(&format!("{name}: {what}: {agreement:?}"));
            }
            tally.add(&what, view, agreement);
        }
    };
    let (whole, apart): (Vec<_>, Vec<_>) =
        chosen.iter().copied().enumerate().partition(|(number, _)| number % WHOLE == 0);
    let only = |numbered: Vec<(usize, MutantId)>| -> Vec<MutantId> {
        numbered.into_iter().map(|(_, mutant)| mutant).collect()
    };
    let (whole, apart) = (only(whole), only(apart));
    let mut alone = Tally::default();
    for (mutants, is_whole) in [(whole, true), (apart, false)] {
        for part in mutants.chunks(AT_ONCE) {
            (cache.say)(&format!(
                "{name}: {} runs agree so far, {} do not; compiling {} mutants alone",
                alone.n_same,
                alone.layout_dependent.len() + alone.different.len(),
                part.len()
            ));
            let references = if is_whole { subject.build.alone(part) } else { subject.build.apart(part) };
            for reference in references {
                check(&reference, if is_whole { "alone" } else { "apart" }, &mut alone);
                // A program like grep takes a megabyte, and there are hundreds.
                let _ = std::fs::remove_file(&reference.programs[0]);
            }
        }
    }
    let texts: Vec<MutantId> = chosen
        .iter()
        .copied()
        .filter(|mutant| subject.build.table.mutants[mutant.index()].is_plain_text)
        .collect();
    let texts = sample(&subject.build.table, &texts, n_alone() * PERCENT_EDITED / 100, SEED);
    let edits = Edits::of(cache, subject.target)?;
    let mut edited = Tally::default();
    for (number, mutant) in texts.iter().enumerate() {
        if number % 10 == 0 {
            (cache.say)(&format!("{name}: {number} of {} mutants made as text", texts.len()));
        }
        let mut reference = edits.compile(&subject.build, *mutant)?;
        let disagrees = runs[mutant].iter().any(|(number, view)| {
            judge.compare(&reference, &inputs[*number], view, &subject.build) != Agreement::Same
        });
        if disagrees {
            edits.add_unoptimised(&mut reference, &subject.build)?;
        }
        check(&reference, "as text", &mut edited);
    }
    print!("{name} alone: {alone}{name} as text: {edited}");
    let row = json!({
        "name": format!("mutants-truth {name}"),
        "mutants": chosen.len(),
        "alone": { "same": alone.n_same, "layout_dependent": alone.layout_dependent, "different": alone.different },
        "edited": texts.len(),
        "as_text": { "same": edited.n_same, "layout_dependent": edited.layout_dependent, "different": edited.different },
    });
    results::merge(cache, "mutants-truth", vec![row])?;
    let text = format!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |",
        chosen.len(),
        alone.n_same,
        alone.layout_dependent.len(),
        alone.different.len(),
        texts.len(),
        edited.n_same,
        edited.layout_dependent.len(),
        edited.different.len()
    );
    Ok((text, alone.different.len() + edited.different.len()))
}

/// For each mutant that some input reaches, inputs to run it on. Only inputs on which the original behaves: it exits,
/// does the same twice, and does what the bare build does.
fn reach(
    judge: &Judge,
    subject: &Subject,
    session: &mut cairn_executor::mutants::MutantSession,
    inputs: &[Input],
) -> Result<BTreeMap<MutantId, Vec<usize>>> {
    let mut infecting: BTreeMap<MutantId, Vec<usize>> = BTreeMap::new();
    let mut reaching: BTreeMap<MutantId, usize> = BTreeMap::new();
    for (number, input) in inputs.iter().enumerate() {
        let bare = judge.run(&subject.build.views.bare, input);
        let examined = session.examine(input)?;
        let exits = matches!(examined.run.execution.outcome.ending, Ending::Exited { .. });
        if !exits
            || Behaviour::from(examined.run.execution.outcome) != bare
            || judge.run(&subject.build.views.bare, input) != bare
        {
            continue;
        }
        for mutant in &examined.infected {
            infecting.entry(*mutant).or_default().push(number);
        }
        for patch in &examined.reached {
            for mutant in subject.build.table.patches[patch.index()].mutants.clone().map(MutantId) {
                if !examined.infected.contains(&mutant) {
                    reaching.insert(mutant, number);
                }
            }
        }
    }
    for numbers in infecting.values_mut() {
        numbers.truncate(N_INFECTED);
    }
    for (mutant, number) in reaching {
        infecting.entry(mutant).or_default().push(number);
    }
    Ok(infecting)
}
