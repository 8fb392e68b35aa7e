//! Scores a set of inputs: prepares every input, then runs whatever mutants are left.
//!
//! ```text
//!   prepare   each input   bare build twice ─► mutant view, nothing active ─► examined: reached, infected
//!   run       each input   infected mutants that nobody has killed ─► verdicts
//! ```
//! Workers share the inputs while preparing, and the mutants while running: a worker has the mutants of its own for all
//! inputs, so nothing is run twice, and the first input that kills a mutant is the same for any number of workers.
//! Only this thread writes to the store and to the screen.

use super::{
    judge::Setup,
    memory::Memory,
    prepare::Prepared,
    ready::Ready,
    worker::{Batch, Worker},
};
use crate::{
    failure::Failure,
    inputs::NamedInput,
    mutants::Mutants,
    report::score::{Kind, Runs, Scored, Stopped, Test},
    screen::{Screen, count},
    signals::Signals,
    target::Subject,
};
use cairn_model::{MutantId, Verdict};
use cairn_mutants::analysis::{InputNumber, KillMatrix, MutantSet};
use std::{
    collections::BTreeSet,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

/// How often the clock, signals and the screen are looked at, and results written down.
const BEAT: Duration = Duration::from_millis(200);

/// What a score is made of.
pub struct Plan<'a> {
    /// The program.
    pub subject: &'a Subject,
    /// Its mutants.
    pub mutants: &'a Mutants,
    /// Those asked about.
    pub selected: MutantSet,
    /// The inputs.
    pub inputs: Vec<NamedInput>,
    /// How outcomes are judged.
    pub setup: Setup,
    /// Workers.
    pub n_jobs: usize,
    /// Whether killed mutants are run on.
    pub is_full: bool,
    /// When to stop.
    pub budget: Option<Duration>,
}

/// Shared by this thread and the workers.
pub struct Shared {
    /// The next input to be prepared.
    next: AtomicUsize,
    /// Whether to stop.
    stop: AtomicBool,
}

impl Shared {
    /// Nothing prepared, nobody told to stop.
    pub fn new() -> Self {
        Self { next: AtomicUsize::new(0), stop: AtomicBool::new(false) }
    }

    /// The next of `n` inputs, unless it is time to stop.
    pub fn next_of(&self, n: usize) -> Option<usize> {
        let index = self.next.fetch_add(1, Relaxed);
        (index < n && !self.stops()).then_some(index)
    }

    /// Whether to stop.
    pub fn stops(&self) -> bool {
        self.stop.load(Relaxed)
    }
}

/// Carries a plan out.
pub fn score<'a>(
    plan: Plan<'a>,
    memory: &mut Memory,
    signals: &Signals,
    screen: &Screen,
) -> Result<Scored<'a>, Failure> {
    let clock = Clock { start: Instant::now(), budget: plan.budget, signals, stopped: None };
    let mut run = Run {
        shared: Shared::new(),
        matrix: KillMatrix::new(plan.inputs.len()),
        tests: plan
            .inputs
            .iter()
            .map(|named| Test { name: named.path.display().to_string(), ..Test::default() })
            .collect(),
        ready: plan.inputs.iter().map(|_| None).collect(),
        killed: MutantSet::default(),
        runs: Runs::default(),
        compare_failure: None,
        clock,
        memory,
        screen,
        plan: &plan,
    };
    let workers = run.prepare()?;
    run.recall()?;
    run.run_mutants(workers)?;
    run.memory.write()?;
    let is_finished = run.matrix.n_not_examined() == 0 && run.work().is_empty();
    if let Some(how) = &run.compare_failure {
        let n_failed = count(run.runs.compare_failed as usize, "run");
        screen.warn(&format!(
            "`oracle.compare` failed on {n_failed}, which decide nothing and are made again next time: {how}"
        ));
    }
    let Run { matrix, tests, runs, clock, .. } = run;
    // A budget that ended with the work was enough.
    let stopped = clock.stopped.filter(|stopped| *stopped == Stopped::Signal || !is_finished);
    Ok(Scored {
        program: plan.subject.program.display().to_string(),
        mutants: plan.mutants,
        kind: Kind::Inputs,
        tests,
        matrix,
        is_full: plan.is_full,
        runs,
        stopped,
        elapsed: clock.start.elapsed(),
        wall_limit: Some(plan.setup.limits.wall_limit),
        selected: plan.selected,
    })
}

struct Clock<'a> {
    start: Instant,
    budget: Option<Duration>,
    signals: &'a Signals,
    stopped: Option<Stopped>,
}

