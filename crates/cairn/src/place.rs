//! The place of a program, taken by a stand-in for a while: a recorder, or a view of the program.
//!
//! The original stays in its folder under another name. At every moment the place holds either the original or a
//! stand-in that can be told from it, so whatever ends us, the next command can put things right.

use crate::failure::Failure;
use cairn_abi::view::VIEW_SECTION;
use cairn_cc::elf;
use cairn_recorder::settings::{beside, is_recorder, lock_file, saved_original};
use nix::{
    errno::Errno,
    fcntl::{Flock, FlockArg},
};
use std::{
    fs::{self, File, FileTimes, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// The place of a program; nobody else takes it meanwhile. Dropping it puts the original back.
#[derive(Debug)]
pub struct Place {
    program: PathBuf,
    lock: Flock<File>,
    is_open: bool,
}

/// What was found at the place when the original was to get back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The stand-in; the original is back.
    Back,
    /// Another program, which was left there; the original is outdated.
    Replaced,
    /// Nothing; the original is back.
    Missing,
}

impl Place {
    /// Takes the place of `program` for `command`, and first puts right what an earlier command left behind.
    pub fn take(program: &Path, command: &str) -> Result<(Self, Option<Fate>), Failure> {
        let lock = lock(program, command)?;
        let place = Self { program: program.to_path_buf(), lock, is_open: true };
        let leftover = put_back(program).map_err(|error| not_back(program, &error))?;
        if leftover.is_none() && is_stand_in(program).unwrap_or(false) {
            let saved = saved_original(program);
            return Err(Failure::usage(format!(
                "`{}` is a stand-in, and the program it stood for is gone from `{}`",
                program.display(),
                saved.display()
            ))
            .hint("build the program again"));
        }
        Ok((place, leftover))
    }

    /// The program's own path.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Puts a stand-in into the place, which `write` writes to the path it is given, with the mode it is given.
    pub fn install(self, write: impl FnOnce(&Path, u32) -> io::Result<()>) -> io::Result<Self> {
        swap(&self.program, write)?;
        Ok(self)
    }

    /// Puts the original back.
    pub fn leave(mut self) -> Result<Fate, Failure> {
        self.is_open = false;
        let fate = put_back(&self.program).map_err(|error| not_back(&self.program, &error))?;
        let _ = fs::remove_file(lock_file(&self.program));
        // Without a saved original there is nothing to put back: somebody did so already.
        Ok(fate.unwrap_or(Fate::Back))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_open && put_back(&self.program).is_ok() {
            let _ = fs::remove_file(lock_file(&self.program));
        }
        // The lock itself goes with the descriptor.
        let _ = &self.lock;
    }
}

fn not_back(program: &Path, error: &io::Error) -> Failure {
    let saved = saved_original(program);
    let (program, saved) = (program.display(), saved.display());
    Failure::usage(format!("failed to put `{program}` back in its place: {error}"))
        .hint(format!("the program is `{saved}`; move it to `{program}`"))
}

fn lock(program: &Path, command: &str) -> Result<Flock<File>, Failure> {
    let path = lock_file(program);
    let failed = |error: io::Error| {
        Failure::usage(format!("failed to write `{}`: {error}", path.display()))
            .hint("a program that is replaced for a while must lie in a folder that can be written")
    };
    loop {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(mut lock) => {
                // Whoever held it before may have removed the file between our two calls.
                let is_current = fs::metadata(&path).is_ok_and(|at_path| {
                    lock.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (at_path.dev(), at_path.ino()))
                });
                if !is_current {
                    continue;
                }
                lock.set_len(0).map_err(failed)?;
                write!(lock, "process {}, `{command}`", std::process::id()).map_err(failed)?;
                return Ok(lock);
            }
            Err((mut file, Errno::EWOULDBLOCK)) => {
                let mut other = String::new();
                let _ = file.read_to_string(&mut other);
                let program = program.display();
                return Err(Failure::usage(format!("`{program}` is already being replaced by {other}"))
                    .hint("wait for its end, or use another copy of the program"));
            }
            Err((_, errno)) => return Err(failed(errno.into())),
        }
    }
}

/// Gives the place to a stand-in, in one step.
fn swap(program: &Path, write: impl FnOnce(&Path, u32) -> io::Result<()>) -> io::Result<()> {
    let original = fs::metadata(program)?;
    let fresh = beside(program, "cairn-new");
    let _ = fs::remove_file(&fresh);
    // We must be able to recognise it later. It needs no more rights than its caller has.
    write(&fresh, original.mode() & 0o777 | 0o400)?;
    // The same time, so that make sees no reason to link the program again.
    let times = FileTimes::new().set_modified(original.modified()?).set_accessed(original.accessed()?);
    File::open(&fresh)?.set_times(times)?;
    let saved = saved_original(program);
    // Where a file system has no hard links, the place is empty for a moment.
    fs::hard_link(program, &saved).or_else(|_| fs::rename(program, &saved))?;
    fs::rename(&fresh, program)
}

/// Whether the file at `path` is one that we put there.
fn is_stand_in(path: &Path) -> io::Result<bool> {
    let is_view = || fs::read(path).map(|bytes| elf::section(&bytes, VIEW_SECTION).is_some());
    Ok(is_recorder(path)? || is_view()?)
}

/// Puts the original back if one is waiting; `None` if none is, or if it never left.
fn put_back(program: &Path) -> io::Result<Option<Fate>> {
    let _ = fs::remove_file(beside(program, "cairn-new"));
    let saved = saved_original(program);
    let Ok(waiting) = saved.symlink_metadata() else { return Ok(None) };
    let Ok(at_place) = program.symlink_metadata() else {
        fs::rename(&saved, program)?;
        return Ok(Some(Fate::Missing));
    };
    if (at_place.dev(), at_place.ino()) == (waiting.dev(), waiting.ino()) {
        fs::remove_file(&saved)?;
        return Ok(None);
    }
    // Asked of the content, because `strip` and `cp` leave a stand-in that is no longer the file we put there.
    if is_stand_in(program)? {
        fs::rename(&saved, program)?;
        return Ok(Some(Fate::Back));
    }
    fs::remove_file(&saved)?;
    Ok(Some(Fate::Replaced))
}
