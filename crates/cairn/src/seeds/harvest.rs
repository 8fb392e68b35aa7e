//! Candidates and their templates.

use crate::{
    commands::score::engine,
    distil::pin,
    failure::Failure,
    screen::{Screen, count},
    signals::Signals,
};
use cairn_concolic::{
    Freedom,
    search::{Change, Memory, Ran, SolvedBefore, Traced},
};
use cairn_executor::{ExecutorError, Session};
use cairn_model::{Ending, Input, ProgramMap};
use cairn_search::Heuristic;
use cairn_seeds::{
    Bound, Criterion, Exploration, ExplorationConfig, Measure, Measured, Pick, Progress, Selection, cost,
};
use cairn_strategy::{FailingRuns, Seen, TargetViews};
use std::{
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

/// How candidates are found.
pub struct HarvestConfig<'a> {
    /// What is decided otherwise next; `None` where the inputs are all there is.
    pub heuristic: Option<Heuristic>,
    /// Which inputs may be made of which.
    pub change: Change,
    /// When to end.
    pub bound: Bound,
    /// Which candidate stands for a template.
    pub pick: Pick,
    /// Where chances come from.
    pub seed: u64,
    /// Bytes an input may have.
    pub max_size: u64,
    /// Signals after which candidates are chosen from those that are there.
    pub signals: &'a Signals,
}

/// Candidates by what they cover.
pub struct Harvest {
    /// Templates.
    pub selection: Selection<Arc<Input>>,
    /// What runs candidates.
    pub runners: Runners,
    /// Candidates that were run.
    pub n_candidates: u64,
    /// Candidates on which the program failed, some of each kind.
    pub failing: Vec<(Arc<Input>, Ending)>,
    /// How many failed.
    pub n_failing: u64,
    /// Time for making candidates.
    pub made_in: Duration,
    /// Time for running them and taking their templates.
    pub measured_in: Duration,
    /// Why there are no more.
    pub ended: Ended,
    exploration: Option<Exploration>,
    failing_runs: FailingRuns,
    random: fastrand::Rng,
}

/// What finds out what candidates cover.
pub struct Runners {
    /// Runs the plain view.
    pub plain: Session,
    /// Says what a run covers.
    pub measure: Measure,
}

/// Why there are no more candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Nothing else depends on the input.
    Exhausted,
    /// There is nothing left to ask, but some ways could not be followed or solved.
    NothingToAsk,
    /// There are as many as were asked for.
    Enough,
    /// The time is over.
    TimeUp,
    /// A signal came.
    Interrupted,
    /// The inputs were all there is.
    AllGiven,
}

/// Makes what finds out what candidates cover.
pub type MakeRunners<'a> = dyn Fn() -> Result<Runners, Failure> + Sync + 'a;

/// Inputs that are run together.
const AT_ONCE: usize = 256;

/// Inputs that each worker has, at least: a target takes as long to start as it runs on some hundred inputs.
const PER_WORKER: usize = 512;

/// How often progress is told.
const TOLD: Duration = Duration::from_millis(200);

/// Makes candidates from inputs, or takes the inputs themselves, and finds out what each covers: by the first runners, and by as many
/// others as are wanted.
pub fn harvest(
    views: &dyn TargetViews,
    inputs: Vec<Input>,
    first: Runners,
    others: &MakeRunners<'_>,
    config: &HarvestConfig<'_>,
    screen: &Screen,
) -> Result<Harvest, Failure> {
    let mut harvest = Harvest {
        selection: Selection::new(config.pick),
        runners: first,
        n_candidates: 0,
        failing: Vec::new(),
        n_failing: 0,
        made_in: Duration::ZERO,
        measured_in: Duration::ZERO,
        ended: Ended::AllGiven,
        exploration: None,
        failing_runs: FailingRuns::default(),
        random: fastrand::Rng::with_seed(config.seed),
    };
    match config.heuristic {
        Some(heuristic) => harvest.explore(views, inputs, heuristic, config, screen)?,
        None => harvest.take_all(others, &inputs, config, screen)?,
    }
    Ok(harvest)
}

