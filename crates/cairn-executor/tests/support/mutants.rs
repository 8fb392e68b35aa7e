//! Mutant views made by hand, and the tables that belong to them.

use super::{
    Program,
    view::{session_config, target},
};
use cairn_executor::{SessionConfig, mutants::MutantSession};
use cairn_model::{
    FunctionId, MutantId, MutantTable, PatchId, SiteId, StableId,
    mutants::{Change, Formula, Mutant, Patch, ValueType},
};
use std::sync::Arc;

/// The table of a view whose patches have so many mutants; each is its function's number and theirs. Values are of type
/// `int`.
pub fn table(patches: &[(u32, u32)]) -> Arc<MutantTable> {
    let mut table = MutantTable { map_hash: [0; 32], ..MutantTable::default() };
    table.map_hash[0] = 7;
    let mut next_selector = 1;
    for (number, (function, n_mutants)) in patches.iter().enumerate() {
        let first = table.mutants.len() as u32;
        table.patches.push(Patch {
            site: SiteId(number as u32),
            spot: 0,
            function: *function,
            value_type: ValueType::Int { bits: 32, is_signed: true },
            is_observable: true,
            mutants: first..first + n_mutants,
            first_selector: next_selector,
        });
        for mutant in 0..*n_mutants {
            table.mutants.push(Mutant {
                stable_id: StableId(1 << 32 | u64::from(next_selector + mutant)),
                patch: PatchId(number as u32),
                operator: "by-hand".into(),
                code: "HAND".into(),
                replacement: mutant.to_string(),
                is_plain_text: false,
                change: Change::Value(Formula::default()),
            });
        }
        next_selector += n_mutants + 1;
        if !table.functions.contains(&FunctionId(*function)) {
            table.functions.push(FunctionId(*function));
        }
    }
    Arc::new(table)
}

/// A session on a view made by hand.
pub fn mutant_session(program: &Program, table: &Arc<MutantTable>) -> MutantSession {
    mutant_session_with(program, table, session_config())
}

pub fn mutant_session_with(
    program: &Program,
    table: &Arc<MutantTable>,
    config: SessionConfig,
) -> MutantSession {
    MutantSession::new(target(program), table.clone(), config).unwrap()
}

/// All mutants of a table.
pub fn all(table: &MutantTable) -> Vec<MutantId> {
    table.mutants_with_ids().map(|(mutant, _)| mutant).collect()
}
