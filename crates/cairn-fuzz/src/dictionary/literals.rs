//! Words that stand in the program itself.

use super::Dictionary;
use cairn_model::{
    ProgramMap,
    facts::ExpressionKind,
    map::{ConditionKind, Site},
};

/// Adds every literal of a program that may mean something in an input.
pub(super) fn collect(map: &ProgramMap, dictionary: &mut Dictionary) {
    for site in &map.sites {
        match site.kind {
            ExpressionKind::String => string(map, site, dictionary),
            ExpressionKind::Character | ExpressionKind::Integer | ExpressionKind::Float => {
                number(&site.text, dictionary);
            }
            _ => {}
        }
    }
    for condition in map.conditions.iter().filter(|condition| condition.kind == ConditionKind::Case) {
        number(condition.text.strip_prefix("case").unwrap_or(&condition.text).trim(), dictionary);
    }
}

fn string(map: &ProgramMap, site: &Site, dictionary: &mut Dictionary) {
    let Some(text) = unquoted(site.text.as_bytes()) else { return };
    let callee = caller_of(map, site);
    if callee.is_some_and(|callee| WRITERS.iter().any(|writer| callee.contains(writer))) {
        return;
    }
    if callee.is_some_and(|callee| callee.starts_with("getopt")) {
        let letters = text.iter().filter(|letter| letter.is_ascii_alphanumeric());
        letters.for_each(|letter| dictionary.add(vec![b'-', *letter]));
        return;
    }
    dictionary.add(text);
}

/// What these are given goes out, and says nothing about what comes in.
const WRITERS: &[&str] = &["printf", "puts", "fputs", "error", "warn", "gettext", "assert", "write", "log"];

/// The function that a literal is handed to directly.
fn caller_of<'a>(map: &'a ProgramMap, site: &'a Site) -> Option<&'a str> {
    let mut site = site;
    while let Some(parent) = site.parent {
        site = &map.sites[parent.index()];
        match site.kind {
            ExpressionKind::Call => return Some(&site.operator),
            ExpressionKind::Cast | ExpressionKind::Conditional => {}
            _ => return None,
        }
    }
    None
}

fn number(text: &str, dictionary: &mut Dictionary) {
    if text.contains('\'') && !text.starts_with(|c: char| c.is_ascii_digit()) {
        let Some(character) = unquoted_by(text.as_bytes(), b'\'') else { return };
        if character.len() == 1 {
            dictionary.add(character);
        }
        return;
    }
    if let Some(number) = integer(text) {
        dictionary.add_number(number);
    } else if let Some(number) = float(text) {
        dictionary.add_float(number);
    }
}

/// The value of `0x1fUL`, `0b11`, `017`, `1'000`, `-5`.
fn integer(text: &str) -> Option<u64> {
    let (text, is_negative) = match text.strip_prefix('-') {
        Some(rest) => (rest.trim_start(), true),
        None => (text, false),
    };
    let digits: String = text.chars().filter(|c| *c != '\'').collect::<String>().to_ascii_lowercase();
    let digits = digits.trim_end_matches(['u', 'l', 'z']);
    let value = if let Some(hexadecimal) = digits.strip_prefix("0x") {
        u64::from_str_radix(hexadecimal, 16)
    } else if let Some(binary) = digits.strip_prefix("0b") {
        u64::from_str_radix(binary, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    }
    .ok()?;
    Some(if is_negative { value.wrapping_neg() } else { value })
}

/// The value of `1.5e3f`.
fn float(text: &str) -> Option<f64> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.trim_end_matches(['f', 'F', 'l', 'L']).parse().ok().filter(|_| is_number)
}

/// The bytes of a string literal, or of several that stand side by side.
fn unquoted(text: &[u8]) -> Option<Vec<u8>> {
    unquoted_by(text, b'"')
}

/// What stands between quotes, prefixes (`L`, `u8`) left out.
fn unquoted_by(text: &[u8], quote: u8) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text;
    loop {
        let start = rest.iter().position(|byte| *byte == quote)?;
        // A raw string has rules of its own.
        if start > 0 && rest[start - 1] == b'R' {
            return None;
        }
        rest = &rest[start + 1..];
        loop {
            let (first, more) = rest.split_first()?;
            rest = more;
            match first {
                _ if *first == quote => break,
                b'\\' => bytes.push(escape(&mut rest)?),
                byte => bytes.push(*byte),
            }
        }
        if !rest.contains(&quote) {
            return Some(bytes);
        }
    }
}

/// The byte that an escape stands for; of a character that has more than one, nothing.
fn escape(rest: &mut &[u8]) -> Option<u8> {
    let (first, more) = rest.split_first()?;
    *rest = more;
    Some(match first {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'v' => 11,
        b'f' => 12,
        b'e' => 27,
        b'x' => hexadecimal(rest)?,
        b'0'..=b'7' => {
            // The first digit belongs to the number.
            let first = u32::from(first - b'0');
            let n = rest.iter().take(2).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let value = rest[..n].iter().fold(first, |value, byte| value * 8 + u32::from(byte - b'0'));
            *rest = &rest[n..];
            u8::try_from(value).ok()?
        }
        b'u' | b'U' => return None,
        other => *other,
    })
}

fn hexadecimal(rest: &mut &[u8]) -> Option<u8> {
    let n = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let text = std::str::from_utf8(&rest[..n]).ok()?;
    *rest = &rest[n..];
    u8::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        Some(unquoted(text.as_bytes())?.escape_ascii().to_string())
    }

    #[test]
    fn strings_lose_their_quotes_and_escapes() {
        assert_eq!(shown(r#""a\n\"b\"""#).unwrap(), r#"a\n\"b\""#);
        assert_eq!(shown(r#"u8"one" "two""#).unwrap(), "onetwo");
        assert_eq!(shown(r#""\x7f\1772\0""#).unwrap(), r"\x7f\x7f2\x00");
        assert_eq!(shown(r#"R"(raw)""#), None);
        assert_eq!(shown(r#""open"#), None);
        assert_eq!(shown("MAGIC"), None);
    }

    #[test]
    fn numbers_are_read_as_c_writes_them() {
        assert_eq!(integer("0x1fUL"), Some(31));
        assert_eq!(integer("017"), Some(15));
        assert_eq!(integer("0b11u"), Some(3));
        assert_eq!(integer("1'000"), Some(1000));
        assert_eq!(integer("-2"), Some(u64::MAX - 1));
        assert_eq!(integer("0"), Some(0));
        assert_eq!(integer("1.5"), None);
        assert_eq!(integer("SIZE"), None);
        assert_eq!(float("1.5e3f"), Some(1500.0));
        assert_eq!(float("inf"), None);
    }
}
