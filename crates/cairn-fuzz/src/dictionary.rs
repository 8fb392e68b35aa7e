//! Words of the target's language.

mod file;
mod literals;

pub use self::file::DictionaryError;

use cairn_model::ProgramMap;
use std::collections::BTreeSet;

/// Words and numbers that mean something to a program, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dictionary {
    tokens: Vec<Vec<u8>>,
    /// Positions of the tokens that look like options.
    options: Vec<u32>,
    numbers: Vec<u64>,
    floats: Vec<f64>,
    known: BTreeSet<Vec<u8>>,
}

/// Longer words than this are sentences.
pub(crate) const LONGEST_TOKEN: usize = 128;

/// More words than this only make the good ones rare.
const MOST_TOKENS: usize = 8192;

impl Dictionary {
    /// Reads a dictionary file as AFL and libFuzzer have them: a word in quotes on each line, perhaps with a name before
    /// it.
    ///
    /// ```text
    ///   # a comment
    ///   "plain"
    ///   keyword="while"
    ///   header@2="\x7fELF"
    /// ```
    pub fn parse(text: &[u8]) -> Result<Self, DictionaryError> {
        let mut dictionary = Self::default();
        for token in file::tokens(text)? {
            dictionary.add(token);
        }
        Ok(dictionary)
    }

    /// The strings, characters and numbers that stand in a program.
    pub fn of_program(map: &ProgramMap) -> Self {
        let mut dictionary = Self::default();
        literals::collect(map, &mut dictionary);
        dictionary
    }

    /// Adds a word, unless it is there or is no word.
    pub fn add(&mut self, token: Vec<u8>) {
        let fits = (1..=LONGEST_TOKEN).contains(&token.len()) && self.tokens.len() < MOST_TOKENS;
        if !fits || !self.known.insert(token.clone()) {
            return;
        }
        if token.len() > 1 && token[0] == b'-' && !token.contains(&0) {
            self.options.push(self.tokens.len() as u32);
        }
        self.tokens.push(token);
    }

    /// Adds a whole number, also as the bytes in which inputs may hold it.
    pub fn add_number(&mut self, number: u64) {
        if self.numbers.contains(&number) || self.numbers.len() >= MOST_TOKENS {
            return;
        }
        self.numbers.push(number);
        let bytes = number.to_le_bytes();
        // A single byte is found by chance soon enough.
        let widths: &[usize] = match number {
            0..=0xff => &[],
            0x100..=0xffff => &[2, 4],
            0x1_0000..=0xffff_ffff => &[4],
            // Small negative numbers mean nothing in eight bytes that they do not in four.
            0xffff_ffff_8000_0000.. => &[4],
            _ => &[8],
        };
        for width in widths {
            let little = bytes[..*width].to_vec();
            self.add(little.iter().rev().copied().collect());
            self.add(little);
        }
        if number > 9 {
            self.add(number.cast_signed().to_string().into_bytes());
        }
    }

    /// Adds a number with a fraction.
    pub fn add_float(&mut self, number: f64) {
        if !self.floats.iter().any(|known| known.to_bits() == number.to_bits())
            && self.floats.len() < MOST_TOKENS
        {
            self.floats.push(number);
            self.add(number.to_string().into_bytes());
        }
    }

    /// Adds everything that another has.
    pub fn extend(&mut self, other: &Self) {
        for token in &other.tokens {
            self.add(token.clone());
        }
        other.numbers.iter().for_each(|number| self.add_number(*number));
        other.floats.iter().for_each(|number| self.add_float(*number));
    }

    /// The words.
    pub fn tokens(&self) -> &[Vec<u8>] {
        &self.tokens
    }

    /// The words that begin with a dash.
    pub fn options(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.options.iter().map(|index| self.tokens[*index as usize].as_slice())
    }

    /// The whole numbers.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// The others.
    pub fn floats(&self) -> &[f64] {
        &self.floats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_once_and_options_are_known() {
        let mut dictionary = Dictionary::default();
        for token in ["-v", "magic", "-v", "-", ""] {
            dictionary.add(token.into());
        }
        assert_eq!(dictionary.tokens(), [b"-v".to_vec(), b"magic".to_vec(), b"-".to_vec()]);
        assert_eq!(dictionary.options().collect::<Vec<_>>(), [b"-v"]);
    }

    #[test]
    fn numbers_are_words_in_both_orders_of_bytes() {
        let mut dictionary = Dictionary::default();
        dictionary.add_number(0xcafe);
        let words: Vec<String> =
            dictionary.tokens().iter().map(|token| token.escape_ascii().to_string()).collect();
        assert_eq!(words, [r"\xca\xfe", r"\xfe\xca", r"\x00\x00\xca\xfe", r"\xfe\xca\x00\x00", "51966"]);
        dictionary.add_number(7);
        dictionary.add_number(42);
        assert_eq!(dictionary.tokens()[5..], [b"42".to_vec()]);
        assert_eq!(dictionary.numbers(), [0xcafe, 7, 42]);
    }
}
