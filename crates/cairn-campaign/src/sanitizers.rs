//! What a build with sanitizers says about inputs that are worth something.
//!
//! Such a build is too slow for every input that is tried, and finds what the others do not notice: an access a little beyond
//! an array harms nobody most of the time. So every input that is kept is run on it once, in a process of its own, before it
//! is kept; one that is stored was therefore looked at, whenever the campaign is killed.
//!
//! A mistake need not show in what an input reaches: the one byte too many takes no branch of its own. So samples of what
//! strategies try and do not propose are looked at, too, within a share of the work ([`Sampling`]).

use crate::{error::CampaignError, ledger::Ledger, sampling::Sampling, small::Small};
use cairn_executor::{Executor, ExecutorError, Explained, FailureExplainer, Session};
use cairn_model::{Budget, Ending, Input, ProgramFailure, Provenance, Spent};
use cairn_strategy::{Sample, Stop};
use std::time::{Duration, Instant};

/// A build with sanitizers, ready to run.
#[derive(Debug)]
pub struct SanitizedBuild {
    /// Runs it.
    pub runner: Executor,
    /// Reads what it reports.
    pub explainer: FailureExplainer,
}

/// Looks at inputs with sanitizers; without a build it finds nothing.
#[derive(Debug)]
pub(crate) struct Sanitizers<'a> {
    pub(crate) ledger: &'a Ledger<'a>,
    pub(crate) build: Option<SanitizedBuild>,
    pub(crate) sampling: Sampling,
    pub(crate) budget: &'a Budget,
    pub(crate) stop: &'a Stop,
}

/// A step of a strategy.
pub(crate) struct Step<'a> {
    /// Whose.
    pub(crate) strategy: &'a str,
    /// Inputs it tried.
    pub(crate) n_inputs: u64,
    /// The time it took, where time is limited.
    pub(crate) took: Option<Duration>,
    /// What it handed over.
    pub(crate) samples: Vec<Sample>,
}

impl Sanitizers<'_> {
    /// Runs an input. A report of something new is stored, and returned to be made small.
    ///
    /// A report about the place where the bare build fails as `known` is no second mistake. What a build with sanitizers does
    /// without a report, such as taking longer, says nothing about the program.
    pub(crate) fn look(
        &mut self,
        input: &Input,
        provenance: Provenance,
        known: Option<&ProgramFailure>,
        spent: &mut Spent,
    ) -> Result<Option<ProgramFailure>, CampaignError> {
        let Some(build) = &mut self.build else { return Ok(None) };
        spent.target_runs += 1;
        let ending = build.runner.run(input)?.outcome.ending;
        if !matches!(ending, Ending::Signalled { .. }) {
            return Ok(None);
        }
        spent.target_runs += 1;
        let explained = build.explainer.explain(input, &ending)?;
        let Explained { kind, signature, stack, report, .. } = explained;
        if !cairn_executor::is_sanitizer_report(&kind) {
            return Ok(None);
        }
        let failure = ProgramFailure {
            signature,
            ending,
            kind,
            stack,
            report,
            input: input.clone(),
            provenance: Provenance { kept_for: "a sanitizer reports it".into(), ..provenance },
        };
        if known.is_some_and(|known| place(known) == place(&failure)) {
            return Ok(None);
        }
        Ok(self.ledger.report(failure.clone())?.then_some(failure))
    }

    /// Looks at samples of a step, as far as their share of the work allows.
    pub(crate) fn look_at_samples(
        &mut self,
        plain: &mut Session,
        step: Step<'_>,
        spent: &mut Spent,
    ) -> Result<(), CampaignError> {
        let is_timed = step.took.is_some();
        self.sampling.worked(step.n_inputs, step.took, step.samples);
        while !self.stop.is_asked()
            && let Some(sample) = self.sampling.next(is_timed)
        {
            let start = Instant::now();
            let provenance = Provenance {
                parent: sample.parent,
                strategy: step.strategy.into(),
                made_by: sample.reason,
                kept_for: String::new(),
                found_after: Duration::ZERO,
            };
            let reported = self.look(&sample.input, provenance, None, spent)?;
            self.sampling.looked(is_timed.then(|| start.elapsed()));
            if let Some(failure) = reported {
                // Only inputs on which the target works are handed over.
                self.make_small(plain, &Ending::Exited { code: 0 }, failure, spent)?;
            }
        }
        Ok(())
    }

    /// Keeps a smaller input with the same report, if there is one; `seen` is how the input ended in the plain view.
    pub(crate) fn make_small(
        &mut self,
        plain: &mut Session,
        seen: &Ending,
        failure: ProgramFailure,
        spent: &mut Spent,
    ) -> Result<(), CampaignError> {
        let Some(build) = &mut self.build else { return Ok(()) };
        let fits = |ending: &Ending| match seen {
            // Most programs say by their status whether they liked an input, which has nothing to do with the report.
            Ending::Exited { .. } => matches!(ending, Ending::Exited { .. }),
            seen => ending == seen,
        };
        let mut last: Option<(Input, Explained)> = None;
        let mut n_runs = 0;
        let mut is_good = |input: &Input| -> Result<bool, ExecutorError> {
            n_runs += 1;
            let explained = build.explainer.explain(input, &failure.ending)?;
            let is_same = explained.signature == failure.signature;
            if is_same {
                last = Some((input.clone(), explained));
            }
            Ok(is_same)
        };
        let max_questions = self.ledger.runs_left(self.budget, spent);
        let small = Small { plain, max_questions, stop: self.stop };
        small.make(&failure.input, &fits, &mut is_good, spent)?;
        spent.target_runs += n_runs;
        let Some((input, explained)) = last else { return Ok(()) };
        let Explained { kind, signature, stack, report, .. } = explained;
        self.ledger.report(ProgramFailure { signature, kind, stack, report, input, ..failure })?;
        Ok(())
    }
}

/// The part of a signature that says where.
fn place(failure: &ProgramFailure) -> &str {
    failure.signature.strip_prefix(&failure.kind).unwrap_or(&failure.signature)
}
