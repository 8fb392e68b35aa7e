//! All mutants of a program in one other build, where each is compiled alone.

use super::{Behaviour, Judge, MutantBuild, judge::Runs};
use cairn_cc::views::CHOICE;
use cairn_model::{Input, MutantId, MutantTable};
use std::{sync::Arc, time::Duration};

/// A program without instrumentation that can be any of some mutants, one in each process.
///
/// One link serves all of them, so that all can be compared with the mutant view. What does not agree is worth a build of
/// the mutant's own ([`MutantBuild::alone`]), and a [`Judge`].
pub struct Gathered {
    table: Arc<MutantTable>,
    runs: Runs,
}

/// Not to end in this time is to agree with somebody who expects no end.
const VERY_SOON: Duration = Duration::from_millis(50);

/// Time for a run that should end. One that does not is judged by a build of its own, which has more.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time for the original.
const MUCH_PATIENCE: Duration = Duration::from_secs(4);

impl Gathered {
    /// Builds the program for `mutants`; it runs in the surroundings of `judge`.
    pub fn of(build: &MutantBuild, mutants: &[MutantId], judge: &Judge) -> Self {
        Self { table: build.table.clone(), runs: Runs::of(&build.gathered(mutants), judge.config()) }
    }

    /// What the program does as itself.
    pub fn original(&mut self, input: &Input) -> Behaviour {
        self.runs.run(input, MUCH_PATIENCE)
    }

    /// Whether `mutant` does on `input` what is `expected`.
    pub fn agrees(&mut self, mutant: MutantId, input: &Input, expected: &Behaviour) -> bool {
        let mut input = input.clone();
        let id = self.table.mutants[mutant.index()].stable_id.to_string();
        input.environment.push((CHOICE.to_owned(), id.as_str().into()));
        let limit = if expected.is_endless() { VERY_SOON } else { PATIENCE };
        self.runs.run(&input, limit) == *expected
    }
}
