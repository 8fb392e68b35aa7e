//! The steps from a corpus to a small one.

use super::{
    corpus::Corpus,
    kills::{Killer, Questioner},
    yardstick::{Yardstick, size},
};
use crate::{commands::cover::verb, failure::Failure, inputs::NamedInput, screen::Screen, target::Subject};
use cairn_campaign::{
    minimize::{BitSet, Cover, Coverer, smallest_cover},
    reduce::{ReduceConfig, reduce},
};
use cairn_executor::{Executor, Session, WantedCounters, Wants};
use cairn_model::{Ending, Input};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

/// How long the smallest set is searched for.
const COVER_TIME: Duration = Duration::from_secs(10);

/// Runs for making one input smaller.
const MAX_QUESTIONS: u64 = 10_000;

/// Likewise where every run that stays good goes on until it is stopped.
const MAX_HANGING_QUESTIONS: u64 = 200;

/// A run may take so many times the steps of the longest one that ended.
const FUEL_MARGIN: u64 = 10;
const LEAST_FUEL: u64 = 1_000_000;

const COUNTERS: Wants = Wants { counters: WantedCounters::Always, output: false };

/// What is done.
pub struct DistilConfig<'a> {
    /// Whether inputs are made smaller.
    pub reduces: bool,
    /// Who runs mutants, if kills are to be kept.
    pub killer: Option<&'a Killer<'a>>,
}

/// What a set of inputs is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Totals {
    pub inputs: usize,
    pub bytes: u64,
    pub branches: usize,
    pub lines: usize,
    pub kills: usize,
}

/// A small corpus.
pub struct Distilled {
    /// The inputs, with where each came from.
    pub inputs: Vec<NamedInput>,
    /// What there was.
    pub before: Totals,
    /// What there is, as fresh processes tell.
    pub after: Totals,
    /// The set that was found, before inputs were reduced.
    pub cover: Cover,
    /// How long it was searched for.
    pub searched: Duration,
    /// Inputs that were made smaller.
    pub n_reduced: usize,
    /// Inputs that might be made smaller still.
    pub n_unfinished: usize,
    /// Runs that this took.
    pub n_questions: u64,
    /// Inputs that do not take the same way every time.
    pub unstable: Vec<String>,
    /// Inputs that were put back as they were, because in fresh processes something was missing.
    pub n_put_back: usize,
    /// Branches, lines and ways to fail that were seen and did not come back in a fresh process.
    pub n_lost: usize,
    /// Ways in which the program fails, with the number of inputs of the corpus.
    pub failures: BTreeMap<String, usize>,
}

/// An input of the corpus.
struct Measured<'a> {
    named: &'a NamedInput,
    /// What it is always good for.
    elements: BitSet,
    is_hanging: bool,
}

