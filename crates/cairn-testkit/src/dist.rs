//! The distribution folder.

use std::path::{Path, PathBuf};

/// What `cargo xtask dist` assembled.
#[derive(Clone, Debug)]
pub struct Dist {
    root: PathBuf,
}

/// Finds the distribution: where `CAIRN_DIST` says, else beside the profile folder this test was built into.
pub fn dist() -> Dist {
    let root = match std::env::var_os("CAIRN_DIST") {
        Some(root) => PathBuf::from(root),
        None => {
            let test = std::env::current_exe().expect("a test knows its own path");
            let found =
                test.ancestors().map(|folder| folder.join("dist")).find(|dist| dist.join("lib").is_dir());
            found.unwrap_or_else(|| {
                panic!("no distribution near `{}`\n\nhint: run `cargo xtask dist`", test.display())
            })
        }
    };
    Dist { root }
}

impl Dist {
    /// The command `cairn`.
    pub fn cairn(&self) -> PathBuf {
        self.existing("bin/cairn")
    }

    /// The C compiler.
    pub fn cairn_cc(&self) -> PathBuf {
        self.existing("bin/cairn-cc")
    }

    /// The C++ compiler.
    pub fn cairn_cxx(&self) -> PathBuf {
        self.existing("bin/cairn-c++")
    }

    /// The instrumenter.
    pub fn cairn_instrument(&self) -> PathBuf {
        self.existing("bin/cairn-instrument")
    }

    /// The folder with all programs.
    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// The folder to give to `-I`.
    pub fn include(&self) -> PathBuf {
        self.existing("include/cairn")
    }

    /// The runtime for views.
    pub fn runtime_archive(&self) -> PathBuf {
        self.existing("lib/cairn/libcairn_rt.a")
    }

    /// The delivery for ordinary executables.
    pub fn delivery_archive(&self) -> PathBuf {
        self.existing("lib/cairn/libcairn_deliver.a")
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn existing(&self, part: &str) -> PathBuf {
        let path = self.root.join(part);
        assert!(path.exists(), "`{}` is missing\n\nhint: run `cargo xtask dist`", path.display());
        path
    }
}
