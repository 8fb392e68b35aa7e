//! What programs noted that ran with `CAIRN_REACH`.

use super::noted;
use crate::error::ExecutorError;
use cairn_abi::mutants::{REACH_MAGIC, REACH_START, ReachHead, name_mark};
use cairn_model::{MutantId, MutantTable, PatchId, mutants::Mutant};
use std::{
    fs::{self, File},
    io::Read,
    path::Path,
};

/// What all programs together reached that noted it in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReachFile {
    /// Patches that were executed, in order.
    pub reached: Vec<PatchId>,
    /// Mutants that differ from the original where it was executed, in order.
    pub infected: Vec<MutantId>,
}

impl ReachFile {
    /// Whether the file at `path` begins as those do that a mutant view wrote, of whatever program.
    pub fn is_at(path: &Path) -> bool {
        let mut magic = [0; size_of::<u64>()];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
        read.is_ok() && u64::from_ne_bytes(magic) == REACH_MAGIC
    }

    /// Reads the file at `path`, written by views of `table`.
    pub fn read(path: &Path, table: &MutantTable) -> Result<Self, ExecutorError> {
        let wrong = |reason: String| ExecutorError::ReachFile { path: path.to_path_buf(), reason };
        let bytes = fs::read(path).map_err(|error| wrong(error.to_string()))?;
        let number =
            |at: usize| bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_ne_bytes);
        let word =
            |at: usize| bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_ne_bytes);
        if word(std::mem::offset_of!(ReachHead, magic)) != Some(REACH_MAGIC) {
            return Err(wrong("it was not written by a mutant view".into()));
        }
        let mark = |(id, mutant): (MutantId, &Mutant)| name_mark(mutant.stable_id.0, table.selector(id));
        let mutants = table.mutants_with_ids().map(mark).fold(0, u64::wrapping_add);
        let hash = table.map_hash.first_chunk().expect("a hash has 32 bytes");
        let is_ours = word(std::mem::offset_of!(ReachHead, view)) == Some(u64::from_le_bytes(*hash).max(1))
            && number(std::mem::offset_of!(ReachHead, n_patches)) == Some(table.patches.len() as u32)
            && number(std::mem::offset_of!(ReachHead, n_selectors)) == Some(table.n_selectors())
            && word(std::mem::offset_of!(ReachHead, mutants)) == Some(mutants);
        if !is_ours {
            return Err(wrong(
                "it belongs to another program, another build or another set of mutants".into(),
            ));
        }
        let infections = bytes.get(REACH_START..).unwrap_or(&[]);
        Ok(Self { reached: noted::reached(table, infections), infected: noted::infected(table, infections) })
    }
}
