//! Ways in which a harness changes its buffer itself.

/// A function that a harness may define to change its buffer itself. A way is known by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HarnessWay {
    Mutator,
    CrossOver,
}

impl HarnessWay {
    pub(crate) const ALL: [Self; 2] = [Self::Mutator, Self::CrossOver];

    /// Their names for people, in order.
    pub(super) const NAMES: [&str; 2] = ["the harness's mutator", "the harness's cross-over"];

    /// The function.
    pub(crate) fn function(self) -> &'static str {
        match self {
            Self::Mutator => "LLVMFuzzerCustomMutator",
            Self::CrossOver => "LLVMFuzzerCustomCrossOver",
        }
    }
}
