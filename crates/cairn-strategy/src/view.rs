//! What a strategy sees of a campaign.

use crate::{corpus::Corpus, kills::Kills, sample::Sample, seen::Seen, target::TargetViews};
use cairn_executor::{ExecutorError, Session, SymbolicConfig, SymbolicExecutor};
use cairn_model::{Budget, ProgramMap, Spent};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// A sign to stop, shared by everybody.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks everybody to stop.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a strategy sees of a campaign, and what it may use, during one step.
pub struct CampaignView<'a> {
    /// The views of the target, for runners of its own.
    pub target: &'a dyn TargetViews,
    /// The inputs that are kept.
    pub corpus: &'a Corpus,
    /// What runs of all workers have reached, as of the beginning of the step.
    pub seen: &'a Seen,
    /// Mutants that inputs of the corpus kill.
    pub kills: &'a Kills,
    /// Runs the plain view; shared with the campaign's judge, which leaves the baseline alone.
    pub plain: &'a mut Session,
    /// Chances: of this worker, from the campaign's seed.
    pub random: &'a mut fastrand::Rng,
    /// What this step has spent; the strategy counts its work here.
    pub spent: Spent,
    /// Bytes an input may have in all its regions.
    pub max_size: u64,
    /// How long runs take at most that are known to end, with a margin: what takes longer may hang, and is worth waiting for only if
    /// it is new. `None` where that is not known; the session's limit is what counts.
    pub backstop: Option<Duration>,
    /// Where samples of what is run are handed over; `None` where nobody looks at them.
    pub samples: Option<Vec<Sample>>,
    stop: &'a Stop,
    start: Instant,
}

impl<'a> CampaignView<'a> {
    /// The view of one step that begins now; for the campaign. What was seen is the session's baseline from then on, and
    /// nothing else: what a strategy proposed in vain may be found again.
    #[allow(clippy::too_many_arguments, reason = "each is a part of its own, borrowed from another place")]
    pub fn new(
        target: &'a dyn TargetViews,
        corpus: &'a Corpus,
        seen: &'a Seen,
        kills: &'a Kills,
        plain: &'a mut Session,
        random: &'a mut fastrand::Rng,
        max_size: u64,
        stop: &'a Stop,
    ) -> Self {
        for (known, classes) in plain.baseline().iter_mut().zip(seen.classes()) {
            *known = *classes;
        }
        let start = Instant::now();
        let (spent, backstop, samples) = (Spent::default(), None, None);
        Self { target, corpus, seen, kills, plain, random, spent, max_size, backstop, samples, stop, start }
    }

    /// Likewise, of a campaign that looks at samples; for the campaign.
    pub fn taking_samples(self) -> Self {
        Self { samples: Some(Vec::new()), ..self }
    }

    /// What is known about the program.
    pub fn map(&self) -> &'a ProgramMap {
        self.target.map()
    }

    /// A runner of the symbolic view, if there is one.
    pub fn symbolic(&self, config: SymbolicConfig) -> Result<Option<SymbolicExecutor>, ExecutorError> {
        self.target.symbolic(config)
    }

    /// Whether the step has to end: its budget is over, or somebody asked.
    ///
    /// Time is looked at only where it is limited, so that decisions within budgets of work do not depend on it.
    pub fn is_over(&mut self, budget: &Budget) -> bool {
        if budget.wall.is_some() || budget.cpu.is_some() {
            self.spent.wall = self.start.elapsed();
            // A worker has one core, which it shares with its target.
            self.spent.cpu = self.spent.wall;
        }
        self.stop.is_asked() || budget.is_over(&self.spent)
    }

    /// What the step spent in all; for the campaign, after it.
    pub fn finish(mut self) -> Spent {
        self.spent.wall = self.elapsed();
        self.spent
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}
