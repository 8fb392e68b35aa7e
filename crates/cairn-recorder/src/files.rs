//! The files around a call, as regions of an input.
//!
//! Named files come first, with the folders and links on the way to them. Then, if they are few, all other files of the
//! working folder, because programs read files nobody named. A named file elsewhere gets a place under `outside/`;
//! files of the system stay where they are, since a run sees them too.

mod entry;
mod walk;

use crate::{
    reasons::Note,
    settings::{Settings, lock_file, saved_original},
};
use cairn_model::input::FileRegion;
use std::{
    collections::{BTreeSet, HashMap},
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// More files or bytes than the limits allow.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMuch;

/// What became of a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// It is in the input under the name it was called.
    AsNamed,
    /// It is in the input under this name.
    At(Vec<u8>),
    /// It exists, but is not in the input.
    NotTaken,
    /// No file has this name.
    Nothing,
}

/// Gathers files within limits.
pub(crate) struct Collector<'a> {
    /// What was gathered, in an order in which it can be laid out.
    pub files: Vec<FileRegion>,
    /// What is missing.
    pub notes: BTreeSet<Note>,
    settings: &'a Settings,
    /// The working folder, first by its real path, then as the caller may call it.
    folders: Vec<PathBuf>,
    /// Where things from elsewhere are put.
    outside: String,
    taken: BTreeSet<String>,
    /// The first name of each file that has several.
    links: HashMap<(u64, u64), String>,
    room: Room,
}

/// What may still be gathered.
#[derive(Clone, Copy, Debug)]
struct Room {
    files: usize,
    bytes: u64,
}

/// Where files are the same in every run.
const SYSTEM: [&str; 12] =
    ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/sbin", "/sys", "/usr"];

/// Folders of tools, which no program under test is about.
const TOOLS: [&str; 2] = [".cairn", ".git"];

impl<'a> Collector<'a> {
    /// Starts in the working folder, which `logical` may be another name of; `None` if it is gone.
    pub(crate) fn new(settings: &'a Settings, logical: Option<&[u8]>, bytes_used: u64) -> Option<Self> {
        let folder = env::current_dir().ok()?;
        Self::within(folder, settings, logical, bytes_used)
    }

