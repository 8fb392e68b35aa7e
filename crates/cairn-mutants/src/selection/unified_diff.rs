//! Which lines a change adds.

use std::{collections::BTreeMap, ops::RangeInclusive, str::FromStr};

/// Lines that a unified diff adds, by the path of the new file.
///
/// Reads what `git diff`, `diff -u` and `diff -ru` write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedLines {
    files: BTreeMap<String, Vec<RangeInclusive<u32>>>,
}

/// Why a text is no unified diff.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// Nothing in it looks like a diff.
    #[error("this is no unified diff: it has neither a `+++` line nor a header of git")]
    NoHeader,
    /// A line that does not belong there.
    #[error("line {line} of the diff makes no sense: `{text}`")]
    BadLine {
        /// Its number, from 1.
        line: usize,
        /// What it says.
        text: String,
    },
    /// It ends too early.
    #[error("the diff ends in the middle of a change to `{path}`")]
    Truncated {
        /// The file.
        path: String,
    },
}

impl ChangedLines {
    /// Files and the ranges of lines added to them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[RangeInclusive<u32>])> {
        self.files.iter().map(|(path, lines)| (path.as_str(), &lines[..]))
    }

    fn add(&mut self, path: &str, line: u32) {
        let ranges = self.files.entry(path.to_owned()).or_default();
        match ranges.last_mut() {
            Some(last) if *last.end() + 1 == line => *last = *last.start()..=line,
            _ => ranges.push(line..=line),
        }
    }
}

/// Lines left in a hunk.
#[derive(Clone, Copy)]
struct Hunk {
    old: u32,
    new: u32,
    /// The next line of the new file.
    line: u32,
}

impl FromStr for ChangedLines {
    type Err = DiffError;

    fn from_str(text: &str) -> Result<Self, DiffError> {
        let mut changed = Self::default();
        let mut old_path = None;
        // The file being changed; `None` inside for one that is deleted.
        let mut path: Option<Option<String>> = None;
        let mut hunk: Option<Hunk> = None;
        let mut has_header = false;
        let mut is_binary = false;
        for (index, line) in text.lines().enumerate() {
            let bad = || DiffError::BadLine { line: index + 1, text: line.to_owned() };
            if let Some(open) = hunk.as_mut() {
                let name = path.as_ref().and_then(Option::as_deref);
                open.read(line, name, &mut changed).ok_or_else(bad)?;
                if open.old == 0 && open.new == 0 {
                    hunk = None;
                }
                continue;
            }
            if let Some(rest) = line.strip_prefix("@@ ") {
                path.as_ref().ok_or_else(bad)?;
                hunk = Some(hunk_header(rest).ok_or_else(bad)?).filter(|hunk| hunk.old + hunk.new > 0);
            } else if let Some(rest) = line.strip_prefix("--- ") {
                old_path = Some(file_name(rest));
                path = None;
            } else if let Some(rest) = line.strip_prefix("+++ ") {
                let old = old_path.take().ok_or_else(bad)?;
                path = Some(new_path(&old, &file_name(rest)));
                has_header = true;
            } else if line.starts_with("diff ") {
                path = None;
                is_binary = false;
                has_header = true;
            } else if line == "GIT binary patch" {
                is_binary = true;
            } else if line == "-- " {
                // A patch sent by mail ends with a signature.
                break;
            } else if has_header && !is_binary && !is_remark(line) {
                // Before the first header, a commit may tell about itself.
                return Err(bad());
            }
        }
        if hunk.is_some() {
            return Err(DiffError::Truncated { path: path.flatten().unwrap_or_default() });
        }
        if !has_header && !text.trim().is_empty() {
            return Err(DiffError::NoHeader);
        }
        Ok(changed)
    }
}

impl Hunk {
    /// Takes one line of the hunk; `None` if it cannot be one.
    fn read(&mut self, line: &str, path: Option<&str>, changed: &mut ChangedLines) -> Option<()> {
        match line.as_bytes().first() {
            Some(b'+') => {
                self.new = self.new.checked_sub(1)?;
                if let Some(path) = path {
                    changed.add(path, self.line);
                }
                self.line += 1;
            }
            Some(b'-') => self.old = self.old.checked_sub(1)?,
            // Editors and mailers take the space of an empty line away.
            Some(b' ') | None => {
                self.old = self.old.checked_sub(1)?;
                self.new = self.new.checked_sub(1)?;
                self.line += 1;
            }
            // No newline at the end of the file.
            Some(b'\\') => {}
            Some(_) => return None,
        }
        Some(())
    }
}

/// `-1,5 +1,7 @@ int main()`
fn hunk_header(text: &str) -> Option<Hunk> {
    let (old, rest) = text.strip_prefix('-')?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let (_, old) = range(old)?;
    let (line, new) = range(new)?;
    Some(Hunk { old, new, line })
}

fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, length)) => Some((start.parse().ok()?, length.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// The path of a `---` or `+++` line: git quotes unusual ones, and others put a tab and a date behind.
fn file_name(text: &str) -> String {
    match text.strip_prefix('"').and_then(|rest| rest.rsplit_once('"')) {
        Some((quoted, _)) => unquoted(quoted),
        None => text.split('\t').next().unwrap_or(text).trim_end().to_owned(),
    }
}

/// Resolves the escapes of a C string.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let octal = rest.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(byte);
            rest = &rest[3..];
        } else if let Some((letter, after)) = rest.split_first() {
            bytes.push(match letter {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                other => *other,
            });
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The new file's path without git's prefix; `None` for a deleted file.
fn new_path(old: &str, new: &str) -> Option<String> {
    if new == "/dev/null" {
        return None;
    }
    let prefix =
        |path: &str| path.split_once('/').map(|(prefix, _)| prefix.to_owned()).filter(|p| p.len() == 1);
    let (old_prefix, new_prefix) = (prefix(old), prefix(new));
    let is_git = match (old_prefix.as_deref(), new_prefix.as_deref()) {
        (Some(old), Some(new)) => old != new && "abciow".contains(old) && "abciow".contains(new),
        (None, Some(new)) => old == "/dev/null" && matches!(new, "b" | "w" | "i"),
        _ => false,
    };
    Some(if is_git { new[2..].to_owned() } else { new.to_owned() })
}

/// Lines between files that say nothing about lines.
fn is_remark(line: &str) -> bool {
    const REMARKS: [&str; 15] = [
        "index ",
        "old mode ",
        "new mode ",
        "new file mode ",
        "deleted file mode ",
        "similarity index ",
        "dissimilarity index ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
        "Binary files ",
        "Only in ",
        "Index: ",
        "====",
    ];
    // The last line of a file without a newline is told of after the hunk.
    line.trim().is_empty() || line.starts_with('\\') || REMARKS.iter().any(|remark| line.starts_with(remark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let shown = match text.parse::<ChangedLines>() {
            Ok(changed) => changed.iter().map(|(path, lines)| format!("{path} {lines:?}\n")).collect(),
            Err(problem) => problem.to_string(),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn lines_count_in_the_new_file() {
        check(
            "\
diff --git a/src/sort.c b/src/sort.c
index 123..456 100644
--- a/src/sort.c
+++ b/src/sort.c
@@ -10,4 +10,5 @@ int main()
 a
-b
+B
+C
 d
 e
@@ -90 +91,2 @@
 x
+y
",
            expect![[r#"
                src/sort.c [11..=12, 92..=92]
            "#]],
        );
    }

    #[test]
    fn new_renamed_deleted_and_binary_files_are_understood() {
        check(
            "\
diff --git a/new.c b/new.c
new file mode 100644
index 000..123
--- /dev/null
+++ b/new.c
@@ -0,0 +1,2 @@
+a
+b
\\ No newline at end of file
diff --git a/old name.c b/moved.c
similarity index 90%
rename from old name.c
rename to moved.c
--- a/old name.c\t
+++ b/moved.c
@@ -1,2 +1,2 @@
-a
+b
 c
diff --git a/gone.c b/gone.c
deleted file mode 100644
--- a/gone.c
+++ /dev/null
@@ -1 +0,0 @@
-a
diff --git a/x.png b/x.png
Binary files a/x.png and b/x.png differ
",
            expect![[r#"
                moved.c [1..=1]
                new.c [1..=2]
            "#]],
        );
    }

    #[test]
    fn plain_diffs_and_quoted_paths_are_understood() {
        check(
            "\
--- sort.c.orig\t2024-01-01 00:00:00
+++ sort.c\t2024-01-02 00:00:00
@@ -1 +1 @@
-a
+b
--- \"a/\\303\\244.c\"
+++ \"b/\\303\\244.c\"
@@ -3,0 +4 @@
+--- not a header
",
            expect![[r#"
                sort.c [1..=1]
                ä.c [4..=4]
            "#]],
        );
    }

    #[test]
    fn what_a_commit_says_about_itself_is_skipped() {
        check(
            "\
commit 123
Author: A

    Fix it.

diff --git a/x.bin b/x.bin
GIT binary patch
literal 3
Kc${Nk

diff --git a/x.c b/x.c
--- a/x.c
+++ b/x.c
@@ -1,2 +1 @@
-a
 b
--\x20
2.39
",
            expect![""],
        );
    }

    #[test]
    fn garbage_is_told_apart_from_a_diff() {
        check(
            "int main() {}\n",
            expect!["this is no unified diff: it has neither a `+++` line nor a header of git"],
        );
        check("@@ -1 +1 @@\n", expect!["line 1 of the diff makes no sense: `@@ -1 +1 @@`"]);
        check(
            "--- a/x\n+++ b/x\n@@ nonsense @@\n",
            expect!["line 3 of the diff makes no sense: `@@ nonsense @@`"],
        );
        check(
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\nhello\n",
            expect!["line 4 of the diff makes no sense: `hello`"],
        );
        check(
            "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n",
            expect!["the diff ends in the middle of a change to `x`"],
        );
        check("+++ b/x\n", expect!["line 1 of the diff makes no sense: `+++ b/x`"]);
        check("", expect![""]);
    }
}
