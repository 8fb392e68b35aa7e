//! What the catalogue says of this repository.

use cairn_targets::{Kind, targets};
use std::path::PathBuf;

#[test]
fn every_harness_is_a_file_of_the_repository() {
    let crate_folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells it"));
    let harnesses = crate_folder.join("../../bench/harnesses");
    let files: Vec<&str> = targets()
        .iter()
        .filter_map(|target| match target.kind {
            Kind::Harness(file) => Some(file),
            _ => None,
        })
        .collect();
    assert!(!files.is_empty());
    for file in files {
        assert!(harnesses.join(file).is_file(), "{file}");
    }
}
