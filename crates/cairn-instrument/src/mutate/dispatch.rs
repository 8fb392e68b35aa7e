//! At the entry of every mutated function, the choice of its body.
//!
//! ```text
//!   %switch = load i8, ptr @__cairn_mutant_control + 2304 + F
//!   br i1 (icmp eq %switch, 0), label %original, label %other      ; nearly always
//! other:
//!   br i1 (icmp eq %switch, 2), label %examined, label %mutated
//! mutated:
//!   %r = tail call @f.mutated(…)
//!   ret %r
//! ```

use super::modules::attributes_at;
use crate::ir::instructions;
use cairn_abi::mutants::{BODIES_START, Body};
use inkwell::llvm_sys::{
    LLVMIntPredicate, LLVMOpcode, LLVMTailCallKind, LLVMTypeKind, LLVMVisibility, core::*, prelude::*,
};
use std::ffi::CString;

/// What names of mutated bodies end in.
pub const MUTATED: &str = ".mutated";
/// What names of examined bodies end in.
pub const EXAMINED: &str = ".examined";

/// Adds the choice to a function, the `number`th with mutants.
///
/// # Safety
/// The function has a body in a live module, and everything is positioned in it that wants its entry.
pub unsafe fn add(
    builder: LLVMBuilderRef,
    function: LLVMValueRef,
    control: LLVMValueRef,
    number: u32,
    mark: &dyn Fn(LLVMValueRef),
) {
    let none = c"".as_ptr();
    // SAFETY: promised by the caller.
    unsafe {
        let module = LLVMGetGlobalParent(function);
        let context = LLVMGetModuleContext(module);
        let byte = LLVMInt8TypeInContext(context);
        let original = LLVMGetEntryBasicBlock(function);
        let entry = LLVMInsertBasicBlockInContext(context, original, c"cairn.entry".as_ptr());
        // Variables of constant size must stand in the entry to live in registers.
        for at in instructions(original) {
            if LLVMGetInstructionOpcode(at) == LLVMOpcode::LLVMAlloca
                && LLVMIsConstant(LLVMGetOperand(at, 0)) != 0
            {
                LLVMInstructionRemoveFromParent(at);
                LLVMPositionBuilderAtEnd(builder, entry);
                LLVMInsertIntoBuilder(builder, at);
            }
        }
        let block = |name: &std::ffi::CStr| LLVMInsertBasicBlockInContext(context, original, name.as_ptr());
        let (other, mutated, examined) =
            (block(c"cairn.other"), block(c"cairn.mutated"), block(c"cairn.examined"));
        LLVMPositionBuilderAtEnd(builder, entry);
        let offset = BODIES_START as u64 + u64::from(number);
        let mut offset = [LLVMConstInt(LLVMInt64TypeInContext(context), offset, 0)];
        let place = LLVMConstInBoundsGEP2(byte, control, offset.as_mut_ptr(), 1);
        let switch = LLVMBuildLoad2(builder, byte, place, none);
        mark(switch);
        let is = |body: Body| {
            let body = LLVMConstInt(byte, body as u64, 0);
            LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntEQ, switch, body, none)
        };
        let choice = LLVMBuildCondBr(builder, is(Body::Original), original, other);
        expect_first(context, choice);
        LLVMPositionBuilderAtEnd(builder, other);
        LLVMBuildCondBr(builder, is(Body::Examined), examined, mutated);
        for (block, suffix) in [(mutated, MUTATED), (examined, EXAMINED)] {
            LLVMPositionBuilderAtEnd(builder, block);
            call_and_return(builder, function, suffix);
        }
    }
}

unsafe fn call_and_return(builder: LLVMBuilderRef, function: LLVMValueRef, suffix: &str) {
    // SAFETY: the builder is positioned at the end of an empty block of the function.
    unsafe {
        let module = LLVMGetGlobalParent(function);
        let mut length = 0;
        let name = LLVMGetValueName2(function, &mut length);
        let name = String::from_utf8_lossy(std::slice::from_raw_parts(name.cast(), length)).into_owned();
        let name = CString::new(format!("{name}{suffix}")).expect("symbols have no zero byte");
        let function_type = LLVMGlobalGetValueType(function);
        let body = LLVMAddFunction(module, name.as_ptr(), function_type);
        LLVMSetVisibility(body, LLVMVisibility::LLVMHiddenVisibility);
        LLVMSetFunctionCallConv(body, LLVMGetFunctionCallConv(function));
        let n_parameters = LLVMCountParams(function);
        let mut arguments: Vec<_> = (0..n_parameters).map(|index| LLVMGetParam(function, index)).collect();
        let call =
            LLVMBuildCall2(builder, function_type, body, arguments.as_mut_ptr(), n_parameters, c"".as_ptr());
        LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function));
        // Further arguments can only be handed on as they are. For others this would keep the optimiser from turning
        // recursion into loops: it does so without looking at such calls, and breaks them.
        let kind = match LLVMIsFunctionVarArg(function_type) {
            0 => LLVMTailCallKind::LLVMTailCallKindTail,
            _ => LLVMTailCallKind::LLVMTailCallKindMustTail,
        };
        LLVMSetTailCallKind(call, kind);
        // How arguments are passed must agree.
        for index in 0..=n_parameters {
            for attribute in attributes_at(function, index) {
                LLVMAddAttributeAtIndex(body, index, attribute);
                LLVMAddCallSiteAttribute(call, index, attribute);
            }
        }
        let result = LLVMGetReturnType(function_type);
        if LLVMGetTypeKind(result) == LLVMTypeKind::LLVMVoidTypeKind {
            LLVMBuildRetVoid(builder);
        } else {
            LLVMBuildRet(builder, call);
        }
    }
}

/// Tells the optimiser that a branch nearly always goes to its first successor.
unsafe fn expect_first(context: LLVMContextRef, branch: LLVMValueRef) {
    // SAFETY: the metadata is made as LLVM documents `branch_weights`.
    unsafe {
        let weight =
            |value: u64| LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), value, 0));
        let name = "branch_weights";
        let mut parts =
            [LLVMMDStringInContext2(context, name.as_ptr().cast(), name.len()), weight(1_000_000), weight(1)];
        let node = LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
        let kind = LLVMGetMDKindIDInContext(context, c"prof".as_ptr(), 4);
        LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(context, node));
    }
}
