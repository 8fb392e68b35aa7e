//! Text from elsewhere, made fit to be shown.
//!
//! What a program under test says, what its source is called and what inputs hold may be made to deceive: a control
//! character moves a terminal's cursor, a direction mark turns text around.

use std::fmt::{self, Write};

/// The text with every character that would not show itself written as an escape; newlines and tabs stay.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            character if is_hidden(character) => shown.extend(character.escape_default()),
            character => shown.push(character),
        }
    }
    shown
}

/// Likewise, in one line.
pub fn one_line(text: &str) -> String {
    // A hint stands apart, also where it has no line of its own.
    let text = text.replace("\n\nhint: ", "; hint: ");
    let words: Vec<&str> = text.split(['\n', '\t']).map(str::trim).filter(|part| !part.is_empty()).collect();
    printable(&words.join(" "))
}

/// `1 234 567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(' ');
        }
        shown.push(digit);
    }
    shown
}

/// The beginning of what would be a longer text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// As much as there was room for.
    pub text: String,
    /// Whether something is missing.
    pub is_cut: bool,
}

impl Beginning {
    /// At most `room` characters of what `value` prints; the rest is not even made.
    pub fn of(value: &dyn fmt::Display, room: usize) -> Self {
        let mut bounded = Bounded { text: String::new(), room };
        let is_cut = write!(bounded, "{value}").is_err();
        Self { text: bounded.text, is_cut }
    }

    /// At most `room` characters of this.
    pub fn cut(&self, room: usize) -> Self {
        let shorter = Self::of(&self.text, room);
        Self { is_cut: self.is_cut || shorter.is_cut, ..shorter }
    }
}

struct Bounded {
    text: String,
    room: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for character in more.chars() {
            self.room = self.room.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}

/// Control characters, marks of direction, and characters without width that hide in words.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_not_show_itself_is_written_out() {
        assert_eq!(printable("a\x1b[2J\u{202e}b\né"), "a\\u{1b}[2J\\u{202e}b\né");
        assert_eq!(one_line("two\n\nhint: lines\r"), "two; hint: lines");
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
    }

    #[test]
    fn a_beginning_says_whether_it_is_all() {
        assert_eq!(Beginning::of(&"abc", 3), Beginning { text: "abc".into(), is_cut: false });
        let cut = Beginning::of(&"äöü", 2);
        assert_eq!(cut, Beginning { text: "äö".into(), is_cut: true });
        assert!(cut.cut(9).is_cut);
    }
}