/// Makes a small corpus of a large one.
pub fn distil(
    subject: &Subject,
    corpus: &Corpus,
    config: &DistilConfig<'_>,
    screen: &Screen,
) -> Result<Distilled, Failure> {
    let yardstick = Yardstick::new(&subject.map);
    let mut session = subject.session()?;
    let mut measuring = Measuring::default();
    let mut measured = measuring.measure(subject, &yardstick, &mut session, &corpus.inputs, screen)?;
    if let Some(killer) = config.killer {
        let matrix = killer.matrix(&corpus.inputs, screen)?;
        for (name, why) in &matrix.left_out {
            screen.warn(&format!("`{name}` kills nothing: {why}"));
        }
        for (input, killed) in measured.iter_mut().zip(matrix.killed) {
            input.elements.extend(killed.into_iter().map(|mutant| yardstick.kill(mutant)));
        }
    }
    let all = union(measured.iter().map(|input| &input.elements));
    screen.progress("looking for the smallest set");
    let start = Instant::now();
    let coverers: Vec<Coverer> = measured
        .iter()
        .map(|input| Coverer { elements: input.elements.clone(), cost: size(&input.named.input) })
        .collect();
    let cover = smallest_cover(&coverers, &mut || start.elapsed() < COVER_TIME);
    let searched = start.elapsed();
    let chosen: Vec<&Measured> = cover.inputs.iter().map(|index| &measured[*index]).collect();

    let mut run = Run {
        subject,
        yardstick: &yardstick,
        fresh: subject.plain()?,
        questioner: config.killer.map(Killer::questioner).transpose()?,
        n_reduced: 0,
        n_unfinished: 0,
        n_questions: 0,
    };
    let mut result = match config.reduces {
        true => run.reduce_all(&mut session, &chosen, screen)?,
        false => chosen.iter().map(|input| input.named.clone()).collect(),
    };
    keep_distinct(&mut result);
    // What counts is what fresh processes do with the result.
    let mut reached = run.measure_fresh(config.killer, &result, screen)?;
    let n_before = result.len();
    let mut missing = all.clone();
    missing.subtract(&reached);
    for input in &chosen {
        if missing.n_both(&input.elements) > 0 {
            missing.subtract(&input.elements);
            result.push(input.named.clone());
        }
    }
    keep_distinct(&mut result);
    let n_put_back = result.len() - n_before;
    if n_put_back > 0 {
        reached = run.measure_fresh(config.killer, &result, screen)?;
    }
    let mut lost = all.clone();
    lost.subtract(&reached);
    let totals = |inputs: &mut dyn Iterator<Item = &Input>, elements: &BitSet| {
        let (branches, lines, kills) = yardstick.counts(elements);
        let sizes: Vec<u64> = inputs.map(size).collect();
        Totals { inputs: sizes.len(), bytes: sizes.iter().sum(), branches, lines, kills }
    };
    Ok(Distilled {
        before: totals(&mut corpus.inputs.iter().map(|named| &named.input), &all),
        after: totals(&mut result.iter().map(|named| &named.input), &reached),
        inputs: result,
        cover,
        searched,
        n_reduced: run.n_reduced,
        n_unfinished: run.n_unfinished,
        n_questions: run.n_questions,
        unstable: measuring.unstable,
        n_put_back,
        n_lost: lost.len(),
        failures: measuring.failures,
    })
}

fn union<'a>(sets: impl Iterator<Item = &'a BitSet>) -> BitSet {
    let mut union = BitSet::default();
    sets.for_each(|set| union.add(set));
    union
}

fn keep_distinct(inputs: &mut Vec<NamedInput>) {
    let mut known = BTreeSet::new();
    inputs.retain(|named| known.insert(named.input.address()));
}

/// What is noticed while inputs are measured.
#[derive(Default)]
struct Measuring {
    unstable: Vec<String>,
    failures: BTreeMap<String, usize>,
}

impl Measuring {
    /// Runs every input twice. What only one of the runs reaches does not count.
    fn measure<'a>(
        &mut self,
        subject: &Subject,
        yardstick: &Yardstick,
        session: &mut Session,
        inputs: &'a [NamedInput],
        screen: &Screen,
    ) -> Result<Vec<Measured<'a>>, Failure> {
        let at_once = session.config().max_batch;
        let mut measured: Vec<Measured> = Vec::new();
        let mut most_used = 0;
        for part in inputs.chunks(at_once) {
            screen.progress(&format!("running input {} of {}", measured.len() + 1, inputs.len()));
            let batch: Vec<Input> = part.iter().map(|named| named.input.clone()).collect();
            for (named, run) in part.iter().zip(session.run_batch(&batch, COUNTERS)?) {
                subject.check_reported(&run.execution)?;
                let ending = &run.execution.outcome.ending;
                let is_hanging = matches!(ending, Ending::TimedOut | Ending::OutOfFuel);
                if !is_hanging {
                    most_used = most_used.max(run.execution.fuel_used);
                }
                if ending.is_failure() {
                    *self.failures.entry(verb(ending)).or_default() += 1;
                }
                measured.push(Measured { named, elements: yardstick.of(&run.execution), is_hanging });
            }
        }
        session.set_fuel(most_used.saturating_mul(FUEL_MARGIN).max(LEAST_FUEL));
        for part in measured.chunks_mut(at_once) {
            let batch: Vec<Input> = part.iter().map(|input| input.named.input.clone()).collect();
            for (input, run) in part.iter_mut().zip(session.run_batch(&batch, COUNTERS)?) {
                let again = yardstick.of(&run.execution);
                // Where a hang is stopped is no property of the input.
                if again != input.elements && !input.is_hanging {
                    self.unstable.push(input.named.path.display().to_string());
                }
                input.elements.intersect(&again);
            }
        }
        Ok(measured)
    }
}

