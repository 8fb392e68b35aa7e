//! Files that arguments name.
//!
//! A solver that changes such an argument thinks of its bytes, not of the file behind them. The program is to find the file
//! all the same, so it goes along under its new name.

use cairn_model::{
    Input,
    input::{FileKind, FileRegion},
};

/// The longest part of a path that file systems take.
const MAX_PART: usize = 255;

/// Gives the files that arguments of `old` name the names that the arguments of `new` have in their place.
///
/// A file that something else of the input refers to keeps its old name, too. Where the new word is no name for a file, or
/// that of another one, nothing changes: that may be just what was asked for.
pub(super) fn follow(old: &Input, new: &mut Input) {
    for index in 0..old.args.len().min(new.args.len()) {
        let (before, after) = (&old.args[index].0, &new.args[index].0);
        if before == after {
            continue;
        }
        let Some((at, from)) = named(&old.files, before) else { continue };
        if after.get(..at) != before.get(..at) {
            continue;
        }
        let Some(to) = as_name(&after[at..]).filter(|to| is_free(&new.files, to)) else { continue };
        let (from, to) = (from.to_owned(), to.to_owned());
        let is_shared = is_referred_to(new, &from, index);
        let moved = new.files.iter().filter_map(|file| Some((file, within(&file.path, &from)?)));
        let moved: Vec<FileRegion> =
            moved.map(|(file, rest)| FileRegion { path: format!("{to}{rest}"), ..file.clone() }).collect();
        if is_shared {
            // Behind the others, whose numbers expressions know.
            new.files.extend(moved);
        } else {
            let places = new.files.iter_mut().filter(|file| within(&file.path, &from).is_some());
            for (place, file) in places.zip(moved) {
                *place = file;
            }
        }
    }
}

/// Where in a word the name of a file or folder of the input starts, and the name: a whole word, or what follows an option.
fn named<'a>(files: &[FileRegion], word: &'a [u8]) -> Option<(usize, &'a str)> {
    let after_option = match word {
        [b'-', b'-', rest @ ..] => rest.iter().position(|byte| *byte == b'=').map(|at| at + 3),
        [b'-', _, _, ..] => Some(2),
        _ => None,
    };
    [Some(0), after_option].into_iter().flatten().find_map(|at| {
        let at = if word[at..].starts_with(b"./") { at + 2 } else { at };
        let name = as_name(&word[at..])?;
        files.iter().any(|file| within(&file.path, name).is_some()).then_some((at, name))
    })
}

/// Bytes as the name of a file of an input, without slashes at the end.
fn as_name(bytes: &[u8]) -> Option<&str> {
    let name = str::from_utf8(bytes).ok()?.trim_end_matches('/');
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && part.len() <= MAX_PART;
    name.split('/').all(is_part).then_some(name)
}

/// What follows `folder` in a path that is the folder itself or lies in it.
fn within<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a file can have a name: nothing else has it, and only folders are on the way to it.
fn is_free(files: &[FileRegion], name: &str) -> bool {
    files.iter().all(|file| {
        let is_on_the_way = within(name, &file.path).is_some() && file.kind != FileKind::Folder;
        !is_on_the_way && within(&file.path, name).is_none()
    })
}

/// Whether something but the argument at `index` may refer to a file.
fn is_referred_to(input: &Input, name: &str, index: usize) -> bool {
    let mentions = |bytes: &[u8]| bytes.windows(name.len()).any(|window| window == name.as_bytes());
    let other_args = input.args.iter().enumerate().filter(|(at, _)| *at != index);
    let mut in_files = input.files.iter().map(|file| match &file.kind {
        FileKind::Regular(content) => mentions(&content.0),
        FileKind::Symlink(target) => mentions(&target.0),
        FileKind::Hardlink(target) => within(target, name).is_some(),
        FileKind::Folder | FileKind::Fifo => false,
    });
    mentions(&input.stdin.0)
        || in_files.any(|is| is)
        || other_args.into_iter().any(|(_, arg)| mentions(&arg.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn input(args: &[&str], files: &[(&str, FileKind)]) -> Input {
        let file = |(path, kind): &(&str, FileKind)| FileRegion {
            path: (*path).into(),
            kind: kind.clone(),
            mode: None,
            size: None,
            modified: None,
            accessed: None,
            owner: None,
        };
        Input {
            args: args.iter().map(|arg| (*arg).into()).collect(),
            files: files.iter().map(file).collect(),
            ..Input::default()
        }
    }

    /// The files after arguments have changed.
    fn check(before: &[&str], after: &[&str], files: &[(&str, FileKind)], expected: Expect) {
        let old = input(before, files);
        let mut new = input(after, files);
        follow(&old, &mut new);
        let paths: Vec<&str> = new.files.iter().map(|file| file.path.as_str()).collect();
        expected.assert_eq(&paths.join(" "));
    }

    fn text(content: &str) -> FileKind {
        FileKind::Regular(content.into())
    }

    #[test]
    fn a_file_goes_along_with_its_name() {
        let files = [("in", text("1")), ("out", text("2"))];
        check(&["in"], &["on"], &files, expect!["on out"]);
        check(&["./in"], &["./on"], &files, expect!["on out"]);
        check(&["-fin"], &["-fon"], &files, expect!["on out"]);
        check(&["--file=in"], &["--file=input"], &files, expect!["input out"]);
        check(&["in"], &["-n"], &files, expect!["-n out"]);
        check(&["x"], &["y"], &files, expect!["in out"]);
    }

    #[test]
    fn a_folder_takes_what_it_holds() {
        let files = [("d", FileKind::Folder), ("d/a", text("")), ("e/b", text("")), ("dd", text(""))];
        check(&["d/"], &["x/"], &files, expect!["x x/a e/b dd"]);
        check(&["e"], &["f"], &files, expect!["d d/a f/b dd"]);
        check(&["d/a"], &["d/z"], &files, expect!["d d/z e/b dd"]);
    }

    #[test]
    fn what_others_refer_to_stays_as_well() {
        check(&["in", "in"], &["on", "in"], &[("in", text("1"))], expect!["in on"]);
        check(
            &["-f", "s", "in"],
            &["-f", "s", "on"],
            &[("s", text("r in")), ("in", text("1"))],
            expect!["s in on"],
        );
        let link = [("in", text("1")), ("l", FileKind::Symlink("in".into()))];
        check(&["in"], &["on"], &link, expect!["in l on"]);
    }

    #[test]
    fn not_every_word_is_a_name() {
        let files = [("in", text("1")), ("out", text("2"))];
        check(&["in"], &["/n"], &files, expect!["in out"]);
        check(&["in"], &[".."], &files, expect!["in out"]);
        check(&["in"], &["out"], &files, expect!["in out"]);
        check(&["in"], &["out/n"], &files, expect!["in out"]);
        check(&["-fin"], &["-gin"], &files, expect!["in out"]);
        check(&["in"], &[""], &files, expect!["in out"]);
    }
}
