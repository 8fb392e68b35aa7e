//! The real programs and how their own authors say they are built.

use crate::tools::{Cache, need, shell};
use anyhow::{Context, Result};
use std::{fs, path::PathBuf, process::Command};

/// A Debian source package.
pub struct Package {
    /// Its name.
    pub name: &'static str,
    /// Debian packages it needs to build.
    pub needs: &'static [&'static str],
    /// How it is built, out of tree: `$SRC` is its source, `$CC`, `$CXX` and `$FLAGS` are given.
    pub build: &'static str,
    /// A program it makes, relative to the build folder.
    pub program: &'static str,
}

/// Autotools, as INSTALL says.
const AUTOTOOLS: &str = "\"$SRC/configure\" --disable-nls CC=\"$CC\" CFLAGS=\"$FLAGS\" && make -j$(nproc)";

/// All packages.
pub const PACKAGES: &[Package] = &[
    Package { name: "grep", needs: &["libpcre2-dev"], build: AUTOTOOLS, program: "src/grep" },
    Package { name: "sed", needs: &[], build: AUTOTOOLS, program: "sed/sed" },
    Package { name: "findutils", needs: &[], build: AUTOTOOLS, program: "find/find" },
    Package { name: "coreutils", needs: &[], build: AUTOTOOLS, program: "src/sort" },
    Package {
        name: "busybox",
        needs: &[],
        build: "make -C \"$SRC\" O=\"$PWD\" defconfig && \
                sed -i 's/CONFIG_TC=y/# CONFIG_TC is not set/' .config && \
                make -j$(nproc) CC=\"$CC\" EXTRA_CFLAGS=\"$FLAGS\"",
        program: "busybox_unstripped",
    },
    Package {
        name: "cjson",
        needs: &[],
        build: "cmake -G Ninja \"$SRC\" -DCMAKE_C_COMPILER=\"$CC\" -DCMAKE_C_FLAGS=\"$FLAGS\" \
                -DBUILD_SHARED_LIBS=OFF -DENABLE_CJSON_TEST=ON && ninja",
        program: "cJSON_test",
    },
    Package {
        name: "fribidi",
        needs: &[],
        build: "CC=\"$CC\" CXX=\"$CXX\" CFLAGS=\"$FLAGS\" \
                meson setup . \"$SRC\" -Ddefault_library=static -Ddocs=false && ninja",
        program: "bin/fribidi",
    },
];

/// Finds a package by name.
pub fn find(name: &str) -> Result<&'static Package> {
    PACKAGES
        .iter()
        .find(|package| package.name == name)
        .with_context(|| format!("`{name}` is not a package we know"))
}

/// Which compiler makes a build.
pub struct Compilers {
    /// For C.
    pub cc: &'static str,
    /// For C++.
    pub cxx: &'static str,
}

/// Ours.
pub const CAIRN: Compilers = Compilers { cc: "cairn-cc", cxx: "cairn-c++" };
/// The reference.
pub const CLANG: Compilers = Compilers { cc: "clang-19", cxx: "clang++-19" };

impl Package {
    /// The unpacked source, fetched once.
    pub fn source(&self, cache: &Cache) -> Result<PathBuf> {
        need(self.needs)?;
        let folder = cache.folder.join("sources").join(self.name);
        if !folder.join("fetched").exists() {
            let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/deb-sources");
            let status = Command::new(script).arg("fetch").arg(self.name).arg(&folder).status()?;
            anyhow::ensure!(status.success(), "the source of `{}` could not be fetched", self.name);
            fs::write(folder.join("fetched"), "")?;
        }
        let source = fs::read_dir(&folder)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.is_dir())
            .with_context(|| format!("no source was unpacked in `{}`", folder.display()))?;
        // Debian's patches are newer than what the authors generated; make would want to generate it again.
        let generated = r"find . -name aclocal.m4 -exec touch {} +; sleep 1
            find . \( -name configure -o -name Makefile.in -o -name 'config*in' -o -name '*.1' -o -name '*.info' \) -exec touch {} +";
        shell(&source, generated)?;
        Ok(source)
    }

    /// Builds it; returns the build folder and how long it took.
    pub fn build(
        &self,
        cache: &Cache,
        name: &str,
        compilers: &Compilers,
        flags: &str,
    ) -> Result<(PathBuf, std::time::Duration)> {
        let source = self.source(cache)?;
        let folder = cache.fresh(&format!("{}-{name}", self.name))?;
        let script = format!(
            "SRC='{}' CC='{}' CXX='{}' FLAGS='{flags}'\n{}",
            source.display(),
            compilers.cc,
            compilers.cxx,
            self.build
        );
        let elapsed = shell(&folder, &script)?;
        Ok((folder, elapsed))
    }
}
