//! Debian source packages and how their own authors say they are built.

use crate::{
    Cache, Flavour,
    error::{TargetsError, Tried},
    needs::need,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// A Debian source package.
#[derive(Debug)]
pub struct Package {
    /// Its name.
    pub name: &'static str,
    /// Debian packages it needs to build.
    pub needs: &'static [&'static str],
    /// How all of it is built: `$SRC` is its source, `$CC`, `$CXX` and `$FLAGS` are given.
    pub build: &'static str,
    /// A program it makes, relative to the build folder.
    pub program: &'static str,
}

/// Autotools, as INSTALL says.
pub(crate) const AUTOTOOLS: &str =
    "\"$SRC/configure\" --disable-nls CC=\"$CC\" CFLAGS=\"$FLAGS\" && make -j$(nproc)";

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
    Package {
        name: "libyaml",
        needs: &[],
        build: "cmake -G Ninja \"$SRC\" -DCMAKE_C_COMPILER=\"$CC\" -DCMAKE_C_FLAGS=\"$FLAGS\" \
                -DBUILD_SHARED_LIBS=OFF && ninja",
        program: "tests/run-parser",
    },
    Package {
        name: "lodepng",
        needs: &[],
        build: "$CXX $FLAGS -o unittest \"$SRC\"/lodepng.cpp \"$SRC\"/lodepng_util.cpp \
                \"$SRC\"/lodepng_unittest.cpp",
        program: "unittest",
    },
];

/// Finds a package by name.
pub fn package(name: &str) -> Result<&'static Package, TargetsError> {
    PACKAGES.iter().find(|package| package.name == name).ok_or_else(|| TargetsError::Unknown {
        name: name.into(),
        kind: "package",
        known: PACKAGES.iter().map(|package| package.name).collect::<Vec<_>>().join(", "),
    })
}

impl Package {
    /// The unpacked source, fetched once.
    pub fn source(&self, cache: &Cache) -> Result<PathBuf, TargetsError> {
        need(cache, self.needs)?;
        let folder = cache.step(&self.source_name(), "", |folder| {
            (cache.say)(&format!("fetching the source of {}", self.name));
            let script = cache.repository.join("scripts/deb-sources");
            let output = Command::new(&script)
                .arg("fetch")
                .arg(self.name)
                .arg(folder)
                .output()
                .tried("start", &script)?;
            if !output.status.success() {
                let log = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(TargetsError::Fetch { package: self.name.into(), log });
            }
            // It worked, but perhaps not as wished.
            let printed = String::from_utf8_lossy(&output.stderr);
            for warning in printed.lines().filter(|line| line.starts_with("warning: ")) {
                (cache.say)(warning);
            }
            settle_times(cache, &unpacked(folder)?)
        })?;
        unpacked(&folder)
    }

    /// Makes the next [`Package::source`] fetch it again.
    pub fn forget_source(&self, cache: &Cache) -> Result<(), TargetsError> {
        cache.forget(&self.source_name())
    }

    fn source_name(&self) -> String {
        format!("sources/{}", self.name)
    }

    /// Builds it in a fresh folder beside its source; returns the folder and how long it took.
    ///
    /// For measurements of builds: nothing is reused. `flags` are those of objects.
    pub fn build_fresh(
        &self,
        cache: &Cache,
        name: &str,
        flavour: Flavour,
        flags: &str,
    ) -> Result<(PathBuf, Duration), TargetsError> {
        let source = self.source(cache)?;
        let folder = cache.fresh(&format!("{}-{name}", self.name))?;
        let source = source.to_string_lossy().into_owned();
        let [cc, cxx, ..] = flavour.variables();
        let variables = [("SRC", source.as_str()), ("FLAGS", flags), cc, cxx];
        let elapsed = cache.shell(&folder, self.build, &variables)?;
        Ok((folder, elapsed))
    }
}

fn unpacked(folder: &Path) -> Result<PathBuf, TargetsError> {
    let entries = fs::read_dir(folder).tried("read", folder)?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.is_dir())
        .ok_or_else(|| TargetsError::Answer { tool: "scripts/deb-sources", path: folder.into() })
}

/// Debian's patches are newer than what the authors generated; make would want to generate it again.
fn settle_times(cache: &Cache, source: &Path) -> Result<(), TargetsError> {
    let script = r"find . -name aclocal.m4 -exec touch {} +; sleep 1
        find . \( -name configure -o -name Makefile.in -o -name 'config*in' -o -name '*.1' -o -name '*.info' \) -exec touch {} +";
    cache.shell(source, script, &[]).map(|_| ())
}
