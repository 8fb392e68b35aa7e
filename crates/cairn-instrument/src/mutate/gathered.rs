//! Many mutants in one program, each compiled alone.
//!
//! The mutant view is compared with them, so nothing of it is here: no selector, no body with several mutants, no counter
//! and no fuel. One link serves all mutants, and then only running them is left.
//!
//! ```text
//!   define i32 @f(i32 %n) {                        ; in the rest of the program, which is made once
//!     %body = load volatile ptr, ptr @f.slot       ; holds @f.original
//!     %result = musttail call i32 %body(i32 %n)
//!     ret i32 %result
//!   }
//!
//!   define i32 @f.0123456789abcdef(i32 %n) { … }   ; in the object of a mutant
//!   @entry = { i64 0x0123456789abcdef, ptr @f.slot, ptr @f.0123456789abcdef }, section "cairn_gathered"
//! ```
//! Who links them adds code that reads the entries before anything of the program runs, and puts the bodies of one mutant
//! into their slots. Bodies are always reached through the function, also by themselves.

use super::{
    draft::Draft,
    modules::{attributes_at, copy_attributes, keep_bodies, make_replaceable, share},
    objects::weave_alone,
    tame::remove_promise_of_end,
};
use crate::{ir::walk_functions, lower::add_to_used};
use cairn_model::StableId;
use inkwell::{
    llvm_sys::{
        LLVMLinkage, LLVMTailCallKind, LLVMTypeKind, LLVMVisibility, comdat::LLVMSetComdat, core::*,
        prelude::*,
    },
    module::Module,
};
use std::ffi::{CStr, CString};

/// Where the linker collects what is said of mutants; its name makes the linker say where it begins and ends.
const SECTION: &CStr = c"cairn_gathered";

/// Applies one mutant to a copy of the bitcode, and leaves only the functions that it changes, under names of their own:
/// the rest of the program is what [`lower_gathering`] makes.
///
/// Returns false if there is no such mutant.
pub fn lower_gathered(module: &Module, draft: &Draft, mutant: StableId) -> bool {
    let Some(changed) = weave_alone(module, draft, mutant) else { return false };
    share(module);
    // SAFETY: the functions belong to the module, which is alive.
    unsafe {
        let raw = module.as_mut_ptr();
        let slots: Vec<LLVMValueRef> =
            changed.iter().map(|function| add_slot(raw, &name_of(*function))).collect();
        keep_bodies(module, &changed, &format!(".{mutant}"));
        let entries: Vec<LLVMValueRef> =
            slots.iter().zip(&changed).map(|(slot, body)| add_entry(raw, mutant, *slot, *body)).collect();
        add_to_used(raw, LLVMGetModuleContext(raw), &entries);
    }
    true
}

/// The program without any change, for objects of [`lower_gathered`]: a function that has mutants does what the body in its
/// slot does, at first its own.
pub fn lower_gathering(module: &Module, draft: &Draft) {
    let functions = walk_functions(module);
    let bodies = draft.functions.iter().flat_map(|function| &function.bodies);
    let members: Vec<LLVMValueRef> =
        bodies.flat_map(|body| &body.members).map(|member| functions[*member]).collect();
    share(module);
    for member in members {
        // SAFETY: the function belongs to the module and has a body.
        unsafe { lead_through_slot(module.as_mut_ptr(), member) };
    }
}

/// Sets the body of a function aside, and lets everything that refers to the function come to it through a slot.
///
/// # Safety
/// The function belongs to the module, which is alive, and has a body.
unsafe fn lead_through_slot(module: LLVMModuleRef, function: LLVMValueRef) {
    // SAFETY: promised by the caller.
    unsafe {
        let name = name_of(function);
        let aside = format!("{name}.original");
        LLVMSetValueName2(function, aside.as_ptr().cast(), aside.len());
        let function_type = LLVMGlobalGetValueType(function);
        let symbol = CString::new(name.as_str()).expect("symbols have no zero byte");
        let leading = LLVMAddFunction(module, symbol.as_ptr(), function_type);
        LLVMSetFunctionCallConv(leading, LLVMGetFunctionCallConv(function));
        LLVMSetVisibility(leading, LLVMGetVisibility(function));
        copy_attributes(function, leading);
        remove_promise_of_end(leading);
        LLVMReplaceAllUsesWith(function, leading);
        LLVMSetComdat(function, std::ptr::null_mut());
        LLVMSetLinkage(function, LLVMLinkage::LLVMExternalLinkage);
        LLVMSetVisibility(function, LLVMVisibility::LLVMHiddenVisibility);
        let slot = add_slot(module, &name);
        LLVMSetInitializer(slot, function);
        call_through(slot, leading);
        // Nothing is concluded from what it does, and nobody has a copy of it.
        make_replaceable(&[leading]);
    }
}

