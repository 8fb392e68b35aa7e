//! What becomes of labels in every kind of instruction and in LLVM's own functions.

use super::intrinsics;
use inkwell::llvm_sys::LLVMOpcode::{self, *};

/// How well something is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Treatment {
    /// What it computes is an expression, or nothing that could have a label.
    Exact,
    /// What it computes keeps its value, and remembers what it depends on.
    Opaque,
    /// No view is made of a program that has it.
    Refused,
}

/// Instructions on integers, pointers, `float` and `double`; on anything else they are opaque. `None` for those that nobody has
/// thought about.
pub(super) fn of_opcode(opcode: LLVMOpcode) -> Option<Treatment> {
    Some(match opcode {
        LLVMRet | LLVMBr | LLVMSwitch | LLVMUnreachable => Treatment::Exact,
        LLVMInvoke | LLVMCall | LLVMCallBr => Treatment::Exact,
        // The mark says nothing of where these lead; labels go on behind them.
        LLVMIndirectBr | LLVMResume | LLVMLandingPad | LLVMFence | LLVMAlloca => Treatment::Exact,
        LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem => Treatment::Exact,
        LLVMAnd | LLVMOr | LLVMXor | LLVMShl | LLVMLShr | LLVMAShr => Treatment::Exact,
        LLVMFNeg | LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem => Treatment::Exact,
        LLVMICmp | LLVMFCmp | LLVMPHI | LLVMSelect | LLVMFreeze => Treatment::Exact,
        LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP => {
            Treatment::Exact
        }
        LLVMFPTrunc | LLVMFPExt | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast | LLVMAddrSpaceCast => {
            Treatment::Exact
        }
        LLVMLoad | LLVMStore | LLVMGetElementPtr | LLVMExtractValue | LLVMInsertValue => Treatment::Exact,
        LLVMAtomicCmpXchg | LLVMAtomicRMW => Treatment::Opaque,
        // Where elements have labels of their own, and the place is constant.
        LLVMExtractElement | LLVMInsertElement | LLVMShuffleVector => Treatment::Exact,
        LLVMVAArg => Treatment::Opaque,
        // How Windows unwinds.
        LLVMCleanupRet | LLVMCatchRet | LLVMCatchPad | LLVMCleanupPad | LLVMCatchSwitch => Treatment::Refused,
        LLVMUserOp1 | LLVMUserOp2 => return None,
    })
}

/// One of LLVM's own functions by its name, with or without types; `None` for those that nobody has thought about.
pub(super) fn of_intrinsic(name: &str) -> Option<Treatment> {
    intrinsics::treatment(name)
}
