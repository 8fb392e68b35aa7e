//! Mutants between two steps of a campaign: what is heard of kills, and looks at what others have kept.

use crate::{
    fuzz_loop::FuzzLoop,
    mutants::{Care, Mutants, MutantsConfig},
};
use cairn_model::{Input, MutantId};
use cairn_strategy::{Budget, CampaignView, Candidate, Entry, EntryId, StrategyError};
use std::{cmp::Reverse, collections::HashMap, sync::Arc, time::Instant};

/// What is done about mutants.
pub(crate) enum Killing {
    /// Nothing: the strategy `fuzz`.
    No,
    /// They are run from the first step on: the strategy `mu2`.
    Wanted(MutantsConfig),
    Ready(Box<Killer>),
}

/// Runs mutants in a campaign.
pub(crate) struct Killer {
    pub(crate) mutants: Mutants,
    /// How many kills of the campaign are known.
    n_heard: usize,
    /// Entries of the corpus whose mutants nobody has run, the cheapest to run last.
    unexamined: Vec<(Reverse<u64>, Reverse<EntryId>)>,
    /// Candidates with claims that the campaign has not judged, by address.
    claims: HashMap<String, Vec<MutantId>>,
    /// Claims about candidates that it has judged, and that are compared with its kills next.
    judged: Vec<MutantId>,
}

impl Killing {
    /// Starts the mutant view, once.
    pub(crate) fn ready(&mut self, view: &CampaignView<'_>) -> Result<(), StrategyError> {
        let Self::Wanted(config) = self else { return Ok(()) };
        let judge = view.target.mutant_judge()?;
        let Some((judge, counted)) = judge.zip(view.target.mutants()) else {
            let reason = "there is no mutant view".into();
            return Err(StrategyError::Unfit { strategy: "mu2", reason });
        };
        *self = Self::Ready(Box::new(Killer {
            mutants: Mutants::new(judge, counted, config.clone()),
            n_heard: 0,
            unexamined: Vec::new(),
            claims: HashMap::new(),
            judged: Vec::new(),
        }));
        Ok(())
    }
}

impl Killer {
    /// Notes candidates that are about to be judged.
    pub(crate) fn claim(&mut self, candidates: &[Candidate]) {
        let claiming = candidates.iter().filter(|candidate| !candidate.kills.is_empty());
        self.claims.extend(claiming.map(|candidate| (candidate.input.address(), candidate.kills.clone())));
    }

    /// Notes that a candidate was judged; whether something was claimed of it, and so its mutants were run.
    pub(crate) fn judged(&mut self, input: &Input) -> bool {
        let claims = self.claims.remove(&input.address());
        let has_claims = claims.is_some();
        self.judged.extend(claims.into_iter().flatten());
        has_claims
    }

    /// Takes note of entries. They are to be looked at, each by one of the workers.
    pub(crate) fn hear_entries(&mut self, entries: &[Arc<Entry>], (worker, n_workers): (u32, u32)) {
        for entry in entries {
            if !self.judged(&entry.input) && entry.id.0 % n_workers.max(1) == worker {
                self.unexamined.push((Reverse(entry.fuel), Reverse(entry.id)));
            }
        }
        self.unexamined.sort_unstable();
    }

    /// Takes note of kills, by whomever, and of claims that did not become one.
    pub(crate) fn hear_kills(&mut self, view: &CampaignView<'_>, fuzzing: &mut FuzzLoop) {
        for kill in view.kills.since(self.n_heard) {
            self.n_heard += 1;
            self.mutants.hear(&kill);
            fuzzing.hear_kill(&kill);
        }
        let killed = view.kills.killed();
        let mut in_vain = std::mem::take(&mut self.judged);
        in_vain.retain(|mutant| !killed.contains(*mutant));
        for mutant in self.mutants.hear_in_vain(&in_vain) {
            fuzzing.give_up(mutant);
        }
    }

    /// Runs mutants on entries of the corpus as far as their share allows, and claims what these kill. Afterwards at least half of
    /// the time is left.
    pub(crate) fn look_at_entries(
        &mut self,
        view: &mut CampaignView<'_>,
        fuzzing: &mut FuzzLoop,
        budget: &Budget,
    ) -> Result<Vec<Candidate>, StrategyError> {
        let half = budget.wall.map(|wall| wall / 2);
        let is_timed = budget.wall.is_some() || budget.cpu.is_some();
        let start = Instant::now();
        let mut candidates = Vec::new();
        while self.mutants.share.allows(Care::Kept) {
            if view.is_over(budget) || half.is_some_and(|half| start.elapsed() > half) {
                break;
            }
            let Some((_, Reverse(id))) = self.unexamined.pop() else { break };
            let input = view.corpus.get(id).input.clone();
            let looked = self.mutants.look(&input, Care::Kept)?;
            let took = is_timed.then_some(looked.took);
            self.mutants.share.looked(Care::Kept, looked.n_runs, took, looked.kills.len());
            view.spent.target_runs += 1;
            view.spent.mutant_runs += looked.n_runs;
            view.spent.on_mutants += looked.took;
            fuzzing.mark_entry(id, &looked);
            if !looked.kills.is_empty() {
                let (reason, kills) = ("a look at its mutants".into(), looked.kills);
                candidates.push(Candidate { input, parent: Some(id), reason, kills, failed: None });
            }
        }
        Ok(candidates)
    }
}
