//! The packages' own test suites: the same list of passes and failures with every executable.

use crate::tools::print_rows;
use anyhow::{Context, Result};
use cairn_targets::{Cache, Flavour, Package, package};
use std::{collections::BTreeMap, fs, path::Path};

/// Whose suites are run.
pub const ALL: &[&str] = &["grep", "sed"];

/// Runs each suite with clang's executable, with ours, and with the plain view in its place.
pub fn run(cache: &Cache, names: &[String]) -> Result<()> {
    println!("| package | tests | differ with our executable | differ with the plain view |");
    println!("|---|---|---|---|");
    print_rows(names, |name| row(cache, name))
}

fn row(cache: &Cache, name: &str) -> Result<String> {
    let package = package(name)?;
    let (clang, _) = package.build_fresh(cache, "check-clang", Flavour::Clang, "-O2")?;
    let (ours, _) = package.build_fresh(cache, "check-cairn", Flavour::Cairn, "-O2")?;
    let expected = check(cache, &clang)?;
    let with_ours = check(cache, &ours)?;
    put_plain_view(cache, package, &ours)?;
    let with_view = check(cache, &ours)?;
    Ok(format!(
        "| {name} | {} | {} | {} |",
        expected.len(),
        differences(&expected, &with_ours),
        differences(&expected, &with_view)
    ))
}

/// Runs `make check` and reads the result of each test from its `.trs` file.
fn check(cache: &Cache, folder: &Path) -> Result<BTreeMap<String, String>> {
    cache.shell(folder, "find . -name '*.trs' -delete; make -k check || true", &[])?;
    let mut results = BTreeMap::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "trs") {
                let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
                let name = path.file_stem().context("a file has a name")?.to_string_lossy().into_owned();
                for (number, line) in
                    text.lines().filter(|line| line.starts_with(":test-result:")).enumerate()
                {
                    let result = line.split_whitespace().nth(1).unwrap_or_default().to_string();
                    results.insert(format!("{name} {number}"), result);
                }
            }
        }
    }
    Ok(results)
}

fn put_plain_view(cache: &Cache, package: &Package, folder: &Path) -> Result<()> {
    let script = format!(
        "view=$(cairn build {0} --json | sed -n 's/.*\"folder\": \"\\(.*\\)\".*/\\1/p')/plain; cp \"$view\" {0}",
        package.program
    );
    cache.shell(folder, &script, &[])?;
    Ok(())
}

fn differences(expected: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> String {
    let names: Vec<&str> = expected
        .keys()
        .chain(found.keys().filter(|name| !expected.contains_key(*name)))
        .filter(|name| expected.get(*name) != found.get(*name))
        .map(String::as_str)
        .collect();
    if names.is_empty() { "none".into() } else { format!("{}: {}", names.len(), names.join(", ")) }
}
