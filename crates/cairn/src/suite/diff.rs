//! How two texts differ, for people.

use cairn_model::input::Bytes;

/// Texts with more lines that differ are shown as one block.
const MOST_COMPARED: usize = 500;
/// Lines shown of each difference.
const MOST_SHOWN: usize = 30;
/// Characters shown of a line.
const MOST_WIDE: usize = 200;

/// Lines that are gone (`- `) and new (`+ `), each group after the number of the old line where it begins.
pub fn lines(old: &[u8], new: &[u8]) -> Vec<String> {
    let old: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
    let new: Vec<&[u8]> = new.split_inclusive(|byte| *byte == b'\n').collect();
    let n_start = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let both = old.len().min(new.len()) - n_start;
    let n_end =
        old.iter().rev().zip(new.iter().rev()).take(both).take_while(|(one, other)| one == other).count();
    let changes = changes(&old[n_start..old.len() - n_end], &new[n_start..new.len() - n_end]);
    let mut shown = Vec::new();
    let mut line = n_start + 1;
    let mut is_inside = false;
    for change in &changes {
        let (mark, text) = match change {
            Change::Same => {
                is_inside = false;
                line += 1;
                continue;
            }
            Change::Gone(text) => ('-', text),
            Change::New(text) => ('+', text),
        };
        if !is_inside {
            shown.push(format!("line {line}"));
            is_inside = true;
        }
        shown.push(format!("{mark} {}", readable(text)));
        line += usize::from(mark == '-');
    }
    if shown.len() > MOST_SHOWN {
        let n_more = shown.len() - MOST_SHOWN;
        shown.truncate(MOST_SHOWN);
        shown.push(format!("… and {n_more} more lines"));
    }
    shown
}

enum Change<'a> {
    Same,
    Gone(&'a [u8]),
    New(&'a [u8]),
}

/// The changes that lead from one text to the other and keep as many lines as possible.
fn changes<'a>(old: &[&'a [u8]], new: &[&'a [u8]]) -> Vec<Change<'a>> {
    let gone = || old.iter().map(|line| Change::Gone(line));
    if old.len() > MOST_COMPARED || new.len() > MOST_COMPARED {
        return gone().chain(new.iter().map(|line| Change::New(line))).collect();
    }
    // How many lines of the rests can be kept, from each pair of lines on.
    let mut kept = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            kept[i][j] = match old[i] == new[j] {
                true => kept[i + 1][j + 1] + 1,
                false => kept[i + 1][j].max(kept[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut changes = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            changes.push(Change::Same);
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || kept[i + 1][j] >= kept[i][j + 1]) {
            changes.push(Change::Gone(old[i]));
            i += 1;
        } else {
            changes.push(Change::New(new[j]));
            j += 1;
        }
    }
    changes
}

/// A line as text where it is text.
fn readable(line: &[u8]) -> String {
    let (line, end) = match line.strip_suffix(b"\n") {
        Some(line) => (line, ""),
        None => (line, " (no newline)"),
    };
    let bytes = Bytes(line.to_vec());
    let text = bytes.as_text().map_or_else(|| line.escape_ascii().to_string(), str::to_owned);
    match text.char_indices().nth(MOST_WIDE) {
        Some((cut, _)) => format!("{}…{end}", &text[..cut]),
        None => format!("{text}{end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(old: &str, new: &str, expected: Expect) {
        expected.assert_eq(&(lines(old.as_bytes(), new.as_bytes()).join("\n") + "\n"));
    }

    #[test]
    fn changed_lines_are_shown_with_their_place() {
        check(
            "a\nb\nc\nd\ne\n",
            "a\nB\nc\nd\ne\nf\n",
            expect![[r#"
            line 2
            - b
            + B
            line 6
            + f
        "#]],
        );
    }

    #[test]
    fn a_missing_newline_is_a_difference() {
        check(
            "a\n",
            "a",
            expect![[r#"
            line 1
            - a
            + a (no newline)
        "#]],
        );
    }

    #[test]
    fn what_is_no_text_is_escaped_and_what_is_long_is_cut() {
        let long = "x".repeat(300);
        let shown = lines(b"\xff\x00\n", long.as_bytes());
        assert_eq!(shown[..2], ["line 1", "- \\xff\\x00"]);
        assert_eq!(shown[2], format!("+ {}… (no newline)", "x".repeat(200)));
    }

    #[test]
    fn many_changes_are_cut() {
        let old: String = (0..2000).map(|n| format!("{n}\n")).collect();
        let shown = lines(old.as_bytes(), b"");
        assert_eq!((shown.len(), shown.last().unwrap().as_str()), (31, "… and 1971 more lines"));
    }
}
