//! What a run noted in the infection pages and among the values. A mutant may have written anything there.

use crate::channel::Channel;
use cairn_abi::mutants::{VALUES_START, ValuesHead};
use cairn_model::{MutantId, MutantTable, PatchId};
use std::{mem::offset_of, ops::Range};

/// Patches that were executed, by the infection pages.
pub(super) fn reached(table: &MutantTable, infections: &[u8]) -> Vec<PatchId> {
    (0..table.patches.len() as u32).map(PatchId).filter(|patch| is_reached(infections, *patch)).collect()
}

/// Whether a patch was executed.
pub(super) fn is_reached(infections: &[u8], patch: PatchId) -> bool {
    infections.get(patch.index()).is_some_and(|byte| *byte != 0)
}

/// Mutants that made a difference, by the infection pages.
pub(super) fn infected(table: &MutantTable, infections: &[u8]) -> Vec<MutantId> {
    table
        .patches
        .iter()
        .flat_map(|patch| {
            let Range { start, end } = patch.mutants;
            (start..end).map(move |mutant| (MutantId(mutant), patch.first_selector + (mutant - start)))
        })
        .filter(|(_, selector)| is_infected(table, infections, *selector))
        .map(|(mutant, _)| mutant)
        .collect()
}

/// Whether the mutant with this selector made a difference.
pub(super) fn is_infected(table: &MutantTable, infections: &[u8], selector: u32) -> bool {
    infections.get(table.patches.len() + selector as usize).is_some_and(|byte| *byte != 0)
}

/// What an observing run noted.
pub(super) struct Values<'a> {
    region: &'a [u8],
}

impl<'a> Values<'a> {
    pub(super) fn of(channel: &'a Channel) -> Self {
        Self { region: channel.values() }
    }

    pub(super) fn n_evaluations(&self) -> u64 {
        self.word(offset_of!(ValuesHead, n_evaluations))
    }

    pub(super) fn n_satisfied(&self) -> u64 {
        self.word(offset_of!(ValuesHead, n_satisfied))
    }

    pub(super) fn is_broken(&self) -> bool {
        // The reserved word behind it stays 0.
        self.word(offset_of!(ValuesHead, is_broken)) as u32 != 0
    }

    /// The kept values, `limit` at most.
    pub(super) fn kept(&self, limit: usize) -> impl Iterator<Item = u64> + 'a {
        let n_kept = usize::try_from(self.word(offset_of!(ValuesHead, n_kept))).unwrap_or(usize::MAX);
        let values = self.region.get(VALUES_START..).unwrap_or(&[]).chunks_exact(8);
        values.take(n_kept.min(limit)).map(|value| u64::from_ne_bytes(value.try_into().expect("eight bytes")))
    }

    fn word(&self, at: usize) -> u64 {
        self.region
            .get(at..at + 8)
            .map_or(0, |word| u64::from_ne_bytes(word.try_into().expect("eight bytes")))
    }
}
