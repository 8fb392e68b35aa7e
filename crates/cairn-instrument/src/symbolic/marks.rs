//! Notes where conditions are evaluated.
//!
//! ```text
//!   call void @cairn.mark(i32 CONDITION, i1 %c)
//!   br i1 %c, label %t, label %f
//! ```
//! A mark has effects of its own, so optimisation keeps it wherever the condition would have been evaluated, whatever becomes of
//! the branch. Branches that are no conditions of the map are marked too, without a number: they belong to the path.

use crate::{
    ir::{Definition, instructions, walk_functions},
    plan::{Mark, Plan, ValueAt},
};
use cairn_abi::symbolic::switch::{INVERTED, NO_CONDITION};
use inkwell::{
    llvm_sys::{LLVMLinkage, LLVMOpcode::*, LLVMUnnamedAddr, core::*, prelude::*},
    module::Module,
};
use std::collections::HashSet;

/// The function whose calls are marks of conditions.
pub const MARK: &str = "cairn.mark";
/// The function whose calls are marks of switches.
pub const MARK_SWITCH: &str = "cairn.mark.switch";

/// Marks as values of a module: positions would move.
#[derive(Default)]
pub struct ResolvedMarks {
    marks: Vec<Resolved>,
    /// Branches and switches that are marked.
    named: HashSet<LLVMValueRef>,
}

enum Resolved {
    Condition { value: LLVMValueRef, before: LLVMValueRef, number: u32 },
    Switch { switch: LLVMValueRef, conditions: Vec<u32> },
}

/// Looks up where marks go in an unchanged copy of the bitcode.
pub fn resolve(module: &Module, plan: &Plan) -> ResolvedMarks {
    let mut resolved = ResolvedMarks::default();
    for (function, marks) in walk_functions(module).into_iter().zip(&plan.marks) {
        if !marks.is_empty() {
            resolved.add(function, marks);
        }
    }
    resolved
}

impl ResolvedMarks {
    fn add(&mut self, function: LLVMValueRef, marks: &[Mark]) {
        // SAFETY: the plan was made from the same bitcode, so every position exists.
        unsafe {
            let mut blocks: Vec<Vec<LLVMValueRef>> = Vec::new();
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                blocks.push(instructions(block));
                block = LLVMGetNextBasicBlock(block);
            }
            let value_at = |at: &Definition| blocks[at.block][at.instruction];
            let end_of = |block: usize| *blocks[block].last().expect("a block has a terminator");
            for mark in marks {
                match mark {
                    Mark::Branch { block, condition, is_inverted } => {
                        let branch = end_of(*block);
                        let number = condition.0 | if *is_inverted { INVERTED } else { 0 };
                        self.named.insert(branch);
                        let value = LLVMGetCondition(branch);
                        self.marks.push(Resolved::Condition { value, before: branch, number });
                    }
                    Mark::Value { value, at, condition } => {
                        let before = match at {
                            ValueAt::EndOf(block) => end_of(*block),
                            ValueAt::Before(at) => value_at(at),
                        };
                        let value = value_at(value);
                        self.marks.push(Resolved::Condition { value, before, number: condition.0 });
                    }
                    Mark::Switch { block, conditions } => {
                        let switch = end_of(*block);
                        self.named.insert(switch);
                        let number =
                            |id: &Option<_>| id.map_or(NO_CONDITION, |id: cairn_model::ConditionId| id.0);
                        let conditions = conditions.iter().map(number).collect();
                        self.marks.push(Resolved::Switch { switch, conditions });
                    }
                }
            }
        }
    }
}

/// Inserts what was resolved.
pub fn insert(module: &Module, marks: &ResolvedMarks) {
    let marker = Marker::new(module);
    for mark in &marks.marks {
        match mark {
            Resolved::Condition { value, before, number } => marker.condition(*value, *before, *number),
            Resolved::Switch { switch, conditions } => marker.switch(*switch, conditions),
        }
    }
}

/// Marks all branches and switches that have none yet, those of models as well.
pub fn insert_unnamed(module: &Module, marks: &ResolvedMarks) {
    let marker = Marker::new(module);
    // SAFETY: the module is alive; marking adds instructions before the ones looked at.
    unsafe {
        let mut function = LLVMGetFirstFunction(module.as_mut_ptr());
        while !function.is_null() {
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let end = LLVMGetBasicBlockTerminator(block);
                if !end.is_null() && !marks.named.contains(&end) {
                    match LLVMGetInstructionOpcode(end) {
                        LLVMBr if LLVMIsConditional(end) != 0 => {
                            marker.condition(LLVMGetCondition(end), end, NO_CONDITION);
                        }
                        LLVMSwitch => {
                            let n_ways = LLVMGetNumSuccessors(end) as usize;
                            marker.switch(end, &vec![NO_CONDITION; n_ways]);
                        }
                        _ => {}
                    }
                }
                block = LLVMGetNextBasicBlock(block);
            }
            function = LLVMGetNextFunction(function);
        }
    }
}

struct Marker {
    module: LLVMModuleRef,
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    mark: LLVMValueRef,
    mark_switch: LLVMValueRef,
}

