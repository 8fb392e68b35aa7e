//! Coverage as an lcov tracefile. Counts are 1 or 0: whether, not how often.

use super::by_file;
use cairn_model::{Coverage, ProgramMap};
use std::{collections::BTreeMap, fmt::Write};

/// The tracefile; paths are absolute, as genhtml and editors want them.
pub fn render(map: &ProgramMap, coverage: &Coverage) -> String {
    let mut text = String::new();
    for (path, file) in by_file(map, coverage) {
        let absolute = map.files.iter().find(|file| file.path == path).map_or(path, |file| &file.absolute);
        let _ = writeln!(text, "TN:\nSF:{absolute}");
        for (function, _) in &file.functions {
            let _ = writeln!(text, "FN:{},{},{}", function.place.line, function.end_line, function.name);
        }
        for (function, entered) in &file.functions {
            let _ = writeln!(text, "FNDA:{},{}", u32::from(*entered), function.name);
        }
        let functions = file.function_share();
        let _ = writeln!(text, "FNF:{}\nFNH:{}", functions.total, functions.covered);
        // lcov merges branches with the same line, block and number, so they are numbered on within a decision.
        let mut n_branches: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (_, condition, taken) in &file.conditions {
            let was_evaluated = taken.iter().any(|taken| *taken);
            let (line, block) = (condition.extent.start.line, condition.decision.0);
            for taken in taken {
                let branch = n_branches.entry((line, block)).or_default();
                let count = if was_evaluated { u32::from(*taken).to_string() } else { "-".to_string() };
                let _ = writeln!(text, "BRDA:{line},{block},{branch},{count}");
                *branch += 1;
            }
        }
        let branches = file.branch_share();
        let _ = writeln!(text, "BRF:{}\nBRH:{}", branches.total, branches.covered);
        for (line, executed) in &file.lines {
            let _ = writeln!(text, "DA:{line},{}", u32::from(*executed));
        }
        let lines = file.line_share();
        let _ = writeln!(text, "LF:{}\nLH:{}\nend_of_record", lines.total, lines.covered);
    }
    text
}
