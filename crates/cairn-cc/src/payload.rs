//! What an object carries: the section `.cairn`, one record for each translation unit in it.
//!
//! Relocatable links concatenate sections, so a record says where it ends and the section is read as a sequence;
//! zero bytes between records are padding some linkers add. Layout, little-endian:
//!
//! ```text
//! magic "cairnobj" | version u32 | meta length u32 | bitcode length u64 | facts length u64
//! meta (postcard) | bitcode | facts
//! ```

use serde::{Deserialize, Serialize};

/// The section's name.
pub const SECTION: &str = ".cairn";

const MAGIC: [u8; 8] = *b"cairnobj";
const VERSION: u32 = 1;
const HEADER_SIZE: usize = 32;

/// One translation unit, as carried by an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitRecord<'a> {
    /// What is known about it.
    pub meta: UnitMeta,
    /// Its bitcode; empty if [`UnitMeta::bitcode_error`] says why there is none.
    pub bitcode: &'a [u8],
    /// Its encoded facts; empty if [`UnitMeta::facts_error`] says why there are none.
    pub facts: &'a [u8],
}

/// What is known about a translation unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitMeta {
    /// Names the unit; also found in the bitcode's compile unit as `cairn:<key>`.
    pub key: String,
    /// Where it was compiled.
    pub directory: String,
    /// The source as given.
    pub source: String,
    /// Whether the C++ driver compiled it.
    pub is_cxx: bool,
    /// The user's compile options and the source, without `-c` and `-o`.
    pub arguments: Vec<String>,
    /// The global symbols its native object defines, sorted.
    pub symbols: Vec<String>,
    /// Why there is no bitcode.
    pub bitcode_error: Option<String>,
    /// Why there are no facts.
    pub facts_error: Option<String>,
}

/// Why a `.cairn` section cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PayloadError {
    /// The bytes are not ours, or cut off.
    #[error("the section `{SECTION}` is damaged at byte {offset}")]
    Damaged {
        /// Where reading stopped.
        offset: usize,
    },
    /// Written by another version of Cairn.
    #[error("the section `{SECTION}` has format {found}, this build reads {VERSION}")]
    Version {
        /// The version in the section.
        found: u32,
    },
}

/// Encodes one record.
pub fn encode(record: &UnitRecord) -> Vec<u8> {
    let meta = postcard::to_stdvec(&record.meta).expect("unit metadata always encodes");
    let mut bytes = Vec::with_capacity(HEADER_SIZE + meta.len() + record.bitcode.len() + record.facts.len());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(u32::try_from(meta.len()).expect("metadata is small").to_le_bytes());
    bytes.extend((record.bitcode.len() as u64).to_le_bytes());
    bytes.extend((record.facts.len() as u64).to_le_bytes());
    bytes.extend(meta);
    bytes.extend(record.bitcode);
    bytes.extend(record.facts);
    bytes
}

/// Decodes all records of a section.
pub fn decode(section: &[u8]) -> Result<Vec<UnitRecord<'_>>, PayloadError> {
    let mut records = Vec::new();
    let mut offset = 0;
    while let Some(start) = section[offset..].iter().position(|&byte| byte != 0) {
        offset += start;
        let (record, size) = decode_one(&section[offset..], offset)?;
        records.push(record);
        offset += size;
    }
    Ok(records)
}

fn decode_one(bytes: &[u8], offset: usize) -> Result<(UnitRecord<'_>, usize), PayloadError> {
    let damaged = || PayloadError::Damaged { offset };
    let header = bytes.get(..HEADER_SIZE).ok_or_else(damaged)?;
    if header[..8] != MAGIC {
        return Err(damaged());
    }
    let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let long = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
    let found = word(8);
    if found != VERSION {
        return Err(PayloadError::Version { found });
    }
    let mut at = HEADER_SIZE;
    let mut part = |length: u64| {
        let end =
            usize::try_from(length).ok().and_then(|length| at.checked_add(length)).ok_or_else(damaged)?;
        let part = bytes.get(at..end).ok_or_else(damaged)?;
        at = end;
        Ok(part)
    };
    let meta = part(u64::from(word(12)))?;
    let bitcode = part(long(16))?;
    let facts = part(long(24))?;
    let meta = postcard::from_bytes(meta).map_err(|_| damaged())?;
    Ok((UnitRecord { meta, bitcode, facts }, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record<'a>(key: &str, bitcode: &'a [u8]) -> UnitRecord<'a> {
        let meta = UnitMeta {
            key: key.to_owned(),
            directory: "/src".to_owned(),
            source: "a.c".to_owned(),
            is_cxx: false,
            arguments: vec!["-O2".to_owned()],
            symbols: vec!["f".to_owned()],
            bitcode_error: None,
            facts_error: Some("no libclang".to_owned()),
        };
        UnitRecord { meta, bitcode, facts: b"" }
    }

    #[test]
    fn concatenated_and_padded_records_are_all_read() {
        let (first, second) = (record("one", b"BC\0\0"), record("two", b"BC1"));
        let mut section = encode(&first);
        section.extend([0; 5]);
        section.extend(encode(&second));
        section.extend([0; 3]);
        assert_eq!(decode(&section).unwrap(), [first, second]);
    }

    #[test]
    fn a_cut_section_is_damaged() {
        let whole = encode(&record("one", b"BC"));
        for length in 1..whole.len() {
            assert!(matches!(decode(&whole[..length]), Err(PayloadError::Damaged { .. })), "{length}");
        }
    }

    #[test]
    fn lengths_beyond_the_section_are_damage() {
        let mut bytes = encode(&record("one", b"BC"));
        bytes[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(decode(&bytes), Err(PayloadError::Damaged { offset: 0 })));
    }

    #[test]
    fn another_format_is_named() {
        let mut bytes = encode(&record("one", b"BC"));
        bytes[8] = 9;
        assert!(matches!(decode(&bytes), Err(PayloadError::Version { found: 9 })));
    }
}
