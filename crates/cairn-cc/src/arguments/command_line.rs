//! A command line taken apart: inputs, options with their values, and what is asked for.

use super::{
    Language,
    linker::{LinkerWord, linker_words},
    options::n_values,
};
use std::path::Path;

/// A parsed command line. Written out again word by word it is the one the user gave, but for `--`: nothing else could
/// be added after it, so a file behind it whose name starts with a dash is spelled `./-name` instead.
#[derive(Clone, Debug)]
pub struct CommandLine {
    /// The words in order.
    pub words: Vec<Word>,
    /// Whether this is the C++ driver.
    pub is_cxx: bool,
}

/// One unit of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Something to compile or link.
    Input(Input),
    /// An option with its separate values; never empty.
    Option(Vec<String>),
}

/// Something to compile or link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// As the user wrote it, or with `./` before a dash.
    pub path: String,
    /// What it is.
    pub language: Language,
    /// What `-x` said, if it said anything.
    pub forced: Option<String>,
}

/// What a command line asks for, as far as we care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Anything that makes neither an object nor an executable we would add something to.
    PassThrough,
    /// `-c`.
    Compile,
    /// An executable.
    Link,
    /// An object made of several, for further links.
    Relocatable,
    /// A shared object, which stays native.
    NativeLink,
}

/// Options after which clang makes no object and no executable.
const NOT_A_BUILD: &[&str] = &[
    "-E",
    "-S",
    "-M",
    "-MM",
    "-fsyntax-only",
    "-emit-llvm",
    "-emit-ast",
    "-emit-pch",
    "-emit-interface-stubs",
    "-rewrite-objc",
    "-###",
    "-cc1",
    "-cc1as",
    "-fdriver-only",
    "--analyze",
    "--precompile",
    "--preprocess",
    "--assemble",
    "--version",
    "--help",
    "-help",
    "--help-hidden",
    "--autocomplete",
    "-verify-pch",
    "-extract-api",
    "-module-file-info",
    "-dumpversion",
    "-dumpmachine",
    "-dumpspecs",
    "--migrate",
];

impl CommandLine {
    /// Takes `words` (response files expanded, program name left out) apart.
    pub fn parse(words: &[String], is_cxx: bool) -> Self {
        let mut parsed = Vec::new();
        let mut forced: Option<(Language, String)> = None;
        let mut only_inputs = false;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if only_inputs || word == "-" || !word.starts_with('-') {
                let (language, forced) = match (&forced, word.as_str()) {
                    (Some((language, name)), _) => (*language, Some(name.clone())),
                    (None, "-") => (Language::Other, None),
                    (None, path) => (Language::of_file(path, is_cxx), None),
                };
                let needs_folder = only_inputs && word.len() > 1 && word.starts_with('-');
                let path = if needs_folder { format!("./{word}") } else { word.clone() };
                parsed.push(Word::Input(Input { path, language, forced }));
                continue;
            }
            if word == "--" {
                only_inputs = true;
                continue;
            }
            let mut option = vec![word.clone()];
            option.extend(words.by_ref().take(n_values(word)).cloned());
            if let Some(name) = language_option(&option) {
                forced = Language::of_name(name).map(|language| (language, name.to_owned()));
            }
            parsed.push(Word::Option(option));
        }
        Self { words: parsed, is_cxx }
    }

    /// What is asked for.
    pub fn mode(&self) -> Mode {
        if self.inputs().next().is_none() || self.inputs().all(|input| input.language == Language::Header) {
            return Mode::PassThrough;
        }
        let mut compiles = false;
        let mut is_native = false;
        for option in self.options() {
            let name = option[0].as_str();
            if NOT_A_BUILD.contains(&name) || name.starts_with("-print-") || name.starts_with("--print-") {
                return Mode::PassThrough;
            }
            compiles |= matches!(name, "-c" | "--compile");
            is_native |= matches!(name, "-shared" | "--shared" | "-dynamiclib" | "-bundle");
        }
        if compiles {
            return if self.sources().next().is_some() { Mode::Compile } else { Mode::PassThrough };
        }
        is_native |= self.linker_words().iter().any(|word| matches!(word.name(), "-shared" | "-Bshareable"));
        match (is_native, self.is_relocatable()) {
            (_, true) => Mode::Relocatable,
            (true, _) => Mode::NativeLink,
            _ => Mode::Link,
        }
    }

    /// Whether the link makes an object for further links.
    fn is_relocatable(&self) -> bool {
        self.has("-r")
            || self
                .linker_words()
                .iter()
                .any(|word| matches!(word.name(), "-r" | "-relocatable" | "-i" | "-Ur"))
    }

    /// All inputs in order.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.words.iter().filter_map(|word| match word {
            Word::Input(input) => Some(input),
            Word::Option(_) => None,
        })
    }

    /// The inputs a compiler reads.
    pub fn sources(&self) -> impl Iterator<Item = &Input> {
        self.inputs().filter(|input| input.language.is_source())
    }

    /// All options with their values, in order.
    pub fn options(&self) -> impl Iterator<Item = &Vec<String>> {
        self.words.iter().filter_map(|word| match word {
            Word::Option(option) => Some(option),
            Word::Input(_) => None,
        })
    }

    /// Whether an option stands exactly so on the line.
    pub fn has(&self, name: &str) -> bool {
        self.options().any(|option| option[0] == name)
    }

    /// The file named by the last `-o`.
    pub fn output(&self) -> Option<&str> {
        self.options().filter_map(|option| output_option(option)).last()
    }

    /// The object `-c` makes of `input`.
    pub fn object_of(&self, input: &Input) -> String {
        if let Some(output) = self.output() {
            return output.to_owned();
        }
        let stem = Path::new(&input.path).file_stem().unwrap_or_default();
        format!("{}.o", stem.to_string_lossy())
    }

    /// Everything told to the linker through the driver, in order.
    pub fn linker_words(&self) -> Vec<LinkerWord> {
        linker_words(self.options().flat_map(|option| raw_linker_words(option)))
    }

    /// The words again, as given.
    pub fn to_words(&self) -> Vec<String> {
        let mut result = Vec::new();
        for word in &self.words {
            match word {
                Word::Input(input) => result.push(input.path.clone()),
                Word::Option(option) => result.extend(option.iter().cloned()),
            }
        }
        result
    }
}

