//! The small loop program: `bench/programs/loop.c`, built by both sides.

use anyhow::Result;
use cairn_targets::Cache;
use cairn_testkit::SymbolicBuild;
use std::{fs, path::PathBuf};

/// The program, and its views.
pub struct Loop {
    /// As clang builds it at `-O2`.
    pub clang: PathBuf,
    /// Our views.
    pub build: SymbolicBuild,
}

/// Builds it, once.
pub fn open(cache: &Cache) -> Result<Loop> {
    let source = cache.repository.join("bench/programs/loop.c");
    let text = fs::read_to_string(&source)?;
    let built = |compiler: &str, recipe: String| -> Result<PathBuf> {
        let folder = cache.step(&format!("builds/loop-{compiler}"), &recipe, |folder| {
            // A copy, so that what is built tells nothing of the checkout.
            let script = format!("cp '{}' loop.c && {compiler} -O2 loop.c -o loop", source.display());
            cache.shell(folder, &script, &[]).map(|_| ())
        })?;
        Ok(folder.join("loop"))
    };
    let clang = built("clang-19", text.clone())?;
    let ours = built("cairn-cc", format!("{text}\n{}", cache.tool_hash("cairn-cc")?))?;
    Ok(Loop { clang, build: SymbolicBuild::of(&ours, None) })
}
