//! Which mutants go where, before and after pruning.

use super::{
    instances::{Merged, beside, by_definition, merged},
    switched::{self, Weave},
};
use crate::anchors::{AnchoredFunction, Anchors, At, Unanchored};
use cairn_model::{
    PatchId, ProgramMap, StableId,
    mutants::{
        Change, DropReason, DroppedMutant, Mutant, MutantTable, Patch, UnmutatedFunction, UnmutatedReason,
        ValueType,
    },
};
use cairn_mutants::{Proposal, site::Spot};

/// All proposals for a program.
pub struct Draft<'a> {
    /// Functions with at least one proposal, by function id.
    pub functions: Vec<DraftFunction<'a>>,
    /// What was made and left out.
    pub dropped: Vec<DroppedMutant>,
    /// Functions in scope without proposals.
    pub unmutated: Vec<UnmutatedFunction>,
    /// Expressions that were not found, because they could not be told from others.
    pub n_ambiguous: u32,
    /// Expressions that stand for several in the text.
    pub n_expanded: u32,
    /// Expressions of templates whose instances cannot all be changed alike.
    pub n_unlike: u32,
}

/// The proposals for a function.
pub struct DraftFunction<'a> {
    /// Its bodies, with where expressions are in them: one, unless it is a template or was compiled in several ways.
    pub bodies: Vec<&'a AnchoredFunction>,
    /// Spots with at least one proposal.
    pub patches: Vec<DraftPatch>,
}

/// The proposals for a spot, in the order weaving wants.
pub struct DraftPatch {
    /// The spot in each body, a position in its anchors; `None` where the body does not have the expression.
    pub spots: Vec<Option<usize>>,
    /// The proposals.
    pub mutants: Vec<DraftMutant>,
}

/// A proposal and what it does.
pub struct DraftMutant {
    /// As the first body that has its spot proposes it.
    pub proposal: Proposal,
    /// What happens instead in each body that has the spot.
    pub changes: Vec<Option<Change>>,
}

impl<'a> Draft<'a> {
    /// Collects what `propose` makes of every function: one list a spot.
    pub fn new(
        anchors: &'a Anchors,
        map: &ProgramMap,
        mut propose: impl FnMut(&AnchoredFunction) -> Vec<Vec<Proposal>>,
    ) -> Self {
        let mut draft = Self {
            functions: Vec::new(),
            dropped: Vec::new(),
            unmutated: Vec::new(),
            n_ambiguous: anchors.n_ambiguous,
            n_expanded: anchors.n_expanded,
            n_unlike: 0,
        };
        draft.unmutated.extend(anchors.unmutated.iter().map(|Unanchored { function, reason, .. }| {
            UnmutatedFunction { function: *function, reason: *reason }
        }));
        for bodies in by_definition(&anchors.functions) {
            let proposals: Vec<_> = bodies.iter().map(|body| propose(body)).collect();
            let Merged { mut patches, n_unlike } =
                merged(map, &bodies, &beside(anchors, bodies[0]), proposals);
            draft.n_unlike += n_unlike;
            if patches.is_empty() && n_unlike > 0 {
                draft.leave_out(&bodies, UnmutatedReason::InstancesDiffer);
                continue;
            }
            for patch in &mut patches {
                switched::order(&mut patch.mutants, |mutant| &mutant.proposal.change);
            }
            draft.functions.push(DraftFunction { bodies, patches });
        }
        draft.forget_empty();
        draft
    }

