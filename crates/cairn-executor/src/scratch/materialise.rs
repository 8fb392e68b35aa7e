//! Lays out the files of an input.
//!
//! Three passes: everything is made first; then owners and modes, deepest entries first, so that a folder closed
//! to its owner still receives its content; times with them, because making entries changes their folder's.

use super::{
    paths::{components, open_folder, step_into},
    watch::Watch,
};
use crate::error::ExecutorError;
use cairn_model::input::{FileKind, FileRegion};
use nix::{
    errno::Errno,
    fcntl::{AtFlags, OFlag, openat},
    sys::{
        stat::{FchmodatFlags, FileStat, Mode, UtimensatFlags, fchmodat, fstatat, mkdirat, utimensat},
        time::{TimeSpec, TimeValLike},
    },
    unistd::{Gid, LinkatFlags, Uid, fchownat, linkat, mkfifo, symlinkat},
};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::File,
    io::Write,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
};

/// The times of entries whose times the input does not give, in seconds since the epoch (September 2001).
///
/// A fixed moment, so that a program that prints times prints the same in every run.
pub const DEFAULT_TIME: i64 = 1_000_000_000;

/// What was laid out, for comparison after the run.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// By path, names joined with `/`. The position is that of the entry's region; implied folders have none.
    pub(super) entries: BTreeMap<Vec<u8>, Entry>,
    /// Paths whose owner could not be set without privileges.
    pub(crate) owners_left: Vec<String>,
}

/// One entry as it was before the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The region that gives the content, links to other entries followed.
    pub content: Option<usize>,
    pub mode: u32,
    pub user: u32,
    pub n_links: u64,
    pub size: i64,
    /// Access and modification, in seconds and nanoseconds.
    pub times: ((i64, i64), (i64, i64)),
    /// When anything about it changed last; not known once its content was replaced.
    pub changed: Option<(i64, i64)>,
}

impl Entry {
    fn new(content: Option<usize>, status: &FileStat) -> Self {
        Self {
            content,
            mode: status.st_mode,
            user: status.st_uid,
            n_links: status.st_nlink,
            size: status.st_size,
            times: ((status.st_atime, status.st_atime_nsec), (status.st_mtime, status.st_mtime_nsec)),
            changed: Some((status.st_ctime, status.st_ctime_nsec)),
        }
    }
}

/// Makes `files` below `root`, which is empty. All folders are watched from then on.
pub(super) fn materialise(
    root: &OwnedFd,
    owner: Option<(Uid, Gid)>,
    files: &[FileRegion],
    watch: Option<&mut Watch>,
) -> Result<Layout, ExecutorError> {
    // Names of every entry, with its region; sorted, so that a folder comes before what it holds.
    let mut made: BTreeMap<Vec<&str>, Option<usize>> = BTreeMap::new();
    for (index, region) in files.iter().enumerate() {
        let names = components(&region.path)?;
        for n in 1..names.len() {
            made.entry(names[..n].to_vec()).or_insert(None);
        }
        make(root, region, &names)?;
        made.insert(names, Some(index));
    }
    if let Some(watch) = watch {
        // Before they get their modes: a folder may be closed even to us.
        let is_folder =
            |index: &Option<usize>| index.is_none_or(|index| files[index].kind == FileKind::Folder);
        let below = made.iter().filter(|(_, index)| is_folder(index)).map(|(names, _)| names.as_slice());
        watch.start(std::iter::once(&[][..]).chain(below).map(|names| open_folder(root, names)));
    }
    let mut layout = Layout::default();
    for (names, index) in made.iter().rev() {
        let region = index.map(|index| &files[index]);
        let (owner, status) = finish(root, owner, names, region)?;
        if owner == Owner::Left {
            layout.owners_left.push(names.join("/"));
        }
        let content = index.and_then(|index| content_of(files, &made, index));
        layout.entries.insert(names.join("/").into_bytes(), Entry::new(content, &status));
    }
    look_at_links_again(root, &mut layout);
    let failed = |source: Errno| ExecutorError::System {
        what: "set the scratch folder's times",
        source: source.into(),
    };
    let (seconds, none) = (TimeSpec::seconds(DEFAULT_TIME), UtimensatFlags::NoFollowSymlink);
    utimensat(root, ".", &seconds, &seconds, none).map_err(failed)?;
    Ok(layout)
}

fn make(root: &OwnedFd, region: &FileRegion, names: &[&str]) -> Result<(), ExecutorError> {
    let failed = |what| {
        move |errno: Errno| match errno {
            Errno::EEXIST => ExecutorError::BadPath { path: region.path.clone(), reason: "appears twice" },
            errno => ExecutorError::Materialise { path: region.path.clone(), what, source: errno.into() },
        }
    };
    let (name, parents) = names.split_last().expect("paths have at least one name");
    let folder = make_parents(root, region, parents)?;
    match &region.kind {
        FileKind::Regular(content) => {
            let flags =
                OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_WRONLY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
            let mode = Mode::S_IRUSR | Mode::S_IWUSR;
            let mut file = File::from(openat(&folder, *name, flags, mode).map_err(failed("making it"))?);
            let wrong =
                |what| move |source| ExecutorError::Materialise { path: region.path.clone(), what, source };
            file.write_all(&content.0).map_err(wrong("writing it"))?;
            if let Some(size) = region.size {
                file.set_len(size).map_err(wrong("setting its size"))?;
            }
        }
        FileKind::Folder => match mkdirat(&folder, *name, Mode::S_IRWXU) {
            // It was implied by an earlier path.
            Err(Errno::EEXIST) if step_into(&folder, name.as_bytes()).is_ok() => {}
            other => other.map_err(failed("making it"))?,
        },
        FileKind::Symlink(target) => {
            symlinkat(OsStr::from_bytes(&target.0), &folder, *name).map_err(failed("linking it"))?;
        }
        FileKind::Hardlink(other) => {
            let names = components(other)?;
            let (other_name, parents) = names.split_last().expect("paths have at least one name");
            let other_folder = open_folder(root, parents).map_err(failed("finding the file it links to"))?;
            linkat(&other_folder, *other_name, &folder, *name, LinkatFlags::empty())
                .map_err(failed("linking it"))?;
        }
        FileKind::Fifo => {
            // There is no call relative to a folder in every libc; through /proc the path stays inside.
            let path = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
            mkfifo(path.as_str(), Mode::S_IRUSR | Mode::S_IWUSR).map_err(failed("making it"))?;
        }
    }
    Ok(())
}

