//! What holds for every fixture.

use crate::{
    comparison::{Comparison, run},
    fixture::{ARGUMENTS, Fixture},
};
use cairn_executor::{Executor, RunConfig, mutants::MutantSession};
use cairn_model::{Ending, Input, MutantId, map::Extent};
use cairn_testkit::mutants::{Behaviour, EditedSources, Judge, Tally, sample};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// How many mutants of a fixture have a build of their own, whatever the gathered program does.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Made from the bitcode.
    pub alone: usize,
    /// Made from a changed source.
    pub edited: usize,
}

impl Amount {
    /// This, or everything if somebody has the time.
    fn or_all(self) -> Self {
        match std::env::var_os("CAIRN_TRUTH") {
            Some(word) if word == "all" => {
                Self { alone: usize::MAX, edited: if self.edited > 0 { usize::MAX } else { 0 } }
            }
            _ => self,
        }
    }
}

/// Steps a mutant may take. Mutated bodies count every turn of a loop, so what the original takes says little.
const FUEL: u64 = 8_000_000;

/// Time a mutant may take that waits and does not take steps.
const TIME: Duration = Duration::from_secs(1);

/// Steps for a mutant whose reference ends: enough for everything the fixtures do.
const MUCH_FUEL: u64 = 150_000_000;

/// Time for such a mutant, and for the original.
const MUCH_TIME: Duration = Duration::from_secs(10);

/// Chooses the sample.
const SEED: u64 = 4;

/// One in so many of the sample is run in a fresh process of the view too.
const FRESH: usize = 3;

/// One in so many has a build in which only its function was compiled anew, as `bench/run mutants-truth` has for most.
const APART: usize = 6;

/// Panics with every disagreement on a fixture.
pub fn hold(name: &str, amount: Amount) {
    let amount = amount.or_all();
    let fixture = Fixture::build(name, "all");
    let judge = Judge::new(&RunConfig { wall_limit: MUCH_TIME, ..RunConfig::default() });
    let mut patient = fixture.build.session(judge.config().clone());
    patient.set_fuel(MUCH_FUEL);
    let mut session = fixture.build.session(RunConfig { wall_limit: TIME, ..judge.config().clone() });
    session.set_fuel(FUEL);
    let originals: Vec<Behaviour> = fixture
        .inputs
        .iter()
        .map(|(_, input)| check_inactive(&fixture, &judge, &mut patient, input))
        .collect();
    let all: Vec<MutantId> = (0..fixture.build.table.mutants.len() as u32).map(MutantId).collect();
    check_distinct(&fixture, &all);
    let texts: Vec<MutantId> = all.iter().copied().filter(|mutant| fixture.is_plain_text(*mutant)).collect();
    let alone = sample(&fixture.build.table, &all, amount.alone, SEED);
    let edited = sample(&fixture.build.table, &texts, amount.edited, SEED);
    let mut runs: BTreeMap<MutantId, Vec<Behaviour>> = BTreeMap::new();
    for ((input_name, input), original) in fixture.inputs.iter().zip(&originals) {
        let what = format!("{name}, input {input_name}");
        let infected = examine(&mut patient, input, original, &what);
        let exits =
            matches!(original, Behaviour::Ended(outcome) if matches!(outcome.ending, Ending::Exited { .. }));
        for of_mutant in session.run(input, &all).expect("runs of mutants") {
            let mutant = of_mutant.mutant;
            let mut behaviour: Behaviour = of_mutant.run.execution.outcome.into();
            // Where the original dies of an expression, mutants were not compared with it; such an input kills nothing.
            if exits && !infected.contains(&mutant) {
                if behaviour.is_endless() {
                    behaviour = run(&mut patient, mutant, input);
                }
                assert_eq!(
                    behaviour.to_string(),
                    original.to_string(),
                    "{what}: {} is not infected, and is noticed",
                    fixture.build.describe(mutant)
                );
            }
            runs.entry(mutant).or_default().push(behaviour);
        }
    }
    let mut tally = Tally::default();
    for mutant in alone.iter().step_by(FRESH) {
        compare_fresh(&fixture, &mut session, *mutant, &runs[mutant], &mut tally);
    }
    let mut comparison = Comparison {
        fixture: &fixture,
        judge: &judge,
        patient: &mut patient,
        originals: &originals,
        runs: &runs,
    };
    let n_judged = comparison.compare_gathered(&all, &mut tally);
    println!(
        "{name}: {} mutants on {} inputs, {n_judged} pairs judged by builds of their own",
        all.len(),
        fixture.inputs.len()
    );
    for reference in fixture.build.alone(&alone) {
        comparison.compare(&reference, "alone", &mut tally);
    }
    let apart: Vec<MutantId> = alone.iter().copied().step_by(APART).collect();
    for reference in fixture.build.apart(&apart) {
        comparison.compare(&reference, "apart", &mut tally);
    }
    let arguments: Vec<String> = ARGUMENTS.iter().map(|word| (*word).to_owned()).collect();
    let work = fixture.workspace.path("edits");
    let sources = EditedSources { sources: &fixture.sources, arguments: &arguments, work: &work };
    for mutant in edited {
        comparison.compare(&sources.compile(&fixture.build, mutant), "as text", &mut tally);
    }
    println!("{name}: {tally}");
    assert!(tally.different.is_empty(), "{name}: {tally}");
}

