//! Response files: `@file` on a command line stands for the words in the file.
//!
//! Quoting follows GNU: white space separates, a backslash protects the next character, single and double quotes
//! protect white space. A file may name others. A name that cannot be read stands for itself, as in clang.

use std::{fs, path::Path};

/// Files inside files beyond this depth are taken for a cycle and left alone.
const MAX_DEPTH: usize = 32;

/// Replaces every `@file` by the words in it; names are relative to `directory`. `None` if a file is not UTF-8.
pub fn expand(words: &[String], directory: &Path) -> Option<Vec<String>> {
    let mut expanded = Vec::with_capacity(words.len());
    expand_into(words, directory, 0, &mut expanded)?;
    Some(expanded)
}

fn expand_into(words: &[String], directory: &Path, depth: usize, expanded: &mut Vec<String>) -> Option<()> {
    for word in words {
        let content = word
            .strip_prefix('@')
            .filter(|_| depth < MAX_DEPTH)
            .and_then(|name| fs::read(directory.join(name)).ok());
        match content {
            Some(content) => {
                let inner = split(std::str::from_utf8(&content).ok()?);
                expand_into(&inner, directory, depth + 1, expanded)?;
            }
            None => expanded.push(word.clone()),
        }
    }
    Some(())
}

/// Splits the text of a response file into words.
pub fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (_, '\\') => {
                if let Some(protected) = characters.next() {
                    word.get_or_insert_default().push(protected);
                }
            }
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// Writes words so that [`split`] gives them back.
pub fn join(words: &[String]) -> String {
    let mut text = String::new();
    for word in words {
        text.push('"');
        for character in word.chars() {
            if matches!(character, '"' | '\\') {
                text.push('\\');
            }
            text.push(character);
        }
        text.push_str("\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| word.to_string()).collect()
    }

    #[test]
    fn quotes_and_backslashes_protect_white_space() {
        assert_eq!(
            split("a  'b c'\n\"d \\\"e\\\"\" f\\ g -DX=\"y z\" ''"),
            words(&["a", "b c", "d \"e\"", "f g", "-DX=y z", ""])
        );
    }

    #[test]
    fn joined_words_split_into_themselves() {
        let original = words(&["plain", "with space", "quote\"s'", "back\\slash", "", "line\nbreak"]);
        assert_eq!(split(&join(&original)), original);
    }

    #[test]
    fn nested_files_expand_and_missing_ones_stand_for_themselves() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("outer"), "a @inner d").unwrap();
        fs::write(folder.path().join("inner"), "'b c'").unwrap();
        let expanded = expand(&words(&["x", "@outer", "@absent"]), folder.path());
        assert_eq!(expanded, Some(words(&["x", "a", "b c", "d", "@absent"])));
    }

    #[test]
    fn a_file_naming_itself_comes_to_an_end() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("loop"), "a @loop").unwrap();
        let expanded = expand(&words(&["@loop"]), folder.path()).unwrap();
        assert_eq!(expanded.last().map(String::as_str), Some("@loop"));
    }
}
