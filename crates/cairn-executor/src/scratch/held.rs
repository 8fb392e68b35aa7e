//! What the scratch folder holds, and how far that is from what it shall hold.

use super::{
    materialise::{Entry, Layout},
    paths::components,
};
use cairn_model::input::{Bytes, FileKind, FileRegion};
use nix::{sys::stat::Mode, unistd::Uid};
use std::ffi::{CStr, CString};

/// How files differ from those the folder holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Not at all.
    Same,
    /// Only the contents of the regular files at these positions differ, and they can be replaced in place.
    Contents(Vec<usize>),
    /// In a way that needs the folder laid out anew.
    Other,
}

/// The files that were laid out, and how they lie there.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) files: Vec<FileRegion>,
    pub(super) layout: Layout,
    /// For each file: where its content can be replaced. `None` if that would change more than the content.
    places: Vec<Option<Place>>,
}

#[derive(Debug)]
struct Place {
    path: CString,
    /// Whether the target's user may write the file and set its times.
    is_open_to_target: bool,
}

impl Held {
    /// `files` were laid out as `layout` for a target that runs as `user`.
    pub(super) fn new(files: &[FileRegion], layout: Layout, user: Uid) -> Self {
        let places = files.iter().map(|region| place(region, &layout, user)).collect();
        Self { files: files.to_vec(), layout, places }
    }

    /// What has to be done to hold `files`.
    pub(super) fn compare(&self, files: &[FileRegion]) -> Difference {
        if files.len() != self.files.len() {
            return Difference::Other;
        }
        let mut changed = Vec::new();
        for (index, (held, wanted)) in self.files.iter().zip(files).enumerate() {
            match content_alone_differs(held, wanted) {
                Some(false) => {}
                Some(true) if self.places[index].is_some() => changed.push(index),
                _ => return Difference::Other,
            }
        }
        match changed.is_empty() {
            true => Difference::Same,
            false => Difference::Contents(changed),
        }
    }

    /// Whether the target's user may replace the content of the file at `index`.
    pub(super) fn is_open_to_target(&self, index: usize) -> bool {
        self.places[index].as_ref().is_some_and(|place| place.is_open_to_target)
    }

    /// The path, the region and the present size of a file whose content can be replaced.
    pub(super) fn replaceable(&self, index: usize) -> Option<(&CStr, &FileRegion, i64)> {
        let path = &self.places[index].as_ref()?.path;
        Some((path, &self.files[index], self.layout.entries.get(path.as_bytes())?.size))
    }

    /// Remembers that the file at `index` was given `wanted`'s content in place.
    pub(super) fn replaced(&mut self, index: usize, wanted: &FileRegion) {
        let Some(place) = &self.places[index] else { return };
        let (FileKind::Regular(Bytes(held)), FileKind::Regular(Bytes(content))) =
            (&mut self.files[index].kind, &wanted.kind)
        else {
            return;
        };
        held.clone_from(content);
        if let Some(entry) = self.layout.entries.get_mut(place.path.as_bytes()) {
            entry.size = content.len() as i64;
            entry.changed = None;
        }
    }
}

/// `None` if something else differs.
fn content_alone_differs(held: &FileRegion, wanted: &FileRegion) -> Option<bool> {
    // Taken apart, so that a new field cannot be forgotten here.
    let FileRegion { path, kind, mode, size, modified, accessed, owner } = held;
    let is_same = *path == wanted.path
        && *mode == wanted.mode
        && *size == wanted.size
        && *modified == wanted.modified
        && *accessed == wanted.accessed
        && *owner == wanted.owner;
    if !is_same {
        return None;
    }
    match (kind, &wanted.kind) {
        (FileKind::Regular(held), FileKind::Regular(wanted)) => Some(held != wanted),
        (held, wanted) => (held == wanted).then_some(false),
    }
}

fn place(region: &FileRegion, layout: &Layout, user: Uid) -> Option<Place> {
    // A given size makes a hole or cuts the content.
    if !matches!(region.kind, FileKind::Regular(_)) || region.size.is_some() {
        return None;
    }
    let names = components(&region.path).ok()?;
    let path = names.join("/");
    let entry = layout.entries.get(path.as_bytes())?;
    // Writing may take these bits away; a file with other names is another entry's content as well.
    let special = (Mode::S_ISUID | Mode::S_ISGID).bits();
    if entry.mode & special != 0 || entry.n_links != 1 || entry.mode & libc::S_IFMT != libc::S_IFREG {
        return None;
    }
    let allows = |entry: &Entry, bit: Mode| entry.user == user.as_raw() && entry.mode & bit.bits() != 0;
    let is_open_to_target = allows(entry, Mode::S_IWUSR)
        && (1..names.len()).all(|n| {
            let folder = layout.entries.get(names[..n].join("/").as_bytes());
            folder.is_some_and(|folder| allows(folder, Mode::S_IXUSR))
        });
    Some(Place { path: CString::new(path).ok()?, is_open_to_target })
}
