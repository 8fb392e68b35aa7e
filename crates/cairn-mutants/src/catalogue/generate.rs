//! All mutants of a function.

use super::{
    context::{Context, Draft, Drafts},
    effects::has_parts_apart,
    operator::{Maker, Operator},
    sets::OperatorSet,
};
use crate::{Proposal, site::MutableFunction};
use cairn_model::{SiteId, StableId, facts::ExpressionKind, map::ProgramMap};
use std::collections::{BTreeMap, BTreeSet};

/// The mutants that `set` proposes for `function`, one list a spot, in a fixed order.
///
/// What two operators propose alike is proposed once, by the first of them in the catalogue.
pub fn generate(map: &ProgramMap, function: &MutableFunction, set: &OperatorSet) -> Vec<Vec<Proposal>> {
    let mut names = Names::default();
    let spots = function.spots.iter();
    spots
        .map(|spot| {
            let site = &map.sites[spot.site.index()];
            let context = Context { map, function, spot, site };
            let mut proposals: Vec<Proposal> = Vec::new();
            if is_shared_operand(map, spot.site) {
                return proposals;
            }
            for operator in set.operators() {
                let Maker::Spot(make) = operator.maker else { continue };
                let mut drafts = Drafts::default();
                make(&context, &mut drafts);
                for draft in drafts.into_inner() {
                    let is_known = proposals.iter().any(|known| known.change == draft.change);
                    if !is_known {
                        proposals.extend(names.proposal(&context, operator, draft));
                    }
                }
            }
            proposals
        })
        .collect()
}

/// Whether an expression is the first operand of GNU's `a ?: b`, which is tested and also the result: a change of the
/// test alone would be no change of the operand.
fn is_shared_operand(map: &ProgramMap, site: SiteId) -> bool {
    let site = &map.sites[site.index()];
    let Some(parent) = site.parent.map(|parent| &map.sites[parent.index()]) else { return false };
    let is_short =
        || parent.text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>().contains("?:");
    parent.kind == ExpressionKind::Conditional && site.extent.start == parent.extent.start && is_short()
}

/// What was already proposed in a function.
#[derive(Default)]
struct Names {
    /// The same text in the same place is the same mutant, whatever spot it was found at.
    plain: BTreeSet<(SiteId, String)>,
    /// How many mutants have this site, operator and text.
    counts: BTreeMap<(SiteId, &'static str, String), u32>,
}

impl Names {
    fn proposal(
        &mut self,
        context: &Context<'_>,
        operator: &'static Operator,
        draft: Draft,
    ) -> Option<Proposal> {
        let Context { map, spot, site, .. } = context;
        let is_exact = draft.text.is_exact();
        let replacement = draft.text.in_place_of(map, site);
        let is_editable = site.body_of().is_none() && site.extent.start < site.extent.end;
        let is_whole = site.kind == ExpressionKind::MacroUse || has_parts_apart(map, spot.site);
        let is_plain_text = draft.is_faithful && is_exact && is_editable && is_whole;
        if is_plain_text && !self.plain.insert((spot.site, replacement.clone())) {
            return None;
        }
        let ordinal = self.counts.entry((spot.site, operator.name, replacement.clone())).or_default();
        let site_id = site.stable_id.to_string();
        let stable_id =
            StableId::from_key(&["mutant", &site_id, operator.name, &replacement, &ordinal.to_string()]);
        *ordinal += 1;
        Some(Proposal {
            stable_id,
            operator: operator.name,
            code: operator.code,
            replacement,
            is_plain_text,
            change: draft.change,
        })
    }
}
