//! What is done about an input on which the program fails.

use crate::{
    error::CampaignError,
    ledger::Ledger,
    reduce::{ReduceConfig, reduce},
    run::Parts,
    seeds::SEED,
    small::{ENDING, MAX_QUESTIONS, Small},
};
use cairn_executor::{Executor, ExecutorError, Explained, FailureExplainer, Session, SessionRun};
use cairn_model::{Budget, Ending, Input, ProgramFailure, Provenance, Spent};
use cairn_strategy::{Candidate, FindingKind, Stop};
use std::time::Duration;

/// Runs of the bare build before a crash is given up: some programs crash only now and then.
const CRASH_TRIES: u32 = 8;

/// The same for failures that take all the time a run may take.
const OTHER_TRIES: u32 = 2;

/// What came of a look at a candidate that was seen to fail.
#[derive(Debug)]
pub(crate) enum Look {
    /// What it is.
    Told(FindingKind),
    /// It failed in none of so many runs of the bare build; in none at all if nobody had time for one.
    Unconfirmed { n_runs: u32 },
}

/// Confirms, names and reduces failures.
#[derive(Debug)]
pub(crate) struct Failures<'a> {
    ledger: &'a Ledger<'a>,
    bare: Bare,
    budget: &'a Budget,
    stop: &'a Stop,
}

impl<'a> Failures<'a> {
    /// With runners of its own.
    pub(crate) fn new(
        ledger: &'a Ledger<'a>,
        budget: &'a Budget,
        parts: &Parts<'a>,
    ) -> Result<Self, CampaignError> {
        let bare = Bare { runner: parts.target.bare()?, explainer: parts.target.explainer()? };
        Ok(Self { ledger, bare, budget, stop: parts.stop })
    }

    /// How long a run of the bare build may take.
    pub(crate) fn wall_limit(&self) -> Duration {
        self.bare.runner.config().wall_limit
    }

    /// Says what a candidate is that was seen to fail in the plain view, by what `run` there hit. A new way to fail is kept at
    /// once, and then made small; what fails in no run of the bare build is for the caller to note.
    pub(crate) fn judge(
        &mut self,
        plain: &mut Session,
        seen: &Ending,
        run: &SessionRun,
        strategy: &str,
        candidate: Candidate,
        spent: &mut Spent,
    ) -> Result<Look, CampaignError> {
        if !self.ledger.is_worth_a_look(seen, &run.execution.counters, strategy == SEED) {
            return Ok(Look::Told(FindingKind::NothingNew));
        }
        let n_tries = tries(seen);
        // What crashes takes no time; for anything else nobody waits who was asked to end.
        let is_hurried = || self.stop.is_asked() && !matches!(seen, Ending::Signalled { .. });
        let confirmed = match is_hurried() {
            true => None,
            false => self.bare.confirm(&candidate.input, n_tries, &is_hurried, spent)?,
        };
        let Some((ending, explained)) = confirmed else {
            return Ok(Look::Unconfirmed { n_runs: if is_hurried() { 0 } else { n_tries } });
        };
        let provenance = Provenance {
            parent: candidate.parent,
            strategy: strategy.into(),
            made_by: candidate.reason,
            kept_for: "the program fails".into(),
            found_after: Duration::ZERO,
        };
        let signature = self.ledger.name_of(&explained);
        let failure = failure(candidate.input, signature, ending, explained, provenance);
        let kind = self.ledger.fail(failure.clone(), &run.execution.counters)?;
        if matches!(kind, FindingKind::Failure(_)) {
            self.make_small(plain, seen, failure, spent)?;
        }
        Ok(Look::Told(kind))
    }

