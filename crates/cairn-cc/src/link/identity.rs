//! Gives an executable a build id that names the build, not only the bytes.
//!
//! Linkers make the id out of what they wrote, and different sources can give the same bytes: without debug
//! information the name of a file or the text of a comment is nowhere in an executable. Records are found by build id, so
//! the linker's id is replaced in the file by one that also depends on the units and the command. The same build of the
//! same sources in the same folder gives the same id again.

use super::{Build, replace::Replaced};
use crate::elf;
use std::{fs, io, os::unix::fs::FileExt};

/// The build id to record under, already written to the executable.
///
/// The linker's own id stays where no unit of ours takes part, where the user chose its digits, and where the file
/// cannot be written.
pub(super) fn identify(build: &Build, replaced: &Replaced) -> String {
    if replaced.units.is_empty() || is_chosen(build) {
        return build.linker_id.clone();
    }
    write(build, replaced).unwrap_or_else(|_| build.linker_id.clone())
}

fn is_chosen(build: &Build) -> bool {
    let words = build.line.linker_words();
    let last = words.iter().rfind(|word| word.name() == "-build-id");
    last.and_then(|word| word.value()).is_some_and(|value| value.starts_with("0x") || value.starts_with("0X"))
}

fn write(build: &Build, replaced: &Replaced) -> io::Result<String> {
    let executable = fs::read(&build.output)?;
    let place = elf::build_id_place(&executable).ok_or(io::ErrorKind::NotFound)?;
    let mut id = vec![0; place.len()];
    hasher(build, replaced).finalize_xof().fill(&mut id);
    fs::File::options().write(true).open(&build.output)?.write_all_at(&id, place.start as u64)?;
    Ok(elf::hexadecimal(&id))
}

/// Everything that tells two builds apart. The folder of the link is not part of it; those of the units are.
fn hasher(build: &Build, replaced: &Replaced) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &[u8]| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    };
    add(build.linker_id.as_bytes());
    for word in build.line.to_words() {
        add(word.as_bytes());
    }
    for (_, unit) in &replaced.units {
        add(unit.meta.key.as_bytes());
        add(&unit.facts);
    }
    add(replaced.bitcode.finalize().as_bytes());
    hasher
}
