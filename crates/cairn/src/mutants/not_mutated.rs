//! What of a program has no mutants, and why: a score says nothing about it.

use super::Mutants;
use crate::screen::count;
use cairn_model::mutants::UnmutatedReason;
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts of what has no mutants.
#[derive(Serialize)]
pub struct NotMutated {
    /// Functions, by reason.
    functions: BTreeMap<UnmutatedReason, usize>,
    /// Expressions whose code could not be told from that of others.
    ambiguous_expressions: u32,
    /// Expressions that stand for several in the text.
    expanded_expressions: u32,
    /// Expressions of templates whose instances cannot all be changed alike.
    unlike_expressions: u32,
}

impl NotMutated {
    /// Of a program.
    pub fn of(mutants: &Mutants) -> Self {
        let mut functions = BTreeMap::new();
        for unmutated in &mutants.table.unmutated {
            *functions.entry(unmutated.reason).or_default() += 1;
        }
        Self {
            functions,
            ambiguous_expressions: mutants.table.n_ambiguous,
            expanded_expressions: mutants.table.n_expanded,
            unlike_expressions: mutants.table.n_unlike,
        }
    }

    /// One text for each count that is not 0.
    pub fn lines(&self) -> Vec<String> {
        let functions = self.functions.iter();
        let mut lines: Vec<String> =
            functions.map(|(reason, n)| format!("{}: {reason}", count(*n, "function"))).collect();
        let expressions = [
            (self.ambiguous_expressions, "cannot be told from others at the same place"),
            (self.expanded_expressions, "stands in the expansion of a parameter pack"),
            (self.unlike_expressions, "cannot be changed alike in all instances of its template"),
        ];
        let expressions = expressions.into_iter().filter(|(n, _)| *n > 0);
        lines.extend(expressions.map(|(n, why)| format!("{}: {why}", count(n as usize, "expression"))));
        lines
    }
}
