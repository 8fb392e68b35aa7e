//! What AddressSanitizer and UndefinedBehaviorSanitizer print.
//!
//! ```text
//!   ==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x… at pc …
//!   READ of size 1 at 0x… thread T0
//!       #0 0x55d1c2  (/program+0x1136) (BuildId: …)
//!   …
//!   SUMMARY: AddressSanitizer: heap-buffer-overflow (/program+0x1136) …
//!
//!   a.c:3:12: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'
//!       #0 0x55d1c2  (/program+0x1136)
//! ```
//! In the sandbox nothing can be started that would name functions, so frames come as places in files.

/// A report of a sanitizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SanitizerReport {
    /// Which one, and what it found, without what differs from run to run.
    pub(super) kind: String,
    /// Where it was, innermost first.
    pub(super) frames: Vec<ReportedFrame>,
    /// The text from its first line on.
    pub(super) text: String,
}

/// A frame as a report has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReportedFrame {
    /// A place in a file.
    Place { file: String, offset: u64 },
    /// A function, and a source with a line where it is known.
    Named { function: String, source: Option<String>, line: Option<u32> },
}

/// How the kinds of what each finds begin.
const ADDRESS: &str = "AddressSanitizer: ";
const UNDEFINED: &str = "UndefinedBehaviorSanitizer: ";

/// The most frames that are read.
const MAX_FRAMES: usize = 256;

impl SanitizerReport {
    /// The first report on standard error.
    pub(super) fn find(stderr: &str) -> Option<Self> {
        let mut at = 0;
        for line in stderr.split_inclusive('\n') {
            if let Some(kind) = address_kind(line, &stderr[at..]).or_else(|| undefined_kind(line)) {
                let text = stderr[at..].to_owned();
                return Some(Self { kind, frames: frames(&text), text });
            }
            at += line.len();
        }
        None
    }
}

/// Whether a kind of failure is one that only a sanitizer names.
pub fn is_sanitizer_report(kind: &str) -> bool {
    [ADDRESS, UNDEFINED].iter().any(|name| kind.starts_with(name))
}

/// `rest` starts with `line`; its summary has the short name, which the first line has not always.
fn address_kind(line: &str, rest: &str) -> Option<String> {
    let (_, what) = line.split_once("ERROR: AddressSanitizer")?;
    let summary = rest.lines().find_map(|line| line.strip_prefix("SUMMARY: AddressSanitizer: "));
    let what = summary.unwrap_or_else(|| what.trim_start_matches([':', ' ']));
    let name = what.split([' ', ':']).next().filter(|name| !name.is_empty()).unwrap_or("error");
    Some(format!("{ADDRESS}{name}"))
}

fn undefined_kind(line: &str) -> Option<String> {
    let (_, what) = line.split_once(": runtime error: ")?;
    // Numbers, addresses and types are of this run, or say what the place says already.
    let what = what.split(':').next().unwrap_or(what);
    let what = [" for type", " of type", " in type", ", which"]
        .iter()
        .fold(what, |what, end| what.split(end).next().unwrap_or(what));
    let is_fixed = |word: &&str| !word.contains(|c: char| c.is_ascii_digit()) && !word.contains('\'');
    let words: Vec<&str> = what.split_whitespace().filter(is_fixed).collect();
    Some(format!("{UNDEFINED}{}", words.join(" ")))
}

/// The first stack of a report.
fn frames(text: &str) -> Vec<ReportedFrame> {
    let is_frame = |line: &&str| line.trim_start().starts_with('#');
    text.lines()
        .skip_while(|line| !is_frame(line))
        .take_while(is_frame)
        .take(MAX_FRAMES)
        .filter_map(frame)
        .collect()
}

