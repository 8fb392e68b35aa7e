//! The mutant that a person means.

use super::Mutants;
use crate::failure::Failure;
use cairn_model::{MutantId, StableId, mutants::DropReason};

impl Mutants {
    /// The mutant with this id, or with the only id that starts so.
    pub fn find(&self, id: &str) -> Result<MutantId, Failure> {
        let unknown = |problem: String| {
            Failure::usage(problem)
                .hint("`cairn mutants ./prog` lists mutants with their ids; ids belong to a `--set`")
        };
        let whole = StableId::try_from(id.to_owned()).ok().and_then(|id| self.table.find(id));
        let found: Vec<MutantId> = match whole {
            Some(mutant) => vec![mutant],
            None => self
                .table
                .mutants_with_ids()
                .filter(|(_, mutant)| mutant.stable_id.to_string().starts_with(id))
                .map(|(mutant, _)| mutant)
                .collect(),
        };
        match found[..] {
            [mutant] => Ok(mutant),
            [] => match self.dropped(id) {
                Some(reason) => Err(unknown(format!("the mutant `{id}` was dropped: {reason}"))),
                None => Err(unknown(format!("there is no mutant `{id}` in the set `{}`", self.table.set))),
            },
            _ => Err(unknown(format!("{} mutants have ids that start with `{id}`", found.len()))),
        }
    }

    /// Why a mutant is not in the view, if it was made.
    fn dropped(&self, id: &str) -> Option<String> {
        let dropped = self.table.dropped.iter().find(|dropped| dropped.stable_id.to_string() == id)?;
        Some(match dropped.reason {
            DropReason::Equivalent => "the optimiser makes the original of it".into(),
            DropReason::Duplicate(other) => format!("the optimiser makes the same of it as of `{other}`"),
            DropReason::Invalid => "it is no valid code".into(),
        })
    }
}
