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

/// Failures of candidates.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// Ways in which the bare build fails, too.
    pub confirmed: Vec<ConfirmedFailure>,
    /// Files with candidates that failed in a view, and in no run of the bare build.
    pub unconfirmed: Vec<String>,
}

/// How often the bare build is run before a failure is not believed.
const TRIES: usize = 8;

/// Runs failing candidates on the bare build, and writes one for each way to fail into a folder; what does not fail there goes beside it.
pub fn confirm(
    subject: &Subject,
    failing: &[(Arc<Input>, Ending)],
    folder: &Path,
    beside: &Path,
) -> Result<Failures, Failure> {
    let mut by_signature = BTreeMap::new();
    let mut failures = Failures::default();
    if failing.is_empty() {
        return Ok(failures);
    }
    let (mut bare, mut explainer) = (subject.bare()?, subject.explainer()?);
    for (input, _) in failing {
        let mut ending = None;
        for _ in 0..TRIES {
            ending = Some(bare.run(input)?.outcome.ending).filter(Ending::is_failure);
            if ending.is_some() {
                break;
            }
        }
        let Some(ending) = ending else {
            let file = inputs::save(beside, input, &subject.template)?;
            failures.unconfirmed.push(file.display().to_string());
            continue;
        };
        let explained = explainer.explain(input, &ending)?;
        by_signature.entry(explained.signature.clone()).or_insert((input, explained));
    }
    let program = std::fs::canonicalize(&subject.program).unwrap_or_else(|_| subject.program.clone());
    for (input, explained) in by_signature.into_values() {
        let file = inputs::save(folder, input, &subject.template)?;
        failures.confirmed.push(ConfirmedFailure {
            kind: explained.kind,
            stack: explained.stack.iter().map(ToString::to_string).collect(),
            file: file.display().to_string(),
            reproduce: shell::reproduce(&program.to_string_lossy(), input),
        });
    }
    Ok(failures)
}
