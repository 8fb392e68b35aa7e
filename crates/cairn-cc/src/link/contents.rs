//! What one relocatable object carries.

use crate::{
    elf,
    payload::{self, UnitRecord},
};

/// An object's units, and whether they are all there is to it.
pub(super) enum Contents<'a> {
    /// No bitcode; perhaps records that say why.
    Native { records: Vec<UnitRecord<'a>>, reason: Option<String> },
    /// Bitcode stands for all of it.
    Bitcode(Vec<UnitRecord<'a>>),
    /// A relocatable link of units with bitcode and native code, assembly for instance. `covered` are the symbols
    /// bitcode defines, sorted.
    Mixed { records: Vec<UnitRecord<'a>>, covered: Vec<String> },
}

/// Reads the payload and compares what it defines with what the object defines.
pub(super) fn contents(object: &[u8]) -> Contents<'_> {
    let Some(section) = elf::payload(object) else {
        return Contents::Native { records: Vec::new(), reason: None };
    };
    let records = match payload::decode(section) {
        Ok(records) => records,
        Err(error) => return Contents::Native { records: Vec::new(), reason: Some(error.to_string()) },
    };
    let has_bitcode = |record: &&UnitRecord| !record.bitcode.is_empty();
    if !records.iter().any(|record| has_bitcode(&record)) {
        let reason = records.iter().find_map(|record| record.meta.bitcode_error.clone());
        return Contents::Native { records, reason };
    }
    let mut covered: Vec<String> =
        records.iter().filter(has_bitcode).flat_map(|record| record.meta.symbols.iter().cloned()).collect();
    covered.sort_unstable();
    covered.dedup();
    let is_whole = records.iter().all(|record| has_bitcode(&record))
        && elf::defined_symbols(object).iter().all(|name| covered.binary_search(name).is_ok());
    if is_whole { Contents::Bitcode(records) } else { Contents::Mixed { records, covered } }
}
