//! Lines whose comments ask that nothing on them be mutated.

use crate::source::{Scanner, Span};

/// What a comment says to ask for it.
const WORDS: &str = "cairn: skip";

/// The lines of `span`, counted from `first_line` at its start, that `cairn: skip` excludes.
pub fn lines(text: &[u8], span: &Span, first_line: u32) -> Vec<u32> {
    let mut lines = Vec::new();
    let end = span.end.min(text.len());
    // What stands behind the end of a function still speaks of its last line.
    let end = end + text[end..].iter().position(|byte| *byte == b'\n').unwrap_or(text.len() - end);
    let body = &text[span.start.min(end)..end];
    for (number, line) in body.split(|byte| *byte == b'\n').enumerate() {
        let Some(words_at) = find(line, WORDS.as_bytes()) else { continue };
        let Some(comment_at) = comment_start(&line[..words_at]) else { continue };
        let is_alone = line[..comment_at].iter().all(u8::is_ascii_whitespace);
        lines.push(first_line + number as u32 + u32::from(is_alone));
    }
    lines
}

/// Whether the comment just before byte `start` of `text` asks to skip what begins there.
pub fn stands_before(text: &[u8], start: usize) -> bool {
    let before = &text[..start.min(text.len())];
    // The definition may be preceded by its type and attributes on the same line.
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let above = before[..line_start].trim_ascii_end();
    let last_line = above.iter().rposition(|byte| *byte == b'\n').map_or(above, |at| &above[at + 1..]);
    let Some(words_at) = find(last_line, WORDS.as_bytes()) else { return false };
    comment_start(&last_line[..words_at])
        .is_some_and(|comment_at| last_line[..comment_at].iter().all(u8::is_ascii_whitespace))
}

/// Where the comment that holds the end of `line` begins.
fn comment_start(line: &[u8]) -> Option<usize> {
    let mut scanner = Scanner::at(line, 0);
    // The last token ends where the blanks and comments before the end begin.
    let mut end_of_code = 0;
    while scanner.token().is_some() {
        end_of_code = scanner.offset;
    }
    let rest = &line[end_of_code..];
    find(rest, b"//").or_else(|| find(rest, b"/*")).map(|at| end_of_code + at)
}

fn find(text: &[u8], words: &[u8]) -> Option<usize> {
    text.windows(words.len()).position(|window| window == words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(text: &str) -> Vec<u32> {
        let mut span = Span::none();
        span.end = text.len();
        lines(text.as_bytes(), &span, 1)
    }

    #[test]
    fn a_comment_at_the_end_skips_its_line() {
        assert_eq!(skipped("a = 1; // cairn: skip\nb = 2; /* cairn: skip */"), [1, 2]);
    }

    #[test]
    fn a_comment_alone_skips_the_next_line() {
        assert_eq!(skipped("  // cairn: skip\n  a = 1;\n/* cairn: skip: the log only */\nb = 2;"), [2, 4]);
    }

    #[test]
    fn a_comment_behind_the_last_brace_skips_the_last_line() {
        let text = "int f(void) { return 0; } // cairn: skip\nint g(void) { return 0; }";
        let mut span = Span::none();
        span.end = text.find('}').unwrap() + 1;
        assert_eq!(lines(text.as_bytes(), &span, 1), [1]);
        span.start = text.find("int g").unwrap();
        span.end = text.len();
        assert_eq!(lines(text.as_bytes(), &span, 2), [0u32; 0]);
    }

    #[test]
    fn a_string_is_no_comment() {
        assert_eq!(skipped("a = \"// cairn: skip\";"), [0u32; 0]);
    }

    #[test]
    fn a_function_is_skipped_by_the_line_before_it() {
        let text = "/* cairn: skip */\nstatic int f(void) {}\nint g;";
        assert!(stands_before(text.as_bytes(), text.find("static").unwrap()));
        assert!(stands_before(text.as_bytes(), text.find("int f").unwrap()));
        assert!(!stands_before(text.as_bytes(), text.find("int g").unwrap()));
    }
}
