//! Headers in place of their precompiled forms.
//!
//! The driver turns `-include a.h` into the use of `a.h.pch` or `a.h.gch` when one lies there, and rejects it when it was
//! made with other options. The front end behind the driver looks for none, so there the header stays a header.

use super::CommandLine;
use std::path::Path;

/// The header an option of the driver includes before the source, whether by its own name or a precompiled form.
pub(super) fn included(option: &[String], directory: &Path) -> Option<String> {
    match option[0].as_str() {
        "-include-pch" => option.get(1).map(|file| header_of(file, directory)),
        "-include" | "--include" => option.get(1).cloned(),
        // `--include-directory` and its like are options of their own.
        word => word
            .strip_prefix("--include=")
            .or_else(|| word.strip_prefix("-include").filter(|rest| !rest.starts_with('-')))
            .map(str::to_owned),
    }
}

/// The words that include a header as text.
pub(super) fn textual(header: &str) -> [String; 4] {
    ["-Xclang", "-include", "-Xclang", header].map(str::to_owned)
}

/// Whether a header is already included behind the driver's back.
pub(super) fn names_header_itself(line: &CommandLine) -> bool {
    line.options()
        .any(|option| matches!(&option[..], [first, value] if first == "-Xclang" && value == "-include"))
}

/// The header a precompiled one was made of, by the names people give: `a.h.pch` or `a.pch` beside `a.h`.
pub(super) fn header_of(precompiled: &str, directory: &Path) -> String {
    let stem =
        [".pch", ".gch"].iter().find_map(|suffix| precompiled.strip_suffix(suffix)).unwrap_or(precompiled);
    ["", ".h", ".hh", ".hpp", ".hxx"]
        .iter()
        .map(|suffix| format!("{stem}{suffix}"))
        .find(|header| header != precompiled && directory.join(header).is_file())
        // The second compile says that it is not there.
        .unwrap_or_else(|| stem.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_names_its_header() {
        let header = |words: &[&str]| {
            included(&words.iter().map(|word| word.to_string()).collect::<Vec<_>>(), Path::new("/nowhere"))
        };
        for words in [
            &["-include", "a.h"][..],
            &["--include", "a.h"],
            &["--include=a.h"],
            &["-includea.h"],
            &["-include-pch", "a.h.pch"],
        ] {
            assert_eq!(header(words).as_deref(), Some("a.h"), "{words:?}");
        }
        for words in [&["-I", "a.h"][..], &["--include-directory=a"], &["-imacros", "a.h"]] {
            assert_eq!(header(words), None, "{words:?}");
        }
    }

    #[test]
    fn the_header_lies_beside_its_precompiled_form() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("all.hpp"), "").unwrap();
        assert_eq!(header_of("all.pch", folder.path()), "all.hpp");
        assert_eq!(header_of("all.hpp.gch", folder.path()), "all.hpp");
    }
}
