//! Corpora of our own and of other fuzzers.
//!
//! AFL++ leaves a folder for each instance, with the inputs in `queue/`, those that crash in `crashes/` beside a
//! `README.txt`, and files of its own in `queue/.state/`. libFuzzer reads all files below a folder. A campaign of ours has
//! `corpus/` and `crashes/`.

use crate::{
    failure::Failure,
    inputs::{self, NamedInput},
};
use cairn_model::Template;
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// Inputs that were read.
#[derive(Debug, Default)]
pub struct Corpus {
    /// The inputs, each once.
    pub inputs: Vec<NamedInput>,
    /// Files that hold an input that was there already.
    pub n_duplicates: usize,
    /// Files that cannot be read.
    pub n_unreadable: usize,
    /// What was left out, for people.
    pub notes: Vec<String>,
}

/// How AFL++'s notes beside crashes begin.
const AFL_README: &[u8] = b"Command line used to find this crash";

/// Reads files and folders, folders in name order.
pub fn load(paths: &[PathBuf], template: &Template) -> Result<Corpus, Failure> {
    let mut corpus = Corpus::default();
    let mut known = BTreeSet::new();
    for path in paths {
        let mut files = Vec::new();
        let metadata = fs::metadata(path).map_err(|error| {
            Failure::usage(format!("failed to read corpus `{}`: {error}", path.display()))
        })?;
        match metadata.is_dir() {
            true => collect(path, &mut files, &mut corpus.notes)?,
            false => files.push(path.clone()),
        }
        if files.is_empty() {
            return Err(Failure::usage(format!("there are no inputs in `{}`", path.display()))
                .hint("name a folder of inputs, or the output folder of AFL++"));
        }
        for file in files {
            let named = match inputs::load_file(&file, template) {
                Ok(named) => named,
                // What was named itself must be an input.
                Err(failure) if file == *path => return Err(failure),
                Err(failure) => {
                    corpus.n_unreadable += 1;
                    corpus.notes.push(format!("an input is left out: {}", failure.message));
                    continue;
                }
            };
            match known.insert(named.input.address()) {
                true => corpus.inputs.push(named),
                false => corpus.n_duplicates += 1,
            }
        }
    }
    Ok(corpus)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>, notes: &mut Vec<String>) -> Result<(), Failure> {
    let failed = |error| Failure::usage(format!("failed to read folder `{}`: {error}", folder.display()));
    // Large corpora have one folder and many files, so that each file is asked for its kind no more than once.
    let mut entries: Vec<(PathBuf, bool)> = fs::read_dir(folder)
        .and_then(|entries| {
            entries.filter_map(|entry| entry.and_then(|entry| kind(&entry)).transpose()).collect()
        })
        .map_err(failed)?;
    entries
        .retain(|(path, _)| path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b".")));
    // All lie in one folder, so their names tell them apart.
    entries.sort_by(|(one, _), (other, _)| one.file_name().cmp(&other.file_name()));
    // An instance of AFL++, or a campaign: only these folders hold inputs that are worth having.
    let holds = |name: &str| folder.join(name).is_dir();
    let is_campaign = holds("corpus") && folder.join("campaign.db").is_file();
    let main = if is_campaign { "corpus" } else { "queue" };
    if holds(main) {
        for name in [main, "crashes"].into_iter().filter(|name| holds(name)) {
            collect(&folder.join(name), files, notes)?;
        }
        let n_hangs = fs::read_dir(folder.join("hangs")).map_or(0, Iterator::count);
        if n_hangs > 0 {
            let hangs = folder.join("hangs");
            notes.push(format!("`{}` was left out; name it to have its inputs too", hangs.display()));
        }
        return Ok(());
    }
    // What several instances share; beside their folders lies nothing that is an input.
    let folders = entries.iter().filter(|(_, is_folder)| *is_folder).map(|(path, _)| path);
    let instances: Vec<&PathBuf> = folders.filter(|path| path.join("queue").is_dir()).collect();
    if !instances.is_empty() {
        return instances.into_iter().try_for_each(|instance| collect(instance, files, notes));
    }
    for (path, is_folder) in entries {
        if is_folder {
            collect(&path, files, notes)?;
        } else if !is_afl_readme(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// An entry of a folder, and whether it is a folder; what links lead to counts. What is neither a folder nor a file is left out.
fn kind(entry: &fs::DirEntry) -> io::Result<Option<(PathBuf, bool)>> {
    let (path, mut kind) = (entry.path(), entry.file_type()?);
    if kind.is_symlink() {
        let Ok(target) = fs::metadata(&path) else { return Ok(None) };
        kind = target.file_type();
    }
    Ok((kind.is_dir() || kind.is_file()).then_some((path, kind.is_dir())))
}

fn is_afl_readme(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "README.txt")
        && fs::read(path).is_ok_and(|text| text.starts_with(AFL_README))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::Input;

    fn names(files: &[(&str, &str)]) -> (Vec<String>, Corpus) {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let template = Template { base: Input::default(), is_harness: false, max_size: 100 };
        let corpus = load(&[folder.path().to_path_buf()], &template).unwrap();
        let relative =
            |named: &NamedInput| named.path.strip_prefix(folder.path()).unwrap().display().to_string();
        (corpus.inputs.iter().map(relative).collect(), corpus)
    }

    #[test]
    fn only_inputs_are_read_from_what_afl_leaves() {
        let (names, corpus) = names(&[
            ("out/default/fuzzer_stats", "start_time : 1"),
            ("out/default/queue/id:000000,time:0,orig:a", "a"),
            ("out/default/queue/id:000001,src:000000,op:havoc", "b"),
            ("out/default/queue/.state/auto_extras/x", "x"),
            ("out/default/crashes/README.txt", "Command line used to find this crash:\n\nafl-fuzz"),
            ("out/default/crashes/id:000000,sig:11", "c"),
            ("out/default/hangs/id:000000,src:1", "d"),
            ("out/second/queue/id:000000,time:0,orig:a", "a"),
            ("out/second/queue/id:000001,sync:default", "e"),
        ]);
        assert_eq!(
            names,
            [
                "out/default/queue/id:000000,time:0,orig:a",
                "out/default/queue/id:000001,src:000000,op:havoc",
                "out/default/crashes/id:000000,sig:11",
                "out/second/queue/id:000001,sync:default",
            ]
        );
        assert_eq!((corpus.n_duplicates, corpus.notes.len()), (1, 1), "{corpus:?}");
    }

    #[test]
    fn folders_in_folders_are_read_as_libfuzzer_does() {
        let (names, _) = names(&[("b", "1"), ("a/x", "2"), ("README.txt", "an input like any other")]);
        assert_eq!(names, ["README.txt", "a/x", "b"]);
    }

    #[test]
    fn a_campaign_has_its_inputs_in_two_folders() {
        let (names, _) =
            names(&[("campaign.db", ""), ("events.jsonl", ""), ("corpus/1", "1"), ("crashes/2", "2")]);
        assert_eq!(names, ["corpus/1", "crashes/2"]);
    }
}
