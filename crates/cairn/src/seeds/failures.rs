//! Candidates on which the program fails.

use crate::{failure::Failure, inputs, shell, target::Subject};
use cairn_model::{Ending, Input};
use serde::Serialize;
use std::{collections::BTreeMap, path::Path, sync::Arc};

/// A way the program fails, as the bare build does.
#[derive(Clone, Debug, Serialize)]
pub struct ConfirmedFailure {
    /// What happens.
    pub kind: String,
    /// Where, innermost first.
    pub stack: Vec<String>,
    /// The input's file.
    pub file: String,
    /// A command that shows it.
    pub reproduce: String,
}

/// Runs failing candidates on the bare build, and writes one for each way to fail into a folder.
pub fn confirm(
    subject: &Subject,
    failing: &[(Arc<Input>, Ending)],
    folder: &Path,
) -> Result<Vec<ConfirmedFailure>, Failure> {
    let mut by_signature = BTreeMap::new();
    if failing.is_empty() {
        return Ok(Vec::new());
    }
    let (mut bare, mut explainer) = (subject.bare()?, subject.explainer()?);
    for (input, _) in failing {
        let ending = bare.run(input)?.outcome.ending;
        if !ending.is_failure() {
            continue;
        }
        let explained = explainer.explain(input, &ending)?;
        by_signature.entry(explained.signature.clone()).or_insert((input, explained));
    }
    let program = std::fs::canonicalize(&subject.program).unwrap_or_else(|_| subject.program.clone());
    let mut confirmed = Vec::new();
    for (input, explained) in by_signature.into_values() {
        let file = inputs::save(folder, input, &subject.template)?;
        confirmed.push(ConfirmedFailure {
            kind: explained.kind,
            stack: explained.stack.iter().map(ToString::to_string).collect(),
            file: file.display().to_string(),
            reproduce: shell::reproduce(&program.to_string_lossy(), input),
        });
    }
    Ok(confirmed)
}
