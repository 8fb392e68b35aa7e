//! One file, folder, link or pipe as a region.

use super::{Collector, TooMuch};
use crate::reasons::Note;
use cairn_model::input::{Bytes, FileKind, FileRegion};
use nix::{
    libc,
    unistd::{Whence, geteuid, lseek},
};
use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read},
    os::unix::{
        ffi::OsStrExt,
        fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    },
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

impl Collector<'_> {
    /// Takes what is at `path`, without the content of folders, under the name `place`.
    ///
    /// What cannot be part of an input is noted.
    pub(super) fn take(&mut self, place: &str, path: &Path) -> Result<(), TooMuch> {
        if self.taken.contains(place) {
            return Ok(());
        }
        let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
        let kind = metadata.file_type();
        let mut size = None;
        let identity = (metadata.dev(), metadata.ino());
        let (kind, usual_mode) = if let (Some(first), false) = (self.links.get(&identity), kind.is_dir()) {
            (FileKind::Hardlink(first.clone()), None)
        } else if kind.is_file() {
            let (content, length) = self.content(path, &metadata)?;
            size = length;
            (FileKind::Regular(content), Some(0o644))
        } else if kind.is_dir() {
            (FileKind::Folder, Some(0o755))
        } else if kind.is_symlink() {
            (FileKind::Symlink(self.link(place, path).into()), None)
        } else if kind.is_fifo() {
            (FileKind::Fifo, Some(0o644))
        } else {
            self.note(Note::SpecialFile);
            return Ok(());
        };
        self.room.files = self.room.files.checked_sub(1).ok_or(TooMuch)?;
        self.links.entry(identity).or_insert_with(|| place.to_string());
        self.taken.insert(place.to_string());
        let mode = metadata.mode() & 0o7777;
        let shares = matches!(kind, FileKind::Hardlink(_));
        self.files.push(FileRegion {
            path: place.to_string(),
            kind,
            mode: usual_mode.filter(|usual| *usual != mode).map(|_| mode),
            size,
            modified: self.chosen_time(&metadata, metadata.mtime()).filter(|_| !shares),
            accessed: self.chosen_time(&metadata, metadata.atime()).filter(|_| !shares),
            owner: (metadata.uid() != geteuid().as_raw() && !shares)
                .then(|| (metadata.uid(), metadata.gid())),
        });
        Ok(())
    }

    /// `time`, if somebody chose it: the suite touched the file, yet its time is not one of the suite's.
    ///
    /// All other times are the moment the suite ran, different each time.
    fn chosen_time(&self, metadata: &Metadata, time: i64) -> Option<i64> {
        let started = self.settings.started;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(i64::MAX, |now| now.as_secs() as i64);
        (metadata.ctime() >= started && !(started..=now + 1).contains(&time)).then_some(time)
    }

    /// Where a link leads; inside the working folder it leads there from its own place, whatever the folder's name.
    fn link(&self, place: &str, path: &Path) -> Vec<u8> {
        let target =
            fs::read_link(path).map(|target| target.as_os_str().as_bytes().to_vec()).unwrap_or_default();
        match self.relative(&target) {
            Some(relative) => [b"../".repeat(place.matches('/').count()), relative].concat(),
            None => target,
        }
    }

    /// The bytes of a regular file, and its size if it ends in a hole.
    fn content(&mut self, path: &Path, metadata: &Metadata) -> Result<(Bytes, Option<u64>), TooMuch> {
        let Ok(mut file) = open(path) else {
            self.note(Note::Unreadable);
            return Ok((Bytes::default(), None));
        };
        let is_sparse = metadata.blocks() * 512 < metadata.len();
        let size = (is_sparse && metadata.len() > self.room.bytes).then_some(metadata.len());
        let length = match size {
            Some(size) => end_of_data(&file, size),
            None => metadata.len(),
        };
        if length > self.room.bytes {
            return Err(TooMuch);
        }
        let mut content = Vec::new();
        let wanted = if size.is_some() { length } else { self.room.bytes + 1 };
        if Read::by_ref(&mut file).take(wanted).read_to_end(&mut content).is_err() {
            self.note(Note::Unreadable);
        }
        // Files grow while they are read.
        self.room.bytes = self.room.bytes.checked_sub(content.len() as u64).ok_or(TooMuch)?;
        Ok((content.into(), size))
    }
}

/// Opens without waiting, without following, and if possible without leaving a trace in the access time.
fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
    let with = |flags| OpenOptions::new().read(true).custom_flags(flags).open(path);
    with(flags | libc::O_NOATIME).or_else(|_| with(flags))
}

/// Where the last hole of a file begins.
fn end_of_data(file: &File, size: u64) -> u64 {
    let mut end = 0;
    while let Ok(data) = lseek(file, end, Whence::SeekData) {
        end = lseek(file, data, Whence::SeekHole).unwrap_or(size as i64);
        if end as u64 >= size {
            break;
        }
    }
    let _ = lseek(file, 0, Whence::SeekSet);
    end as u64
}
