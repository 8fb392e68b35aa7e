//! Mutants in the view beside the same mutants in other builds.

use crate::fixture::Fixture;
use cairn_executor::mutants::MutantSession;
use cairn_model::{Input, MutantId};
use cairn_testkit::mutants::{Agreement, Behaviour, Gathered, Judge, Reference, Tally};
use std::collections::BTreeMap;

/// What mutants do in the view, to be compared with builds of their own.
pub struct Comparison<'a> {
    /// What they are mutants of.
    pub fixture: &'a Fixture,
    /// Who settles what does not agree.
    pub judge: &'a Judge,
    /// A session with steps and time for everything that ends.
    pub patient: &'a mut MutantSession,
    /// What the original does, for each input.
    pub originals: &'a [Behaviour],
    /// What mutants do, for each input.
    pub runs: &'a BTreeMap<MutantId, Vec<Behaviour>>,
}

impl Comparison<'_> {
    /// Compares mutants on all inputs with the gathered program, and has what does not agree judged by builds of their
    /// own. Returns how many pairs of a mutant and an input these are.
    pub fn compare_gathered(&mut self, mutants: &[MutantId], tally: &mut Tally) -> usize {
        let Fixture { build, inputs, .. } = self.fixture;
        let mut gathered = Gathered::of(build, mutants, self.judge);
        let mut n_judged = 0;
        for (number, (name, input)) in inputs.iter().enumerate() {
            let original = gathered.original(input);
            assert_eq!(
                original, self.originals[number],
                "input {name}: the gathered program and the bare build"
            );
            for mutant in mutants {
                let mut view = self.runs[mutant][number].clone();
                let mut agrees = gathered.agrees(*mutant, input, &view);
                if !agrees && view.is_endless() {
                    // It may only have been slow.
                    view = run(self.patient, *mutant, input);
                    agrees = gathered.agrees(*mutant, input, &view);
                }
                if agrees {
                    tally.n_same += 1;
                    continue;
                }
                n_judged += 1;
                let reference = build.alone(&[*mutant]).remove(0);
                let agreement = self.judge.compare(&reference, input, &view, build);
                self.note(number, &reference, "gathered", &view, agreement, tally);
            }
        }
        n_judged
    }

    /// Compares a mutant with a build of its own, on all inputs.
    pub fn compare(&mut self, reference: &Reference, kind: &str, tally: &mut Tally) {
        for number in 0..self.fixture.inputs.len() {
            self.compare_on(number, reference, kind, tally);
        }
    }

    /// Likewise, on one input.
    fn compare_on(&mut self, number: usize, reference: &Reference, kind: &str, tally: &mut Tally) {
        let build = &self.fixture.build;
        let (_, input) = &self.fixture.inputs[number];
        let mut view = self.runs[&reference.mutant][number].clone();
        let mut agreement = self.judge.compare(reference, input, &view, build);
        if agreement != Agreement::Same && view.is_endless() {
            // It may only have been slow.
            view = run(self.patient, reference.mutant, input);
            agreement = self.judge.compare(reference, input, &view, build);
        }
        self.note(number, reference, kind, &view, agreement, tally);
    }

    /// Adds what was found out about one pair.
    fn note(
        &self,
        number: usize,
        reference: &Reference,
        kind: &str,
        view: &Behaviour,
        mut agreement: Agreement,
        tally: &mut Tally,
    ) {
        let (name, _) = &self.fixture.inputs[number];
        let original = &self.originals[number];
        // What the original dies of C leaves open: nobody needs the value in the mutant, and a compiler may see that.
        if let Agreement::Different { reference: one } = &agreement
            && view == original
            && original.is_death()
        {
            agreement = Agreement::LayoutDependent { one: one.clone(), other: original.clone() };
        }
        tally.add(
            &format!("{} {kind}, input {name}", self.fixture.build.describe(reference.mutant)),
            view,
            agreement,
        );
    }
}

/// What a mutant does in a session.
pub fn run(session: &mut MutantSession, mutant: MutantId, input: &Input) -> Behaviour {
    session.run(input, &[mutant]).expect("a run of a mutant").remove(0).run.execution.outcome.into()
}
