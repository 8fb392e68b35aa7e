//! What happens in a run.

use cairn_abi::record::{Access, GuidepostState, Leaving};
use cairn_expr::{ExprId, RegionId};
use cairn_model::{ConditionId, FunctionId, SiteId};

/// One event of a run, with expressions in place of labels. No expression means that the value does not depend on the
/// input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A condition was evaluated.
    Conditional {
        /// Which; none for a branch that is no condition of the map: hidden ones, and those of library functions.
        condition: Option<ConditionId>,
        /// Its truth.
        direction: bool,
        /// The how manyth evaluation of this condition it is, from 1, among those that depend on the input; 0 for one that
        /// does not.
        occurrence: u32,
        /// What it is made of, of width 1. Its value need not be the direction: some conditions are compiled inverted.
        expression: Option<ExprId>,
    },
    /// Memory was accessed at an address that depends on the input.
    Address {
        /// The site of the access.
        site: u32,
        /// Whether it was a load or a store.
        access: Access,
        /// The address used.
        address: u64,
        /// How many bytes were accessed.
        length: u32,
        /// What the address is made of.
        expression: ExprId,
    },
    /// A site's expression was evaluated.
    SiteValue {
        /// Which site.
        site: SiteId,
        /// Which of the spots in the code where the site's value was found.
        spot: u16,
        /// How often it was evaluated there before.
        evaluation: u32,
        /// The how manyth evaluation there it is, from 1, among those that depend on the input; 0 for one that does not.
        occurrence: u32,
        /// The value's bits.
        value: u64,
        /// What it is made of.
        expression: Option<ExprId>,
        /// What its first two operands are made of.
        operands: [Option<ExprId>; 2],
    },
    /// An armed guidepost had its say.
    Guidepost {
        /// Which, as the host numbered it.
        guidepost: u32,
        /// What became of it.
        state: GuidepostState,
        /// How often its site was evaluated before.
        evaluation: u32,
        /// The value's bits.
        value: u64,
        /// What it is made of.
        expression: Option<ExprId>,
    },
    /// A function was entered.
    Enter {
        /// Which.
        function: FunctionId,
    },
    /// A function was left.
    Leave {
        /// Which.
        function: FunctionId,
        /// How.
        how: Leaving,
    },
    /// A part of the input was read.
    InputRead {
        /// Which region.
        region: RegionId,
        /// Where the part starts.
        offset: u64,
        /// How many bytes.
        length: u32,
    },
}

impl Event {
    /// What the event is about, if that depends on the input.
    pub fn expression(&self) -> Option<ExprId> {
        match self {
            Self::Conditional { expression, .. }
            | Self::SiteValue { expression, .. }
            | Self::Guidepost { expression, .. } => *expression,
            Self::Address { expression, .. } => Some(*expression),
            Self::Enter { .. } | Self::Leave { .. } | Self::InputRead { .. } => None,
        }
    }
}
