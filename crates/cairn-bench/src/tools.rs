//! The cache folder, and printing rows.

use anyhow::{Context, Result};
use cairn_targets::Cache;
use std::{env, fs, path::Path};

/// The targets' cache, with the tools of the distribution.
pub fn open() -> Result<Cache> {
    let folder = Cache::default_folder(|name| env::var_os(name))
        .context("neither `CAIRN_TARGETS_DIR` nor `HOME` is set")?;
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    Ok(Cache::open(&folder, &cairn_testkit::dist().bin(), &repository, |text| eprintln!("{text}"))?)
}

/// Prints a row for each name; one that fails does not keep the others from being measured.
pub fn print_rows(names: &[String], mut row: impl FnMut(&str) -> Result<String>) -> Result<()> {
    let mut failed = Vec::new();
    for name in names {
        match row(name) {
            Ok(row) => println!("{row}"),
            Err(error) => failed.push(format!("{name}: {error:#}")),
        }
    }
    anyhow::ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

/// Makes a folder empty.
pub fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}
