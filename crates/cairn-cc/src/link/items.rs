//! The link line as a list of items, in order, with everything out that only the native link needs.

use crate::{
    Settings,
    arguments::{CommandLine, LinkerWord, Word, filter, linker_words, raw_linker_words},
};
use std::path::{Path, PathBuf};

/// One item of a link line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Words that stay as they are.
    Words(Vec<String>),
    /// A linker option and the file it reads.
    OptionFile { option: String, path: PathBuf },
    /// An object, archive, shared object or linker script.
    File { name: String, path: PathBuf },
    /// A library the system provides, or a shared one of the project.
    Library(String),
    /// The n-th source of the line.
    Source(usize),
}

/// Linker options that read a file; it must still be there when a view is linked.
const READS_FILE: &[&str] = &[
    "-T",
    "-script",
    "-version-script",
    "-dynamic-list",
    "-retain-symbols-file",
    "-just-symbols",
    "-export-dynamic-symbol-list",
    "-symbol-ordering-file",
];

/// Reads the line; `-l` that names an archive in one of the user's folders becomes that file.
pub(super) fn items(settings: &Settings, line: &CommandLine, root: &Path) -> Vec<Item> {
    let search = search_folders(settings, line);
    let mut reader = Reader {
        settings,
        root,
        search,
        is_static: line.has("-static") || line.has("-static-pie"),
        items: Vec::new(),
    };
    let mut n_sources = 0;
    let mut pending = Vec::new();
    for word in &line.words {
        // A linker option and its value may come in two driver options: `-Xlinker -rpath -Xlinker /lib`.
        if let Word::Option(option) = word {
            let raw = raw_linker_words(option);
            if !raw.is_empty() {
                pending.extend(raw);
                continue;
            }
        }
        reader.linker(std::mem::take(&mut pending));
        match word {
            Word::Input(input) if input.language.is_source() => {
                reader.items.push(Item::Source(n_sources));
                n_sources += 1;
            }
            Word::Input(input) => reader.file(&input.path),
            Word::Option(option) => reader.driver(option),
        }
    }
    reader.linker(pending);
    reader.items
}

struct Reader<'a> {
    settings: &'a Settings,
    root: &'a Path,
    search: Vec<PathBuf>,
    is_static: bool,
    items: Vec<Item>,
}

impl Reader<'_> {
    fn file(&mut self, name: &str) {
        let path = self.settings.places.directory.join(name);
        self.items.push(Item::File { name: name.to_owned(), path });
    }

    fn driver(&mut self, option: &[String]) {
        if let Some(name) = attached_or_next(option, "-l") {
            return self.library(name);
        }
        if let Some(folder) = attached_or_next(option, "-L") {
            return self.search_folder(folder);
        }
        match option {
            [name, path] if name == "-T" => {
                let path = self.settings.places.directory.join(path);
                self.items.push(Item::OptionFile { option: "-T".to_owned(), path });
            }
            _ if filter::second_link_keeps(option) => self.items.push(Item::Words(option.to_vec())),
            _ => {}
        }
    }

    fn linker(&mut self, words: Vec<String>) {
        for word in linker_words(words) {
            match (&word, word.name()) {
                (LinkerWord::File(name), _) => self.file(name),
                (_, "-Bstatic" | "-dn" | "-non_shared" | "-static") => {
                    self.is_static = true;
                    self.keep(&word);
                }
                (_, "-Bdynamic" | "-dy" | "-call_shared") => {
                    self.is_static = false;
                    self.keep(&word);
                }
                (_, "-library") => self.library(word.value().unwrap_or_default()),
                (_, "-library-path") => self.search_folder(word.value().unwrap_or_default()),
                (_, name) if READS_FILE.contains(&name) => {
                    let path = self.settings.places.directory.join(word.value().unwrap_or_default());
                    self.items.push(Item::OptionFile { option: name.to_owned(), path });
                }
                (LinkerWord::Option(words), _) => {
                    if let Some(name) = attached_or_next(words, "-l") {
                        self.library(name);
                    } else if let Some(folder) = attached_or_next(words, "-L") {
                        self.search_folder(folder);
                    } else if filter::second_link_keeps_linker(&word) {
                        self.keep(&word);
                    }
                }
            }
        }
    }

    fn keep(&mut self, word: &LinkerWord) {
        let LinkerWord::Option(words) = word else { return };
        let words = words.iter().flat_map(|word| ["-Xlinker".to_owned(), word.clone()]).collect();
        self.items.push(Item::Words(words));
    }

    fn search_folder(&mut self, folder: &str) {
        let path = self.settings.places.directory.join(folder);
        self.items.push(Item::Words(vec![format!("-L{}", path.display())]));
    }

    fn library(&mut self, name: &str) {
        match self.archive_named(name) {
            Some(path) => self.items.push(Item::File { name: path.display().to_string(), path }),
            None => self.items.push(Item::Library(name.to_owned())),
        }
    }

    /// The first match in the user's folders, if it is an archive of the project.
    fn archive_named(&self, name: &str) -> Option<PathBuf> {
        let exact = name.strip_prefix(':');
        for folder in &self.search {
            if let Some(exact) = exact {
                let path = folder.join(exact);
                if path.is_file() {
                    return (exact.ends_with(".a") && !is_system(&path, self.root)).then_some(path);
                }
                continue;
            }
            if !self.is_static && folder.join(format!("lib{name}.so")).is_file() {
                return None;
            }
            let path = folder.join(format!("lib{name}.a"));
            if path.is_file() {
                return (!is_system(&path, self.root)).then_some(path);
            }
        }
        None
    }
}

/// Whether a file belongs to the system and will be there when views are linked.
pub(super) fn is_system(path: &Path, root: &Path) -> bool {
    !path.starts_with(root) && ["/usr", "/lib", "/lib64"].iter().any(|folder| path.starts_with(folder))
}

/// All `-L` folders; linkers let each apply to every `-l`, whatever the order.
fn search_folders(settings: &Settings, line: &CommandLine) -> Vec<PathBuf> {
    let from_driver = line.options().filter_map(|option| attached_or_next(option, "-L").map(str::to_owned));
    let from_linker = line.linker_words().into_iter().filter_map(|word| match &word {
        LinkerWord::Option(words) if word.name() != "-library-path" => {
            attached_or_next(words, "-L").map(str::to_owned)
        }
        _ => word.value().filter(|_| word.name() == "-library-path").map(str::to_owned),
    });
    from_driver.chain(from_linker).map(|folder| settings.places.directory.join(folder)).collect()
}

fn attached_or_next<'a>(option: &'a [String], name: &str) -> Option<&'a str> {
    let value = option[0].strip_prefix(name)?;
    if value.is_empty() { option.get(1).map(String::as_str) } else { Some(value) }
}
