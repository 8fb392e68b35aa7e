//! Which functions are counted, mutated and searched.

use serde::{Deserialize, Serialize};

/// The scope of a build. Empty lists mean everything; system headers are always out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scope {
    /// Patterns of files, relative to the root: `src/*.c`, `lib/**`.
    pub files: Vec<String>,
    /// Patterns of function names.
    pub functions: Vec<String>,
    /// Patterns of files that are out, whatever `files` says.
    pub exclude_files: Vec<String>,
}

impl Scope {
    /// Whether a function is in scope. `path` is relative to the root where the file lies below it.
    pub fn includes(&self, path: &str, function: &str) -> bool {
        let any = |patterns: &[String], text: &str| patterns.iter().any(|pattern| matches(pattern, text));
        let is_system = path.starts_with("/usr/");
        !is_system
            && (self.files.is_empty() || any(&self.files, path))
            && (self.functions.is_empty() || any(&self.functions, function))
            && !any(&self.exclude_files, path)
    }
}

/// `?` is one character, `*` any number of them within a path part, `**` any number across parts.
fn matches(pattern: &str, text: &str) -> bool {
    fn go(pattern: &[u8], text: &[u8]) -> bool {
        match pattern {
            [] => text.is_empty(),
            [b'*', b'*', b'/', rest @ ..] => {
                go(rest, text) || (0..text.len()).any(|at| text[at] == b'/' && go(rest, &text[at + 1..]))
            }
            [b'*', b'*', rest @ ..] => (0..=text.len()).any(|at| go(rest, &text[at..])),
            [b'*', rest @ ..] => {
                let part = text.iter().position(|byte| *byte == b'/').unwrap_or(text.len());
                (0..=part).any(|at| go(rest, &text[at..]))
            }
            [b'?', rest @ ..] => matches!(text, [byte, left @ ..] if *byte != b'/' && go(rest, left)),
            [byte, rest @ ..] => matches!(text, [first, left @ ..] if first == byte && go(rest, left)),
        }
    }
    go(pattern.as_bytes(), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_paths() {
        assert!(matches("src/*.c", "src/sort.c"));
        assert!(!matches("src/*.c", "src/sub/sort.c"));
        assert!(matches("src/**", "src/sub/sort.c"));
        assert!(matches("**/sort.c", "src/sub/sort.c") && matches("**/sort.c", "sort.c"));
        assert!(matches("s?rt.c", "sort.c"));
    }

    #[test]
    fn system_headers_are_always_out() {
        assert!(!Scope::default().includes("/usr/include/stdlib.h", "atoi"));
        assert!(Scope::default().includes("src/a.c", "f"));
    }

    #[test]
    fn excluded_files_are_out_even_if_listed() {
        let scope = Scope {
            files: vec!["src/*.c".into()],
            exclude_files: vec!["src/gen.c".into()],
            ..Scope::default()
        };
        assert!(scope.includes("src/a.c", "f") && !scope.includes("src/gen.c", "f"));
    }
}
