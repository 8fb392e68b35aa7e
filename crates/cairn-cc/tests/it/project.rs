//! A folder to compile in.

use cairn_cc::{
    BuildRecord, Settings, Toolchain,
    settings::{Distribution, Places},
    views::{self, FindError},
};
use std::{
    collections::BTreeSet,
    env, fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

/// Sources, a compiler and a cache of its own.
pub struct Project {
    folder: tempfile::TempDir,
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Project {
    /// A folder with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        // Not in /tmp: the compiler is linked into it, which works only within one file system.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let project = Self { folder };
        let ours = project.distribution_root();
        for part in ["bin", "lib", "include"] {
            fs::create_dir_all(ours.join(part)).unwrap();
        }
        // Where the target folder lies in a checkout, the checkout would be the root of every project.
        fs::create_dir_all(project.path().join(".git")).unwrap();
        fs::hard_link(env!("CARGO_BIN_EXE_cairn-cc"), ours.join("bin/cairn-cc")).unwrap();
        symlink("cairn-cc", ours.join("bin/cairn-c++")).unwrap();
        let dist = cairn_testkit::dist();
        symlink(dist.root().join("lib/cairn"), ours.join("lib/cairn")).unwrap();
        symlink(dist.root().join("include/cairn"), ours.join("include/cairn")).unwrap();
        fs::create_dir_all(project.path()).unwrap();
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    /// The folder commands run in.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// A folder outside the project.
    pub fn outside(&self) -> PathBuf {
        let outside = self.folder.path().join("outside");
        fs::create_dir_all(&outside).unwrap();
        outside
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        if text.starts_with("#!") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }

    pub fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    /// A shell command in `folder` with our compiler first in the path.
    pub fn command(&self, folder: &str, script: &str) -> Command {
        let mut path = self.distribution_root().join("bin").into_os_string();
        path.push(":");
        path.push(env::var_os("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(["-ec", script]).current_dir(self.path().join(folder)).env("PATH", path);
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache"));
        for name in ["CAIRN_DIR", "CAIRN_BYPASS", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "MAKEFLAGS"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs a shell command, whatever comes of it.
    pub fn try_sh(&self, script: &str) -> Ran {
        let output = self.command("", script).output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs a shell command that must succeed and returns what it printed.
    #[track_caller]
    pub fn sh(&self, script: &str) -> String {
        let ran = self.try_sh(script);
        assert_eq!(ran.code, 0, "`{script}` failed\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// The record of an executable.
    pub fn find(&self, executable: &str) -> Result<BuildRecord, FindError> {
        views::find(&self.places(), &self.path().join(executable))
    }

    /// The record of an executable that must have one.
    #[track_caller]
    pub fn record(&self, executable: &str) -> BuildRecord {
        self.find(executable).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn places(&self) -> Places {
        Places { directory: self.path(), cairn_dir: None, cache_dir: Some(self.cache_dir()) }
    }

    pub fn cache_dir(&self) -> PathBuf {
        self.folder.path().join("cache/cairn")
    }

    pub fn settings(&self) -> Settings {
        let search_path: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap()).collect();
        let distribution = Distribution {
            instrument: cairn_testkit::dist().cairn_instrument(),
            ..Distribution::at(&self.distribution_root())
        };
        Settings {
            toolchain: Toolchain::find(&search_path, None).unwrap(),
            distribution,
            places: self.places(),
            temporary_dir: env::temp_dir(),
            bypass: false,
        }
    }

    pub fn distribution_root(&self) -> PathBuf {
        self.folder.path().join("dist")
    }
}

/// The functions the merged bitcode defines.
pub fn functions(record: &BuildRecord) -> BTreeSet<String> {
    let output = Command::new("llvm-nm-19")
        .args(["--defined-only", "-j"])
        .arg(record.bitcode_path())
        .output()
        .unwrap();
    assert!(output.status.success(), "llvm-nm-19 cannot read the bitcode");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The sources of a record, in link order, with a mark on those without bitcode or facts.
pub fn units(record: &BuildRecord) -> Vec<String> {
    let describe = |unit: &cairn_cc::record::UnitInfo| {
        let source = unit.source.file_name().unwrap().to_string_lossy().into_owned();
        let bitcode = if unit.bitcode_error.is_some() { " without bitcode" } else { "" };
        let has_facts = record.facts_dir().join(&unit.key).is_file();
        assert_eq!(has_facts, unit.facts_error.is_none(), "{unit:?}");
        let facts = if has_facts { "" } else { " without facts" };
        format!("{source}{bitcode}{facts}")
    };
    record.units.iter().map(describe).collect()
}

/// Asserts that the bitcode defines at least these.
#[track_caller]
pub fn assert_defines(record: &BuildRecord, names: &[&str]) {
    let found = functions(record);
    for name in names {
        assert!(found.contains(*name), "`{name}` is not among {found:?}");
    }
}

/// Whether an object carries a payload.
pub fn has_payload(path: &Path) -> bool {
    cairn_cc::elf::payload(&fs::read(path).unwrap()).is_some()
}

/// Fails with the package to install when a tool is missing.
#[track_caller]
pub fn need(tool: &str, package: &str) {
    let found = env::split_paths(&env::var_os("PATH").unwrap()).any(|folder| folder.join(tool).is_file());
    assert!(found, "`{tool}` is missing\n\nhint: install the package `{package}`");
}

pub const MAIN: &str = "#include <stdio.h>\nint twice(int);\nint main(int argc, char **argv) { (void)argv; \
                        printf(\"%d\\n\", twice(argc)); return 0; }\n";
pub const TWICE: &str = "static int helper(int x) { return x + x; }\nint twice(int x) { return helper(x); }\n\
                         int unused(int x) { return x ? 1 : 2; }\n";
