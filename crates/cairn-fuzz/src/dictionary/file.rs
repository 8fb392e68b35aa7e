//! Dictionary files.

/// A line of a dictionary file that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the dictionary: {problem}")]
pub struct DictionaryError {
    /// The number of the line, from 1.
    pub line: usize,
    /// What is wrong with it, and how it should be.
    pub problem: &'static str,
}

/// The words of a file, empty ones left out.
pub(super) fn tokens(text: &[u8]) -> Result<Vec<Vec<u8>>, DictionaryError> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut tokens = Vec::new();
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let token =
            token(line.trim_ascii()).map_err(|problem| DictionaryError { line: index + 1, problem })?;
        tokens.extend(token.filter(|token| !token.is_empty()));
    }
    Ok(tokens)
}

/// The word on a line, if it holds one.
fn token(line: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    if line.is_empty() || line[0] == b'#' {
        return Ok(None);
    }
    let quote =
        line.iter().position(|byte| *byte == b'"').ok_or("a word stands in double quotes: \"word\"")?;
    let name = line[..quote].trim_ascii();
    if !name.is_empty() {
        let name =
            name.strip_suffix(b"=").ok_or("between the name and the word stands `=`: name=\"word\"")?;
        check_name(name.trim_ascii())?;
    }
    unquote(&line[quote + 1..]).map(Some)
}

/// Names are for people; AFL's may say at which level they begin to be used, which is all the same to us.
fn check_name(name: &[u8]) -> Result<(), &'static str> {
    let mut parts = name.splitn(2, |byte| *byte == b'@');
    let word = parts.next().unwrap_or_default();
    if word.is_empty() || word.iter().any(|byte| byte.is_ascii_whitespace() || *byte == b'=') {
        return Err("a name is one word: name=\"word\"");
    }
    match parts.next() {
        Some(level) if level.is_empty() || !level.iter().all(u8::is_ascii_digit) => {
            Err("the level after `@` is a number: name@1=\"word\"")
        }
        _ => Ok(()),
    }
}

/// What stands before the closing quote, with escapes replaced.
fn unquote(text: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut token = Vec::new();
    let mut rest = text.iter();
    loop {
        let mut next = || rest.next().copied();
        match next() {
            None => return Err("the closing quote is missing; a quote inside a word is written `\\\"`"),
            Some(b'"') => break,
            Some(b'\\') => token.push(match next() {
                Some(b'x') => {
                    let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                    match (digit(next()), digit(next())) {
                        (Some(high), Some(low)) => (high << 4 | low) as u8,
                        _ => return Err("after `\\x` come two hexadecimal digits: \\x7f"),
                    }
                }
                Some(byte @ (b'\\' | b'"' | b'\'')) => byte,
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'0') => 0,
                _ => return Err("after `\\` comes one of `\\`, `\"`, `n`, `r`, `t` or `x` and two digits"),
            }),
            Some(byte) => token.push(byte),
        }
    }
    match rest.as_slice().trim_ascii().first() {
        None | Some(b'#') => Ok(token),
        Some(_) => Err("nothing may follow the closing quote"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let shown = match tokens(text.as_bytes()) {
            Ok(tokens) => tokens.iter().map(|token| format!("{}\n", token.escape_ascii())).collect(),
            Err(error) => format!("error: {error}\n"),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn both_formats_are_read() {
        check(
            "\u{feff}# AFL\nkw_if=\"if\"\n  magic@2 = \"\\x7fELF\\\\\" # why\n\n# libFuzzer\n\"a \\\"b\\\"\"\r\n\"\"\n",
            expect![[r#"
                if
                \x7fELF\\
                a \"b\"
            "#]],
        );
    }

    #[test]
    fn a_broken_line_is_named() {
        check(
            "\"fine\"\nword\n",
            expect![[r#"
            error: line 2 of the dictionary: a word stands in double quotes: "word"
        "#]],
        );
        check(
            "name \"word\"",
            expect![[r#"
            error: line 1 of the dictionary: between the name and the word stands `=`: name="word"
        "#]],
        );
        check(
            "two names=\"word\"",
            expect![[r#"
            error: line 1 of the dictionary: a name is one word: name="word"
        "#]],
        );
        check(
            "name@much=\"word\"",
            expect![[r#"
            error: line 1 of the dictionary: the level after `@` is a number: name@1="word"
        "#]],
        );
        check(
            "\n\n\"open",
            expect![[r#"
            error: line 3 of the dictionary: the closing quote is missing; a quote inside a word is written `\"`
        "#]],
        );
        check(
            "\"open\\\"",
            expect![[r#"
            error: line 1 of the dictionary: the closing quote is missing; a quote inside a word is written `\"`
        "#]],
        );
        check(
            r#""\x7g""#,
            expect![[r#"
            error: line 1 of the dictionary: after `\x` come two hexadecimal digits: \x7f
        "#]],
        );
        check(
            r#""\q""#,
            expect![[r#"
            error: line 1 of the dictionary: after `\` comes one of `\`, `"`, `n`, `r`, `t` or `x` and two digits
        "#]],
        );
        check(
            r#""word" another"#,
            expect![[r#"
            error: line 1 of the dictionary: nothing may follow the closing quote
        "#]],
        );
    }
}