impl Harvest {
    fn explore(
        &mut self,
        views: &dyn TargetViews,
        inputs: Vec<Input>,
        heuristic: Heuristic,
        config: &HarvestConfig<'_>,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let map = views.map();
        let executor = views.symbolic(Exploration::executor_config(heuristic, true))?;
        let executor = executor.expect("the symbolic view was asked for");
        let exploring = ExplorationConfig {
            heuristic,
            change: config.change.clone(),
            memory: Memory::default(),
            before: SolvedBefore::default(),
            share: None,
            max_size: config.max_size,
            is_timed: true,
            seed: config.seed,
        };
        let mut exploration = Exploration::new(map, executor, inputs, exploring);
        let mut solver = exploration.solver();
        let (start, mut told) = (Instant::now(), Instant::now());
        self.ended = loop {
            if config.signals.has_caught() {
                break Ended::Interrupted;
            }
            if self.n_candidates >= config.bound.candidates {
                break Ended::Enough;
            }
            if config.bound.wall.is_some_and(|wall| start.elapsed() >= wall) {
                break Ended::TimeUp;
            }
            match exploration.advance(map, &mut solver)? {
                Progress::Ran(ran) => self.take(ran)?,
                Progress::Asked => {}
                Progress::Exhausted if exploration.is_exhausted(map) => break Ended::Exhausted,
                Progress::Exhausted => break Ended::NothingToAsk,
            }
            if told.elapsed() >= TOLD {
                told = Instant::now();
                self.tell(screen);
            }
        };
        self.made_in = start.elapsed().saturating_sub(self.measured_in);
        // What was named is a candidate, too.
        let left = config.bound.candidates.saturating_sub(self.n_candidates) as usize;
        let named = exploration.not_begun();
        self.exploration = Some(exploration);
        let start = Instant::now();
        for part in named[..named.len().min(left)].chunks(AT_ONCE) {
            let measured = self.runners.measure(part)?;
            self.take_part(part, measured, screen);
        }
        self.measured_in += start.elapsed();
        Ok(())
    }

    /// Runs all inputs, on several cores where there are many and their order does not matter.
    fn take_all(
        &mut self,
        others: &MakeRunners<'_>,
        inputs: &[Input],
        config: &HarvestConfig<'_>,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let n_cores = thread::available_parallelism().map_or(1, usize::from);
        let n_workers = match self.criterion() {
            // A mutant counts for the first candidate that kills it.
            Criterion::DecisionKills => 1,
            _ => n_cores.min(inputs.len() / PER_WORKER).max(1),
        };
        thread::scope(|scope| -> Result<(), Failure> {
            let mut measured = Vec::new();
            // The first works here.
            for (worker, core) in engine::cores(n_workers).into_iter().enumerate().skip(1) {
                let parts = inputs.chunks(AT_ONCE).skip(worker).step_by(n_workers);
                let (send, receive) = mpsc::sync_channel(1);
                let tell = move |measured| send.send(measured).is_ok() && !config.signals.has_caught();
                scope.spawn(move || {
                    pin(core);
                    measure_parts(others, parts, tell);
                });
                measured.push(receive);
            }
            for (number, part) in inputs.chunks(AT_ONCE).enumerate() {
                if config.signals.has_caught() {
                    self.ended = Ended::Interrupted;
                    break;
                }
                let part_measured = match (number % n_workers).checked_sub(1).map(|other| &measured[other]) {
                    None => self.runners.measure(part)?,
                    Some(others) => match others.recv() {
                        Ok(part_measured) => part_measured?,
                        Err(_) => {
                            self.ended = Ended::Interrupted;
                            break;
                        }
                    },
                };
                self.take_part(part, part_measured, screen);
            }
            drop(measured);
            Ok(())
        })?;
        self.measured_in = start.elapsed();
        Ok(())
    }

