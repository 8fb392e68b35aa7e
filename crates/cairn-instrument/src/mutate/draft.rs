//! Which mutants go where, before and after pruning.

use super::switched::{self, Weave};
use crate::anchors::{AnchoredFunction, Anchors};
use cairn_model::{
    PatchId, ProgramMap, StableId,
    mutants::{DropReason, DroppedMutant, Mutant, MutantTable, Patch, UnmutatedFunction, UnmutatedReason},
};
use cairn_mutants::Proposal;

/// All proposals for a program.
pub struct Draft<'a> {
    /// Functions with at least one proposal, by function id.
    pub functions: Vec<DraftFunction<'a>>,
    /// What was made and left out.
    pub dropped: Vec<DroppedMutant>,
    /// Functions in scope without proposals.
    pub unmutated: Vec<UnmutatedFunction>,
}

/// The proposals for a function.
pub struct DraftFunction<'a> {
    /// Where its expressions are.
    pub anchored: &'a AnchoredFunction,
    /// Spots with at least one proposal.
    pub patches: Vec<DraftPatch>,
}

/// The proposals for a spot, in the order weaving wants.
pub struct DraftPatch {
    /// The spot, a position in the function's anchors.
    pub spot: usize,
    /// The proposals.
    pub mutants: Vec<Proposal>,
}

impl<'a> Draft<'a> {
    /// Collects what `propose` makes of every function: one list a spot.
    pub fn new(
        anchors: &'a Anchors,
        mut propose: impl FnMut(&AnchoredFunction) -> Vec<Vec<Proposal>>,
    ) -> Self {
        let mut draft = Self { functions: Vec::new(), dropped: Vec::new(), unmutated: Vec::new() };
        draft.unmutated.extend(
            anchors
                .unmutated
                .iter()
                .map(|(function, reason)| UnmutatedFunction { function: *function, reason: *reason }),
        );
        for anchored in &anchors.functions {
            let mut patches = Vec::new();
            for (spot, mut mutants) in propose(anchored).into_iter().enumerate() {
                if !mutants.is_empty() {
                    switched::order(&mut mutants, |mutant| &mutant.change);
                    patches.push(DraftPatch { spot, mutants });
                }
            }
            if patches.is_empty() {
                let function = anchored.mutable.function;
                let reason = UnmutatedReason::NothingToMutate;
                draft.unmutated.push(UnmutatedFunction { function, reason });
            } else {
                draft.functions.push(DraftFunction { anchored, patches });
            }
        }
        draft
    }

    /// Leaves out the mutants for which `reason` has one.
    pub fn drop_mutants(&mut self, reason: &dyn Fn(StableId) -> Option<DropReason>) {
        for function in &mut self.functions {
            for patch in &mut function.patches {
                let site = function.anchored.mutable.spots[patch.spot].site;
                patch.mutants.retain(|mutant| {
                    let Some(reason) = reason(mutant.stable_id) else { return true };
                    self.dropped.push(DroppedMutant {
                        stable_id: mutant.stable_id,
                        site,
                        operator: mutant.operator.to_owned(),
                        replacement: mutant.replacement.clone(),
                        reason,
                    });
                    false
                });
            }
            function.patches.retain(|patch| !patch.mutants.is_empty());
        }
        self.functions.retain(|function| {
            let is_empty = function.patches.is_empty();
            if is_empty {
                let (function, reason) =
                    (function.anchored.mutable.function, UnmutatedReason::NothingToMutate);
                self.unmutated.push(UnmutatedFunction { function, reason });
            }
            !is_empty
        });
    }

    /// The table of what is left, with selectors assigned.
    pub fn table(&self, map: &ProgramMap, set: &str) -> MutantTable {
        let mut table = MutantTable {
            map_hash: map.hash(),
            set: set.to_owned(),
            dropped: self.dropped.clone(),
            unmutated: self.unmutated.clone(),
            ..MutantTable::default()
        };
        let mut selector = 1;
        for (number, function) in self.functions.iter().enumerate() {
            table.functions.push(function.anchored.mutable.function);
            for patch in &function.patches {
                let spot = &function.anchored.mutable.spots[patch.spot];
                let first = table.mutants.len() as u32;
                let id = PatchId(table.patches.len() as u32);
                table.mutants.extend(patch.mutants.iter().map(|mutant| Mutant {
                    stable_id: mutant.stable_id,
                    patch: id,
                    operator: mutant.operator.to_owned(),
                    code: mutant.code.to_owned(),
                    replacement: mutant.replacement.clone(),
                    is_plain_text: mutant.is_plain_text,
                    change: mutant.change.clone(),
                }));
                let is_logical =
                    matches!(function.anchored.anchors[patch.spot].at, crate::anchors::At::Logical(_));
                table.patches.push(Patch {
                    site: spot.site,
                    function: number as u32,
                    value_type: spot.value_type,
                    is_observable: !is_logical && spot.value_type != cairn_model::mutants::ValueType::Pointer,
                    mutants: first..table.mutants.len() as u32,
                    first_selector: selector,
                });
                selector += patch.mutants.len() as u32 + 1;
            }
        }
        table
    }
}

impl DraftFunction<'_> {
    /// Its patches for weaving, when the first of them has the selector `first`.
    pub fn weaves(&self, mut first: u32) -> Vec<Weave<'_>> {
        self.patches
            .iter()
            .map(|patch| {
                let weave = Weave {
                    spot: patch.spot,
                    value_type: self.anchored.mutable.spots[patch.spot].value_type,
                    first_selector: first,
                    changes: patch.mutants.iter().map(|mutant| &mutant.change).collect(),
                };
                first += patch.mutants.len() as u32 + 1;
                weave
            })
            .collect()
    }

    /// How many selectors it has.
    pub fn n_selectors(&self) -> u32 {
        self.patches.iter().map(|patch| patch.mutants.len() as u32 + 1).sum()
    }
}
