//! Code on an edge between two blocks.

use crate::ir::instructions;
use inkwell::llvm_sys::{LLVMOpcode, core::*, prelude::*};

/// Positions `builder` where it runs exactly when one of the given ways out of `terminator` is taken.
///
/// If the block they lead to has no other way in, that is its start. Otherwise a new block is put between:
///
/// ```text
///   br i1 %c, label %a, label %b
/// becomes
///   br i1 %c, label %edge, label %b
/// edge:
///   …
///   br label %a
/// ```
///
/// # Safety
/// `terminator` belongs to a live module, and the successors exist and lead to one block.
pub unsafe fn position_on_edges(
    builder: LLVMBuilderRef,
    context: LLVMContextRef,
    terminator: LLVMValueRef,
    successors: &[u32],
) {
    // SAFETY: promised by the caller.
    unsafe {
        let to = LLVMGetSuccessor(terminator, successors[0]);
        let from = LLVMGetInstructionParent(terminator);
        let n_ways_in = ways_into(to);
        if n_ways_in == successors.len() {
            let first = instructions(to)
                .into_iter()
                .find(|at| !matches!(LLVMGetInstructionOpcode(*at), LLVMOpcode::LLVMPHI))
                .expect("a block has a terminator");
            LLVMPositionBuilderBefore(builder, first);
            return;
        }
        let edge = LLVMInsertBasicBlockInContext(context, to, c"cairn.edge".as_ptr());
        for successor in successors {
            LLVMSetSuccessor(terminator, *successor, edge);
        }
        move_phis(builder, to, from, edge, successors.len());
        LLVMPositionBuilderAtEnd(builder, edge);
        let jump = LLVMBuildBr(builder, to);
        LLVMPositionBuilderBefore(builder, jump);
    }
}

/// How many edges lead into a block.
unsafe fn ways_into(block: LLVMBasicBlockRef) -> usize {
    // SAFETY: the block belongs to a live module; its users are terminators (or block addresses).
    unsafe {
        let mut n = 0;
        let mut used = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
        while !used.is_null() {
            n += 1;
            used = LLVMGetNextUse(used);
        }
        n
    }
}

/// Rebuilds the phis of `to`: `n_moved` of their entries from `from` become one from `edge`.
unsafe fn move_phis(
    builder: LLVMBuilderRef,
    to: LLVMBasicBlockRef,
    from: LLVMBasicBlockRef,
    edge: LLVMBasicBlockRef,
    n_moved: usize,
) {
    // SAFETY: a phi has the same value for all entries of one block, so any of them may stand for the others.
    unsafe {
        for phi in instructions(to) {
            if LLVMGetInstructionOpcode(phi) != LLVMOpcode::LLVMPHI {
                break;
            }
            let entries: Vec<_> = (0..LLVMCountIncoming(phi))
                .map(|index| (LLVMGetIncomingValue(phi, index), LLVMGetIncomingBlock(phi, index)))
                .collect();
            LLVMPositionBuilderBefore(builder, phi);
            let new = LLVMBuildPhi(builder, LLVMTypeOf(phi), c"".as_ptr());
            let mut n_left = n_moved;
            for (value, block) in entries {
                let (mut value, mut block) = (value, block);
                if block == from && n_left > 0 {
                    n_left -= 1;
                    if n_left > 0 {
                        continue;
                    }
                    block = edge;
                }
                LLVMAddIncoming(new, &mut value, &mut block, 1);
            }
            LLVMReplaceAllUsesWith(phi, new);
            LLVMInstructionEraseFromParent(phi);
        }
    }
}
