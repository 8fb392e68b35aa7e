//! The folder of models: what symbolic views use in place of library functions.
//!
//! `models.bc` is the bitcode of `all.c` in the runtime's `models` folder, which includes the others. `aliases.txt` has a line
//! for each name a program may use: the library's, and ours. The functions through which input arrives are the runtime's
//! own, and so is their list.

use crate::{process, workspace::Workspace};
use anyhow::Context;
use std::{fs, io, path::Path, process::Command};

/// All models.
const SOURCE: &str = "crates/cairn-runtime/models/all.c";

/// Lists of names, in the order they are put together.
const ALIASES: [&str; 2] =
    ["crates/cairn-runtime/models/aliases.txt", "crates/cairn-runtime/src/symbolic/sources.aliases"];

/// Makes both files in `folder`. What does not exist yet counts as empty.
pub fn make(workspace: &Workspace, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("failed to create `{}`", folder.display()))?;
    let source = workspace.root.join(SOURCE);
    let source = if source.is_file() { source.as_path() } else { Path::new("/dev/null") };
    // Both are renamed into place: a build of views may be reading the old ones.
    let fresh = folder.join("models.new");
    process::run(
        Command::new("clang-19")
            .args(["-O1", "-fno-builtin", "-fPIC", "-emit-llvm", "-c", "-x", "c"])
            .arg(source)
            .arg("-o")
            .arg(&fresh),
    )?;
    fs::rename(&fresh, folder.join("models.bc"))?;
    let fresh = folder.join("aliases.new");
    fs::write(&fresh, aliases(workspace)?)?;
    fs::rename(&fresh, folder.join("aliases.txt"))?;
    Ok(())
}

/// All names, a line each.
fn aliases(workspace: &Workspace) -> anyhow::Result<String> {
    let mut all = String::new();
    for path in ALIASES {
        match fs::read_to_string(workspace.root.join(path)) {
            Ok(text) => {
                all.push_str(text.trim_end());
                all.push('\n');
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("failed to read `{path}`")),
        }
    }
    Ok(all)
}
