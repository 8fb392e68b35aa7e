//! A folder to build and run programs in.

use crate::{Ran, dist};
use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A temporary folder that disappears with the test, unless the test panics.
#[derive(Debug)]
pub struct Workspace {
    folder: Option<tempfile::TempDir>,
}

/// The folder of a fixture.
pub fn fixture(name: &str) -> PathBuf {
    let path = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells it"))
        .join("../../fixtures")
        .join(name);
    path.canonicalize().unwrap_or_else(|error| panic!("there is no fixture `{name}`: {error}"))
}

impl Workspace {
    /// An empty folder.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("cairn-test-").tempdir().expect("temporary folder");
        Self { folder: Some(folder) }
    }

    /// A copy of a fixture.
    pub fn of_fixture(name: &str) -> Self {
        let workspace = Self::new();
        copy_folder(&fixture(name), workspace.root());
        workspace
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.folder.as_ref().expect("present until dropped").path()
    }

    /// A path in the folder.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root().join(relative)
    }

    /// Writes a file, with its parents, and returns its path.
    pub fn write(&self, relative: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)
                .unwrap_or_else(|error| panic!("create `{}`: {error}", parent.display()));
        }
        fs::write(&path, content).unwrap_or_else(|error| panic!("write `{}`: {error}", path.display()));
        path
    }

    /// The text of a file.
    pub fn read(&self, relative: impl AsRef<Path>) -> String {
        let path = self.path(relative);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("read `{}`: {error}", path.display()))
    }

    /// A command that runs in the folder, finds Cairn's programs first, speaks the C locale, and inherits nothing that
    /// is meant for AFL's programs or targets: a view that finds `__AFL_SHM_ID` takes its host for a fuzzer.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut path = dist().bin().into_os_string();
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        let mut command = Command::new(program);
        command.current_dir(self.root()).env("PATH", path).env("LC_ALL", "C");
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_afl(name)) {
            command.env_remove(name);
        }
        command
    }

    /// Runs a program with arguments and an empty standard input.
    pub fn run<A: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Ran {
        Ran::of(self.command(program).args(arguments), b"")
    }

    /// Runs a line of shell, as a user would type it.
    pub fn sh(&self, line: &str) -> Ran {
        self.run("/bin/sh", ["-ec", line])
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // What a failed test leaves behind is worth a look.
        if std::thread::panicking()
            && let Some(folder) = self.folder.take()
        {
            eprintln!("the folder of the failed test is kept: {}", folder.keep().display());
        }
    }
}

/// Whether a variable is one of AFL's.
fn is_afl(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b"AFL_") || name.starts_with(b"__AFL_")
}

fn copy_folder(from: &Path, to: &Path) {
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("read `{}`: {error}", from.display()));
    for entry in entries {
        let entry = entry.expect("entry of a readable folder");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("type of an entry").is_dir() {
            fs::create_dir_all(&target)
                .unwrap_or_else(|error| panic!("create `{}`: {error}", target.display()));
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target)
                .unwrap_or_else(|error| panic!("copy `{}`: {error}", entry.path().display()));
        }
    }
}
