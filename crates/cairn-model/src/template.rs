//! How a file of bytes becomes an input.

use crate::input::{FileKind, FileRegion, Input};

/// Where raw bytes go: how a file of bytes becomes an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The input without the bytes.
    pub base: Input,
    /// Whether the program is a harness, fed through its buffer.
    pub is_harness: bool,
    /// The largest raw input.
    pub max_size: u64,
}

/// The name of the file that stands for `@@`.
pub const RAW_FILE: &str = "input";

impl Template {
    /// The input that carries `bytes`: in the file `@@` names, else in the buffer of a harness, else on stdin.
    pub fn fill(&self, bytes: Vec<u8>) -> Input {
        let mut input = self.base.clone();
        let mut names_file = false;
        for arg in &mut input.args {
            // As AFL does: also as part of a longer word (`--in=@@`).
            while let Some(at) = arg.0.windows(2).position(|two| two == b"@@") {
                arg.0.splice(at..at + 2, RAW_FILE.bytes());
                names_file = true;
            }
        }
        if names_file {
            input.files.push(FileRegion {
                path: RAW_FILE.into(),
                kind: FileKind::Regular(bytes.into()),
                mode: None,
                size: None,
                modified: None,
                accessed: None,
                owner: None,
            });
        } else if self.is_harness {
            input.buffer = Some(bytes.into());
        } else {
            input.stdin = bytes.into();
        }
        input
    }

    /// The bytes that [`Template::fill`] makes an input of, if it is one of those.
    pub fn raw<'a>(&self, input: &'a Input) -> Option<&'a [u8]> {
        let carrier = input.files.iter().find(|file| file.path == RAW_FILE).map(|file| &file.kind);
        let candidates = [
            match carrier {
                Some(FileKind::Regular(content)) => Some(&content.0),
                _ => None,
            },
            input.buffer.as_ref().map(|buffer| &buffer.0),
            Some(&input.stdin.0),
        ];
        candidates.into_iter().flatten().find(|bytes| self.fill(bytes.to_vec()) == *input).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(words: &[&str], is_harness: bool) -> Template {
        let args = words.iter().map(|word| (*word).into()).collect();
        Template { base: Input { args, ..Input::default() }, is_harness, max_size: 100 }
    }

    #[test]
    fn raw_bytes_go_where_the_arguments_say() {
        let input = template(&["-n", "@@"], false).fill(b"x".to_vec());
        assert_eq!(input.to_string(), "args: [\"-n\", \"input\"]\nfile input: \"x\"\n");
        let input = template(&["--in=@@"], false).fill(b"x".to_vec());
        assert_eq!(input.to_string(), "args: [\"--in=input\"]\nfile input: \"x\"\n");
        let input = template(&[], false).fill(b"x".to_vec());
        assert_eq!(input.to_string(), "stdin: \"x\"\n");
        let input = template(&[], true).fill(b"x".to_vec());
        assert_eq!(input.to_string(), "buffer: \"x\"\n");
    }

    #[test]
    fn raw_bytes_are_found_again() {
        for words in [&["-n", "@@"][..], &["-n"]] {
            let template = template(words, false);
            let mut input = template.fill(b"xyz".to_vec());
            assert_eq!(template.raw(&input), Some(b"xyz".as_slice()));
            input.args[0] = "-m".into();
            assert_eq!(template.raw(&input), None);
        }
    }
}
