//! The distribution folder: what a user installs, and what tests run.
//!
//! ```text
//!   bin/              cairn, cairn-cc, cairn-c++ (a link to cairn-cc), cairn-instrument, cairn-recorder
//!   lib/cairn/        libcairn_rt.a for views, libcairn_deliver.a for ordinary executables
//!   lib/cairn/models/ models.bc and aliases.txt: library functions as symbolic views follow them
//!   include/cairn/    cairn.h, crest.h, klee/klee.h
//! ```
//! The tools find each other relative to their own executable, so the folder can be moved as a whole.

use crate::{
    models, process,
    workspace::{Workspace, cargo},
};
use anyhow::{Context, bail};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// How the programs are optimised. The archives always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Builds quickly; what tests use.
    Dev,
    /// Runs quickly; what users install.
    Release,
}

impl Profile {
    /// Reads `--release`.
    pub fn from_arguments(arguments: &[String]) -> anyhow::Result<Self> {
        match arguments {
            [] => Ok(Self::Dev),
            [flag] if flag == "--release" => Ok(Self::Release),
            _ => bail!("`dist` takes `--release` or nothing, not `{}`", arguments.join(" ")),
        }
    }
}

/// Each program and the package it comes from.
const PROGRAMS: [(&str, &str); 3] =
    [("cairn", "cairn"), ("cairn-cc", "cairn-cc"), ("cairn-instrument", "cairn-instrument")];

/// Builds everything and returns the folder.
pub fn assemble(workspace: &Workspace, profile: Profile) -> anyhow::Result<PathBuf> {
    let folder = workspace.target.join("dist");
    copy_folder(&workspace.root.join("include"), &folder.join("include"))?;
    make_archive(workspace, "view", &folder.join("lib/cairn/libcairn_rt.a"))?;
    make_archive(workspace, "archive", &folder.join("lib/cairn/libcairn_deliver.a"))?;
    models::make(workspace, &folder.join("lib/cairn/models"))?;
    copy_programs(workspace, profile, &folder.join("bin"))?;
    make_recorder(workspace, &folder.join("bin/cairn-recorder"))?;
    Ok(folder)
}

/// Calls that compiled Rust makes of the C library, and what they become: see `memory.rs` of the runtime.
const RENAMED_CALLS: [(&str, &str); 5] = [
    ("memcpy", "cairn_memcpy"),
    ("memmove", "cairn_memmove"),
    ("memset", "cairn_memset"),
    ("bcmp", "cairn_bcmp"),
    ("strlen", "cairn_strlen"),
];

/// What the runtime may ask of the program it is linked into.
const ALLOWED_SYMBOLS: [&str; 8] = [
    "__cairn_view",
    "__curbrk",
    "__libc_single_threaded",
    "environ",
    "cairn_afl_init",
    "cairn_afl_loop",
    "cairn_afl_buffer",
    "cairn_compare",
];

/// Members that are linked only where a program needs them, and their sources.
const OPTIONAL_MEMBERS: [(&str, &str); 18] = [
    ("cairn_main.o", "main.c"),
    ("cairn_mutate.o", "mutate.c"),
    ("cairn_afl_init.o", "afl/init.c"),
    ("cairn_afl_loop.o", "afl/loop.c"),
    ("cairn_afl_buffer.o", "afl/buffer.c"),
    ("cairn_open.o", "open.c"),
    ("cairn_symbolic_sources.o", "symbolic/sources.c"),
    ("cairn_symbolic_streams.o", "symbolic/streams.c"),
    ("cairn_symbolic_wide_streams.o", "symbolic/wide_streams.c"),
    ("cairn_symbolic_memory.o", "symbolic/memory.c"),
    ("cairn_symbolic_files.o", "symbolic/files.c"),
    ("cairn_symbolic_outside.o", "symbolic/outside.c"),
    ("cairn_symbolic_processes.o", "symbolic/processes.c"),
    ("cairn_symbolic_jumps.o", "symbolic/jumps.c"),
    ("cairn_symbolic_signals.o", "symbolic/signals.c"),
    ("cairn_symbolic_math.o", "symbolic/math.c"),
    ("cairn_symbolic_options.o", "symbolic/options.c"),
    ("cairn_symbolic_patterns.o", "symbolic/patterns.c"),
];

