//! Laying out, looking at and emptying the folder.

use super::*;

#[test]
fn every_kind_is_made_with_its_metadata() {
    let mut folder = Folder::new();
    let files = [
        FileRegion { mode: Some(0o4711), modified: Some(5), accessed: Some(6), ..file("sub/run", "abc") },
        FileRegion { size: Some(1 << 40), ..file("sparse", "x") },
        FileRegion { size: Some(1), ..file("cut", "abc") },
        FileRegion { mode: Some(0o500), modified: Some(7), ..region("sub", FileKind::Folder) },
        region("link", FileKind::Symlink("/nowhere".into())),
        region("other", FileKind::Hardlink("sub/run".into())),
        region("pipe", FileKind::Fifo),
    ];
    folder.scratch.prepare(&files).unwrap();
    let run = folder.path("sub/run").metadata().unwrap();
    assert_eq!((run.mode() & 0o7777, run.mtime(), run.atime(), run.nlink()), (0o4711, 5, 6, 2));
    let sub = folder.path("sub").metadata().unwrap();
    assert_eq!((sub.mode() & 0o7777, sub.mtime()), (0o500, 7));
    assert_eq!(folder.path("sparse").metadata().unwrap().len(), 1 << 40);
    assert_eq!(fs::read(folder.path("cut")).unwrap(), b"a");
    assert_eq!(fs::read_link(folder.path("link")).unwrap(), Path::new("/nowhere"));
    assert!(folder.path("pipe").metadata().unwrap().file_type().is_fifo());
    assert_eq!(folder.path.metadata().unwrap().mtime(), DEFAULT_TIME);
    assert_eq!(folder.changes(&files, |_| ()), "");
}