    fn take_part(&mut self, part: &[Input], measured: Vec<Measured>, screen: &Screen) {
        for (input, Measured { elements, ending, hits }) in part.iter().zip(measured) {
            self.n_candidates += 1;
            let input = Arc::new(input.clone());
            match ending {
                Ending::Exited { .. } => self.add(&elements, input, 0),
                ending if ending.is_failure() => self.fail(input, &ending, &hits),
                _ => {}
            }
        }
        self.tell(screen);
    }

    fn take(&mut self, ran: Ran) -> Result<(), ExecutorError> {
        let start = Instant::now();
        let Ran { input, traced, .. } = ran;
        self.n_candidates += 1;
        let ending = traced.ending();
        if ending.is_failure() {
            self.fail(input, ending, &Seen::hits(traced.counters()));
        } else if matches!(ending, Ending::Exited { .. }) {
            let elements = self.runners.measure.of(&input, traced.counters())?;
            self.add(&elements, input, traced.path().steps().len());
        }
        self.measured_in += start.elapsed();
        Ok(())
    }

    fn add(&mut self, elements: &[u32], input: Arc<Input>, n_steps: usize) {
        let own = [self.selection.templates().len() as u32];
        // Without a criterion each is its own template.
        let elements = if self.criterion() == Criterion::None { &own } else { elements };
        let cost = cost(&input, n_steps);
        self.selection.add(elements, cost, input, &mut self.random);
    }

    fn fail(&mut self, input: Arc<Input>, ending: &Ending, hits: &[(u32, u8)]) {
        self.n_failing += 1;
        if self.failing_runs.is_worth(ending, hits, false) {
            self.failing.push((input, ending.clone()));
        }
    }

    fn tell(&self, screen: &Screen) {
        screen.progress(&format!(
            "{}, {}, {} covered",
            count(self.n_candidates as usize, "candidate"),
            count(self.selection.templates().len(), "template"),
            count(self.selection.n_covered(), self.criterion().noun()),
        ));
    }

    /// What of an input is free, where that can be known.
    pub fn freedom(&mut self, input: &Input) -> Result<Option<(Freedom, Arc<Traced>)>, ExecutorError> {
        match &mut self.exploration {
            Some(exploration) => exploration.freedom(input),
            None => Ok(None),
        }
    }

    /// Whether an input covers these elements and no others.
    pub fn covers(&mut self, input: &Input, elements: &[u32]) -> Result<bool, ExecutorError> {
        let measured = self.runners.measure(std::slice::from_ref(input))?;
        Ok(measured.first().is_some_and(|measured| {
            measured.elements == elements && matches!(measured.ending, Ending::Exited { .. })
        }))
    }

    /// For people: an element of a template.
    pub fn describe(&self, map: &ProgramMap, element: u32) -> cairn_seeds::Described {
        self.runners.measure.elements().describe(map, element)
    }

    /// Ends all targets at once: the kernel takes its time with each.
    pub fn end(self) {
        let Runners { plain, measure } = self.runners;
        thread::scope(|scope| {
            scope.spawn(|| drop(plain));
            scope.spawn(|| drop(self.exploration));
            drop(measure);
        });
    }

    fn criterion(&self) -> Criterion {
        self.runners.measure.criterion()
    }
}

impl Runners {
    fn measure(&mut self, inputs: &[Input]) -> Result<Vec<Measured>, ExecutorError> {
        self.measure.of_all(&mut self.plain, inputs)
    }
}

/// Measures parts one after the other, as long as whoever is told wants more.
fn measure_parts<'a>(
    runners: &MakeRunners<'_>,
    parts: impl Iterator<Item = &'a [Input]>,
    tell: impl Fn(Result<Vec<Measured>, Failure>) -> bool,
) {
    let mut runners = match runners() {
        Ok(runners) => runners,
        Err(failure) => {
            tell(Err(failure));
            return;
        }
    };
    for part in parts {
        if !tell(runners.measure(part).map_err(Failure::from)) {
            break;
        }
    }
}
