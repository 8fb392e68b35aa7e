//! Labels across calls: see [`cairn_abi::symbolic::state`].

use super::{
    super::frames::returns_twice,
    Pass,
    events::{MarkKind, mark_kind},
    name_of,
    region::{Body, Defaults, Item, Labels, LookedAt},
    runtime,
    shape::{Leaf, LeafKind},
    values::operands,
    vectors::is_vector,
};
use cairn_abi::symbolic::state::{
    CallState, JUMPED, LOOKED_AT, MAX_ARGUMENTS, MAX_RESULTS, MOST_BYTES, Passed, VariableArguments,
};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode::*, LLVMTypeKind, core::*, prelude::*};
use std::mem::offset_of;

/// What is called.
pub(super) enum Callee {
    /// An intrinsic function of LLVM.
    Intrinsic,
    /// A mark of ours.
    Mark,
    /// A function of the C library that copies or fills memory, as intrinsic functions do.
    Memory,
    /// Assembly.
    Assembly,
    /// A function of ours in the runtime, which may take and return labels, or one with a body.
    Followed,
    /// `setjmp`, whose result has the label of what `longjmp` was given.
    Twice,
    /// A function we know nothing of.
    Unknown,
    /// Whatever a pointer leads to.
    Indirect,
}

/// Functions of the C library that are followed like the intrinsic functions that compilers make of them.
pub(super) const MEMORY: [&str; 3] = ["memcpy", "memmove", "memset"];

pub(super) unsafe fn callee_of(call: LLVMValueRef) -> Callee {
    // SAFETY: the caller has a call of a live module.
    unsafe {
        let callee = LLVMGetCalledValue(call);
        if !LLVMIsAInlineAsm(callee).is_null() {
            return Callee::Assembly;
        }
        if LLVMIsAFunction(callee).is_null() {
            return Callee::Indirect;
        }
        match kind_of_function(callee) {
            Callee::Unknown if returns_twice(call) => Callee::Twice,
            kind => kind,
        }
    }
}

pub(super) unsafe fn kind_of_function(function: LLVMValueRef) -> Callee {
    // SAFETY: the caller has a function of a live module.
    unsafe {
        let name = name_of(function);
        if mark_kind(&name).is_some() {
            Callee::Mark
        } else if LLVMGetIntrinsicID(function) != 0 {
            Callee::Intrinsic
        } else if MEMORY.contains(&name.as_str()) {
            Callee::Memory
        } else if LLVMIsDeclaration(function) == 0 || name.starts_with("cairn_") || name.starts_with("klee_")
        {
            Callee::Followed
        } else {
            Callee::Unknown
        }
    }
}

impl Pass {
    /// Whether a call's result may have a label for another reason than that it is computed from its arguments.
    pub(super) unsafe fn may_return_label(&self, call: LLVMValueRef) -> bool {
        // SAFETY: the caller has a call of the live module.
        unsafe { !matches!(callee_of(call), Callee::Mark | Callee::Intrinsic | Callee::Memory) }
    }
}

