//! What the runtime offers to code with labels.

use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMVisibility, core::*, prelude::*};
use std::{cell::RefCell, collections::HashMap, ffi::CString};

/// Functions of the runtime, declared when they are first used.
pub(super) struct Runtime {
    module: LLVMModuleRef,
    known: RefCell<HashMap<&'static str, (LLVMTypeRef, LLVMValueRef)>>,
    /// The runtime's [`cairn_abi::symbolic::state::CallState`].
    pub state: LLVMValueRef,
}

/// What a function of the runtime takes and gives.
pub(super) struct Signature {
    pub name: &'static str,
    /// `i` 32 bits, `l` 64 bits, `p` a pointer.
    pub parameters: &'static str,
    /// `i`, or `v` for nothing.
    pub result: char,
}

impl Runtime {
    pub fn new(module: LLVMModuleRef) -> Self {
        // SAFETY: the module is alive.
        let state = unsafe {
            let byte = LLVMInt8TypeInContext(LLVMGetModuleContext(module));
            let size = size_of::<cairn_abi::symbolic::state::CallState>() as u64;
            let name = CString::new(cairn_abi::symbolic::state::CALL_STATE_SYMBOL).expect("no zero byte");
            let state = LLVMAddGlobal(module, LLVMArrayType2(byte, size), name.as_ptr());
            LLVMSetAlignment(state, 64);
            LLVMSetVisibility(state, LLVMVisibility::LLVMHiddenVisibility);
            state
        };
        Self { module, known: RefCell::default(), state }
    }

    /// Calls a function of the runtime at the builder's position.
    ///
    /// # Safety
    /// The builder is positioned where the arguments, of the right types, are known.
    pub unsafe fn call(
        &self,
        builder: LLVMBuilderRef,
        signature: &Signature,
        arguments: &mut [LLVMValueRef],
    ) -> LLVMValueRef {
        // SAFETY: promised by the caller.
        unsafe {
            let (function_type, function) = self.function(signature);
            LLVMBuildCall2(
                builder,
                function_type,
                function,
                arguments.as_mut_ptr(),
                arguments.len() as u32,
                c"".as_ptr(),
            )
        }
    }

    unsafe fn function(&self, signature: &Signature) -> (LLVMTypeRef, LLVMValueRef) {
        let mut known = self.known.borrow_mut();
        *known.entry(signature.name).or_insert_with(|| {
            // SAFETY: the module is alive; all types belong to its context.
            unsafe {
                let context = LLVMGetModuleContext(self.module);
                let type_of = |letter: char| match letter {
                    'i' => LLVMInt32TypeInContext(context),
                    'l' => LLVMInt64TypeInContext(context),
                    'p' => LLVMPointerTypeInContext(context, 0),
                    _ => LLVMVoidTypeInContext(context),
                };
                let mut parameters: Vec<_> = signature.parameters.chars().map(type_of).collect();
                let count = parameters.len() as u32;
                let result = type_of(signature.result);
                let function_type = LLVMFunctionType(result, parameters.as_mut_ptr(), count, 0);
                let name = CString::new(signature.name).expect("our names have no zero byte");
                // A model may have declared it.
                let mut function = LLVMGetNamedFunction(self.module, name.as_ptr());
                if function.is_null() {
                    function = LLVMAddFunction(self.module, name.as_ptr(), function_type);
                }
                for attribute in ["nounwind", "cold"] {
                    let kind = LLVMGetEnumAttributeKindForName(attribute.as_ptr().cast(), attribute.len());
                    let attribute = LLVMCreateEnumAttribute(context, kind, 0);
                    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
                }
                (function_type, function)
            }
        })
    }
}

macro_rules! signatures {
    ($($constant:ident = $name:literal ($parameters:literal) -> $result:literal;)*) => {
        $(pub(super) const $constant: Signature =
            Signature { name: $name, parameters: $parameters, result: $result };)*
    };
}

signatures! {
    // Operation and width; labels; values; the result.
    BINARY = "cairn_symbolic_binary"("iiilll") -> 'i';
    // The same for 128 bits: values as low and high halves.
    BINARY_WIDE = "cairn_symbolic_binary_wide"("iiilllll") -> 'i';
    UNARY = "cairn_symbolic_unary"("iil") -> 'i';
    ITE = "cairn_symbolic_ite"("iiiilll") -> 'i';
    FLOAT_COMPARE = "cairn_symbolic_float_compare"("iiilll") -> 'i';
    MATH = "cairn_symbolic_math"("iiilll") -> 'i';
    INTRINSIC = "cairn_symbolic_intrinsic"("iiilll") -> 'i';
    FUNNEL = "cairn_symbolic_funnel"("iiiilll") -> 'i';
    OPAQUE = "cairn_symbolic_opaque"("ilii") -> 'i';
    LOAD = "cairn_symbolic_load"("pll") -> 'i';
    LOAD_AT = "cairn_symbolic_load_at"("plli") -> 'i';
    STORE = "cairn_symbolic_store"("pli") -> 'v';
    STORE_AT = "cairn_symbolic_store_at"("plii") -> 'v';
    COPY = "cairn_symbolic_copy"("ppl") -> 'v';
    SET = "cairn_symbolic_set"("pil") -> 'v';
    CONDITION = "cairn_symbolic_condition"("iii") -> 'v';
    SWITCH = "cairn_symbolic_switch"("pil") -> 'v';
    ENTER = "cairn_symbolic_enter"("i") -> 'v';
    LEAVE = "cairn_symbolic_leave"("i") -> 'v';
    // The probe and its place; the value's label and bits; labels, values and widths of operands.
    SITE = "cairn_symbolic_site"("ililiilli") -> 'v';
    // Something with a label was given to a function with this name, if not 0.
    GIVEN = "cairn_symbolic_given"("pl") -> 'v';
    // Not 0 if one of the first of so many bytes has a label.
    MARKED = "cairn_symbolic_marked"("pl") -> 'l';
    // A label, joined with those of up to so many bytes.
    POINTED = "cairn_symbolic_pointed"("ipl") -> 'i';
    PIN = "cairn_symbolic_pin"("il") -> 'v';
    ADDRESS = "cairn_symbolic_address"("plii") -> 'v';
    SAVE_VARIABLE = "cairn_symbolic_save_variable"("pi") -> 'v';
    START_VARIABLE = "cairn_symbolic_start_variable"("ppii") -> 'v';
}
