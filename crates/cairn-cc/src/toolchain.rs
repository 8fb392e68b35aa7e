//! Finds clang-19, lld-19 and LLVM's object tools, and refuses others.

use crate::file_hash;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The only major version whose bitcode we read.
pub const LLVM_MAJOR: u32 = 19;

/// The tools of one LLVM installation.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The C driver.
    pub clang: PathBuf,
    /// The C++ driver.
    pub clangxx: PathBuf,
    /// The linker, under a name that makes it the ELF one.
    pub lld: PathBuf,
    /// Makes archives of bitcode.
    pub llvm_ar: PathBuf,
    /// Adds our section to objects.
    pub llvm_objcopy: PathBuf,
    /// Merges the units of one relocatable object.
    pub llvm_link: PathBuf,
}

/// Why there is no usable toolchain.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// A tool is not installed.
    #[error("`{tool}` was not found\n\nhint: install the package `{package}`")]
    Missing {
        /// The name looked for.
        tool: String,
        /// What Debian calls its package.
        package: &'static str,
    },
    /// A clang of another major version.
    #[error(
        "`{path}` is clang {found}, Cairn needs clang {LLVM_MAJOR}\n\nhint: install the package `clang-19`"
    )]
    WrongVersion {
        /// The clang found.
        path: String,
        /// Its major version.
        found: u32,
    },
    /// clang did not say which version it is.
    #[error("`{path} --version` failed: {reason}\n\nhint: reinstall the package `clang-19`")]
    Unusable {
        /// The clang found.
        path: String,
        /// What went wrong.
        reason: String,
    },
}

impl Toolchain {
    /// Looks in `search_path`, then where Debian keeps LLVM.
    ///
    /// A clang once asked for its version is remembered in `cache_dir` by path, size and time, because asking
    /// costs as much as a small compile.
    pub fn find(search_path: &[PathBuf], cache_dir: Option<&Path>) -> Result<Self, ToolchainError> {
        let tool = |name: &str, package| {
            locate(search_path, name)
                .ok_or_else(|| ToolchainError::Missing { tool: format!("{name}-{LLVM_MAJOR}"), package })
        };
        let clang = tool("clang", "clang-19")?;
        check_version(&clang, cache_dir)?;
        let clangxx = tool("clang++", "clang-19")?;
        if clangxx.parent() != clang.parent() {
            check_version(&clangxx, cache_dir)?;
        }
        Ok(Self {
            clang,
            clangxx,
            lld: tool("ld.lld", "lld-19")?,
            llvm_ar: tool("llvm-ar", "llvm-19")?,
            llvm_objcopy: tool("llvm-objcopy", "llvm-19")?,
            llvm_link: tool("llvm-link", "llvm-19")?,
        })
    }

    /// The driver for C or C++.
    pub fn driver(&self, is_cxx: bool) -> &Path {
        if is_cxx { &self.clangxx } else { &self.clang }
    }
}

/// The versioned name first, because the plain one may be any version.
fn locate(search_path: &[PathBuf], name: &str) -> Option<PathBuf> {
    let versioned = format!("{name}-{LLVM_MAJOR}");
    let on_path = |name: &str| search_path.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    on_path(&versioned)
        .or_else(|| {
            Some(PathBuf::from(format!("/usr/lib/llvm-{LLVM_MAJOR}/bin/{name}")))
                .filter(|path| path.is_file())
        })
        .or_else(|| on_path(name))
}

fn check_version(clang: &Path, cache_dir: Option<&Path>) -> Result<(), ToolchainError> {
    let stamp =
        cache_dir.zip(file_hash::stamp(clang)).map(|(folder, name)| folder.join("toolchain").join(name));
    if stamp.as_ref().is_some_and(|stamp| stamp.is_file()) {
        return Ok(());
    }
    let found = major_version(clang)?;
    if found != LLVM_MAJOR {
        return Err(ToolchainError::WrongVersion { path: clang.display().to_string(), found });
    }
    if let Some(stamp) = stamp {
        // Without the stamp the next call only takes longer.
        let _ = fs::create_dir_all(stamp.parent().expect("a stamp lies in a folder"));
        let _ = fs::write(stamp, "");
    }
    Ok(())
}

fn major_version(clang: &Path) -> Result<u32, ToolchainError> {
    let unusable = |reason: String| ToolchainError::Unusable { path: clang.display().to_string(), reason };
    let output =
        Command::new(clang).arg("--version").output().map_err(|error| unusable(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_once("version ")
        .and_then(|(_, rest)| rest.split(['.', ' ', '\n']).next())
        .and_then(|major| major.parse().ok())
        .ok_or_else(|| unusable("it names no version".to_owned()))
}
