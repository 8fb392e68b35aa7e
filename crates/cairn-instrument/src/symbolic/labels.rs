//! Computes a label beside every value that may depend on the input.
//!
//! The program's own code stays as it is. Within a block, everything between two calls is one *region*: at its end one test
//! asks whether anything that comes in has a label, and only then the labels of all its values are computed, in order.
//!
//! ```text
//!   %x = load i32, ptr %p                          %x = load i32, ptr %p
//!   %y = add i32 %x, %n                            %y = add i32 %x, %n
//!   store i32 %y, ptr %q              becomes      store i32 %y, ptr %q
//!   …                                              %any = or (labels of %n, what lies in the shadow of %p and %q)
//!                                                  br (%any != 0), label %slow, label %next          ; hardly ever
//!                                                slow:
//!                                                  %lx = call i32 @cairn_symbolic_load(%p, 4)
//!                                                  %ly = call i32 @cairn_symbolic_binary(add, %lx, %ln, %x, %n, %y)
//!                                                  call void @cairn_symbolic_store(%q, 4, %ly)
//!                                                  br label %next
//!                                                next:
//!                                                  %label.of.y = phi i32 [ 0, … ], [ %ly, %slow ]
//! ```
//! When nothing that comes in has a label, no value of the region has one, and no store changes the shadow; so it does not
//! matter that the test comes after the program's own code.

mod calls;
mod emit;
mod events;
mod intrinsics;
mod memory;
mod pointers;
mod reach;
mod region;
mod runtime;
mod shape;
mod table;
mod values;
mod vectors;

pub use self::table::Treatment;

use self::{pointers::Pointers, region::Body, runtime::Runtime};
use super::models::Known;
use crate::{ir::instructions, lower::edges};
use inkwell::{
    llvm_sys::{LLVMOpcode::*, core::*, prelude::*, target::*},
    module::Module,
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet, HashSet},
};

/// Computes labels in all functions of a module, with what is known of those it calls. Returns the names of LLVM's functions
/// that nobody has looked at: what they compute is opaque.
pub fn compute(module: &Module, known: &Known) -> BTreeSet<String> {
    let mut pass = Pass::new(module, known.clone());
    let functions = pass.functions();
    // SAFETY: the functions belong to the live module.
    unsafe {
        forget_purity(pass.module);
        pass.pointers = Pointers::of(pass.module, known);
    }
    for function in functions {
        Body::new(&pass, function).compute();
    }
    pass.unknown.take()
}

/// Counts instructions by kind and LLVM's own functions by name, with how well each is followed.
pub fn count(module: &Module, census: &mut BTreeMap<String, (Option<Treatment>, usize)>) {
    let pass = Pass::new(module, Known::default());
    // SAFETY: the module is alive.
    unsafe {
        let mut function = LLVMGetFirstFunction(pass.module);
        while !function.is_null() {
            for instruction in all_instructions(function) {
                let (name, treatment) = pass.kind_of(instruction);
                census.entry(name).or_insert((treatment, 0)).1 += 1;
            }
            function = LLVMGetNextFunction(function);
        }
    }
}

/// What is the same for all functions.
struct Pass {
    module: LLVMModuleRef,
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    layout: LLVMTargetDataRef,
    runtime: Runtime,
    i32_type: LLVMTypeRef,
    i64_type: LLVMTypeRef,
    pointer: LLVMTypeRef,
    /// Label 0.
    zero: LLVMValueRef,
    /// Of functions for which there are models: only models call them.
    known: Known,
    /// What calls through pointers may lead to, of which we know nothing.
    pointers: Pointers,
    /// Names of intrinsic functions that nobody has looked at.
    unknown: RefCell<BTreeSet<String>>,
    /// Says that a branch is hardly ever taken.
    unlikely: LLVMValueRef,
    unlikely_kind: u32,
}

impl Drop for Pass {
    fn drop(&mut self) {
        // SAFETY: made by us and not used afterwards.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl Pass {
    fn new(module: &Module, known: Known) -> Self {
        let module = module.as_mut_ptr();
        // SAFETY: everything belongs to the module's context.
        unsafe {
            let context = LLVMGetModuleContext(module);
            let i32_type = LLVMInt32TypeInContext(context);
            let number = |value| LLVMValueAsMetadata(LLVMConstInt(i32_type, value, 0));
            let text = "branch_weights";
            let mut weights = [
                LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len()),
                number(1),
                number(1 << 20),
            ];
            let weights = LLVMMDNodeInContext2(context, weights.as_mut_ptr(), weights.len());
            Self {
                module,
                context,
                builder: LLVMCreateBuilderInContext(context),
                layout: LLVMGetModuleDataLayout(module),
                runtime: Runtime::new(module),
                i32_type,
                i64_type: LLVMInt64TypeInContext(context),
                pointer: LLVMPointerTypeInContext(context, 0),
                zero: LLVMConstInt(i32_type, 0, 0),
                known,
                pointers: Pointers::default(),
                unknown: RefCell::default(),
                unlikely: LLVMMetadataAsValue(context, weights),
                unlikely_kind: LLVMGetMDKindIDInContext(context, c"prof".as_ptr(), 4),
            }
        }
    }

