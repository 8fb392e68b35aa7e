//! `cairn seeds`: a few seeds for a fuzzer, by concolic testing.

use crate::{
    campaign::{CampaignMutants, CampaignViews, MOST_CANDIDATES},
    commands::{minimize::check_folder, score::Setup},
    distil::corpus,
    duration,
    exit_code::Exit,
    failure::Failure,
    inputs,
    mutants::{Mutants, operator_set},
    screen::{Screen, count},
    seeds::{self, ConfirmedFailure, Ended, Failures, Harvest, HarvestConfig, Runners},
    signals::Signals,
    target::{Subject, TargetArgs, Wanted},
};
use cairn_abi::symbolic::{RegionId, RegionKind};
use cairn_concolic::search::Change;
use cairn_executor::{Session, Wants};
use cairn_fuzz::FuzzConfig;
use cairn_model::{Input, MutantId, ProgramMap};
use cairn_search::Heuristic;
use cairn_seeds::{Bound, Criterion, Filling, Measure, Pick, Runner, at_once, describe_freedom};
use cairn_strategy::{CountedMutants, Seen, TargetViews};
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Find a few seeds that cover what many candidates of concolic testing cover, for any fuzzer
#[derive(Debug, clap::Args)]
pub struct Seeds {
    #[command(flatten)]
    target: TargetArgs,
    /// The folder to write seeds to
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// What seeds are to cover: none (every candidate is a seed), decision, condition, path or decision+kills
    #[arg(long, value_name = "NAME", default_value_t = Criterion::Path)]
    criterion: Criterion,
    /// How long candidates are looked for
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse_some, default_value = "60s")]
    wall: Duration,
    /// The most candidates
    #[arg(long, value_name = "N", default_value_t = MOST_CANDIDATES, value_parser = clap::value_parser!(u64).range(1..))]
    candidates: u64,
    /// Choose from the inputs that are named, and make no others
    #[arg(long)]
    no_explore: bool,
    /// What is decided otherwise next: dfs, bfs, random-branch, random-path, cfds, cgs, generational or klee
    #[arg(long, value_name = "NAME", default_value_t = Heuristic::Generational, conflicts_with = "no_explore")]
    heuristic: Heuristic,
    /// Which of the candidates that cover the same is the seed: cheapest or random
    #[arg(long, value_name = "HOW", default_value = "cheapest")]
    pick: Pick,
    /// What is put where nothing was decided by the input: keep (what the input it was made from has), zero, random or text
    #[arg(long, value_name = "HOW", default_value_t = Filling::Keep, conflicts_with = "no_explore")]
    fill: Filling,
    /// The set of operators that makes mutants, for the criterion decision+kills [default: mu2]
    #[arg(long, value_name = "SET")]
    mutants: Option<String>,
    /// Where chances come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write into a folder that is not empty; what is there stays
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    format: u32,
    program: String,
    criterion: String,
    candidates: u64,
    ended: Ended,
    failing: u64,
    templates: usize,
    /// What all candidates cover.
    covered: usize,
    /// Seeds that reach, in the order in which they were chosen, something that none before them reached.
    effective: usize,
    seconds: Seconds,
    folder: String,
    seeds: Vec<Seed>,
    failures: Vec<ConfirmedFailure>,
    /// Files with candidates that failed, and not on the bare build.
    unconfirmed: Vec<String>,
}

#[derive(Serialize)]
struct Seconds {
    /// For making candidates.
    making: f64,
    /// For running them and taking their templates.
    measuring: f64,
    /// For choosing templates.
    choosing: f64,
    /// For running the seeds once more.
    validating: f64,
}

#[derive(Serialize)]
struct Seed {
    file: String,
    bytes: usize,
    /// Candidates that cover the same.
    alike: u64,
    covers: usize,
    /// What none before it covers.
    first: Vec<String>,
    /// What of it is free, by part.
    free: Vec<String>,
    is_effective: bool,
}

/// How many things are named of each seed, for people.
const NAMED: usize = 3;

/// Inputs that are run together.
const AT_ONCE: usize = 256;

const DEFAULT_SET: &str = "mu2";

