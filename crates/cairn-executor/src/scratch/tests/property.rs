//! Whatever happens between them, a refresh gives what laying out in an empty folder gives.

use super::*;
use nix::sys::{
    stat::{UtimensatFlags, utimensat},
    time::{TimeSpec, TimeValLike},
};
use proptest::{prelude::*, sample::select};
use std::{collections::BTreeMap, fs::OpenOptions};

/// Files and folders share names, so that kinds change and some layouts are impossible.
const PATHS: [&str; 7] = ["a", "b", "c", "d", "d/x", "d/e", "d/e/y"];

#[derive(Clone, Debug)]
enum Next {
    Same,
    /// New contents for regular files, written by the host.
    Contents(Vec<String>),
    /// Likewise, written by the target's side if it may.
    ContentsByTarget(Vec<String>),
    Files(Vec<FileRegion>),
}

#[derive(Clone, Debug)]
enum Damage {
    Write(&'static str, String),
    Remove(&'static str),
    MakeFolder(&'static str),
    Chmod(&'static str, u32),
    Rename(&'static str, &'static str),
    Symlink(&'static str),
    Link(&'static str, &'static str),
    SetTimes(&'static str, i64),
    Read(&'static str),
}

fn path() -> impl Strategy<Value = &'static str> {
    select(&PATHS[..])
}

fn content() -> impl Strategy<Value = String> {
    "[a-z]{0,12}"
}

fn mode() -> impl Strategy<Value = u32> {
    select(vec![0o644, 0o444, 0o600, 0o755, 0o4755, 0o000, 0o300])
}

fn any_region() -> impl Strategy<Value = FileRegion> {
    let kind = prop_oneof![
        6 => content().prop_map(|content| FileKind::Regular(content.as_str().into())),
        2 => Just(FileKind::Folder),
        1 => path().prop_map(|path| FileKind::Symlink(path.into())),
        1 => path().prop_map(|path| FileKind::Hardlink(path.into())),
        1 => Just(FileKind::Fifo),
    ];
    let rarely = |n: u32| proptest::option::weighted(0.2, 0..n);
    (path(), kind, proptest::option::weighted(0.3, mode()), rarely(20), rarely(100), rarely(100)).prop_map(
        |(path, kind, mode, size, modified, accessed)| FileRegion {
            mode,
            size: size.map(u64::from),
            modified: modified.map(i64::from),
            accessed: accessed.map(i64::from),
            ..region(path, kind)
        },
    )
}

fn any_next() -> impl Strategy<Value = Next> {
    let contents = || proptest::collection::vec(content(), 1..3);
    prop_oneof![
        Just(Next::Same),
        contents().prop_map(Next::Contents),
        contents().prop_map(Next::ContentsByTarget),
        proptest::collection::vec(any_region(), 0..5).prop_map(Next::Files),
    ]
}

fn any_damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (path(), content()).prop_map(|(path, content)| Damage::Write(path, content)),
        path().prop_map(Damage::Remove),
        path().prop_map(Damage::MakeFolder),
        (path(), mode()).prop_map(|(path, mode)| Damage::Chmod(path, mode)),
        (path(), path()).prop_map(|(from, to)| Damage::Rename(from, to)),
        path().prop_map(Damage::Symlink),
        (path(), path()).prop_map(|(from, to)| Damage::Link(from, to)),
        (path(), 0..50i64).prop_map(|(path, time)| Damage::SetTimes(path, time)),
        path().prop_map(Damage::Read),
    ]
}

/// Acts as a target that does not care whether it succeeds.
fn damage(root: &Path, damage: &Damage) {
    let at = |path: &str| root.join(path);
    let is_plain = |path: &Path| path.metadata().is_ok_and(|status| status.is_file());
    match damage {
        // Opening a pipe would wait for somebody at its other end.
        Damage::Write(path, content) if is_plain(&at(path)) || !at(path).exists() => {
            let _ = fs::write(at(path), content);
        }
        Damage::Write(..) => {}
        Damage::Remove(path) => {
            let _ = fs::remove_file(at(path)).or_else(|_| fs::remove_dir_all(at(path)));
        }
        Damage::MakeFolder(path) => {
            let _ = fs::create_dir(at(path));
        }
        Damage::Chmod(path, mode) => {
            let _ = fs::set_permissions(at(path), fs::Permissions::from_mode(*mode));
        }
        Damage::Rename(from, to) => {
            let _ = fs::rename(at(from), at(to));
        }
        Damage::Symlink(path) => {
            let _ = symlink("a", at(path));
        }
        Damage::Link(from, to) => {
            let _ = fs::hard_link(at(from), at(to));
        }
        Damage::SetTimes(path, time) => {
            let time = TimeSpec::seconds(*time);
            let here = fs::File::open(root).unwrap();
            let _ = utimensat(&here, *path, &time, &time, UtimensatFlags::NoFollowSymlink);
        }
        Damage::Read(path) => {
            if is_plain(&at(path)) {
                let _ = fs::read(at(path));
            } else {
                let _ = fs::read_dir(at(path)).map(Iterator::count);
            }
        }
    }
}

/// Everything there is to see, one line for each entry.
fn picture(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![PathBuf::from(".")];
    while let Some(path) = waiting.pop() {
        let full = root.join(&path);
        let Ok(status) = full.symlink_metadata() else {
            // In a folder that lets itself be listed, but not entered.
            found.insert(path, None);
            continue;
        };
        if status.is_dir() {
            let names = fs::read_dir(&full).into_iter().flatten().map(|entry| entry.unwrap().file_name());
            waiting.extend(names.map(|name| path.join(name)));
        }
        found.insert(path, Some(status));
    }
    // Contents come last, because reading them changes access times, also those of other names.
    let line = |(path, status): (PathBuf, Option<fs::Metadata>)| {
        let full = root.join(&path);
        let Some(status) = status else { return (path, "cannot be seen".into()) };
        let content = match status.file_type() {
            kind if kind.is_file() => format!("{} bytes: {:?}", status.len(), fs::read(&full).ok()),
            kind if kind.is_symlink() => format!("{:?}", fs::read_link(&full)),
            _ => String::new(),
        };
        let times = (status.atime(), status.atime_nsec(), status.mtime(), status.mtime_nsec());
        let owner = (status.uid(), status.gid());
        let line = format!("{:o} x{} {owner:?} {times:?} {content}", status.mode(), status.nlink());
        (path, line)
    };
    found.into_iter().map(line).collect()
}

/// Replaces contents as the runtime in the target does, and reads the events that raises.
fn write_as_target(folder: &mut Folder, files: &[FileRegion], indices: &[usize]) {
    for index in indices {
        let region = &files[*index];
        let FileKind::Regular(content) = &region.kind else { panic!("only regular files have contents") };
        let path = folder.path(&region.path);
        fs::write(&path, &content.0).unwrap();
        let time = |given: Option<i64>| TimeSpec::seconds(given.unwrap_or(DEFAULT_TIME));
        let file = OpenOptions::new().write(true).open(path).unwrap();
        nix::sys::stat::futimens(&file, &time(region.accessed), &time(region.modified)).unwrap();
    }
    let watch = folder.scratch.watch().unwrap();
    assert!(nix::unistd::read(watch, &mut [0; 4096]).unwrap() > 0);
    folder.scratch.now_holds(files);
}

fn check(mut folder: Folder, steps: &[(Next, Vec<Damage>)]) {
    folder.scratch.watch().expect("folders can be watched");
    let mut files = Vec::new();
    for (next, damages) in steps {
        let is_by_target = matches!(next, Next::ContentsByTarget(_));
        match next {
            Next::Same => {}
            Next::Files(new) => files.clone_from(new),
            Next::Contents(contents) | Next::ContentsByTarget(contents) => {
                let regular = files.iter_mut().filter(|file| matches!(file.kind, FileKind::Regular(_)));
                for (file, content) in regular.zip(contents) {
                    file.kind = FileKind::Regular(content.as_str().into());
                }
            }
        }
        let is_changed = folder.scratch.has_changed().unwrap();
        if is_by_target
            && !is_changed
            && let Difference::Contents(indices) = folder.scratch.difference(&files)
        {
            write_as_target(&mut folder, &files, &indices);
        }
        let mut empty = Folder::new();
        let expected = empty.scratch.prepare(&files).map(drop);
        let refreshed = folder.scratch.refresh(&files).map(drop);
        assert_eq!(
            refreshed.as_ref().map_err(ToString::to_string),
            expected.as_ref().map_err(ToString::to_string)
        );
        if refreshed.is_ok() {
            assert_eq!(picture(&folder.path), picture(&empty.path));
            assert!(!folder.scratch.has_changed().unwrap());
        }
        damages.iter().for_each(|each| damage(&folder.path, each));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_refresh_equals_laying_out_anew(
        apart in any::<bool>(),
        steps in proptest::collection::vec((any_next(), proptest::collection::vec(any_damage(), 0..3)), 1..8),
    ) {
        check(if apart { Folder::mounted_apart() } else { Folder::new() }, &steps);
    }
}
