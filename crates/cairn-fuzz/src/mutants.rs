//! Mutants as a reason to keep inputs.
//!
//! An input that kills a mutant nobody kills is worth keeping, whatever it reaches: mutation-analysis-guided fuzzing
//! ([Laybourn et al., 2023](https://doi.org/10.1109/ICST57152.2023.00027)). Of an input's mutants only those are run that survive so
//! far, that it reaches, and that differ from the original where it reaches them; one run of the original tells which these are.
//!
//! ```text
//!   input ──examined──► infected ∧ survivors, the likeliest to die first ──run──► outcome differs: a kill is claimed
//! ```
//!
//! A claim is made from runs in one live process, without the bare build; the campaign finds out whether it is true, and a mutant
//! about which it was wrong several times is not run any more. How much time all this may take follows from what it earns
//! ([`Share`]).

mod prospects;
mod share;

pub(crate) use self::share::Share;
pub use self::share::ShareConfig;

use self::prospects::Prospects;
use cairn_executor::{
    ExecutorError,
    mutants::{MutantJudge, fuel_for, time_for},
    oracle::{Judged, Masks, Reference},
};
use cairn_model::{Input, Kill, KillReason, MutantId, MutantSet, MutantTable, Outcome, outcome::Comparison};
use cairn_strategy::CountedMutants;
use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// Claims about a mutant that turned out wrong; after so many it is not run any more.
const MOST_IN_VAIN: u32 = 3;

/// Mutants that are run together: their outcomes are held until all are done.
const AT_ONCE: usize = 128;

/// Mutants that are run on a sample, the likeliest to die.
const MOST_OF_SAMPLE: usize = 32;

/// Mutants that were run before and are run on an input that is kept anyway.
const MOST_OF_KEPT: usize = 12;

/// The least time a mutant has, where the judge gives it more.
const LEAST_TIME: Duration = Duration::from_millis(20);

/// Time the original has when it is looked at: what takes longer in a session is no input for this.
const EXAMINED_TIME: Duration = Duration::from_secs(2);

/// Which mutants are run on an input.
#[derive(Clone, Debug, PartialEq)]
pub struct MutantsConfig {
    /// How much of the work goes to mutants. Default: as it pays.
    pub share: ShareConfig,
    /// Whether mutants that do not differ where they are reached are left out, which changes no verdict. Default: yes.
    pub prunes: bool,
    /// What is left out although it might be killed. Default: nothing.
    pub filter: MutantFilter,
}

impl Default for MutantsConfig {
    fn default() -> Self {
        Self { share: ShareConfig::Adaptive, prunes: true, filter: MutantFilter::Nothing }
    }
}

/// Mutants that are left out although they might be killed. What is lost by that is found again at the end of a campaign, when
/// everything that is kept is run on all mutants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MutantFilter {
    /// None.
    #[default]
    Nothing,
    /// Of each input all but so many that were run least often.
    LeastRun(usize),
    /// Those that an input has infected before: each is run once.
    Weak,
}

/// Runs mutants on inputs.
#[derive(Debug)]
pub struct Mutants {
    judge: MutantJudge,
    table: Arc<MutantTable>,
    /// Those that may still be killed.
    survivors: MutantSet,
    /// Those that some input was seen to infect.
    infected: MutantSet,
    /// What of the program's outcome was seen to differ from run to run.
    masks: Masks,
    /// How often claims about a mutant were wrong.
    in_vain: HashMap<MutantId, u32>,
    prospects: Prospects,
    config: MutantsConfig,
    pub(crate) share: Share,
    counts: MutantCounts,
}

/// What was done with mutants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MutantCounts {
    /// Inputs that were looked at.
    pub n_looks: u64,
    /// Mutants that were run on them.
    pub n_runs: u64,
    /// Kills that were claimed.
    pub n_claims: u64,
    /// Claims that turned out wrong.
    pub n_in_vain: u64,
}

/// Why an input is looked at, and so how thoroughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// It is kept anyway: all of its mutants that were never run, and some of the likeliest to die.
    Kept,
    /// To find out whether it is worth keeping: some of the likeliest to die.
    Sample,
}

