//! What earlier scores found out, and what this one adds.

use crate::{
    failure::{Failure, chain},
    inputs::NamedInput,
    mutants::Mutants,
};
use cairn_model::{MutantId, StableId, Verdict};
use cairn_mutants::analysis::MutantSet;
use cairn_store::{Circumstances, CircumstancesId, ExaminedInput, InputResults, Store, StoreError};
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

/// The store, as a score uses it.
pub struct Memory {
    store: Store,
    under: CircumstancesId,
    mutants: BTreeMap<StableId, MutantId>,
    stable_ids: Vec<StableId>,
    /// What was recalled, by address.
    known: BTreeMap<String, InputResults>,
    /// Not written yet, by address.
    pending: BTreeMap<String, InputResults>,
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
            known: BTreeMap::new(),
            pending: BTreeMap::new(),
        })
    }

    /// Fetches what is known of each input.
    pub fn recall(&mut self, inputs: &[NamedInput]) -> Result<(), Failure> {
        for named in inputs {
            let address = named.input.address();
            let results = self.store.recall(self.under, &address).map_err(failed)?;
            self.known.insert(address, results);
        }
        Ok(())
    }

    /// Verdicts that are known for an input.
    pub fn verdicts(&self, named: &NamedInput) -> Vec<(MutantId, Verdict)> {
        let known = self.known.get(&named.input.address());
        let verdicts = known.into_iter().flat_map(|results| &results.verdicts);
        verdicts.filter_map(|(id, verdict)| Some((*self.mutants.get(id)?, *verdict))).collect()
    }

    /// Notes what an input reaches.
    ///
    /// Where something else was known, something outside the program has changed, a library or a file: what was known
    /// of this input is forgotten.
    pub fn note_examined(&mut self, named: &NamedInput, sets: &ExaminedSets) {
        let address = named.input.address();
        if let Some(results) = self.known.get_mut(&address)
            && let Some(known) = &results.examined
        {
            let is_same = known.reached.iter().copied().eq(sets.reached.iter())
                && known.infected.iter().copied().eq(sets.infected.iter());
            if is_same {
                return;
            }
            results.verdicts.clear();
        }
        self.pending(address).examined = Some(ExaminedInput {
            reached: sets.reached.iter().collect(),
            infected: sets.infected.iter().collect(),
        });
    }

    /// Notes verdicts.
    pub fn note_verdicts(&mut self, named: &NamedInput, verdicts: &[(MutantId, Verdict)]) {
        let named_verdicts: Vec<_> =
            verdicts.iter().map(|(mutant, verdict)| (self.stable_ids[mutant.index()], *verdict)).collect();
        self.pending(named.input.address()).verdicts.extend(named_verdicts);
    }

    /// Writes down what was noted.
    pub fn write(&mut self) -> Result<(), Failure> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let results: Vec<InputResults> = std::mem::take(&mut self.pending).into_values().collect();
        self.store.remember(self.under, &results).map_err(failed)
    }

    fn pending(&mut self, address: String) -> &mut InputResults {
        let input = address.clone();
        self.pending.entry(address).or_insert_with(|| InputResults { input, ..InputResults::default() })
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::usage(chain(&error))
}
