//! `-r` with sources: the native object, with bitcode and facts of those sources inside.
//!
//! What objects on the line carry, the linker itself puts into the result.

use crate::{
    Settings,
    arguments::CommandLine,
    compile::{add_section, beside_native, temporary_folder},
    driver::{DriverError, exit_code, native_words},
    elf,
    link::native_object,
    payload::{self, UnitRecord},
    unit::Unit,
};
use std::fs;

/// Links natively and adds the payloads of the line's own sources.
pub(crate) fn link(settings: &Settings, line: &CommandLine) -> Result<u8, DriverError> {
    let folder = temporary_folder(settings)?;
    let (inputs, units): (Vec<_>, Vec<_>) =
        line.sources().filter_map(|input| Some((input, Unit::new(settings, line, input)?))).unzip();
    let words = native_words(settings, line);
    let (status, compiled) = beside_native(settings, line, &words, &units, folder.path())?;
    let output = settings.places.directory.join(line.output().unwrap_or("a.out"));
    let bytes = if output.is_file() { fs::read(&output).unwrap_or_default() } else { Vec::new() };
    if !status.success() || elf::file_kind(&bytes) != elf::FileKind::Relocatable {
        return Ok(exit_code(status));
    }
    let mut payload = elf::payload(&bytes).unwrap_or_default().to_vec();
    for (input, mut unit) in inputs.into_iter().zip(compiled) {
        // Which of the result's symbols are this unit's, only an object of its own tells.
        let object = native_object(settings, line, input, &folder.path().join("unit.o"));
        unit.meta.symbols = elf::defined_symbols(&object);
        let record = UnitRecord { meta: unit.meta, bitcode: &unit.bitcode, facts: &unit.facts };
        payload.extend(payload::encode(&record));
    }
    add_section(settings, &output, &payload, folder.path());
    Ok(exit_code(status))
}