impl Seeds {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        check_folder(&self.output, self.force)?;
        if self.fill != Filling::Keep && matches!(self.criterion, Criterion::None | Criterion::DecisionKills)
        {
            return Err(Failure::usage(format!(
                "`--fill` does not go with the criterion `{}`",
                self.criterion
            ))
            .hint("`decision`, `condition` and `path` can be checked again after filling"));
        }
        let set = self.mutant_set()?;
        let wanted = Wanted {
            symbolic: !self.no_explore,
            basic_paths: self.criterion == Criterion::Path,
            mutants: set,
            // The search and mutants look at them, a choice does not.
            without_sites: self.no_explore && !self.wants_kills(),
            ..Wanted::USUAL
        };
        let subject = Subject::open(&self.target, &wanted, &|text| screen.progress(text))?;
        let mutants = self.wants_kills().then(|| Mutants::of(&subject)).transpose()?;
        let campaign_mutants = mutants.as_ref().map(|mutants| all_mutants(mutants, &subject)).transpose()?;
        let views = CampaignViews::new(&subject, subject.views.symbolic.clone(), campaign_mutants);
        let runners = || -> Result<Runners, Failure> {
            let runner = || Runner::of(self.criterion, &views);
            let (plain, runner) = at_once(|| views.plain(), runner);
            let runner = runner?.expect("its view was asked for");
            Ok(Runners { plain: plain?, measure: Measure::new(&subject.map, self.criterion, runner) })
        };
        // Both take a while, and neither needs the other.
        let (first, starts) = at_once(runners, || self.starts(&subject, screen));
        let starts = starts?;
        let signals = Signals::catch()?;
        let config = HarvestConfig {
            heuristic: (!self.no_explore).then_some(self.heuristic),
            change: change(&subject, &starts),
            bound: Bound { candidates: self.candidates, wall: Some(self.wall) },
            pick: self.pick,
            seed: self.seed,
            max_size: subject.template.max_size,
            signals: &signals,
        };
        let mut harvest = seeds::harvest(&views, starts, first?, &runners, &config, screen)?;
        if harvest.selection.templates().is_empty() && harvest.n_failing == 0 {
            signals.die_if_caught();
            return Err(Failure::target("no candidate ended properly, so there is nothing to choose from")
                .hint("`cairn replay` tells what the program does with an input"));
        }
        screen.progress("choosing seeds");
        let report = self.choose(&subject, &mut harvest, mutants.as_ref(), screen)?;
        match self.json {
            true => screen.result(&serde_json::to_string_pretty(&report).expect("a report is always JSON")),
            false => screen.result(text(&report).trim_end()),
        }
        let has_failures = !report.failures.is_empty();
        harvest.end();
        signals.die_if_caught();
        Ok(if has_failures { Exit::Findings } else { Exit::Done })
    }

    fn wants_kills(&self) -> bool {
        self.criterion == Criterion::DecisionKills
    }

    fn mutant_set(&self) -> Result<Option<String>, Failure> {
        if !self.wants_kills() {
            return match &self.mutants {
                Some(_) => Err(Failure::usage("mutants were chosen, but the criterion does not count any")
                    .hint("add `--criterion decision+kills`")),
                None => Ok(None),
            };
        }
        let set = self.mutants.clone().unwrap_or_else(|| DEFAULT_SET.into());
        operator_set(&set)?;
        Ok(Some(set))
    }

    /// The inputs that were named, or an empty one.
    fn starts(&self, subject: &Subject, screen: &Screen) -> Result<Vec<Input>, Failure> {
        if subject.inputs.is_empty() {
            if self.no_explore {
                return Err(Failure::usage("no candidates were named to choose from")
                    .hint("name a folder of inputs, or leave out `--no-explore`"));
            }
            screen.warn("no inputs were given: starting from an empty one");
            return Ok(vec![subject.template.fill(Vec::new())]);
        }
        let corpus = corpus::load(&subject.inputs, &subject.template)?;
        corpus.notes.iter().for_each(|note| screen.warn(note));
        if corpus.inputs.is_empty() {
            return Err(Failure::usage("none of the inputs can be read").hint("the warnings say why"));
        }
        Ok(corpus.inputs.into_iter().map(|named| named.input).collect())
    }

    /// Chooses seeds, writes them and says what they are.
    fn choose(
        &self,
        subject: &Subject,
        harvest: &mut Harvest,
        mutants: Option<&Mutants>,
        screen: &Screen,
    ) -> Result<Report, Failure> {
        fs::create_dir_all(&self.output).map_err(|error| {
            Failure::usage(format!("failed to make `{}`: {error}", self.output.display()))
        })?;
        let start = Instant::now();
        let chosen = match self.criterion {
            Criterion::None => harvest.selection.all(),
            _ => harvest.selection.choose(),
        };
        let choosing = start.elapsed();
        let mut random = fastrand::Rng::with_seed(self.seed);
        let mut inputs = Vec::with_capacity(chosen.len());
        let mut seeds = Vec::with_capacity(chosen.len());
        for chosen in &chosen {
            let template = &harvest.selection.templates()[chosen.index];
            let (elements, alike) = (template.elements.clone(), template.n_candidates);
            let mut input = Input::clone(&template.candidate);
            // A folder of all candidates is for others to choose from.
            let is_explained = self.criterion != Criterion::None;
            let freedom = if is_explained { harvest.freedom(&input)? } else { None };
            let mut free = Vec::new();
            if let Some((freedom, traced)) = &freedom {
                let may_change = |region: RegionId| may_change(subject, &input, region);
                free = describe_freedom(&input, traced.path().regions(), freedom, may_change);
                let mut filled = input.clone();
                self.fill.fill(&mut filled, freedom, may_change, &mut random);
                // A library function may have looked at what seems free.
                if filled != input && harvest.covers(&filled, &elements)? {
                    input = filled;
                }
            }
            let first = match is_explained {
                true => seeds::explain(harvest, &subject.map, mutants, &chosen.new),
                false => Vec::new(),
            };
            seeds.push(Seed {
                file: inputs::save(&self.output, &input, &subject.template)?.display().to_string(),
                bytes: size(subject, &input),
                alike,
                covers: elements.len(),
                first,
                free,
                is_effective: false,
            });
            inputs.push(input);
        }
        let validating = Instant::now();
        for (seed, is_effective) in
            seeds.iter_mut().zip(effective(&subject.map, &mut harvest.runners.plain, &inputs)?)
        {
            seed.is_effective = is_effective;
        }
        let validating = validating.elapsed();
        let Failures { confirmed, unconfirmed } = seeds::confirm(
            subject,
            &harvest.failing,
            &beside(&self.output, "-failures"),
            &beside(&self.output, "-unconfirmed"),
        )?;
        if let Some(name) = harvest.runners.plain.missing_variable() {
            // What it might have been was not asked for.
            harvest.ended = match harvest.ended {
                Ended::Exhausted => Ended::NothingToAsk,
                other => other,
            };
            screen.warn(&missing_variable(&name));
        }
        Ok(Report {
            format: 1,
            program: subject.program.display().to_string(),
            criterion: self.criterion.to_string(),
            candidates: harvest.n_candidates,
            ended: harvest.ended,
            failing: harvest.n_failing,
            templates: harvest.selection.templates().len(),
            covered: harvest.selection.n_covered(),
            effective: seeds.iter().filter(|seed| seed.is_effective).count(),
            seconds: Seconds {
                making: harvest.made_in.as_secs_f64(),
                measuring: harvest.measured_in.as_secs_f64(),
                choosing: choosing.as_secs_f64(),
                validating: validating.as_secs_f64(),
            },
            folder: self.output.display().to_string(),
            seeds,
            failures: confirmed,
            unconfirmed,
        })
    }
}

