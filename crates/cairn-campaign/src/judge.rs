//! The one place where candidates are judged.

use crate::{
    error::CampaignError,
    failures::{Failures, Look},
    kills::KillJudge,
    ledger::{Ledger, Tried},
    run::Parts,
    sampling::Sampling,
    sanitizers::{Sanitizers, Step},
    seeds::SEED,
};
use cairn_executor::{Session, SessionRun, Wants};
use cairn_model::{Budget, Ending, Input, ProgramFailure, Provenance, Spent};
use cairn_strategy::{Candidate, Finding, FindingKind, Seen, Stop, Unstable};
use std::time::Duration;

/// Judges the candidates of one worker.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    ledger: &'a Ledger<'a>,
    failures: Failures<'a>,
    sanitizers: Sanitizers<'a>,
    kills: Option<KillJudge<'a>>,
    path: Option<Session>,
    stop: &'a Stop,
}

impl<'a> Judge<'a> {
    /// With runners of its own.
    pub(crate) fn new(
        ledger: &'a Ledger<'a>,
        budget: &'a Budget,
        parts: &Parts<'a>,
    ) -> Result<Self, CampaignError> {
        let build = parts.sanitized.map(|make| make()).transpose()?;
        Ok(Self {
            ledger,
            failures: Failures::new(ledger, budget, parts)?,
            sanitizers: Sanitizers { ledger, build, sampling: Sampling::default(), budget, stop: parts.stop },
            kills: KillJudge::new(ledger, parts)?,
            path: parts.target.path()?,
            stop: parts.stop,
        })
    }

    /// How long a run of the bare build may take.
    pub(crate) fn wall_limit(&self) -> Duration {
        self.failures.wall_limit()
    }

    /// Says what a candidate is, and keeps it if it is worth keeping. Runs are added to `spent`.
    pub(crate) fn judge(
        &mut self,
        plain: &mut Session,
        strategy: &str,
        candidate: Candidate,
        spent: &mut Spent,
    ) -> Result<Finding, CampaignError> {
        let run = match candidate.failed {
            // Out of time for the second time, if it is.
            Some(Ending::TimedOut) => run_once(plain, &candidate.input, spent)?,
            _ => run(plain, &candidate.input, self.stop, spent)?,
        };
        let input = candidate.input.clone();
        let ending = run.execution.outcome.ending.clone();
        let mut kind = FindingKind::NothingNew;
        if let Some(seen) = failing(&ending, &candidate) {
            kind = match self.failures.judge(plain, seen, &run, strategy, candidate.clone(), spent)? {
                Look::Told(kind) => kind,
                Look::Unconfirmed { n_runs } => {
                    let seen = seen.clone();
                    self.unconfirmed(plain, seen, n_runs, strategy, candidate.clone(), spent)?
                }
            };
            if let FindingKind::Failure(failure) = &kind {
                self.look_into(plain, seen, failure, spent)?;
            }
        }
        // Anything else is not an input the program wants, or the sandbox ended it.
        if matches!(ending, Ending::Exited { .. }) && !matches!(kind, FindingKind::Failure(_)) {
            kind = self.success(plain, run, strategy, candidate, spent)?;
        }
        Ok(Finding { strategy: strategy.into(), input, kind })
    }

    /// What a candidate is that failed in the plain view and in none of `n_runs` of the bare build. One that only the clock ended
    /// may be slow: where all runs had little time, it has the whole of it now. A seed may also need more fuel than others.
    fn unconfirmed(
        &mut self,
        plain: &mut Session,
        seen: Ending,
        n_runs: u32,
        strategy: &str,
        candidate: Candidate,
        spent: &mut Spent,
    ) -> Result<FindingKind, CampaignError> {
        let (fuel, little) = (plain.config().run.fuel, plain.config().run.wall_limit);
        let may_be_slow = match seen {
            Ending::TimedOut => little < self.wall_limit(),
            Ending::OutOfFuel => strategy == SEED,
            _ => false,
        };
        if may_be_slow && n_runs > 0 && !self.stop.is_asked() {
            plain.set_fuel(0);
            plain.set_wall_limit(self.wall_limit());
            let input = candidate.input.clone();
            let kind = run_once(plain, &input, spent).and_then(|run| match run.execution.outcome.ending {
                Ending::Exited { .. } => {
                    self.success(plain, run, strategy, candidate.clone(), spent).map(Some)
                }
                _ => Ok(None),
            });
            plain.set_fuel(fuel);
            plain.set_wall_limit(little);
            if let Some(kind) = kind? {
                return Ok(kind);
            }
        }
        self.ledger.note_unconfirmed(&candidate.input, strategy, &seen, n_runs)?;
        Ok(FindingKind::Unconfirmed { ending: seen })
    }

    /// Whether samples of what strategies try are looked at.
    pub(crate) fn takes_samples(&self) -> bool {
        self.sanitizers.build.is_some()
    }

