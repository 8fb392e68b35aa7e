//! A mutant that is taken for another is noticed.

use crate::{comparison::run, fixture::Fixture};
use cairn_executor::RunConfig;
use cairn_model::MutantId;
use cairn_testkit::mutants::{Behaviour, Gathered, Judge};

/// Enough for every mutant of the fixture that ends.
const FUEL: u64 = 1_000_000;

#[test]
fn a_mutant_that_does_what_another_does_is_noticed() {
    let fixture = Fixture::build("mutant_arithmetic", "arith-op-replace");
    let judge = Judge::new(&RunConfig::default());
    let mut session = fixture.build.session(judge.config().clone());
    session.set_fuel(FUEL);
    let mutants: Vec<MutantId> = (0..fixture.build.table.mutants.len() as u32).map(MutantId).collect();
    let mut gathered = Gathered::of(&fixture.build, &mutants, &judge);
    let (_, input) = &fixture.inputs[0];
    let original = gathered.original(input);
    let views: Vec<Behaviour> = mutants.iter().map(|mutant| run(&mut session, *mutant, input)).collect();
    let mut n_noticed = 0;
    for (mutant, view) in mutants.iter().zip(&views) {
        for (other, of_other) in mutants.iter().zip(&views) {
            let agrees = gathered.agrees(*other, input, view);
            assert_eq!(agrees, view == of_other, "mutants {mutant:?} and {other:?}");
            n_noticed += usize::from(!agrees);
        }
        // Nor is it what the original does, unless the input cannot tell them apart.
        assert_eq!(gathered.original(input) == *view, original == *view);
    }
    assert!(n_noticed > mutants.len(), "most mutants differ from most others, not only {n_noticed} pairs");
}
