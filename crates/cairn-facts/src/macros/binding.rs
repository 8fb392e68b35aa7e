//! How tightly a run of tokens holds together.
//!
//! Levels are those of C's grammar: 1 for `,`, 13 for `*`, 14 for prefixes and casts, 15 for what follows an operand,
//! 16 for a name, a constant or something in brackets.

/// An operator beside a macro's use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    level: u8,
    is_right_associative: bool,
}

/// Prefixes and casts.
const PREFIX: u8 = 14;

/// What follows an operand.
const POSTFIX: u8 = 15;

/// A name, a constant, or something in brackets.
const OPERAND: u8 = 16;

impl Operator {
    /// A prefix or a cast.
    pub const PREFIX: Self = Self { level: PREFIX, is_right_associative: true };

    /// What follows an operand: `[i]`, `.x`, `++`, the arguments of a call.
    pub const POSTFIX: Self = Self { level: POSTFIX, is_right_associative: false };

    /// `?:`.
    pub const CONDITIONAL: Self = Self { level: 3, is_right_associative: true };

    /// An operator between two operands.
    pub fn binary(spelling: &str) -> Option<Self> {
        let level = level(spelling)?;
        Some(Self { level, is_right_associative: level == 2 || level == 3 })
    }

    /// Whether what stands left of it, bound this tightly, is its operand as a whole.
    pub(super) fn leaves_left_whole(self, binding: u8) -> bool {
        if self.is_right_associative { binding > self.level } else { binding >= self.level }
    }

    /// Whether what stands right of it, bound this tightly, is its operand as a whole.
    pub(super) fn leaves_right_whole(self, binding: u8) -> bool {
        if self.is_right_associative { binding >= self.level } else { binding > self.level }
    }
}

/// The level of an operator between operands.
fn level(spelling: &str) -> Option<u8> {
    Some(match spelling {
        "," => 1,
        "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "<<=" | ">>=" | "&=" | "^=" | "|=" => 2,
        "?" | ":" => 3,
        "||" => 4,
        "&&" => 5,
        "|" => 6,
        "^" => 7,
        "&" => 8,
        "==" | "!=" => 9,
        "<" | ">" | "<=" | ">=" => 10,
        "<<" | ">>" => 11,
        "+" | "-" => 12,
        "*" | "/" | "%" => 13,
        _ => return None,
    })
}

/// The level of the loosest operator that stands open in `tokens`; 0 if they are no expression, or if that depends on
/// what is around them. `follows_operand` tells whether an operand stands before them.
pub fn binding(tokens: &[String], follows_operand: bool) -> u8 {
    let mut loosest = OPERAND;
    let mut wants_operand = true;
    let mut at = 0;
    let is_open_to_the_left =
        |first: &str| matches!(first, "-" | "+" | "*" | "&" | "++" | "--" | "[" | "." | "->");
    if follows_operand && tokens.first().is_some_and(|first| is_open_to_the_left(first)) {
        return 0;
    }
    while let Some(token) = tokens.get(at).map(String::as_str) {
        let group = group_end(tokens, at);
        if wants_operand {
            match token {
                "(" => {
                    let Some(end) = group else { return 0 };
                    // A cast, if an operand follows.
                    let next = tokens.get(end).map(String::as_str);
                    let is_cast = next.is_some_and(|next| is_word(next) || next == "(" || next == "{");
                    if is_cast {
                        loosest = loosest.min(PREFIX);
                    }
                    wants_operand = is_cast && next != Some("{");
                    at = end;
                    continue;
                }
                "-" | "+" | "!" | "~" | "*" | "&" | "++" | "--" | "sizeof" | "_Alignof" | "alignof"
                | "__extension__" | "__alignof__" => loosest = loosest.min(PREFIX),
                _ if is_word(token) => wants_operand = false,
                _ => return 0,
            }
        } else {
            match token {
                "(" | "[" | "{" => {
                    let Some(end) = group else { return 0 };
                    loosest = loosest.min(POSTFIX);
                    at = end;
                    continue;
                }
                "." | "->" => {
                    loosest = loosest.min(POSTFIX);
                    at += 1;
                }
                "++" | "--" => loosest = loosest.min(POSTFIX),
                // Strings beside each other are one.
                _ if token.ends_with('"') => {}
                _ => {
                    let Some(level) = level(token) else { return 0 };
                    loosest = loosest.min(level);
                    wants_operand = true;
                }
            }
        }
        at += 1;
    }
    if wants_operand { 0 } else { loosest }
}

/// Whether what ends here may be an operand, so that a `-` behind it would subtract.
pub fn ends_operand(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let word_length = text.iter().rev().take_while(|byte| is_word_byte(**byte)).count();
    match &text[text.len() - word_length..] {
        b"" => matches!(text.last(), Some(b')' | b']' | b'"' | b'\'')),
        b"return" | b"case" | b"else" | b"do" | b"throw" | b"goto" => false,
        _ => true,
    }
}

/// The position after the bracket that closes the one at `at`.
fn group_end(tokens: &[String], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

fn is_word(token: &str) -> bool {
    token.bytes().next().is_some_and(|byte| is_word_byte(byte) || byte == b'"' || byte == b'\'')
        || token.starts_with('.') && token.len() > 1
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level_of(text: &str) -> u8 {
        let tokens: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        binding(&tokens, false)
    }

    #[test]
    fn operands_hold_together() {
        for text in ["x", "1.5e-3", "( a + b )", "\"a\" \"b\""] {
            assert_eq!(level_of(text), 16, "{text}");
        }
        for text in ["f ( a , b )", "p -> q [ 1 ] . r", "x ++"] {
            assert_eq!(level_of(text), 15, "{text}");
        }
    }

    #[test]
    fn the_loosest_open_operator_counts() {
        assert_eq!(level_of("a * b + ( c , d )"), 12);
        assert_eq!(level_of("a ? b : c = d"), 2);
        assert_eq!(level_of("- 1"), 14);
        assert_eq!(level_of("( int ) x"), 14);
        assert_eq!(level_of("( int ) ( x )"), 14);
    }

    #[test]
    fn what_is_no_expression_does_not_hold() {
        for text in ["", "2 *", "* 2 )", "x ; y", "( x", "a b"] {
            assert_eq!(level_of(text), 0, "{text}");
        }
    }

    #[test]
    fn operators_leave_what_binds_tighter_whole() {
        let minus = Operator::binary("-").unwrap();
        assert!(minus.leaves_left_whole(12) && !minus.leaves_right_whole(12));
        assert!(minus.leaves_right_whole(13) && !minus.leaves_left_whole(11));
        let assign = Operator::binary("=").unwrap();
        assert!(assign.leaves_right_whole(2) && !assign.leaves_left_whole(2));
    }

    #[test]
    fn an_operand_may_stand_before_a_macro() {
        assert!(ends_operand(b"return x ") && ends_operand(b"f(y)") && !ends_operand(b"return "));
        assert!(!ends_operand(b"x = ") && !ends_operand(b"(") && !ends_operand(b"{\n"));
    }
}