impl Body<'_> {
    pub(super) unsafe fn visit_call(&mut self, call: LLVMValueRef) {
        // SAFETY: the call follows what was visited before in its block.
        unsafe {
            match callee_of(call) {
                Callee::Mark => {
                    self.add(Item::Mark(call));
                    self.end_region(call);
                    // Nobody defines it; what it says is said.
                    LLVMInstructionEraseFromParent(call);
                }
                Callee::Intrinsic | Callee::Memory => self.visit_intrinsic(call),
                Callee::Assembly => {
                    if self.may_be_symbolic(call) {
                        self.add(Item::Result(call));
                    }
                }
                Callee::Followed | Callee::Twice | Callee::Unknown | Callee::Indirect => {
                    self.defaults = Defaults { arguments: true, result: !self.leaves_of(call).is_empty() };
                    self.add(Item::Arguments(call));
                    self.end_region(call);
                    if LLVMGetInstructionOpcode(call) == LLVMCall && self.may_be_symbolic(call) {
                        self.add(Item::Result(call));
                    }
                }
            }
        }
    }

    /// The result of an `invoke` is known in the block that follows.
    pub(super) unsafe fn take_result_of_invoke(&mut self, block: LLVMBasicBlockRef) {
        // SAFETY: the block belongs to the live module; its users are terminators.
        unsafe {
            let mut used = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
            while !used.is_null() {
                let user = LLVMGetUser(used);
                let is_result = !LLVMIsAInvokeInst(user).is_null()
                    && LLVMGetNormalDest(user) == block
                    && self.may_be_symbolic(user);
                if is_result {
                    self.add(Item::Result(user));
                }
                used = LLVMGetNextUse(used);
            }
        }
    }

    pub(super) unsafe fn begin_function(&mut self) {
        // SAFETY: the function belongs to the live module.
        unsafe {
            let is_variable = LLVMIsFunctionVarArg(LLVMGlobalGetValueType(self.function)) != 0;
            if is_variable {
                let entry = LLVMGetEntryBasicBlock(self.function);
                LLVMPositionBuilderBefore(self.pass.builder, LLVMGetFirstInstruction(entry));
                let byte = LLVMInt8TypeInContext(self.pass.context);
                let kept = LLVMArrayType2(byte, size_of::<VariableArguments>() as u64);
                let place = LLVMBuildAlloca(self.pass.builder, kept, c"cairn.variable".as_ptr());
                LLVMSetAlignment(place, 8);
                LLVMBuildStore(self.pass.builder, self.pass.zero, place);
                self.variable_arguments = Some(place);
            }
            if is_variable || LLVMCountParams(self.function) > 0 {
                self.add(Item::Parameters);
            }
        }
    }

    pub(super) unsafe fn visit_return(&mut self, ret: LLVMValueRef) {
        // SAFETY: the instruction ends its block.
        unsafe {
            let before = LLVMGetPreviousInstruction(ret);
            let is_forwarded = !before.is_null()
                && LLVMGetInstructionOpcode(before) == LLVMCall
                && LLVMGetTailCallKind(before) as u32
                    == inkwell::llvm_sys::LLVMTailCallKind::LLVMTailCallKindMustTail as u32;
            let has_value = operands(ret).first().is_some_and(|value| !self.leaves_of(*value).is_empty());
            if is_forwarded || !has_value {
                return;
            }
            self.defaults.result = true;
            self.add(Item::Return(ret));
            self.end_region(ret);
        }
    }

    /// An address in the runtime's call state.
    pub(super) unsafe fn state_at(&self, offset: usize) -> LLVMValueRef {
        // SAFETY: the builder is positioned; the offset lies within the state.
        unsafe {
            let byte = LLVMInt8TypeInContext(self.pass.context);
            let mut index = [self.word(offset as u64)];
            let state = self.pass.runtime.state;
            LLVMBuildInBoundsGEP2(self.pass.builder, byte, state, index.as_mut_ptr(), 1, c"".as_ptr())
        }
    }

    pub(super) unsafe fn set_defaults(&self, defaults: Defaults) {
        // SAFETY: the builder is positioned.
        unsafe {
            let nobody = self.word(0);
            if defaults.arguments {
                LLVMBuildStore(self.pass.builder, nobody, self.state_at(offset_of!(CallState, callee)));
            }
            if defaults.result {
                LLVMBuildStore(self.pass.builder, nobody, self.state_at(offset_of!(CallState, returned)));
            }
        }
    }

    /// A truth value: a function is named in the state.
    unsafe fn is_named(&self, offset: usize, function: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: the builder is positioned where the function is known.
        unsafe {
            let address = LLVMBuildPtrToInt(self.pass.builder, function, self.pass.i64_type, c"".as_ptr());
            self.is_in_state(offset, address)
        }
    }

    /// A truth value: the state holds a number.
    unsafe fn is_in_state(&self, offset: usize, number: LLVMValueRef) -> LLVMValueRef {
        let (pass, none) = (self.pass, c"".as_ptr());
        // SAFETY: the builder is positioned where the number is known.
        unsafe {
            let named = LLVMBuildLoad2(pass.builder, pass.i64_type, self.state_at(offset), none);
            LLVMBuildICmp(pass.builder, LLVMIntPredicate::LLVMIntEQ, named, number, none)
        }
    }

    pub(super) unsafe fn look_at_parameters(&self) -> LookedAt {
        // SAFETY: the builder is positioned in the entry block.
        unsafe {
            let is_mine = self.is_named(offset_of!(CallState, callee), self.function);
            self.meant.borrow_mut().insert(self.function, is_mine);
            LookedAt { truths: vec![is_mine], ..LookedAt::default() }
        }
    }

    pub(super) unsafe fn take_parameters(&self) -> Vec<(LLVMValueRef, Labels)> {
        let (pass, none) = (self.pass, c"".as_ptr());
        // SAFETY: the builder is positioned in the entry block's slow part.
        unsafe {
            let is_mine = self.meant.borrow()[&self.function];
            let mut number = 0;
            let mut all = Vec::new();
            for index in 0..LLVMCountParams(self.function) {
                let parameter = LLVMGetParam(self.function, index);
                if let Some(size) = copied_size(self.function, index + 1) {
                    let place =
                        self.state_at(offset_of!(CallState, copies) + 8 * number.min(MAX_ARGUMENTS - 1));
                    let source = LLVMBuildLoad2(pass.builder, pass.pointer, place, none);
                    // Copied onto itself, nothing changes.
                    let source = LLVMBuildSelect(pass.builder, is_mine, source, parameter, none);
                    self.call(&runtime::COPY, &mut [parameter, source, self.word(size)]);
                }
                let mut labels = Vec::new();
                for _ in self.leaves_of(parameter) {
                    labels.push(match number < MAX_ARGUMENTS {
                        true => {
                            let place = self.state_at(offset_of!(CallState, arguments) + 4 * number);
                            let label = LLVMBuildLoad2(pass.builder, pass.i32_type, place, none);
                            LLVMBuildSelect(pass.builder, is_mine, label, pass.zero, none)
                        }
                        false => pass.zero,
                    });
                    number += 1;
                }
                if self.may_be_symbolic(parameter) {
                    all.push((parameter, labels));
                }
            }
            if let Some(kept) = self.variable_arguments {
                // Only what was meant for this function: the runtime looks itself.
                let first = LLVMBuildSelect(
                    pass.builder,
                    is_mine,
                    self.number(number as u64),
                    self.number(MAX_ARGUMENTS as u64),
                    none,
                );
                self.call(&runtime::SAVE_VARIABLE, &mut [kept, first]);
            }
            all
        }
    }

    pub(super) unsafe fn look_at_arguments(&self, call: LLVMValueRef) -> LookedAt {
        // SAFETY: the builder stands before the call.
        unsafe {
            let mut looked_at = LookedAt { values: operands(call), ..LookedAt::default() };
            let is_unknown = matches!(callee_of(call), Callee::Unknown);
            let may_be_unknown = is_unknown || !self.pass.pointers.behind(call).is_empty();
            for (index, argument) in operands(call).into_iter().enumerate() {
                if may_be_unknown && leads_somewhere(argument) {
                    looked_at.words.extend(self.shadow_of_object(argument));
                }
                if copied_size(call, index as u32 + 1).is_some() {
                    // Whether anything in there has a label is not looked at.
                    looked_at.truths.push(self.always());
                }
            }
            if !is_unknown && self.fills_registers(call) {
                // Variable arguments in memory lie where labels of an earlier call may be.
                looked_at.truths.push(self.always());
            }
            looked_at
        }
    }

    /// A truth value that sends a region the slow way.
    unsafe fn always(&self) -> LLVMValueRef {
        // SAFETY: the context is alive.
        unsafe { LLVMConstInt(LLVMInt1TypeInContext(self.pass.context), 1, 0) }
    }

    /// Whether a call has variable arguments that may lie in memory because registers do not suffice.
    unsafe fn fills_registers(&self, call: LLVMValueRef) -> bool {
        // SAFETY: the caller has a call of the live module.
        unsafe {
            if LLVMIsFunctionVarArg(LLVMGetCalledFunctionType(call)) == 0 {
                return false;
            }
            let leaves = || operands(call).into_iter().flat_map(|argument| self.leaves_of(argument));
            let count = |kind: LeafKind| leaves().filter(|leaf| leaf.kind == kind).count();
            count(LeafKind::Integer) > 6 || count(LeafKind::Float) > 8 || count(LeafKind::Other) > 0
        }
    }

    /// The shadow of the first bytes of what a pointer leads to, and perhaps of some that lie behind it.
    unsafe fn shadow_of_object(&self, pointer: LLVMValueRef) -> Vec<LLVMValueRef> {
        // SAFETY: the builder stands where the pointer is known.
        unsafe {
            let size = self.pass.size_of_variable(variable_of(pointer)).unwrap_or(LOOKED_AT);
            self.shadow_words(pointer, size.min(LOOKED_AT))
        }
    }

    /// How many bytes a pointer leads to: what is left of the variable it leads into, if that is known.
    unsafe fn size_of_object(&self, pointer: LLVMValueRef) -> LLVMValueRef {
        let (pass, none) = (self.pass, c"".as_ptr());
        // SAFETY: the builder stands where the pointer is known.
        unsafe {
            let variable = variable_of(pointer);
            let Some(size) = pass.size_of_variable(variable) else { return self.word(MOST_BYTES) };
            if pointer == variable {
                return self.word(size);
            }
            let address = |pointer| LLVMBuildPtrToInt(pass.builder, pointer, pass.i64_type, none);
            let before = LLVMBuildSub(pass.builder, address(pointer), address(variable), none);
            let left = LLVMBuildSub(pass.builder, self.word(size), before, none);
            // What lies outside of a variable is another one.
            let is_inside =
                LLVMBuildICmp(pass.builder, LLVMIntPredicate::LLVMIntULT, before, self.word(size), none);
            LLVMBuildSelect(pass.builder, is_inside, left, self.word(0), none)
        }
    }

    /// Whether the result of a function we know nothing of may depend on bytes it was given pointers to.
    unsafe fn may_tell_of_bytes(&self, call: LLVMValueRef) -> bool {
        // SAFETY: the call belongs to the live module.
        unsafe {
            let known = &self.pass.known;
            let name = name_of(LLVMGetCalledValue(call));
            matches!(callee_of(call), Callee::Unknown)
                && !known.replaced.contains(&name)
                && !known.silent.contains(&name)
                && operands(call).into_iter().any(|argument| leads_somewhere(argument))
                && self.may_be_symbolic(call)
                && !LLVMGetFirstUse(call).is_null()
        }
    }

    pub(super) unsafe fn pass_arguments(&self, call: LLVMValueRef) {
        let (pass, none) = (self.pass, c"".as_ptr());
        // SAFETY: the builder stands before the call.
        unsafe {
            let callee = LLVMGetCalledValue(call);
            if matches!(callee_of(call), Callee::Unknown) {
                if pass.known.replaced.contains(&name_of(callee)) {
                    return;
                }
                self.tell_of(callee, self.is_given_input(call));
                if self.may_tell_of_bytes(call) {
                    self.keep_labels_of_bytes(call);
                }
                return;
            }
            let behind = pass.pointers.behind(call);
            if !behind.is_empty() {
                let given = self.is_given_input(call);
                for function in behind {
                    let is_it =
                        LLVMBuildICmp(pass.builder, LLVMIntPredicate::LLVMIntEQ, callee, *function, none);
                    self.tell_of(*function, LLVMBuildSelect(pass.builder, is_it, given, self.word(0), none));
                }
            }
            let n_fixed = LLVMCountParamTypes(LLVMGetCalledFunctionType(call));
            let mut number = 0;
            for (index, argument) in operands(call).into_iter().enumerate() {
                if copied_size(call, index as u32 + 1).is_some() && number < MAX_ARGUMENTS {
                    let place = self.state_at(offset_of!(CallState, copies) + 8 * number);
                    LLVMBuildStore(pass.builder, argument, place);
                }
                let is_variable = index as u32 >= n_fixed;
                let mut leaves = self.leaves_of(argument);
                let mut labels = self.labels_of(argument);
                if is_variable && is_vector(argument) && leaves.len() > 1 {
                    // It has one place, whatever it holds.
                    let whole = Leaf { kind: LeafKind::Float, width: 64, offset: 0, size: 8 };
                    labels = vec![self.opaque(&whole, None, &labels)];
                    leaves = vec![whole];
                }
                for (leaf, label) in leaves.iter().zip(labels) {
                    if number >= MAX_ARGUMENTS {
                        break;
                    }
                    let place = self.state_at(offset_of!(CallState, arguments) + 4 * number);
                    LLVMBuildStore(pass.builder, label, place);
                    if is_variable {
                        let passed = match leaf.kind {
                            LeafKind::Float => Passed::Float,
                            LeafKind::Other => Passed::Memory16,
                            LeafKind::Integer => Passed::Integer,
                        };
                        let place = self.state_at(offset_of!(CallState, passed) + number);
                        let byte = LLVMInt8TypeInContext(pass.context);
                        LLVMBuildStore(pass.builder, LLVMConstInt(byte, passed as u64, 0), place);
                    }
                    number += 1;
                }
            }
            let count = self.number(number as u64);
            LLVMBuildStore(pass.builder, count, self.state_at(offset_of!(CallState, n_arguments)));
            let address = LLVMBuildPtrToInt(pass.builder, callee, pass.i64_type, none);
            LLVMBuildStore(pass.builder, address, self.state_at(offset_of!(CallState, callee)));
        }
    }

    /// Whether a function that we know nothing of is given anything with a label: 0 if not. The region may have come here for
    /// something else.
    unsafe fn is_given_input(&self, call: LLVMValueRef) -> LLVMValueRef {
        let (pass, none) = (self.pass, c"".as_ptr());
        // SAFETY: the builder stands before the call.
        unsafe {
            let mut any = self.word(0);
            for argument in operands(call) {
                for label in self.labels_of(argument) {
                    let label = LLVMBuildZExt(pass.builder, label, pass.i64_type, none);
                    any = LLVMBuildOr(pass.builder, any, label, none);
                }
                if leads_somewhere(argument) {
                    let size = self.size_of_object(argument);
                    let marked = self.call(&runtime::MARKED, &mut [argument, size]);
                    any = LLVMBuildOr(pass.builder, any, marked, none);
                }
            }
            any
        }
    }

    /// Names a function that we know nothing of, if `given` is not 0.
    unsafe fn tell_of(&self, function: LLVMValueRef, given: LLVMValueRef) {
        // SAFETY: the builder stands before a call of the function.
        unsafe {
            let text = named(function);
            let name = LLVMBuildGlobalStringPtr(self.pass.builder, text.as_ptr(), c"cairn.name".as_ptr());
            self.call(&runtime::GIVEN, &mut [name, given]);
        }
    }

    /// Before a function that we know nothing of: its result will have the label of what its pointers lead to, which it may
    /// write over.
    unsafe fn keep_labels_of_bytes(&self, call: LLVMValueRef) {
        let (pass, none) = (self.pass, c"".as_ptr());
        // SAFETY: the builder stands before the call.
        unsafe {
            let mut label = pass.zero;
            for argument in operands(call).into_iter().filter(|argument| leads_somewhere(*argument)) {
                let size = self.size_of_object(argument);
                label = self.call(&runtime::POINTED, &mut [label, argument, size]);
            }
            LLVMBuildStore(pass.builder, label, self.state_at(offset_of!(CallState, results)));
            let callee = LLVMGetCalledValue(call);
            let address = LLVMBuildPtrToInt(pass.builder, callee, pass.i64_type, none);
            LLVMBuildStore(pass.builder, address, self.state_at(offset_of!(CallState, returned)));
        }
    }

    pub(super) unsafe fn look_at_result(&self, call: LLVMValueRef) -> LookedAt {
        // SAFETY: the builder stands behind the call.
        unsafe {
            match callee_of(call) {
                Callee::Unknown if self.may_tell_of_bytes(call) => {
                    let callee = LLVMGetCalledValue(call);
                    let is_mine = self.is_named(offset_of!(CallState, returned), callee);
                    self.meant.borrow_mut().insert(call, is_mine);
                    LookedAt { values: operands(call), truths: vec![is_mine], ..LookedAt::default() }
                }
                Callee::Assembly | Callee::Unknown => {
                    LookedAt { values: operands(call), ..LookedAt::default() }
                }
                Callee::Twice => {
                    let is_mine = self.is_in_state(offset_of!(CallState, returned), self.word(JUMPED));
                    self.meant.borrow_mut().insert(call, is_mine);
                    LookedAt { truths: vec![is_mine], ..LookedAt::default() }
                }
                _ => {
                    let callee = LLVMGetCalledValue(call);
                    let is_mine = self.is_named(offset_of!(CallState, returned), callee);
                    self.meant.borrow_mut().insert(call, is_mine);
                    LookedAt { truths: vec![is_mine], ..LookedAt::default() }
                }
            }
        }
    }

    pub(super) unsafe fn take_result(&self, call: LLVMValueRef) -> Labels {
        let (pass, none) = (self.pass, c"".as_ptr());
        // SAFETY: the builder stands behind the call.
        unsafe {
            let leaves = self.leaves_of(call);
            if matches!(callee_of(call), Callee::Assembly | Callee::Unknown) {
                let mut labels: Vec<_> =
                    operands(call).into_iter().flat_map(|operand| self.labels_of(operand)).collect();
                if let Some(is_mine) = self.meant.borrow().get(&call) {
                    let place = self.state_at(offset_of!(CallState, results));
                    let label = LLVMBuildLoad2(pass.builder, pass.i32_type, place, none);
                    labels.push(LLVMBuildSelect(pass.builder, *is_mine, label, pass.zero, none));
                }
                return self.opaque_parts(call, &labels);
            }
            let is_mine = self.meant.borrow()[&call];
            (0..leaves.len())
                .map(|number| {
                    if number >= MAX_RESULTS {
                        return pass.zero;
                    }
                    let place = self.state_at(offset_of!(CallState, results) + 4 * number);
                    let label = LLVMBuildLoad2(pass.builder, pass.i32_type, place, none);
                    LLVMBuildSelect(pass.builder, is_mine, label, pass.zero, none)
                })
                .collect()
        }
    }

    pub(super) unsafe fn give_result(&self, ret: LLVMValueRef) {
        let (pass, none) = (self.pass, c"".as_ptr());
        // SAFETY: the builder stands before the return.
        unsafe {
            let value = LLVMGetOperand(ret, 0);
            for (number, label) in self.labels_of(value).into_iter().take(MAX_RESULTS).enumerate() {
                let place = self.state_at(offset_of!(CallState, results) + 4 * number);
                LLVMBuildStore(pass.builder, label, place);
            }
            let address = LLVMBuildPtrToInt(pass.builder, self.function, pass.i64_type, none);
            LLVMBuildStore(pass.builder, address, self.state_at(offset_of!(CallState, returned)));
        }
    }

    pub(super) unsafe fn note_condition(&self, call: LLVMValueRef) {
        // SAFETY: the builder stands where the mark does.
        unsafe {
            let (first, value) = (LLVMGetOperand(call, 0), LLVMGetOperand(call, 1));
            let label = self.label_of(value);
            if mark_kind(&name_of(LLVMGetCalledValue(call))) == Some(MarkKind::Switch) {
                // The mark widens the value; the runtime is told the label of the wide one.
                self.call(&runtime::SWITCH, &mut [first, label, value]);
                return;
            }
            let truth = LLVMBuildZExt(self.pass.builder, value, self.pass.i32_type, c"".as_ptr());
            self.call(&runtime::CONDITION, &mut [first, label, truth]);
        }
    }
}

