//! Carries a plan of basic paths out on a module.

use super::{Change, PathInsert, PathPlan, Spot};
use crate::{
    ir::{instructions, walk_functions},
    lower::{Lowering, edges::position_on_edges, may_stand_before, own_function},
};
use cairn_abi::view::ViewKind;
use inkwell::{
    llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode::*, LLVMTailCallKind, core::*, prelude::*},
    module::Module,
};

/// Makes a module a view whose counters are the basic paths.
///
/// Each function keeps the number of the path it is on in a variable, which optimisation turns into a register:
///
/// ```text
///   %path = alloca i64
///   store i64 ENTRY, ptr %path                         at the entry
///   %n = load i64, ptr %path; add; store               on edges
///   %n = load i64, ptr %path; count @__cairn_counters + 64 + %n
/// ```
pub fn lower(module: &Module, plan: &PathPlan, map_hash: &[u8; 32]) {
    let lowering = Lowering::new(module, plan.n_paths, ViewKind::BasicPaths);
    for (function, inserts) in walk_functions(module).into_iter().zip(&plan.functions) {
        // SAFETY: the plan was made from the same bitcode, so every position exists.
        unsafe {
            if !inserts.is_empty() && !stays_unoptimised(function) {
                own_function(function);
                insert(&lowering, function, inserts);
            }
        }
    }
    lowering.complete(plan.n_paths, ViewKind::BasicPaths, map_hash);
}

/// Whether the number would stay in memory, where it is not what it was when `setjmp` returns again.
///
/// # Safety
/// The function belongs to a live module.
unsafe fn stays_unoptimised(function: LLVMValueRef) -> bool {
    // SAFETY: promised by the caller.
    unsafe {
        let name = "optnone";
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        !LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind).is_null()
    }
}

/// # Safety
/// The function belongs to the live module and is unchanged, and all positions exist in it.
unsafe fn insert(lowering: &Lowering, function: LLVMValueRef, inserts: &[PathInsert]) {
    // SAFETY: promised by the caller. Positions are looked up before anything moves.
    unsafe {
        let blocks = blocks_of(function);
        let end_of = |block: usize| *blocks[block].last().expect("a block has a terminator");
        let builder = lowering.builder;
        LLVMPositionBuilderBefore(builder, blocks[0][0]);
        let path = LLVMBuildAlloca(builder, LLVMInt64TypeInContext(lowering.context), c"cairn.path".as_ptr());
        for PathInsert { at, changes } in inserts {
            if let Spot::Before { block, instruction } = at {
                LLVMPositionBuilderBefore(builder, insertion_point(&blocks[*block], *instruction));
                change(lowering, path, changes);
            }
        }
        // Afterwards, because it may stand at the start of a block, before what is done there.
        for PathInsert { at, changes } in inserts {
            if let Spot::Edges { block, successors } = at {
                position_on_edges(builder, lowering.context, end_of(*block), successors);
                change(lowering, path, changes);
            }
        }
    }
}

/// # Safety
/// The function belongs to a live module.
unsafe fn blocks_of(function: LLVMValueRef) -> Vec<Vec<LLVMValueRef>> {
    // SAFETY: promised by the caller.
    unsafe {
        let mut blocks = Vec::new();
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            blocks.push(instructions(block));
            block = LLVMGetNextBasicBlock(block);
        }
        blocks
    }
}

/// Where to insert what happens when control comes to an instruction of a block.
///
/// # Safety
/// The instructions are those of a block of a live module.
unsafe fn insertion_point(block: &[LLVMValueRef], instruction: usize) -> LLVMValueRef {
    // SAFETY: promised by the caller. A block's terminator is none of the instructions that are passed over.
    unsafe {
        let at = (instruction..block.len() - 1).find(|at| may_stand_before(block[*at]));
        let at = at.unwrap_or(block.len() - 1);
        // Nothing may stand between such a call and the return.
        let is_bound = |instruction: LLVMValueRef| {
            LLVMGetInstructionOpcode(instruction) == LLVMCall
                && LLVMGetTailCallKind(instruction) == LLVMTailCallKind::LLVMTailCallKindMustTail
        };
        match at.checked_sub(1).map(|before| block[before]).filter(|before| is_bound(*before)) {
            Some(call) => call,
            None => block[at],
        }
    }
}

/// Emits changes of the number in `path` at the builder's position.
///
/// # Safety
/// The builder is positioned behind `path`, a variable of the same function.
unsafe fn change(lowering: &Lowering, path: LLVMValueRef, changes: &[Change]) {
    let none = c"".as_ptr();
    let builder = lowering.builder;
    // SAFETY: promised by the caller; the plan's numbers are below the number of paths wherever one is counted.
    unsafe {
        let i64_type = LLVMInt64TypeInContext(lowering.context);
        let constant = |value: u32| LLVMConstInt(i64_type, value as u64, 0);
        let current = || LLVMBuildLoad2(builder, i64_type, path, none);
        for change in changes {
            match change {
                Change::Set(number) => _ = LLVMBuildStore(builder, constant(*number), path),
                Change::Add(addend) => {
                    let sum = LLVMBuildAdd(builder, current(), constant(*addend), none);
                    LLVMBuildStore(builder, sum, path);
                }
                Change::Count => lowering.count_named(current()),
            }
        }
    }
}
