//! Lines whose comments ask that nothing on them be mutated.

use crate::source::{Scanner, Span};

/// What a comment says to ask for it.
const WORDS: &str = "cairn: skip";

/// What the comments in and before a function ask for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Whether the whole function is skipped.
    pub is_skipped: bool,
    /// The lines that are skipped, sorted.
    pub lines: Vec<u32>,
    /// Comments that read as if they asked for something and are not understood: where they begin, and what they say.
    pub not_understood: Vec<(usize, String)>,
}

impl Requests {
    /// Of the function at `span`, whose first line is `first_line`.
    pub fn of(text: &[u8], span: &Span, first_line: u32) -> Self {
        let mut requests = Self::default();
        let above = line_above(text, span.start);
        match request(text, above) {
            Some(Request::Skip { is_alone }) => requests.is_skipped = is_alone,
            Some(Request::NotUnderstood(at, words)) => requests.not_understood.push((at, words)),
            None => {}
        }
        for (number, line) in lines(text, span).into_iter().enumerate() {
            match request(text, line) {
                Some(Request::Skip { is_alone }) => {
                    requests.lines.push(first_line + number as u32 + u32::from(is_alone));
                }
                Some(Request::NotUnderstood(at, words)) => requests.not_understood.push((at, words)),
                None => {}
            }
        }
        requests
    }
}

/// What the comment of a line asks for.
enum Request {
    /// To skip the line, or the next one if the comment is alone.
    Skip { is_alone: bool },
    /// Something we do not know.
    NotUnderstood(usize, String),
}

/// A line, by its first byte and the byte after its last.
type Line = (usize, usize);

/// The lines of `span`.
fn lines(text: &[u8], span: &Span) -> Vec<Line> {
    let end = span.end.min(text.len());
    // What stands behind the end of a function still speaks of its last line.
    let end = end + text[end..].iter().position(|byte| *byte == b'\n').unwrap_or(text.len() - end);
    let mut start = span.start.min(end);
    let mut lines = Vec::new();
    for line in text[start..end].split(|byte| *byte == b'\n') {
        lines.push((start, start + line.len()));
        start += line.len() + 1;
    }
    lines
}

/// The last line with text above the one of byte `start`. A definition may be preceded by its type and attributes on
/// the same line.
fn line_above(text: &[u8], start: usize) -> Line {
    let before = &text[..start.min(text.len())];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let above = before[..line_start].trim_ascii_end();
    (above.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1), above.len())
}

fn request(text: &[u8], (start, end): Line) -> Option<Request> {
    let line = &text[start..end];
    // Most lines are none of ours.
    find(&line.to_ascii_lowercase(), b"cairn")?;
    let comment_at = comment_start(line)?;
    let comment = &line[comment_at..];
    let is_alone = line[..comment_at].iter().all(u8::is_ascii_whitespace);
    if asks_to_skip(comment) {
        return Some(Request::Skip { is_alone });
    }
    let words = String::from_utf8_lossy(comment).trim().to_owned();
    is_like_a_request(comment).then_some(Request::NotUnderstood(start + comment_at, words))
}

/// Whether a comment says exactly the words.
fn asks_to_skip(comment: &[u8]) -> bool {
    let mut rest = comment;
    while let Some(at) = find(rest, WORDS.as_bytes()) {
        let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| !is_word(*byte) && *byte != b'-');
        if is_end(rest.get(at + WORDS.len())) && is_end(at.checked_sub(1).and_then(|at| rest.get(at))) {
            return true;
        }
        rest = &rest[at + WORDS.len()..];
    }
    false
}

/// Whether a comment begins with our name and goes on as if it meant us: `cairn:`, or with a word like `skip`.
fn is_like_a_request(comment: &[u8]) -> bool {
    let said = comment.trim_ascii_start().to_ascii_lowercase();
    let said = &said[said.iter().take_while(|byte| b"/*! \t".contains(byte)).count()..];
    let Some(rest) = said.strip_prefix(b"cairn") else { return false };
    let n_between = rest.iter().take_while(|byte| b":;,.-_= \t".contains(byte)).count();
    let between = rest[..n_between].trim_ascii();
    between == b":" || n_between > 0 && rest[n_between..].starts_with(b"skip")
}

/// Where the comment at the end of `line` begins.
fn comment_start(line: &[u8]) -> Option<usize> {
    let mut scanner = Scanner::at(line, 0);
    // The last token ends where the blanks and comments before the end begin.
    let mut end_of_code = 0;
    while scanner.token().is_some() {
        end_of_code = scanner.offset;
    }
    let rest = &line[end_of_code..];
    let starts = [find(rest, b"//"), find(rest, b"/*")];
    starts.into_iter().flatten().min().map(|at| end_of_code + at)
}

fn find(text: &[u8], words: &[u8]) -> Option<usize> {
    text.windows(words.len()).position(|window| window == words)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(text: &str) -> Requests {
        let mut span = Span::none();
        span.end = text.len();
        Requests::of(text.as_bytes(), &span, 1)
    }

    fn skipped(text: &str) -> Vec<u32> {
        requests(text).lines
    }

    fn not_understood(text: &str) -> Vec<String> {
        requests(text).not_understood.into_iter().map(|(_, words)| words).collect()
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
        assert_eq!(Requests::of(text.as_bytes(), &span, 1).lines, [1]);
        span.start = text.find("int g").unwrap();
        span.end = text.len();
        assert_eq!(Requests::of(text.as_bytes(), &span, 2), Requests::default());
    }

    #[test]
    fn a_string_is_no_comment() {
        assert_eq!(requests("a = \"// cairn: skip\"; b = \"// cairn: skipped\";"), Requests::default());
    }

    #[test]
    fn a_function_is_skipped_by_the_line_before_it() {
        let text = "/* cairn: skip */\nstatic int f(void) {}\nint g;";
        let is_skipped = |from: &str| {
            let mut span = Span::none();
            (span.start, span.end) = (text.find(from).unwrap(), text.find(from).unwrap() + 5);
            Requests::of(text.as_bytes(), &span, 2).is_skipped
        };
        assert!(is_skipped("static") && is_skipped("int f") && !is_skipped("int g"));
    }

    #[test]
    fn only_the_exact_words_skip_and_others_are_told() {
        for comment in [
            "// cairn: skipped",
            "// cairn: skip-this",
            "// Cairn: skip",
            "//cairn:skip",
            "/* cairn skip */",
            "// cairn_skip",
            "/* cairn: ignore */",
        ] {
            let text = format!("a = 1; {comment}");
            assert_eq!(skipped(&text), [0u32; 0], "{comment}");
            assert_eq!(not_understood(&text), [comment]);
        }
    }

    #[test]
    fn comments_about_cairn_are_no_requests() {
        for comment in ["// cairn builds this too", "// see cairn: it skips lines", "// a cairn of stones"] {
            assert_eq!(requests(&format!("a = 1; {comment}")), Requests::default());
        }
    }
}
