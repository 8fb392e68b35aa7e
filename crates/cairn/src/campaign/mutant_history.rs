//! What became of the mutants of a campaign.

use super::mutant_plan::MutantPlan;
use crate::{failure::Failure, mutants::Mutants};
use cairn_model::{MutantId, StableId};
use cairn_store::StoredKill;
use std::collections::{BTreeMap, HashMap};

/// Survivors that are shown with their lines.
const SHOWN_SURVIVORS: usize = 300;

/// What became of the mutants of a campaign.
#[derive(Default)]
pub struct MutantHistory {
    /// Mutants that count.
    pub n_mutants: usize,
    /// Mutants killed, by how they gave themselves away.
    pub by_reason: BTreeMap<&'static str, usize>,
    /// Mutants that nobody kills, as changes of the source; the first of them.
    pub survivors: Vec<String>,
    /// How many there are.
    pub n_survivors: usize,
    /// What inputs kill, by number, each mutant with the first that was found to.
    pub by_entry: BTreeMap<u32, Vec<String>>,
}

impl MutantHistory {
    /// As the store of a campaign tells it.
    pub fn new(plan: &MutantPlan, mutants: &Mutants, kills: &[StoredKill]) -> Result<Self, Failure> {
        let selected = plan.select(mutants)?;
        let killed: HashMap<StableId, &StoredKill> = kills.iter().map(|kill| (kill.mutant, kill)).collect();
        let kill_of = |mutant: MutantId| killed.get(&mutants.table.mutants[mutant.index()].stable_id);
        let mut history = Self { n_mutants: selected.len(), ..Self::default() };
        for mutant in selected.iter() {
            match kill_of(mutant) {
                Some(kill) => {
                    *history.by_reason.entry(kill.reason.name()).or_default() += 1;
                    let name = format!("{} by {}", mutants.table.name(&mutants.map, mutant), kill.reason);
                    history.by_entry.entry(kill.entry.0).or_default().push(name);
                }
                None => {
                    history.n_survivors += 1;
                    if history.survivors.len() < SHOWN_SURVIVORS {
                        history.survivors.push(mutants.shown(mutant));
                    }
                }
            }
        }
        Ok(history)
    }

    /// How many are killed.
    pub fn n_killed(&self) -> usize {
        self.by_reason.values().sum()
    }
}
