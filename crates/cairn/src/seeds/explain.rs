//! What a template covers, in words.

use super::harvest::Harvest;
use crate::mutants::Mutants;
use cairn_model::ProgramMap;
use cairn_seeds::Described;

/// Elements in words.
pub fn explain(
    harvest: &Harvest,
    map: &ProgramMap,
    mutants: Option<&Mutants>,
    elements: &[u32],
) -> Vec<String> {
    let text = |element: &u32| match (harvest.describe(map, *element), mutants) {
        (Described::Text(text), _) => text,
        (Described::Kill(mutant), Some(mutants)) => format!("kills {}", mutants.table.name(map, mutant)),
        (Described::Kill(mutant), None) => format!("kills mutant {}", mutant.0),
    };
    elements.iter().map(text).collect()
}