    /// Looks at samples of a step, as far as their share of the work allows. Runs are added to `spent`.
    pub(crate) fn look_at_samples(
        &mut self,
        plain: &mut Session,
        step: Step<'_>,
        spent: &mut Spent,
    ) -> Result<(), CampaignError> {
        self.sanitizers.look_at_samples(plain, step, spent)
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
        let is_new = self.ledger.is_new(&Seen::hits(&execution.counters));
        let kills = match &mut self.kills {
            Some(judge) => judge.confirm(&candidate.input, &candidate.kills, spent)?,
            None => Vec::new(),
        };
        if !is_new {
            if kills.is_empty() {
                return Ok(FindingKind::NothingNew);
            }
            if let Some(entry) = self.ledger.find(&candidate.input) {
                return self.ledger.note_kills(entry, strategy, &kills);
            }
        }
        let again = run(plain, &candidate.input, self.stop, spent)?;
        let unstable = Unstable::between(&execution.counters, &again.execution.counters);
        self.ledger.ignore(&unstable)?;
        let path_hash = self.path_hash(&candidate.input, spent)?;
        if self.ledger.is_new_path(path_hash) {
            spent.new_paths += 1;
        }
        let provenance = Provenance {
            parent: candidate.parent,
            strategy: strategy.into(),
            made_by: candidate.reason.clone(),
            kept_for: String::new(),
            found_after: Duration::ZERO,
        };
        let reported = self.sanitizers.look(&candidate.input, provenance, None, spent)?;
        let kind = self.ledger.keep(Tried {
            input: candidate.input,
            counters: execution.counters,
            fuel: execution.fuel_used,
            path_hash,
            parent: candidate.parent,
            strategy: strategy.into(),
            made_by: candidate.reason,
            kills,
        })?;
        if let Some(failure) = reported {
            self.sanitizers.make_small(plain, &execution.outcome.ending, failure, spent)?;
        }
        Ok(kind)
    }

    /// What sanitizers say about an input on which the program works.
    pub(crate) fn look_again(
        &mut self,
        plain: &mut Session,
        input: &Input,
        provenance: &Provenance,
        spent: &mut Spent,
    ) -> Result<(), CampaignError> {
        if let Some(reported) = self.sanitizers.look(input, provenance.clone(), None, spent)? {
            self.sanitizers.make_small(plain, &Ending::Exited { code: 0 }, reported, spent)?;
        }
        Ok(())
    }

    /// What sanitizers say about an input that crashes. One that fills time, memory or disk would do so there without a limit.
    pub(crate) fn look_into(
        &mut self,
        plain: &mut Session,
        seen: &Ending,
        failure: &ProgramFailure,
        spent: &mut Spent,
    ) -> Result<(), CampaignError> {
        if !matches!(failure.ending, Ending::Signalled { .. }) {
            return Ok(());
        }
        let provenance = failure.provenance.clone();
        if let Some(reported) = self.sanitizers.look(&failure.input, provenance, Some(failure), spent)? {
            self.sanitizers.make_small(plain, seen, reported, spent)?;
        }
        Ok(())
    }

    fn path_hash(&mut self, input: &Input, spent: &mut Spent) -> Result<u64, CampaignError> {
        let Some(path) = &mut self.path else { return Ok(0) };
        spent.target_runs += 1;
        Ok(path.run(input)?.execution.path_hash)
    }
}

/// How a candidate fails: now, or when it was tried. What ran out of time then and does not now had to wait for others.
fn failing<'a>(now: &'a Ending, candidate: &'a Candidate) -> Option<&'a Ending> {
    let then = candidate.failed.as_ref().filter(|ending| matches!(ending, Ending::Signalled { .. }));
    Some(now).filter(|ending| ending.is_failure()).or(then)
}

fn run(
    plain: &mut Session,
    input: &Input,
    stop: &Stop,
    spent: &mut Spent,
) -> Result<SessionRun, CampaignError> {
    patiently(|| run_once(plain, input, spent), |run| &run.execution.outcome.ending, stop)
}

fn run_once(plain: &mut Session, input: &Input, spent: &mut Spent) -> Result<SessionRun, CampaignError> {
    spent.target_runs += 1;
    let mut runs = plain.run_batch(std::slice::from_ref(input), Wants::COUNTERS)?;
    Ok(runs.pop().expect("one run for one input"))
}

/// Does once more what ran out of time, unless somebody asks to stop.
///
/// Runs of strategies have little time, and a worker shares its machine with others: any run may have to wait for longer than
/// that. What it had reached by then is no reason to call counters unstable, or the input one that hangs.
fn patiently<T>(
    mut once: impl FnMut() -> Result<T, CampaignError>,
    ending: impl Fn(&T) -> &Ending,
    stop: &Stop,
) -> Result<T, CampaignError> {
    let run = once()?;
    if *ending(&run) == Ending::TimedOut && !stop.is_asked() { once() } else { Ok(run) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of runs that end like these, and how many are made.
    fn check(endings: &[Ending]) -> (Ending, usize) {
        let mut n_runs = 0;
        let once = || {
            n_runs += 1;
            Ok(endings[n_runs - 1].clone())
        };
        let ending = patiently(once, |ending| ending, &Stop::default()).unwrap();
        (ending, n_runs)
    }

    #[test]
    fn a_crash_that_was_seen_once_is_looked_into() {
        let crash = Ending::Signalled { signal: 6 };
        let exited = Ending::Exited { code: 0 };
        let candidate = |failed: &Ending| Candidate {
            input: Input::default(),
            parent: None,
            reason: String::new(),
            kills: Vec::new(),
            failed: Some(failed.clone()),
        };
        assert_eq!(failing(&exited, &candidate(&crash)), Some(&crash));
        assert_eq!(failing(&Ending::OutOfFuel, &candidate(&crash)), Some(&Ending::OutOfFuel));
        assert_eq!(failing(&exited, &candidate(&Ending::TimedOut)), None);
    }

    #[test]
    fn only_what_is_out_of_time_twice_is_out_of_time() {
        let exited = || Ending::Exited { code: 0 };
        assert_eq!(check(&[exited()]), (exited(), 1));
        assert_eq!(check(&[Ending::TimedOut, exited()]), (exited(), 2));
        assert_eq!(check(&[Ending::TimedOut, Ending::TimedOut]), (Ending::TimedOut, 2));
        assert_eq!(check(&[Ending::OutOfFuel]), (Ending::OutOfFuel, 1));
    }
}
