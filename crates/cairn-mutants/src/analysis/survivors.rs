//! Which survivors to look at first.
//!
//! A mutant whose value differs and that nobody notices is the best news: the input is there, only the look at the
//! result is missing, or the difference needs a little help to come out. Then those that are executed and never
//! differ: the input needs other values. Last those nobody reaches: that is what coverage tells as well.
//!
//! Among these, mutants of functions where most others are killed come first. There the tests do look closely, so a
//! survivor is an exception, and a test for it is near.

use super::{MutantSet, fate::Fate, matrix::KillMatrix};
use cairn_model::{MutantId, MutantTable};

/// A mutant nobody noticed.
#[derive(Clone, Debug, PartialEq)]
pub struct Survivor {
    /// Which.
    pub mutant: MutantId,
    /// How far it came.
    pub fate: Fate,
    /// Inputs that come as far with it.
    pub n_inputs: usize,
    /// Killed mutants of the same function.
    pub n_killed_nearby: usize,
    /// All selected mutants of the same function.
    pub n_nearby: usize,
}

/// The selected mutants that survived, the most telling first.
pub fn ranked(table: &MutantTable, selected: &MutantSet, matrix: &KillMatrix) -> Vec<Survivor> {
    let fates = matrix.fates(table.mutants.len());
    let function = |mutant: MutantId| table.patch_of(mutant).function as usize;
    let mut nearby = vec![(0, 0); table.functions.len()];
    for mutant in selected.iter() {
        let (n_killed, n_all) = &mut nearby[function(mutant)];
        *n_killed += usize::from(matches!(fates[mutant.index()], Fate::Killed { .. }));
        *n_all += 1;
    }
    let mut n_inputs = vec![0; table.mutants.len()];
    for (_, row) in matrix.rows() {
        // Who is infected somewhere is ranked among the infected, so only those inputs count for it.
        for mutant in row.reached.iter().filter(|mutant| fates[mutant.index()] == Fate::Reached) {
            n_inputs[mutant.index()] += 1;
        }
        for mutant in row.infected.iter().filter(|mutant| fates[mutant.index()] == Fate::Infected) {
            n_inputs[mutant.index()] += 1;
        }
    }
    let mut survivors: Vec<Survivor> = selected
        .iter()
        .filter(|mutant| fates[mutant.index()].is_survivor())
        .map(|mutant| {
            let (n_killed_nearby, n_nearby) = nearby[function(mutant)];
            let fate = fates[mutant.index()];
            Survivor { mutant, fate, n_inputs: n_inputs[mutant.index()], n_killed_nearby, n_nearby }
        })
        .collect();
    survivors.sort_by(|a, b| {
        // Shares as products, so that equal shares compare equal.
        let share = |one: &Survivor, other: &Survivor| one.n_killed_nearby * other.n_nearby;
        class(a.fate)
            .cmp(&class(b.fate))
            .then(share(b, a).cmp(&share(a, b)))
            .then(b.n_inputs.cmp(&a.n_inputs))
            .then(a.mutant.cmp(&b.mutant))
    });
    survivors
}

fn class(fate: Fate) -> u8 {
    match fate {
        Fate::Infected => 0,
        Fate::Reached => 1,
        _ => 2,
    }
}
