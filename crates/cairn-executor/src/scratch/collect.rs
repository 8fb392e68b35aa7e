//! What a run changed in the scratch folder.

use super::{
    ROOT_MODE,
    materialise::{Entry, Layout},
    paths::open_folder,
    wipe::entries,
};
use cairn_model::{
    input::{Bytes, FileKind, FileRegion},
    outcome::{Captured, FileChange, SpecialKind},
};
use nix::{
    errno::Errno,
    fcntl::{AtFlags, OFlag, openat, readlinkat},
    sys::stat::{FchmodatFlags, FileStat, Mode, SFlag, fchmod, fchmodat, fstatat},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs::File,
    io::Read,
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt, OsStringExt},
    },
};

/// Entries looked at; a run that leaves more is reported as cut.
const MAX_ENTRIES: usize = 10_000;

/// Folders deeper than this are reported but not entered.
const MAX_DEPTH: usize = 64;

/// All contents together are cut at this many times the limit for one.
const TOTAL_SHARE: u64 = 32;

/// What changed, and whether something was left out.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) files: BTreeMap<String, FileChange>,
    pub(crate) is_cut: bool,
}

impl Changes {
    /// The contents of written files.
    pub(crate) fn contents(&self) -> impl Iterator<Item = &Captured> {
        self.files.values().filter_map(|change| match change {
            FileChange::Written { content, .. } => Some(content),
            _ => None,
        })
    }
}

struct Collector<'a> {
    layout: &'a Layout,
    files: &'a [FileRegion],
    limit: u64,
    total_left: u64,
    seen: BTreeSet<Vec<u8>>,
    changes: Changes,
}

/// Compares what is below `root` with what was laid out.
pub(super) fn collect(
    root: &OwnedFd,
    layout: &Layout,
    files: &[FileRegion],
    limit: u64,
) -> nix::Result<Changes> {
    let mut collector = Collector {
        layout,
        files,
        limit,
        total_left: limit.saturating_mul(TOTAL_SHARE),
        seen: BTreeSet::new(),
        changes: Changes::default(),
    };
    // The target may have taken all rights from it.
    fchmod(root, ROOT_MODE)?;
    let mut folders: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
    while let Some(names) = folders.pop() {
        let Ok(folder) = open_folder(root, &names) else {
            collector.changes.is_cut = true;
            continue;
        };
        let mut found = match entries(&folder) {
            Ok(found) => found,
            Err(Errno::EACCES) => {
                collector.changes.is_cut = true;
                continue;
            }
            Err(errno) => return Err(errno),
        };
        found.sort();
        for (name, is_folder) in found {
            if collector.seen.len() >= MAX_ENTRIES {
                collector.changes.is_cut = true;
                return Ok(collector.finish());
            }
            let mut path = names.clone();
            path.push(name.to_bytes().to_vec());
            collector.entry(&folder, &path)?;
            if is_folder && path.len() >= MAX_DEPTH {
                collector.changes.is_cut = true;
            } else if is_folder {
                // Its owner may have taken all rights from it; it is removed next anyway.
                let _ = fchmodat(&folder, name.as_c_str(), Mode::S_IRWXU, FchmodatFlags::FollowSymlink);
                folders.push(path);
            }
        }
    }
    Ok(collector.finish())
}