    /// Leaves out the mutants for which `reason` has one.
    pub fn drop_mutants(&mut self, reason: &dyn Fn(StableId) -> Option<DropReason>) {
        for function in &mut self.functions {
            for patch in &mut function.patches {
                let site = patch.spot(&function.bodies).site;
                patch.mutants.retain(|mutant| {
                    let mutant = &mutant.proposal;
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
        self.forget_empty();
    }

    fn forget_empty(&mut self) {
        let (empty, kept) =
            std::mem::take(&mut self.functions).into_iter().partition(|function| function.patches.is_empty());
        self.functions = kept;
        let empty: Vec<DraftFunction> = empty;
        for function in empty {
            self.leave_out(&function.bodies, UnmutatedReason::NothingToMutate);
        }
    }

    fn leave_out(&mut self, bodies: &[&AnchoredFunction], reason: UnmutatedReason) {
        // Bodies of one function of the map stand next to each other.
        let mut functions: Vec<_> = bodies.iter().map(|body| body.mutable.function).collect();
        functions.dedup();
        let functions = functions.into_iter();
        self.unmutated.extend(functions.map(|function| UnmutatedFunction { function, reason }));
    }

    /// The table of what is left, with selectors assigned.
    pub fn table(&self, map: &ProgramMap, set: &str) -> MutantTable {
        let mut table = MutantTable {
            map_hash: map.hash(),
            set: set.to_owned(),
            dropped: self.dropped.clone(),
            unmutated: self.unmutated.clone(),
            n_ambiguous: self.n_ambiguous,
            n_expanded: self.n_expanded,
            n_unlike: self.n_unlike,
            ..MutantTable::default()
        };
        let mut selector = 1;
        for (number, function) in self.functions.iter().enumerate() {
            table.functions.push(function.bodies[0].mutable.function);
            for patch in &function.patches {
                let spot = patch.spot(&function.bodies);
                let first = table.mutants.len() as u32;
                let id = PatchId(table.patches.len() as u32);
                table.mutants.extend(patch.mutants.iter().map(|DraftMutant { proposal, .. }| Mutant {
                    stable_id: proposal.stable_id,
                    patch: id,
                    operator: proposal.operator.to_owned(),
                    code: proposal.code.to_owned(),
                    replacement: proposal.replacement.clone(),
                    is_plain_text: proposal.is_plain_text,
                    change: proposal.change.clone(),
                }));
                table.patches.push(Patch {
                    site: spot.site,
                    spot: patch.number_at_site(&function.bodies),
                    function: number as u32,
                    value_type: spot.value_type,
                    is_observable: patch.is_observable(&function.bodies),
                    mutants: first..table.mutants.len() as u32,
                    first_selector: selector,
                });
                selector += patch.mutants.len() as u32 + 1;
            }
        }
        table
    }
}

impl DraftPatch {
    /// The spot in the first body that has it.
    fn spot<'a>(&self, bodies: &[&'a AnchoredFunction]) -> &'a Spot {
        let mut spots = self.spots.iter().zip(bodies);
        spots.find_map(|(spot, body)| spot.map(|spot| &body.mutable.spots[spot])).expect("one body has it")
    }

    /// Which of the spots of its expression it is, in the first body that has it.
    fn number_at_site(&self, bodies: &[&AnchoredFunction]) -> u16 {
        let mut spots = self.spots.iter().zip(bodies);
        spots.find_map(|(spot, body)| spot.map(|spot| body.number_at_site(spot))).expect("one body has it")
    }

    /// Whether its values can be observed, which have to be of one type.
    fn is_observable(&self, bodies: &[&AnchoredFunction]) -> bool {
        let value_type = self.spot(bodies).value_type;
        let mut spots = self.spots.iter().zip(bodies);
        value_type != ValueType::Pointer
            && spots.all(|(spot, body)| {
                spot.is_none_or(|spot| {
                    body.mutable.spots[spot].value_type == value_type
                        && !matches!(body.anchors[spot].at, At::Logical(_))
                })
            })
    }

    /// The mutants where the body number `body` has its spot, to be woven in from selector `first_selector` on;
    /// `number` is the patch's.
    pub fn weave(
        &self,
        body: usize,
        anchored: &AnchoredFunction,
        number: u32,
        first_selector: u32,
    ) -> Option<Weave<'_>> {
        let spot = self.spots[body]?;
        let changes = self.mutants.iter().map(|mutant| mutant.changes[body].as_ref());
        Some(Weave {
            spot,
            value_type: anchored.mutable.spots[spot].value_type,
            number,
            first_selector,
            changes: changes.collect::<Option<_>>()?,
        })
    }
}

impl DraftPatch {
    /// One mutant alone, with selector 1.
    pub fn weave_one(&self, mutant: usize, body: usize, anchored: &AnchoredFunction) -> Option<Weave<'_>> {
        let mut weave = self.weave(body, anchored, 0, 1)?;
        weave.changes = vec![weave.changes[mutant]];
        Some(weave)
    }
}

impl DraftFunction<'_> {
    /// The patches of a body for weaving, when the first has this number and this selector.
    pub fn weaves(&self, body: usize, first_patch: u32, mut first_selector: u32) -> Vec<Weave<'_>> {
        let mut weaves = Vec::new();
        for (number, patch) in (first_patch..).zip(&self.patches) {
            weaves.extend(patch.weave(body, self.bodies[body], number, first_selector));
            first_selector += patch.mutants.len() as u32 + 1;
        }
        weaves
    }

    /// How many selectors it has.
    pub fn n_selectors(&self) -> u32 {
        self.patches.iter().map(|patch| patch.mutants.len() as u32 + 1).sum()
    }
}