impl Clock<'_> {
    /// Stops the workers when it is time.
    fn tell(&mut self, shared: &Shared) {
        if self.stopped.is_none() {
            if self.signals.has_caught() {
                self.stopped = Some(Stopped::Signal);
            } else if self.budget.is_some_and(|budget| self.start.elapsed() >= budget) {
                self.stopped = Some(Stopped::Budget);
            }
        }
        shared.stop.fetch_or(self.stopped.is_some(), Relaxed);
    }
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    shared: Shared,
    matrix: KillMatrix,
    tests: Vec<Test>,
    ready: Vec<Option<Ready>>,
    killed: MutantSet,
    runs: Runs,
    /// How the user's comparison failed first.
    compare_failure: Option<String>,
    clock: Clock<'a>,
    memory: &'a mut Memory,
    screen: &'a Screen,
}

/// Hears from workers until all are done, and looks at the clock meanwhile.
fn listen<T>(
    receiver: &mpsc::Receiver<T>,
    mut heard: impl FnMut(T) -> Result<(), Failure>,
    mut beat: impl FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut last_beat = Instant::now();
    loop {
        match receiver.recv_timeout(BEAT) {
            Ok(news) => heard(news)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        if last_beat.elapsed() >= BEAT {
            beat()?;
            last_beat = Instant::now();
        }
    }
}

impl Run<'_> {
    /// Prepares all inputs, and returns the workers that did it.
    fn prepare(&mut self) -> Result<Vec<Worker>, Failure> {
        let plan = self.plan;
        let Self { shared, matrix, tests, ready, clock, memory, screen, .. } = self;
        let n_inputs = plan.inputs.len();
        clock.tell(shared);
        let shared: &Shared = shared;
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let workers: Vec<_> = cores(plan.n_jobs)
                .into_iter()
                .map(|core| {
                    let sender = sender.clone();
                    scope.spawn(move || -> Result<Worker, Failure> {
                        let mut worker = Worker::new(plan, core)?;
                        while let Some(index) = shared.next_of(n_inputs) {
                            let prepared = worker.prepare(&plan.inputs[index].input)?;
                            // Nobody listens after a failure.
                            let _ = sender.send((InputNumber(index as u32), prepared));
                        }
                        Ok(worker)
                    })
                })
                .collect();
            drop(sender);
            let mut n_done = 0;
            let mut refused_calls = BTreeSet::new();
            let heard = |(input, prepared): (InputNumber, Prepared)| {
                n_done += 1;
                screen.progress(&format!("preparing input {n_done} of {n_inputs}"));
                match prepared {
                    Prepared::LeftOut(why) => {
                        // An input without a say reaches nothing.
                        matrix.set_examined(input, MutantSet::default(), MutantSet::default());
                        tests[input.index()].left_out = Some(why);
                    }
                    Prepared::Differs(how) => {
                        let name = &tests[input.index()].name;
                        return Err(Failure::unbelievable(format!(
                            "no score: on `{name}`, the mutant view without a mutant differs from the bare build: {how}"
                        ))
                        .hint(format!("`cairn replay` shows what the program does; if it depends on its surroundings, leave `{name}` out")));
                    }
                    Prepared::Ready(input_ready) => {
                        let Ready { key, examined, masked, refused, branches, .. } = &*input_ready;
                        for call in refused.iter().filter(|call| refused_calls.insert((*call).clone())) {
                            let name = &tests[input.index()].name;
                            screen.warn(&format!(
                                "the sandbox refuses the program `{call}`, on `{name}` for instance: it may do something else than it \
                                 does for you\n\nhint: `cairn replay` shows what it does; `[run]` in `cairn.toml` says what is allowed"
                            ));
                        }
                        let of_selected = |set: &MutantSet| {
                            set.iter().filter(|mutant| plan.selected.contains(*mutant)).collect()
                        };
                        matrix.set_examined(
                            input,
                            of_selected(&examined.reached),
                            of_selected(&examined.infected),
                        );
                        tests[input.index()].masked = masked.clone();
                        tests[input.index()].branches = branches.clone();
                        memory.note_examined(key, examined);
                        ready[input.index()] = Some(*input_ready);
                    }
                }
                Ok(())
            };
            let beat = || {
                clock.tell(shared);
                Ok(())
            };
            let listened = listen(&receiver, heard, beat);
            shared.stop.fetch_or(listened.is_err(), Relaxed);
            let workers: Result<Vec<Worker>, Failure> = workers.into_iter().map(joined).collect();
            listened?;
            workers
        })
    }

    /// Takes over what earlier scores found out.
    fn recall(&mut self) -> Result<(), Failure> {
        let numbered = self.ready.iter().enumerate();
        for (index, ready) in numbered.filter_map(|(index, ready)| Some((index, ready.as_ref()?))) {
            let input = InputNumber(index as u32);
            for (mutant, verdict) in self.memory.recall(&ready.key)? {
                let row = self.matrix.row(input);
                if row.is_some_and(|row| row.infected.contains(mutant)) {
                    self.matrix.set_verdict(input, mutant, verdict);
                    self.runs.remembered += 1;
                    if verdict.kill_reason().is_some() {
                        self.killed.insert(mutant);
                    }
                }
            }
        }
        Ok(())
    }

    /// What is left to run: by input, those that end soonest first.
    fn work(&self) -> Vec<(InputNumber, Vec<MutantId>)> {
        let mut order: Vec<(InputNumber, &Ready)> = self
            .ready
            .iter()
            .enumerate()
            .filter_map(|(index, ready)| Some((InputNumber(index as u32), ready.as_ref()?)))
            .collect();
        order.sort_by_key(|(input, ready)| (ready.fuel_used, *input));
        order
            .into_iter()
            .filter_map(|(input, _)| {
                let row = self.matrix.row(input)?;
                let is_left = |mutant: &MutantId| {
                    !row.verdicts.contains_key(mutant)
                        && (self.plan.is_full || !self.killed.contains(*mutant))
                };
                let mutants: Vec<MutantId> = row.infected.iter().filter(is_left).collect();
                (!mutants.is_empty()).then_some((input, mutants))
            })
            .collect()
    }

    /// Runs all mutants that are left.
    fn run_mutants(&mut self, workers: Vec<Worker>) -> Result<(), Failure> {
        let work = self.work();
        if work.is_empty() {
            return Ok(());
        }
        let n_workers = workers.len() as u32;
        let plan = self.plan;
        let Self { shared, matrix, ready, killed, runs, compare_failure, clock, memory, screen, .. } = self;
        let n_inputs = work.len();
        clock.tell(shared);
        let (shared, ready, work): (&Shared, &[Option<Ready>], _) = (shared, ready, &work);
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let workers: Vec<_> = workers
                .into_iter()
                .enumerate()
                .map(|(number, mut worker)| {
                    let sender = sender.clone();
                    scope.spawn(move || -> Result<(), Failure> {
                        worker.pin();
                        let mut own_killed = MutantSet::default();
                        for (position, (input, mutants)) in work.iter().enumerate() {
                            let mine: Vec<MutantId> = mutants
                                .iter()
                                .copied()
                                .filter(|mutant| mutant.0 % n_workers == number as u32)
                                .filter(|mutant| plan.is_full || !own_killed.contains(*mutant))
                                .collect();
                            let ready = ready[input.index()].as_ref().expect("only ready inputs have work");
                            let named = &plan.inputs[input.index()];
                            worker.run_mutants(&named.input, ready, &mine, shared, &mut |batch: Batch| {
                                let kills = batch.verdicts.iter().filter(|(_, v)| v.kill_reason().is_some());
                                own_killed.extend(kills.map(|(mutant, _)| *mutant));
                                let _ = sender.send((position, *input, batch));
                            })?;
                            if shared.stops() {
                                break;
                            }
                        }
                        Ok(())
                    })
                })
                .collect();
            drop(sender);
            let mut furthest = 0;
            let memory = std::cell::RefCell::new(memory);
            let heard = |(position, input, batch): (usize, InputNumber, Batch)| {
                furthest = furthest.max(position);
                for (mutant, verdict) in &batch.verdicts {
                    matrix.set_verdict(input, *mutant, *verdict);
                    if verdict.kill_reason().is_some() {
                        killed.insert(*mutant);
                    }
                }
                for (mutant, how) in batch.not_compared {
                    matrix.set_verdict(input, mutant, Verdict::Undecided);
                    runs.made += 1;
                    runs.compare_failed += 1;
                    compare_failure.get_or_insert(how);
                }
                runs.made += batch.verdicts.len() as u64;
                runs.confirmed += batch.n_confirmed;
                runs.not_confirmed += batch.n_not_confirmed;
                let ready = ready[input.index()].as_ref().expect("only ready inputs have work");
                memory.borrow_mut().note_verdicts(&ready.key, &batch.verdicts);
                screen.progress(&format!(
                    "running mutants on input {} of {n_inputs}: {} runs, {} killed",
                    furthest + 1,
                    runs.made,
                    killed.len()
                ));
                Ok(())
            };
            let beat = || {
                clock.tell(shared);
                memory.borrow_mut().write()
            };
            let listened = listen(&receiver, heard, beat);
            shared.stop.fetch_or(listened.is_err(), Relaxed);
            let ended: Result<Vec<()>, Failure> = workers.into_iter().map(joined).collect();
            listened?;
            ended.map(drop)
        })
    }
}

fn joined<T>(worker: thread::ScopedJoinHandle<'_, Result<T, Failure>>) -> Result<T, Failure> {
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A core for each of `n_jobs` workers, of those this process may use.
pub fn cores(n_jobs: usize) -> Vec<Option<usize>> {
    use nix::{
        sched::{CpuSet, sched_getaffinity},
        unistd::Pid,
    };
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    let cores: Vec<usize> =
        (0..CpuSet::count()).filter(|core| allowed.is_set(*core).unwrap_or(false)).collect();
    (0..n_jobs).map(|job| cores.get(job % cores.len().max(1)).copied()).collect()
}
