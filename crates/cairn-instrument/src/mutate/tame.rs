//! Bodies without undefined behaviour of their own, so that it does not decide what becomes of a mutant: arithmetic
//! wraps, shifts take their amount modulo the width, variables start as zero, dividing by zero stops the program, loops may
//! be endless, and nothing is promised of what is read or of which accesses meet.

use crate::ir::instructions;
use inkwell::llvm_sys::{
    LLVMAttributeFunctionIndex, LLVMInlineAsmDialect,
    LLVMOpcode::*,
    LLVMTypeKind,
    core::*,
    prelude::*,
    target::{LLVMABISizeOfType, LLVMGetModuleDataLayout},
};

/// Larger variables of constant size are not cleared: a mutant that reads one before it is written may then depend on
/// what lay there.
const MOST_CLEARED: u64 = 16 * 1024;

/// What clang notes of instructions because C promises it: that a `_Bool` is 0 or 1, that a member is not accessed as
/// another, and that a loop ends. A mutant may access another, and its loop may not end.
const PROMISES: [&str; 6] = ["tbaa", "tbaa.struct", "range", "nonnull", "noundef", "llvm.loop"];

/// Likewise of functions, which C++ promises to end or to do something.
const PROMISED_END: &str = "mustprogress";

/// Tames a body before mutants are woven into it; [`settle`] does the rest.
///
/// # Safety
/// The function has a body, and the builder is of its context.
pub unsafe fn tame(builder: LLVMBuilderRef, context: LLVMContextRef, function: LLVMValueRef) {
    // SAFETY: promised by the caller; every call fits the opcode it is made for.
    unsafe {
        let promises =
            PROMISES.map(|name| LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32));
        remove_promise_of_end(function);
        let mut variables = Vec::new();
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            for at in instructions(block) {
                match LLVMGetInstructionOpcode(at) {
                    LLVMAdd | LLVMSub | LLVMMul | LLVMShl => {
                        LLVMSetNSW(at, 0);
                        LLVMSetNUW(at, 0);
                    }
                    LLVMLShr | LLVMAShr | LLVMSDiv | LLVMUDiv => LLVMSetExact(at, 0),
                    // Without `inbounds`, but also without what it implies.
                    LLVMGetElementPtr => LLVMGEPSetNoWrapFlags(at, 0),
                    LLVMAlloca => variables.push(at),
                    _ => {}
                }
                for kind in &promises {
                    LLVMSetMetadata(at, *kind, std::ptr::null_mut());
                }
            }
            block = LLVMGetNextBasicBlock(block);
        }
        let start = first_after_variables(function);
        for variable in variables {
            fill(builder, context, variable, start, 0);
        }
    }
}

/// Lets a function run for ever.
///
/// # Safety
/// The function belongs to a live module.
pub(super) unsafe fn remove_promise_of_end(function: LLVMValueRef) {
    // SAFETY: promised by the caller; removing what is not there does nothing.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(PROMISED_END.as_ptr().cast(), PROMISED_END.len());
        LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
    }
}

/// Settles what divisions and shifts do, when all mutants are there: they may have changed the operands.
///
/// # Safety
/// The function has a body, and the builder is of its context.
pub unsafe fn settle(builder: LLVMBuilderRef, context: LLVMContextRef, function: LLVMValueRef) {
    // SAFETY: promised by the caller; divisions and shifts have two operands.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            for at in instructions(block) {
                match LLVMGetInstructionOpcode(at) {
                    LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem => hide_divisor(builder, context, at),
                    LLVMShl | LLVMLShr | LLVMAShr => limit_shift(builder, at),
                    _ => {}
                }
            }
            block = LLVMGetNextBasicBlock(block);
        }
    }
}

/// Makes a divisor something that the optimiser knows nothing about. One that it could see to be zero would make the division
/// anything at all, and not what stops the program:
///
/// ```text
///   %hidden = call i64 asm "", "=r,0"(i64 %divisor)
///   %rest = urem i64 %size, %hidden
/// ```
unsafe fn hide_divisor(builder: LLVMBuilderRef, context: LLVMContextRef, division: LLVMValueRef) {
    let constraints = "=r,0";
    // SAFETY: `division` is one of integers of a live function; the assembly is of the type of its divisor.
    unsafe {
        let divisor = LLVMGetOperand(division, 1);
        let is_harmless = !LLVMIsAConstantInt(divisor).is_null() && LLVMIsNull(divisor) == 0;
        let mut value_type = LLVMTypeOf(divisor);
        let fits_register = [8, 16, 32, 64].map(|width| LLVMIntTypeInContext(context, width));
        if is_harmless || !fits_register.contains(&value_type) {
            return;
        }
        let of_one = LLVMFunctionType(value_type, &mut value_type, 1, 0);
        let same = LLVMGetInlineAsm(
            of_one,
            std::ptr::null(),
            0,
            constraints.as_ptr().cast(),
            constraints.len(),
            0,
            0,
            LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0,
        );
        LLVMPositionBuilderBefore(builder, division);
        let hidden = LLVMBuildCall2(builder, of_one, same, [divisor].as_mut_ptr(), 1, c"".as_ptr());
        // It only computes: where nobody divides it need not stay.
        for name in ["memory", "nounwind", "willreturn"] {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMCreateEnumAttribute(context, kind, 0);
            LLVMAddCallSiteAttribute(hidden, LLVMAttributeFunctionIndex, attribute);
        }
        LLVMSetOperand(division, 1, hidden);
    }
}

