//! What we read from ELF files: kind, payload section, symbols, size of code, build id.

use crate::payload::SECTION;
use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf::SHF_EXECINSTR};
use std::ops::Range;

/// What the linker would take a file for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A relocatable ELF object.
    Relocatable,
    /// A shared ELF object.
    Shared,
    /// An archive, thin or not.
    Archive,
    /// Bitcode made by someone else.
    Bitcode,
    /// Anything else, linker scripts among them.
    Other,
}

/// Looks at the first bytes.
pub fn file_kind(bytes: &[u8]) -> FileKind {
    if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
        return FileKind::Archive;
    }
    if bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(&[0xde, 0xc0, 0x17, 0x0b]) {
        return FileKind::Bitcode;
    }
    match object::File::parse(bytes).map(|file| file.kind()) {
        Ok(ObjectKind::Relocatable) => FileKind::Relocatable,
        Ok(ObjectKind::Dynamic | ObjectKind::Executable) => FileKind::Shared,
        _ => FileKind::Other,
    }
}

/// The content of the `.cairn` section of an object, if it has one.
pub fn payload(bytes: &[u8]) -> Option<&[u8]> {
    object::File::parse(bytes).ok()?.section_by_name(SECTION)?.data().ok()
}

/// The global symbols an object defines, sorted.
pub fn defined_symbols(bytes: &[u8]) -> Vec<String> {
    let Ok(file) = object::File::parse(bytes) else { return Vec::new() };
    let mut names: Vec<String> = file
        .symbols()
        .filter(|symbol| symbol.is_global() && !symbol.is_undefined())
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// How many bytes of code a file holds.
pub fn code_size(bytes: &[u8]) -> u64 {
    let Ok(file) = object::File::parse(bytes) else { return 0 };
    file.sections()
        .filter(|section| match section.flags() {
            SectionFlags::Elf { sh_flags, .. } => sh_flags.0 & SHF_EXECINSTR.0 != 0,
            _ => false,
        })
        .map(|section| section.size())
        .sum()
}

/// How many bytes of functions a file holds whose symbols are not in the sorted list `covered`.
pub fn code_size_outside(bytes: &[u8], covered: &[String]) -> u64 {
    let Ok(file) = object::File::parse(bytes) else { return 0 };
    file.symbols()
        .filter(|symbol| symbol.is_global() && symbol.kind() == SymbolKind::Text)
        .filter(|symbol| {
            symbol
                .name()
                .is_ok_and(|name| covered.binary_search_by(|other| other.as_str().cmp(name)).is_err())
        })
        .map(|symbol| symbol.size())
        .sum()
}

/// The build id as lower-case hexadecimal digits.
pub fn build_id(bytes: &[u8]) -> Option<String> {
    build_id_place(bytes).map(|place| hexadecimal(&bytes[place]))
}

/// Where in a file its build id lies.
pub fn build_id_place(bytes: &[u8]) -> Option<Range<usize>> {
    let file = object::File::parse(bytes).ok()?;
    let id = file.build_id().ok()??;
    let start = id.as_ptr().addr().checked_sub(bytes.as_ptr().addr())?;
    let place = start..start + id.len();
    (!id.is_empty() && bytes.get(place.clone()) == Some(id)).then_some(place)
}

/// Two lower-case digits for each byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The content of a section, if the file has it.
pub fn section<'data>(bytes: &'data [u8], name: &str) -> Option<&'data [u8]> {
    object::File::parse(bytes).ok()?.section_by_name(name)?.data().ok()
}
