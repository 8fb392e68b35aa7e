//! The steps from a corpus to a small one.

use super::{
    bench::{Bench, ReducedInput, pin},
    corpus::Corpus,
    kills::Killer,
    yardstick::{Yardstick, size},
};
use crate::{
    commands::{cover::verb, score::engine},
    failure::Failure,
    inputs::NamedInput,
    screen::Screen,
    signals::Signals,
    target::Subject,
};
use cairn_campaign::minimize::{BitSet, Cover, Coverer, smallest_cover};
use cairn_executor::{Executor, WantedCounters, Wants};
use cairn_model::{Ending, Input};
use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::{Duration, Instant},
};

/// How long the smallest set is searched for.
const COVER_TIME: Duration = Duration::from_secs(10);

/// A run may take so many times the steps of the longest one that ended.
const FUEL_MARGIN: u64 = 10;
const LEAST_FUEL: u64 = 1_000_000;

/// All that is asked of runs.
pub(super) const COUNTERS: Wants = Wants { counters: WantedCounters::Always, output: false };

/// What is done.
pub struct DistilConfig<'a> {
    /// Whether inputs are made smaller, and how.
    pub reducing: Reducing,
    /// Who runs mutants, if kills are to be kept.
    pub killer: Option<&'a Killer<'a>>,
    /// Signals after which the best there is by then is taken.
    pub signals: &'a Signals,
}

/// How inputs are made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reducing {
    /// They stay as they are.
    Nothing,
    /// Parts are left out. What is left keeps its values: on `(0-0)*0` few changes of a program show.
    Parts,
    /// What is left is also made easy to read.
    All,
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
    /// Branches, lines, ways to end and kills that were seen and did not come back in a fresh process.
    pub n_lost: usize,
    /// Ways in which the program fails, with the number of inputs of the corpus.
    pub failures: BTreeMap<String, usize>,
    /// What was left undone because a signal came.
    pub interrupted: Option<Interrupted>,
}

/// What a signal left undone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Interrupted {
    /// Inputs of the corpus that were not run, and are not in the result.
    pub not_run: usize,
    /// Inputs of the result that might be made smaller.
    pub not_reduced: usize,
}

/// An input of the corpus.
pub(super) struct Measured<'a> {
    pub(super) named: &'a NamedInput,
    /// What it is always good for.
    pub(super) elements: BitSet,
    /// How long it takes.
    pub(super) time: Duration,
    pub(super) is_hanging: bool,
}

