//! Which input did what to which mutant.

use super::{MutantSet, fate::Fate};
use cairn_model::{MutantId, Verdict};
use std::collections::BTreeMap;

/// The position of an input, or of a test, in its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputNumber(pub u32);

impl InputNumber {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What one input did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputRow {
    /// Mutants whose place it executes.
    pub reached: MutantSet,
    /// Mutants whose value differs there; no others need to be run.
    pub infected: MutantSet,
    /// What came of those that were run.
    pub verdicts: BTreeMap<MutantId, Verdict>,
}

/// What every input of a set did. Only what was found out is there: a mutant that is known to be killed need not be
/// run again, and an input that was not examined has no row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KillMatrix {
    rows: Vec<Option<InputRow>>,
}

impl KillMatrix {
    /// Nothing known yet about `n_inputs` inputs.
    pub fn new(n_inputs: usize) -> Self {
        Self { rows: vec![None; n_inputs] }
    }

    /// Notes what an input reaches and infects.
    pub fn set_examined(&mut self, input: InputNumber, reached: MutantSet, infected: MutantSet) {
        let row = self.rows[input.index()].get_or_insert_default();
        row.reached = reached;
        row.infected = infected;
    }

    /// Notes the verdict of a mutant on an input that was examined.
    pub fn set_verdict(&mut self, input: InputNumber, mutant: MutantId, verdict: Verdict) {
        self.rows[input.index()].get_or_insert_default().verdicts.insert(mutant, verdict);
    }

    /// What an input did, if it was examined.
    pub fn row(&self, input: InputNumber) -> Option<&InputRow> {
        self.rows.get(input.index())?.as_ref()
    }

    /// Inputs that were examined, with what they did.
    pub fn rows(&self) -> impl Iterator<Item = (InputNumber, &InputRow)> {
        let numbered = self.rows.iter().enumerate();
        numbered.filter_map(|(index, row)| Some((InputNumber(index as u32), row.as_ref()?)))
    }

    /// Inputs that were not examined.
    pub fn n_not_examined(&self) -> usize {
        self.rows.iter().filter(|row| row.is_none()).count()
    }

    /// Inputs that kill a mutant, in order.
    pub fn killers(&self, mutant: MutantId) -> impl Iterator<Item = InputNumber> + '_ {
        self.rows().filter_map(move |(input, row)| row.verdicts.get(&mutant)?.kill_reason().map(|_| input))
    }

    /// Inputs that reach a mutant, in order.
    pub fn reachers(&self, mutant: MutantId) -> impl Iterator<Item = InputNumber> + '_ {
        self.rows().filter(move |(_, row)| row.reached.contains(mutant)).map(|(input, _)| input)
    }

    /// How far each of `n_mutants` mutants came, by id.
    ///
    /// One that was killed stays killed whatever is still to be run. One that some input kills and another finds
    /// layout-dependent is killed: the first input's verdict was confirmed.
    pub fn fates(&self, n_mutants: usize) -> Vec<Fate> {
        let least = if self.n_not_examined() > 0 { Fate::Pending } else { Fate::NotReached };
        let mut fates = vec![least; n_mutants];
        for (input, row) in self.rows() {
            let mut note = |mutant: MutantId, found: Fate| {
                if let Some(fate) = fates.get_mut(mutant.index()) {
                    *fate = fate.joined_with(found);
                }
            };
            for mutant in row.reached.iter() {
                note(mutant, Fate::Reached);
            }
            for mutant in row.infected.iter() {
                let fate = match row.verdicts.get(&mutant) {
                    None => Fate::Pending,
                    Some(Verdict::Survived) => Fate::Infected,
                    Some(Verdict::Killed(reason)) => Fate::Killed { reason: *reason, by: input },
                    Some(Verdict::LayoutDependent) => Fate::LayoutDependent,
                    Some(Verdict::Undecided) => Fate::Undecided,
                };
                note(mutant, fate);
            }
        }
        fates
    }
}
