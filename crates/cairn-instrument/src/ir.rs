//! The bitcode as plain data.
//!
//! [`read_module`] walks a module once and copies what analyses need: blocks, places, calls, conditions. The
//! analyses never see LLVM, so they can be tested on hand-written data, and what they decide is expressed in
//! positions (function, block, instruction) that hold for every fresh copy of the same bitcode.
//!
//! [`read_code`] copies the rest: what each instruction computes from what. Only the search for source expressions
//! asks for it.

mod code;
mod debug;
mod read;
mod read_code;

pub use code::{
    Arithmetic, Code, CodeOperand, CodeType, FunctionCode, GlobalVariable, LocalVariable, ModuleCode, Opcode,
    Predicate,
};
pub use debug::normalise;
pub use read::{instructions, read_module, walk_functions};
pub use read_code::read_code;

/// One module.
#[derive(Debug, Default)]
pub struct IrModule {
    /// The source files places refer to: absolute paths.
    pub files: Vec<String>,
    /// Functions with a body, in module order.
    pub functions: Vec<IrFunction>,
}

/// One function with a body.
#[derive(Debug)]
pub struct IrFunction {
    /// The name in the bitcode.
    pub symbol: String,
    /// What debug information says of it.
    pub source: Option<IrSource>,
    /// Its blocks in order, the entry first.
    pub blocks: Vec<IrBlock>,
    /// Whether it is `naked`: nothing may be inserted into it.
    pub is_naked: bool,
    /// Whether its address is used other than by calling it.
    pub address_taken: bool,
    /// Its type, printed.
    pub signature: String,
}

/// What debug information says of a function.
#[derive(Debug, Clone)]
pub struct IrSource {
    /// The name without scope, with template arguments.
    pub name: String,
    /// The mangled name, empty in C.
    pub linkage_name: String,
    /// The file it is defined in, an index into [`IrModule::files`].
    pub file: u32,
    /// The line of its name.
    pub line: u32,
    /// The key of the translation unit, if `cairn-cc` compiled it.
    pub unit_key: Option<String>,
}

/// Whether a function that debug information calls `name` is the one called `written`, or an instance of that.
pub fn is_named(name: &str, written: &str) -> bool {
    let is_list = |rest: &str| rest.starts_with('<') && rest.ends_with('>');
    name.strip_prefix(written).is_some_and(|rest| rest.is_empty() || is_list(rest))
}

/// A block.
#[derive(Debug, Default)]
pub struct IrBlock {
    /// Its instructions, the terminator last.
    pub instructions: Vec<IrInstruction>,
}

/// A place from debug information. Line 0 is never stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IrPlace {
    /// Index into [`IrModule::files`].
    pub file: u32,
    /// Line.
    pub line: u32,
    /// Column; 0 when unknown.
    pub column: u32,
}

/// An instruction.
#[derive(Debug)]
pub struct IrInstruction {
    /// Where it comes from.
    pub place: Option<IrPlace>,
    /// What it does, as far as it matters here.
    pub kind: IrKind,
}

/// Where a value is defined: a block and an instruction in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Definition {
    /// Block index.
    pub block: usize,
    /// Instruction index.
    pub instruction: usize,
}

/// What instructions do.
#[derive(Debug)]
pub enum IrKind {
    /// A call that stays in the block.
    Call(Callee),
    /// A call that may unwind: its successors are the normal and the unwinding one.
    Invoke(Callee, [usize; 2]),
    /// A choice between boolean values by the block control came from.
    BoolPhi {
        /// Where each value is computed, unless it is a constant, and the block it comes from.
        incoming: Vec<(Option<Definition>, usize)>,
        /// What all constants among them are, if they are the same.
        constant: Option<bool>,
    },
    /// `xor i1 x, true`.
    Not(Option<Definition>),
    /// `select i1 c, a, b` with a condition defined by an instruction.
    Select(Option<Definition>),
    /// An unconditional branch.
    Jump(usize),
    /// A conditional branch: its condition, where to when true, where to when false.
    Branch(Option<Definition>, [usize; 2]),
    /// A switch.
    Switch(IrSwitch),
    /// The function returns.
    Return,
    /// Control never comes here.
    Unreachable,
    /// Another terminator (computed goto, resume, callbr), with its successors.
    OtherEnd(Vec<usize>),
    /// Anything else; whether it can end the program (a load through a pointer, a division).
    Other {
        /// Whether it can crash.
        can_crash: bool,
    },
}

/// A switch: successor 0 is the default, successor `n + 1` is case `n`.
#[derive(Debug)]
pub struct IrSwitch {
    /// Where unlisted values go.
    pub default: usize,
    /// Values, sign-extended, with their blocks.
    pub cases: Vec<(i64, usize)>,
    /// The width of the value in bits.
    pub bits: u32,
}

/// Whom a call reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Callee {
    /// An LLVM intrinsic or inline assembly: always returns here.
    Intrinsic,
    /// A function with a body, by index.
    Defined(usize),
    /// A function outside the module; whether it is marked as never returning.
    External {
        /// Its name.
        name: String,
        /// Whether it never returns.
        no_return: bool,
    },
    /// Through a pointer, with the function type printed.
    Indirect(String),
}

impl IrBlock {
    /// The last instruction.
    pub fn end(&self) -> &IrKind {
        &self.instructions.last().expect("a block has a terminator").kind
    }

    /// The blocks control may go to, one entry per edge.
    pub fn successors(&self) -> Vec<usize> {
        match self.end() {
            IrKind::Jump(to) => vec![*to],
            IrKind::Branch(_, ways) | IrKind::Invoke(_, ways) => ways.to_vec(),
            IrKind::Switch(switch) => {
                std::iter::once(switch.default).chain(switch.cases.iter().map(|(_, to)| *to)).collect()
            }
            IrKind::OtherEnd(ways) => ways.clone(),
            _ => Vec::new(),
        }
    }
}