/// A folder beside another, whose name ends in `end`.
fn beside(folder: &Path, end: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or("seeds".as_ref()).to_owned();
    name.push(end);
    folder.with_file_name(name)
}

/// Whether candidates differ in a region: of raw bytes only what carries them does.
fn may_change(subject: &Subject, input: &Input, region: RegionId) -> bool {
    region.kind() != Some(RegionKind::Argument) || subject.template.raw(input).is_none()
}

/// Bytes of an input in which candidates differ.
fn size(subject: &Subject, input: &Input) -> usize {
    let regions = cairn_concolic::contents(input).filter(|(region, _)| may_change(subject, input, *region));
    regions.map(|(_, bytes)| bytes.len()).sum()
}

fn missing_variable(name: &str) -> String {
    format!(
        "the program asks for a typed variable `{name}`, and is given 0 on inputs that do not have it\n\nhint: name an input that has it, \
         or declare it in `cairn.toml`"
    )
}

/// Whether each of some inputs reaches something that none before it reaches.
fn effective(map: &ProgramMap, plain: &mut Session, inputs: &[Input]) -> Result<Vec<bool>, Failure> {
    let mut seen = Seen::nothing(map.n_counters);
    let mut effective = Vec::with_capacity(inputs.len());
    for part in inputs.chunks(AT_ONCE) {
        for run in plain.run_batch(part, Wants::COUNTERS)? {
            let hits = Seen::hits(&run.execution.counters);
            effective.push(seen.new_in(&hits).0 > 0);
            seen.add(&hits);
        }
    }
    Ok(effective)
}

