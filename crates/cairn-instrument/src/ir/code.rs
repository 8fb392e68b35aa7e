//! What instructions compute, as plain data.

use super::{Definition, IrPlace};

/// The code of a module, functions in the order of [`IrModule::functions`](super::IrModule).
#[derive(Debug, Default)]
pub struct ModuleCode {
    /// Functions with a body.
    pub functions: Vec<FunctionCode>,
    /// Variables of the module.
    pub globals: Vec<GlobalVariable>,
}

/// The code of a function.
#[derive(Debug, Default, PartialEq)]
pub struct FunctionCode {
    /// Its blocks, with their instructions.
    pub blocks: Vec<Vec<Code>>,
    /// Its variables, as debug information declares them.
    pub locals: Vec<LocalVariable>,
    /// Whether its labels are used as values.
    pub has_label_values: bool,
}

impl FunctionCode {
    /// The instruction at a position.
    pub fn at(&self, at: Definition) -> &Code {
        &self.blocks[at.block][at.instruction]
    }
}

/// A parameter or local variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalVariable {
    /// Its `alloca`.
    pub storage: Definition,
    /// Its name in the source.
    pub name: String,
    /// Where its name stands.
    pub place: Option<IrPlace>,
}

/// A global variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalVariable {
    /// Its name in the bitcode.
    pub symbol: String,
    /// Its name in the source, if debug information tells.
    pub name: Option<String>,
    /// The file and line of its definition, likewise.
    pub line: Option<(u32, u32)>,
    /// Whether other units see it.
    pub is_external: bool,
}

/// One instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Code {
    /// What it does.
    pub opcode: Opcode,
    /// The type of its result.
    pub result: CodeType,
    /// What it does that with; of a call, its arguments.
    pub operands: Vec<CodeOperand>,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodeType {
    /// None.
    Void,
    /// An integer of so many bits.
    Int(u32),
    /// A floating-point number of so many bits.
    Float(u32),
    /// An address.
    Pointer,
    /// Anything else.
    Other,
}

/// What an instruction computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodeOperand {
    /// The result of another.
    Result(Definition),
    /// A parameter of the function.
    Argument(u32),
    /// A constant, sign-extended.
    Integer {
        /// Its width.
        bits: u32,
        /// Its value.
        value: i64,
    },
    /// A constant of 32 or 64 bits, as the bits of a double.
    Float {
        /// Its width.
        bits: u32,
        /// Its value.
        value: u64,
    },
    /// The null pointer.
    Null,
    /// A place in a global variable.
    Global {
        /// Which one in [`ModuleCode::globals`].
        global: u32,
        /// The distance from its start in bytes.
        offset: i64,
    },
    /// Anything else.
    Other,
}

/// What an instruction does, as far as expressions are concerned.
#[derive(Debug, Clone, PartialEq)]
pub enum Opcode {
    /// Storage for a variable.
    Alloca,
    /// Reads memory.
    Load {
        /// Whether it must happen as written.
        is_volatile: bool,
    },
    /// Writes memory: the value, then the address.
    Store {
        /// Whether it must happen as written.
        is_volatile: bool,
    },
    /// Moves a pointer; by how many bytes, if all indices are constant.
    ElementPointer {
        /// The distance.
        offset: Option<i64>,
    },
    /// An operation on numbers.
    Arithmetic(Arithmetic),
    /// A comparison.
    Compare(Predicate),
    /// A conversion to the result's type.
    Convert {
        /// Whether integers are extended or read with their sign.
        is_signed: bool,
    },
    /// A choice by its first operand.
    Select,
    /// A choice by the block control came from.
    Phi(Vec<usize>),
    /// A call.
    Call,
    /// A conditional branch, on its only operand.
    Branch,
    /// Returns its operand, if it has one.
    Return,
    /// Anything else.
    Other,
}

/// Operations on numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    SDiv,
    UDiv,
    SRem,
    URem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FNeg,
}

/// Comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "LLVM's names")]
pub enum Predicate {
    Eq,
    Ne,
    Sgt,
    Sge,
    Slt,
    Sle,
    Ugt,
    Uge,
    Ult,
    Ule,
    Oeq,
    Une,
    Ogt,
    Oge,
    Olt,
    Ole,
    OtherFloat,
}
