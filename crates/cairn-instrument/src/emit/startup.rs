//! Constructors and destructors of a program.
//!
//! Through the C API the code generator puts them into `.ctors` and `.dtors`, which no current start-up code reads.
//! So we lay out `.init_array` and `.fini_array` ourselves.

use crate::lower::add_to_used;
use inkwell::{
    llvm_sys::{LLVMLinkage, core::*},
    module::Module,
};
use std::ffi::CString;

/// Replaces `llvm.global_ctors` and `llvm.global_dtors` by arrays of pointers in the sections start-up code reads.
pub fn lay_out(module: &Module) {
    lay_out_list(module, "llvm.global_ctors", ".init_array");
    lay_out_list(module, "llvm.global_dtors", ".fini_array");
}

/// The priority of functions without one; they run after all others and have the plain section.
const NO_PRIORITY: u64 = 65535;

fn lay_out_list(module: &Module, list: &str, section: &str) {
    let name = |text: &str| CString::new(text).expect("our names have no zero byte");
    let module = module.as_mut_ptr();
    // SAFETY: the module is alive; the list is an array of { priority, function, data }, as LLVM requires.
    unsafe {
        let global = LLVMGetNamedGlobal(module, name(list).as_ptr());
        if global.is_null() {
            return;
        }
        let context = LLVMGetModuleContext(module);
        let pointer = LLVMPointerTypeInContext(context, 0);
        let entries = LLVMGetInitializer(global);
        let mut slots = Vec::new();
        for index in 0..LLVMGetNumOperands(entries).max(0) as u32 {
            let entry = LLVMGetOperand(entries, index);
            let (priority, function) = (LLVMGetOperand(entry, 0), LLVMGetOperand(entry, 1));
            if LLVMIsNull(function) != 0 {
                continue;
            }
            let priority = LLVMConstIntGetZExtValue(priority);
            let slot = LLVMAddGlobal(module, pointer, c"cairn.startup".as_ptr());
            LLVMSetInitializer(slot, function);
            LLVMSetLinkage(slot, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetAlignment(slot, 8);
            let section = match priority {
                NO_PRIORITY => section.to_string(),
                priority => format!("{section}.{priority:05}"),
            };
            LLVMSetSection(slot, name(&section).as_ptr());
            slots.push(slot);
        }
        LLVMDeleteGlobal(global);
        add_to_used(module, context, &slots);
    }
}
