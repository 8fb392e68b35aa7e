//! What the folder of a campaign tells, also of one that is still at work or was killed.

use super::{lines::unconfirmed, mutant_history::MutantHistory, plan::Plan};
use crate::{
    failure::{Failure, chain},
    mutants::Mutants,
    printable::Beginning,
    report::html,
    shell,
    target::Subject,
};
use cairn_campaign::{Event, EventKind, Why};
use cairn_executor::is_sanitizer_report;
use cairn_model::{CounterId, Coverage, Entry, Input, ProgramFailure, ProgramMap, Spent, Template};
use cairn_store::{CampaignHead, CorpusFolder, Moment, Store, StoreError};
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    time::Duration,
};

/// Characters of an input that are looked at; corpora may hold gigabytes.
const SHOWN: usize = 2000;

/// What a campaign did.
pub struct History<'a> {
    /// The program.
    pub map: &'a ProgramMap,
    /// As it was named.
    pub program: PathBuf,
    /// The program with its arguments, as a shell takes them.
    pub command: String,
    /// Where it was given, and where the commands of the report are to be given.
    pub directory: PathBuf,
    /// The folder of the campaign, from there.
    pub folder: PathBuf,
    /// What was asked for.
    pub plan: &'a Plan,
    /// Inputs that are kept.
    pub entries: Vec<KeptInput>,
    /// Ways to fail.
    pub failures: Vec<FailingInput>,
    /// How far it was when.
    pub moments: Vec<Moment>,
    /// Work done, by strategy.
    pub work: BTreeMap<String, Spent>,
    /// What there was to know, as the journal has it.
    pub warnings: Vec<String>,
    /// Why it ended; `None` if it is still at work, or was killed.
    pub ended: Option<Why>,
    /// What the inputs that are kept reach together.
    pub coverage: Coverage,
    /// Branches reached, whenever they became more.
    pub curve: Vec<(Duration, usize)>,
    /// What became of mutants; `None` where none were run.
    pub mutants: Option<MutantHistory>,
}

/// An input that is kept.
pub struct KeptInput {
    /// Without its input.
    pub entry: Entry,
    /// Names it.
    pub address: String,
    /// Its file, in the folder of the campaign; `None` if it is gone.
    pub file: Option<PathBuf>,
    /// How it begins; `None` if its file is gone.
    pub shown: Option<Beginning>,
}

/// A way to fail.
pub struct FailingInput {
    /// Which; the input is empty if its file is gone.
    pub failure: ProgramFailure,
    /// Its file, in the folder of the campaign; `None` if it is gone.
    pub file: Option<PathBuf>,
    /// How it is run again.
    pub replay: Option<String>,
}

impl<'a> History<'a> {
    /// Reads a folder whose campaign is one of the subject. Nobody is kept out of it meanwhile.
    pub fn read(
        folder: &Path,
        plan: &'a Plan,
        subject: &'a Subject,
        mutants: Option<&Mutants>,
    ) -> Result<Self, Failure> {
        let store = Store::open(&folder.join("campaign.db")).map_err(failed)?;
        check(store.campaign().map_err(failed)?, &subject.map, folder)?;
        let relative = folder.strip_prefix(&plan.directory).unwrap_or(folder).to_path_buf();
        let Kept { entries, coverage, curve } = entries(folder, &store, &subject.map, &subject.template)?;
        let moments = store.moments().map_err(failed)?;
        let mut failures = failures(folder, &store, &subject.template)?;
        for failing in &mut failures {
            let file = failing.file.as_ref().map(|file| relative.join(file));
            let is_reported = is_sanitizer_report(&failing.failure.kind);
            failing.replay = file.map(|file| replay(&subject.program, &file, plan, is_reported));
        }
        let (warnings, ended) = journal(&folder.join("events.jsonl"))?;
        let mutants = match plan.mutants.as_ref().zip(mutants) {
            Some((plan, mutants)) => {
                Some(MutantHistory::new(plan, mutants, &store.kills().map_err(failed)?)?)
            }
            None => None,
        };
        Ok(Self {
            map: &subject.map,
            program: subject.program.clone(),
            command: shell::command(&subject.program, &plan.args),
            directory: plan.directory.clone(),
            folder: relative,
            plan,
            entries,
            failures,
            curve: rising(curve, &moments),
            moments,
            work: store.work().map_err(failed)?,
            warnings,
            ended,
            coverage,
            mutants,
        })
    }

    /// Writes `report.html` into the folder; whoever has it open reads the old one to its end.
    pub fn write_report(&self, folder: &Path) -> Result<PathBuf, Failure> {
        let path = folder.join("report.html");
        let draft = folder.join(".report.html.new");
        fs::write(&draft, html::render(self)).and_then(|()| fs::rename(&draft, &path)).map_err(|error| {
            Failure::usage(format!("failed to write `{}`: {error}", path.display()))
                .hint("make room there, or see whether it may be written to")
        })?;
        Ok(path)
    }

    /// Branches reached: by inputs that are kept, or by any run at any moment.
    pub fn n_reached(&self) -> usize {
        self.curve.last().map_or(0, |(_, n_reached)| *n_reached)
    }

    /// How a failure is run again, if its input is there.
    pub fn replay(&self, signature: &str) -> Option<&str> {
        let failing = self.failures.iter().find(|failing| failing.failure.signature == signature);
        failing?.replay.as_deref()
    }

    /// All the work there was.
    pub fn spent(&self) -> Spent {
        let mut spent = Spent::default();
        self.work.values().for_each(|work| spent += *work);
        spent.wall = self.moments.last().map_or(spent.wall, |moment| moment.after);
        spent
    }
}

