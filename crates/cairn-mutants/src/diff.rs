//! Mutants as changes of the source.

use cairn_model::map::{Extent, ProgramMap, Site};
use std::fmt;

/// A mutant as a person reads it.
///
/// ```text
/// sort.c:120:7  - if (i < sz)
///               + if (i <= sz)
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDiff {
    /// Where, as `file:line:column`.
    pub place: String,
    /// The lines that the site is on.
    pub removed: Vec<String>,
    /// The lines that replace them. For a site in a macro, what becomes of the macro's expression.
    pub added: Vec<String>,
    /// The macro that the site comes from: then no line of the source reads as `added` does.
    pub macro_name: Option<String>,
}

impl SourceDiff {
    /// The change that puts `replacement` in place of `site`, in a file with these lines.
    ///
    /// Where the lines are not those the program was compiled from, only the site's own text is shown.
    pub fn new(map: &ProgramMap, site: &Site, replacement: &str, lines: &[&str]) -> Self {
        let place = map.show(site.extent.start);
        let macro_name = site.body_of().map(str::to_owned);
        let cut = Cut::find(site.extent, lines);
        let removed = match &cut {
            Some(cut) => cut.lines.iter().map(ToString::to_string).collect(),
            None => vec![site.text.clone()],
        };
        let added = match (&macro_name, &cut) {
            (None, Some(cut)) => cut.filled(replacement).lines().map(str::to_owned).collect(),
            _ => vec![replacement.to_owned()],
        };
        let mut diff = Self { place, removed, added, macro_name };
        diff.unindent();
        diff
    }

    /// Takes away the white space that all lines begin with.
    fn unindent(&mut self) {
        let of = |line: &str| line.len() - line.trim_start().len();
        let is_source = self.macro_name.is_none();
        let lines = || self.removed.iter().chain(self.added.iter().filter(|_| is_source));
        let common = lines().filter(|line| !line.trim().is_empty()).map(|line| of(line)).min().unwrap_or(0);
        let added = self.added.iter_mut().filter(|_| is_source);
        for line in self.removed.iter_mut().chain(added) {
            *line = line.get(common..).unwrap_or("").trim_end().to_owned();
        }
    }
}

impl fmt::Display for SourceDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = " ".repeat(self.place.chars().count());
        let mut before = self.place.as_str();
        for line in &self.removed {
            write!(f, "{before}  - {line}")?;
            f.write_str("\n")?;
            before = &indent;
        }
        for (index, line) in self.added.iter().enumerate() {
            let separator = if index > 0 { "\n" } else { "" };
            match &self.macro_name {
                Some(name) => write!(f, "{separator}{before}  + in macro {name}: {line}")?,
                None => write!(f, "{separator}{before}  + {line}")?,
            }
        }
        Ok(())
    }
}

/// A file with `replacement` in place of `extent`; `None` if the file is too short for it.
///
/// Where tokens would run together, as in `a-5` with -1 in place of 5, a space keeps them apart.
pub fn edited(source: &str, extent: Extent, replacement: &str) -> Option<String> {
    let lines: Vec<&str> = source.split('\n').collect();
    let cut = Cut::find(extent, &lines)?;
    let first = extent.start.line as usize - 1;
    let mut result: Vec<&str> = lines[..first].to_vec();
    let changed = cut.filled(replacement);
    result.push(&changed);
    result.extend(&lines[first + cut.lines.len()..]);
    Some(result.join("\n"))
}

/// The lines of an extent, and what of them is outside it.
struct Cut<'a> {
    lines: Vec<&'a str>,
    before: &'a str,
    after: &'a str,
}

impl<'a> Cut<'a> {
    fn find(extent: Extent, lines: &[&'a str]) -> Option<Self> {
        let first = (extent.start.line as usize).checked_sub(1)?;
        let last = (extent.end.line as usize).checked_sub(1)?;
        let covered = lines.get(first..=last)?;
        let before = covered.first()?.get(..(extent.start.column as usize).checked_sub(1)?)?;
        let after = covered.last()?.get((extent.end.column as usize).checked_sub(1)?..)?;
        let is_backwards = first == last && extent.end.column < extent.start.column;
        (!is_backwards).then(|| Self { lines: covered.to_vec(), before, after })
    }

    fn filled(&self, replacement: &str) -> String {
        let mut filled = self.before.to_owned();
        for part in [replacement, self.after] {
            if let (Some(left), Some(right)) = (filled.chars().next_back(), part.chars().next())
                && runs_together(left, right)
            {
                filled.push(' ');
            }
            filled.push_str(part);
        }
        filled
    }
}

/// Whether two tokens would be read as one, or a comment would begin.
fn runs_together(left: char, right: char) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_doubled = left == right && "+-&|<>=".contains(left);
    (is_word(left) && is_word(right)) || is_doubled || (left == '/' && (right == '*' || right == '/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use cairn_model::map::Place;
    use expect_test::{Expect, expect};

    fn at(line: u32, column: u32) -> Place {
        Place { file: 0, line, column }
    }

    fn check(
        source: &str,
        extent: (Place, Place),
        macro_name: Option<&str>,
        replacement: &str,
        expected: Expect,
    ) {
        let (map, mut site) = testing::single_site("sort.c", "x");
        site.extent = Extent { start: extent.0, end: extent.1 };
        site.macro_name = macro_name.map(str::to_owned);
        let lines: Vec<&str> = source.lines().collect();
        expected.assert_eq(&SourceDiff::new(&map, &site, replacement, &lines).to_string());
    }

    #[test]
    fn a_line_is_shown_before_and_after() {
        check(
            "int f() {\n    if (i < sz)\n",
            (at(2, 13), at(2, 15)),
            None,
            "(sz + 1)",
            expect![[r#"
                sort.c:2:13  - if (i < sz)
                             + if (i < (sz + 1))"#]],
        );
    }

    #[test]
    fn a_site_on_several_lines_becomes_one() {
        check(
            "  x = (a\n       + b) * c;\n",
            (at(1, 8), at(2, 11)),
            None,
            "a - b",
            expect![[r#"
                sort.c:1:8  - x = (a
                            -      + b) * c;
                            + x = (a - b) * c;"#]],
        );
    }

    #[test]
    fn a_macro_is_named_and_not_expanded() {
        check(
            "  x = MAX(a, b);\n",
            (at(1, 7), at(1, 16)),
            Some("MAX"),
            "… >= …",
            expect![[r#"
                sort.c:1:7  - x = MAX(a, b);
                            + in macro MAX: … >= …"#]],
        );
    }

    #[test]
    fn a_changed_source_shows_only_the_site() {
        check(
            "short\n",
            (at(9, 1), at(9, 2)),
            None,
            "y",
            expect![[r#"
                sort.c:9:1  - x
                            + y"#]],
        );
    }

    #[test]
    fn an_edit_keeps_tokens_apart() {
        let edit =
            |source, start, end, with| edited(source, Extent { start: at(1, start), end: at(1, end) }, with);
        assert_eq!(edit("a-5;\nb", 3, 4, "-1").as_deref(), Some("a- -1;\nb"));
        assert_eq!(edit("return-x;", 7, 9, "x").as_deref(), Some("return x;"));
        assert_eq!(edit("f(a)", 3, 4, "b").as_deref(), Some("f(b)"));
        assert_eq!(edit("f(a)", 3, 9, "b"), None);
    }
}
