//! The mutant view and the detailed symbolic view say the same of values and guideposts.
//!
//! Both observe values at the same spots of the unoptimised code. What happens to the code afterwards differs in everything, so
//! each checks the other: on every input of a fixture, every patch that can be observed has the same values in the same order,
//! and a guidepost on it is broken, satisfied as often, or never reached in both.

use crate::support::Views;
use cairn_abi::record::{GuidepostState, Record};
use cairn_executor::{
    ArmedGuidepost, Asked, RunConfig, SymbolicRun,
    mutants::{GuidedEnd, MutantSession, Observe},
};
use cairn_model::{
    Ending, Guidepost, Input, PatchId, ProbeId, SiteValue,
    guidepost::{Predicate, When},
};
use std::collections::HashSet;

/// Values that are compared of one patch in one run.
const MAX_VALUES: usize = 1000;

/// Patches whose guideposts are compared, evenly chosen.
const N_GUIDED: usize = 6;

fn hold(name: &str) {
    let mut views = Views::of(name);
    let mut session = views.build.session(RunConfig::default());
    let mut n_compared = 0;
    for (input_name, input) in views.inputs.clone() {
        let what = format!("{name}, input {input_name}");
        let noted = (0..views.sites.probes.len() as u32).map(ProbeId).collect();
        let run = views.run(&input, Asked { noted, guidepost: None });
        assert!(run.is_whole(), "{what}: {:?}", run.cut);
        let mut reached = Vec::new();
        for patch in session.examine(&input).expect("an examining run").reached {
            let entry = &views.build.table.patches[patch.index()];
            if !entry.is_observable {
                continue;
            }
            let probes = views.sites.of_patch(entry);
            let site = &views.build.map.sites[entry.site.index()];
            let place = format!("{what}: {} `{}`", views.build.map.show(site.extent.start), site.text);
            assert!(!probes.is_empty(), "{place} has no probe");
            let expected = session.observe(&input, Observe::Original(patch), MAX_VALUES).expect("values");
            let values = values_at(&views, &run, &probes);
            let typed = |bits: &u64| SiteValue::from_bits(entry.value_type, *bits);
            let own: Vec<SiteValue> = values.iter().take(MAX_VALUES).map(typed).collect();
            assert_eq!((own, values.len() as u64), (expected.values, expected.n_evaluations), "{place}");
            n_compared += values.len();
            reached.push(patch);
        }
        for patch in reached.iter().step_by(reached.len().div_ceil(N_GUIDED).max(1)) {
            check_guideposts(&mut views, &mut session, &input, *patch, &what);
        }
    }
    assert!(n_compared > 0, "{name}: no values were compared");
}

/// The values at some probes of a patch, in order.
fn values_at(views: &Views, run: &SymbolicRun, probes: &[ProbeId]) -> Vec<u64> {
    let wanted: HashSet<(u32, u16)> = probes
        .iter()
        .map(|probe| &views.sites.probes[probe.index()])
        .map(|probe| (probe.site.0, probe.spot))
        .collect();
    run.records
        .iter()
        .filter_map(|record| match *record {
            Record::SiteValue { site, spot, value, .. } if wanted.contains(&(site, spot)) => Some(value),
            _ => None,
        })
        .collect()
}

fn check_guideposts(
    views: &mut Views,
    session: &mut MutantSession,
    input: &Input,
    patch: PatchId,
    what: &str,
) {
    let values = session.observe(input, Observe::Original(patch), MAX_VALUES).expect("values").values;
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return };
    let guideposts = [
        (When::Every, Predicate::OneOf(vec![*first])),
        (When::First, Predicate::OneOf(vec![*last])),
        (When::Every, Predicate::NoneOf(vec![*last])),
        (When::Every, Predicate::Between((*first).min(*last), (*first).max(*last))),
    ];
    for (when, predicate) in guideposts {
        let guidepost = Guidepost { patch, when, predicate };
        let expected = session.guide(input, &guidepost).expect("a guided run");
        let entry = &views.build.table.patches[patch.index()];
        let armed = ArmedGuidepost::new(7, &guidepost, entry, &views.sites).expect("it can be armed");
        let run = views.run(input, Asked { noted: Vec::new(), guidepost: Some(armed) });
        assert_eq!(end(&run), expected.end, "{what}: {guidepost:?}");
        let is_broken = run.execution.outcome.ending == Ending::GuidepostBroken;
        assert_eq!(is_broken, expected.end == GuidedEnd::Broken, "{what}: {guidepost:?}");
    }
}

/// What became of the guidepost, by the records of a run.
fn end(run: &SymbolicRun) -> GuidedEnd {
    let states = run.records.iter().filter_map(|record| match record {
        Record::Guidepost { guidepost: 7, state, .. } => Some(*state),
        _ => None,
    });
    let states: Vec<GuidepostState> = states.collect();
    let n_satisfied = states.iter().filter(|state| **state == GuidepostState::Satisfied).count() as u64;
    match states.last() {
        None => GuidedEnd::NeverReached,
        Some(GuidepostState::Broken) => GuidedEnd::Broken,
        Some(_) => GuidedEnd::Satisfied(n_satisfied),
    }
}

macro_rules! truths {
    ($($fixture:ident)*) => {
        $(#[test]
        fn $fixture() {
            hold(stringify!($fixture));
        })*
    };
}

truths! {
    condition_cxx
    condition_loops
    condition_value
    event_double
    event_exception
    event_guidepost
    event_longjmp
    event_loop_bound
    event_recursion
    mutant_arithmetic
    mutant_assignments
    mutant_calls
    mutant_floats
    mutant_harness
    mutant_instances
    mutant_logic
    mutant_loops
    mutant_macros
    mutant_memory
    mutant_spots
    mutant_templates
}
