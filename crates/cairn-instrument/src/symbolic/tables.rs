//! Tells the runtime which variables are constant tables, so that a look into one at a place that depends on the input is
//! known by its content.

use cairn_abi::view::TABLES_SYMBOL;
use inkwell::{
    llvm_sys::{LLVMTypeKind::*, LLVMVisibility, core::*, prelude::*, target::*},
    module::Module,
};
use std::ffi::CString;

/// The largest table.
const MAX_SIZE: u64 = 64 << 10;

/// Writes the list that the view's introduction refers to.
pub fn list(module: &Module) {
    let module = module.as_mut_ptr();
    // SAFETY: the module is alive; everything made here belongs to its context.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let layout = LLVMGetModuleDataLayout(module);
        let word = LLVMInt64TypeInContext(context);
        let mut fields = Vec::new();
        let mut global = LLVMGetFirstGlobal(module);
        while !global.is_null() {
            let value_type = LLVMGlobalGetValueType(global);
            if LLVMIsGlobalConstant(global) != 0
                && !LLVMGetInitializer(global).is_null()
                && LLVMTypeIsSized(value_type) != 0
                && is_table(global, value_type)
            {
                let size = LLVMABISizeOfType(layout, value_type);
                if (2..=MAX_SIZE).contains(&size) {
                    fields.extend([global, LLVMConstInt(word, size, 0)]);
                }
            }
            global = LLVMGetNextGlobal(global);
        }
        fields.extend([LLVMConstNull(LLVMPointerTypeInContext(context, 0)), LLVMConstInt(word, 0, 0)]);
        let content = LLVMConstStructInContext(context, fields.as_mut_ptr(), fields.len() as u32, 0);
        let name = CString::new(TABLES_SYMBOL).expect("our symbols have no zero byte");
        let declared = LLVMGetNamedGlobal(module, name.as_ptr());
        let list = LLVMAddGlobal(module, LLVMTypeOf(content), c"".as_ptr());
        LLVMSetInitializer(list, content);
        if !declared.is_null() {
            LLVMReplaceAllUsesWith(declared, list);
            LLVMDeleteGlobal(declared);
        }
        LLVMSetValueName2(list, name.as_ptr(), TABLES_SYMBOL.len());
        LLVMSetVisibility(list, LLVMVisibility::LLVMHiddenVisibility);
    }
}

/// Whether a variable holds numbers only; of texts, whether a part of it is looked at.
unsafe fn is_table(global: LLVMValueRef, value_type: LLVMTypeRef) -> bool {
    // SAFETY: the caller has a variable of a live module.
    unsafe {
        let is_text = LLVMGetTypeKind(value_type) == LLVMArrayTypeKind
            && LLVMGetTypeKind(LLVMGetElementType(value_type)) == LLVMIntegerTypeKind
            && LLVMGetIntTypeWidth(LLVMGetElementType(value_type)) == 8;
        holds_numbers(value_type) && (!is_text || is_looked_into(global))
    }
}

unsafe fn holds_numbers(value_type: LLVMTypeRef) -> bool {
    // SAFETY: the caller has a type of a live context.
    unsafe {
        match LLVMGetTypeKind(value_type) {
            LLVMIntegerTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind => true,
            LLVMArrayTypeKind => holds_numbers(LLVMGetElementType(value_type)),
            LLVMStructTypeKind => (0..LLVMCountStructElementTypes(value_type))
                .all(|index| holds_numbers(LLVMStructGetTypeAtIndex(value_type, index))),
            _ => false,
        }
    }
}

unsafe fn is_looked_into(global: LLVMValueRef) -> bool {
    // SAFETY: the caller has a variable of a live module.
    unsafe {
        let mut used = LLVMGetFirstUse(global);
        while !used.is_null() {
            if !LLVMIsAGetElementPtrInst(LLVMGetUser(used)).is_null() {
                return true;
            }
            used = LLVMGetNextUse(used);
        }
        false
    }
}
