//! Where each counter goes, in positions that hold for every copy of the same bitcode.

use crate::ir::Definition;
use cairn_model::{ConditionId, CounterId};

/// What to insert, by function in module order.
#[derive(Debug, Default)]
pub struct Plan {
    /// One list a function; empty for functions that are not counted.
    pub functions: Vec<Vec<Insert>>,
    /// How many counters there are.
    pub n_counters: u32,
    /// Where conditions are evaluated, by function in module order.
    pub marks: Vec<Vec<Mark>>,
}

/// Where a condition of the map is evaluated. Positions are those of the unchanged function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// By the branch at the end of a block.
    Branch {
        /// Block index.
        block: usize,
        /// Which.
        condition: ConditionId,
        /// Whether it is true when the branch's value is false.
        is_inverted: bool,
    },
    /// By a boolean that nothing branches on.
    Value {
        /// Where the boolean is computed.
        value: Definition,
        /// Where the condition is evaluated.
        at: ValueAt,
        /// Which.
        condition: ConditionId,
    },
    /// By the switch at the end of a block.
    Switch {
        /// Block index.
        block: usize,
        /// The condition of each way out, by successor number; the default is the first.
        conditions: Vec<Option<ConditionId>>,
    },
}

/// One thing to insert. Positions are those of the unchanged function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insert {
    /// Count when control comes to an instruction.
    Before {
        /// Block index.
        block: usize,
        /// Instruction index.
        instruction: usize,
        /// The counter.
        counter: CounterId,
    },
    /// Count when any of these ways out of a block is taken.
    Edges {
        /// Block index.
        block: usize,
        /// Successor numbers of its terminator, all leading to one block.
        successors: Vec<u32>,
        /// The counter.
        counter: CounterId,
    },
    /// Count a boolean: `base` when false, `base + 1` when true.
    Value {
        /// Where the boolean is computed.
        value: Definition,
        /// Where it is counted: the end of this block, or before this instruction.
        at: ValueAt,
        /// The counter for false.
        base: CounterId,
    },
    /// Count a boolean that the next block branches on.
    Test {
        /// Where the boolean is computed.
        value: Definition,
        /// The block that hands it over, at whose end it is counted.
        block: usize,
        /// The counters for false and true.
        counters: [CounterId; 2],
    },
}

/// Where a boolean is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueAt {
    /// Before the terminator of a block.
    EndOf(usize),
    /// Before an instruction.
    Before(Definition),
}