    /// Keeps a smaller input that fails in the same way, if there is one.
    ///
    /// Inputs are tried in the live plain view, where that takes no time; what comes of it must fail on the bare build with
    /// the same signature. If it fails in another way by then, each step is asked about on the bare build, and fewer are made.
    /// A failure that only the clock shows is left as it is, because every question would take that long.
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
            let runs = plain.run_batch(inputs, ENDING)?;
            Ok(runs.iter().map(|run| run.execution.outcome.ending == *seen).collect())
        };
        let max_questions = MAX_QUESTIONS.min(self.ledger.runs_left(self.budget, spent));
        let is_enough = || self.stop.is_asked();
        let config = ReduceConfig { max_questions, is_enough: &is_enough, ..ReduceConfig::default() };
        let reduced = reduce(&failure.input, config, &mut fails)?;
        spent.target_runs += reduced.n_questions;
        let takes_long = !matches!(seen, Ending::Signalled { .. });
        if reduced.input == failure.input || takes_long && self.stop.is_asked() {
            return Ok(());
        }
        let fails_likewise = |found: &Option<(Ending, Explained)>| {
            found.as_ref().is_some_and(|(_, explained)| explained.is_same(&failure.signature))
        };
        let mut found = self.bare.confirm(&reduced.input, tries(seen), &|| false, spent)?;
        let mut input = reduced.input;
        // A hang takes all its time for each question, and without a stack there is little to tell failures apart by.
        let is_quick = matches!(failure.ending, Ending::Signalled { .. }) && !failure.stack.is_empty();
        if !fails_likewise(&found) && is_quick {
            let mut n_runs = Spent::default();
            let mut is_good = |candidate: &Input| -> Result<bool, ExecutorError> {
                let answer = self.bare.confirm(candidate, 1, &|| false, &mut n_runs)?;
                let is_good = fails_likewise(&answer);
                if is_good {
                    (found, input) = (answer, candidate.clone());
                }
                Ok(is_good)
            };
            let fits = |ending: &Ending| ending == seen;
            let max_questions = self.ledger.runs_left(self.budget, spent);
            let small = Small { plain, max_questions, stop: self.stop };
            small.make(&failure.input, &fits, &mut is_good, spent)?;
            spent.target_runs += n_runs.target_runs;
        }
        if fails_likewise(&found)
            && let Some((ending, explained)) = found
        {
            let ProgramFailure { signature, provenance, .. } = failure;
            let failure = self::failure(input, signature, ending, explained, provenance);
            self.ledger.fail(failure, &[])?;
        }
        Ok(())
    }
}

/// Says whether and how the bare build fails.
#[derive(Debug)]
struct Bare {
    runner: Executor,
    explainer: FailureExplainer,
}

impl Bare {
    /// How the bare build fails on an input in a fresh process, and why; `None` if it does not in `n_tries` runs, or somebody is in
    /// a hurry before that is known.
    fn confirm(
        &mut self,
        input: &Input,
        n_tries: u32,
        is_hurried: &dyn Fn() -> bool,
        spent: &mut Spent,
    ) -> Result<Option<(Ending, Explained)>, ExecutorError> {
        let Self { runner, explainer } = self;
        let run = || {
            spent.target_runs += 1;
            Ok(runner.run(input)?.outcome.ending)
        };
        let ending = first_that(n_tries, run, |ending| ending.is_failure() || is_hurried())?;
        if !ending.is_failure() || is_hurried() {
            return Ok(None);
        }
        // A run that does not fail tells nothing about where; of a hang that is no reason to wait once more.
        let n_tries = if matches!(ending, Ending::Signalled { .. }) { n_tries } else { 1 };
        let explain = || {
            spent.target_runs += 1;
            explainer.explain(input, &ending)
        };
        let explained = first_that(n_tries, explain, |explained| !explained.stack.is_empty())?;
        Ok(Some((ending, explained)))
    }
}

fn tries(seen: &Ending) -> u32 {
    if matches!(seen, Ending::Signalled { .. }) { CRASH_TRIES } else { OTHER_TRIES }
}

/// Does something until it comes out as wanted, at most so often; what came of it last.
fn first_that<T>(
    n_tries: u32,
    mut once: impl FnMut() -> Result<T, ExecutorError>,
    is_wanted: impl Fn(&T) -> bool,
) -> Result<T, ExecutorError> {
    let mut last = once()?;
    for _ in 1..n_tries {
        if is_wanted(&last) {
            break;
        }
        last = once()?;
    }
    Ok(last)
}

fn failure(
    input: Input,
    signature: String,
    ending: Ending,
    explained: Explained,
    provenance: Provenance,
) -> ProgramFailure {
    let Explained { kind, stack, report, .. } = explained;
    ProgramFailure { signature, ending, kind, stack, report, input, provenance }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_that_comes_now_and_then_is_waited_for() {
        let tried = |fails_at: u32, seen: &Ending| {
            let mut n_runs = 0;
            let once = || {
                n_runs += 1;
                Ok(n_runs == fails_at)
            };
            (first_that(tries(seen), once, |fails| *fails).unwrap(), n_runs)
        };
        let crash = Ending::Signalled { signal: 6 };
        assert_eq!(tried(1, &crash), (true, 1));
        assert_eq!(tried(8, &crash), (true, 8));
        assert_eq!(tried(9, &crash), (false, 8));
        assert_eq!(tried(3, &Ending::TimedOut), (false, 2));
    }
}
