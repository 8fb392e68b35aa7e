//! How a refresh gets by with less than laying out anew.

use super::*;

/// What tells an entry from another one made in its place.
fn identity(path: &Path) -> (u64, i64, i64) {
    let status = path.symlink_metadata().unwrap();
    (status.ino(), status.ctime(), status.ctime_nsec())
}

#[test]
fn nothing_is_done_for_the_same_files() {
    let mut folder = Folder::mounted_apart();
    folder.scratch.watch().unwrap();
    let files = [file("sub/a", "x"), region("l", FileKind::Symlink("sub".into()))];
    folder.scratch.refresh(&files).unwrap();
    let before = ["", "sub", "sub/a", "l"].map(|name| identity(&folder.path(name)));
    folder.scratch.refresh(&files).unwrap();
    assert_eq!(["", "sub", "sub/a", "l"].map(|name| identity(&folder.path(name))), before);
}

#[test]
fn a_new_content_goes_into_the_old_file() {
    let mut folder = Folder::watched();
    let files = |content: &str| {
        [
            FileRegion {
                mode: Some(0o400),
                modified: Some(5),
                accessed: Some(6),
                ..file("sub//./a", content)
            },
            file("b", "same"),
        ]
    };
    folder.scratch.refresh(&files("long content")).unwrap();
    let old = fs::File::open(folder.path("sub/a")).unwrap();
    let untouched = identity(&folder.path("b"));
    for content in ["short", "", "much longer content than before"] {
        folder.scratch.refresh(&files(content)).unwrap();
        let status = folder.path("sub/a").metadata().unwrap();
        assert_eq!((status.mode() & 0o7777, status.mtime(), status.atime()), (0o400, 5, 6));
        assert_eq!(fs::read_to_string(folder.path("sub/a")).unwrap(), content);
        // Only a privileged host can write a file closed for writing; another makes it anew.
        if nix::unistd::geteuid().is_root() {
            assert_eq!(status.ino(), old.metadata().unwrap().ino());
            assert_eq!(identity(&folder.path("b")), untouched);
        }
        assert!(!folder.scratch.has_changed().unwrap());
    }
}

#[test]
fn changes_are_told_after_a_content_was_replaced() {
    let mut folder = Folder::watched();
    folder.scratch.refresh(&[file("a", "first"), file("b", "")]).unwrap();
    let files = [file("a", "0123456789abcdef"), file("b", "")];
    let old = fs::File::open(folder.path("a")).unwrap();
    folder.scratch.refresh(&files).unwrap();
    assert_eq!(folder.path("a").metadata().unwrap().ino(), old.metadata().unwrap().ino());
    assert_eq!(folder.collected(folder.scratch.layout(), &files), "");
    // Eight bytes are kept, so this lies beyond them.
    fs::write(folder.path("a"), "0123456789abcdeX").unwrap();
    assert_eq!(folder.collected(folder.scratch.layout(), &files), "a: \"01234567\" of 16 mode=644\n");
}

