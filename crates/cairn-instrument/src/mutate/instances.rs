//! One change of the source in all code that comes from it.
//!
//! An instance of a template, and a header's function compiled with other macros, are functions of their own in the
//! bitcode, but there is only one text to change. So a mutant changes all of them at once, and is left out where one
//! of them has the expression and cannot be changed likewise.

use super::draft::{DraftMutant, DraftPatch};
use crate::anchors::AnchoredFunction;
use cairn_model::{
    ProgramMap, SiteId,
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

/// The mutants that all `bodies` have: `proposals` are those of each body, one list a spot.
pub fn merged(
    map: &ProgramMap,
    bodies: &[&AnchoredFunction],
    proposals: Vec<Vec<Vec<Proposal>>>,
) -> Vec<DraftPatch> {
    let expressions: Vec<HashSet<Expression>> =
        bodies.iter().map(|function| expressions_of(map, function)).collect();
    let mut patches = Vec::new();
    for (key, spots) in by_key(map, bodies) {
        let is_complete =
            spots.iter().zip(&expressions).all(|(spot, has)| spot.is_some() || !has.contains(&key.0));
        let here: Vec<Option<&[Proposal]>> = spots
            .iter()
            .zip(&proposals)
            .map(|(spot, proposals)| spot.map(|spot| proposals[spot].as_slice()))
            .collect();
        let Some(leading) = here.iter().flatten().next().filter(|_| is_complete) else { continue };
        let mutants: Vec<DraftMutant> =
            (0..leading.len()).filter_map(|number| in_all(leading, number, &here)).collect();
        if !mutants.is_empty() {
            patches.push(DraftPatch { spots, mutants });
        }
    }
    patches
}

/// An expression, wherever its function was compiled.
type Expression = (Extent, String, String);

/// A spot: its expression, what of it is found there, and how many such came before.
type SpotKey = (Expression, Discriminant<Role>, u32);

fn expression(map: &ProgramMap, site: SiteId) -> Expression {
    let site = &map.sites[site.index()];
    (site.extent, site.operator.clone(), site.text.clone())
}

fn expressions_of(map: &ProgramMap, function: &AnchoredFunction) -> HashSet<Expression> {
    let id = function.mutable.function;
    let sites = map.sites.iter().enumerate().filter(|(_, site)| site.function == id);
    sites.map(|(index, _)| expression(map, SiteId(index as u32))).collect()
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
    let changes = here
        .iter()
        .map(|proposals| {
            let Some(proposals) = proposals else { return Some(None) };
            let found = proposals.iter().filter(is_alike).nth(n_before)?;
            (uses_original(&found.change) == uses_original(&proposal.change))
                .then(|| Some(found.change.clone()))
        })
        .collect::<Option<Vec<Option<Change>>>>()?;
    Some(DraftMutant { proposal: proposal.clone(), changes })
}

/// Weaving sorts by this, and all bodies must be sorted alike.
fn uses_original(change: &Change) -> Option<bool> {
    match change {
        Change::Value(formula) => Some(Formula::uses_original(formula)),
        Change::Logical(_) => None,
    }
}