/// The first instruction of a body that is not a variable of constant size.
///
/// # Safety
/// The function has a body.
pub unsafe fn first_after_variables(function: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: promised by the caller.
    unsafe {
        instructions(LLVMGetEntryBasicBlock(function))
            .into_iter()
            .find(|at| LLVMGetInstructionOpcode(*at) != LLVMAlloca)
            .expect("a block has a terminator")
    }
}

/// Takes the amount of a shift modulo the width.
unsafe fn limit_shift(builder: LLVMBuilderRef, shift: LLVMValueRef) {
    // SAFETY: `shift` is a shift of a live function.
    unsafe {
        let amount = LLVMGetOperand(shift, 1);
        let amount_type = LLVMTypeOf(amount);
        let is_integer = LLVMGetTypeKind(amount_type) == LLVMTypeKind::LLVMIntegerTypeKind;
        if is_integer && LLVMIsConstant(amount) == 0 {
            let most = LLVMGetIntTypeWidth(amount_type).next_power_of_two() - 1;
            LLVMPositionBuilderBefore(builder, shift);
            let most = LLVMConstInt(amount_type, u64::from(most), 0);
            LLVMSetOperand(shift, 1, LLVMBuildAnd(builder, amount, most, c"".as_ptr()));
        }
    }
}

/// Fills a variable with a byte: at `start`, the start of the body, or where it comes to be, if that is later.
///
/// ```text
///   %array = alloca i32, i64 %n
/// is followed by
///   %bytes = mul i64 %n, 4
///   call void @llvm.memset(ptr %array, i8 0, i64 %bytes, i1 false)
/// ```
///
/// # Safety
/// `variable` is an alloca, and `start` the first instruction after those of the entry, of one live function.
pub(super) unsafe fn fill(
    builder: LLVMBuilderRef,
    context: LLVMContextRef,
    variable: LLVMValueRef,
    start: LLVMValueRef,
    byte: u8,
) {
    // SAFETY: promised by the caller.
    unsafe {
        let function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(variable));
        let layout = LLVMGetModuleDataLayout(LLVMGetGlobalParent(function));
        let element = LLVMABISizeOfType(layout, LLVMGetAllocatedType(variable));
        let i64_type = LLVMInt64TypeInContext(context);
        let count = LLVMGetOperand(variable, 0);
        let is_constant = !LLVMIsAConstantInt(count).is_null();
        let size =
            if is_constant { element.saturating_mul(LLVMConstIntGetZExtValue(count)) } else { element };
        if size == 0 || is_constant && size > MOST_CLEARED {
            return;
        }
        let is_from_start = LLVMGetInstructionParent(variable) == LLVMGetInstructionParent(start)
            && is_before(variable, start);
        LLVMPositionBuilderBefore(
            builder,
            if is_from_start { start } else { LLVMGetNextInstruction(variable) },
        );
        let size = LLVMConstInt(i64_type, size, 0);
        let size = if is_constant {
            size
        } else {
            let count = LLVMBuildZExtOrBitCast(builder, count, i64_type, c"".as_ptr());
            LLVMBuildMul(builder, count, size, c"".as_ptr())
        };
        let byte = LLVMConstInt(LLVMInt8TypeInContext(context), byte.into(), 0);
        LLVMBuildMemSet(builder, variable, byte, size, LLVMGetAlignment(variable));
    }
}

/// Whether one instruction comes before another of its block.
unsafe fn is_before(one: LLVMValueRef, other: LLVMValueRef) -> bool {
    // SAFETY: both belong to a live function.
    unsafe {
        let mut at = LLVMGetNextInstruction(one);
        while !at.is_null() && at != other {
            at = LLVMGetNextInstruction(at);
        }
        !at.is_null()
    }
}
