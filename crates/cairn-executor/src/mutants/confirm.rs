//! Kills that count only if a fresh process agrees.

use super::MutantSession;
use crate::{error::ExecutorError, executor::Execution, oracle::Reference};
use cairn_model::{Input, KillReason, MutantId};

/// What a fresh process says about a kill.
#[derive(Clone, Debug)]
pub enum Confirmation {
    /// The mutant gives itself away in the same way.
    Agreed,
    /// It does not: this is what it did.
    Disagreed(Box<Execution>),
}

impl MutantSession {
    /// Runs `mutant` on `input` in a fresh process and asks `reference` whether it is killed for `reason` there too.
    pub fn confirm(
        &mut self,
        input: &Input,
        mutant: MutantId,
        reason: KillReason,
        reference: &Reference<'_>,
    ) -> Result<Confirmation, ExecutorError> {
        let execution = self.run_fresh(input, Some(mutant))?;
        Ok(match reference.judge(&execution.outcome) {
            Some(again) if again == reason => Confirmation::Agreed,
            _ => Confirmation::Disagreed(Box::new(execution)),
        })
    }
}
