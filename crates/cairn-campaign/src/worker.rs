//! A worker: a core, a live target, strategies, a judge.

use crate::{
    config::CampaignConfig,
    error::{CampaignError, chain},
    event::EventKind,
    haste::Haste,
    judge::Judge,
    ledger::Ledger,
    limits::Limits,
    run::Parts,
    sanitizers,
    turns::{Step, Turns},
};
use cairn_model::Budget;
use cairn_strategy::{CampaignView, Candidate, FindingKind, Stop, Strategy, StrategyError};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

/// So many deaths in a row are no accident.
const MAX_DEATHS: u32 = 5;

/// What a worker needs.
pub(crate) struct Worker<'a> {
    pub(crate) number: usize,
    pub(crate) parts: &'a Parts<'a>,
    pub(crate) config: &'a CampaignConfig,
    pub(crate) ledger: &'a Ledger<'a>,
    pub(crate) limits: Limits,
    pub(crate) stop: &'a Stop,
}

impl Worker<'_> {
    /// Works until somebody asks to stop, the budget is over, or nothing is left to do. A worker that dies is started
    /// again, with everything but its place in the sequence of chances.
    pub(crate) fn work(&self) -> Result<(), CampaignError> {
        let mut n_deaths = 0;
        let mut n_starts = 0;
        loop {
            n_starts += 1;
            let life = catch_unwind(AssertUnwindSafe(|| self.live(n_starts, &mut n_deaths)));
            let why = match life {
                Ok(Ok(())) => return Ok(()),
                // Whatever concerns the store or the target as such concerns all.
                Ok(Err(
                    error @ (CampaignError::Store(_)
                    | CampaignError::File { .. }
                    | CampaignError::Strategy(StrategyError::Unfit { .. })),
                )) => return Err(error),
                Ok(Err(error)) => chain(&error),
                Err(panic) => panic_text(&*panic),
            };
            n_deaths += 1;
            if n_deaths >= MAX_DEATHS {
                return Err(CampaignError::Worker { worker: self.number, times: n_deaths, why });
            }
            self.ledger.announce(EventKind::Restarted { worker: self.number, why })?;
        }
    }

    /// One life; a step that succeeds forgives earlier deaths.
    fn live(&self, n_starts: u64, n_deaths: &mut u32) -> Result<(), CampaignError> {
        // Chances of different workers and lives have nothing in common.
        let own_seed = self.config.seed ^ (self.number as u64) << 32 ^ (n_starts - 1) << 48;
        let mut random = fastrand::Rng::with_seed(own_seed);
        let mut plain = self.parts.target.plain()?;
        self.limits.set(&mut plain);
        let mut judge = Judge::new(self.ledger, &self.config.budget, self.parts)?;
        let mut strategies = (self.parts.strategies)(self.number);
        let mut n_heard = 0;
        let mut turns = Turns::new(strategies.len());
        let mut n_idle = 0;
        while !self.stop.is_asked() && !self.ledger.is_over(&self.config.budget) && n_idle < strategies.len()
        {
            n_heard = self.tell_news(&mut strategies, n_heard);
            let strategy = &mut strategies[turns.current()];
            self.ledger.set_worker(self.number, strategy.name());
            let start = Instant::now();
            let mut seen = self.ledger.seen();
            let budget = self.ledger.promise(self.number, &self.step_budget(), &self.config.budget);
            if budget.inputs == Some(0) || budget.target_runs == Some(0) {
                // The others have taken what is left.
                break;
            }
            let mut view = CampaignView::new(
                self.parts.target,
                &self.ledger.corpus,
                &seen,
                &self.ledger.kills,
                &mut plain,
                &mut random,
                self.config.max_size,
                self.stop,
            );
            // A busy machine would use it up where nothing hangs.
            view.backstop = (!self.config.budget.counts_work_alone()).then_some(self.limits.backstop);
            if judge.takes_samples() {
                view = view.taking_samples();
            }
            let candidates = strategy.step(&mut view, &budget)?;
            let was_over = view.is_over(&budget);
            let samples = view.samples.take();
            let mut spent = view.finish();
            let (n_inputs, took) = (spent.inputs, budget.wall.map(|_| spent.wall));
            let is_idle = candidates.is_empty() && !was_over;
            n_idle = if is_idle { n_idle + 1 } else { 0 };
            let mut n_found = 0;
            let mut candidates = candidates;
            candidates.sort_by_key(Haste::of);
            let judged = candidates.into_iter().try_for_each(|candidate| {
                // Only here it turns out which paths are new.
                if budget.new_paths.is_some_and(|most| spent.new_paths >= most) {
                    return Ok(());
                }
                let left = self.ledger.time_left(&self.config.budget);
                if !Haste::of(&candidate).is_in_time(left, judge.wall_limit()) {
                    return self.leave(&candidate, strategy.name());
                }
                let finding = judge.judge(&mut plain, strategy.name(), candidate, &mut spent)?;
                if let FindingKind::Kept(entry) = &finding.kind {
                    n_found += seen.new_in(&entry.hits).1;
                    seen.add(&entry.hits);
                }
                if !finding.is_new() {
                    strategy.observe(&finding);
                }
                Ok::<(), CampaignError>(())
            });
            let judged = judged.and_then(|()| match samples {
                Some(samples) => {
                    let step = sanitizers::Step { strategy: strategy.name(), n_inputs, took, samples };
                    judge.look_at_samples(&mut plain, step, &mut spent)
                }
                None => Ok(()),
            });
            self.ledger.spend(self.number, strategy.name(), spent);
            judged?;
            strategy.notices().into_iter().try_for_each(|text| self.ledger.warn_once(text))?;
            turns.hear(Step { took: budget.wall.map(|_| start.elapsed()), n_found, is_idle });
            *n_deaths = 0;
        }
        self.ledger.set_worker(self.number, "done");
        Ok(())
    }

    /// Tells strategies what was found since they last heard, by whomever.
    fn tell_news(&self, strategies: &mut [Box<dyn Strategy>], n_heard: usize) -> usize {
        let news = self.ledger.findings_since(n_heard);
        for finding in &news {
            strategies.iter_mut().for_each(|strategy| strategy.observe(finding));
        }
        n_heard + news.len()
    }

    /// Does without the judgement of a candidate; one that failed is kept all the same.
    fn leave(&self, candidate: &Candidate, strategy: &str) -> Result<(), CampaignError> {
        match &candidate.failed {
            Some(ending) => self.ledger.note_unconfirmed(&candidate.input, strategy, ending, 0),
            None => Ok(()),
        }
    }

    fn step_budget(&self) -> Budget {
        let budget = &self.config.budget;
        let is_timed = budget.wall.is_some() || budget.cpu.is_some() || *budget == Budget::UNLIMITED;
        Budget {
            inputs: Some(self.config.step_inputs),
            wall: is_timed.then(|| Duration::from_millis(self.config.step_wall_ms)),
            ..Budget::UNLIMITED
        }
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("it panicked: {}", text.unwrap_or_else(|| "without a word".into()))
}
