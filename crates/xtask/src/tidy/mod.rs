//! Checks that keep the repository as ARCHITECTURE.md says it is.

mod invariants;
mod layers;
mod repository;

use crate::workspace::Workspace;
use anyhow::bail;

/// Runs every check and reports all complaints at once.
pub fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let mut complaints = Vec::new();
    layers::check(workspace, &mut complaints);
    invariants::check(workspace, &mut complaints)?;
    repository::check(workspace, &mut complaints)?;
    if complaints.is_empty() {
        return Ok(());
    }
    bail!("the repository is not tidy:\n  {}", complaints.join("\n  "))
}
