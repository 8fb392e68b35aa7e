//! What earlier scores found out, and what this one adds.

use crate::{
    failure::{Failure, chain},
    mutants::Mutants,
};
use cairn_model::{MutantId, StableId, Verdict};
use cairn_mutants::analysis::MutantSet;
use cairn_store::{
    Circumstances, CircumstancesId, ExaminedInput, InputResults, ResultKey, Store, StoreError,
};
use std::{collections::BTreeMap, fs, path::Path};

/// The store's name, beside the build record.
const FILE_NAME: &str = "store.db";

/// What an input reaches and infects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExaminedSets {
    /// Mutants whose place is executed.
    pub reached: MutantSet,
    /// Mutants whose value differs there.
    pub infected: MutantSet,
}

impl ExaminedSets {
    /// Adds both sets to what names the original's doings.
    pub fn hash_into(&self, hasher: &mut blake3::Hasher) {
        for set in [&self.reached, &self.infected] {
            hasher.update(&(set.len() as u64).to_le_bytes());
            for mutant in set.iter() {
                hasher.update(&mutant.0.to_le_bytes());
            }
        }
    }
}

/// The store, as a score uses it.
pub struct Memory {
    store: Store,
    under: CircumstancesId,
    mutants: BTreeMap<StableId, MutantId>,
    stable_ids: Vec<StableId>,
    /// Not written yet.
    pending: BTreeMap<ResultKey, InputResults>,
}

impl Memory {
    /// Opens the store in `folder`; with `forgets`, what it knows is forgotten.
    pub fn open(folder: &Path, mutants: &Mutants, oracle: [u8; 32], forgets: bool) -> Result<Self, Failure> {
        let view = fs::read(&mutants.view.program)
            .map_err(|error| Failure::target(format!("failed to read the mutant view: {error}")))?;
        let mut store = Store::open(&folder.join(FILE_NAME)).map_err(failed)?;
        // Fuel follows from the original's use, and the oracle's hash says how.
        let circumstances = Circumstances { view: *blake3::hash(&view).as_bytes(), oracle, fuel: 0 };
        let under = store.circumstances(&circumstances).map_err(failed)?;
        if forgets {
            store.forget(under).map_err(failed)?;
        }
        let stable_ids: Vec<StableId> = mutants.table.mutants.iter().map(|mutant| mutant.stable_id).collect();
        let numbered = mutants.table.mutants_with_ids();
        Ok(Self {
            store,
            under,
            mutants: numbered.map(|(id, mutant)| (mutant.stable_id, id)).collect(),
            stable_ids,
            pending: BTreeMap::new(),
        })
    }

    /// Verdicts that are known.
    pub fn recall(&self, key: &ResultKey) -> Result<Vec<(MutantId, Verdict)>, Failure> {
        let known = self.store.recall(self.under, key).map_err(failed)?.verdicts;
        Ok(known.into_iter().filter_map(|(id, verdict)| Some((*self.mutants.get(&id)?, verdict))).collect())
    }

    /// Notes what an input reaches.
    pub fn note_examined(&mut self, key: &ResultKey, sets: &ExaminedSets) {
        self.pending(key).examined = Some(ExaminedInput {
            reached: sets.reached.iter().collect(),
            infected: sets.infected.iter().collect(),
        });
    }

    /// Notes verdicts.
    pub fn note_verdicts(&mut self, key: &ResultKey, verdicts: &[(MutantId, Verdict)]) {
        let named_verdicts: Vec<_> =
            verdicts.iter().map(|(mutant, verdict)| (self.stable_ids[mutant.index()], *verdict)).collect();
        self.pending(key).verdicts.extend(named_verdicts);
    }

    /// Writes down what was noted.
    pub fn write(&mut self) -> Result<(), Failure> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let results: Vec<InputResults> = std::mem::take(&mut self.pending).into_values().collect();
        self.store.remember(self.under, &results).map_err(failed)
    }

    fn pending(&mut self, key: &ResultKey) -> &mut InputResults {
        let results = || InputResults { key: key.clone(), ..InputResults::default() };
        self.pending.entry(key.clone()).or_insert_with(results)
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::usage(chain(&error))
}
