//! A campaign from beginning to end.

use crate::{
    config::CampaignConfig,
    cores,
    error::CampaignError,
    event::{Event, EventKind, Why},
    folder::CampaignFolder,
    judge::Judge,
    ledger::{Ledger, Summary},
    limits::Limits,
    sanitizers::SanitizedBuild,
    second_look,
    seeds::Seeds,
    worker::Worker,
};
use cairn_executor::{ExecutorError, fuel_limit};
use cairn_model::Input;
use cairn_store::CampaignHead;
use cairn_strategy::{Stop, Strategy, TargetViews};
use std::{
    path::Path,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

/// How often a campaign tells how far it is.
const MOMENT: Duration = Duration::from_secs(1);

/// How long an end may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(50);

/// Readies a build with sanitizers.
pub type SanitizedRunner<'a> = dyn Fn() -> Result<SanitizedBuild, ExecutorError> + Sync + 'a;

/// What a campaign is made of.
pub struct Parts<'a> {
    /// The target.
    pub target: &'a dyn TargetViews,
    /// Readies a build with sanitizers for inputs that are kept, a new runner for each call; `None` to do without.
    pub sanitized: Option<&'a SanitizedRunner<'a>>,
    /// The strategies of a worker, new ones for each call.
    pub strategies: &'a (dyn Fn(usize) -> Vec<Box<dyn Strategy>> + Sync),
    /// Inputs to start from, also for a campaign that goes on.
    pub seeds: &'a [Input],
    /// A sign to stop.
    pub stop: &'a Stop,
    /// What the caller needs to start it again; kept in the store.
    pub plan: String,
    /// If sanitizers are to look at everything that is kept first: what takes the place of the plan once they have.
    pub plan_after_looks: Option<String>,
}

/// Begins a campaign in a folder, or goes on with the one that is there, and works until the budget is over or somebody asks
/// to stop. `observer` is told what happens, when it is stored.
pub fn run(
    folder: CampaignFolder,
    config: &CampaignConfig,
    parts: &Parts<'_>,
    mut observer: impl FnMut(&Event),
) -> Result<(Summary, Why), CampaignError> {
    let map = parts.target.map();
    let mut store = folder.store()?;
    let head = CampaignHead { map_hash: map.hash(), seed: config.seed, settings: parts.plan.clone() };
    let is_resumed = check(&store, &head, folder.path())?;
    store.begin_campaign(&head)?;
    let (sender, events) = mpsc::channel();
    let ledger = Ledger::open(folder, store, parts.target, config.workers.max(1), sender)?;
    ledger.begin(EventKind::Began {
        is_resumed,
        seed: config.seed,
        workers: config.workers.max(1),
        n_branches: 2 * map.conditions.len(),
        n_mutants: ledger.n_mutants(),
    })?;
    let is_done = AtomicBool::new(false);
    let result = thread::scope(|scope| {
        let working = scope.spawn(|| {
            let result = work(&ledger, config, parts);
            is_done.store(true, Ordering::Release);
            result
        });
        let watched = watch(&ledger, config, parts.stop, &events, &is_done, &mut observer);
        let worked = working.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        worked.and(watched)
    });
    let why = match &result {
        Err(_) => Why::Error,
        Ok(()) if ledger.is_over(&config.budget) => Why::Budget,
        Ok(()) if parts.stop.is_asked() => Why::Asked,
        Ok(()) => Why::NothingLeft,
    };
    let noted = ledger.note_moment().and_then(|()| ledger.announce(EventKind::Ended { why }));
    events.try_iter().for_each(|event| observer(&event));
    // What the error was matters more than whether its end could be noted.
    result.and(noted)?;
    Ok((ledger.summary(), why))
}

/// Whether there is something to go on from; it must be of the same program.
fn check(store: &cairn_store::Store, head: &CampaignHead, folder: &Path) -> Result<bool, CampaignError> {
    match store.campaign()? {
        None => Ok(false),
        Some(earlier) if earlier.map_hash == head.map_hash => Ok(true),
        Some(_) => Err(CampaignError::OtherProgram { folder: folder.to_path_buf() }),
    }
}

fn work(ledger: &Ledger<'_>, config: &CampaignConfig, parts: &Parts<'_>) -> Result<(), CampaignError> {
    let cores = cores::usable();
    // Threads begin where the one that makes them is: workers move on from here.
    cores::pin(&cores, 0);
    let limits = start(ledger, config, parts)?;
    let n_workers = config.workers.max(1);
    let cores = &cores;
    let results: Vec<Result<(), CampaignError>> = thread::scope(|scope| {
        let spawn = |number| {
            scope.spawn(move || {
                cores::pin(cores, number);
                let worker = Worker { number, parts, config, ledger, limits, stop: parts.stop };
                // What one cannot mend, the others cannot either.
                worker.work().inspect_err(|_| parts.stop.ask())
            })
        };
        let workers: Vec<_> = (0..n_workers).map(spawn).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(join).collect()
    });
    results.into_iter().collect()
}

/// Judges seeds and learns what runs need.
fn start(ledger: &Ledger<'_>, config: &CampaignConfig, parts: &Parts<'_>) -> Result<Limits, CampaignError> {
    let mut plain = parts.target.plain()?;
    let mut judge = Judge::new(ledger, &config.budget, parts)?;
    let fuel = ledger.corpus.since(0).iter().map(|entry| entry.fuel).max();
    plain.set_fuel(fuel_limit(fuel.unwrap_or_default()));
    if let Some(plan) = &parts.plan_after_looks
        && second_look::look_at_all(ledger, &mut judge, &mut plain, parts.stop)?
    {
        ledger.set_plan(plan)?;
    }
    let seeds = Seeds { ledger, config, judge: &mut judge, plain: &mut plain, stop: parts.stop };
    let fuel = seeds.judge_all(parts.seeds)?;
    Limits::learn(&mut plain, &ledger.corpus, fuel, parts.stop)
}

/// Passes events on and tells how far the campaign is until it is done; ends it when its time is over.
fn watch(
    ledger: &Ledger<'_>,
    config: &CampaignConfig,
    stop: &Stop,
    events: &mpsc::Receiver<Event>,
    is_done: &AtomicBool,
    observer: &mut impl FnMut(&Event),
) -> Result<(), CampaignError> {
    let is_timed = config.budget.wall.is_some() || config.budget.cpu.is_some();
    let mut last_moment = Instant::now();
    while !is_done.load(Ordering::Acquire) {
        if let Ok(event) = events.recv_timeout(PATIENCE) {
            observer(&event);
        }
        if is_timed && ledger.is_over(&config.budget) {
            stop.ask();
        }
        if last_moment.elapsed() >= MOMENT {
            last_moment = Instant::now();
            ledger.note_moment().inspect_err(|_| stop.ask())?;
        }
    }
    Ok(())
}
