//! The source files that mutants are shown in.

use cairn_model::map::{Extent, ProgramMap, Site};
use std::{collections::BTreeMap, fs, time::SystemTime};

/// Source files as they are today, by their number in the map.
///
/// A file may have been edited after the program was built. Then lines and columns of the map lead to other code, so it
/// is told, and its lines are not shown. Where a site is not found in a file that is older than the build, the file is
/// what the compiled code was generated from, as `#line` says.
pub struct Sources {
    files: BTreeMap<u32, Source>,
}

struct Source {
    path: String,
    lines: Vec<String>,
    is_changed: bool,
}

impl Sources {
    /// Reads the files of `sites`, and looks whether each site is still where the map says. `built` is when the program
    /// was.
    pub fn read<'a>(
        map: &ProgramMap,
        sites: impl Iterator<Item = &'a Site>,
        built: Option<SystemTime>,
    ) -> Self {
        let mut by_file: BTreeMap<u32, Vec<&Site>> = BTreeMap::new();
        for site in sites {
            by_file.entry(site.extent.start.file).or_default().push(site);
        }
        let files = by_file.into_iter().filter_map(|(number, sites)| {
            let file = &map.files[number as usize];
            // One that is gone is not shown, and nothing can be said about it.
            let bytes = fs::read(&file.absolute).ok()?;
            let lines: Vec<String> = String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect();
            let written = fs::metadata(&file.absolute).and_then(|metadata| metadata.modified()).ok();
            let is_changed = written > built && !are_there(&bytes, &sites);
            Some((number, Source { path: file.path.clone(), lines, is_changed }))
        });
        Self { files: files.collect() }
    }

    /// The lines of a site's file; none unless the site is there.
    pub fn lines_around(&self, site: &Site) -> Vec<&str> {
        let Some(source) = self.files.get(&site.extent.start.file) else { return Vec::new() };
        match !source.is_changed && is_there(&source.lines, site) {
            true => source.lines.iter().map(String::as_str).collect(),
            false => Vec::new(),
        }
    }

    /// Files that were changed after the program was built.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        self.files.values().filter(|source| source.is_changed).map(|source| source.path.as_str())
    }
}

/// Whether every site's text is where its extent says.
fn are_there(bytes: &[u8], sites: &[&Site]) -> bool {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    sites.iter().all(|site| is_there(&lines, site))
}

fn is_there(lines: &[impl AsRef<[u8]>], site: &Site) -> bool {
    cut(lines, site.extent).is_some_and(|text| is_same(&site.text, &text))
}

/// The text of an extent.
fn cut(lines: &[impl AsRef<[u8]>], extent: Extent) -> Option<String> {
    let (start, end) = (extent.start, extent.end);
    let (first, last) = ((start.line as usize).checked_sub(1)?, (end.line as usize).checked_sub(1)?);
    let covered: Vec<&[u8]> = lines.get(first..=last)?.iter().map(AsRef::as_ref).collect();
    let joined = covered.join(&b'\n');
    let skipped = (start.column as usize).checked_sub(1)?;
    let kept = covered.last()?.len().checked_sub((end.column as usize).checked_sub(1)?)?;
    let text = joined.get(skipped..joined.len().checked_sub(kept)?)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Whether `today` is what `recorded` was made from: without comments, with single spaces, perhaps cut off.
fn is_same(recorded: &str, today: &str) -> bool {
    let letters = |text: &str| -> String { text.split_whitespace().collect() };
    // Up to the first thing that was left out, if there is one; that is plenty to tell other code.
    let left_out = ["/*", "//", "\\\n"].iter().filter_map(|mark| today.find(mark)).min();
    let (recorded, head) = (letters(recorded), letters(&today[..left_out.unwrap_or(today.len())]));
    let is_cut = recorded.len() >= SHORTEST_CUT && head.starts_with(&recorded);
    match left_out {
        None => head == recorded || is_cut,
        Some(_) => recorded.starts_with(&head) || is_cut,
    }
}

/// Texts of sites are cut after 200 bytes, of which some may be spaces.
const SHORTEST_CUT: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::map::Place;

    #[test]
    fn white_space_comments_and_cuts_do_not_make_a_change() {
        assert!(is_same("a + b", "a\n    +  b"));
        assert!(is_same("a + b", "a /* why */ + b"));
        assert!(is_same("a + b", "a + // why\n b"));
        assert!(is_same("f(a, b)", "f(a, \\\n  b)"));
        let long = "x + ".repeat(60);
        assert!(is_same(&long[..200], &format!("{long}y")));
        assert!(!is_same("a + b", "a - b"));
        assert!(!is_same("a", "ab"));
        assert!(!is_same("a + b", "c /* why */ + b"));
    }

    #[test]
    fn extents_are_cut_by_bytes() {
        let lines: Vec<&[u8]> = vec![b"int \xc3\xa9 = a", b"  + b;"];
        let at = |line, column| Place { file: 0, line, column };
        let text = |start, end| cut(&lines, Extent { start, end });
        assert_eq!(text(at(1, 10), at(2, 6)).as_deref(), Some("a\n  + b"));
        assert_eq!(text(at(1, 10), at(1, 11)).as_deref(), Some("a"));
        assert_eq!(text(at(1, 10), at(3, 1)), None);
        assert_eq!(text(at(1, 40), at(1, 41)), None);
    }
}
