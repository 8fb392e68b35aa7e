//! The tests of a suite, as its file lists them.

use crate::failure::Failure;
use std::{fs, path::Path};

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestLine {
    /// A line of shell.
    pub line: String,
    /// Names what the files hold that the line names: an edited script is another test.
    pub files: [u8; 32],
}

impl TestLine {
    fn new(line: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        // As a rough idea of a shell's words this does: what is no file is passed over.
        let is_between = |letter: char| letter.is_whitespace() || ";|&<>()\"'`$=".contains(letter);
        for word in line.split(is_between).filter(|word| !word.is_empty()) {
            // A device would be read for ever.
            if let Ok(metadata) = fs::metadata(word)
                && metadata.is_file()
                && let Ok(content) = fs::read(word)
            {
                hasher.update(word.as_bytes());
                hasher.update(blake3::hash(&content).as_bytes());
            }
        }
        Self { line: line.to_owned(), files: *hasher.finalize().as_bytes() }
    }
}

/// The tests in a file: one a line, without blank lines and those that start with `#`.
pub fn read_tests(path: &Path) -> Result<Vec<TestLine>, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("failed to read the tests `{}`: {error}", path.display())))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tests: Vec<TestLine> = lines.map(TestLine::new).collect();
    if tests.is_empty() {
        return Err(Failure::usage(format!("there are no tests in `{}`", path.display()))
            .hint("write one command a line; a test passes when it ends with 0"));
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_changes_with_the_files_it_names() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("check.sh");
        let list = folder.path().join("tests");
        fs::write(&list, format!("# one\n\n  sh {} 5 && true\n", script.display())).unwrap();
        let read = || read_tests(&list).unwrap();
        fs::write(&script, "exit 0").unwrap();
        let before = read();
        assert_eq!((before.len(), &before), (1, &read()));
        assert!(before[0].line.starts_with("sh ") && before[0].line.ends_with("&& true"));
        fs::write(&script, "exit 1").unwrap();
        assert_ne!(read()[0].files, before[0].files);
        fs::write(&list, "# none").unwrap();
        assert!(read_tests(&list).is_err());
    }
}
