//! Notes where functions are entered and left.
//!
//! ```text
//!   call void @cairn.mark.enter(i32 FUNCTION)              at the beginning
//!   %depth = call i32 @cairn_symbolic_depth()              only where control may come back in another way
//!   …
//!   %again = call i32 @_setjmp(…)        landingpad …
//!   call void @cairn_symbolic_back(i32 %depth, i32 HOW)    behind either
//!   …
//!   call void @cairn.mark.leave(i32 FUNCTION)
//!   ret …
//! ```
//! What was running in between was left, which the runtime tells by the depth. The depth is computed before, so it is the same
//! however control comes back.

use super::{labels::is_naked, marks::declare_mark};
use crate::ir::{instructions, walk_functions};
use cairn_abi::record::Leaving;
use cairn_model::FunctionId;
use inkwell::{
    llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode::*, LLVMTailCallKind, core::*, prelude::*},
    module::Module,
};

/// The function whose calls say that a function is entered.
pub const MARK_ENTER: &str = "cairn.mark.enter";
/// The function whose calls say that a function returns.
pub const MARK_LEAVE: &str = "cairn.mark.leave";

/// Functions of a module that have an id.
pub struct ResolvedFrames(Vec<(LLVMValueRef, FunctionId)>);

/// Looks up the functions whose ids are given, by function in module order.
pub fn resolve_frames(module: &Module, ids: &[Option<FunctionId>]) -> ResolvedFrames {
    let functions = walk_functions(module).into_iter().zip(ids);
    let functions = functions.filter_map(|(function, id)| id.map(|id| (function, id)));
    // SAFETY: the functions belong to the live module.
    ResolvedFrames(functions.filter(|(function, _)| unsafe { !is_naked(*function) }).collect())
}

/// Marks them.
pub fn insert(module: &Module, frames: &ResolvedFrames) {
    let module = module.as_mut_ptr();
    // SAFETY: the module is alive; everything made here belongs to its context.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let number = LLVMInt32TypeInContext(context);
        let builder = LLVMCreateBuilderInContext(context);
        let void = LLVMVoidTypeInContext(context);
        let function = |name: &std::ffi::CStr, result, parameters: &mut [LLVMTypeRef]| {
            let function_type = LLVMFunctionType(result, parameters.as_mut_ptr(), parameters.len() as u32, 0);
            LLVMAddFunction(module, name.as_ptr(), function_type)
        };
        let marker = Marker {
            number,
            builder,
            enter: declare_mark(module, MARK_ENTER, &mut [number], false),
            leave: declare_mark(module, MARK_LEAVE, &mut [number], false),
            depth: function(c"cairn_symbolic_depth", number, &mut []),
            back: function(c"cairn_symbolic_back", void, &mut [number, number]),
        };
        for function in [marker.depth, marker.back] {
            let kind = LLVMGetEnumAttributeKindForName(c"nounwind".as_ptr(), 8);
            let attribute = LLVMCreateEnumAttribute(context, kind, 0);
            LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
        }
        for (function, id) in &frames.0 {
            marker.mark(*function, *id);
        }
        LLVMDisposeBuilder(builder);
    }
}

struct Marker {
    number: LLVMTypeRef,
    builder: LLVMBuilderRef,
    enter: LLVMValueRef,
    leave: LLVMValueRef,
    depth: LLVMValueRef,
    back: LLVMValueRef,
}

impl Marker {
    /// # Safety
    /// The function has a body in the live module.
    unsafe fn mark(&self, function: LLVMValueRef, id: FunctionId) {
        // SAFETY: promised by the caller; instructions are only added.
        unsafe {
            let all = all_instructions(function);
            let returns: Vec<_> = all.iter().filter(|at| LLVMGetInstructionOpcode(**at) == LLVMRet).collect();
            let resumed: Vec<_> = all.iter().filter_map(|at| comes_back(*at).map(|how| (*at, how))).collect();
            let first = all.iter().find(|at| LLVMGetInstructionOpcode(**at) != LLVMAlloca);
            LLVMPositionBuilderBefore(self.builder, *first.expect("a block has a terminator"));
            let id = self.constant(id.0);
            self.call(self.enter, &mut [id]);
            if !resumed.is_empty() {
                let depth = self.call(self.depth, &mut []);
                for (at, how) in resumed {
                    LLVMPositionBuilderBefore(self.builder, LLVMGetNextInstruction(at));
                    self.call(self.back, &mut [depth, self.constant(how as u32)]);
                }
            }
            for ret in returns {
                LLVMPositionBuilderBefore(self.builder, before_return(*ret));
                self.call(self.leave, &mut [id]);
            }
        }
    }

    fn constant(&self, value: u32) -> LLVMValueRef {
        // SAFETY: the type belongs to a live context.
        unsafe { LLVMConstInt(self.number, value.into(), 0) }
    }

    unsafe fn call(&self, callee: LLVMValueRef, arguments: &mut [LLVMValueRef]) -> LLVMValueRef {
        // SAFETY: the builder is positioned where the arguments are known.
        unsafe {
            let (function_type, count) = (LLVMGlobalGetValueType(callee), arguments.len() as u32);
            LLVMBuildCall2(self.builder, function_type, callee, arguments.as_mut_ptr(), count, c"".as_ptr())
        }
    }
}

unsafe fn all_instructions(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    // SAFETY: the caller has a function of a live module.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            all.extend(instructions(block));
            block = LLVMGetNextBasicBlock(block);
        }
    }
    all
}

/// How functions were left when control comes back behind an instruction in another way than by their returns.
unsafe fn comes_back(at: LLVMValueRef) -> Option<Leaving> {
    // SAFETY: the caller has an instruction of a live module.
    unsafe {
        match LLVMGetInstructionOpcode(at) {
            LLVMLandingPad => Some(Leaving::Unwind),
            LLVMCall if returns_twice(at) => Some(Leaving::Longjmp),
            _ => None,
        }
    }
}

/// Whether control may come back behind a call again, as behind `setjmp`.
///
/// # Safety
/// The call belongs to a live module.
pub(super) unsafe fn returns_twice(call: LLVMValueRef) -> bool {
    // SAFETY: the caller has a call of a live module.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(c"returns_twice".as_ptr(), 13);
        let callee = LLVMGetCalledValue(call);
        let is_told = |attribute: LLVMAttributeRef| !attribute.is_null();
        is_told(LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind))
            || !LLVMIsAFunction(callee).is_null()
                && is_told(LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind))
    }
}

/// Where a function still runs that returns with `ret`: a call that has to be the last thing comes after.
///
/// # Safety
/// The instruction belongs to a live module.
pub(super) unsafe fn before_return(ret: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: promised by the caller.
    unsafe {
        let before = LLVMGetPreviousInstruction(ret);
        let is_last = !before.is_null()
            && LLVMGetInstructionOpcode(before) == LLVMCall
            && LLVMGetTailCallKind(before) as u32 == LLVMTailCallKind::LLVMTailCallKindMustTail as u32;
        if is_last { before } else { ret }
    }
}
