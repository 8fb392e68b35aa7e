//! The end of a campaign with mutants: everything is run once more, and the fewest inputs that are as good as all are put apart.
//!
//! What the campaign found on the way came from live processes with little time. Here every input that is kept is run on all
//! mutants that count, a kill counts if a fresh process agrees that has more time, and what filters left out on the way is found.

use crate::{
    campaign::history::History,
    distil::{self, DistilConfig, Distilled, Killer, Reducing, corpus},
    failure::Failure,
    inputs,
    mutants::Mutants,
    screen::Screen,
    signals::Signals,
    target::Subject,
};
use cairn_model::{Entry, MutantSet};
use serde::Serialize;
use std::{collections::BTreeMap, fs, path::Path};

/// How many times the usual time runs have.
const PATIENCE: u32 = 4;

/// What came of it.
pub struct Minimal {
    /// Mutants that inputs of the corpus kill.
    pub n_killed: usize,
    /// Inputs that are as good as all.
    pub n_inputs: usize,
    /// Whether there are no fewer that are.
    pub is_smallest: bool,
}

/// `minimal.json`.
#[derive(Serialize)]
struct Listed<'a> {
    format: u32,
    branches: usize,
    kills: usize,
    smallest: bool,
    inputs: Vec<ListedInput<'a>>,
}

#[derive(Serialize)]
struct ListedInput<'a> {
    file: String,
    /// Why it was kept when it was found.
    kept_for: &'a str,
    /// Mutants that it was the first to kill.
    kills: &'a [String],
}

/// Runs everything again and writes `minimal/` and `minimal.json` into the folder of the campaign.
pub fn write(
    folder: &Path,
    subject: &Subject,
    mutants: &Mutants,
    selected: &MutantSet,
    history: &History<'_>,
    signals: &Signals,
    screen: &Screen,
) -> Result<Minimal, Failure> {
    let corpus = corpus::load(&[folder.join("corpus")], &subject.template)?;
    let killer = Killer::of(subject, mutants, selected.clone(), PATIENCE);
    let config = DistilConfig { reducing: Reducing::Nothing, killer: Some(&killer), signals };
    let distilled = distil::distil(subject, &corpus, &config, screen)?;
    if distilled.interrupted.is_some() {
        return Err(Failure::usage("it was interrupted"));
    }
    list(folder, subject, history, &distilled)?;
    Ok(Minimal {
        n_killed: distilled.before.kills,
        n_inputs: distilled.inputs.len(),
        is_smallest: distilled.cover.proof == cairn_campaign::minimize::Proof::Smallest,
    })
}

fn list(
    folder: &Path,
    subject: &Subject,
    history: &History<'_>,
    distilled: &Distilled,
) -> Result<(), Failure> {
    let minimal = folder.join("minimal");
    // One of an earlier part of the campaign.
    if minimal.exists() {
        fs::remove_dir_all(&minimal)?;
    }
    let kept: BTreeMap<&str, &Entry> =
        history.entries.iter().map(|kept| (kept.address.as_str(), &kept.entry)).collect();
    let kills = history.mutants.as_ref().map(|mutants| &mutants.by_entry);
    let mut listed = Vec::new();
    for named in &distilled.inputs {
        let file = inputs::save(&minimal, &named.input, &subject.template)?;
        let file = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        let entry = kept.get(named.input.address().as_str());
        listed.push(ListedInput {
            file,
            kept_for: entry.map_or("", |entry| &entry.provenance.kept_for),
            kills: entry.and_then(|entry| kills?.get(&entry.id.0)).map_or(&[], Vec::as_slice),
        });
    }
    let listed = Listed {
        format: 1,
        branches: distilled.after.branches,
        kills: distilled.after.kills,
        smallest: distilled.cover.proof == cairn_campaign::minimize::Proof::Smallest,
        inputs: listed,
    };
    let text = serde_json::to_string_pretty(&listed).expect("a list is always JSON");
    fs::write(folder.join("minimal.json"), text)?;
    Ok(())
}
