//! Functions we know nothing of that a program calls through pointers.

use super::{
    calls::{Callee, callee_of, kind_of_function},
    name_of,
};
use crate::symbolic::models::Known;
use inkwell::llvm_sys::{core::*, prelude::*};
use std::collections::HashMap;

/// Functions that are not followed and whose address the program uses, by their type.
#[derive(Default)]
pub struct Pointers(HashMap<LLVMTypeRef, Vec<LLVMValueRef>>);

impl Pointers {
    /// Those of a module.
    ///
    /// # Safety
    /// The module is alive.
    pub unsafe fn of(module: LLVMModuleRef, known: &Known) -> Self {
        let mut by_type: HashMap<LLVMTypeRef, Vec<LLVMValueRef>> = HashMap::new();
        // SAFETY: promised by the caller.
        unsafe {
            let mut function = LLVMGetFirstFunction(module);
            while !function.is_null() {
                let is_unknown = matches!(kind_of_function(function), Callee::Unknown | Callee::Memory);
                if is_unknown
                    && !known.replaced.contains(&name_of(function))
                    && has_its_address_used(function)
                {
                    by_type.entry(LLVMGlobalGetValueType(function)).or_default().push(function);
                }
                function = LLVMGetNextFunction(function);
            }
        }
        Self(by_type)
    }

    /// Those that a call may lead to.
    ///
    /// # Safety
    /// The call belongs to the live module.
    pub unsafe fn behind(&self, call: LLVMValueRef) -> &[LLVMValueRef] {
        // SAFETY: promised by the caller.
        unsafe {
            match callee_of(call) {
                Callee::Indirect => self.0.get(&LLVMGetCalledFunctionType(call)).map_or(&[], Vec::as_slice),
                _ => &[],
            }
        }
    }
}

/// Whether a function is used for something else than to be called.
unsafe fn has_its_address_used(function: LLVMValueRef) -> bool {
    // SAFETY: the caller has a function of a live module.
    unsafe {
        let mut used = LLVMGetFirstUse(function);
        while !used.is_null() {
            let user = LLVMGetUser(used);
            let is_call = !LLVMIsACallInst(user).is_null() || !LLVMIsAInvokeInst(user).is_null();
            let is_argument =
                || (0..LLVMGetNumArgOperands(user)).any(|at| LLVMGetOperand(user, at) == function);
            if !is_call || is_argument() {
                return true;
            }
            used = LLVMGetNextUse(used);
        }
        false
    }
}
