//! The way to a named file, and the content of folders.

use super::{Collector, TooMuch};
use crate::reasons::Note;
use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    fs,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// To something in the working folder, which was taken.
    Inside,
    /// Out of the working folder by `..`.
    Outside,
    /// Out of the working folder by a link.
    LinkLeadsOut,
    /// To nothing.
    Nowhere,
}

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

impl Collector<'_> {
    /// Follows a relative path as the kernel would and takes every folder and link on the way, and what is at its end.
    pub(super) fn walk_to(&mut self, path: &Path) -> Result<End, TooMuch> {
        let mut todo: VecDeque<OsString> = names(path);
        let mut here: Vec<String> = Vec::new();
        let mut n_links = 0;
        if todo.is_empty() {
            return Ok(End::Nowhere);
        }
        while let Some(name) = todo.pop_front() {
            match name.to_str() {
                Some(".") => continue,
                Some("..") if here.pop().is_none() => {
                    return Ok(if n_links == 0 { End::Outside } else { End::LinkLeadsOut });
                }
                Some("..") => continue,
                Some(name) => here.push(name.to_string()),
                None => {
                    if self.folder().join(here.join("/")).join(&name).symlink_metadata().is_err() {
                        return Ok(End::Nowhere);
                    }
                    self.note(Note::NameIsNoText);
                    return Ok(End::Inside);
                }
            }
            let place = here.join("/");
            let real = self.folder().join(&place);
            let Ok(metadata) = real.symlink_metadata() else { return Ok(End::Nowhere) };
            if self.is_ours(&real) {
                return Ok(End::Inside);
            }
            self.take(&place, &real)?;
            if metadata.is_symlink() {
                n_links += 1;
                let Ok(target) = fs::read_link(&real) else { return Ok(End::Nowhere) };
                let target = match self.relative(target.as_os_str().as_bytes()) {
                    Some(relative) => {
                        here.clear();
                        path_of(&relative)
                    }
                    None if target.is_absolute() => return Ok(End::LinkLeadsOut),
                    None => {
                        here.pop();
                        target
                    }
                };
                if n_links > MOST_LINKS {
                    return Ok(End::Inside);
                }
                for name in names(&target).into_iter().rev() {
                    todo.push_front(name);
                }
            } else if !metadata.is_dir() && !todo.is_empty() {
                return Ok(End::Nowhere);
            }
        }
        let place = here.join("/");
        let real = self.folder().join(&place);
        if real.is_dir() {
            let before = self.save();
            if self.take_content(&place, &real, &[]).is_err() {
                self.back_to(before);
                self.note(Note::NamedFolderTooLarge);
            }
        }
        Ok(End::Inside)
    }

    /// Takes everything in the folder `real`, whose place is `place`, but the files of `excluded`.
    pub(super) fn take_content(
        &mut self,
        place: &str,
        real: &Path,
        excluded: &[(u64, u64)],
    ) -> Result<(), TooMuch> {
        let Ok(entries) = fs::read_dir(real) else {
            self.note(Note::Unreadable);
            return Ok(());
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                self.note(Note::NameIsNoText);
                continue;
            };
            let place = if place.is_empty() { name.to_string() } else { format!("{place}/{name}") };
            let is_excluded = || {
                let identity = path.symlink_metadata().map(|file| (file.dev(), file.ino()));
                identity.is_ok_and(|identity| excluded.contains(&identity))
            };
            if self.is_ours(&path) || (!excluded.is_empty() && !self.taken.contains(&place) && is_excluded())
            {
                continue;
            }
            // A folder of a million entries is given up as soon as it is known to be one.
            if !self.taken.contains(&place) {
                found.push(place);
                if found.len() > self.room.files {
                    return Err(TooMuch);
                }
            } else if path.is_dir() && !path.is_symlink() {
                found.push(place);
            }
        }
        found.sort();
        for place in found {
            let path = real.join(Path::new(&place).file_name().unwrap_or_default());
            self.take(&place, &path)?;
            if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
                self.take_content(&place, &path, excluded)?;
            }
        }
        Ok(())
    }
}

/// The names of a path, `.` and `..` included.
fn names(path: &Path) -> VecDeque<OsString> {
    let parts = path.as_os_str().as_bytes().split(|byte| *byte == b'/');
    parts.filter(|part| !part.is_empty()).map(|part| OsStr::from_bytes(part).to_os_string()).collect()
}
