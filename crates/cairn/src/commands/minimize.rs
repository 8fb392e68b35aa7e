//! `cairn minimize`: the fewest and smallest inputs that are as good as a corpus.

use crate::{
    distil::{self, DistilConfig, Distilled, Interrupted, Killer, Reducing, Totals, corpus, corpus::Corpus},
    exit_code::Exit,
    failure::Failure,
    inputs,
    mutants::{DEFAULT_SET, Mutants, operator_set},
    screen::{Screen, count},
    signals::Signals,
    target::{Subject, TargetArgs, Wanted},
};
use cairn_campaign::minimize::Proof;
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Find the smallest set of inputs that takes every branch of a corpus, and make each input small
#[derive(Debug, clap::Args)]
pub struct Minimize {
    #[command(flatten)]
    target: TargetArgs,
    /// The folder to write to
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// Keep killed mutants too, made by this set of operators
    #[arg(long, value_name = "SET", num_args = 0..=1, default_missing_value = DEFAULT_SET)]
    kills: Option<String>,
    /// Leave inputs as they are
    #[arg(long)]
    no_reduce: bool,
    /// Write into a folder that is not empty; what is there stays
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Minimize {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        if let Some(set) = &self.kills {
            operator_set(set)?;
        }
        check_folder(&self.output, self.force)?;
        let wanted = Wanted { mutants: self.kills.clone(), ..Wanted::USUAL };
        let subject = Subject::open(&self.target, &wanted, &|text| screen.progress(text))?;
        if subject.inputs.is_empty() {
            return Err(Failure::usage("no corpus was named")
                .hint("name files or folders of inputs: `cairn minimize ./prog corpus/ -o small/`"));
        }
        let corpus = corpus::load(&subject.inputs, &subject.template)?;
        for note in &corpus.notes {
            screen.warn(note);
        }
        if corpus.inputs.is_empty() {
            return Err(Failure::usage("no input of the corpus can be read").hint("the warnings say why"));
        }
        let mutants = self.kills.is_some().then(|| Mutants::of(&subject)).transpose()?;
        let killer = mutants.as_ref().map(|mutants| Killer::new(&subject, mutants));
        // Until here nothing is lost; from here on the best there is is written.
        let signals = Signals::catch()?;
        let reducing = if self.no_reduce { Reducing::Nothing } else { Reducing::All };
        let config = DistilConfig { reducing, killer: killer.as_ref(), signals: &signals };
        let distilled = distil::distil(&subject, &corpus, &config, screen)?;
        if distilled.inputs.is_empty() && distilled.interrupted.is_some() {
            screen.warn("ended before any input had been run; nothing is written");
            signals.die_if_caught();
            return Ok(Exit::Done);
        }
        if distilled.inputs.is_empty() {
            return Err(Failure::target("no input of the corpus executes anything that is in scope")
                .hint("check `[scope]` in `cairn.toml`; `cairn cover` shows what inputs execute"));
        }
        warn(&distilled, screen);
        let mut files = Vec::new();
        for named in &distilled.inputs {
            files.push(inputs::save(&self.output, &named.input, &subject.template)?);
        }
        let report = self.report(&subject, &corpus, &distilled, &files);
        match self.json {
            true => screen.result(&serde_json::to_string_pretty(&report).expect("a report is always JSON")),
            false => screen.result(text(&report, &distilled).trim_end()),
        }
        signals.die_if_caught();
        Ok(Exit::Done)
    }

