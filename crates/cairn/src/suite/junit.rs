//! Results for CI: JUnit's XML, as most servers read it.

use super::compare::Difference;
use std::{fmt::Write, time::Duration};

/// One test that was run.
pub struct Case<'a> {
    pub name: &'a str,
    pub elapsed: Duration,
    /// What differs; nothing if it passed.
    pub differences: &'a [Difference],
}

/// The whole file.
pub fn render(suite: &str, cases: &[Case<'_>]) -> String {
    let n_failed = cases.iter().filter(|case| !case.differences.is_empty()).count();
    let time: f64 = cases.iter().map(|case| case.elapsed.as_secs_f64()).sum();
    let counts = format!("tests=\"{}\" failures=\"{n_failed}\" errors=\"0\" time=\"{time:.3}\"", cases.len());
    let suite = escaped(suite);
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(text, "<testsuites {counts}>\n  <testsuite name=\"{suite}\" {counts}>");
    for case in cases {
        let name = escaped(case.name);
        let head = format!(
            "    <testcase name=\"{name}\" classname=\"{suite}\" time=\"{:.3}\"",
            case.elapsed.as_secs_f64()
        );
        if case.differences.is_empty() {
            let _ = writeln!(text, "{head}/>");
            continue;
        }
        let parts: Vec<&str> = case.differences.iter().map(|difference| difference.part.as_str()).collect();
        let _ =
            writeln!(text, "{head}>\n      <failure message=\"changed: {}\">", escaped(&parts.join(", ")));
        for difference in case.differences {
            let _ = writeln!(text, "{}", escaped(&difference.part));
            for line in &difference.lines {
                let _ = writeln!(text, "  {}", escaped(line));
            }
        }
        text.push_str("      </failure>\n    </testcase>\n");
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

/// Text as it stands in XML, which has no place for most control characters at all.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(character),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_xml() {
        let difference =
            Difference { part: "stdout".into(), lines: vec!["- <a> & \"b\"\u{1}".into(), "+ c".into()] };
        let cases = [
            Case { name: "one", elapsed: Duration::from_millis(2), differences: &[] },
            Case { name: "two", elapsed: Duration::ZERO, differences: &[difference] },
        ];
        expect_test::expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites tests="2" failures="1" errors="0" time="0.002">
              <testsuite name="sort" tests="2" failures="1" errors="0" time="0.002">
                <testcase name="one" classname="sort" time="0.002"/>
                <testcase name="two" classname="sort" time="0.000">
                  <failure message="changed: stdout">
            stdout
              - &lt;a&gt; &amp; &quot;b&quot;�
              + c
                  </failure>
                </testcase>
              </testsuite>
            </testsuites>
        "#]]
        .assert_eq(&render("sort", &cases));
    }
}
