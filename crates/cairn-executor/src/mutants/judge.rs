//! What mutants are concluded to be, with a comparison of the user's where there is one.

use super::{MutantSession, layout};
use crate::{
    compare::{CompareCommand, Compared},
    error::ExecutorError,
    executor::Execution,
    oracle::{Judged, Oracle, Reference, needs_confirmation},
    session::{Ran, SessionRun},
};
use cairn_model::{Input, KillReason, MutantId, Outcome, Verdict};

/// A mutant view, what counts in outcomes, and who compares them.
#[derive(Debug)]
pub struct MutantJudge {
    /// Runs the mutant view.
    pub session: MutantSession,
    /// What counts.
    pub oracle: Oracle,
    comparing: Comparing,
}

/// Who compares outputs that differ.
#[derive(Debug, Default)]
pub enum Comparing {
    /// Nobody: what differs differs.
    #[default]
    Bytes,
    /// The program's own `cairn_compare`.
    Function,
    /// A command of the user's.
    Command(Box<CompareCommand>),
}

/// What has to happen before a kill counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirming {
    /// A fresh process agrees.
    First {
        /// Whether memory is laid out otherwise there: only where the original does not mind.
        elsewhere: bool,
    },
    /// Kills of this mutant were confirmed before, on another input: a fresh process agrees with those that a process in which
    /// others ran before may have caused.
    Known {
        /// Likewise.
        elsewhere: bool,
    },
    /// A fresh process agrees with those that a busy machine may have caused; somebody will look at all of them again.
    Later,
}

impl Confirming {
    fn elsewhere(self) -> bool {
        matches!(self, Self::First { elsewhere: true } | Self::Known { elsewhere: true })
    }

    /// Whether a kill counts as it is.
    fn is_enough(self, reason: KillReason, is_unstable: bool, ran: &Ran) -> bool {
        let may_be_busy = matches!(reason, KillReason::Timeout | KillReason::Memory);
        // A run that was made in a fresh process needs no other like it, unless a busy machine may be to blame.
        let is_fresh = *ran != Ran::Live && !self.elsewhere() && !may_be_busy;
        is_fresh
            || match self {
                Self::First { .. } => false,
                Self::Known { .. } => !needs_confirmation(reason) && !is_unstable,
                Self::Later => !may_be_busy,
            }
    }
}

/// What a run of a mutant came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concluded {
    /// The verdict, after a fresh process where one was asked.
    pub judged: Judged,
    /// Whether a fresh process agreed with a kill; `None` if none was asked.
    pub is_confirmed: Option<bool>,
}

impl MutantJudge {
    /// With what counts, and who compares.
    pub fn new(session: MutantSession, oracle: Oracle, comparing: Comparing) -> Self {
        Self { session, oracle, comparing }
    }

    /// What follows from an outcome; where the user's comparison fails, nothing does.
    pub fn judge(&mut self, reference: &Reference<'_>, outcome: &Outcome) -> Result<Judged, ExecutorError> {
        Ok(match &mut self.comparing {
            Comparing::Bytes => Judged::Verdict(reference.verdict(outcome)),
            Comparing::Function => {
                let session = &mut self.session;
                reference.judge_with(outcome, |one, other| session.compare(one, other))?
            }
            Comparing::Command(command) => {
                reference.judge_with(outcome, |one, other| command.compare(one, other))?
            }
        })
    }

    /// The verdict of one run. A kill counts if a fresh process agrees.
    pub fn conclude(
        &mut self,
        input: &Input,
        reference: &Reference<'_>,
        mutant: MutantId,
        run: &SessionRun,
        confirming: Confirming,
    ) -> Result<Concluded, ExecutorError> {
        let unasked = |judged| Ok(Concluded { judged, is_confirmed: None });
        if self.is_refused_more(input, &run.execution)? {
            return unasked(Judged::Verdict(Verdict::Undecided));
        }
        let judged = self.judge(reference, &run.execution.outcome)?;
        let Judged::Verdict(Verdict::Killed(reason)) = judged else { return unasked(judged) };
        let is_unstable = !reference.masks.is_empty() && reason == KillReason::Output;
        if confirming.is_enough(reason, is_unstable, &run.ran) {
            return unasked(judged);
        }
        self.conclude_fresh(input, reference, mutant, confirming.elsewhere())
    }

    /// The verdict of a kill that a fresh process has to agree with.
    fn conclude_fresh(
        &mut self,
        input: &Input,
        reference: &Reference<'_>,
        mutant: MutantId,
        elsewhere: bool,
    ) -> Result<Concluded, ExecutorError> {
        let again = match elsewhere {
            true => self.session.run_fresh(&layout::elsewhere(input), Some(mutant))?,
            false => self.session.run_fresh(input, Some(mutant))?,
        };
        if self.is_refused_more(input, &again)? {
            return Ok(Concluded { judged: Judged::Verdict(Verdict::Undecided), is_confirmed: None });
        }
        // What it does in a fresh process is what counts.
        let again = self.judge(reference, &again.outcome)?;
        Ok(match again {
            Judged::Verdict(Verdict::Killed(_)) => Concluded { judged: again, is_confirmed: Some(true) },
            Judged::Verdict(Verdict::Survived | Verdict::LayoutDependent) => {
                Concluded { judged: Judged::Verdict(Verdict::LayoutDependent), is_confirmed: Some(false) }
            }
            Judged::Verdict(Verdict::Undecided) | Judged::CompareFailed(_) => {
                Concluded { judged: again, is_confirmed: None }
            }
        })
    }

    /// Whether the sandbox refused a mutant something that the original does not ask for: what it would have done is not known. Only
    /// fresh processes tell; calls that are refused lead to one.
    fn is_refused_more(&mut self, input: &Input, mutant: &Execution) -> Result<bool, ExecutorError> {
        if mutant.refused.is_empty() {
            return Ok(false);
        }
        let original = self.session.run_fresh(input, None)?;
        Ok(mutant.refused.iter().any(|call| !original.refused.contains(call)))
    }

    /// Whether the user compares outputs.
    pub fn has_comparison(&self) -> bool {
        !matches!(self.comparing, Comparing::Bytes)
    }

    /// Whether two outputs are the same, as the user sees it.
    pub fn compares_equal(&mut self, one: &[u8], other: &[u8]) -> Result<bool, ExecutorError> {
        let compared = match &mut self.comparing {
            Comparing::Bytes => return Ok(one == other),
            Comparing::Function => self.session.compare(one, other)?,
            Comparing::Command(command) => command.compare(one, other)?,
        };
        Ok(compared == Compared::Same)
    }
}