impl Drop for Marker {
    fn drop(&mut self) {
        // SAFETY: made by us and not used afterwards.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl Marker {
    fn new(module: &Module) -> Self {
        let module = module.as_mut_ptr();
        // SAFETY: everything belongs to the module's context.
        unsafe {
            let context = LLVMGetModuleContext(module);
            let integer = |bits| LLVMIntTypeInContext(context, bits);
            let pointer = LLVMPointerTypeInContext(context, 0);
            let mark = declare(module, MARK, &mut [integer(32), integer(1)]);
            let mark_switch = declare(module, MARK_SWITCH, &mut [pointer, integer(64)]);
            Self { module, context, builder: LLVMCreateBuilderInContext(context), mark, mark_switch }
        }
    }

    fn condition(&self, value: LLVMValueRef, before: LLVMValueRef, number: u32) {
        // SAFETY: the value is known before the instruction.
        unsafe {
            if LLVMIsConstant(value) != 0 {
                return;
            }
            LLVMPositionBuilderBefore(self.builder, before);
            let number = LLVMConstInt(LLVMInt32TypeInContext(self.context), number.into(), 0);
            self.call(self.mark, &mut [number, value]);
        }
    }

    fn switch(&self, switch: LLVMValueRef, conditions: &[u32]) {
        // SAFETY: the instruction is a switch; its operands are the value, the default, then a value and a block for each case.
        unsafe {
            let value = LLVMGetOperand(switch, 0);
            let width = LLVMGetIntTypeWidth(LLVMTypeOf(value));
            if LLVMIsConstant(value) != 0 || width > 64 {
                return;
            }
            let int = |bits, value: u64| LLVMConstInt(LLVMIntTypeInContext(self.context, bits), value, 0);
            let n_cases = LLVMGetNumSuccessors(switch) as usize - 1;
            let mut fields = vec![
                int(32, n_cases as u64),
                int(32, width.into()),
                int(32, conditions[0].into()),
                int(32, 0),
            ];
            let mut cases: Vec<(u32, LLVMValueRef)> = (0..n_cases)
                .map(|case| (conditions[case + 1], LLVMGetOperand(switch, 2 + 2 * case as u32)))
                .collect();
            cases.sort_by_key(|(condition, _)| *condition);
            for (condition, value) in cases {
                fields.push(int(64, LLVMConstIntGetZExtValue(value)));
                fields.extend([int(32, condition.into()), int(32, 0)]);
            }
            let info = LLVMConstStructInContext(self.context, fields.as_mut_ptr(), fields.len() as u32, 0);
            let global = LLVMAddGlobal(self.module, LLVMTypeOf(info), c"cairn.switch".as_ptr());
            LLVMSetInitializer(global, info);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetUnnamedAddress(global, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            LLVMPositionBuilderBefore(self.builder, switch);
            let wide = LLVMInt64TypeInContext(self.context);
            let value = LLVMBuildZExt(self.builder, value, wide, c"".as_ptr());
            self.call(self.mark_switch, &mut [global, value]);
        }
    }

    /// # Safety
    /// The builder is positioned where the arguments are known.
    unsafe fn call(&self, callee: LLVMValueRef, arguments: &mut [LLVMValueRef]) {
        // SAFETY: promised by the caller.
        unsafe {
            let function_type = LLVMGlobalGetValueType(callee);
            let count = arguments.len() as u32;
            LLVMBuildCall2(self.builder, function_type, callee, arguments.as_mut_ptr(), count, c"".as_ptr());
        }
    }
}

/// Declares a function that touches no memory of the program and returns.
///
/// # Safety
/// The module is alive and the types belong to its context.
unsafe fn declare(module: LLVMModuleRef, name: &str, parameters: &mut [LLVMTypeRef]) -> LLVMValueRef {
    // SAFETY: promised by the caller.
    unsafe { declare_mark(module, name, parameters, false) }
}

/// Likewise; `is_variable` says whether it takes more arguments than its parameters.
///
/// # Safety
/// The module is alive and the types belong to its context.
pub(super) unsafe fn declare_mark(
    module: LLVMModuleRef,
    name: &str,
    parameters: &mut [LLVMTypeRef],
    is_variable: bool,
) -> LLVMValueRef {
    /// How LLVM writes "reads and writes memory that is accessible to nobody here".
    const INACCESSIBLE_MEMORY: u64 = 3 << 2;
    // SAFETY: promised by the caller.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let name = std::ffi::CString::new(name).expect("our names have no zero byte");
        let known = LLVMGetNamedFunction(module, name.as_ptr());
        if !known.is_null() {
            return known;
        }
        let void = LLVMVoidTypeInContext(context);
        let function_type =
            LLVMFunctionType(void, parameters.as_mut_ptr(), parameters.len() as u32, is_variable.into());
        let function = LLVMAddFunction(module, name.as_ptr(), function_type);
        for (attribute, value) in [
            ("nounwind", 0),
            ("willreturn", 0),
            ("nocallback", 0),
            ("nofree", 0),
            ("memory", INACCESSIBLE_MEMORY),
        ] {
            let kind = LLVMGetEnumAttributeKindForName(attribute.as_ptr().cast(), attribute.len());
            let attribute = LLVMCreateEnumAttribute(context, kind, value);
            LLVMAddAttributeAtIndex(function, inkwell::llvm_sys::LLVMAttributeFunctionIndex, attribute);
        }
        function
    }
}
