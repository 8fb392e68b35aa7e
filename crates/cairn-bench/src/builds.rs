//! Stock builds with `cairn-cc`, then all views.

use crate::tools::print_rows;
use anyhow::Result;
use cairn_targets::{Cache, Flavour, package};
use std::process::Command;

/// What is built.
pub const ALL: &[&str] = &["grep", "sed", "findutils", "coreutils", "busybox", "cjson", "fribidi"];

/// Builds each package with clang and with `cairn-cc`, and its views.
pub fn run(cache: &Cache, names: &[String]) -> Result<()> {
    println!("| package | clang-19 | cairn-cc | ratio | views | recorded programs | map |");
    println!("|---|---|---|---|---|---|---|");
    print_rows(names, |name| row(cache, name))
}

fn row(cache: &Cache, name: &str) -> Result<String> {
    let package = package(name)?;
    let (_, with_clang) = package.build_fresh(cache, "clang", Flavour::Clang, "-O2")?;
    let (folder, with_cairn) = package.build_fresh(cache, "cairn", Flavour::Cairn, "-O2")?;
    let views = cache.shell(&folder, &format!("cairn build {} > build.txt", package.program), &[])?;
    let text = std::fs::read_to_string(folder.join("build.txt"))?;
    let map = text.lines().find(|line| line.trim_start().starts_with("map")).unwrap_or_default();
    Ok(format!(
        "| {name} | {:.1} s | {:.1} s | {:.2} | {:.1} s | {} | {} |",
        with_clang.as_secs_f64(),
        with_cairn.as_secs_f64(),
        with_cairn.as_secs_f64() / with_clang.as_secs_f64(),
        views.as_secs_f64(),
        n_recorded(&folder)?,
        map.trim().trim_start_matches("map").trim(),
    ))
}

fn n_recorded(folder: &std::path::Path) -> Result<String> {
    let output = Command::new("bash")
        .args(["-c", "find . -path '*/.cairn/*/program.bc' | wc -l"])
        .current_dir(folder)
        .output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}
