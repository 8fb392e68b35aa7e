//! Where inputs are made smaller, several at a time.

use super::{
    kills::{Killer, Questioner},
    process::{COUNTERS, Measured, union},
    yardstick::Yardstick,
};
use crate::{
    commands::score::engine, failure::Failure, inputs::NamedInput, screen::Screen, signals::Signals,
    target::Subject,
};
use cairn_campaign::{
    minimize::BitSet,
    reduce::{ReduceConfig, reduce},
};
use cairn_executor::{Executor, Session, pin_to_core};
use cairn_model::Input;
use std::{
    sync::{
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

/// Runs for making one input smaller.
const MAX_QUESTIONS: u64 = 4_000;

/// Likewise where every run that stays good goes on until it is stopped.
const MAX_HANGING_QUESTIONS: u64 = 200;

/// A run may take so many times the time of the input it was made from; what is lost by impatience is a smaller input.
const TIME_MARGIN: u32 = 20;
const LEAST_TIME: Duration = Duration::from_millis(100);

/// What workers share.
pub struct Bench<'a> {
    pub subject: &'a Subject,
    pub yardstick: &'a Yardstick<'a>,
    /// Steps a run may take.
    pub fuel: u64,
    /// Who runs mutants, if kills are to be kept.
    pub killer: Option<&'a Killer<'a>>,
    /// Whether parts are only left out.
    pub keeps_values: bool,
    /// Signals after which inputs stay as they are by then.
    pub signals: &'a Signals,
}

/// What became of an input.
pub struct ReducedInput {
    /// The input, and where it came from.
    pub named: NamedInput,
    /// Whether it is another one than before.
    pub is_smaller: bool,
    /// Whether there was nothing left to try.
    pub is_finished: bool,
    /// Inputs that were tried.
    pub n_questions: u64,
}

impl ReducedInput {
    /// An input as it was.
    pub(super) fn unchanged(input: &Measured<'_>) -> Self {
        Self { named: input.named.clone(), is_smaller: false, is_finished: true, n_questions: 0 }
    }

    /// An input as it was, because nobody came to it.
    fn untouched(input: &Measured<'_>) -> Self {
        Self { is_finished: false, ..Self::unchanged(input) }
    }
}

impl Bench<'_> {
    /// Makes inputs smaller that together are good for everything. Each stays good for all its branches, lines and its
    /// ending; of mutants that several kill, the last one keeps them.
    pub fn reduce_all(
        &self,
        chosen: &[&Measured<'_>],
        screen: &Screen,
    ) -> Result<Vec<ReducedInput>, Failure> {
        let needed = self.needed(chosen);
        let n_cores = thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        let mut results: Vec<Option<ReducedInput>> = chosen.iter().map(|_| None).collect();
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for core in engine::cores(n_cores.min(chosen.len())) {
                let (sender, next, needed) = (sender.clone(), &next, &needed);
                scope.spawn(move || {
                    let work = || -> Result<(), Failure> {
                        let mut worker = Worker::new(self, core)?;
                        loop {
                            let index = next.fetch_add(1, Relaxed);
                            let Some(input) = chosen.get(index) else { return Ok(()) };
                            let reduced = match self.signals.has_caught() {
                                true => ReducedInput::untouched(input),
                                false => worker.reduce(input, &needed[index])?,
                            };
                            // Nobody listens after a failure.
                            let _ = sender.send(Ok((index, reduced)));
                        }
                    };
                    if let Err(failure) = work() {
                        next.store(chosen.len(), Relaxed);
                        let _ = sender.send(Err(failure));
                    }
                });
            }
            drop(sender);
            for (n_done, news) in receiver.iter().enumerate() {
                let (index, reduced) = news?;
                screen.progress(&format!("reduced input {} of {}", n_done + 1, chosen.len()));
                results[index] = Some(reduced);
            }
            Ok::<_, Failure>(())
        })?;
        Ok(results.into_iter().map(|reduced| reduced.expect("every input was worked on")).collect())
    }

    /// What each input has to stay good for.
    fn needed(&self, chosen: &[&Measured<'_>]) -> Vec<BitSet> {
        // What those before are surely good for.
        let mut before = BitSet::default();
        let mut needed = Vec::new();
        for (index, input) in chosen.iter().enumerate() {
            let own = self.yardstick.without_kills(&input.elements);
            let mut kills = input.elements.clone();
            kills.subtract(&own);
            kills.subtract(&before);
            kills.subtract(&union(chosen[index + 1..].iter().map(|later| &later.elements)));
            let mut all = own;
            all.add(&kills);
            before.add(&all);
            needed.push(all);
        }
        needed
    }
}

/// Keeps the calling thread on a core; where that is not allowed it is only slower.
pub fn pin(core: Option<usize>) {
    if let Some(core) = core {
        let _ = pin_to_core(core);
    }
}

/// A live target on a core.
struct Worker<'a> {
    bench: &'a Bench<'a>,
    session: Session,
    fresh: Executor,
    questioner: Option<Questioner>,
}

impl<'a> Worker<'a> {
    fn new(bench: &'a Bench<'a>, core: Option<usize>) -> Result<Self, Failure> {
        pin(core);
        let mut session = bench.subject.session()?;
        session.set_fuel(bench.fuel);
        Ok(Self {
            bench,
            session,
            fresh: bench.subject.plain()?,
            questioner: bench.killer.map(|killer| killer.questioner(core)).transpose()?,
        })
    }

    fn reduce(&mut self, input: &Measured<'_>, needed: &BitSet) -> Result<ReducedInput, Failure> {
        let Bench { subject, yardstick, signals, .. } = self.bench;
        let template = &subject.template;
        // What came as raw bytes stays raw bytes, so that other tools can read it.
        let is_raw = template.raw(&input.named.input).is_some();
        let allows = |candidate: &Input| !is_raw || template.raw(candidate).is_some();
        let max_questions = if input.is_hanging { MAX_HANGING_QUESTIONS } else { MAX_QUESTIONS };
        let keeps_values = self.bench.keeps_values;
        let config = ReduceConfig { max_questions, keeps_values, allows: &allows, ..ReduceConfig::default() };
        let limit = subject.run_config.wall_limit;
        self.session.set_wall_limit((input.time * TIME_MARGIN).max(LEAST_TIME).min(limit));
        let (covered, kills) = (yardstick.without_kills(needed), yardstick.kills(needed));
        let (session, questioner) = (&mut self.session, &mut self.questioner);
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
        let is_enough = || signals.has_caught();
        let config = ReduceConfig { is_enough: &is_enough, ..config };
        let reduced = reduce(&input.named.input, config, &mut keeps)?;
        let again = self.fresh.run(&reduced.input)?;
        let is_good = covered.is_subset(&yardstick.of(&again));
        let named = match is_good {
            true => NamedInput { path: input.named.path.clone(), input: reduced.input },
            false => input.named.clone(),
        };
        Ok(ReducedInput {
            is_smaller: named.input != input.named.input,
            named,
            is_finished: reduced.is_finished && !signals.has_caught(),
            n_questions: reduced.n_questions,
        })
    }
}
