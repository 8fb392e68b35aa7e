//! One mutant, for people and programs.

use super::Mutants;
use cairn_model::{MutantId, mutants::Mutant};
use cairn_mutants::{analysis::Dropped, diff::SourceDiff};
use serde::Serialize;

/// A mutant as JSON reports show it.
#[derive(Serialize)]
pub struct Described<'a> {
    id: String,
    operator: &'a str,
    code: &'a str,
    file: &'a str,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    function: &'a str,
    original: &'a str,
    replacement: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    macro_name: Option<&'a str>,
    is_plain_text: bool,
}

/// What was dropped, as JSON reports show it.
#[derive(Serialize)]
pub struct DroppedCounts {
    equivalent: usize,
    duplicate: usize,
    invalid: usize,
}

impl From<Dropped> for DroppedCounts {
    fn from(dropped: Dropped) -> Self {
        Self { equivalent: dropped.n_equivalent, duplicate: dropped.n_duplicate, invalid: dropped.n_invalid }
    }
}

impl Mutants {
    /// For people: the change as lines of the source, then who made it and what it is called.
    ///
    /// ```text
    ///   sort.c:120:7  - if (i < sz)
    ///                 + if (i <= sz)
    ///                 relational-op-replace (ORRN)  1f0c9d7e5a3b2846
    /// ```
    pub fn shown(&self, mutant: MutantId) -> String {
        let entry = &self.table.mutants[mutant.index()];
        let site = self.site(mutant);
        let lines = self.sources.lines_around(site);
        let diff = SourceDiff::new(&self.map, site, &entry.replacement, &lines);
        let indent = diff.place.chars().count() + 2;
        let mut text: String = diff.to_string().lines().map(|line| format!("  {line}\n")).collect();
        let Mutant { operator, code, stable_id, .. } = entry;
        text.push_str(&format!("  {:indent$}{operator} ({code})  {stable_id}", ""));
        text
    }

    /// For programs.
    pub fn describe(&self, mutant: MutantId) -> Described<'_> {
        let entry = &self.table.mutants[mutant.index()];
        let site = self.site(mutant);
        let (start, end) = (site.extent.start, site.extent.end);
        Described {
            id: entry.stable_id.to_string(),
            operator: &entry.operator,
            code: &entry.code,
            file: self.map.files.get(start.file as usize).map_or("?", |file| &file.path),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            function: &self.map.functions[site.function.index()].name,
            original: &site.text,
            replacement: &entry.replacement,
            macro_name: site.macro_name.as_deref(),
            is_plain_text: entry.is_plain_text,
        }
    }
}
