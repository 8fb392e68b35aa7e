//! A block cut in two.

use crate::ir::instructions;
use inkwell::llvm_sys::{LLVMOpcode, core::*, prelude::*};

/// Moves what stands before `at` into a new block, which takes over all ways in, and returns the new block without an
/// end. What follows stays where it is, so that phis of successors still name the right block.
///
/// ```text
/// b:                      new:
///   %a = …                  %a = …
///   %at = …        →      b:
///   br …                    %at = …
///                           br …
/// ```
///
/// Variables of constant size in an entry block come along from behind `at`: elsewhere they would cost a frame of
/// changing size.
///
/// # Safety
/// `at` belongs to a live module and is no phi, unless it is the first instruction.
pub unsafe fn split_before(
    builder: LLVMBuilderRef,
    context: LLVMContextRef,
    at: LLVMValueRef,
) -> LLVMBasicBlockRef {
    // SAFETY: promised by the caller.
    unsafe {
        let block = LLVMGetInstructionParent(at);
        let is_entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(block)) == block;
        let before = LLVMInsertBasicBlockInContext(context, block, c"cairn.before".as_ptr());
        let content = instructions(block);
        let cut = content.iter().position(|instruction| *instruction == at).expect("`at` is in its block");
        for instruction in &content[..cut] {
            move_to_end(builder, *instruction, before);
        }
        for instruction in &content[cut..] {
            if is_entry && is_plain_variable(*instruction) {
                move_to_end(builder, *instruction, before);
            }
        }
        // Replacing a block renames it in the phis of its successors too; without an end it has none.
        let end = LLVMGetBasicBlockTerminator(block);
        LLVMInstructionRemoveFromParent(end);
        LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block), LLVMBasicBlockAsValue(before));
        LLVMPositionBuilderAtEnd(builder, block);
        insert_named(builder, end);
        before
    }
}

/// # Safety
/// The instruction and the block belong to one function of a live module.
unsafe fn move_to_end(builder: LLVMBuilderRef, instruction: LLVMValueRef, block: LLVMBasicBlockRef) {
    // SAFETY: promised by the caller.
    unsafe {
        LLVMInstructionRemoveFromParent(instruction);
        LLVMPositionBuilderAtEnd(builder, block);
        insert_named(builder, instruction);
    }
}

/// Inserts a detached instruction; a plain insertion would take its name away.
///
/// # Safety
/// The builder is positioned in the instruction's old function.
unsafe fn insert_named(builder: LLVMBuilderRef, instruction: LLVMValueRef) {
    // SAFETY: promised by the caller; the name is copied before it is set again.
    unsafe {
        let mut length = 0;
        let name = LLVMGetValueName2(instruction, &mut length);
        let name = std::slice::from_raw_parts(name.cast::<u8>(), length).to_vec();
        let name = std::ffi::CString::new(name).unwrap_or_default();
        LLVMInsertIntoBuilderWithName(builder, instruction, name.as_ptr());
    }
}

/// # Safety
/// The instruction belongs to a live module.
unsafe fn is_plain_variable(instruction: LLVMValueRef) -> bool {
    // SAFETY: the first operand of an `alloca` is the number of elements.
    unsafe {
        LLVMGetInstructionOpcode(instruction) == LLVMOpcode::LLVMAlloca
            && LLVMIsConstant(LLVMGetOperand(instruction, 0)) != 0
    }
}
