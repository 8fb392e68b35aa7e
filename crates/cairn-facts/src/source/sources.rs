//! The files of a unit, and places in them.

use super::Scanner;
use crate::clang::{Cursor, File, Location, Unit};
use cairn_model::facts::{Extent, Place};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    ffi::{CStr, CString},
    path::{Path, PathBuf},
};

/// Longest text kept of an expression.
const TEXT_BYTES: usize = 200;

/// The files of a unit.
pub struct Sources<'u> {
    unit: &'u Unit,
    directory: &'u Path,
    names: RefCell<Vec<String>>,
    index: RefCell<HashMap<CString, u32>>,
    last_name: RefCell<(CString, u32)>,
    last_text: Cell<Option<(File, &'u [u8])>>,
}

/// From where to where something reaches: for readers in places, for us in bytes of its file.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// In places.
    pub extent: Extent,
    /// The file it begins in.
    pub file: Option<File>,
    /// The byte it begins at.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    /// Whether it begins in a macro.
    pub begins_in_macro: bool,
    /// The byte at which the use of the macro that it ends in begins.
    pub last_macro: Option<usize>,
}

#[cfg(test)]
impl Span {
    /// Nothing at the start of no file.
    pub fn none() -> Span {
        let start = Place { file: 0, line: 1, column: 1 };
        let extent = Extent { start, end: start };
        Span { extent, file: None, start: 0, end: 0, begins_in_macro: false, last_macro: None }
    }
}

