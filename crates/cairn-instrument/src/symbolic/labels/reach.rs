//! Which values of a function may have a label at all.

use super::{Pass, all_instructions, memory::is_ours};
use inkwell::llvm_sys::{LLVMOpcode::*, core::*, prelude::*};
use std::collections::HashSet;

/// Parameters, loaded values and results of calls, and whatever is computed from them.
///
/// # Safety
/// The function belongs to the live module.
pub(super) unsafe fn symbolic_values(pass: &Pass, function: LLVMValueRef) -> HashSet<LLVMValueRef> {
    let mut found = HashSet::new();
    let mut open = Vec::new();
    // SAFETY: promised by the caller.
    unsafe {
        for index in 0..LLVMCountParams(function) {
            open.push(LLVMGetParam(function, index));
        }
        for instruction in all_instructions(function) {
            let is_source = match LLVMGetInstructionOpcode(instruction) {
                LLVMLoad => !is_ours(LLVMGetOperand(instruction, 0)),
                LLVMCall | LLVMInvoke | LLVMCallBr => pass.may_return_label(instruction),
                LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMVAArg => true,
                _ => false,
            };
            if is_source {
                open.push(instruction);
            }
        }
        while let Some(value) = open.pop() {
            if pass.leaves(LLVMTypeOf(value)).is_empty() || !found.insert(value) {
                continue;
            }
            let mut used = LLVMGetFirstUse(value);
            while !used.is_null() {
                let user = LLVMGetUser(used);
                if passes_on(user) {
                    open.push(user);
                }
                used = LLVMGetNextUse(used);
            }
        }
    }
    found
}

/// Whether a result depends on an operand's label.
unsafe fn passes_on(user: LLVMValueRef) -> bool {
    // SAFETY: users of a value of the module are its instructions.
    unsafe {
        !LLVMIsAInstruction(user).is_null()
            && !matches!(
                LLVMGetInstructionOpcode(user),
                LLVMCall | LLVMInvoke | LLVMCallBr | LLVMAlloca | LLVMLoad | LLVMLandingPad
            )
            || is_pure_intrinsic(user)
    }
}

/// Whether a call computes its result from its operands alone.
unsafe fn is_pure_intrinsic(user: LLVMValueRef) -> bool {
    // SAFETY: as above.
    unsafe {
        if LLVMIsAInstruction(user).is_null() || LLVMGetInstructionOpcode(user) != LLVMCall {
            return false;
        }
        let callee = LLVMGetCalledValue(user);
        !LLVMIsAFunction(callee).is_null() && LLVMGetIntrinsicID(callee) != 0
    }
}
