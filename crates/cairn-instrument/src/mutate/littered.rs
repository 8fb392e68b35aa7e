//! Variables that hold something before they are written.
//!
//! C leaves open what a variable holds that nobody has written. A program that does something else when all of them hold
//! other bytes than usual does what C leaves open.

use super::tame::{fill, first_after_variables};
use crate::ir::{instructions, walk_functions};
use inkwell::{
    llvm_sys::{LLVMOpcode, core::*, prelude::*},
    module::Module,
};

/// Unlikely to be what lay there, and a harmless index.
const LITTER: u8 = 0x55;

/// Fills all variables of all functions before anything else is done with them.
pub fn litter(module: &Module) {
    // SAFETY: the module is alive, and the functions have bodies.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        for function in walk_functions(module) {
            let start = first_after_variables(function);
            for variable in variables(function) {
                fill(builder, context, variable, start, LITTER);
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

unsafe fn variables(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut variables = Vec::new();
    // SAFETY: the function belongs to a live module.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            let is_variable = |at: &LLVMValueRef| LLVMGetInstructionOpcode(*at) == LLVMOpcode::LLVMAlloca;
            variables.extend(instructions(block).into_iter().filter(is_variable));
            block = LLVMGetNextBasicBlock(block);
        }
    }
    variables
}
