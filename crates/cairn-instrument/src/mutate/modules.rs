//! One program in several objects.
//!
//! The main object has the whole program; objects with other bodies of its functions see the rest of the program from
//! outside. All start from the same bitcode, so what is internal to it gets names that the others can refer to.

use crate::ir::instructions;
use inkwell::{
    llvm_sys::{LLVMLinkage::*, LLVMVisibility, core::*, prelude::*},
    module::Module,
};
use std::ffi::CString;

/// The name under which other objects see what is internal to the program.
pub fn shared_name(name: &str) -> String {
    format!("cairn.of.{name}")
}

/// What each object has for itself.
const OURS: [&str; 2] = ["cairn.harmless", "cairn.nothing"];

/// Gives everything internal a name and lets other objects of the program see it.
pub fn share(module: &Module) {
    // SAFETY: the module is alive; lists are walked before anything is renamed.
    unsafe {
        for (index, global) in globals(module).into_iter().enumerate() {
            let linkage = LLVMGetLinkage(global);
            if is_internal(global) {
                let mut length = 0;
                let name = LLVMGetValueName2(global, &mut length);
                let name =
                    String::from_utf8_lossy(std::slice::from_raw_parts(name.cast(), length)).into_owned();
                if name.starts_with("llvm.") || OURS.contains(&name.as_str()) {
                    continue;
                }
                let name = if name.is_empty() { format!("nameless.{index}") } else { name };
                let name = shared_name(&name);
                LLVMSetLinkage(global, LLVMExternalLinkage);
                LLVMSetVisibility(global, LLVMVisibility::LLVMHiddenVisibility);
                LLVMSetValueName2(global, name.as_ptr().cast(), name.len());
            } else if linkage == LLVMLinkOnceODRLinkage {
                // Others may refer to it even if the main object does not.
                LLVMSetLinkage(global, LLVMWeakODRLinkage);
            } else if linkage == LLVMLinkOnceAnyLinkage {
                LLVMSetLinkage(global, LLVMWeakAnyLinkage);
            }
        }
    }
}

/// Leaves only the bodies of `functions`, under names with `suffix`; everything else is seen from outside.
///
/// The module was shared before. References to these functions, also their own, go to the program's.
///
/// # Safety
/// The functions belong to the module.
pub unsafe fn keep_bodies(module: &Module, functions: &[LLVMValueRef], suffix: &str) {
    let raw = module.as_mut_ptr();
    // SAFETY: promised by the caller.
    unsafe {
        leave_only(module, functions);
        for function in functions {
            let mut length = 0;
            let name = LLVMGetValueName2(*function, &mut length);
            let name = String::from_utf8_lossy(std::slice::from_raw_parts(name.cast(), length)).into_owned();
            let own = format!("{name}{suffix}");
            LLVMSetValueName2(*function, own.as_ptr().cast(), own.len());
            let name = CString::new(name).expect("symbols have no zero byte");
            let outside = LLVMAddFunction(raw, name.as_ptr(), LLVMGlobalGetValueType(*function));
            LLVMSetFunctionCallConv(outside, LLVMGetFunctionCallConv(*function));
            LLVMSetVisibility(outside, LLVMGetVisibility(*function));
            copy_attributes(*function, outside);
            LLVMReplaceAllUsesWith(*function, outside);
            LLVMSetVisibility(*function, LLVMVisibility::LLVMHiddenVisibility);
        }
    }
}

/// Makes the bodies of `functions` ones that another object may replace, so that nothing is concluded from them and
/// nothing copied. The module was shared before.
///
/// # Safety
/// The functions belong to the module and have bodies.
pub unsafe fn make_replaceable(functions: &[LLVMValueRef]) {
    for function in functions {
        // SAFETY: promised by the caller.
        unsafe {
            inkwell::llvm_sys::comdat::LLVMSetComdat(*function, std::ptr::null_mut());
            LLVMSetLinkage(*function, LLVMWeakAnyLinkage);
        }
    }
}

/// Leaves only the bodies of `functions`, which this object defines; everything else is seen from outside.
///
/// The module was shared before.
///
/// # Safety
/// The functions belong to the module.
pub unsafe fn leave_only(module: &Module, functions: &[LLVMValueRef]) {
    let raw = module.as_mut_ptr();
    // SAFETY: promised by the caller.
    unsafe {
        let context = LLVMGetModuleContext(raw);
        point_aliases_nowhere(raw, context);
        for list in ["llvm.global_ctors", "llvm.global_dtors", "llvm.used", "llvm.compiler.used"] {
            let list = LLVMGetNamedGlobal(raw, CString::new(list).expect("no zero byte").as_ptr());
            if !list.is_null() {
                LLVMDeleteGlobal(list);
            }
        }
        LLVMSetModuleInlineAsm2(raw, c"".as_ptr(), 0);
        for global in globals(module) {
            if !LLVMIsAGlobalVariable(global).is_null() {
                if is_internal(global) {
                    continue;
                }
                see_from_outside(global);
                LLVMSetInitializer(global, std::ptr::null_mut());
                LLVMSetLinkage(global, LLVMExternalLinkage);
            } else if !LLVMIsAFunction(global).is_null()
                && LLVMIsDeclaration(global) == 0
                && !functions.contains(&global)
            {
                delete_body(global);
                see_from_outside(global);
            }
        }
        for function in functions {
            LLVMSetLinkage(*function, LLVMExternalLinkage);
            inkwell::llvm_sys::comdat::LLVMSetComdat(*function, std::ptr::null_mut());
        }
    }
}