/// Gives `leading` a body that hands everything on to the function in `slot`.
///
/// # Safety
/// Both belong to a live module; the function has no body yet.
unsafe fn call_through(slot: LLVMValueRef, leading: LLVMValueRef) {
    let none = c"".as_ptr();
    // SAFETY: promised by the caller; a `musttail` call has the type and the attributes of the function it stands in.
    unsafe {
        let context = LLVMGetModuleContext(LLVMGetGlobalParent(leading));
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, leading, none));
        let function_type = LLVMGlobalGetValueType(leading);
        let n_parameters = LLVMCountParams(leading);
        let mut arguments: Vec<_> = (0..n_parameters).map(|index| LLVMGetParam(leading, index)).collect();
        let body = LLVMBuildLoad2(builder, LLVMPointerTypeInContext(context, 0), slot, none);
        // What constructors do is computed by the optimiser if it can be, from what variables hold at first.
        LLVMSetVolatile(body, 1);
        let call = LLVMBuildCall2(builder, function_type, body, arguments.as_mut_ptr(), n_parameters, none);
        LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(leading));
        // Recursion must not take more of the stack than it does in a build of the mutant's own.
        LLVMSetTailCallKind(call, LLVMTailCallKind::LLVMTailCallKindMustTail);
        for index in 0..=n_parameters {
            for attribute in attributes_at(leading, index) {
                LLVMAddCallSiteAttribute(call, index, attribute);
            }
        }
        match LLVMGetTypeKind(LLVMGetReturnType(function_type)) {
            LLVMTypeKind::LLVMVoidTypeKind => LLVMBuildRetVoid(builder),
            _ => LLVMBuildRet(builder, call),
        };
        LLVMDisposeBuilder(builder);
    }
}

/// Adds the slot of the function `name`, without saying what it holds.
///
/// # Safety
/// The module is alive.
unsafe fn add_slot(module: LLVMModuleRef, name: &str) -> LLVMValueRef {
    let name = CString::new(format!("{name}.slot")).expect("symbols have no zero byte");
    // SAFETY: promised by the caller.
    unsafe {
        let pointer = LLVMPointerTypeInContext(LLVMGetModuleContext(module), 0);
        let slot = LLVMAddGlobal(module, pointer, name.as_ptr());
        LLVMSetVisibility(slot, LLVMVisibility::LLVMHiddenVisibility);
        slot
    }
}

/// Says which body a mutant has, and for which slot.
///
/// # Safety
/// Slot and body belong to the module, which is alive.
unsafe fn add_entry(
    module: LLVMModuleRef,
    mutant: StableId,
    slot: LLVMValueRef,
    body: LLVMValueRef,
) -> LLVMValueRef {
    // SAFETY: promised by the caller.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let id = LLVMConstInt(LLVMInt64TypeInContext(context), mutant.0, 0);
        let mut fields = [id, slot, body];
        let entry = LLVMConstStructInContext(context, fields.as_mut_ptr(), fields.len() as u32, 0);
        let global = LLVMAddGlobal(module, LLVMTypeOf(entry), c"cairn.entry".as_ptr());
        LLVMSetInitializer(global, entry);
        LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
        LLVMSetSection(global, SECTION.as_ptr());
        LLVMSetAlignment(global, 8);
        global
    }
}

/// # Safety
/// The function belongs to a live module.
unsafe fn name_of(function: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: promised by the caller; LLVM says how long the name is.
    unsafe {
        let name = LLVMGetValueName2(function, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(name.cast(), length)).into_owned()
    }
}
