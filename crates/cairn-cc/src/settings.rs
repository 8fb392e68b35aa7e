//! Everything the outside world tells us, gathered by the binary.

use crate::toolchain::Toolchain;
use std::path::{Path, PathBuf};

/// What a compile, a link or a search for a record needs to know about its surroundings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// clang, lld and LLVM's object tools.
    pub toolchain: Toolchain,
    /// Our own files.
    pub distribution: Distribution,
    /// Where records are kept and looked for.
    pub places: Places,
    /// The folder for temporary files.
    pub temporary_dir: PathBuf,
    /// Compile and link natively only, as for configure's probes.
    pub bypass: bool,
}

impl Settings {
    /// Whether all folders a record or a command of ours would name are UTF-8, as both must be.
    pub(crate) fn is_text(&self) -> bool {
        let places = [&self.places.directory, &self.temporary_dir, &self.distribution.include_dir];
        places.into_iter().chain(&self.places.cairn_dir).all(|path| path.to_str().is_some())
    }
}

/// Where records are kept and looked for.
#[derive(Clone, Debug)]
pub struct Places {
    /// The working directory, absolute, as the user's shell spells it.
    pub directory: PathBuf,
    /// The `.cairn` folder to use instead of searching for one.
    pub cairn_dir: Option<PathBuf>,
    /// The user's cache folder; without one, moved executables are not found again.
    pub cache_dir: Option<PathBuf>,
}

/// Where our own files are.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// The compiler itself, started again for the facts of a unit.
    pub compiler: PathBuf,
    /// The instrumenter.
    pub instrument: PathBuf,
    /// The archive linked into views.
    pub runtime_archive: PathBuf,
    /// The archive linked into every executable and into the bare build.
    pub deliver_archive: PathBuf,
    /// The folder with our own versions of library functions, which symbolic views follow.
    pub models_dir: PathBuf,
    /// The folder that holds `cairn.h`.
    pub include_dir: PathBuf,
}

impl Distribution {
    /// The files beside an executable in `<root>/bin`.
    pub fn at(root: &Path) -> Self {
        let lib = root.join("lib/cairn");
        Self {
            compiler: root.join("bin/cairn-cc"),
            instrument: root.join("bin/cairn-instrument"),
            runtime_archive: lib.join("libcairn_rt.a"),
            deliver_archive: lib.join("libcairn_deliver.a"),
            models_dir: lib.join("models"),
            include_dir: root.join("include/cairn"),
        }
    }

    /// The files of [`Distribution::models_dir`]: the functions, and the names they stand for.
    pub(crate) fn models(&self) -> [PathBuf; 2] {
        ["models.bc", "aliases.txt"].map(|name| self.models_dir.join(name))
    }
}
