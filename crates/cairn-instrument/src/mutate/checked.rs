//! Asks for the checks of AddressSanitizer.

use crate::ir::walk_functions;
use inkwell::{
    llvm_sys::{LLVMAttributeFunctionIndex, core::*},
    module::Module,
};

/// Marks every function with a body as one that AddressSanitizer checks.
pub fn ask_for_checks(module: &Module) {
    let name = "sanitize_address";
    // SAFETY: the module is alive, and the attribute belongs to its context.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let attribute = LLVMCreateEnumAttribute(context, kind, 0);
        for function in walk_functions(module) {
            LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
        }
    }
}
