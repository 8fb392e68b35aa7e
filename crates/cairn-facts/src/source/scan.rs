//! Just enough of C's lexical grammar to find what libclang does not tell: the operator between two operands, the
//! end of a macro's use, the parts of a `for`.

/// Reads tokens from a file's text.
#[derive(Clone, Copy)]
pub struct Scanner<'t> {
    text: &'t [u8],
    /// The byte offset it has reached.
    pub offset: usize,
}

/// Which parts of a `for (…; …; …)` are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForHeader {
    /// The initialisation.
    pub has_init: bool,
    /// The condition.
    pub has_condition: bool,
    /// The increment.
    pub has_increment: bool,
}

impl<'t> Scanner<'t> {
    /// Starts at a byte offset.
    pub fn at(text: &'t [u8], offset: usize) -> Scanner<'t> {
        Scanner { text, offset: offset.min(text.len()) }
    }

    /// The next token, leaving the scanner after it. Operators come byte by byte; nothing at the end.
    pub fn token(&mut self) -> Option<&'t [u8]> {
        self.skip_blank();
        let rest = &self.text[self.offset..];
        let first = *rest.first()?;
        let length = match first {
            b'"' | b'\'' => literal_length(rest, first),
            _ if is_word(first) => {
                let length = rest.iter().take_while(|byte| is_word(**byte)).count();
                // A prefixed literal such as L"…" is one token.
                match rest.get(length) {
                    Some(quote @ (b'"' | b'\'')) if length <= 2 => {
                        length + literal_length(&rest[length..], *quote)
                    }
                    _ => length,
                }
            }
            _ => 1,
        };
        self.offset += length;
        Some(&rest[..length])
    }

    /// The next token, not consumed.
    pub fn peek(&self) -> Option<&'t [u8]> {
        Scanner { ..*self }.token()
    }

    /// Skips white space, joined lines and comments.
    pub fn skip_blank(&mut self) {
        loop {
            let rest = &self.text[self.offset..];
            let length = match rest {
                [b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c, ..] => 1,
                [b'\\', b'\n', ..] => 2,
                [b'\\', b'\r', b'\n', ..] => 3,
                [b'/', b'/', ..] => rest.iter().take_while(|byte| **byte != b'\n').count(),
                [b'/', b'*', ..] => {
                    rest[2..].windows(2).position(|pair| pair == b"*/").map_or(rest.len(), |at| at + 4)
                }
                _ => return,
            };
            self.offset += length;
        }
    }

    /// Skips a bracketed group if one comes next, and says whether it did.
    pub fn skip_group(&mut self) -> bool {
        if self.peek() != Some(b"(") {
            return false;
        }
        let mut depth = 0usize;
        while let Some(token) = self.token() {
            match token {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        true
    }

    /// The name at the scanner, if one comes next.
    pub fn word(&mut self) -> Option<&'t str> {
        let token = self.token()?;
        let is_name = is_word(token[0]) && !token[0].is_ascii_digit();
        is_name.then(|| std::str::from_utf8(token).ok()).flatten()
    }

    /// Where the use of a macro that begins here ends: after its arguments if it has any.
    pub fn end_of_macro_use(mut self) -> usize {
        self.token();
        let name_end = self.offset;
        if self.skip_group() { self.offset } else { name_end }
    }

    /// The `;` that stand directly inside the brackets after the keyword here.
    pub fn semicolons_in_header(mut self) -> usize {
        self.token();
        // `if constexpr (…)`, `for co_await (…)`.
        while self.peek().is_some_and(|token| token != b"(") {
            self.token();
        }
        let mut count = 0;
        self.header_tokens(|token| count += usize::from(token == b";"));
        count
    }

    /// What the `for` that begins here consists of, if it reads like one.
    pub fn for_header(mut self) -> Option<ForHeader> {
        if self.word() != Some("for") || self.peek() != Some(b"(") {
            return None;
        }
        let mut parts = vec![false];
        self.header_tokens(|token| match token {
            b";" => parts.push(false),
            _ => *parts.last_mut().expect("begins with one part") = true,
        });
        match parts[..] {
            [has_init, has_condition, has_increment] => {
                Some(ForHeader { has_init, has_condition, has_increment })
            }
            _ => None,
        }
    }

    /// Visits the tokens between `(` and its `)`, telling `;` apart only when directly inside.
    fn header_tokens(&mut self, mut visit: impl FnMut(&[u8])) {
        let mut depth = 0usize;
        while let Some(token) = self.token() {
            match token {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" if depth == 1 => return,
                b")" | b"]" | b"}" => depth -= 1,
                b";" if depth != 1 => continue,
                _ => {}
            }
            if depth != 1 || token != b"(" {
                visit(token);
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn literal_length(text: &[u8], quote: u8) -> usize {
    let mut offset = 1;
    while offset < text.len() {
        match text[offset] {
            b'\\' => offset += 2,
            b'\n' => return offset,
            byte if byte == quote => return offset + 1,
            _ => offset += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanner(text: &str) -> Scanner<'_> {
        Scanner::at(text.as_bytes(), 0)
    }

    #[test]
    fn tokens_skip_comments_and_keep_literals_whole() {
        let mut scanner = scanner("a /* ) */ // b\n L\"x)\\\"\" ')' \\\n 1.5");
        let mut tokens = Vec::new();
        while let Some(token) = scanner.token() {
            tokens.push(String::from_utf8_lossy(token).into_owned());
        }
        assert_eq!(tokens, ["a", "L\"x)\\\"\"", "')'", "1", ".", "5"]);
    }

    #[test]
    fn a_macro_use_ends_after_its_arguments() {
        assert_eq!(scanner("MAX (a, (b)) + 1").end_of_macro_use(), 12);
        assert_eq!(scanner("MAX + 1").end_of_macro_use(), 3);
    }

    #[test]
    fn a_for_says_which_parts_it_has() {
        let header = |has_init, has_condition, has_increment| {
            Some(ForHeader { has_init, has_condition, has_increment })
        };
        assert_eq!(scanner("for (;;)").for_header(), header(false, false, false));
        assert_eq!(scanner("for (int i = (0, 1); ; i++)").for_header(), header(true, false, true));
        assert_eq!(scanner("for (; f(({ 1; 2; })); )").for_header(), header(false, true, false));
        assert_eq!(scanner("for (int x : y)").for_header(), None);
        assert_eq!(scanner("LOOP (a; b; c)").for_header(), None);
    }

    #[test]
    fn an_initialisation_in_a_header_is_a_semicolon() {
        assert_eq!(scanner("if constexpr (auto x = f(); x)").semicolons_in_header(), 1);
        assert_eq!(scanner("if (({ a; b; }))").semicolons_in_header(), 0);
    }
}
