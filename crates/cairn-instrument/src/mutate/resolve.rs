//! Positions of anchors as values of one copy of the bitcode.
//!
//! Everything is looked up before anything is changed, because changes move positions.

use crate::{
    anchors::{Anchor, AnchoredFunction, At, LogicalAt, LogicalResult, OperandAt, VariableAt},
    ir::{Definition, instructions},
};
use cairn_model::mutants::ValueType;
use cairn_mutants::site::Operand;
use inkwell::llvm_sys::{core::*, prelude::*};
use std::ffi::CString;

/// A function with its anchors found.
pub struct ResolvedFunction {
    /// The function.
    pub function: LLVMValueRef,
    /// Where each spot is; `None` where the bitcode does not fit.
    pub anchors: Vec<Option<ResolvedAnchor>>,
    /// Where each variable is, and the type of its value.
    pub variables: Vec<(LLVMValueRef, Option<ValueType>)>,
}

/// Where a spot is.
pub struct ResolvedAnchor {
    /// What is replaced.
    pub at: ResolvedAt,
    /// Where operands are found.
    pub operands: Vec<ResolvedOperand>,
}

/// What a patch replaces.
pub enum ResolvedAt {
    /// The result of an instruction.
    Result(LLVMValueRef),
    /// Operands of instructions.
    Operands(Vec<(LLVMValueRef, u32)>),
    /// The negative of an operand.
    Negated(LLVMValueRef, u32),
    /// What a store writes, and all other uses of it.
    Stored(LLVMValueRef),
    /// A logical operator.
    Logical(ResolvedLogical),
}

/// A way out of a block: its terminator and a successor number.
pub type Way = (LLVMValueRef, u32);

/// A logical operator.
pub struct ResolvedLogical {
    /// Whether it is `&&`.
    pub is_and: bool,
    /// The ways out of the left side when it is true.
    pub left_true: Vec<Way>,
    /// The ways out of the left side when it is false.
    pub left_false: Vec<Way>,
    /// Where the right side begins.
    pub right: LLVMBasicBlockRef,
    /// How the result leaves.
    pub result: ResolvedResult,
}

/// How the result of a logical operator leaves it.
pub enum ResolvedResult {
    /// By branches.
    Branches {
        /// The ways out of the right side when it is true.
        right_true: Vec<Way>,
        /// The ways out of the right side when it is false.
        right_false: Vec<Way>,
        /// Where the whole goes when true.
        when_true: LLVMBasicBlockRef,
        /// Where the whole goes when false.
        when_false: LLVMBasicBlockRef,
    },
    /// By a phi.
    Phi {
        /// The phi.
        phi: LLVMValueRef,
        /// Where the right side arrives from.
        from: LLVMBasicBlockRef,
        /// The only use, if that makes a number of it.
        extended: Option<LLVMValueRef>,
    },
}

/// An operand of a spot.
#[derive(Clone, Copy)]
pub struct ResolvedOperand {
    /// Where it is found.
    pub place: OperandPlace,
    /// Its type, which for truth values in memory is not the type of what is there.
    pub value_type: ValueType,
}

/// Where an operand is found. What is there is read when it is needed, since patches change it.
#[derive(Clone, Copy, PartialEq)]
pub enum OperandPlace {
    /// The operand of an instruction.
    Operand(LLVMValueRef, u32),
    /// Its negative.
    Negated(LLVMValueRef, u32),
    /// The result of an instruction.
    Result(LLVMValueRef),
    /// What lies where a store will write.
    Target(LLVMValueRef),
}