/// One change of the source is one mutant.
fn check_distinct(fixture: &Fixture, all: &[MutantId]) {
    let (map, table) = (&fixture.build.map, &fixture.build.table);
    let mut changes: BTreeMap<(Extent, &str), MutantId> = BTreeMap::new();
    for mutant in all.iter().copied().filter(|mutant| fixture.is_plain_text(*mutant)) {
        let extent = map.sites[table.patch_of(mutant).site.index()].extent;
        let replacement = table.mutants[mutant.index()].replacement.as_str();
        if let Some(other) = changes.insert((extent, replacement), mutant) {
            let [one, other] = [mutant, other].map(|mutant| fixture.build.describe(mutant));
            panic!("two mutants make the same change:\n  {one}\n  {other}");
        }
    }
}

/// The mutants that an input infects. Examining changes nothing.
fn examine(
    session: &mut MutantSession,
    input: &Input,
    original: &Behaviour,
    what: &str,
) -> BTreeSet<MutantId> {
    let examined = session.examine(input).expect("an examining run");
    let behaviour: Behaviour = examined.run.execution.outcome.into();
    assert_eq!(behaviour, *original, "{what}: examining changes what the program does");
    examined.infected.into_iter().collect()
}

/// What the program does with no mutant active: the same in all builds, and counted alike in both views.
fn check_inactive(fixture: &Fixture, judge: &Judge, session: &mut MutantSession, input: &Input) -> Behaviour {
    let bare = judge.run(&fixture.build.views.bare, input);
    let original = session.original(input).expect("a run of the original").execution;
    let mut plain =
        Executor::new(fixture.build.plain_view(), judge.config().clone()).expect("the plain view");
    let plain = plain.run(input).expect("a run of the plain view");
    let behaviour: Behaviour = original.outcome.into();
    assert_eq!(behaviour, bare, "the inactive mutant view and the bare build");
    assert_eq!(Behaviour::from(plain.outcome), bare, "the plain view and the bare build");
    assert_eq!(original.counters, plain.counters, "counters of the mutant view and of the plain view");
    behaviour
}

/// Compares a mutant in the session with the same in a fresh process of the view.
fn compare_fresh(
    fixture: &Fixture,
    session: &mut MutantSession,
    mutant: MutantId,
    runs: &[Behaviour],
    tally: &mut Tally,
) {
    for ((name, input), live) in fixture.inputs.iter().zip(runs) {
        let fresh = session.run_fresh(input, Some(mutant)).expect("a run in a fresh process");
        let fresh = Behaviour::from(fresh.outcome);
        if fresh == *live {
            tally.n_same += 1;
        } else {
            let what = fixture.build.describe(mutant);
            tally.different.push(format!("{what}, input {name}\n  live       {live}\n  fresh      {fresh}"));
        }
    }
}