struct Run<'a> {
    subject: &'a Subject,
    yardstick: &'a Yardstick<'a>,
    fresh: Executor,
    questioner: Option<Questioner>,
    n_reduced: usize,
    n_unfinished: usize,
    n_questions: u64,
}

impl Run<'_> {
    /// Makes inputs smaller that together are good for everything. Each stays good for all its branches and lines; of
    /// mutants that several kill, the last one keeps them.
    fn reduce_all(
        &mut self,
        session: &mut Session,
        chosen: &[&Measured<'_>],
        screen: &Screen,
    ) -> Result<Vec<NamedInput>, Failure> {
        let mut results = Vec::new();
        // What those that are done are surely good for.
        let mut done = BitSet::default();
        for (index, input) in chosen.iter().enumerate() {
            screen.progress(&format!("reducing input {} of {}", index + 1, chosen.len()));
            let mut spared = union(chosen[index + 1..].iter().map(|later| &later.elements));
            spared.add(&done);
            let mut kills = input.elements.clone();
            kills.subtract(&self.yardstick.without_kills(&input.elements));
            kills.subtract(&spared);
            let mut needed = self.yardstick.without_kills(&input.elements);
            needed.add(&kills);
            results.push(self.reduce_one(session, input, &needed)?);
            done.add(&needed);
        }
        Ok(results)
    }

    fn reduce_one(
        &mut self,
        session: &mut Session,
        input: &Measured<'_>,
        needed: &BitSet,
    ) -> Result<NamedInput, Failure> {
        let template = &self.subject.template;
        // What came as raw bytes stays raw bytes, so that other tools can read it.
        let is_raw = template.raw(&input.named.input).is_some();
        let allows = |candidate: &Input| !is_raw || template.raw(candidate).is_some();
        let max_questions = if input.is_hanging { MAX_HANGING_QUESTIONS } else { MAX_QUESTIONS };
        let config = ReduceConfig { max_questions, allows: &allows, ..ReduceConfig::default() };
        let (yardstick, questioner) = (self.yardstick, &mut self.questioner);
        let (covered, kills) = (yardstick.without_kills(needed), yardstick.kills(needed));
        let mut keeps = |candidates: &[Input]| -> Result<Vec<bool>, Failure> {
            let mut answers = Vec::with_capacity(candidates.len());
            for (candidate, run) in candidates.iter().zip(session.run_batch(candidates, COUNTERS)?) {
                let mut is_good = covered.is_subset(&yardstick.of(&run.execution));
                // After the first that is good nobody asks.
                if is_good
                    && !answers.contains(&true)
                    && let Some(questioner) = questioner
                {
                    is_good = questioner.kills_all(candidate, &kills)?;
                }
                answers.push(is_good);
            }
            Ok(answers)
        };
        let reduced = reduce(&input.named.input, config, &mut keeps)?;
        self.n_questions += reduced.n_questions;
        let again = self.fresh.run(&reduced.input)?;
        if reduced.input == input.named.input || !covered.is_subset(&yardstick.of(&again)) {
            return Ok(input.named.clone());
        }
        self.n_reduced += 1;
        self.n_unfinished += usize::from(!reduced.is_finished);
        Ok(NamedInput { path: input.named.path.clone(), input: reduced.input })
    }

    /// What inputs are good for together, in fresh processes.
    fn measure_fresh(
        &mut self,
        killer: Option<&Killer<'_>>,
        inputs: &[NamedInput],
        screen: &Screen,
    ) -> Result<BitSet, Failure> {
        let mut reached = BitSet::default();
        for (index, named) in inputs.iter().enumerate() {
            screen.progress(&format!("checking input {} of {}", index + 1, inputs.len()));
            let execution = self.fresh.run(&named.input)?;
            reached.add(&self.yardstick.of(&execution));
        }
        if let Some(killer) = killer {
            let killed = killer.matrix(inputs, screen)?.killed.into_iter().flatten();
            reached.extend(killed.map(|mutant| self.yardstick.kill(mutant)));
        }
        Ok(reached)
    }
}