    /// What an instruction is called in a census, and how well it is followed.
    ///
    /// # Safety
    /// The instruction belongs to the live module.
    unsafe fn kind_of(&self, instruction: LLVMValueRef) -> (String, Option<Treatment>) {
        // SAFETY: promised by the caller.
        unsafe {
            let opcode = LLVMGetInstructionOpcode(instruction);
            let called = match opcode {
                LLVMCall | LLVMInvoke => LLVMGetCalledValue(instruction),
                _ => std::ptr::null_mut(),
            };
            if !called.is_null() && !LLVMIsAInlineAsm(called).is_null() {
                return ("assembly".into(), Some(Treatment::Opaque));
            }
            let is_intrinsic =
                !called.is_null() && !LLVMIsAFunction(called).is_null() && LLVMGetIntrinsicID(called) != 0;
            if is_intrinsic {
                let name = name_of(called);
                let treatment = table::of_intrinsic(&name);
                return (name, treatment);
            }
            let name = format!("{opcode:?}").trim_start_matches("LLVM").to_lowercase();
            let treatment = table::of_opcode(opcode);
            let mut types = vec![LLVMTypeOf(instruction)];
            types.extend(values::operands(instruction).into_iter().map(|operand| LLVMTypeOf(operand)));
            let is_other = types
                .into_iter()
                .any(|of| self.leaves(of).iter().any(|leaf| leaf.kind == shape::LeafKind::Other));
            match treatment {
                Some(Treatment::Exact) if is_other => {
                    (format!("{name} of other types"), Some(Treatment::Opaque))
                }
                treatment => (name, treatment),
            }
        }
    }

    /// Functions whose values get labels.
    fn functions(&self) -> Vec<LLVMValueRef> {
        let mut functions = Vec::new();
        // SAFETY: the module is alive.
        unsafe {
            let mut function = LLVMGetFirstFunction(self.module);
            while !function.is_null() {
                if LLVMIsDeclaration(function) == 0 && !is_naked(function) && name_of(function) != "main" {
                    self.give_results_a_block(function);
                    functions.push(function);
                }
                function = LLVMGetNextFunction(function);
            }
        }
        functions
    }

    /// Makes sure that what follows an `invoke` is reached from nowhere else.
    ///
    /// # Safety
    /// The function belongs to the live module.
    unsafe fn give_results_a_block(&self, function: LLVMValueRef) {
        // SAFETY: promised by the caller.
        unsafe {
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let end = LLVMGetBasicBlockTerminator(block);
                if LLVMGetInstructionOpcode(end) == LLVMInvoke {
                    edges::position_on_edges(self.builder, self.context, end, &[0]);
                }
                block = LLVMGetNextBasicBlock(block);
            }
        }
    }
}

/// A function that touched no memory passes labels now.
///
/// # Safety
/// The module is alive.
unsafe fn forget_purity(module: LLVMModuleRef) {
    let kinds = ["memory", "speculatable"].map(|name| {
        // SAFETY: the name is a string of this length.
        unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
    });
    let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
    // SAFETY: promised by the caller.
    unsafe {
        let is_intrinsic =
            |callee: LLVMValueRef| !LLVMIsAFunction(callee).is_null() && LLVMGetIntrinsicID(callee) != 0;
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            if !is_intrinsic(function) {
                kinds.iter().for_each(|kind| LLVMRemoveEnumAttributeAtIndex(function, index, *kind));
            }
            for instruction in all_instructions(function) {
                let is_call =
                    matches!(LLVMGetInstructionOpcode(instruction), LLVMCall | LLVMInvoke | LLVMCallBr);
                if is_call && !is_intrinsic(LLVMGetCalledValue(instruction)) {
                    kinds.iter().for_each(|kind| LLVMRemoveCallSiteEnumAttribute(instruction, index, *kind));
                }
            }
            function = LLVMGetNextFunction(function);
        }
    }
}

/// # Safety
/// The function belongs to a live module.
pub(super) unsafe fn is_naked(function: LLVMValueRef) -> bool {
    let name = "naked";
    // SAFETY: promised by the caller.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        !LLVMGetEnumAttributeAtIndex(function, index, kind).is_null()
    }
}

/// # Safety
/// The value belongs to a live module.
unsafe fn name_of(value: LLVMValueRef) -> String {
    // SAFETY: promised by the caller; the name is copied.
    unsafe {
        let mut length = 0;
        let name = LLVMGetValueName2(value, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(name.cast(), length)).into_owned()
    }
}

/// The blocks of a function, each after one of those it is reached from.
///
/// # Safety
/// The function belongs to a live module.
unsafe fn blocks_in_order(function: LLVMValueRef) -> Vec<LLVMBasicBlockRef> {
    // SAFETY: promised by the caller.
    unsafe {
        let entry = LLVMGetEntryBasicBlock(function);
        let mut finished = Vec::new();
        let mut seen = HashSet::from([entry]);
        let mut open = vec![(entry, 0)];
        while let Some((block, next)) = open.last_mut() {
            let end = LLVMGetBasicBlockTerminator(*block);
            if *next < LLVMGetNumSuccessors(end) {
                let successor = LLVMGetSuccessor(end, *next);
                *next += 1;
                if seen.insert(successor) {
                    open.push((successor, 0));
                }
            } else {
                finished.push(*block);
                open.pop();
            }
        }
        finished.reverse();
        finished
    }
}

/// All instructions of a function.
///
/// # Safety
/// The function belongs to a live module.
unsafe fn all_instructions(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    // SAFETY: promised by the caller.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            all.extend(instructions(block));
            block = LLVMGetNextBasicBlock(block);
        }
    }
    all
}
