//! The words meant for the linker, taken out of `-Wl,` and `-Xlinker`.

use super::options::LINKER_TAKES_NEXT;

/// One thing a linker is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkerWord {
    /// An option with its values.
    Option(Vec<String>),
    /// A file to link.
    File(String),
}

impl LinkerWord {
    /// The option's name with one dash and without an attached value; empty for a file.
    pub fn name(&self) -> &str {
        let Self::Option(words) = self else { return "" };
        let word = &words[0];
        // GNU linkers take long options with one dash or two.
        let single = word.strip_prefix('-').filter(|rest| rest.starts_with('-')).unwrap_or(word);
        single.split('=').next().unwrap_or(single)
    }

    /// The value, attached or separate.
    pub fn value(&self) -> Option<&str> {
        let Self::Option(words) = self else { return None };
        words.get(1).map(String::as_str).or_else(|| words[0].split_once('=').map(|(_, value)| value))
    }
}

/// Splits a stream of linker words into options and files.
pub fn linker_words(words: impl IntoIterator<Item = String>) -> Vec<LinkerWord> {
    let mut result = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            result.push(LinkerWord::File(word));
            continue;
        }
        let single = word.strip_prefix('-').filter(|rest| rest.starts_with('-')).unwrap_or(&word).to_owned();
        let mut option = vec![word];
        if LINKER_TAKES_NEXT.contains(&single.as_str()) {
            option.extend(words.next());
        }
        result.push(LinkerWord::Option(option));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_taken_for_files() {
        let words = ["-rpath", "/lib", "a.o", "--version-script=v.map", "-z", "now", "--wrap", "f"];
        let parsed = linker_words(words.map(str::to_owned));
        assert_eq!(parsed.len(), 5);
        assert_eq!(parsed[1], LinkerWord::File("a.o".into()));
        assert_eq!((parsed[2].name(), parsed[2].value()), ("-version-script", Some("v.map")));
        assert_eq!((parsed[4].name(), parsed[4].value()), ("-wrap", Some("f")));
    }
}
