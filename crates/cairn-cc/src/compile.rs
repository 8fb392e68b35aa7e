//! `-c`: the native object, with bitcode and facts inside.

use crate::{
    Settings,
    arguments::CommandLine,
    driver::{DriverError, exit_code, native_words},
    elf,
    payload::{self, SECTION, UnitRecord},
    scratch::Scratch,
    unit::{Compiled, Unit, command},
};
use std::{
    fs,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    thread,
};

/// Compiles natively and, beside it, each C and C++ source to a payload.
pub(crate) fn compile(settings: &Settings, line: &CommandLine) -> Result<u8, DriverError> {
    let folder = temporary_folder(settings)?;
    let (objects, units): (Vec<_>, Vec<_>) = line
        .sources()
        .filter_map(|input| Some((line.object_of(input), Unit::new(settings, line, input)?)))
        .unzip();
    let words = native_words(settings, line);
    let (status, compiled) = beside_native(settings, line, &words, &units, folder.path())?;
    for (object, unit) in objects.iter().zip(compiled) {
        embed(settings, &settings.places.directory.join(object), unit, folder.path());
    }
    Ok(exit_code(status))
}

/// A folder that goes away with the command.
pub(crate) fn temporary_folder(settings: &Settings) -> Result<Scratch, DriverError> {
    Scratch::new("cairn-cc-", &settings.temporary_dir).map_err(DriverError::TemporaryFolder)
}

/// Runs the native command and the units' second compiles; nothing is compiled if native fails.
pub(crate) fn beside_native(
    settings: &Settings,
    line: &CommandLine,
    words: &[String],
    units: &[Unit],
    folder: &Path,
) -> Result<(ExitStatus, Vec<Compiled>), DriverError> {
    let program = settings.toolchain.driver(line.is_cxx);
    let spawn = |source| DriverError::Spawn { program: program.display().to_string(), source };
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    let mut batches = units.chunks(at_once);
    let first: Vec<_> =
        batches.next().unwrap_or_default().iter().map(|unit| unit.start(settings, folder)).collect();
    let status = command(program, words, folder)
        .and_then(|mut command| command.current_dir(&settings.places.directory).status())
        .map_err(spawn)?;
    if !status.success() {
        return Ok((status, Vec::new()));
    }
    let mut compiled: Vec<_> = first.into_iter().map(|running| running.finish()).collect();
    for batch in batches {
        let running: Vec<_> = batch.iter().map(|unit| unit.start(settings, folder)).collect();
        compiled.extend(running.into_iter().map(|running| running.finish()));
    }
    Ok((status, compiled))
}

/// Adds the payload section. Where that is impossible the object stays as it is, and counts as native code.
fn embed(settings: &Settings, object: &Path, mut unit: Compiled, folder: &Path) {
    if !object.is_file() {
        return;
    }
    let Ok(bytes) = fs::read(object) else { return };
    if elf::file_kind(&bytes) != elf::FileKind::Relocatable {
        return;
    }
    unit.meta.symbols = elf::defined_symbols(&bytes);
    let record = UnitRecord { meta: unit.meta, bitcode: &unit.bitcode, facts: &unit.facts };
    add_section(settings, object, &payload::encode(&record), folder);
}

/// Gives an object the section, in place of the one it may have.
pub(crate) fn add_section(settings: &Settings, object: &Path, payload: &[u8], folder: &Path) {
    let section = folder.join("payload.section");
    if fs::write(&section, payload).is_err() {
        return;
    }
    let _ = Command::new(&settings.toolchain.llvm_objcopy)
        .arg(format!("--remove-section={SECTION}"))
        .arg(format!("--add-section={SECTION}={}", section.display()))
        // Relocatable links keep such a section, final links leave it out.
        .arg(format!("--set-section-flags={SECTION}=exclude"))
        .arg(object)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}