/// `#0 0x55d1c2 in f /p/a.c:3:5`, `#0 0x55d1c2 in f (/program+0x1136) (BuildId: …)` or `#0 0x55d1c2  (/program+0x1136)`.
fn frame(line: &str) -> Option<ReportedFrame> {
    let (_, rest) = line.trim_start().split_once(' ')?;
    let (_, rest) = rest.trim_start().split_once(' ')?;
    let rest = rest.trim_start();
    let place = |text: &str| {
        let inside = text.strip_prefix('(')?.split_once(')')?.0;
        let (file, offset) = inside.rsplit_once('+')?;
        let offset = u64::from_str_radix(offset.strip_prefix("0x")?, 16).ok()?;
        Some(ReportedFrame::Place { file: file.to_owned(), offset })
    };
    let Some(named) = rest.strip_prefix("in ") else { return place(rest) };
    let at = named.find(" (/").or_else(|| named.find(" /"));
    let (function, source) = at.map_or((named, ""), |at| (&named[..at], named[at + 1..].trim_end()));
    if let Some(place) = place(source) {
        return Some(place);
    }
    let mut parts = source.split(':');
    let file = parts.next().filter(|file| !file.is_empty()).map(str::to_owned);
    let line = parts.next().and_then(|line| line.parse().ok());
    Some(ReportedFrame::Named { function: function.to_owned(), source: file, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_told_by_their_summary() {
        let text = "hello\n==2==ERROR: AddressSanitizer: attempting double-free on 0x602 in thread T0:\n    \
                    #0 0x55d1c2  (/tmp/my prog+0x1136) (BuildId: 12)\n    #1 0x55d1c3  (/lib/libc.so.6+0x29)\n\n\
                    0x602 is located 0 bytes inside\n    #0 0x99 (/tmp/other+0x1)\n\
                    SUMMARY: AddressSanitizer: double-free (/tmp/my prog+0x1136)\n";
        let report = SanitizerReport::find(text).unwrap();
        assert_eq!(report.kind, "AddressSanitizer: double-free");
        let place = |file: &str, offset| ReportedFrame::Place { file: file.into(), offset };
        assert_eq!(report.frames, [place("/tmp/my prog", 0x1136), place("/lib/libc.so.6", 0x29)]);
        assert!(report.text.starts_with("==2=="));
    }

    #[test]
    fn a_report_that_was_cut_still_has_a_kind() {
        let report =
            SanitizerReport::find("==2==ERROR: AddressSanitizer: heap-buffer-overflow on addr").unwrap();
        assert_eq!(report.kind, "AddressSanitizer: heap-buffer-overflow");
        assert_eq!(SanitizerReport::find("all is well\n"), None);
    }

    #[test]
    fn what_differs_from_run_to_run_is_left_out() {
        let kind = |what: &str| undefined_kind(&format!("a.c:3:1: runtime error: {what}")).unwrap();
        let same = |a: &str, b: &str, expected: &str| {
            assert_eq!(kind(a), format!("UndefinedBehaviorSanitizer: {expected}"));
            assert_eq!(kind(b), kind(a));
        };
        same(
            "signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'",
            "signed integer overflow: -5 - 2147483647 cannot be represented in type 'int'",
            "signed integer overflow",
        );
        same(
            "index 10 out of bounds for type 'int[4]'",
            "index -1 out of bounds for type 'char[9]'",
            "index out of bounds",
        );
        same(
            "load of misaligned address 0x7f01 for type 'int', which requires 4 byte alignment",
            "load of misaligned address 0x12 for type 'long'",
            "load of misaligned address",
        );
        same("division by zero", "division by zero", "division by zero");
    }

    #[test]
    fn frames_that_have_names_keep_them() {
        let named = |line| frame(line).unwrap();
        assert_eq!(
            named("    #1 0x4f in operator new(unsigned long) /p/a.cc:12:3"),
            ReportedFrame::Named {
                function: "operator new(unsigned long)".into(),
                source: Some("/p/a.cc".into()),
                line: Some(12)
            }
        );
        assert_eq!(
            named("    #1 0x4f in main (/p/prog+0x4f) (BuildId: 1)"),
            ReportedFrame::Place { file: "/p/prog".into(), offset: 0x4f }
        );
    }
}
