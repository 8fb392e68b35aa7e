//! Where a view looks for shared objects: where the executable would, although the view lies elsewhere.

use std::path::Path;

/// Makes run paths on a link line independent of where the view lies.
///
/// `$ORIGIN` becomes `origin`, the executable's folder. A relative folder is relative to wherever the program is started,
/// in a view as well, and after that to `directory`, where the link ran.
pub(super) fn resolved(words: &[String], origin: &Path, directory: &Path) -> Vec<String> {
    let mut is_run_path = false;
    let mut resolved = Vec::with_capacity(words.len());
    for word in words {
        // The option and its value each stand behind their own.
        if word == "-Xlinker" {
            resolved.push(word.clone());
            continue;
        }
        let attached = ["-rpath=", "--rpath="].iter().find(|prefix| word.starts_with(**prefix));
        resolved.push(match attached {
            _ if is_run_path => run_path(word, origin, directory),
            Some(prefix) => format!("{prefix}{}", run_path(&word[prefix.len()..], origin, directory)),
            None => word.clone(),
        });
        is_run_path = !is_run_path && matches!(word.as_str(), "-rpath" | "--rpath" | "-R");
    }
    resolved
}

fn run_path(list: &str, origin: &Path, directory: &Path) -> String {
    let mut folders = Vec::new();
    for folder in list.split(':') {
        let origin = origin.to_string_lossy();
        let folder = folder.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin);
        let is_relative = !folder.starts_with(['/', '$']);
        let absolute = directory.join(&folder);
        folders.push(folder);
        if is_relative {
            folders.push(absolute.to_string_lossy().into_owned());
        }
    }
    folders.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        let resolved = resolved(&words, Path::new("/out"), Path::new("/link"));
        assert_eq!(resolved.join(" "), expected);
    }

    #[test]
    fn origin_is_the_executables_folder() {
        check(
            "-Xlinker -rpath -Xlinker $ORIGIN/../lib:${ORIGIN}",
            "-Xlinker -rpath -Xlinker /out/../lib:/out",
        );
        check("-Xlinker --rpath=$ORIGIN", "-Xlinker --rpath=/out");
        check("-rpath $ORIGIN a.o", "-rpath /out a.o");
    }

    #[test]
    fn relative_folders_are_also_found_from_elsewhere() {
        check("-Xlinker -rpath=lib:/abs", "-Xlinker -rpath=lib:/link/lib:/abs");
        check("-Xlinker -rpath -Xlinker $LIB", "-Xlinker -rpath -Xlinker $LIB");
    }

    #[test]
    fn other_words_stay() {
        check("-L. $ORIGIN -Xlinker -rpath-link -Xlinker x", "-L. $ORIGIN -Xlinker -rpath-link -Xlinker x");
    }
}
