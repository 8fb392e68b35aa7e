//! What counts as a change.

use super::*;
use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    time::{Duration, UNIX_EPOCH},
};

fn files() -> Vec<FileRegion> {
    vec![
        file("top", "content"),
        file("sub/inner/deep", "content"),
        region("link", FileKind::Symlink("top".into())),
        region("pipe", FileKind::Fifo),
        region("other", FileKind::Hardlink("top".into())),
    ]
}

/// Whether `act` counts as a change, wherever the folder lies.
fn is_noticed(act: impl Fn(&Path)) -> bool {
    let noticed = [Folder::new(), Folder::mounted_apart()].map(|mut folder| {
        folder.scratch.watch().expect("folders can be watched");
        folder.scratch.refresh(&files()).unwrap();
        assert!(!folder.scratch.has_changed().unwrap());
        act(&folder.path);
        let is_changed = folder.scratch.has_changed().unwrap();
        assert_eq!(folder.scratch.has_changed().unwrap(), is_changed, "it is remembered");
        folder.scratch.refresh(&files()).unwrap();
        assert!(!folder.scratch.has_changed().unwrap());
        is_changed
    });
    assert_eq!(noticed[0], noticed[1]);
    noticed[0]
}

#[test]
fn reading_and_listing_are_no_change() {
    assert!(!is_noticed(|path| {
        for name in ["top", "link", "other", "sub/inner/deep"] {
            assert_eq!(fs::read(path.join(name)).unwrap(), b"content");
        }
        for name in ["", "sub", "sub/inner"] {
            assert!(fs::read_dir(path.join(name)).unwrap().count() > 0);
        }
        fs::read_link(path.join("link")).unwrap();
        fs::metadata(path.join("sub/inner/deep")).unwrap();
        File::open(path.join("missing")).unwrap_err();
        // SAFETY: the file is not changed while it is mapped.
        let map = unsafe { memmap2::Mmap::map(&File::open(path.join("top")).unwrap()) }.unwrap();
        assert_eq!(&map[..], b"content");
    }));
}

/// A name and an act.
type Case<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
fn every_kind_of_change_is_noticed() {
    let set_times = |file: &File| {
        let times = fs::FileTimes::new().set_modified(UNIX_EPOCH + Duration::from_secs(5));
        file.set_times(times).unwrap();
    };
    let cases: &[Case] = &[
        ("write", &|path| {
            OpenOptions::new().write(true).open(path.join("top")).unwrap().write_all(b"x").unwrap();
        }),
        ("write through a link", &|path| fs::write(path.join("link"), "x").unwrap()),
        ("write through another name", &|path| fs::write(path.join("other"), "x").unwrap()),
        ("write deep", &|path| fs::write(path.join("sub/inner/deep"), "x").unwrap()),
        ("write through a mapping", &|path| {
            let file = OpenOptions::new().read(true).write(true).open(path.join("sub/inner/deep")).unwrap();
            // SAFETY: nothing else uses the file.
            let mut map = unsafe { memmap2::MmapMut::map_mut(&file) }.unwrap();
            drop(file);
            map[0] = b'x';
        }),
        ("truncate", &|path| {
            nix::unistd::truncate(&path.join("top"), 3).unwrap();
        }),
        ("chmod", &|path| {
            fs::set_permissions(path.join("top"), fs::Permissions::from_mode(0o600)).unwrap();
        }),
        ("chmod of a folder", &|path| {
            fs::set_permissions(path.join("sub/inner"), fs::Permissions::from_mode(0o700)).unwrap();
        }),
        ("chmod of the folder itself", &|path| {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        }),
        ("modification time", &|path| set_times(&File::open(path.join("top")).unwrap())),
        ("modification time of a folder", &|path| set_times(&File::open(path.join("sub")).unwrap())),
        ("modification time of the folder itself", &|path| set_times(&File::open(path).unwrap())),
        ("unlink", &|path| fs::remove_file(path.join("sub/inner/deep")).unwrap()),
        ("rename", &|path| fs::rename(path.join("top"), path.join("sub/top")).unwrap()),
        ("rename of a folder", &|path| fs::rename(path.join("sub/inner"), path.join("sub/x")).unwrap()),
        ("rename out of the folder", &|path| {
            // Fails between file systems; then the removal below is the change.
            let out = path.parent().unwrap().join(format!("cairn-moved-{}", std::process::id()));
            match fs::rename(path.join("top"), &out) {
                Ok(()) => fs::remove_file(out).unwrap(),
                Err(_) => fs::remove_file(path.join("top")).unwrap(),
            }
        }),
        ("mkdir", &|path| fs::create_dir(path.join("sub/inner/new")).unwrap()),
        ("rmdir", &|path| fs::remove_dir_all(path.join("sub")).unwrap()),
        ("symlink", &|path| symlink("top", path.join("sub/new")).unwrap()),
        ("link", &|path| fs::hard_link(path.join("top"), path.join("sub/new")).unwrap()),
        ("mkfifo", &|path| nix::unistd::mkfifo(&path.join("sub/new"), Mode::S_IRWXU).unwrap()),
        ("socket", &|path| drop(std::os::unix::net::UnixListener::bind(path.join("new")).unwrap())),
        ("made and removed again", &|path| {
            fs::write(path.join("new"), "").unwrap();
            fs::remove_file(path.join("new")).unwrap();
        }),
        ("through a pipe", &|path| {
            let mut pipe = OpenOptions::new().read(true).write(true).open(path.join("pipe")).unwrap();
            pipe.write_all(b"x").unwrap();
            pipe.read_exact(&mut [0]).unwrap();
        }),
    ];
    let unnoticed: Vec<_> = cases.iter().filter(|(_, act)| !is_noticed(act)).map(|(name, _)| name).collect();
    assert_eq!(unnoticed, [] as [&&str; 0]);
}