/// What a look at an input found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looked {
    /// Mutants that it seems to kill.
    pub kills: Vec<MutantId>,
    /// Mutants that it infects and does not kill, and that no input infected before.
    pub first_infections: Vec<MutantId>,
    /// Mutants that were run.
    pub n_runs: u64,
    /// How long it took.
    pub took: Duration,
}

impl Mutants {
    /// Runs the mutants that count.
    pub fn new(judge: MutantJudge, counted: &CountedMutants, config: MutantsConfig) -> Self {
        Self {
            prospects: Prospects::new(&counted.table),
            table: counted.table.clone(),
            survivors: counted.selected.clone(),
            infected: MutantSet::default(),
            masks: Masks::default(),
            in_vain: HashMap::new(),
            share: Share::new(config.share),
            counts: MutantCounts::default(),
            judge,
            config,
        }
    }

    /// What was done so far.
    pub fn counts(&self) -> &MutantCounts {
        &self.counts
    }

    /// Notes that a mutant is killed.
    pub fn hear(&mut self, kill: &Kill) {
        self.survivors.remove(kill.mutant);
    }

    /// Notes that claims were not true, and returns the mutants that are given up for that.
    pub(crate) fn hear_in_vain(&mut self, claims: &[MutantId]) -> Vec<MutantId> {
        let mut given_up = Vec::new();
        for mutant in claims {
            self.counts.n_in_vain += 1;
            let n = self.in_vain.entry(*mutant).or_default();
            *n += 1;
            if *n >= MOST_IN_VAIN {
                given_up.push(*mutant);
            } else {
                self.survivors.insert(*mutant);
            }
        }
        given_up
    }

    /// The mutants that an input seems to kill, and that none before it did.
    pub fn kills(&mut self, input: &Input) -> Result<Vec<MutantId>, ExecutorError> {
        Ok(self.look(input, Care::Kept)?.kills)
    }

    /// Runs mutants on an input. Those that it seems to kill are not run again until the campaign has said what they are.
    pub(crate) fn look(&mut self, input: &Input, care: Care) -> Result<Looked, ExecutorError> {
        let start = Instant::now();
        let looked = self.examine_and_run(input, care)?;
        Ok(Looked { took: start.elapsed(), ..looked })
    }

    fn examine_and_run(&mut self, input: &Input, care: Care) -> Result<Looked, ExecutorError> {
        self.counts.n_looks += 1;
        let session = &mut self.judge.session;
        session.set_fuel(0);
        session.set_wall_limit(EXAMINED_TIME);
        let examined = session.examine(input)?;
        let original = examined.run.execution.outcome;
        // On an input on which the original fails nothing is killed.
        if self.judge.oracle.check(&original, &self.masks).is_err() {
            return Ok(Looked::default());
        }
        let infected: MutantSet = examined.infected.into_iter().collect();
        let patches = examined.reached.iter().map(|patch| &self.table.patches[patch.index()]);
        let mutants = match self.config.prunes {
            true => self.chosen(&infected, care),
            false => {
                self.chosen(&patches.flat_map(|patch| patch.mutants.clone().map(MutantId)).collect(), care)
            }
        };
        let is_first = |mutant: &MutantId| infected.contains(*mutant) && !self.infected.contains(*mutant);
        let first_infections: Vec<MutantId> = mutants.iter().copied().filter(is_first).collect();
        self.infected.extend(first_infections.iter().copied());
        self.judge.session.set_fuel(fuel_for(examined.run.execution.fuel_used));
        let mut kills = Vec::new();
        for part in mutants.chunks(AT_ONCE) {
            self.run_part(input, &original, part, &mut kills)?;
        }
        self.mask_what_varies(input, &original, &mut kills)?;
        let kills: Vec<MutantId> = kills.into_iter().map(|(mutant, _)| mutant).collect();
        kills.iter().for_each(|mutant| self.survivors.remove(*mutant));
        let n_runs = mutants.len() as u64;
        let mut looked = Looked { first_infections, n_runs, kills, ..Looked::default() };
        looked.first_infections.retain(|mutant| !looked.kills.contains(mutant));
        self.counts.n_runs += looked.n_runs;
        self.counts.n_claims += looked.kills.len() as u64;
        Ok(looked)
    }