fn make_parents(root: &OwnedFd, region: &FileRegion, parents: &[&str]) -> Result<OwnedFd, ExecutorError> {
    let failed = |errno: Errno| match errno {
        Errno::ENOTDIR | Errno::ELOOP => ExecutorError::BadPath {
            path: region.path.clone(),
            reason: "passes through something that is not a folder",
        },
        errno => ExecutorError::Materialise {
            path: region.path.clone(),
            what: "making its folder",
            source: errno.into(),
        },
    };
    let mut folder = open_folder::<&str>(root, &[]).map_err(failed)?;
    for name in parents {
        folder = match step_into(&folder, name.as_bytes()) {
            Err(Errno::ENOENT) => {
                mkdirat(&folder, *name, Mode::S_IRWXU).map_err(failed)?;
                step_into(&folder, name.as_bytes()).map_err(failed)?
            }
            other => other.map_err(failed)?,
        };
    }
    Ok(folder)
}

#[derive(PartialEq)]
enum Owner {
    Set,
    Left,
}

fn finish(
    root: &OwnedFd,
    owner: Option<(Uid, Gid)>,
    names: &[&str],
    region: Option<&FileRegion>,
) -> Result<(Owner, FileStat), ExecutorError> {
    let failed = |what| {
        move |errno: Errno| ExecutorError::Materialise { path: names.join("/"), what, source: errno.into() }
    };
    let (name, parents) = names.split_last().expect("paths have at least one name");
    let folder = open_folder(root, parents).map_err(failed("finding it"))?;
    let kind = region.map(|region| &region.kind);
    // A hard link shares what its file has; only what is given explicitly is set again.
    let shares = matches!(kind, Some(FileKind::Hardlink(_)));

    let mut left = Owner::Set;
    let wanted = region.and_then(|region| region.owner);
    let given = wanted.map(|(user, group)| (Uid::from_raw(user), Gid::from_raw(group)));
    if let Some((user, group)) = given.or(owner.filter(|_| !shares)) {
        match fchownat(&folder, *name, Some(user), Some(group), AtFlags::AT_SYMLINK_NOFOLLOW) {
            Err(Errno::EPERM | Errno::EINVAL) if wanted.is_some() => left = Owner::Left,
            other => other.map_err(failed("setting its owner"))?,
        }
    }
    let usual = match kind {
        None | Some(FileKind::Folder) => Some(0o755),
        Some(FileKind::Regular(_) | FileKind::Fifo) => Some(0o644),
        Some(FileKind::Symlink(_) | FileKind::Hardlink(_)) => None,
    };
    let mode = region.and_then(|region| region.mode).or(usual);
    if let Some(mode) = mode
        && !matches!(kind, Some(FileKind::Symlink(_)))
    {
        let mode = Mode::from_bits_truncate(mode & 0o7777);
        fchmodat(&folder, *name, mode, FchmodatFlags::FollowSymlink).map_err(failed("setting its mode"))?;
    }
    let (accessed, modified) = region.map_or((None, None), |region| (region.accessed, region.modified));
    if !shares || accessed.is_some() || modified.is_some() {
        let time = |given: Option<i64>| TimeSpec::seconds(given.unwrap_or(DEFAULT_TIME));
        utimensat(&folder, *name, &time(accessed), &time(modified), UtimensatFlags::NoFollowSymlink)
            .map_err(failed("setting its times"))?;
    }
    // Before its folder gets its mode and may be closed even to us.
    let status = fstatat(&folder, *name, AtFlags::AT_SYMLINK_NOFOLLOW).map_err(failed("looking at it"))?;
    Ok((left, status))
}

/// A file with several names is finished under each of them, and what comes last holds for all.
fn look_at_links_again(root: &OwnedFd, layout: &mut Layout) {
    let is_folder = |entry: &Entry| entry.mode & libc::S_IFMT == libc::S_IFDIR;
    for (path, entry) in layout.entries.iter_mut().filter(|(_, entry)| entry.n_links > 1 && !is_folder(entry))
    {
        let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        let (name, parents) = names.split_last().expect("paths have at least one name");
        let status = open_folder(root, parents)
            .and_then(|folder| fstatat(&folder, OsStr::from_bytes(name), AtFlags::AT_SYMLINK_NOFOLLOW));
        // What lies in a closed folder keeps what was seen before.
        if let Ok(status) = status {
            *entry = Entry::new(entry.content, &status);
        }
    }
}

/// The region whose bytes entry `index` shows.
fn content_of(
    files: &[FileRegion],
    made: &BTreeMap<Vec<&str>, Option<usize>>,
    mut index: usize,
) -> Option<usize> {
    // A link names an earlier entry, so this ends.
    while let FileKind::Hardlink(other) = &files[index].kind {
        let earlier = made.get(&components(other).ok()?).copied().flatten()?;
        if earlier >= index {
            return None;
        }
        index = earlier;
    }
    Some(index)
}