/// Builds the runtime with `feature` and puts its one object and the optional members into `archive`.
///
/// Rust's own static library also holds all of `compiler_builtins`, whose names a C program may use itself.
fn make_archive(workspace: &Workspace, feature: &str, archive: &Path) -> anyhow::Result<()> {
    process::run(cargo().current_dir(&workspace.root).args([
        "rustc",
        "--quiet",
        "--package=cairn-runtime",
        "--profile=runtime",
        "--features",
        feature,
        "--crate-type=staticlib",
    ]))?;
    let built = workspace.target.join("runtime/libcairn_runtime.a");
    let members = process::output(Command::new("llvm-ar-19").arg("t").arg(&built))?;
    let own: Vec<_> = members.lines().filter(|member| member.starts_with("cairn_runtime-")).collect();
    let [member] = own[..] else {
        bail!("`{}` holds {} objects of the runtime, not one", built.display(), own.len())
    };
    let folder = archive.parent().context("an archive lies in a folder")?;
    fs::create_dir_all(folder)?;
    process::run(Command::new("llvm-ar-19").arg("x").arg("--output").arg(folder).arg(&built).arg(member))?;
    let object = folder.join("cairn_runtime.o");
    fs::rename(folder.join(member), &object)?;
    let mut objcopy = Command::new("llvm-objcopy-19");
    for (from, to) in RENAMED_CALLS {
        objcopy.arg(format!("--redefine-sym={from}={to}"));
    }
    process::run(objcopy.arg(&object))?;
    // Joins the renamed calls with the functions of that name, which then need not be seen from outside.
    let joined = folder.join("cairn_runtime.joined.o");
    process::run(Command::new("ld.lld-19").arg("-r").arg("-o").arg(&joined).arg(&object))?;
    fs::rename(&joined, &object)?;
    process::run(
        Command::new("llvm-objcopy-19")
            .args(["--localize-hidden", "--strip-unneeded"])
            // Programs written for KLEE sometimes bring their own.
            .args(["--wildcard", "--weaken-symbol=klee_*"])
            .arg(&object),
    )?;
    check_symbols(&object)?;
    let mut members = vec![object];
    for (name, source) in OPTIONAL_MEMBERS {
        let member = folder.join(name);
        let source = workspace.root.join("crates/cairn-runtime/src").join(source);
        process::run(Command::new("clang-19").args(["-O2", "-fPIC", "-c", "-o"]).arg(&member).arg(source))?;
        members.push(member);
    }
    // A fresh file, renamed into place: a linker may be reading the old one.
    let fresh = archive.with_extension("new");
    let _ = fs::remove_file(&fresh);
    process::run(Command::new("llvm-ar-19").arg("rcsD").arg(&fresh).args(&members))?;
    fs::rename(&fresh, archive)?;
    for member in members {
        fs::remove_file(member)?;
    }
    Ok(())
}

fn check_symbols(object: &Path) -> anyhow::Result<()> {
    let undefined =
        process::output(Command::new("llvm-nm-19").arg("--undefined-only").arg("-j").arg(object))?;
    for symbol in undefined.lines() {
        if !ALLOWED_SYMBOLS.contains(&symbol) {
            bail!("the runtime calls `{symbol}`, which belongs to the program it is linked into");
        }
    }
    let defined = process::output(
        Command::new("llvm-nm-19").args(["--defined-only", "--extern-only", "-j"]).arg(object),
    )?;
    for symbol in defined.lines() {
        if !symbol.starts_with("cairn_") && !symbol.starts_with("klee_") {
            bail!("the runtime defines `{symbol}`, a name the program may use itself");
        }
    }
    Ok(())
}

fn copy_programs(workspace: &Workspace, profile: Profile, folder: &Path) -> anyhow::Result<()> {
    for (program, package) in PROGRAMS {
        let exists = workspace
            .package(package)
            .is_some_and(|package| package.binaries.iter().any(|name| name == program));
        if !exists {
            bail!("package `{package}` has no program `{program}`");
        }
    }
    let mut build = cargo();
    build.current_dir(&workspace.root).args(["build", "--quiet", "--bins"]);
    for (_, package) in PROGRAMS {
        build.args(["--package", package]);
    }
    if profile == Profile::Release {
        build.arg("--release");
    }
    process::run(&mut build)?;
    let built = workspace.target.join(if profile == Profile::Release { "release" } else { "debug" });
    fs::create_dir_all(folder)?;
    for (program, _) in PROGRAMS {
        replace(&built.join(program), &folder.join(program))?;
    }
    let alias = folder.join("cairn-c++");
    if !alias.is_symlink() {
        std::os::unix::fs::symlink("cairn-cc", &alias).context("failed to link `cairn-c++`")?;
    }
    Ok(())
}

/// Builds the recorder, which starts at every call of a test suite.
///
/// Linked statically it starts quickly, and neither `LD_PRELOAD` nor `LD_LIBRARY_PATH` of a suite changes what it does.
fn make_recorder(workspace: &Workspace, program: &Path) -> anyhow::Result<()> {
    process::run(cargo().current_dir(&workspace.root).args([
        "rustc",
        "--quiet",
        "--package=cairn-recorder",
        "--bin=cairn-recorder",
        "--profile=runtime",
        "--",
        "-Ctarget-feature=+crt-static",
    ]))?;
    replace(&workspace.target.join("runtime/cairn-recorder"), program)
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("failed to create `{}`", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("failed to read `{}`", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            replace(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Copies a file so that whoever has the old one open keeps it.
fn replace(from: &Path, to: &Path) -> anyhow::Result<()> {
    let mut fresh = to.as_os_str().to_owned();
    fresh.push(".new");
    fs::copy(from, &fresh)
        .and_then(|_| fs::rename(&fresh, to))
        .with_context(|| format!("failed to copy `{}` to `{}`", from.display(), to.display()))
}
