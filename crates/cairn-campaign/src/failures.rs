//! What is done about an input on which the program fails.

use crate::{
    error::CampaignError,
    ledger::Ledger,
    reduce::{ReduceConfig, reduce},
};
use cairn_executor::{
    Executor, ExecutorError, Explained, FailureExplainer, Session, SessionRun, WantedCounters, Wants,
};
use cairn_model::{Ending, Input, ProgramFailure, Provenance, Spent};
use cairn_strategy::{Candidate, FindingKind, TargetViews};
use std::time::Duration;

/// The most inputs that are tried to make a failing one smaller.
const MAX_QUESTIONS: u64 = 3_000;

/// Confirms, names and reduces failures.
#[derive(Debug)]
pub(crate) struct Failures<'a> {
    ledger: &'a Ledger<'a>,
    bare: Executor,
    explainer: FailureExplainer,
}

impl<'a> Failures<'a> {
    /// With runners of its own.
    pub(crate) fn new(ledger: &'a Ledger<'a>, target: &dyn TargetViews) -> Result<Self, CampaignError> {
        Ok(Self { ledger, bare: target.bare()?, explainer: target.explainer()? })
    }

    /// Says what a candidate is whose `run` in the plain view failed. A new way to fail is kept at once, and then made small.
    pub(crate) fn judge(
        &mut self,
        plain: &mut Session,
        run: &SessionRun,
        strategy: &str,
        candidate: Candidate,
        spent: &mut Spent,
    ) -> Result<FindingKind, CampaignError> {
        let seen = &run.execution.outcome.ending;
        if !self.ledger.is_new_way(seen, &run.execution.counters) {
            return Ok(FindingKind::NothingNew);
        }
        let Some((ending, explained)) = self.confirm(&candidate.input, spent)? else {
            self.ledger.note_unconfirmed();
            return Ok(FindingKind::Unconfirmed { ending: seen.clone() });
        };
        let provenance = Provenance {
            parent: candidate.parent,
            strategy: strategy.into(),
            made_by: candidate.reason,
            kept_for: "the program fails".into(),
            found_after: Duration::ZERO,
        };
        let failure = failure(candidate.input, ending, explained, provenance);
        let kind = self.ledger.fail(failure.clone(), &run.execution.counters)?;
        if matches!(kind, FindingKind::Failure(_)) {
            self.make_small(plain, seen, failure, spent)?;
        }
        Ok(kind)
    }

    /// How the bare build fails on an input in a fresh process, and why; `None` if it does not.
    fn confirm(
        &mut self,
        input: &Input,
        spent: &mut Spent,
    ) -> Result<Option<(Ending, Explained)>, CampaignError> {
        spent.target_runs += 1;
        let ending = self.bare.run(input)?.outcome.ending;
        if !ending.is_failure() {
            return Ok(None);
        }
        spent.target_runs += 1;
        let explained = self.explainer.explain(input, &ending)?;
        Ok(Some((ending, explained)))
    }

    /// Keeps a smaller input that fails in the same way, if there is one.
    ///
    /// Inputs are tried in the live plain view, where that takes no time; what comes of it must fail on the bare build with
    /// the same signature. A failure that only the clock shows is left as it is, because every question would take that long.
    fn make_small(
        &mut self,
        plain: &mut Session,
        seen: &Ending,
        failure: ProgramFailure,
        spent: &mut Spent,
    ) -> Result<(), CampaignError> {
        if !matches!(seen, Ending::Signalled { .. } | Ending::OutOfFuel) {
            return Ok(());
        }
        let mut fails = |inputs: &[Input]| -> Result<Vec<bool>, ExecutorError> {
            let wants = Wants { counters: WantedCounters::Never, output: false };
            let runs = plain.run_batch(inputs, wants)?;
            Ok(runs.iter().map(|run| run.execution.outcome.ending == *seen).collect())
        };
        let config = ReduceConfig { max_questions: MAX_QUESTIONS, ..ReduceConfig::default() };
        let reduced = reduce(&failure.input, config, &mut fails)?;
        spent.target_runs += reduced.n_questions;
        if reduced.input == failure.input {
            return Ok(());
        }
        if let Some((ending, explained)) = self.confirm(&reduced.input, spent)?
            && explained.signature == failure.signature
        {
            let ProgramFailure { provenance, .. } = failure;
            self.ledger.fail(self::failure(reduced.input, ending, explained, provenance), &[])?;
        }
        Ok(())
    }
}

fn failure(input: Input, ending: Ending, explained: Explained, provenance: Provenance) -> ProgramFailure {
    let Explained { kind, signature, stack, report } = explained;
    ProgramFailure { signature, ending, kind, stack, report, input, provenance }
}