/// All mutants of a set.
fn all_mutants(mutants: &Mutants, subject: &Subject) -> Result<CampaignMutants, Failure> {
    let selected = (0..mutants.table.mutants.len() as u32).map(MutantId).collect();
    Ok(CampaignMutants {
        counted: CountedMutants { table: mutants.table.clone(), selected },
        view: mutants.view.program.clone(),
        setup: Setup::new(&subject.config, subject.run_config.clone())?,
    })
}

/// What candidates may be made of: raw bytes stay such, and of whole inputs anything may change.
fn change(subject: &Subject, starts: &[Input]) -> Change {
    let mut may_change = FuzzConfig::of_template(&subject.template);
    if starts.iter().any(|start| subject.template.raw(start).is_none()) {
        may_change.regions = cairn_fuzz::RegionKind::ALL.to_vec();
    } else if !subject.template.base.variables.is_empty() {
        may_change.raw = None;
    }
    Change::only(move |new, old| may_change.may_become(old, new))
}

fn text(report: &Report) -> String {
    let mut lines = Vec::new();
    let mut row = |name: &str, text: String| lines.push(format!("  {name:<10} {text}"));
    let why = match report.ended {
        Ended::Exhausted => "; nothing else depends on the input",
        Ended::NothingToAsk => "; nothing was left to ask",
        Ended::Enough => "; `--candidates` allows more",
        Ended::TimeUp => "; the time was up, `--for` gives more",
        Ended::Interrupted => "; it was interrupted",
        Ended::AllGiven => "",
    };
    row("target", report.program.clone());
    row("candidates", format!("{}{why}", report.candidates));
    let noun = report.criterion.parse::<Criterion>().map_or("element", Criterion::noun);
    row("templates", format!("{}, which cover {} in all", report.templates, count(report.covered, noun)));
    row(
        "seeds",
        format!("{} in `{}`, {} of them effective", report.seeds.len(), report.folder, report.effective),
    );
    let Seconds { making, measuring, choosing, validating } = report.seconds;
    row(
        "time",
        format!(
            "{making:.1} s making candidates, {measuring:.2} s running them, {choosing:.2} s choosing, {validating:.2} s running seeds"
        ),
    );
    if !report.unconfirmed.is_empty() {
        let what = count(report.unconfirmed.len(), "candidate");
        row(
            "doubtful",
            format!("{what} failed, and not on the bare build: {}", report.unconfirmed.join(", ")),
        );
    }
    for failure in &report.failures {
        let place = failure.stack.first().map_or(String::new(), |frame| format!(" in {frame}"));
        row("failure", format!("{}{place}: {}", failure.kind, failure.file));
        row("", failure.reproduce.clone());
    }
    for seed in report.seeds.iter().filter(|seed| seed.covers > 0 && !seed.first.is_empty()) {
        lines.push(format!(
            "\n{} ({}): covers {}, {} of them first; stands for {}",
            seed.file,
            count(seed.bytes, "byte"),
            seed.covers,
            seed.first.len(),
            count(seed.alike as usize, "candidate"),
        ));
        lines.extend(seed.first.iter().take(NAMED).map(|text| format!("    {text}")));
        if seed.first.len() > NAMED {
            lines.push(format!("    and {} more", seed.first.len() - NAMED));
        }
        lines.extend(seed.free.iter().map(|text| format!("    {text}")));
    }
    lines.join("\n") + "\n"
}