    /// Runs some mutants and adds those that do not do what the original did.
    fn run_part(
        &mut self,
        input: &Input,
        original: &Outcome,
        mutants: &[MutantId],
        kills: &mut Vec<(MutantId, KillReason)>,
    ) -> Result<(), ExecutorError> {
        let (oracle, masks) = (self.judge.oracle, self.masks.clone());
        let reference = Reference { oracle: &oracle, original, masks: &masks };
        self.judge.session.set_wall_limit(time_for(original.elapsed, original.elapsed, LEAST_TIME));
        for run in self.judge.session.run(input, mutants)? {
            let mut reason = self.reason(&reference, &run.run.execution.outcome)?;
            if matches!(reason, Some(KillReason::Timeout | KillReason::Memory)) {
                // The machine may be busy. Loops run out of fuel, so this is rare.
                self.judge.session.set_wall_limit(EXAMINED_TIME);
                let again = self.judge.session.run(input, &[run.mutant])?;
                reason = match again.first() {
                    Some(again) => self.reason(&reference, &again.run.execution.outcome)?,
                    None => None,
                };
                self.judge.session.set_wall_limit(time_for(original.elapsed, original.elapsed, LEAST_TIME));
            }
            self.prospects.learn(&self.table, run.mutant, reason.is_some());
            kills.extend(reason.map(|reason| (run.mutant, reason)));
        }
        Ok(())
    }

    fn reason(
        &mut self,
        reference: &Reference<'_>,
        outcome: &Outcome,
    ) -> Result<Option<KillReason>, ExecutorError> {
        Ok(match self.judge.judge(reference, outcome)? {
            Judged::Verdict(verdict) => verdict.kill_reason(),
            Judged::CompareFailed(_) => None,
        })
    }

    /// Where something of what the program writes differs between two runs of the original, it tells nothing from then on.
    fn mask_what_varies(
        &mut self,
        input: &Input,
        original: &Outcome,
        kills: &mut Vec<(MutantId, KillReason)>,
    ) -> Result<(), ExecutorError> {
        let by_content = |reason: &KillReason| matches!(reason, KillReason::Output | KillReason::Files);
        if !kills.iter().any(|(_, reason)| by_content(reason)) {
            return Ok(());
        }
        self.judge.session.set_wall_limit(EXAMINED_TIME);
        let again = self.judge.session.original(input)?.execution.outcome;
        if let Comparison::Different(parts) = original.compare(&again) {
            self.masks = self.masks.and(&parts);
            kills.retain(|(_, reason)| !by_content(reason));
        }
        Ok(())
    }

    /// The mutants to run, in order.
    fn chosen(&self, candidates: &MutantSet, care: Care) -> Vec<MutantId> {
        let is_open = |mutant: &MutantId| candidates.contains(*mutant);
        let mut mutants: Vec<MutantId> = self.survivors.iter().filter(is_open).collect();
        match self.config.filter {
            MutantFilter::Nothing => {}
            MutantFilter::LeastRun(most) => {
                mutants.sort_by_key(|mutant| (self.prospects.n_runs(*mutant), *mutant));
                mutants.truncate(most);
            }
            MutantFilter::Weak => mutants.retain(|mutant| !self.infected.contains(*mutant)),
        }
        if self.config.share == ShareConfig::Everything {
            return self.prospects.all(&self.table, mutants);
        }
        let (first, again): (Vec<_>, Vec<_>) =
            mutants.into_iter().partition(|mutant| care == Care::Kept && self.prospects.n_runs(*mutant) == 0);
        let mut chosen = self.prospects.all(&self.table, first);
        let most = match care {
            Care::Kept => MOST_OF_KEPT,
            Care::Sample => MOST_OF_SAMPLE,
        };
        chosen.extend(self.prospects.best(&self.table, again, most));
        chosen
    }
}
