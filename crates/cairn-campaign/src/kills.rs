//! Whether an input kills the mutants that it is said to kill.

use crate::{error::CampaignError, ledger::Ledger, run::Parts};
use cairn_executor::{
    Executor,
    mutants::{Confirming, MutantJudge, Original, Prepared, Preparing},
    oracle::{Judged, Reference},
};
use cairn_model::{Input, KillReason, MutantId, Spent, Verdict};
use std::time::Instant;

/// Mutants that are run together: their outcomes are held until all are done.
const AT_ONCE: usize = 128;

/// Finds out what is true of the kills that strategies claim.
#[derive(Debug)]
pub(crate) struct KillJudge<'a> {
    ledger: &'a Ledger<'a>,
    judge: MutantJudge,
    bare: Executor,
}

impl<'a> KillJudge<'a> {
    /// With runners of its own; `None` where there are no mutants.
    pub(crate) fn new(ledger: &'a Ledger<'a>, parts: &Parts<'a>) -> Result<Option<Self>, CampaignError> {
        let Some(judge) = parts.target.mutant_judge()? else { return Ok(None) };
        Ok(Some(Self { ledger, judge, bare: parts.target.bare()? }))
    }

    /// Those of the `claimed` mutants that the input kills and that nobody is known to kill.
    ///
    /// The bare build says what the original does. An input on which it fails, or on which the mutant view without a mutant does
    /// something else, kills nothing.
    pub(crate) fn confirm(
        &mut self,
        input: &Input,
        claimed: &[MutantId],
        spent: &mut Spent,
    ) -> Result<Vec<(MutantId, KillReason)>, CampaignError> {
        let killed = self.ledger.kills.killed();
        let open: Vec<MutantId> =
            claimed.iter().copied().filter(|mutant| !killed.contains(*mutant)).collect();
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let start = Instant::now();
        // Once on the bare build; once in the view as it is, and once with a look at everything.
        spent.target_runs += 3;
        let kills = match self.judge.prepare(&mut self.bare, input, Preparing::Quick)? {
            Prepared::Ready(original) => self.run(input, &original, &open, spent)?,
            Prepared::LeftOut(_) => Vec::new(),
            Prepared::Differs(_) => {
                let text = "the mutant view without a mutant differs from the bare build on some inputs, which kill nothing \
                            therefore\n\nhint: `cairn score` shows how they differ";
                self.ledger.warn_once(text.into())?;
                Vec::new()
            }
        };
        spent.on_mutants += start.elapsed();
        Ok(kills)
    }

    fn run(
        &mut self,
        input: &Input,
        original: &Original,
        mutants: &[MutantId],
        spent: &mut Spent,
    ) -> Result<Vec<(MutantId, KillReason)>, CampaignError> {
        let oracle = self.judge.oracle;
        let reference = Reference { oracle: &oracle, original: &original.outcome, masks: &original.masks };
        self.judge.session.set_fuel(original.fuel());
        self.judge.session.set_wall_limit(original.wall_limit(self.bare.config().wall_limit));
        let infected: Vec<MutantId> =
            mutants.iter().copied().filter(|mutant| original.infected.contains(*mutant)).collect();
        // Thousands of fresh processes would be most of a campaign: everything is run again in one at its end.
        let confirming = Confirming::Later;
        let mut killed = Vec::new();
        for part in infected.chunks(AT_ONCE) {
            for run in self.judge.session.run(input, part)? {
                spent.mutant_runs += 1;
                let concluded = self.judge.conclude(input, &reference, run.mutant, &run.run, confirming)?;
                spent.mutant_runs += u64::from(concluded.is_confirmed.is_some());
                if let Judged::Verdict(Verdict::Killed(reason)) = concluded.judged {
                    killed.push((run.mutant, reason));
                }
            }
        }
        Ok(killed)
    }
}