    fn report(&self, subject: &Subject, corpus: &Corpus, distilled: &Distilled, files: &[PathBuf]) -> Report {
        Report {
            format: 1,
            program: subject.program.display().to_string(),
            branches: 2 * subject.map.conditions.len(),
            before: distilled.before,
            duplicates: corpus.n_duplicates,
            unreadable: corpus.n_unreadable,
            after: distilled.after,
            smallest: distilled.cover.proof == Proof::Smallest,
            at_least: distilled.cover.at_least,
            reduced: distilled.n_reduced,
            reducing_runs: distilled.n_questions,
            unstable: distilled.unstable.clone(),
            lost: distilled.n_lost,
            interrupted: distilled.interrupted,
            keeps_kills: self.kills.is_some(),
            folder: self.output.display().to_string(),
            inputs: files
                .iter()
                .zip(&distilled.inputs)
                .map(|(file, named)| Kept {
                    file: file.display().to_string(),
                    from: named.path.display().to_string(),
                    bytes: distil::size(&named.input),
                })
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct Report {
    format: u32,
    program: String,
    branches: usize,
    before: Totals,
    /// Files that hold the same input as another; not counted before.
    duplicates: usize,
    /// Files that are in no way taken into account.
    unreadable: usize,
    after: Totals,
    smallest: bool,
    at_least: usize,
    reduced: usize,
    reducing_runs: u64,
    unstable: Vec<String>,
    lost: usize,
    interrupted: Option<Interrupted>,
    keeps_kills: bool,
    folder: String,
    inputs: Vec<Kept>,
}

#[derive(Serialize)]
struct Kept {
    file: String,
    from: String,
    bytes: u64,
}

/// Refuses a folder that holds something.
pub fn check_folder(folder: &Path, is_forced: bool) -> Result<(), Failure> {
    let failed = |error| Failure::usage(format!("failed to read folder `{}`: {error}", folder.display()));
    let is_empty = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => return Err(failed(error)),
        Ok(mut entries) => entries.next().is_none(),
    };
    match is_empty || is_forced {
        true => Ok(()),
        false => Err(Failure::usage(format!("the folder `{}` is not empty", folder.display()))
            .hint("name another one, or use `--force` to write into it")),
    }
}

/// What a user should know besides the numbers.
pub fn warn(distilled: &Distilled, screen: &Screen) {
    for (how, n) in &distilled.failures {
        screen.warn(&format!(
            "on {} of the corpus the program {how}; such inputs are kept too",
            count(*n, "input")
        ));
    }
    if let Some(Interrupted { not_run, not_reduced }) = distilled.interrupted {
        let mut text = "asked to end: this is the best set so far".to_owned();
        if not_run > 0 {
            text.push_str(&format!(
                "; {} of the corpus were not run and are not in it",
                count(not_run, "input")
            ));
        }
        if not_reduced > 0 {
            text.push_str(&format!("; {not_reduced} of its inputs might become smaller"));
        }
        screen.warn(&text);
    }
    if let Some(first) = distilled.unstable.first() {
        screen.warn(&format!(
            "{} not always take the same way, such as `{first}`; kept for what is always there",
            match distilled.unstable.len() {
                1 => "1 input does".to_owned(),
                n => format!("{n} inputs do"),
            }
        ));
    }
    if distilled.n_lost > 0 {
        screen.warn(&format!(
            "in fresh processes {} of the corpus did not come back: branches, lines, ways to end or kills",
            count(distilled.n_lost, "thing")
        ));
    }
}

fn text(report: &Report, distilled: &Distilled) -> String {
    let mut lines = Vec::new();
    let mut row = |name: &str, text: String| lines.push(format!("  {name:<10} {text}"));
    let totals = |totals: &Totals| {
        let mut text = format!(
            "{}, {}: {}, {}",
            count(totals.inputs, "input"),
            count(totals.bytes as usize, "byte"),
            count(totals.branches, "branch"),
            count(totals.lines, "line")
        );
        if report.keeps_kills {
            text.push_str(&format!(", {}", count(totals.kills, "killed mutant")));
        }
        text
    };
    row("target", format!("{} ({})", report.program, count(report.branches, "branch")));
    let duplicates = match report.duplicates {
        0 => String::new(),
        n => format!(" ({n} more that were there twice)"),
    };
    row("before", totals(&report.before) + &duplicates);
    row("after", totals(&report.after));
    let n_chosen = distilled.cover.inputs.len();
    row(
        "set",
        match distilled.cover.proof {
            Proof::Smallest => format!("smallest: no fewer than {n_chosen} of these inputs do"),
            Proof::Ended { n_states } => format!(
                "small: {n_chosen} inputs do, at least {} are needed; the search ended after {:.0} s and {n_states} steps",
                distilled.cover.at_least,
                distilled.searched.as_secs_f64(),
            ),
        },
    );
    if distilled.n_questions > 0 {
        let unfinished = match distilled.n_unfinished {
            0 => String::new(),
            n => format!("; {n} might become smaller still"),
        };
        row(
            "reduced",
            format!("{} of {n_chosen}, in {} runs{unfinished}", report.reduced, report.reducing_runs),
        );
    }
    if distilled.n_put_back > 0 {
        row("put back", format!("{}, as they were", count(distilled.n_put_back, "input")));
    }
    row("written", report.folder.clone());
    lines.join("\n") + "\n"
}
