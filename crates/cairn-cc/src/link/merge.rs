//! The second link: lld merges the bitcode and makes internal what nothing outside it needs.

use super::replace::Replaced;
use crate::{
    Settings,
    arguments::CommandLine,
    unit::{command, first_error},
};
use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
    process::Stdio,
};

/// What the second link gave.
pub(super) struct Merge {
    /// The merged module, or why there is none.
    pub bitcode: Result<PathBuf, String>,
    /// Every file and archive member that took part.
    pub trace: HashSet<String>,
    /// Linker options lld did not know.
    pub dropped: Vec<String>,
}

impl Merge {
    /// No bitcode, for this reason.
    pub fn failed(reason: String) -> Self {
        Self { bitcode: Err(reason), trace: HashSet::new(), dropped: Vec::new() }
    }
}

/// Options lld does not know are left out one after the other, but not forever.
const MAX_ATTEMPTS: usize = 20;

/// Merges the bitcode of a link into one module in `work`.
pub(super) fn merge(settings: &Settings, line: &CommandLine, replaced: &Replaced, work: &Path) -> Merge {
    let mut merge = Merge::failed(why_no_bitcode(replaced));
    if !replaced.has_view {
        return merge;
    }
    let mut inputs = replaced.second.clone();
    for _ in 0..MAX_ATTEMPTS {
        match attempt(settings, line, &inputs, work) {
            Err(error) => {
                merge.bitcode = Err(error.to_string());
                return merge;
            }
            Ok(Attempt { status: true, trace, .. }) => {
                merge.trace = trace;
                merge.bitcode = Ok(work.join("program.bc"));
                return merge;
            }
            Ok(Attempt { messages, .. }) => {
                let unknown = unknown_arguments(&messages);
                let before = inputs.len();
                inputs = without_linker_words(&inputs, &unknown);
                merge.dropped.extend(unknown);
                if inputs.len() == before {
                    merge.bitcode = Err(first_error(&messages).unwrap_or_else(|| "lld failed".to_owned()));
                    return merge;
                }
            }
        }
    }
    merge.bitcode = Err("lld knows too few of the linker options".to_owned());
    merge
}

/// What a unit without bitcode says about it, if any unit came at all.
fn why_no_bitcode(replaced: &Replaced) -> String {
    let failed = replaced.units.iter().find_map(|(_, unit)| {
        unit.meta.bitcode_error.as_ref().map(|error| format!("`{}`: {error}", unit.meta.source))
    });
    failed.unwrap_or_else(|| "no object of this link carries bitcode".to_owned())
}

/// Takes linker options out of a link line, where each linker word stands behind its own `-Xlinker`.
pub(crate) fn without_linker_words(words: &[String], unwanted: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "-Xlinker" {
            let value = words.next();
            if value.is_some_and(|value| unwanted.contains(value)) {
                continue;
            }
            kept.push(word.clone());
            kept.extend(value.cloned());
            continue;
        }
        kept.push(word.clone());
    }
    kept
}

struct Attempt {
    status: bool,
    trace: HashSet<String>,
    messages: String,
}

fn attempt(settings: &Settings, line: &CommandLine, inputs: &[String], work: &Path) -> io::Result<Attempt> {
    let mut words = inputs.to_vec();
    // What the archive refers to, a harness for one, must not become internal.
    if super::wants_delivery(line) {
        words.push(settings.distribution.deliver_archive.to_string_lossy().into_owned());
    }
    words.push("-fuse-ld=lld".to_owned());
    words.push(format!("--ld-path={}", settings.toolchain.lld.display()));
    let options = [
        "-Qunused-arguments",
        "-Wl,--lto-O0",
        "-Wl,--lto-emit-llvm",
        // Only with temporaries does lld keep the names of values.
        "-Wl,--save-temps=internalize",
        "-Wl,--trace",
        // The runtime calls it where a program has it.
        "-Wl,-u,cairn_compare",
        // GNU ld lets a version script name symbols that do not exist.
        "-Wl,--undefined-version",
        "-o",
    ];
    words.extend(options.map(str::to_owned));
    words.push(work.join("program.bc").to_string_lossy().into_owned());
    let output = command(settings.toolchain.driver(line.is_cxx), &words, work)?
        .current_dir(&settings.places.directory)
        .stdin(Stdio::null())
        .output()?;
    Ok(Attempt {
        status: output.status.success() && work.join("program.bc").is_file(),
        trace: String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect(),
        messages: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

fn unknown_arguments(messages: &str) -> Vec<String> {
    messages
        .lines()
        .filter_map(|line| line.split_once("unknown argument '"))
        .filter_map(|(_, rest)| rest.split('\'').next())
        .map(str::to_owned)
        .collect()
}