/// The linker's words inside one driver option.
pub(crate) fn raw_linker_words(option: &[String]) -> Vec<String> {
    if let Some(list) = option[0].strip_prefix("-Wl,") {
        return list.split(',').map(str::to_owned).collect();
    }
    match option[0].as_str() {
        "-Xlinker" | "--for-linker" => option[1..].to_vec(),
        word => word.strip_prefix("--for-linker=").map(str::to_owned).into_iter().collect(),
    }
}

/// The value of `-o`, in any spelling.
pub(crate) fn output_option(option: &[String]) -> Option<&str> {
    match option[0].as_str() {
        "-o" | "--output" => option.get(1).map(String::as_str),
        // `-objcmt-…` are options of their own.
        word if word.starts_with("-objcmt") => None,
        word => word
            .strip_prefix("--output=")
            .or_else(|| word.strip_prefix("-o"))
            .filter(|value| !value.is_empty()),
    }
}

/// The value of `-x`, in any spelling.
pub(crate) fn language_option(option: &[String]) -> Option<&str> {
    match option[0].as_str() {
        "-x" | "--language" => option.get(1).map(String::as_str),
        word => word.strip_prefix("--language=").or_else(|| word.strip_prefix("-x")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> CommandLine {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        CommandLine::parse(&words, false)
    }

    #[test]
    fn modes_follow_the_driver() {
        for (text, mode) in [
            ("a.c -o a", Mode::Link),
            ("a.o -lm", Mode::Link),
            ("-c a.c", Mode::Compile),
            ("-c a.o", Mode::PassThrough),
            ("-E a.c", Mode::PassThrough),
            ("-MM a.c", Mode::PassThrough),
            ("-c -MMD -MF d a.c", Mode::Compile),
            ("-S a.c -o -", Mode::PassThrough),
            ("-v", Mode::PassThrough),
            ("-v a.c", Mode::Link),
            ("--version", Mode::PassThrough),
            ("-print-search-dirs", Mode::PassThrough),
            ("-### a.c", Mode::PassThrough),
            ("-shared a.o", Mode::NativeLink),
            ("-r a.c b.o", Mode::Relocatable),
            ("-Wl,-r a.o", Mode::Relocatable),
            ("-Xlinker --relocatable a.o", Mode::Relocatable),
            ("-Wl,-soname,-r a.o", Mode::Link),
            ("-x c-header a.h -o a.pch", Mode::PassThrough),
            ("a.h -o a.h.gch", Mode::PassThrough),
            ("-c -x c -", Mode::Compile),
        ] {
            assert_eq!(parse(text).mode(), mode, "{text}");
        }
    }

    #[test]
    fn values_are_not_taken_for_inputs() {
        let line = parse("-I inc -include pre.h -MF out.d -Xclang -load a.c -o prog -L lib -l m b.o");
        let inputs: Vec<_> = line.inputs().map(|input| input.path.as_str()).collect();
        assert_eq!(inputs, ["a.c", "b.o"]);
        assert_eq!(line.output(), Some("prog"));
    }

    #[test]
    fn a_forced_language_lasts_until_none() {
        let line = parse("-x c a.tmpl b -x none c.o -xc++ d.c");
        let languages: Vec<_> = line.inputs().map(|input| input.language).collect();
        assert_eq!(languages, [Language::C, Language::C, Language::LinkerInput, Language::Cxx]);
    }

    #[test]
    fn the_object_is_named_after_the_source() {
        let line = parse("-c dir/a.b.c x.cc");
        let objects: Vec<_> = line.sources().map(|input| line.object_of(input)).collect();
        assert_eq!(objects, ["a.b.o", "x.o"]);
    }

    #[test]
    fn files_behind_two_dashes_stay_files() {
        let line = parse("-c -o w.o -- -w.c v.c");
        assert_eq!(line.to_words().join(" "), "-c -o w.o ./-w.c v.c");
        assert_eq!(line.sources().map(|input| line.object_of(input)).collect::<Vec<_>>(), ["w.o", "w.o"]);
        assert_eq!(line.mode(), Mode::Compile);
    }

    #[test]
    fn words_come_back_as_given() {
        let text = "-O2 -c a.c -o a.o -Wl,-z,now -D X=1";
        assert_eq!(parse(text).to_words().join(" "), text);
    }
}
