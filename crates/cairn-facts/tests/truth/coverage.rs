//! Regions of clang's source-based coverage.

use super::{Tally, options, run, sources, tally};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

/// What clang's coverage mapping has for a source.
pub struct Coverage {
    /// Branch regions that are not folded; instantiations of one template count once.
    pub branches: Tally,
    /// MC/DC regions with their number of conditions.
    pub decisions: Tally,
    /// Where clang warns that it does not support a decision.
    pub unsupported: BTreeSet<String>,
}

/// Compiles `source` with coverage, runs it, and reads the regions.
pub fn measure(source: &str) -> Coverage {
    let folder = tempfile::tempdir().unwrap();
    let [program, raw, profile] = ["program", "raw", "profile"].map(|name| folder.path().join(name));
    let (_, warnings) = run(Command::new("clang++-19")
        .args(if source.ends_with(".c") { ["-x", "c"] } else { ["-x", "c++"] })
        .args(options(source))
        .args(["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"])
        .args(["-Xclang", "-fmcdc-max-conditions=1000", "-fno-color-diagnostics", "-o"])
        .arg(&program)
        .arg(source)
        .current_dir(sources()));
    run(Command::new(&program).env("LLVM_PROFILE_FILE", &raw));
    run(Command::new("llvm-profdata-19").arg("merge").arg(&raw).arg("-o").arg(&profile));
    let (json, _) =
        run(Command::new("llvm-cov-19").arg("export").arg(&program).arg("-instr-profile").arg(&profile));

    let text = fs::read_to_string(sources().join(source)).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let functions: Vec<&Value> = json["data"][0]["functions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|function| function["filenames"][0].as_str().unwrap().ends_with(source))
        .collect();
    Coverage {
        branches: merge(functions.iter().map(|function| branches(function))),
        decisions: merge(functions.iter().map(|function| decisions(function, &text))),
        unsupported: unsupported(source, &warnings),
    }
}

/// Instantiations of one template repeat its regions; different functions share none.
fn merge(tallies: impl Iterator<Item = Tally>) -> Tally {
    let mut merged = Tally::new();
    for tally in tallies {
        for (key, n) in tally {
            let known = merged.entry(key).or_default();
            *known = n.max(*known);
        }
    }
    merged
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().filter_map(Value::as_u64).collect()
}

/// Regions inside a macro are brought to where the macro is used, in file 0.
fn branches(function: &Value) -> Tally {
    const EXPANSION: u64 = 1;
    let mut uses: BTreeMap<u64, (u64, u64, u64)> = BTreeMap::new();
    for region in function["regions"].as_array().unwrap() {
        if let [line, column, _, _, _, file, expanded, EXPANSION] = numbers(region)[..] {
            uses.insert(expanded, (file, line, column));
        }
    }
    tally(function["branches"].as_array().unwrap().iter().map(|branch| {
        let [line, column, end_line, end_column, _, _, file, ..] = numbers(branch)[..] else {
            panic!("unexpected branch region {branch}")
        };
        let is_marked_use = (line, column) == (end_line, end_column);
        let (mut file, mut line, mut column, is_macro) = (file, line, column, file != 0 || is_marked_use);
        while file != 0 {
            (file, line, column) = uses[&file];
        }
        match is_macro {
            true => format!("{line}:{column}"),
            false => format!("{line}:{column}-{end_line}:{end_column}"),
        }
    }))
}

/// Regions in the definition of a macro are known by that alone.
fn decisions(function: &Value, text: &str) -> Tally {
    let records = function["mcdc_records"].as_array().cloned().unwrap_or_default();
    tally(records.iter().map(|record| {
        let [line, column, end_line, end_column, ..] = numbers(record)[..] else {
            panic!("unexpected MC/DC region {record}")
        };
        let n_conditions = record.as_array().unwrap().last().unwrap().as_array().unwrap().len();
        match text.lines().nth(line as usize - 1).unwrap().starts_with("#define") {
            true => format!("macro has {n_conditions}"),
            false => format!("{line}:{column}-{end_line}:{end_column} has {n_conditions}"),
        }
    }))
}

/// `file.c:9:7: warning: unsupported MC/DC boolean expression; …`.
fn unsupported(source: &str, warnings: &str) -> BTreeSet<String> {
    let unsupported = warnings.lines().filter(|line| line.contains("unsupported MC/DC"));
    unsupported
        .filter_map(|line| line.strip_prefix(source)?.strip_prefix(':')?.split_once(": "))
        .map(|(place, _)| place.to_owned())
        .collect()
}
