//! The values at a patch.

use super::{MutantSession, Watching, noted::Values};
use crate::{error::ExecutorError, session::SessionRun};
use cairn_abi::mutants::observes;
use cairn_model::{Input, MutantId, PatchId, SiteValue};

/// The most values that are kept of one run.
pub const MAX_VALUES: usize = 1 << 16;

/// Whose values are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observe {
    /// Those of the original at this patch.
    Original(PatchId),
    /// What this mutant makes of them, in its own execution.
    Mutant(MutantId),
}

/// The values at a patch in one run.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The run: the original's, or the mutant's.
    pub run: SessionRun,
    /// The values in the order of their evaluation, as many as were asked for and at most [`MAX_VALUES`].
    pub values: Vec<SiteValue>,
    /// How often the patch was evaluated.
    pub n_evaluations: u64,
}

impl MutantSession {
    /// Runs `input` and keeps the first `limit` values.
    pub fn observe(&mut self, input: &Input, what: Observe, limit: usize) -> Result<Observed, ExecutorError> {
        let (patch, selector) = match what {
            Observe::Original(patch) => {
                self.check_observable(patch)?;
                (patch, self.table.observing_selector(patch))
            }
            Observe::Mutant(mutant) => {
                let selector = self.selector(mutant)?;
                let patch = self.table.mutants[mutant.index()].patch;
                self.check_observable(patch)?;
                (patch, selector)
            }
        };
        let watching = Watching { observes: observes::RECORD, guidepost: None };
        let run = self.run_watched(input, patch, selector, watching)?;
        let values = Values::of(self.session.channel_of(&run.ran));
        let value_type = self.table.patches[patch.index()].value_type;
        Ok(Observed {
            values: values
                .kept(limit.min(MAX_VALUES))
                .map(|bits| SiteValue::from_bits(value_type, bits))
                .collect(),
            n_evaluations: values.n_evaluations(),
            run,
        })
    }
}
