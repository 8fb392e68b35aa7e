//! The map's files, interned by absolute path.

use cairn_model::{facts::Place, map::SourceFile};
use std::collections::HashMap;

/// Drops `.` and `..` by text, so that one file has one name.
pub use crate::ir::normalise as normal;

/// Files of the map. The first ones are the bitcode's, with the same numbers.
pub struct FileTable {
    root: String,
    files: Vec<SourceFile>,
    index_of: HashMap<String, u32>,
}

impl FileTable {
    /// Starts with the files of the bitcode.
    pub fn new(root: &str, ir_files: &[String]) -> Self {
        let mut table = Self { root: normal(root), files: Vec::new(), index_of: HashMap::new() };
        for path in ir_files {
            table.intern(path);
        }
        table
    }

    /// The number of a file, new or known.
    pub fn intern(&mut self, absolute: &str) -> u32 {
        let absolute = normal(absolute);
        if let Some(index) = self.index_of.get(&absolute) {
            return *index;
        }
        let path = absolute
            .strip_prefix(&self.root)
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or(&absolute)
            .to_string();
        let index = self.files.len() as u32;
        self.index_of.insert(absolute.clone(), index);
        self.files.push(SourceFile { path, absolute });
        index
    }

    /// The path of a file as people see it.
    pub fn relative(&self, index: u32) -> &str {
        &self.files[index as usize].path
    }

    /// `file:line:column`.
    pub fn show(&self, place: Place) -> String {
        format!("{}:{}:{}", self.relative(place.file), place.line, place.column)
    }

    /// All files.
    pub fn into_files(self) -> Vec<SourceFile> {
        self.files
    }
}