/// All functions and variables.
unsafe fn globals(module: &Module) -> Vec<LLVMValueRef> {
    let mut globals = Vec::new();
    let raw = module.as_mut_ptr();
    // SAFETY: the module is alive while its lists are walked.
    unsafe {
        let mut function = LLVMGetFirstFunction(raw);
        while !function.is_null() {
            globals.push(function);
            function = LLVMGetNextFunction(function);
        }
        let mut variable = LLVMGetFirstGlobal(raw);
        while !variable.is_null() {
            globals.push(variable);
            variable = LLVMGetNextGlobal(variable);
        }
    }
    globals
}

/// # Safety
/// The global belongs to a live module.
pub(super) unsafe fn is_internal(global: LLVMValueRef) -> bool {
    // SAFETY: the global belongs to a live module.
    matches!(unsafe { LLVMGetLinkage(global) }, LLVMInternalLinkage | LLVMPrivateLinkage)
}

unsafe fn see_from_outside(global: LLVMValueRef) {
    // SAFETY: the global belongs to a live module; a declaration has neither section group nor strange linkage.
    unsafe {
        inkwell::llvm_sys::comdat::LLVMSetComdat(global, std::ptr::null_mut());
        if LLVMGetLinkage(global) != LLVMExternalWeakLinkage {
            LLVMSetLinkage(global, LLVMExternalLinkage);
        }
    }
}

/// Aliases define symbols, which only the main object may do.
unsafe fn point_aliases_nowhere(module: LLVMModuleRef, context: LLVMContextRef) {
    // SAFETY: the module is alive; an unused internal alias of something defined is dropped by the optimiser.
    unsafe {
        let mut alias = LLVMGetFirstGlobalAlias(module);
        let mut nothing: LLVMValueRef = std::ptr::null_mut();
        while !alias.is_null() {
            if nothing.is_null() {
                let byte = LLVMInt8TypeInContext(context);
                nothing = LLVMAddGlobal(module, byte, c"cairn.nothing".as_ptr());
                LLVMSetInitializer(nothing, LLVMConstNull(byte));
                LLVMSetLinkage(nothing, LLVMInternalLinkage);
            }
            let target = LLVMAliasGetAliasee(alias);
            LLVMReplaceAllUsesWith(alias, target);
            LLVMAliasSetAliasee(alias, nothing);
            LLVMSetLinkage(alias, LLVMInternalLinkage);
            alias = LLVMGetNextGlobalAlias(alias);
        }
    }
}

/// Makes a declaration of a function.
///
/// # Safety
/// The function belongs to a live module.
pub(super) unsafe fn delete_body(function: LLVMValueRef) {
    // SAFETY: the function belongs to a live module. Nothing refers to an instruction any more when it goes.
    unsafe {
        let mut blocks = Vec::new();
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            blocks.push(block);
            block = LLVMGetNextBasicBlock(block);
        }
        for block in &blocks {
            for instruction in instructions(*block) {
                if LLVMGetTypeKind(LLVMTypeOf(instruction))
                    != inkwell::llvm_sys::LLVMTypeKind::LLVMVoidTypeKind
                {
                    LLVMReplaceAllUsesWith(instruction, LLVMGetPoison(LLVMTypeOf(instruction)));
                }
            }
        }
        for block in &blocks {
            for instruction in instructions(*block).into_iter().rev() {
                LLVMInstructionEraseFromParent(instruction);
            }
        }
        for block in blocks {
            LLVMDeleteBasicBlock(block);
        }
        LLVMGlobalClearMetadata(function);
        if LLVMHasPersonalityFn(function) != 0 {
            LLVMSetPersonalityFn(function, std::ptr::null_mut());
        }
    }
}

/// Copies the attributes of a function, its result and its parameters.
///
/// # Safety
/// Both functions belong to a live module and have one type.
pub unsafe fn copy_attributes(from: LLVMValueRef, to: LLVMValueRef) {
    // SAFETY: promised by the caller.
    unsafe {
        let n_parameters = LLVMCountParams(from);
        for index in (0..=n_parameters).chain([u32::MAX]) {
            for attribute in attributes_at(from, index) {
                LLVMAddAttributeAtIndex(to, index, attribute);
            }
        }
    }
}

/// The attributes of a function at an index: 0 is the result, `u32::MAX` the function.
///
/// # Safety
/// The function belongs to a live module.
pub unsafe fn attributes_at(function: LLVMValueRef, index: u32) -> Vec<LLVMAttributeRef> {
    // SAFETY: promised by the caller; LLVM fills as many as it counts.
    unsafe {
        let n = LLVMGetAttributeCountAtIndex(function, index) as usize;
        let mut attributes = vec![std::ptr::null_mut(); n];
        LLVMGetAttributesAtIndex(function, index, attributes.as_mut_ptr());
        attributes
    }
}