impl<'u> Sources<'u> {
    /// Of a unit compiled in `directory`.
    pub fn new(unit: &'u Unit, directory: &'u Path) -> Sources<'u> {
        Sources {
            unit,
            directory,
            names: RefCell::default(),
            index: RefCell::default(),
            last_name: RefCell::new((CString::default(), u32::MAX)),
            last_text: Cell::new(None),
        }
    }

    /// The names that places refer to.
    pub fn into_names(self) -> Vec<String> {
        self.names.into_inner()
    }

    /// The place of a location; for a token from a macro, that of the macro's use.
    pub fn place(&self, location: Location<'_>) -> Place {
        let (file, line, column) = location.presumed(|name| self.file_index(name));
        Place { file, line, column }
    }

    /// Where `cursor` reaches. What comes from a macro reaches over the macro's whole use.
    pub fn span(&self, cursor: Cursor<'_>) -> Span {
        let (start, end) = cursor.extent();
        let start_place = self.place(start);
        let Some((file, offset)) = start.offset() else {
            let extent = Extent { start: start_place, end: start_place };
            return Span { extent, file: None, start: 0, end: 0, begins_in_macro: false, last_macro: None };
        };
        let mut span = Span {
            extent: Extent { start: start_place, end: start_place },
            file: Some(file),
            start: offset,
            end: offset,
            begins_in_macro: start.is_macro(),
            last_macro: None,
        };
        match end.offset() {
            // The last token is a macro's argument, whose end libclang reports at the macro's name.
            Some((end_file, use_offset)) if end.is_macro() && end_file == file => {
                span.end = Scanner::at(self.text(file), use_offset).end_of_macro_use();
                span.last_macro = Some(use_offset);
                span.extent.end = self.advance(file, offset, start_place, span.end);
            }
            Some((end_file, end_offset)) if end_file == file && end_offset > offset => {
                span.end = end_offset;
                span.extent.end = self.place(end);
            }
            _ => {}
        }
        span
    }

    /// The macro that all of `span` comes from.
    pub fn macro_name(&self, span: &Span) -> Option<String> {
        let file = span.file.filter(|_| span.begins_in_macro)?;
        let mut scanner = Scanner::at(self.text(file), span.start);
        if span.end > scanner.end_of_macro_use() {
            return None;
        }
        scanner.word().map(str::to_owned)
    }

    /// The text of `span`, comments left out and white space collapsed, cut after some length.
    pub fn excerpt(&self, span: &Span) -> String {
        let Some(file) = span.file else { return String::new() };
        // White space may be most of it, but not all.
        let end = span.end.clamp(span.start, span.start + 16 * TEXT_BYTES);
        let text = String::from_utf8_lossy(&self.text(file)[span.start..end]);
        let mut excerpt = String::new();
        for word in without_comments(&text.replace("\\\n", " ")).split_whitespace() {
            let separator = if excerpt.is_empty() { "" } else { " " };
            if excerpt.len() + separator.len() + word.len() > TEXT_BYTES {
                let space = TEXT_BYTES.saturating_sub(excerpt.len() + separator.len());
                let cut = (0..=space).rev().find(|at| word.is_char_boundary(*at)).unwrap_or(0);
                excerpt.push_str(if cut > 0 { separator } else { "" });
                excerpt.push_str(&word[..cut]);
                break;
            }
            excerpt.push_str(separator);
            excerpt.push_str(word);
        }
        excerpt
    }

    /// The tokens of a file from one byte to another.
    pub fn tokens_between(&self, file: File, start: usize, end: usize) -> Vec<String> {
        self.unit.tokens_between(file, start, end)
    }

    /// Scans from a byte of a file.
    pub fn scan(&self, file: File, offset: usize) -> Scanner<'u> {
        Scanner::at(self.text(file), offset)
    }

    /// The place of byte `to`, counted from byte `from` at `place`.
    pub fn advance(&self, file: File, from: usize, place: Place, to: usize) -> Place {
        let between = &self.text(file)[from..to.max(from)];
        match between.iter().rposition(|byte| *byte == b'\n') {
            None => Place { column: place.column + between.len() as u32, ..place },
            Some(last) => Place {
                line: place.line + between.iter().filter(|byte| **byte == b'\n').count() as u32,
                column: (between.len() - last) as u32,
                ..place
            },
        }
    }

    /// The place of any byte of the file of `near`, counted from where that begins.
    pub fn place_of_byte(&self, file: File, offset: usize, near: &Span) -> Place {
        if offset >= near.start {
            return self.advance(file, near.start, near.extent.start, offset);
        }
        let text = self.text(file);
        let n_lines = text[offset..near.start].iter().filter(|byte| **byte == b'\n').count() as u32;
        let line_start = text[..offset].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let start = near.extent.start;
        Place { line: start.line.saturating_sub(n_lines), column: (offset - line_start) as u32 + 1, ..start }
    }

    /// The text of a file.
    pub fn text(&self, file: File) -> &'u [u8] {
        match self.last_text.get() {
            Some((last, text)) if last == file => text,
            _ => {
                let text = self.unit.contents(file);
                self.last_text.set(Some((file, text)));
                text
            }
        }
    }

    fn file_index(&self, name: &CStr) -> u32 {
        if self.last_name.borrow().0.as_c_str() == name && self.last_name.borrow().1 != u32::MAX {
            return self.last_name.borrow().1;
        }
        let known = self.index.borrow().get(name).copied();
        let index = known.unwrap_or_else(|| {
            // Going through components drops `.`, so that `./a.c` and `a.c` are one file.
            let path: PathBuf = self.directory.join(&*name.to_string_lossy()).components().collect();
            let path = path.display().to_string();
            let mut names = self.names.borrow_mut();
            let index = names.iter().position(|other| *other == path).unwrap_or_else(|| {
                names.push(path);
                names.len() - 1
            }) as u32;
            self.index.borrow_mut().insert(name.to_owned(), index);
            index
        });
        *self.last_name.borrow_mut() = (name.to_owned(), index);
        index
    }
}

/// Replaces comments by spaces; what looks like one inside a string or character stays.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => literal_length(rest, first),
            '/' if rest.starts_with("/*") => {
                kept.push(' ');
                rest = rest[2..].find("*/").map_or("", |end| &rest[end + 4..]);
                continue;
            }
            '/' if rest.starts_with("//") => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            other => other.len_utf8(),
        };
        kept.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    kept
}

/// The length of the literal at the start of `text`, its quotes included.
fn literal_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_go_and_literals_stay() {
        assert_eq!(without_comments("a /* b */ + c // d"), "a   + c ");
        assert_eq!(without_comments(r#"f("/* no */", '"', "\"//")"#), r#"f("/* no */", '"', "\"//")"#);
        assert_eq!(without_comments("a /* open"), "a  ");
    }
}
