//! One change of the source in all code that comes from it.
//!
//! An instance of a template, and a header's function compiled with other macros, are functions of their own in the
//! bitcode, but there is only one text to change. So a mutant changes all of them at once, and is left out where one
//! of them has the expression and cannot be changed likewise.

use super::draft::{DraftMutant, DraftPatch};
use crate::anchors::{AnchoredFunction, Anchors, Unanchored};
use cairn_model::{
    FunctionId, ProgramMap, SiteId,
    map::Extent,
    mutants::{Change, Formula},
};
use cairn_mutants::{Proposal, site::Role};
use std::{
    collections::{HashMap, HashSet},
    mem::Discriminant,
};

/// Functions by where they are defined, in the order of the first of each.
pub fn by_definition(functions: &[AnchoredFunction]) -> Vec<Vec<&AnchoredFunction>> {
    let mut groups: Vec<Vec<&AnchoredFunction>> = Vec::new();
    let mut group_of = HashMap::new();
    for function in functions {
        let group = *group_of.entry(&function.defined_at).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(function);
    }
    groups
}

/// The spots of `bodies`, those of one expression in all of them together: for each the position in each body's anchors.
pub fn shared_spots(map: &ProgramMap, bodies: &[&AnchoredFunction]) -> Vec<Vec<Option<usize>>> {
    by_key(map, bodies).into_iter().map(|(_, spots)| spots).collect()
}

fn by_key(map: &ProgramMap, bodies: &[&AnchoredFunction]) -> Vec<(SpotKey, Vec<Option<usize>>)> {
    let mut all: Vec<(SpotKey, Vec<Option<usize>>)> = Vec::new();
    let mut position: HashMap<SpotKey, usize> = HashMap::new();
    for (body, function) in bodies.iter().enumerate() {
        for (spot, key) in spot_keys(map, function).into_iter().enumerate() {
            let at = *position.entry(key.clone()).or_insert_with(|| {
                all.push((key, vec![None; bodies.len()]));
                all.len() - 1
            });
            all[at].1[body] = Some(spot);
        }
    }
    all
}

/// What comes of the proposals for several bodies.
pub struct Merged {
    /// The mutants that all of them have.
    pub patches: Vec<DraftPatch>,
    /// How many expressions have proposals and no mutant that all of them have.
    pub n_unlike: u32,
}

/// The functions that come from the same text as `function` and have no anchors: nothing can be changed in them.
pub fn beside(anchors: &Anchors, function: &AnchoredFunction) -> Vec<FunctionId> {
    let is_beside = |other: &&Unanchored| other.defined_at.as_ref() == Some(&function.defined_at);
    anchors.unmutated.iter().filter(is_beside).map(|other| other.function).collect()
}

/// The mutants that all `bodies` have: `proposals` are those of each body, one list a spot. What is in the text of
/// functions `beside` cannot be changed.
pub fn merged(
    map: &ProgramMap,
    bodies: &[&AnchoredFunction],
    beside: &[FunctionId],
    proposals: Vec<Vec<Vec<Proposal>>>,
) -> Merged {
    let texts: Vec<HashSet<Expression>> =
        bodies.iter().map(|body| texts_of(map, body.mutable.function)).collect();
    let fixed: HashSet<Expression> = beside.iter().flat_map(|function| texts_of(map, *function)).collect();
    let mut patches = Vec::new();
    let (mut proposed, mut changed) = (HashSet::new(), HashSet::new());
    for (key, spots) in by_key(map, bodies) {
        let written = key.0.written();
        let is_complete = !fixed.contains(&written)
            && spots.iter().zip(&texts).all(|(spot, has)| spot.is_some() || !has.contains(&written));
        let here: Vec<Option<&[Proposal]>> = spots
            .iter()
            .zip(&proposals)
            .map(|(spot, proposals)| spot.map(|spot| proposals[spot].as_slice()))
            .collect();
        if here.iter().flatten().any(|proposals| !proposals.is_empty()) {
            proposed.insert(key.0.clone());
        }
        let Some(leading) = here.iter().flatten().next().filter(|_| is_complete) else { continue };
        let mutants: Vec<DraftMutant> =
            (0..leading.len()).filter_map(|number| in_all(leading, number, &here)).collect();
        if !mutants.is_empty() {
            changed.insert(key.0);
            patches.push(DraftPatch { spots, mutants });
        }
    }
    Merged { patches, n_unlike: proposed.difference(&changed).count() as u32 }
}

/// An expression, wherever its function was compiled.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Expression {
    extent: Extent,
    operator: String,
    text: String,
    /// Whether it comes from a macro: then others may have its text.
    is_of_macro: bool,
}

impl Expression {
    /// The text that stands for it, whatever it means: `a + b` calls a function where `a` is an object.
    fn written(&self) -> Self {
        Self {
            operator: if self.is_of_macro { self.operator.clone() } else { String::new() },
            ..self.clone()
        }
    }
}

/// A spot: its expression, what of it is found there, and how many such came before.
type SpotKey = (Expression, Discriminant<Role>, u32);

fn expression(map: &ProgramMap, site: SiteId) -> Expression {
    let site = &map.sites[site.index()];
    Expression {
        extent: site.extent,
        operator: site.operator.clone(),
        text: site.text.clone(),
        is_of_macro: site.macro_name.is_some(),
    }
}

/// What is written in a function.
fn texts_of(map: &ProgramMap, function: FunctionId) -> HashSet<Expression> {
    let sites = map.sites.iter().enumerate().filter(|(_, site)| site.function == function);
    sites.map(|(index, _)| expression(map, SiteId(index as u32)).written()).collect()
}

fn spot_keys(map: &ProgramMap, function: &AnchoredFunction) -> Vec<SpotKey> {
    let mut counts: HashMap<(Expression, Discriminant<Role>), u32> = HashMap::new();
    let spots = function.mutable.spots.iter();
    spots
        .map(|spot| {
            let (expression, role) = (expression(map, spot.site), std::mem::discriminant(&spot.role));
            let count = counts.entry((expression.clone(), role)).or_default();
            *count += 1;
            (expression, role, *count - 1)
        })
        .collect()
}

/// The mutant `number` of `leading` with what it does in each body, if it is in all of them.
fn in_all(leading: &[Proposal], number: usize, here: &[Option<&[Proposal]>]) -> Option<DraftMutant> {
    let proposal = &leading[number];
    let is_alike =
        |other: &&Proposal| other.operator == proposal.operator && other.replacement == proposal.replacement;
    let n_before = leading[..number].iter().filter(is_alike).count();
    let mut is_plain_text = true;
    let changes = here
        .iter()
        .map(|proposals| {
            let Some(proposals) = proposals else { return Some(None) };
            let found = proposals.iter().filter(is_alike).nth(n_before)?;
            is_plain_text &= found.is_plain_text;
            (uses_original(&found.change) == uses_original(&proposal.change))
                .then(|| Some(found.change.clone()))
        })
        .collect::<Option<Vec<Option<Change>>>>()?;
    Some(DraftMutant { proposal: Proposal { is_plain_text, ..proposal.clone() }, changes })
}

/// Weaving sorts by this, and all bodies must be sorted alike.
fn uses_original(change: &Change) -> Option<bool> {
    match change {
        Change::Value(formula) => Some(Formula::uses_original(formula)),
        Change::Logical(_) => None,
    }
}