/// Looks up all anchors of a function.
///
/// # Safety
/// `function` is the unchanged copy of the function the anchors were made for.
pub unsafe fn resolve(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    anchored: &AnchoredFunction,
) -> ResolvedFunction {
    let mut blocks = Vec::new();
    let mut content = Vec::new();
    // SAFETY: promised by the caller.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            blocks.push(block);
            content.push(instructions(block));
            block = LLVMGetNextBasicBlock(block);
        }
    }
    let lookup = Lookup { blocks, content };
    let anchors = anchored
        .anchors
        .iter()
        .enumerate()
        .map(|(index, anchor)| {
            let operands = anchored.mutable.spots.get(index).map_or(&[][..], |spot| &spot.operands);
            lookup.anchor(anchor, operands)
        })
        .collect();
    let variables = anchored
        .variables
        .iter()
        .zip(&anchored.mutable.variables)
        .map(|(at, variable)| {
            let place = match at {
                VariableAt::Local(at) => lookup.value(*at).unwrap_or(std::ptr::null_mut()),
                VariableAt::Global(symbol) => {
                    let symbol = CString::new(symbol.as_str()).unwrap_or_default();
                    // SAFETY: the module is alive.
                    unsafe { LLVMGetNamedGlobal(module, symbol.as_ptr()) }
                }
            };
            (place, variable.scalar)
        })
        .collect();
    ResolvedFunction { function, anchors, variables }
}

struct Lookup {
    blocks: Vec<LLVMBasicBlockRef>,
    content: Vec<Vec<LLVMValueRef>>,
}

impl Lookup {
    fn value(&self, at: Definition) -> Option<LLVMValueRef> {
        self.content.get(at.block)?.get(at.instruction).copied()
    }

    fn way(&self, (block, successor): &(usize, u32)) -> Option<Way> {
        Some((*self.content.get(*block)?.last()?, *successor))
    }

    fn ways(&self, ways: &[(usize, u32)]) -> Option<Vec<Way>> {
        ways.iter().map(|way| self.way(way)).collect()
    }

    fn anchor(&self, anchor: &Anchor, operands: &[Operand]) -> Option<ResolvedAnchor> {
        let at = match &anchor.at {
            At::Result(at) => ResolvedAt::Result(self.value(*at)?),
            At::Operand(at, number) => ResolvedAt::Operands(vec![(self.value(*at)?, *number)]),
            At::Operands(operands) => {
                let operands = operands.iter().map(|(at, number)| Some((self.value(*at)?, *number)));
                ResolvedAt::Operands(operands.collect::<Option<_>>()?)
            }
            At::Negated(at, number) => ResolvedAt::Negated(self.value(*at)?, *number),
            At::Stored(store) => ResolvedAt::Stored(self.value(*store)?),
            At::Logical(logical) => ResolvedAt::Logical(self.logical(logical)?),
        };
        let operands = anchor
            .operands
            .iter()
            .zip(operands)
            .map(|(at, operand)| {
                let place = match at {
                    OperandAt::Operand(at, number) => OperandPlace::Operand(self.value(*at)?, *number),
                    OperandAt::Negated(at, number) => OperandPlace::Negated(self.value(*at)?, *number),
                    OperandAt::Result(at) => OperandPlace::Result(self.value(*at)?),
                    OperandAt::Target(at) => OperandPlace::Target(self.value(*at)?),
                };
                Some(ResolvedOperand { place, value_type: operand.value_type })
            })
            .collect::<Option<_>>()?;
        Some(ResolvedAnchor { at, operands })
    }

    fn logical(&self, logical: &LogicalAt) -> Option<ResolvedLogical> {
        let result = match &logical.result {
            LogicalResult::Branches { right_true, right_false, when_true, when_false } => {
                ResolvedResult::Branches {
                    right_true: self.ways(right_true)?,
                    right_false: self.ways(right_false)?,
                    when_true: *self.blocks.get(*when_true)?,
                    when_false: *self.blocks.get(*when_false)?,
                }
            }
            LogicalResult::Phi { phi, from, extended } => ResolvedResult::Phi {
                phi: self.value(*phi)?,
                from: *self.blocks.get(*from)?,
                extended: match extended {
                    Some(at) => Some(self.value(*at)?),
                    None => None,
                },
            },
        };
        Some(ResolvedLogical {
            is_and: logical.is_and,
            left_true: self.ways(&logical.left_true)?,
            left_false: self.ways(&logical.left_false)?,
            right: *self.blocks.get(logical.right)?,
            result,
        })
    }
}