impl Collector<'_> {
    fn entry(&mut self, folder: &OwnedFd, path: &[Vec<u8>]) -> nix::Result<()> {
        let name = OsStr::from_bytes(path.last().expect("paths have at least one name"));
        let key = path.join(&b'/');
        let status = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        let before = self.layout.entries.get(&key);
        let mode = status.st_mode & 0o7777;
        let same_mode = before.is_some_and(|before| before.mode == status.st_mode);
        let change = match SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT {
            SFlag::S_IFDIR => (!same_mode).then_some(FileChange::Folder),
            SFlag::S_IFLNK => {
                let target = Bytes(readlinkat(folder, name)?.into_vec());
                let same = before.and_then(|before| self.region(before)).is_some_and(
                    |region| matches!(&region.kind, FileKind::Symlink(expected) if *expected == target),
                );
                (!same).then_some(FileChange::Link { target })
            }
            SFlag::S_IFREG => {
                let file = open(folder, name)?;
                let content = self.read(&file, &status)?;
                let same = same_mode
                    && before.is_some_and(|before| self.same_content(before, &status, &content, &file));
                (!same).then_some(FileChange::Written { content, mode })
            }
            SFlag::S_IFIFO => (!same_mode).then_some(FileChange::Special { kind: SpecialKind::Fifo, mode }),
            SFlag::S_IFSOCK => {
                (!same_mode).then_some(FileChange::Special { kind: SpecialKind::Socket, mode })
            }
            _ => (!same_mode).then_some(FileChange::Special { kind: SpecialKind::Device, mode }),
        };
        if let Some(change) = change {
            self.changes.files.insert(readable(&key), change);
        }
        self.seen.insert(key);
        Ok(())
    }

    fn region(&self, entry: &Entry) -> Option<&FileRegion> {
        entry.content.and_then(|index| self.files.get(index))
    }

    fn read(&mut self, file: &File, status: &FileStat) -> nix::Result<Captured> {
        let total = status.st_size as u64;
        let kept = total.min(self.limit).min(self.total_left);
        let mut bytes = Vec::new();
        file.take(kept)
            .read_to_end(&mut bytes)
            .map_err(|error| error.raw_os_error().map_or(Errno::EIO, Errno::from_raw))?;
        self.total_left -= bytes.len() as u64;
        Ok(Captured { bytes: Bytes(bytes), total })
    }

    /// Whether a file still holds what it was given. Beyond what was read, the change time decides; where that is
    /// not known, the rest of the file.
    fn same_content(&self, before: &Entry, status: &FileStat, content: &Captured, file: &File) -> bool {
        if before.size != status.st_size {
            return false;
        }
        let given = match self.region(before).map(|region| &region.kind) {
            Some(FileKind::Regular(given)) => given.0.as_slice(),
            _ => return false,
        };
        let kept = &content.bytes.0;
        let padded = given.iter().chain(std::iter::repeat(&0));
        if !kept.iter().zip(padded).all(|(now, given)| now == given) {
            return false;
        }
        if !content.is_truncated() {
            return true;
        }
        match before.changed {
            Some(changed) => changed == (status.st_ctime, status.st_ctime_nsec),
            None => given.get(kept.len()..).is_some_and(|rest| holds_next(file, rest)),
        }
    }

    fn finish(mut self) -> Changes {
        if !self.changes.is_cut {
            for path in self.layout.entries.keys().filter(|path| !self.seen.contains(*path)) {
                self.changes.files.insert(readable(path), FileChange::Removed);
            }
        }
        self.changes
    }
}

fn open(folder: &OwnedFd, name: &OsStr) -> nix::Result<File> {
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = openat(folder, name, flags, Mode::empty()).or_else(|_| {
        fchmodat(folder, name, Mode::S_IRUSR, FchmodatFlags::FollowSymlink)?;
        openat(folder, name, flags, Mode::empty())
    })?;
    Ok(File::from(file))
}

/// Whether reading on gives `expected`.
fn holds_next(mut file: &File, expected: &[u8]) -> bool {
    let mut piece = vec![0; expected.len().min(1 << 16)];
    expected.chunks(1 << 16).all(|expected| {
        let piece = &mut piece[..expected.len()];
        file.read_exact(piece).is_ok() && piece == expected
    })
}

/// The path as one line of text, different for different paths: see [`cairn_model::Outcome::files`].
fn readable(path: &[u8]) -> String {
    let mut text = String::new();
    for chunk in path.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\\' => text.push_str("\\\\"),
                _ if letter.is_control() => text.extend(letter.escape_default()),
                _ => text.push(letter),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}