/// Makes a small corpus of a large one.
pub fn distil(
    subject: &Subject,
    corpus: &Corpus,
    config: &DistilConfig<'_>,
    screen: &Screen,
) -> Result<Distilled, Failure> {
    let yardstick = Yardstick::new(&subject.map);
    let mut measuring = Measuring::default();
    let signals = config.signals;
    let mut measured =
        on_one_core(|| measuring.measure(subject, &yardstick, &corpus.inputs, signals, screen))?;
    // Without a signal these are all.
    let inputs = &corpus.inputs[..measured.len()];
    if let Some(killer) = config.killer {
        let matrix = killer.matrix(inputs, signals, screen)?;
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
    let cover = smallest_cover(&coverers, &mut || start.elapsed() < COVER_TIME && !signals.has_caught());
    let searched = start.elapsed();
    let chosen: Vec<&Measured> = cover.inputs.iter().map(|index| &measured[*index]).collect();

    let reduced = match config.reducing {
        Reducing::Nothing => chosen.iter().map(|input| ReducedInput::unchanged(input)).collect(),
        reducing => {
            let bench = Bench {
                subject,
                yardstick: &yardstick,
                fuel: measuring.fuel,
                killer: config.killer,
                keeps_values: reducing == Reducing::Parts,
                signals,
            };
            bench.reduce_all(&chosen, screen)?
        }
    };
    // Mutants take longest, and each reduced input was asked for its own: of these nothing is checked after a signal.
    let is_interrupted = signals.has_caught();
    let killer = config.killer.filter(|_| !is_interrupted);
    if is_interrupted {
        // What is left takes little time, and whoever does not want to wait for it need not.
        signals.let_go();
    }
    let mut fresh = Fresh { executor: subject.plain()?, yardstick: &yardstick, killer, signals, screen };
    let mut result: Vec<NamedInput> = reduced.iter().map(|reduced| reduced.named.clone()).collect();
    keep_distinct(&mut result);
    // What counts is what fresh processes do with the result.
    let mut kills = all.clone();
    kills.subtract(&yardstick.without_kills(&all));
    let mut measure = |inputs: &[NamedInput]| -> Result<BitSet, Failure> {
        let mut reached = fresh.measure(inputs)?;
        if signals.has_caught() {
            reached.add(&kills);
        }
        Ok(reached)
    };
    let mut reached = measure(&result)?;
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
        reached = measure(&result)?;
    }
    let mut lost = all.clone();
    lost.subtract(&reached);
    let totals = |inputs: &mut dyn Iterator<Item = &Input>, elements: &BitSet| {
        let (branches, lines, kills) = yardstick.counts(elements);
        let sizes: Vec<u64> = inputs.map(size).collect();
        Totals { inputs: sizes.len(), bytes: sizes.iter().sum(), branches, lines, kills }
    };
    Ok(Distilled {
        before: totals(&mut inputs.iter().map(|named| &named.input), &all),
        after: totals(&mut result.iter().map(|named| &named.input), &reached),
        inputs: result,
        cover,
        searched,
        n_reduced: reduced.iter().filter(|reduced| reduced.is_smaller).count(),
        n_unfinished: reduced.iter().filter(|reduced| !reduced.is_finished).count(),
        n_questions: reduced.iter().map(|reduced| reduced.n_questions).sum(),
        unstable: measuring.unstable,
        n_put_back,
        n_lost: lost.len(),
        failures: measuring.failures,
        interrupted: signals.has_caught().then(|| Interrupted {
            not_run: corpus.inputs.len() - inputs.len(),
            not_reduced: reduced.iter().filter(|reduced| !reduced.is_finished).count(),
        }),
    })
}

pub(super) fn union<'a>(sets: impl Iterator<Item = &'a BitSet>) -> BitSet {
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
    /// Steps a run may take from now on.
    fuel: u64,
}

impl Measuring {
    /// Runs every input twice. What only one of the runs reaches does not count. After a signal no more are run, and those
    /// that ran once are taken at their word.
    fn measure<'a>(
        &mut self,
        subject: &Subject,
        yardstick: &Yardstick,
        inputs: &'a [NamedInput],
        signals: &Signals,
        screen: &Screen,
    ) -> Result<Vec<Measured<'a>>, Failure> {
        let mut session = subject.session()?;
        let at_once = session.config().max_batch;
        let mut measured: Vec<Measured> = Vec::new();
        let mut most_used = 0;
        for part in inputs.chunks(at_once).take_while(|_| !signals.has_caught()) {
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
                let (elements, time) = (yardstick.of(&run.execution), run.execution.outcome.elapsed);
                measured.push(Measured { named, elements, time, is_hanging });
            }
        }
        self.fuel = most_used.saturating_mul(FUEL_MARGIN).max(LEAST_FUEL);
        session.set_fuel(self.fuel);
        for part in measured.chunks_mut(at_once).take_while(|_| !signals.has_caught()) {
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

/// Runs of what was made, in fresh processes.
struct Fresh<'a> {
    executor: Executor,
    yardstick: &'a Yardstick<'a>,
    killer: Option<&'a Killer<'a>>,
    signals: &'a Signals,
    screen: &'a Screen,
}

impl Fresh<'_> {
    /// What inputs are good for together.
    fn measure(&mut self, inputs: &[NamedInput]) -> Result<BitSet, Failure> {
        let mut reached = BitSet::default();
        for (index, named) in inputs.iter().enumerate() {
            self.screen.progress(&format!("checking input {} of {}", index + 1, inputs.len()));
            reached.add(&self.yardstick.of(&self.executor.run(&named.input)?));
        }
        if let Some(killer) = self.killer {
            let killed = killer.matrix(inputs, self.signals, self.screen)?.killed.into_iter().flatten();
            reached.extend(killed.map(|mutant| self.yardstick.kill(mutant)));
        }
        Ok(reached)
    }
}

/// Does `work` on a thread that stays on one core, as sessions like it.
fn on_one_core<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            pin(engine::cores(1)[0]);
            work()
        });
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
