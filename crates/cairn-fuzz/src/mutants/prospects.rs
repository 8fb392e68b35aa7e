//! How likely mutants are to be killed.

use cairn_model::{MutantId, MutantTable};
use std::collections::BTreeMap;

/// A mutant that was run so often in vain is a quarter as likely to be killed by the next input.
const QUARTERED_AFTER: f64 = 8.0;

/// Mutants that are less likely to be killed are as good as equivalent: of these only so many are run at a time.
const HOPELESS: f64 = 0.001;
const MOST_HOPELESS: usize = 2;

/// How likely mutants are to be killed, learnt from others of their operator and function, and from their own runs.
#[derive(Debug, Default)]
pub(super) struct Prospects {
    /// By the name of an operator.
    operators: BTreeMap<String, Tally>,
    /// By function, as the table numbers them.
    functions: Vec<Tally>,
    /// Runs of each mutant.
    n_runs: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    n_runs: u32,
    n_killed: u32,
}

impl Tally {
    fn learn(&mut self, is_killed: bool) {
        self.n_runs += 1;
        self.n_killed += u32::from(is_killed);
    }

    /// Where nothing is known, as likely as not.
    fn rate(self) -> f64 {
        (f64::from(self.n_killed) + 1.0) / (f64::from(self.n_runs) + 2.0)
    }
}

impl Prospects {
    /// Nothing known.
    pub(super) fn new(table: &MutantTable) -> Self {
        Self {
            operators: BTreeMap::new(),
            functions: vec![Tally::default(); table.functions.len()],
            n_runs: vec![0; table.mutants.len()],
        }
    }

    /// Notes a run.
    pub(super) fn learn(&mut self, table: &MutantTable, mutant: MutantId, is_killed: bool) {
        let operator = &table.mutants[mutant.index()].operator;
        match self.operators.get_mut(operator) {
            Some(tally) => tally.learn(is_killed),
            None => self.operators.entry(operator.clone()).or_default().learn(is_killed),
        }
        self.functions[table.patch_of(mutant).function as usize].learn(is_killed);
        self.n_runs[mutant.index()] += 1;
    }

    /// How often a mutant was run.
    pub(super) fn n_runs(&self, mutant: MutantId) -> u32 {
        self.n_runs[mutant.index()]
    }

    /// The `most` that are likeliest to be killed, these first.
    pub(super) fn best(&self, table: &MutantTable, mutants: Vec<MutantId>, most: usize) -> Vec<MutantId> {
        let mut rated: Vec<(f64, MutantId)> =
            mutants.into_iter().map(|mutant| (self.likelihood(table, mutant), mutant)).collect();
        let order = |one: &(f64, MutantId), other: &(f64, MutantId)| {
            other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
        };
        if rated.len() > most {
            rated.select_nth_unstable_by(most, order);
            rated.truncate(most);
        }
        rated.sort_unstable_by(order);
        let n_hopeful = rated.partition_point(|(likelihood, _)| *likelihood >= HOPELESS);
        rated.truncate(n_hopeful + MOST_HOPELESS);
        rated.into_iter().map(|(_, mutant)| mutant).collect()
    }

    /// All of them, the likeliest to be killed first.
    pub(super) fn all(&self, table: &MutantTable, mut mutants: Vec<MutantId>) -> Vec<MutantId> {
        mutants.sort_by(|one, other| {
            self.likelihood(table, *other).total_cmp(&self.likelihood(table, *one)).then(one.cmp(other))
        });
        mutants
    }

    fn likelihood(&self, table: &MutantTable, mutant: MutantId) -> f64 {
        let operator = self.operators.get(&table.mutants[mutant.index()].operator);
        let function = self.functions[table.patch_of(mutant).function as usize];
        let age = 1.0 + f64::from(self.n_runs(mutant)) / QUARTERED_AFTER;
        operator.copied().unwrap_or_default().rate() * function.rate() / (age * age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::{
        PatchId, SiteId, StableId,
        mutants::{Change, LogicalChange, Mutant, Patch, ValueType},
    };

    /// Four mutants: of two operators in each of two functions.
    fn table() -> MutantTable {
        let mutant = |index: u32| Mutant {
            stable_id: StableId(u64::from(index)),
            patch: PatchId(index / 2),
            operator: ["add", "negate"][index as usize % 2].into(),
            code: String::new(),
            replacement: String::new(),
            is_plain_text: false,
            change: Change::Logical(LogicalChange::Swap),
        };
        let patch = |index: u32| Patch {
            site: SiteId(index),
            spot: 0,
            function: index,
            value_type: ValueType::Bool,
            is_observable: false,
            mutants: 2 * index..2 * index + 2,
            first_selector: 3 * index + 1,
        };
        MutantTable {
            functions: vec![cairn_model::FunctionId(0), cairn_model::FunctionId(1)],
            patches: (0..2).map(patch).collect(),
            mutants: (0..4).map(mutant).collect(),
            ..MutantTable::default()
        }
    }

    fn order(prospects: &Prospects) -> Vec<u32> {
        let best = |most| prospects.best(&table(), (0..4).map(MutantId).collect(), most);
        assert_eq!(best(2), best(4)[..2]);
        best(4).into_iter().map(|mutant| mutant.0).collect()
    }

    #[test]
    fn what_is_like_those_that_died_comes_first() {
        let table = table();
        let mut prospects = Prospects::new(&table);
        assert_eq!(order(&prospects), [0, 1, 2, 3]);
        for _ in 0..4 {
            prospects.learn(&table, MutantId(3), true);
        }
        // The one that was run has lost by it, and its likes have won.
        assert_eq!(order(&prospects), [1, 2, 3, 0]);
    }

    #[test]
    fn of_what_survives_again_and_again_little_is_run() {
        let table = table();
        let mut prospects = Prospects::new(&table);
        for mutant in (0..4).map(MutantId) {
            (0..200).for_each(|_| prospects.learn(&table, mutant, false));
        }
        let mutants: Vec<MutantId> = (0..4).map(MutantId).collect();
        assert_eq!(prospects.best(&table, mutants.clone(), 4).len(), MOST_HOPELESS);
        assert_eq!(prospects.all(&table, mutants).len(), 4);
    }

    #[test]
    fn what_survives_everything_comes_last() {
        let table = table();
        let mut prospects = Prospects::new(&table);
        for _ in 0..40 {
            prospects.learn(&table, MutantId(0), false);
        }
        assert_eq!(*order(&prospects).last().unwrap(), 0);
        assert_eq!(prospects.n_runs(MutantId(0)), 40);
    }
}
