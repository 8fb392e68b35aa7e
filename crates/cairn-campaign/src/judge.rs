//! The one place where candidates are judged.

use crate::{
    error::CampaignError,
    ledger::{Ledger, Tried},
};
use cairn_executor::{Executor, Session, SessionRun, WantedCounters, Wants};
use cairn_model::{Ending, Input, ProgramFailure, Provenance, Spent};
use cairn_strategy::{Candidate, Finding, FindingKind, Seen, TargetViews, Unstable};
use std::time::Duration;

const COUNTERS: Wants = Wants { counters: WantedCounters::Always, output: false };

/// Judges the candidates of one worker.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    ledger: &'a Ledger<'a>,
    bare: Executor,
    path: Option<Session>,
}

impl<'a> Judge<'a> {
    /// With runners of its own.
    pub(crate) fn new(ledger: &'a Ledger<'a>, target: &dyn TargetViews) -> Result<Self, CampaignError> {
        Ok(Self { ledger, bare: target.bare()?, path: target.path()? })
    }

    /// Says what a candidate is, and keeps it if it is worth keeping. Runs are added to `spent`.
    pub(crate) fn judge(
        &mut self,
        plain: &mut Session,
        strategy: &str,
        candidate: Candidate,
        spent: &mut Spent,
    ) -> Result<Finding, CampaignError> {
        let run = run(plain, &candidate.input, spent)?;
        let input = candidate.input.clone();
        let kind = match &run.execution.outcome.ending {
            ending if ending.is_failure() => self.failure(&run, strategy, candidate, spent)?,
            Ending::Exited { .. } => self.success(plain, run, strategy, candidate, spent)?,
            // The input is not one the program wants, or the sandbox ended it.
            _ => FindingKind::NothingNew,
        };
        Ok(Finding { strategy: strategy.into(), input, kind })
    }

    fn success(
        &mut self,
        plain: &mut Session,
        run_now: SessionRun,
        strategy: &str,
        candidate: Candidate,
        spent: &mut Spent,
    ) -> Result<FindingKind, CampaignError> {
        let execution = run_now.execution;
        if !self.ledger.is_new(&Seen::hits(&execution.counters)) {
            return Ok(FindingKind::NothingNew);
        }
        let again = run(plain, &candidate.input, spent)?;
        let unstable = Unstable::between(&execution.counters, &again.execution.counters);
        if !unstable.is_empty() {
            self.ledger.ignore(&unstable);
        }
        let path_hash = self.path_hash(&candidate.input, spent)?;
        if self.ledger.is_new_path(path_hash) {
            spent.new_paths += 1;
        }
        self.ledger.keep(Tried {
            input: candidate.input,
            counters: execution.counters,
            fuel: execution.fuel_used,
            path_hash,
            parent: candidate.parent,
            strategy: strategy.into(),
            made_by: candidate.reason,
        })
    }

    fn failure(
        &mut self,
        run: &SessionRun,
        strategy: &str,
        candidate: Candidate,
        spent: &mut Spent,
    ) -> Result<FindingKind, CampaignError> {
        if !self.ledger.is_new_way(&run.execution.outcome.ending, &run.execution.counters) {
            return Ok(FindingKind::NothingNew);
        }
        spent.target_runs += 1;
        let bare = self.bare.run(&candidate.input)?;
        let ending = bare.outcome.ending;
        if !ending.is_failure() {
            self.ledger.note_unconfirmed();
            return Ok(FindingKind::Unconfirmed { ending: run.execution.outcome.ending.clone() });
        }
        let kind = kind(&ending);
        let failure = ProgramFailure {
            signature: kind.clone(),
            kind,
            stack: Vec::new(),
            report: String::new(),
            input: candidate.input,
            provenance: Provenance {
                parent: candidate.parent,
                strategy: strategy.into(),
                made_by: candidate.reason,
                kept_for: "the program fails".into(),
                found_after: Duration::ZERO,
            },
            ending,
        };
        self.ledger.fail(failure, &run.execution.counters)
    }

    fn path_hash(&mut self, input: &Input, spent: &mut Spent) -> Result<u64, CampaignError> {
        let Some(path) = &mut self.path else { return Ok(0) };
        spent.target_runs += 1;
        Ok(path.run(input)?.execution.path_hash)
    }
}

fn run(plain: &mut Session, input: &Input, spent: &mut Spent) -> Result<SessionRun, CampaignError> {
    spent.target_runs += 1;
    let mut runs = plain.run_batch(std::slice::from_ref(input), COUNTERS)?;
    Ok(runs.pop().expect("one run for one input"))
}

fn kind(ending: &Ending) -> String {
    match ending {
        Ending::Signalled { signal } => format!("signal {signal}"),
        Ending::TimedOut | Ending::OutOfFuel => "hang".into(),
        Ending::OutOfMemory => "out of memory".into(),
        Ending::TooMuchOutput => "output without end".into(),
        _ => "failure".into(),
    }
}