#[test]
fn more_events_than_the_kernel_keeps_are_a_change() {
    let mut folder = Folder::watched();
    folder.scratch.refresh(&[file("a", ""), file("b", "")]).unwrap();
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    // Events that repeat the one before are merged, so two files take turns.
    for _ in 0..limit.trim().parse::<usize>().unwrap() / 2 + 1 {
        for name in ["a", "b"] {
            fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
    assert!(folder.scratch.has_changed().unwrap());
    folder.scratch.refresh(&[]).unwrap();
    assert!(!folder.scratch.has_changed().unwrap());
}

#[test]
fn a_removed_folder_somebody_holds_raises_nothing() {
    let mut folder = Folder::watched();
    folder.scratch.refresh(&[file("sub/a", "")]).unwrap();
    let held = File::open(folder.path("sub")).unwrap();
    folder.scratch.refresh(&[]).unwrap();
    drop(held);
    assert!(!folder.scratch.has_changed().unwrap());
}

#[test]
fn folders_closed_to_their_owner_are_watched() {
    let mut folder = Folder::watched();
    let closed = FileRegion { mode: Some(0o300), ..region("closed/sub", FileKind::Folder) };
    let files = [closed, FileRegion { mode: Some(0), ..region("closed", FileKind::Folder) }];
    folder.scratch.refresh(&files).unwrap();
    assert!(folder.scratch.watch().is_some());
    fs::set_permissions(folder.path("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(folder.scratch.has_changed().unwrap());
    folder.scratch.mark_changed();
    folder.scratch.refresh(&files).unwrap();
    assert!(!folder.scratch.has_changed().unwrap());
}

#[test]
fn without_a_watch_everything_may_have_changed() {
    let mut folder = Folder::new();
    folder.scratch.refresh(&[file("a", "x")]).unwrap();
    assert!(folder.scratch.has_changed().unwrap());
    fs::write(folder.path("a"), "y").unwrap();
    folder.scratch.refresh(&[file("a", "x")]).unwrap();
    assert_eq!(fs::read(folder.path("a")).unwrap(), b"x");
}

#[test]
fn a_watch_that_comes_late_sees_the_folders_there_are() {
    let mut folder = Folder::new();
    folder.scratch.refresh(&files()).unwrap();
    assert!(folder.scratch.watch().is_some());
    assert!(!folder.scratch.has_changed().unwrap());
    assert_eq!(fs::read(folder.path("sub/inner/deep")).unwrap(), b"content");
    fs::write(folder.path("sub/inner/deep"), "x").unwrap();
    assert!(folder.scratch.has_changed().unwrap());
}
