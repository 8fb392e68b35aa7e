//! Coverage of real programs against `llvm-cov gcov` and clang's branch coverage.

use crate::{
    cases::{self, Case},
    tools::print_rows,
};
use anyhow::{Context, Result};
use cairn_targets::{Cache, Flavour, package};
use cairn_testkit::reference::{
    Difference, ReferenceBuild, ReferenceCoverage, compare, compile_flush, reference_flags,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Whose coverage is compared.
pub const ALL: &[&str] = &["grep", "sort", "cjson"];

/// A program of a package, and its inputs.
struct Subject {
    package: &'static str,
    /// Relative to the build folder.
    program: &'static str,
    /// Builds the program after the package, where the package does not: `$CC`, `$FLAGS` and `$SRC` are given.
    extra: &'static str,
    cases: fn() -> Vec<Case>,
}

fn subject(name: &str) -> Result<Subject> {
    Ok(match name {
        "grep" => Subject { package: "grep", program: "src/grep", extra: "", cases: cases::grep },
        "sort" => Subject { package: "coreutils", program: "src/sort", extra: "", cases: cases::sort },
        "cjson" => Subject {
            package: "cjson",
            program: "reader",
            extra: "$CC $FLAGS -I\"$SRC\" ../../reader.c \"$SRC/cJSON.c\" \"$SRC/cJSON_Utils.c\" $EXTRA_OBJECT -o reader -lm",
            cases: cases::json,
        },
        unknown => anyhow::bail!("coverage of `{unknown}` is not compared; try {}", ALL.join(", ")),
    })
}

/// Compares each program; prints a table and, below it, every class of difference.
pub fn run(cache: &Cache, names: &[String]) -> Result<()> {
    println!(
        "| program | inputs | lines | differ | branch directions | differ | conditions listed by one side |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut details = String::new();
    let outcome = print_rows(names, |name| measure(cache, name, &subject(name)?, &mut details));
    println!("\n{details}");
    outcome
}

fn measure(cache: &Cache, name: &str, subject: &Subject, details: &mut String) -> Result<String> {
    let [gcov_flags, clang_flags] = reference_flags();
    let ours = build(cache, subject, "truth-cairn", Flavour::Cairn, "-O2", None)?;
    let flush = cache.folder.join("flush_gcov.o");
    compile_flush(&flush);
    let gcov = build(cache, subject, "truth-gcov", Flavour::Clang, gcov_flags, Some(&flush))?;
    let clang = build(cache, subject, "truth-clang", Flavour::Clang, clang_flags, None)?;
    let reference = ReferenceBuild {
        gcov_program: gcov.join(subject.program),
        gcov_folder: gcov.clone(),
        clang_program: clang.join(subject.program),
        profile_folder: clang.join("profiles"),
        mcdc_program: None,
    };
    fs::create_dir_all(&reference.profile_folder)?;
    // Counters of configure's and make's own runs do not belong to the inputs.
    cache.shell(&gcov, "find . -name '*.gcda' -delete", &[])?;
    let cases = (subject.cases)();
    let mut coverage = ReferenceCoverage::default();
    let notes = reference.gcov_notes();
    let folder = ours.join("inputs");
    fs::create_dir_all(&folder)?;
    for (index, case) in cases.iter().enumerate() {
        fs::write(folder.join(format!("{index:04}.json")), case.to_json())?;
        for program in [&reference.gcov_program, &reference.clang_program] {
            case.run(program, &reference.environment())?;
        }
        let executed: Vec<PathBuf> =
            notes.iter().filter(|notes| notes.with_extension("gcda").exists()).cloned().collect();
        reference.absorb_gcov(&mut coverage, &executed);
    }
    reference.finish(&mut coverage);
    // Without the sandbox, because the references have none: a folder for temporary files that cannot be written
    // changes what a program does. Exit code 3 says that an input made the program fail, which some may.
    cache.shell(
        &ours,
        &format!(
            "cairn cover {0} inputs --sandbox off --format json --output cover.json || [ $? = 3 ]; cairn map {0} --json > map.json",
            subject.program
        ),
        &[],
    )?;
    let cover: Value = serde_json::from_slice(&fs::read(ours.join("cover.json"))?)?;
    let map: Value = serde_json::from_slice(&fs::read(ours.join("map.json"))?)?;
    let differences = compare(&cover, &map, &coverage);
    let (mut lines, mut directions, mut n_one_sided) = (BTreeMap::new(), 0, 0);
    for difference in &differences {
        match difference {
            Difference::Branches(_, ours, theirs) => {
                let (n_directions, n_missing) = n_differing(ours, theirs);
                directions += n_directions;
                n_one_sided += n_missing;
            }
            Difference::GcovDenies(..) => {
                *lines.entry("denied by gcov, confirmed by clang").or_insert(0) += 1
            }
            Difference::OnlyOurs(..) => *lines.entry("only ours").or_insert(0) += 1,
            Difference::GcovInvents(..) => *lines.entry("only gcov, denied by clang").or_insert(0) += 1,
            Difference::OnlyTheirs(..) => *lines.entry("only theirs").or_insert(0) += 1,
            Difference::Decision(..) => {}
        }
    }
    fs::write(
        ours.join("differences.txt"),
        differences.iter().map(|difference| format!("{difference}\n")).collect::<String>(),
    )?;
    details.push_str(&format!(
        "{name}: {lines:?}; every difference is in {}\n",
        ours.join("differences.txt").display()
    ));
    let n_lines = cover["totals"]["lines"]["total"].as_u64().context("totals")?;
    let n_directions = cover["totals"]["branches"]["total"].as_u64().context("totals")?;
    let n_lines_differing: usize = lines.values().sum();
    let percent = |n: usize, of: u64| n as f64 * 100.0 / of as f64;
    Ok(format!(
        "| {name} | {} | {n_lines} | {n_lines_differing} ({:.2} %) | {n_directions} | {directions} ({:.2} %) | {n_one_sided} |",
        cases.len(),
        percent(n_lines_differing, n_lines),
        percent(directions, n_directions),
    ))
}

fn build(
    cache: &Cache,
    subject: &Subject,
    name: &str,
    flavour: Flavour,
    flags: &str,
    object: Option<&Path>,
) -> Result<PathBuf> {
    let package = package(subject.package)?;
    if subject.extra.is_empty() {
        let (folder, _) = package.build_fresh(cache, name, flavour, flags)?;
        if let Some(object) = object {
            // Linked anew, so that counters survive crashes.
            let script = format!(
                "rm {0}; make {0} LDFLAGS='{1}' || make LDFLAGS='{1}'",
                subject.program,
                object.display()
            );
            cache.shell(&folder, &script, &[])?;
        }
        return Ok(folder);
    }
    let source = package.source(cache)?;
    let folder = cache.fresh(&format!("{}-{name}", subject.package))?;
    // One file for all builds, because files are compared by path.
    fs::write(cache.folder.join("reader.c"), cases::JSON_READER)?;
    let object = object.map(|object| object.display().to_string()).unwrap_or_default();
    let source = source.display().to_string();
    let variables =
        [("SRC", source.as_str()), ("CC", flavour.cc()), ("FLAGS", flags), ("EXTRA_OBJECT", object.as_str())];
    cache.shell(&folder, subject.extra, &variables)?;
    Ok(folder)
}

/// How many directions only one side saw taken, and how many conditions only one side lists.
///
/// Both lists are sorted, so conditions that one side lacks are assumed to be the first ones nobody took.
fn n_differing(ours: &[[bool; 2]], theirs: &[[bool; 2]]) -> (usize, usize) {
    let n_missing = ours.len().abs_diff(theirs.len());
    let padded = |list: &[[bool; 2]], n: usize| {
        let mut padded = vec![[false; 2]; n.saturating_sub(list.len())];
        padded.extend_from_slice(list);
        padded
    };
    let n = ours.len().max(theirs.len());
    let n_directions = padded(ours, n)
        .iter()
        .zip(padded(theirs, n))
        .map(|(a, b)| usize::from(a[0] != b[0]) + usize::from(a[1] != b[1]))
        .sum();
    (n_directions, n_missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_condition_that_nobody_took_is_no_different_direction() {
        assert_eq!(n_differing(&[[true, false]], &[[false, false], [true, false]]), (0, 1));
        assert_eq!(n_differing(&[], &[[false, true]]), (1, 1));
        assert_eq!(n_differing(&[[true, true]], &[[true, false]]), (1, 0));
    }
}
