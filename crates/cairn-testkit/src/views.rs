//! What building views takes.

use crate::dist;
use cairn_cc::{
    Settings, Toolchain,
    settings::{Distribution, Places},
};
use cairn_model::versioned;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The settings under which views of `program` are built, with the tools of the distribution.
pub fn settings(program: &Path) -> Settings {
    let search_path: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let directory = program.parent().expect("a program lies in a folder").to_owned();
    let cache_dir = env::var_os("HOME").map(|home| Path::new(&home).join(".cache/cairn"));
    Settings {
        toolchain: Toolchain::find(&search_path, cache_dir.as_deref()).expect("LLVM's tools are installed"),
        distribution: Distribution::at(dist().root()),
        places: Places { directory, cairn_dir: None, cache_dir },
        temporary_dir: env::temp_dir(),
        bypass: false,
    }
}

/// Reads a file that was made with the views.
pub fn decode<T: versioned::Versioned>(path: &Path) -> T {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("read `{}`: {error}", path.display()));
    versioned::decode(&bytes).unwrap_or_else(|error| panic!("decode `{}`: {error}", path.display()))
}
