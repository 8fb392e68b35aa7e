//! Guideposts from recorded values: DEMINER's Figure 4.
//!
//! Three inputs run `func`, and none makes `x + y` negative or zero. The mutant `x - y` does, and so reaches two lines
//! more. From its values, those of the original and the lines that came with them, nine guideposts are made, and each is
//! armed in runs of the original.
//!
//! Kim and Hong, *DEMINER: Test Generation for High Test Coverage through Mutant Exploration*, §3.3.

use crate::fixture::Fixture;
use cairn_executor::{
    RunConfig,
    mutants::{GuidedEnd, MutantSession, Observe},
};
use cairn_model::{
    Coverage, Ending, Guidepost, Input, MutantId, ProgramMap, SiteValue,
    guidepost::{Predicate, When},
};
use expect_test::expect;
use std::collections::{BTreeMap, BTreeSet};

/// What was seen of a mutant on some inputs.
#[derive(Debug, Default)]
struct Seen {
    /// DEMINER's U: values of the original.
    original: Vec<SiteValue>,
    /// V: values of the mutant.
    mutant: Vec<SiteValue>,
    /// V for each line that only the mutant reaches.
    by_line: BTreeMap<u32, Vec<SiteValue>>,
}

#[test]
fn nine_guideposts_are_made_of_recorded_values() {
    let fixture = Fixture::build("mutant_figure4", "arith-op-replace");
    let table = fixture.build.table.clone();
    let (mutant, _) = table
        .mutants_with_ids()
        .find(|(_, mutant)| mutant.replacement == "x - y")
        .expect("`x + y` has the mutant `x - y`");
    let mut session = fixture.build.session(RunConfig::default());
    let inputs: Vec<Input> = fixture.inputs.iter().map(|(_, input)| input.clone()).collect();
    let seen = see(&mut session, &fixture.build.map, mutant, &inputs);
    expect![[r#"
        U -> 1 2
        V -> -1 -2 0
        V at line 6 -> -1 -2
        V at line 8 -> 0
    "#]]
    .assert_eq(&seen.to_text());

    let patch = table.mutants[mutant.index()].patch;
    let guideposts: Vec<Guidepost> =
        predicates(&seen).into_iter().map(|(when, predicate)| Guidepost { patch, when, predicate }).collect();
    assert_eq!(guideposts.len(), 9);
    let mut text = String::new();
    for guidepost in &guideposts {
        text += &format!("{}:", show(guidepost));
        for sums in ["0 1", "0 2", "1 1", "-1 0", "-2 0", "0 0", "-3 0", "none"] {
            let input = Input { stdin: format!("{sums}\n").as_str().into(), ..Input::default() };
            let guided = session.guide(&input, guidepost).expect("a guided run");
            let is_broken = guided.run.execution.outcome.ending == Ending::GuidepostBroken;
            assert_eq!(is_broken, guided.end == GuidedEnd::Broken, "a broken guidepost ends the run");
            text += match guided.end {
                GuidedEnd::Satisfied(1) => " yes",
                GuidedEnd::Satisfied(_) => panic!("`x + y` is evaluated once"),
                GuidedEnd::Broken => " no",
                GuidedEnd::NeverReached => " -",
            };
        }
        text += "\n";
    }
    // Sums of 1, 2 and 2, which the original had; -1, -2 and 0, which the mutant had; -3; and no sum at all.
    expect![[r#"
        first = -1: no no no yes no no no -
        first = -2: no no no no yes no no -
        first = 0: no no no no no yes no -
        first != 1: no yes yes yes yes yes yes -
        first != 2: yes no no yes yes yes yes -
        every in {-1 -2 0}: no no no yes yes yes no -
        every in {-1 -2}: no no no yes yes no no -
        every in {0}: no no no no no yes no -
        every in -2..0: no no no yes yes yes no -
    "#]]
    .assert_eq(&text);
}

/// Runs the original and the mutant and notes their values, without repeating any.
fn see(session: &mut MutantSession, map: &ProgramMap, mutant: MutantId, inputs: &[Input]) -> Seen {
    let patch = session.table().mutants[mutant.index()].patch;
    let mut seen = Seen::default();
    let mut baseline = Coverage::empty(map);
    for input in inputs {
        let observed = session.observe(input, Observe::Original(patch), 100).expect("values of the original");
        baseline.add(&observed.run.execution.counters);
        observed.values.into_iter().for_each(|value| add(&mut seen.original, value));
    }
    let covered = lines(&baseline, map);
    for input in inputs {
        let observed = session.observe(input, Observe::Mutant(mutant), 100).expect("values of the mutant");
        let mut coverage = Coverage::empty(map);
        coverage.add(&observed.run.execution.counters);
        let beyond: Vec<u32> = lines(&coverage, map).difference(&covered).copied().collect();
        for value in observed.values {
            add(&mut seen.mutant, value);
            beyond.iter().for_each(|line| add(seen.by_line.entry(*line).or_default(), value));
        }
    }
    seen
}

/// The executed lines; there is one file.
fn lines(coverage: &Coverage, map: &ProgramMap) -> BTreeSet<u32> {
    let lines = coverage.lines(map).into_iter();
    lines.filter(|(_, is_executed)| *is_executed).map(|((_, line), _)| line).collect()
}

fn add(values: &mut Vec<SiteValue>, value: SiteValue) {
    if !values.contains(&value) {
        values.push(value);
    }
}

/// The five kinds of guideposts, in the order of the paper: single-value equality and exclusion, multi-value equality,
/// coverage, range.
fn predicates(seen: &Seen) -> Vec<(When, Predicate)> {
    let mut predicates: Vec<(When, Predicate)> = Vec::new();
    predicates.extend(seen.mutant.iter().map(|value| (When::First, Predicate::OneOf(vec![*value]))));
    predicates.extend(seen.original.iter().map(|value| (When::First, Predicate::NoneOf(vec![*value]))));
    predicates.push((When::Every, Predicate::OneOf(seen.mutant.clone())));
    predicates.extend(seen.by_line.values().map(|values| (When::Every, Predicate::OneOf(values.clone()))));
    let least = seen.mutant.iter().min().expect("there are values");
    let greatest = seen.mutant.iter().max().expect("there are values");
    predicates.push((When::Every, Predicate::Between(*least, *greatest)));
    predicates
}

impl Seen {
    fn to_text(&self) -> String {
        let mut text = format!("U -> {}\nV -> {}\n", listed(&self.original), listed(&self.mutant));
        for (line, values) in &self.by_line {
            text += &format!("V at line {line} -> {}\n", listed(values));
        }
        text
    }
}

fn listed(values: &[SiteValue]) -> String {
    values.iter().map(SiteValue::to_string).collect::<Vec<_>>().join(" ")
}

fn show(guidepost: &Guidepost) -> String {
    let when = match guidepost.when {
        When::First => "first",
        When::Every => "every",
    };
    match (&guidepost.when, &guidepost.predicate) {
        (When::First, Predicate::OneOf(values)) => format!("{when} = {}", listed(values)),
        (When::First, Predicate::NoneOf(values)) => format!("{when} != {}", listed(values)),
        (_, Predicate::OneOf(values)) => format!("{when} in {{{}}}", listed(values)),
        (_, Predicate::Between(least, greatest)) => format!("{when} in {least}..{greatest}"),
        (_, other) => format!("{when} {other:?}"),
    }
}