fn replay(program: &Path, file: &Path, plan: &Plan, is_reported: bool) -> String {
    let mut words = vec!["cairn".to_string(), "replay".into()];
    if is_reported {
        words.push(plan.sanitize_option());
    }
    if let Some(level) = &plan.sandbox {
        words.push(format!("--sandbox={level}"));
    }
    words.extend([program, file].map(|path| path.to_string_lossy().into_owned()));
    if !plan.args.is_empty() {
        words.push("--".into());
        words.extend(plan.args.iter().cloned());
    }
    shell::words(&words)
}

fn check(head: Option<CampaignHead>, map: &ProgramMap, folder: &Path) -> Result<(), Failure> {
    let folder = folder.display();
    match head {
        None => Err(Failure::usage(format!("`{folder}` holds no campaign"))),
        Some(head) if head.map_hash == map.hash() => Ok(()),
        Some(_) => {
            Err(Failure::usage(format!("the program is not the one that the campaign in `{folder}` was of"))
                .hint("build it again as it was then"))
        }
    }
}

/// What the corpus tells.
struct Kept {
    entries: Vec<KeptInput>,
    coverage: Coverage,
    /// Branches these inputs reached, whenever they became more.
    curve: Vec<(Duration, usize)>,
}

fn entries(folder: &Path, store: &Store, map: &ProgramMap, template: &Template) -> Result<Kept, Failure> {
    let corpus = open(folder, "corpus", template)?;
    let mut seen = Vec::new();
    let entries = store.entries(|address| {
        let shown = found(corpus.load(address))?.map(|input| Beginning::of(&input, SHOWN));
        seen.push((address.to_string(), shown));
        // What is shown is enough: all inputs of a corpus may be more than memory holds.
        Ok(Input::default())
    });
    let mut kept = Kept { entries: Vec::new(), coverage: Coverage::empty(map), curve: Vec::new() };
    for (entry, (address, shown)) in entries.map_err(failed)?.into_iter().zip(seen) {
        let file = corpus.path_of(&address);
        let file = file.file_name().filter(|_| shown.is_some()).map(|name| Path::new("corpus").join(name));
        let has_new = entry.hits.iter().any(|(counter, _)| !kept.coverage.hit(CounterId(*counter)));
        kept.coverage.add_hits(&entry.hits);
        if has_new {
            kept.curve.push((entry.provenance.found_after, kept.coverage.n_branches(map)));
        }
        kept.entries.push(KeptInput { entry, address, file, shown });
    }
    Ok(kept)
}

/// The curve of inputs that are kept and that of moments in one: moments also know of runs that failed.
fn rising(mut curve: Vec<(Duration, usize)>, moments: &[Moment]) -> Vec<(Duration, usize)> {
    curve.extend(moments.iter().map(|moment| (moment.after, moment.n_branches as usize)));
    curve.sort();
    let mut most = 0;
    curve.retain(|(_, n_reached)| {
        let is_more = *n_reached > most;
        most = most.max(*n_reached);
        is_more
    });
    curve
}

fn failures(folder: &Path, store: &Store, template: &Template) -> Result<Vec<FailingInput>, Failure> {
    let folders =
        [("crashes", open(folder, "crashes", template)?), ("hangs", open(folder, "hangs", template)?)];
    let mut files = Vec::new();
    let failures = store.failures(|address| {
        for (name, corpus) in &folders {
            if let Some(input) = found(corpus.load(address))? {
                let (file, _) = cairn_store::input_file::encode(&input, template);
                files.push(Some(Path::new(name).join(file)));
                return Ok(input);
            }
        }
        files.push(None);
        Ok(Input::default())
    });
    let failures = failures.map_err(failed)?.into_iter().zip(files);
    Ok(failures.map(|(failure, file)| FailingInput { failure, file, replay: None }).collect())
}

/// What there was to know, and why the campaign ended, if it has.
fn journal(path: &Path) -> Result<(Vec<String>, Option<Why>), Failure> {
    let mut warnings = Vec::new();
    let mut ended = None;
    let Ok(file) = fs::File::open(path) else { return Ok((warnings, ended)) };
    for line in BufReader::new(file).split(b'\n') {
        // What is no event is the half of one that a killed process left, or of a later version.
        let Ok(event) = serde_json::from_slice::<Event>(&line?) else { continue };
        ended = None;
        match event.kind {
            EventKind::Unconfirmed { address, ending, n_runs, .. } => {
                warnings.push(unconfirmed(&address, &ending, n_runs))
            }
            EventKind::Warned { text } => warnings.push(text),
            EventKind::Restarted { worker, why } => {
                warnings.push(format!("worker {worker} was started again: {why}"))
            }
            EventKind::Ended { why } => ended = Some(why),
            _ => {}
        }
    }
    Ok((warnings, ended))
}

fn open(folder: &Path, name: &str, template: &Template) -> Result<CorpusFolder, Failure> {
    CorpusFolder::open(folder.join(name), template.clone()).map_err(failed)
}

/// Nothing for a file that is gone or was changed: people tidy up.
fn found(loaded: Result<Input, StoreError>) -> Result<Option<Input>, StoreError> {
    match loaded {
        Ok(input) => Ok(Some(input)),
        Err(error) if error.is_lost() => Ok(None),
        Err(error) => Err(error),
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::usage(chain(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_only_rises_and_knows_what_moments_know() {
        let at = Duration::from_secs;
        let moment = |second, n_branches| Moment { after: at(second), n_branches, ..Moment::default() };
        let kept = vec![(at(1), 3), (at(4), 6)];
        let moments = [moment(2, 5), moment(3, 3), moment(5, 6)];
        assert_eq!(rising(kept, &moments), [(at(1), 3), (at(2), 5), (at(4), 6)]);
    }
}
