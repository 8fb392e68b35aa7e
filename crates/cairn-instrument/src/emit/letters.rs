//! `tolower` and `toupper` without a call.
//!
//! Bitcode is preprocessed as at `-O0`, where glibc's header declares them as functions. At `-O2`, which is how programs
//! are compiled for use, it defines them inline, and programs that compare letters spend much of their time there.

use inkwell::{
    llvm_sys::{
        LLVMAttributeFunctionIndex, LLVMCallConv::LLVMCCallConv, LLVMIntPredicate, LLVMLinkage,
        LLVMOpcode::LLVMCall, core::*, prelude::*,
    },
    module::Module,
};
use std::ffi::CStr;

/// Makes calls of both look into the C library's table, as its header does:
///
/// ```text
///   define internal i32 @cairn.tolower(i32 %c) alwaysinline {
///     return -128 <= %c && %c < 256 ? (*__ctype_tolower_loc())[%c] : %c
///   }
/// ```
///
/// A program that defines them itself keeps its own.
pub fn look_up(module: &Module) {
    for [name, ours, table] in [
        [c"tolower", c"cairn.tolower", c"__ctype_tolower_loc"],
        [c"toupper", c"cairn.toupper", c"__ctype_toupper_loc"],
    ] {
        // SAFETY: the module is alive.
        unsafe { look_up_one(module.as_mut_ptr(), name, ours, table) };
    }
}

/// # Safety
/// The module is alive.
unsafe fn look_up_one(module: LLVMModuleRef, name: &CStr, ours: &CStr, table: &CStr) {
    // SAFETY: promised by the caller. Only the callee of a call is replaced, by a function of the same type.
    unsafe {
        let function = LLVMGetNamedFunction(module, name.as_ptr());
        if function.is_null() || LLVMIsDeclaration(function) == 0 {
            return;
        }
        let int = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
        let mut parameter = int;
        let expected = LLVMFunctionType(int, &mut parameter, 1, 0);
        if LLVMGlobalGetValueType(function) != expected {
            return;
        }
        let calls: Vec<_> = users(function)
            .into_iter()
            .filter(|user| {
                !LLVMIsAInstruction(*user).is_null()
                    && LLVMGetInstructionOpcode(*user) == LLVMCall
                    && LLVMGetCalledValue(*user) == function
                    && LLVMGetCalledFunctionType(*user) == expected
                    && LLVMGetInstructionCallConv(*user) == LLVMCCallConv as u32
            })
            .collect();
        if calls.is_empty() {
            return;
        }
        let ours = define(module, ours, table);
        for call in calls {
            LLVMSetOperand(call, LLVMGetNumOperands(call) as u32 - 1, ours);
        }
    }
}

/// # Safety
/// The value belongs to a live module.
unsafe fn users(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut users = Vec::new();
    // SAFETY: promised by the caller.
    unsafe {
        let mut used = LLVMGetFirstUse(value);
        while !used.is_null() {
            users.push(LLVMGetUser(used));
            used = LLVMGetNextUse(used);
        }
    }
    users
}

/// # Safety
/// The module is alive.
unsafe fn define(module: LLVMModuleRef, name: &CStr, table: &CStr) -> LLVMValueRef {
    let none = c"".as_ptr();
    // SAFETY: promised by the caller; everything made here belongs to the module's context.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let (int, pointer) = (LLVMInt32TypeInContext(context), LLVMPointerTypeInContext(context, 0));
        let add_attributes = |function, names: &[&str]| {
            for name in names {
                let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                let attribute = LLVMCreateEnumAttribute(context, kind, 0);
                LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
            }
        };
        let place_type = LLVMFunctionType(pointer, std::ptr::null_mut(), 0, 0);
        let mut place = LLVMGetNamedFunction(module, table.as_ptr());
        if place.is_null() {
            place = LLVMAddFunction(module, table.as_ptr(), place_type);
            // Where a thread's table is noted does not change; which one it is may. The value 0 of `memory` is `none`.
            add_attributes(place, &["nounwind", "willreturn", "memory"]);
        }
        let mut parameter = int;
        let function = LLVMAddFunction(module, name.as_ptr(), LLVMFunctionType(int, &mut parameter, 1, 0));
        LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        add_attributes(function, &["alwaysinline", "nounwind", "willreturn"]);
        let block = || LLVMAppendBasicBlockInContext(context, function, none);
        let (entry, inside, outside) = (block(), block(), block());
        let builder = LLVMCreateBuilderInContext(context);
        let character = LLVMGetParam(function, 0);
        LLVMPositionBuilderAtEnd(builder, entry);
        let shifted = LLVMBuildAdd(builder, character, LLVMConstInt(int, 128, 0), none);
        let size = LLVMConstInt(int, 128 + 256, 0);
        let is_inside = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntULT, shifted, size, none);
        LLVMBuildCondBr(builder, is_inside, inside, outside);
        LLVMPositionBuilderAtEnd(builder, inside);
        let place = LLVMBuildCall2(builder, place_type, place, std::ptr::null_mut(), 0, none);
        let table = LLVMBuildLoad2(builder, pointer, place, none);
        let mut index = LLVMBuildSExt(builder, character, LLVMInt64TypeInContext(context), none);
        let entry = LLVMBuildInBoundsGEP2(builder, int, table, &mut index, 1, none);
        LLVMBuildRet(builder, LLVMBuildLoad2(builder, int, entry, none));
        LLVMPositionBuilderAtEnd(builder, outside);
        LLVMBuildRet(builder, character);
        LLVMDisposeBuilder(builder);
        function
    }
}
