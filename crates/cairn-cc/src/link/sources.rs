//! Sources on the link line: compiled and linked in one command, they leave no object behind.

use crate::{
    Settings,
    arguments::{CommandLine, Input, filter},
    preset,
    unit::{Compiled, Unit, command},
};
use std::{fs, path::Path, process::Stdio};

/// What stands for a source in the second link.
pub(super) enum Source {
    /// It has bitcode.
    Bitcode(Compiled),
    /// It has none, so it is compiled once more, to a native object.
    Native { name: String, object: Vec<u8>, unit: Option<Compiled> },
}

/// Pairs every source of the line with its bitcode or a native object.
pub(super) fn sources(
    settings: &Settings,
    line: &CommandLine,
    units: &[Option<Unit>],
    compiled: Vec<Compiled>,
    folder: &Path,
) -> Vec<Source> {
    let mut compiled = compiled.into_iter();
    let mut sources = Vec::new();
    for (index, (input, unit)) in line.sources().zip(units).enumerate() {
        let compiled = unit.as_ref().and_then(|_| compiled.next());
        sources.push(match compiled {
            Some(unit) if !unit.bitcode.is_empty() => Source::Bitcode(unit),
            unit => {
                let object = native_object(settings, line, input, &folder.join(format!("{index}.o")));
                Source::Native { name: input.path.clone(), object, unit }
            }
        });
    }
    sources
}

/// The object's bytes; empty if it cannot be made again (standard input, for one, is used up).
pub(crate) fn native_object(
    settings: &Settings,
    line: &CommandLine,
    input: &Input,
    object: &Path,
) -> Vec<u8> {
    let mut words = filter::native_unit(line);
    if input.language.is_preprocessed_by_us() {
        words.extend(preset::options(&settings.distribution.include_dir));
    }
    words.extend(["-c".to_owned(), "-w".to_owned(), "-Qunused-arguments".to_owned()]);
    words.extend(input.forced.iter().flat_map(|name| ["-x".to_owned(), name.clone()]));
    words.push(input.path.clone());
    words.extend(["-o".to_owned(), object.to_string_lossy().into_owned()]);
    let folder = object.parent().expect("an object lies in a folder");
    let status = command(settings.toolchain.driver(line.is_cxx), &words, folder).and_then(|mut command| {
        command
            .current_dir(&settings.places.directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
    });
    match status {
        Ok(status) if status.success() => fs::read(object).unwrap_or_default(),
        _ => Vec::new(),
    }
}