#[test]
fn paths_that_leave_the_folder_are_refused() {
    let mut folder = Folder::new();
    for (path, message) in [
        ("../x", "input file `../x` leaves the scratch folder through `..`"),
        ("a/../../x", "input file `a/../../x` leaves the scratch folder through `..`"),
        ("/etc/x", "input file `/etc/x` has an absolute path; paths are relative to the scratch folder"),
        ("", "input file `` has an empty path"),
        ("./", "input file `./` names the scratch folder itself"),
    ] {
        let error = folder.scratch.prepare(&[file(path, "")]).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let twice = [file("a", ""), file("a", "")];
    assert_eq!(folder.scratch.prepare(&twice).unwrap_err().to_string(), "input file `a` appears twice");
    let escape = [file("a", ""), region("b", FileKind::Hardlink("../../etc/passwd".into()))];
    assert!(matches!(folder.scratch.prepare(&escape), Err(ExecutorError::BadPath { .. })));
}

#[test]
fn nothing_is_written_through_a_link_of_the_input() {
    let outside = tempfile::tempdir().unwrap();
    let mut folder = Folder::new();
    let link = region("a", FileKind::Symlink(outside.path().to_str().unwrap().into()));
    let error = folder.scratch.prepare(&[link, file("a/b", "x")]).unwrap_err();
    assert_eq!(error.to_string(), "input file `a/b` passes through something that is not a folder");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn changes_are_told_by_content_and_mode() {
    let mut folder = Folder::new();
    let files = [file("same", "abc"), file("edited", "abc"), file("mode", "abc"), file("gone/too", "")];
    let changes = folder.changes(&files, |path| {
        fs::write(path.join("same"), "abc").unwrap();
        fs::write(path.join("edited"), "abd").unwrap();
        fs::set_permissions(path.join("mode"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::remove_dir_all(path.join("gone")).unwrap();
        fs::write(path.join("long"), "0123456789").unwrap();
        symlink("same", path.join("link")).unwrap();
        fs::create_dir(path.join("new")).unwrap();
    });
    expect_test::expect![[r#"
        edited: "abd" of 3 mode=644
        gone: removed
        gone/too: removed
        link: -> "same"
        long: "01234567" of 10 mode=644
        mode: "abc" of 3 mode=600
        new: folder
    "#]]
    .assert_eq(&changes);
}

#[test]
fn a_change_beyond_what_is_kept_is_noticed() {
    let mut folder = Folder::new();
    let files = [file("long", "0123456789abcdef")];
    assert_eq!(folder.changes(&files, |_| ()), "");
    let changes = folder.changes(&files, |path| fs::write(path.join("long"), "0123456789abcdeX").unwrap());
    assert_eq!(changes, "long: \"01234567\" of 16 mode=644\n");
}

#[test]
fn different_names_stay_different_and_on_one_line() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let mut folder = Folder::new();
    let changes = folder.changes(&[], |path| {
        for name in [&b"a\xff"[..], b"a\\xff", b"line\nbreak", "\u{fc}".as_bytes()] {
            fs::write(path.join(OsStr::from_bytes(name)), "").unwrap();
        }
    });
    expect_test::expect![[r#"
        a\\xff: "" of 0 mode=644
        a\xff: "" of 0 mode=644
        line\nbreak: "" of 0 mode=644
        ü: "" of 0 mode=644
    "#]]
    .assert_eq(&changes);
}

#[test]
fn pipes_and_sockets_are_no_files() {
    let mut folder = Folder::new();
    let files = [region("given", FileKind::Fifo)];
    let changes = folder.changes(&files, |path| {
        nix::unistd::mkfifo(&path.join("pipe"), Mode::S_IRUSR).unwrap();
        std::os::unix::net::UnixListener::bind(path.join("socket")).unwrap();
    });
    expect_test::expect![[r#"
        pipe: pipe mode=400
        socket: socket mode=755
    "#]]
    .assert_eq(&changes);
}

#[test]
fn what_was_done_to_the_folder_itself_is_taken_back() {
    let mut folder = Folder::new();
    let root = fs::File::open(&folder.path).unwrap();
    let attributes = || {
        // SAFETY: with size 0 nothing is written.
        unsafe { libc::flistxattr(root.as_raw_fd(), std::ptr::null_mut(), 0) }
    };
    folder.scratch.prepare(&[]).unwrap();
    let before = attributes();
    // SAFETY: all pointers are C strings or come with their length.
    let set = unsafe { libc::fsetxattr(root.as_raw_fd(), c"user.left".as_ptr(), c"x".as_ptr().cast(), 1, 0) };
    // Some file systems have none; then only the mode is left to test.
    assert!(set != 0 || attributes() > before);
    folder.changes(&[], |path| {
        fs::write(path.join("x"), "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    });
    folder.scratch.prepare(&[]).unwrap();
    assert_eq!(attributes(), before);
    assert_eq!(root.metadata().unwrap().mode() & 0o7777, 0o755);
}

#[test]
fn closed_folders_are_looked_into_and_emptied() {
    let mut folder = Folder::new();
    let changes = folder.changes(&[], |path| {
        fs::create_dir(path.join("a")).unwrap();
        fs::write(path.join("a/b"), "x").unwrap();
        fs::set_permissions(path.join("a/b"), fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(path.join("a"), fs::Permissions::from_mode(0o000)).unwrap();
    });
    assert_eq!(changes, "a: folder\na/b: \"x\" of 1 mode=0\n");
    folder.scratch.prepare(&[]).unwrap();
    assert_eq!(fs::read_dir(&folder.path).unwrap().count(), 0);
}

#[test]
fn what_lies_in_a_folder_closed_from_the_start_is_known() {
    let mut folder = Folder::new();
    let closed = FileRegion { mode: Some(0o000), ..region("a", FileKind::Folder) };
    let files = [closed, file("a/b", "x"), region("c", FileKind::Hardlink("a/b".into()))];
    // Looking into it needs its mode changed, which happens after it was compared.
    assert_eq!(folder.changes(&files, |_| ()), "");
}

#[test]
fn emptying_never_follows_links() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("kept"), "").unwrap();
    let mut folder = Folder::new();
    symlink(outside.path(), folder.path("link")).unwrap();
    fs::create_dir_all(folder.path("a/b/c")).unwrap();
    symlink(outside.path(), folder.path("a/b/link")).unwrap();
    folder.scratch.prepare(&[]).unwrap();
    assert_eq!(fs::read_dir(&folder.path).unwrap().count(), 0);
    assert!(outside.path().join("kept").exists());
}

#[test]
fn an_owner_is_set_or_reported() {
    let mut folder = Folder::new();
    let files = [FileRegion { owner: Some((12, 34)), ..file("theirs", "") }];
    let layout = folder.scratch.prepare(&files).unwrap();
    let status = folder.path("theirs").metadata().unwrap();
    match nix::unistd::geteuid().is_root() {
        true => assert_eq!((status.uid(), status.gid()), (12, 34)),
        false => assert_eq!(layout.owners_left, ["theirs"]),
    }
}

#[test]
fn a_link_keeps_its_bytes() {
    let mut folder = Folder::new();
    let target = Bytes(vec![0xff, b'/', b'x']);
    assert_eq!(folder.changes(&[region("l", FileKind::Symlink(target))], |_| ()), "");
}