/// The size of an argument that is passed as a copy in memory. `holder` is a function or a call; its first argument is number 1.
unsafe fn copied_size(holder: LLVMValueRef, index: u32) -> Option<u64> {
    let name = "byval";
    // SAFETY: the caller has a function or a call of a live module.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let attribute = match LLVMIsAFunction(holder).is_null() {
            true => LLVMGetCallSiteEnumAttribute(holder, index, kind),
            false => LLVMGetEnumAttributeAtIndex(holder, index, kind),
        };
        if attribute.is_null() {
            return None;
        }
        let module = match LLVMIsAFunction(holder).is_null() {
            true => LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(holder))),
            false => LLVMGetGlobalParent(holder),
        };
        let layout = inkwell::llvm_sys::target::LLVMGetModuleDataLayout(module);
        Some(inkwell::llvm_sys::target::LLVMABISizeOfType(layout, LLVMGetTypeAttributeValue(attribute)))
    }
}

impl Pass {
    /// The size of a variable, or nothing if this is none.
    unsafe fn size_of_variable(&self, variable: LLVMValueRef) -> Option<u64> {
        // SAFETY: the value belongs to the live module.
        unsafe {
            let kind = if !LLVMIsAAllocaInst(variable).is_null() {
                LLVMGetAllocatedType(variable)
            } else if !LLVMIsAGlobalVariable(variable).is_null() {
                LLVMGlobalGetValueType(variable)
            } else {
                return None;
            };
            // An array at the end of a structure, or one that another file defines, may be said to have no size.
            Some(inkwell::llvm_sys::target::LLVMABISizeOfType(self.layout, kind)).filter(|size| *size > 0)
        }
    }
}

/// The variable that a pointer leads into, if it is made from the address of one; else whatever it is made from.
unsafe fn variable_of(mut pointer: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: the pointer belongs to a live module.
    unsafe {
        let is_part = |pointer: LLVMValueRef| {
            !LLVMIsAGetElementPtrInst(pointer).is_null()
                || !LLVMIsAConstantExpr(pointer).is_null() && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr
        };
        while is_part(pointer) {
            pointer = LLVMGetOperand(pointer, 0);
        }
        pointer
    }
}

/// Whether an argument is a pointer to memory that may have labels.
unsafe fn leads_somewhere(argument: LLVMValueRef) -> bool {
    // SAFETY: the argument belongs to a live module.
    unsafe {
        let variable = variable_of(argument);
        LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMTypeKind::LLVMPointerTypeKind
            && (LLVMIsConstant(argument) == 0
                || !LLVMIsAGlobalVariable(variable).is_null() && LLVMIsGlobalConstant(variable) == 0)
    }
}

unsafe fn named(callee: LLVMValueRef) -> std::ffi::CString {
    // SAFETY: the caller has a function of a live module.
    std::ffi::CString::new(unsafe { name_of(callee) }).unwrap_or_default()
}