    fn within(
        folder: PathBuf,
        settings: &'a Settings,
        logical: Option<&[u8]>,
        bytes_used: u64,
    ) -> Option<Self> {
        let here = fs::metadata(&folder).ok()?;
        let logical = logical.map(walk::path_of).filter(|path| path.is_absolute() && *path != folder);
        let is_here = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|other| (other.dev(), other.ino()) == (here.dev(), here.ino()))
        };
        let mut outside = "outside".to_string();
        while folder.join(&outside).symlink_metadata().is_ok() {
            outside.push('_');
        }
        let limits = &settings.limits;
        Some(Self {
            files: Vec::new(),
            notes: BTreeSet::new(),
            settings,
            folders: std::iter::once(folder).chain(logical.filter(is_here)).collect(),
            outside,
            taken: BTreeSet::new(),
            links: HashMap::new(),
            room: Room { files: limits.files, bytes: limits.bytes.saturating_sub(bytes_used) },
        })
    }

    /// Takes what `path` names.
    pub(crate) fn named(&mut self, path: &[u8]) -> Result<Found, TooMuch> {
        let named = walk::path_of(path);
        match self.relative(path) {
            // Also when nothing is there yet: it may be where the program is to write.
            Some(relative) => {
                self.walk_to(&walk::path_of(&relative))?;
                Ok(Found::At(relative))
            }
            None if named.is_absolute() => self.take_outside(&named),
            None => match self.walk_to(&named)? {
                walk::End::Inside => Ok(Found::AsNamed),
                walk::End::Outside => self.take_outside(&self.folder().join(named)),
                walk::End::LinkLeadsOut => {
                    self.note(Note::LinkLeadsOut);
                    Ok(Found::AsNamed)
                }
                walk::End::Nowhere => Ok(Found::Nothing),
            },
        }
    }

    /// An absolute path inside the working folder, from there.
    pub(crate) fn relative(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.folders.iter().find_map(|folder| {
            let rest = path.strip_prefix(folder.as_os_str().as_encoded_bytes())?;
            match rest {
                b"" | b"/" => Some(b".".to_vec()),
                [b'/', rest @ ..] if folder.as_os_str() != "/" && !rest.starts_with(b"/") => {
                    Some(rest.to_vec())
                }
                _ => None,
            }
        })
    }

    /// Takes all files of the working folder but those of `excluded`, if they are few.
    pub(crate) fn present(&mut self, excluded: &[(u64, u64)]) {
        let limits = &self.settings.limits;
        let before = self.save();
        self.room = Room { files: limits.present_files, bytes: limits.present_bytes.min(self.room.bytes) };
        let folder = self.folders[0].clone();
        if limits.present_files > 0 && self.take_content("", &folder, excluded).is_err() {
            self.back_to(before);
            self.note(Note::FolderTooLarge);
        }
    }

    /// Notes that something is missing.
    pub(crate) fn note(&mut self, note: Note) {
        self.notes.insert(note);
    }

    fn folder(&self) -> &Path {
        &self.folders[0]
    }

    /// Takes a file or folder from elsewhere and says where it is now.
    fn take_outside(&mut self, path: &Path) -> Result<Found, TooMuch> {
        let Ok(real) = path.canonicalize() else { return Ok(Found::Nothing) };
        if real == Path::new("/") || SYSTEM.iter().any(|system| real.starts_with(system)) {
            return Ok(Found::AsNamed);
        }
        if self.folder().starts_with(&real) || self.is_ours(&real) {
            return Ok(Found::NotTaken);
        }
        let Some(name) = real.file_name().and_then(|name| name.to_str()) else {
            self.note(Note::NameIsNoText);
            return Ok(Found::NotTaken);
        };
        let mut place = format!("{}/{name}", self.outside);
        let mut n = 2;
        while self.taken.contains(&place) && !self.is_same(&place, &real) {
            place = format!("{}/{n}/{name}", self.outside);
            n += 1;
        }
        if self.taken.contains(&place) {
            return Ok(Found::At(place.into_bytes()));
        }
        let before = self.save();
        let is_folder = real.is_dir();
        let all = self.take(&place, &real).and_then(|()| match is_folder {
            true => self.take_content(&place, &real, &[]),
            false => Ok(()),
        });
        match all {
            Ok(()) => Ok(Found::At(place.into_bytes())),
            Err(TooMuch) if is_folder => {
                self.back_to(before);
                Ok(Found::NotTaken)
            }
            Err(TooMuch) => Err(TooMuch),
        }
    }

    /// Whether `place` was taken from `path`.
    fn is_same(&self, place: &str, path: &Path) -> bool {
        let identity = fs::metadata(path).map(|file| (file.dev(), file.ino()));
        identity.is_ok_and(|identity| self.links.get(&identity).is_some_and(|first| first == place))
    }

    /// Whether `path` belongs to the recording or to tools, not to the suite.
    fn is_ours(&self, path: &Path) -> bool {
        let program = &self.settings.program;
        path == program
            || path == self.settings.into
            || path == saved_original(program)
            || path == lock_file(program)
            || path.file_name().is_some_and(|name| TOOLS.iter().any(|tool| name == *tool))
    }

    fn save(&self) -> (usize, Room) {
        (self.files.len(), self.room)
    }

    fn back_to(&mut self, (n_files, room): (usize, Room)) {
        for file in self.files.drain(n_files..) {
            self.taken.remove(&file.path);
            self.links.retain(|_, first| *first != file.path);
        }
        self.room = room;
    }
}

#[cfg(test)]
mod tests;