#[test]
fn the_difference_says_what_the_target_can_do_itself() {
    let mut folder = Folder::watched();
    let base = vec![
        file("plain", "x"),
        file("sub/inner", "x"),
        FileRegion { mode: Some(0o444), ..file("read-only", "x") },
        FileRegion { mode: Some(0o4755), ..file("special", "x") },
        FileRegion { size: Some(9), ..file("sparse", "x") },
        file("linked", "x"),
        region("link", FileKind::Hardlink("linked".into())),
        FileRegion { mode: Some(0o600), ..region("closed", FileKind::Folder) },
        file("closed/inner", "x"),
        region("symbolic", FileKind::Symlink("x".into())),
    ];
    folder.scratch.refresh(&base).unwrap();
    assert_eq!(folder.scratch.difference(&base), Difference::Same);
    for (index, region) in base.iter().enumerate() {
        let mut files = base.clone();
        files[index].kind = match &region.kind {
            FileKind::Regular(_) => FileKind::Regular("y".into()),
            FileKind::Symlink(_) => FileKind::Symlink("y".into()),
            _ => continue,
        };
        let expected = match region.path.as_str() {
            "plain" | "sub/inner" => Difference::Contents(vec![index]),
            _ => Difference::Other,
        };
        assert_eq!(folder.scratch.difference(&files), expected, "{}", region.path);
    }
    let with = |change: &dyn Fn(&mut FileRegion)| {
        let mut files = base.clone();
        change(&mut files[0]);
        files[1].kind = FileKind::Regular("y".into());
        folder.scratch.difference(&files)
    };
    assert_eq!(with(&|region| region.kind = FileKind::Regular("z".into())), Difference::Contents(vec![0, 1]));
    assert_eq!(with(&|region| region.path = "other".into()), Difference::Other);
    assert_eq!(with(&|region| region.mode = Some(0o600)), Difference::Other);
    assert_eq!(with(&|region| region.modified = Some(1)), Difference::Other);
    assert_eq!(with(&|region| region.accessed = Some(1)), Difference::Other);
    assert_eq!(with(&|region| region.owner = Some((1, 1))), Difference::Other);
    assert_eq!(with(&|region| region.size = Some(1)), Difference::Other);
    assert_eq!(folder.scratch.difference(&base[1..]), Difference::Other);
    folder.scratch.mark_changed();
    assert_eq!(folder.scratch.difference(&base), Difference::Other);
}

#[test]
fn a_file_of_another_user_is_left_to_the_host() {
    if !nix::unistd::geteuid().is_root() {
        // Owners cannot be set, so there is no such file.
        return;
    }
    let mut folder = Folder::watched();
    let files = |content| [FileRegion { owner: Some((12, 34)), ..file("theirs", content) }];
    folder.scratch.refresh(&files("x")).unwrap();
    assert_eq!(folder.scratch.difference(&files("y")), Difference::Other);
    let old = fs::File::open(folder.path("theirs")).unwrap();
    folder.scratch.refresh(&files("y")).unwrap();
    assert_eq!(fs::read(folder.path("theirs")).unwrap(), b"y");
    let status = old.metadata().unwrap();
    assert_eq!((status.nlink(), status.uid(), status.gid()), (1, 12, 34));
}

#[test]
fn what_the_target_wrote_for_us_is_what_is_compared_with() {
    let mut folder = Folder::watched();
    let files = |content| [file("a", content)];
    folder.scratch.refresh(&files("first")).unwrap();
    // A batch is planned ahead, and ends after its first input.
    for planned in ["second", "third"] {
        assert_eq!(folder.scratch.difference(&files(planned)), Difference::Contents(vec![0]));
        folder.scratch.now_holds(&files(planned));
    }
    fs::write(folder.path("a"), "second").unwrap();
    folder.scratch.now_holds(&files("second"));
    assert_eq!(folder.collected(folder.scratch.layout(), &files("second")), "");
    assert_eq!(folder.collected(folder.scratch.layout(), &files("third")), "a: \"second\" of 6 mode=644\n");
    folder.scratch.now_holds(&[file("b", "")]);
    assert!(folder.scratch.has_changed().unwrap());
}

#[test]
fn a_refresh_that_failed_is_made_good_by_the_next() {
    let mut folder = Folder::watched();
    let files = [file("a", "x")];
    folder.scratch.refresh(&files).unwrap();
    folder.scratch.refresh(&[file("b", ""), file("../c", "")]).unwrap_err();
    assert_eq!(folder.scratch.difference(&files), Difference::Other);
    folder.scratch.refresh(&files).unwrap();
    assert_eq!(fs::read_dir(&folder.path).unwrap().count(), 1);
    assert_eq!(fs::read(folder.path("a")).unwrap(), b"x");
}

#[test]
fn preparing_between_refreshes_is_noticed() {
    let mut folder = Folder::watched();
    folder.scratch.refresh(&[file("a", "x")]).unwrap();
    folder.scratch.prepare(&[file("a", "y")]).unwrap();
    folder.scratch.refresh(&[file("a", "x")]).unwrap();
    assert_eq!(fs::read(folder.path("a")).unwrap(), b"x");
}
