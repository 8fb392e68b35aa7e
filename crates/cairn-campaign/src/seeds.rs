//! Where a campaign starts from.

use crate::{
    config::CampaignConfig,
    error::CampaignError,
    event::EventKind,
    haste::Haste,
    judge::Judge,
    ledger::Ledger,
    triage::{self, Endless},
};
use cairn_executor::{Session, fuel_limit};
use cairn_model::{Ending, Input, Spent};
use cairn_strategy::{Candidate, FindingKind, Stop};
use std::collections::BTreeSet;

/// The name under which seeds appear.
pub(crate) const SEED: &str = "seed";

/// What became of seeds, by how many.
#[derive(Debug, Default)]
struct Counts {
    failing: usize,
    /// They fail in the plain view only.
    unfit: usize,
    /// They get to where the program was seen to hang, and nobody waited for them as well.
    alike: usize,
    /// Nobody had time for them.
    unseen: usize,
}

/// Judges seeds, those on which the program works first.
pub(crate) struct Seeds<'a, 'b> {
    pub(crate) ledger: &'a Ledger<'b>,
    pub(crate) config: &'a CampaignConfig,
    pub(crate) judge: &'a mut Judge<'b>,
    pub(crate) plain: &'a mut Session,
    pub(crate) stop: &'a Stop,
}

impl Seeds<'_, '_> {
    /// Judges all seeds; at least one must be fit to start from. Returns how many steps a run may take.
    ///
    /// Those on which the program fails come last, because to confirm a hang takes long, and of those that hang at the same place
    /// one is enough.
    pub(crate) fn judge_all(mut self, seeds: &[Input]) -> Result<u64, CampaignError> {
        self.ledger.set_worker(0, SEED);
        let corpus = self.ledger.corpus.since(0);
        // A campaign that goes on has run these.
        let known: BTreeSet<String> = corpus.iter().map(|entry| entry.input.address()).collect();
        let new: Vec<&Input> = seeds.iter().filter(|seed| !known.contains(&seed.address())).collect();
        let mut spent = Spent::default();
        let whole = self.plain.config().run.wall_limit;
        let triage = triage::sort(self.plain, &new, self.stop, &mut spent)?;
        self.ledger.spend(0, SEED, spent);
        let fuel = corpus.iter().map(|entry| entry.fuel).fold(triage.most_fuel, u64::max);
        self.plain.set_fuel(fuel_limit(fuel));
        self.plain.set_wall_limit(triage.wall_limit);
        let mut counts = Counts { unseen: triage.unseen.len(), ..Counts::default() };
        for seed in triage.fit.iter().chain(&triage.crashing) {
            self.judge_one(seed, None, &mut counts)?;
        }
        self.judge_endless(&triage.endless, &mut counts)?;
        self.plain.set_wall_limit(whole);
        self.tell(&counts, seeds.len())?;
        if let Some(name) = self.plain.missing_variable() {
            self.ledger.warn_once(format!(
                "the program asks for a typed variable `{name}`, and is given 0 on inputs that do not have it\n\nhint: \
                 `[[input.variables]]` with `name = \"{name}\"` and a `type` in `cairn.toml` gives it to all of them, and \
                 has it changed"
            ))?;
        }
        // Slow ones may have turned out to end.
        let corpus = self.ledger.corpus.since(0);
        let fuel = corpus.iter().map(|entry| entry.fuel).fold(fuel, u64::max);
        Ok(fuel_limit(fuel))
    }

    fn judge_one(
        &mut self,
        seed: &Input,
        failed: Option<Ending>,
        counts: &mut Counts,
    ) -> Result<Option<FindingKind>, CampaignError> {
        if self.stop.is_asked() {
            counts.unseen += 1;
            return Ok(None);
        }
        let mut spent = Spent { inputs: 1, ..Spent::default() };
        let candidate = Candidate {
            input: seed.clone(),
            parent: None,
            reason: "given".into(),
            // Nobody has looked at its mutants, and it may be worth keeping for them alone.
            kills: self.ledger.open_mutants(),
            failed,
        };
        let judged = self.judge.judge(self.plain, SEED, candidate, &mut spent);
        self.ledger.spend(0, SEED, spent);
        let kind = judged?.kind;
        match kind {
            FindingKind::Failure(_) | FindingKind::KnownFailure { .. } => counts.failing += 1,
            FindingKind::Unconfirmed { .. } if self.stop.is_asked() => counts.unseen += 1,
            FindingKind::Unconfirmed { .. } => counts.unfit += 1,
            FindingKind::Kept(_) | FindingKind::Kills(_) | FindingKind::NothingNew => {}
        }
        Ok(Some(kind))
    }

    /// Judges seeds on which the program did not end; of those that are alike one, if it does not end on the bare build either.
    fn judge_endless(&mut self, seeds: &[Endless<'_>], counts: &mut Counts) -> Result<(), CampaignError> {
        let (mut confirmed, mut kept) = (BTreeSet::new(), BTreeSet::new());
        for seed in seeds {
            if confirmed.contains(&seed.likeness) {
                counts.alike += 1;
                continue;
            }
            let left = self.ledger.time_left(&self.config.budget);
            if self.stop.is_asked() || !Haste::Hang.is_in_time(left, self.judge.wall_limit()) {
                counts.unseen += 1;
                if kept.insert(seed.likeness) {
                    self.ledger.note_unconfirmed(seed.input, SEED, &seed.ending, 0)?;
                }
                continue;
            }
            let kind = self.judge_one(seed.input, Some(seed.ending.clone()), counts)?;
            if let Some(FindingKind::Failure(_) | FindingKind::KnownFailure { .. }) = kind {
                confirmed.insert(seed.likeness);
            }
        }
        Ok(())
    }

    fn tell(&self, counts: &Counts, n_seeds: usize) -> Result<(), CampaignError> {
        let Counts { failing, unfit, alike, unseen } = *counts;
        let texts = [
            (unseen, format!("ended before {unseen} of {n_seeds} seeds were looked at")),
            (failing, format!("the program fails on {failing} of {n_seeds} seeds; they are kept apart")),
            (
                alike,
                format!(
                    "{alike} of {n_seeds} seeds get to where the program hangs on another, and were not waited for; they are \
                     left out"
                ),
            ),
            (
                unfit,
                format!("{unfit} of {n_seeds} seeds fail in the plain view, and in no run of the bare build"),
            ),
        ];
        for (_, text) in texts.into_iter().filter(|(n, _)| *n > 0) {
            self.ledger.announce(EventKind::Warned { text })?;
        }
        if !self.ledger.corpus.is_empty() || self.stop.is_asked() {
            return Ok(());
        }
        Err(CampaignError::NoSeeds {
            reason: match failing + alike {
                0 if unseen > 0 => format!(
                    "the program does not end on {unseen} of {n_seeds} seeds in the time a run has here, and there was none to \
                     wait longer"
                ),
                0 => "no seed reaches anything that is counted".into(),
                n_failing => format!(
                    "the program fails on every seed that reaches anything ({n_failing} of {n_seeds}); they are kept in \
                     `crashes` and `hangs`"
                ),
            },
            hint: "give an input that the program works on, and check its arguments with `cairn replay`",
        })
    }
}
