//! Runs with a guidepost armed.

use super::{MutantSession, Watching, noted::Values};
use crate::{error::ExecutorError, session::SessionRun};
use cairn_abi::mutants::{self as abi, MAX_GUIDEPOST_VALUES, ValueKind, observes};
use cairn_model::{
    Ending, Guidepost, Input, SiteValue,
    guidepost::{Predicate, When},
    mutants::ValueType,
};

/// A run with a guidepost armed.
#[derive(Clone, Debug)]
pub struct Guided {
    /// The run; it ended as [`Ending::GuidepostBroken`] where the guidepost was.
    pub run: SessionRun,
    /// What became of the guidepost.
    pub end: GuidedEnd,
}

/// What became of a guidepost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuidedEnd {
    /// Its patch was not evaluated.
    NeverReached,
    /// So many evaluations satisfied it, and none broke it.
    Satisfied(u64),
    /// It was broken.
    Broken,
}

impl MutantSession {
    /// Runs `input` as the original, up to the end or to where it breaks `guidepost`.
    pub fn guide(&mut self, input: &Input, guidepost: &Guidepost) -> Result<Guided, ExecutorError> {
        self.check_observable(guidepost.patch)?;
        let patch = &self.table.patches[guidepost.patch.index()];
        let armed = arm(guidepost, patch.value_type)?;
        let selector = match guidepost.predicate {
            Predicate::DiffersFromMutant(mutant) => {
                let selector = self.selector(mutant)?;
                if self.table.mutants[mutant.index()].patch != guidepost.patch {
                    let reason = format!("mutant {} belongs to another patch", mutant.0);
                    return Err(ExecutorError::Guidepost { reason });
                }
                selector
            }
            _ => self.table.observing_selector(guidepost.patch),
        };
        let watching = Watching {
            observes: observes::GUIDEPOST | observes::KEEP_ORIGINAL,
            guidepost: Some(Box::new(armed)),
        };
        let run = self.run_watched(input, guidepost.patch, selector, watching)?;
        let values = Values::of(self.session.channel_of(&run.ran));
        let is_broken = values.is_broken() || run.execution.outcome.ending == Ending::GuidepostBroken;
        let end = match values.n_satisfied() {
            _ if is_broken => GuidedEnd::Broken,
            0 => GuidedEnd::NeverReached,
            n_satisfied => GuidedEnd::Satisfied(n_satisfied),
        };
        Ok(Guided { run, end })
    }
}

/// The guidepost as the runtime reads it.
pub(crate) fn arm(guidepost: &Guidepost, value_type: ValueType) -> Result<abi::Guidepost, ExecutorError> {
    let (predicate, values): (_, Vec<SiteValue>) = match &guidepost.predicate {
        Predicate::OneOf(values) => (abi::Predicate::OneOf, values.clone()),
        Predicate::NoneOf(values) => (abi::Predicate::NoneOf, values.clone()),
        Predicate::Between(least, greatest) => (abi::Predicate::Between, vec![*least, *greatest]),
        Predicate::DiffersFromMutant(_) => (abi::Predicate::DiffersFromMutant, Vec::new()),
    };
    let wrong = |reason| ExecutorError::Guidepost { reason };
    if values.len() > MAX_GUIDEPOST_VALUES {
        let n_values = values.len();
        return Err(wrong(format!(
            "it lists {n_values} values, and can list {MAX_GUIDEPOST_VALUES} at most"
        )));
    }
    let (kind, bits) = match value_type {
        ValueType::Bool => (ValueKind::Unsigned, 1),
        ValueType::Int { bits, is_signed: true } => (ValueKind::Signed, bits),
        ValueType::Int { bits, is_signed: false } => (ValueKind::Unsigned, bits),
        ValueType::Float { bits } => (ValueKind::Float, bits),
        ValueType::Pointer => (ValueKind::Unsigned, 64),
    };
    let mut armed = abi::Guidepost {
        when: match guidepost.when {
            When::First => abi::When::First,
            When::Every => abi::When::Every,
        } as u32,
        predicate: predicate as u32,
        kind: kind as u32,
        bits: u32::from(bits),
        n_values: values.len() as u32,
        ..abi::Guidepost::NONE
    };
    for (place, value) in armed.values.iter_mut().zip(values) {
        *place = value
            .to_bits(value_type)
            .ok_or_else(|| wrong(format!("`{value}` is no value of the patch's type")))?;
    }
    Ok(armed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::PatchId;

    const INT: ValueType = ValueType::Int { bits: 32, is_signed: true };

    fn guidepost(predicate: Predicate) -> Guidepost {
        Guidepost { patch: PatchId(0), when: When::Every, predicate }
    }

    #[test]
    fn a_set_that_is_too_large_says_so() {
        let values = |n: i64| Predicate::OneOf((0..n).map(SiteValue::Signed).collect());
        assert!(arm(&guidepost(values(256)), INT).is_ok());
        let error = arm(&guidepost(values(257)), INT).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot arm the guidepost: it lists 257 values, and can list 256 at most"
        );
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        let error = arm(&guidepost(Predicate::NoneOf(vec![SiteValue::Bool(true)])), INT).unwrap_err();
        assert_eq!(error.to_string(), "cannot arm the guidepost: `true` is no value of the patch's type");
    }

    #[test]
    fn negative_numbers_are_armed_with_the_width_of_the_patch() {
        let range = Predicate::Between(SiteValue::Signed(-2), SiteValue::Signed(7));
        let armed = arm(&guidepost(range), INT).unwrap();
        assert_eq!((armed.values[0], armed.values[1], armed.bits), (0xffff_fffe, 7, 32));
        assert!(armed.admits(0, 0, 0xffff_ffff) && !armed.admits(0, 0, 8));
    }
}
