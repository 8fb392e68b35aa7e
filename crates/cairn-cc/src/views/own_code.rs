//! C of ours that is linked into a program.

use super::build::{ViewError, io_error};
use crate::{Settings, unit::command};
use std::{fs, path::Path, process::Stdio};

/// Compiles `source` to `<name>.o` in the folder `work`.
///
/// It may run before the program has set up anything a compiler could rely on.
pub(super) fn compile(settings: &Settings, name: &str, source: &str, work: &Path) -> Result<(), ViewError> {
    let path = work.join(format!("{name}.c"));
    fs::write(&path, source).map_err(|error| io_error("write", &path, error))?;
    let clang = &settings.toolchain.clang;
    let options = ["-O1", "-fPIC", "-ffreestanding", "-fno-stack-protector", "-c", "-o"];
    let mut words = options.map(str::to_owned).to_vec();
    words.extend([work.join(format!("{name}.o")), path].map(|path| path.display().to_string()));
    let output = command(clang, &words, work)
        .and_then(|mut command| command.stdin(Stdio::null()).output())
        .map_err(|source| io_error("start", clang, source))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(ViewError::Link {
            view: name.to_owned(),
            message: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
    }
}
