//! An input, and which mutant of the target it is for.

use super::why::WhyFresh;
use cairn_abi::session::InputSlot;
use cairn_model::Input;

/// One run that is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Job<'a> {
    /// What the run is given.
    pub(crate) input: &'a Input,
    /// What is active in it.
    pub(crate) activation: Activation,
    /// Why it has to be run in a fresh process, if the caller knows that.
    pub(crate) why_fresh: Option<WhyFresh>,
}

impl<'a> Job<'a> {
    /// A run of the original.
    pub(crate) fn original(input: &'a Input) -> Self {
        Self { input, activation: Activation::default(), why_fresh: None }
    }
}

/// What is active in a run of a mutant view; by default nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Activation {
    /// The selector of a mutant or patch; 0 for none.
    pub(crate) selector: u32,
    /// Whether every function runs its examined body.
    pub(crate) examines: bool,
}

impl Activation {
    pub(super) fn of(self, slot: InputSlot) -> InputSlot {
        InputSlot { selector: self.selector, examines: u32::from(self.examines), ..slot }
    }
}
