//! Mutated bodies: all mutants of a function in one body, chosen by the active selector.
//!
//! ```text
//!   %sum = add i32 %a, %b
//! becomes
//!   %sum = add i32 %a, %b
//!   switch i32 %active, label %rest [ i32 17, label %m17  i32 18, label %m18  i32 19, label %observed ]
//! m17:
//!   %difference = sub i32 %a, %b
//!   br label %join
//! …
//! join:
//!   %changed = phi …
//!   %taken = call i1 @cairn_site_value(i64 …, i64 …)
//!   %chosen = select i1 %taken, i32 %changed, i32 %sum
//!   br label %rest
//! rest:
//!   %value = phi i32 [ %sum, %before ], [ %chosen, %join ]
//! ```
//! With a constant in place of `%active` the optimiser leaves exactly one mutant: that is how mutants compiled alone
//! are made.

use super::{
    formula::{FormulaBuilder, Manner, Values},
    logical::{self, Surroundings},
    resolve::{OperandPlace, ResolvedAnchor, ResolvedAt, ResolvedFunction, ResolvedOperand, Way},
    tame::{first_after_variables, settle, tame},
};
use crate::fuel::split_before;
use cairn_model::mutants::{Change, Formula, ValueType};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode::*, LLVMTypeKind, core::*, prelude::*};

/// One patch to weave into a function.
pub struct Weave<'a> {
    /// The spot, a position in the function's anchors.
    pub spot: usize,
    /// The type of the value that is replaced.
    pub value_type: ValueType,
    /// The number of the patch in its view.
    pub number: u32,
    /// The selector of the first mutant.
    pub first_selector: u32,
    /// The mutants; see [`order`].
    pub changes: Vec<&'a Change>,
}

/// Sorts mutants as weaving wants them: those that do without the original value first, so that a range check tells
/// whether the original may stop the program.
pub fn order<T>(mutants: &mut [T], change_of: impl Fn(&T) -> &Change) {
    mutants.sort_by_key(|mutant| match change_of(mutant) {
        Change::Value(formula) => formula.uses_original(),
        Change::Logical(_) => false,
    });
}

/// A patch where it is woven.
struct Site<'a> {
    function: &'a ResolvedFunction,
    patch: &'a Weave<'a>,
    anchor: &'a ResolvedAnchor,
    original: LLVMValueRef,
    /// An operand that was replaced: of which instruction, its number, and what it was.
    kept: Option<(LLVMValueRef, u32, LLVMValueRef)>,
    active: LLVMValueRef,
}

/// How the code has the operand that a patch replaces.
#[derive(Clone, Copy)]
enum Form {
    AsItIs,
    Negated,
}

/// Weaves patches into the body of a function.
pub struct Weaver<'a> {
    /// The module.
    pub module: LLVMModuleRef,
    /// Its context.
    pub context: LLVMContextRef,
    /// For new instructions.
    pub builder: LLVMBuilderRef,
    /// Whether values can be observed: the runtime is linked.
    pub observes: bool,
    /// Counts a way out of a block at the builder's position, if it has a counter.
    pub count_way: &'a dyn Fn(Way),
}

impl Weaver<'_> {
    /// Counts a way as if it were taken.
    pub(super) fn count_way(&self, way: Way) {
        (self.count_way)(way);
    }

    /// Weaves `patches`; `active` is the selector, or none to load it at the function's entry.
    ///
    /// Returns the positions in `patches` of those that do not fit the code.
    ///
    /// # Safety
    /// The function was resolved in this module and has not been changed since.
    pub unsafe fn weave(
        &self,
        function: &ResolvedFunction,
        patches: &[Weave],
        active: Option<LLVMValueRef>,
        control: LLVMValueRef,
    ) -> Vec<usize> {
        let mut misfits = Vec::new();
        // SAFETY: promised by the caller.
        unsafe {
            tame(self.builder, self.context, function.function);
            let active = active.unwrap_or_else(|| self.load_active(function.function, control));
            // Blocks are still whole while edges are redirected.
            for (index, patch) in patches.iter().enumerate() {
                let Some(Some(anchor)) = function.anchors.get(patch.spot) else { continue };
                if let ResolvedAt::Logical(at) = &anchor.at
                    && !logical::weave(
                        self,
                        patch,
                        at,
                        &Surroundings { operands: &anchor.operands, variables: &function.variables, active },
                    )
                {
                    misfits.push(index);
                }
            }
            for (index, patch) in patches.iter().enumerate() {
                let fits = match function.anchors.get(patch.spot) {
                    Some(Some(anchor)) => match anchor.at {
                        ResolvedAt::Logical(_) => true,
                        ResolvedAt::Result(at) => self.weave_result(function, patch, anchor, at, active),
                        ResolvedAt::Operands(ref operands) => operands.iter().all(|(at, number)| {
                            let form = Form::AsItIs;
                            self.weave_operand(function, patch, anchor, (*at, *number, form), active)
                        }),
                        ResolvedAt::Negated(at, number) => {
                            let form = Form::Negated;
                            self.weave_operand(function, patch, anchor, (at, number, form), active)
                        }
                        ResolvedAt::Stored(store) => {
                            self.weave_stored(function, patch, anchor, store, active)
                        }
                    },
                    _ => false,
                };
                if !fits {
                    misfits.push(index);
                }
            }
            settle(self.builder, self.context, function.function);
        }
        misfits
    }

    unsafe fn load_active(&self, function: LLVMValueRef, control: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: the function has a body.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, first_after_variables(function));
            LLVMBuildLoad2(self.builder, LLVMInt32TypeInContext(self.context), control, c"active".as_ptr())
        }
    }

    unsafe fn weave_result(
        &self,
        function: &ResolvedFunction,
        patch: &Weave,
        anchor: &ResolvedAnchor,
        at: LLVMValueRef,
        active: LLVMValueRef,
    ) -> bool {
        // SAFETY: `at` is an instruction of the function.
        unsafe {
            let formulas = self.formula_builder();
            if LLVMTypeOf(at) != formulas.type_of(patch.value_type)
                || !LLVMIsATerminatorInst(at).is_null()
                || !self.operands_fit(anchor, function)
            {
                return false;
            }
            let kept = self.keep_from_stopping(at, patch, active);
            let mut next = LLVMGetNextInstruction(at);
            while LLVMGetInstructionOpcode(next) == LLVMPHI {
                next = LLVMGetNextInstruction(next);
            }
            let before = split_before(self.builder, self.context, next);
            let rest = LLVMGetInstructionParent(next);
            LLVMPositionBuilderBefore(self.builder, next);
            let value = LLVMBuildPhi(self.builder, LLVMTypeOf(at), c"".as_ptr());
            LLVMReplaceAllUsesWith(at, value);
            let site = Site { function, patch, anchor, original: at, kept, active };
            self.fill(&site, value, before, rest)
        }
    }

    unsafe fn weave_operand(
        &self,
        function: &ResolvedFunction,
        patch: &Weave,
        anchor: &ResolvedAnchor,
        (at, number, form): (LLVMValueRef, u32, Form),
        active: LLVMValueRef,
    ) -> bool {
        // SAFETY: `at` is an instruction of the function with that operand.
        unsafe {
            if number >= LLVMGetNumOperands(at) as u32 || !self.operands_fit(anchor, function) {
                return false;
            }
            if LLVMGetInstructionOpcode(at) == LLVMStore && number == 1 {
                return self.weave_store(function, patch, at, active);
            }
            let there = LLVMGetOperand(at, number);
            let evaluated = evaluated_at(at, number);
            LLVMPositionBuilderBefore(self.builder, evaluated);
            let original = match form {
                Form::AsItIs => as_type(self.builder, there, patch.value_type),
                Form::Negated => LLVMBuildNeg(self.builder, there, c"".as_ptr()),
            };
            if LLVMTypeOf(original) != self.formula_builder().type_of(patch.value_type) {
                return false;
            }
            let before = split_before(self.builder, self.context, evaluated);
            let rest = LLVMGetInstructionParent(evaluated);
            LLVMPositionBuilderBefore(self.builder, evaluated);
            let value = LLVMBuildPhi(self.builder, LLVMTypeOf(original), c"".as_ptr());
            // A truth value in memory is a byte.
            let is_byte = LLVMTypeOf(there) != LLVMTypeOf(original);
            let stored = match form {
                Form::Negated => LLVMBuildNeg(self.builder, value, c"".as_ptr()),
                Form::AsItIs if is_byte => {
                    LLVMBuildZExt(self.builder, value, LLVMTypeOf(there), c"".as_ptr())
                }
                Form::AsItIs => value,
            };
            LLVMSetOperand(at, number, stored);
            let kept = Some((at, number, original));
            let site = Site { function, patch, anchor, original, kept, active };
            self.fill(&site, value, before, rest)
        }
    }

    /// What an assignment stores is also its value, for whoever uses that.
    unsafe fn weave_stored(
        &self,
        function: &ResolvedFunction,
        patch: &Weave,
        anchor: &ResolvedAnchor,
        store: LLVMValueRef,
        active: LLVMValueRef,
    ) -> bool {
        // SAFETY: `store` is a store of the function; what it stores is used by nobody before.
        unsafe {
            let original = LLVMGetOperand(store, 0);
            if LLVMIsAInstruction(original).is_null()
                || LLVMTypeOf(original) != self.formula_builder().type_of(patch.value_type)
                || !self.operands_fit(anchor, function)
            {
                return false;
            }
            let before = split_before(self.builder, self.context, store);
            let rest = LLVMGetInstructionParent(store);
            LLVMPositionBuilderBefore(self.builder, store);
            let value = LLVMBuildPhi(self.builder, LLVMTypeOf(original), c"".as_ptr());
            LLVMReplaceAllUsesWith(original, value);
            let kept = Some((store, 0, original));
            let site = Site { function, patch, anchor, original, kept, active };
            self.fill(&site, value, before, rest)
        }
    }

    /// Builds the switch, the cases and the join; `value` is the phi that chooses.
    unsafe fn fill(
        &self,
        site: &Site,
        value: LLVMValueRef,
        before: LLVMBasicBlockRef,
        rest: LLVMBasicBlockRef,
    ) -> bool {
        let Site { patch, original, .. } = *site;
        // SAFETY: `before` has no end yet and leads to `rest`, which starts with `value`.
        unsafe {
            let mut fits = true;
            let join = LLVMInsertBasicBlockInContext(self.context, rest, c"cairn.join".as_ptr());
            LLVMPositionBuilderAtEnd(self.builder, join);
            let changed = LLVMBuildPhi(self.builder, LLVMTypeOf(original), c"".as_ptr());
            LLVMPositionBuilderAtEnd(self.builder, before);
            let switch = LLVMBuildSwitch(self.builder, site.active, rest, patch.changes.len() as u32 + 1);
            for (index, change) in patch.changes.iter().enumerate() {
                let Change::Value(formula) = change else {
                    fits = false;
                    continue;
                };
                let case = LLVMInsertBasicBlockInContext(self.context, join, c"cairn.mutant".as_ptr());
                LLVMAddCase(switch, self.selector(patch.first_selector + index as u32), case);
                LLVMPositionBuilderAtEnd(self.builder, case);
                let built = self.build(formula, site);
                let built = built.filter(|built| LLVMTypeOf(*built) == LLVMTypeOf(original));
                fits &= built.is_some();
                let from = LLVMGetInsertBlock(self.builder);
                LLVMBuildBr(self.builder, join);
                add_incoming(changed, built.unwrap_or(original), from);
            }
            if self.observes {
                let observed = patch.first_selector + patch.changes.len() as u32;
                let case = LLVMInsertBasicBlockInContext(self.context, join, c"cairn.observed".as_ptr());
                LLVMAddCase(switch, self.selector(observed), case);
                LLVMPositionBuilderAtEnd(self.builder, case);
                LLVMBuildBr(self.builder, join);
                add_incoming(changed, original, case);
            }
            LLVMPositionBuilderAtEnd(self.builder, join);
            let chosen = self.observe(original, changed);
            LLVMBuildBr(self.builder, rest);
            add_incoming(value, original, before);
            add_incoming(value, chosen, join);
            fits
        }
    }

    /// A store to another place instead: with a choice between places, variables could not live in registers.
    unsafe fn weave_store(
        &self,
        function: &ResolvedFunction,
        patch: &Weave,
        store: LLVMValueRef,
        active: LLVMValueRef,
    ) -> bool {
        // SAFETY: `store` is a store of the function.
        unsafe {
            let mut fits = true;
            let next = LLVMGetNextInstruction(store);
            let after = split_before(self.builder, self.context, next);
            let rest = LLVMGetInstructionParent(next);
            LLVMPositionBuilderAtEnd(self.builder, after);
            LLVMBuildBr(self.builder, rest);
            let before = split_before(self.builder, self.context, store);
            let own = LLVMGetInstructionParent(store);
            LLVMPositionBuilderAtEnd(self.builder, before);
            let switch = LLVMBuildSwitch(self.builder, active, own, patch.changes.len() as u32);
            for (index, change) in patch.changes.iter().enumerate() {
                let Change::Value(formula) = change else {
                    fits = false;
                    continue;
                };
                let case = LLVMInsertBasicBlockInContext(self.context, own, c"cairn.mutant".as_ptr());
                LLVMAddCase(switch, self.selector(patch.first_selector + index as u32), case);
                LLVMPositionBuilderAtEnd(self.builder, case);
                let pointer = LLVMGetOperand(store, 1);
                let values = Values { original: pointer, operands: &[], variables: &function.variables };
                let pointer = self.formula_builder().build(formula, &values);
                fits &= pointer.is_some();
                if let Some(pointer) = pointer {
                    let stored = LLVMBuildStore(self.builder, LLVMGetOperand(store, 0), pointer);
                    LLVMSetAlignment(stored, LLVMGetAlignment(store));
                }
                LLVMBuildBr(self.builder, rest);
            }
            fits
        }
    }

    /// The value to go on with, as the runtime decides.
    unsafe fn observe(&self, original: LLVMValueRef, changed: LLVMValueRef) -> LLVMValueRef {
        if !self.observes {
            return changed;
        }
        // SAFETY: the builder is positioned; both values have one type.
        unsafe {
            let (Some(original_bits), Some(changed_bits)) = (self.bits(original), self.bits(changed)) else {
                return changed;
            };
            let i64_type = LLVMInt64TypeInContext(self.context);
            let mut parameters = [i64_type, i64_type];
            let truth = LLVMInt1TypeInContext(self.context);
            let function_type = LLVMFunctionType(truth, parameters.as_mut_ptr(), 2, 0);
            let name = std::ffi::CString::new(cairn_abi::mutants::SITE_VALUE_SYMBOL)
                .expect("our names have no zero byte");
            let mut function = LLVMGetNamedFunction(self.module, name.as_ptr());
            if function.is_null() {
                function = LLVMAddFunction(self.module, name.as_ptr(), function_type);
                let zero_extended = LLVMGetEnumAttributeKindForName(c"zeroext".as_ptr(), 7);
                LLVMAddAttributeAtIndex(function, 0, LLVMCreateEnumAttribute(self.context, zero_extended, 0));
            }
            let mut arguments = [original_bits, changed_bits];
            let none = c"".as_ptr();
            let taken =
                LLVMBuildCall2(self.builder, function_type, function, arguments.as_mut_ptr(), 2, none);
            LLVMBuildSelect(self.builder, taken, changed, original, none)
        }
    }

    /// A value as 64 bits.
    unsafe fn bits(&self, value: LLVMValueRef) -> Option<LLVMValueRef> {
        let none = c"".as_ptr();
        // SAFETY: the builder is positioned; kinds of types are checked.
        unsafe {
            let i64_type = LLVMInt64TypeInContext(self.context);
            let value_type = LLVMTypeOf(value);
            Some(match LLVMGetTypeKind(value_type) {
                LLVMTypeKind::LLVMIntegerTypeKind => match LLVMGetIntTypeWidth(value_type) {
                    64 => value,
                    width if width < 64 => LLVMBuildZExt(self.builder, value, i64_type, none),
                    _ => return None,
                },
                LLVMTypeKind::LLVMFloatTypeKind => {
                    let i32_type = LLVMInt32TypeInContext(self.context);
                    let bits = LLVMBuildBitCast(self.builder, value, i32_type, none);
                    LLVMBuildZExt(self.builder, bits, i64_type, none)
                }
                LLVMTypeKind::LLVMDoubleTypeKind => LLVMBuildBitCast(self.builder, value, i64_type, none),
                LLVMTypeKind::LLVMPointerTypeKind => LLVMBuildPtrToInt(self.builder, value, i64_type, none),
                _ => return None,
            })
        }
    }

    /// Mutants that do without the original value must not be stopped by computing it: a division or a read through a
    /// pointer gets something harmless instead.
    ///
    /// Returns the operand that was replaced: of which instruction, its number, and what it was.
    unsafe fn keep_from_stopping(
        &self,
        at: LLVMValueRef,
        patch: &Weave,
        active: LLVMValueRef,
    ) -> Option<(LLVMValueRef, u32, LLVMValueRef)> {
        let n_without = patch
            .changes
            .iter()
            .filter(|change| matches!(change, Change::Value(formula) if !formula.uses_original()))
            .count();
        if n_without == 0 {
            return None;
        }
        let none = c"".as_ptr();
        // SAFETY: `at` is an instruction of a live function.
        unsafe {
            let (number, harmless) = match LLVMGetInstructionOpcode(at) {
                LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem => (1, LLVMConstInt(LLVMTypeOf(at), 1, 0)),
                LLVMLoad => (0, self.harmless_place()),
                _ => return None,
            };
            let risky = LLVMGetOperand(at, number);
            if LLVMIsConstant(risky) != 0 || !LLVMIsAAllocaInst(risky).is_null() {
                return None;
            }
            LLVMPositionBuilderBefore(self.builder, at);
            let i32_type = LLVMInt32TypeInContext(self.context);
            let first = self.selector(patch.first_selector);
            let distance = LLVMBuildSub(self.builder, active, first, none);
            let is_without = LLVMBuildICmp(
                self.builder,
                LLVMIntPredicate::LLVMIntULT,
                distance,
                LLVMConstInt(i32_type, n_without as u64, 0),
                none,
            );
            let chosen = LLVMBuildSelect(self.builder, is_without, harmless, risky, none);
            LLVMSetOperand(at, number, chosen);
            Some((at, number, risky))
        }
    }

    /// Memory that can be read in place of any scalar.
    unsafe fn harmless_place(&self) -> LLVMValueRef {
        // SAFETY: the module is alive.
        unsafe {
            let name = c"cairn.harmless";
            let place = LLVMGetNamedGlobal(self.module, name.as_ptr());
            if !place.is_null() {
                return place;
            }
            let array = LLVMArrayType2(LLVMInt64TypeInContext(self.context), 4);
            let place = LLVMAddGlobal(self.module, array, name.as_ptr());
            LLVMSetInitializer(place, LLVMConstNull(array));
            LLVMSetLinkage(place, inkwell::llvm_sys::LLVMLinkage::LLVMInternalLinkage);
            LLVMSetAlignment(place, 16);
            place
        }
    }

    /// A formula at the builder's position.
    unsafe fn build(&self, formula: &Formula, site: &Site) -> Option<LLVMValueRef> {
        // SAFETY: the builder is positioned where the operands are defined.
        unsafe {
            let read = |operand: &ResolvedOperand| match (operand.place, site.kept) {
                (OperandPlace::Operand(at, number), Some((of, kept, value)))
                    if at == of && number == kept =>
                {
                    as_type(self.builder, value, operand.value_type)
                }
                _ => read_operand(self.builder, operand),
            };
            let operands: Vec<_> = site.anchor.operands.iter().map(read).collect();
            let values =
                Values { original: site.original, operands: &operands, variables: &site.function.variables };
            self.formula_builder().build(formula, &values)
        }
    }

    fn formula_builder(&self) -> FormulaBuilder {
        FormulaBuilder { builder: self.builder, context: self.context, manner: Manner::Real, uncertain: None }
    }

    unsafe fn operands_fit(&self, anchor: &ResolvedAnchor, function: &ResolvedFunction) -> bool {
        let has_operands = anchor.operands.iter().all(|operand| match operand.place {
            // SAFETY: the instructions belong to the function.
            OperandPlace::Operand(at, number) | OperandPlace::Negated(at, number) => unsafe {
                number < LLVMGetNumOperands(at) as u32
            },
            _ => true,
        });
        has_operands && function.variables.iter().all(|(place, _)| !place.is_null())
    }

    /// A selector as a constant.
    pub(super) fn selector(&self, selector: u32) -> LLVMValueRef {
        // SAFETY: the context is alive.
        unsafe { LLVMConstInt(LLVMInt32TypeInContext(self.context), u64::from(selector), 0) }
    }
}

/// What an operand is at the builder's position.
///
/// # Safety
/// The builder is positioned where the operand is defined.
pub unsafe fn read_operand(builder: LLVMBuilderRef, operand: &ResolvedOperand) -> LLVMValueRef {
    // SAFETY: promised by the caller.
    unsafe {
        let value = match operand.place {
            OperandPlace::Operand(at, number) => LLVMGetOperand(at, number),
            OperandPlace::Negated(at, number) => {
                LLVMBuildNeg(builder, LLVMGetOperand(at, number), c"".as_ptr())
            }
            OperandPlace::Result(at) => at,
            OperandPlace::Target(store) => {
                let value_type = LLVMTypeOf(LLVMGetOperand(store, 0));
                let old = LLVMBuildLoad2(builder, value_type, LLVMGetOperand(store, 1), c"".as_ptr());
                LLVMSetAlignment(old, LLVMGetAlignment(store));
                old
            }
        };
        as_type(builder, value, operand.value_type)
    }
}

/// The instruction before which an operand is evaluated: of a phi, the end of the block it comes from.
///
/// # Safety
/// `at` is an instruction of a live function with that operand.
pub unsafe fn evaluated_at(at: LLVMValueRef, number: u32) -> LLVMValueRef {
    // SAFETY: promised by the caller.
    unsafe {
        if LLVMGetInstructionOpcode(at) == LLVMPHI {
            LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(at, number))
        } else {
            at
        }
    }
}

/// A truth value is a byte in memory and a bit elsewhere.
///
/// # Safety
/// The builder is positioned where the value is defined.
pub unsafe fn as_type(builder: LLVMBuilderRef, value: LLVMValueRef, value_type: ValueType) -> LLVMValueRef {
    // SAFETY: promised by the caller.
    unsafe {
        let there = LLVMTypeOf(value);
        if LLVMGetTypeKind(there) != LLVMTypeKind::LLVMIntegerTypeKind {
            return value;
        }
        let context = LLVMGetTypeContext(there);
        match (value_type, LLVMGetIntTypeWidth(there)) {
            (ValueType::Bool, 8) => {
                LLVMBuildTrunc(builder, value, LLVMInt1TypeInContext(context), c"".as_ptr())
            }
            (ValueType::Int { bits: 8, .. }, 1) => {
                LLVMBuildZExt(builder, value, LLVMInt8TypeInContext(context), c"".as_ptr())
            }
            _ => value,
        }
    }
}

/// # Safety
/// `phi` is a phi of the type of `value`, and `from` leads to its block.
pub unsafe fn add_incoming(phi: LLVMValueRef, mut value: LLVMValueRef, mut from: LLVMBasicBlockRef) {
    // SAFETY: promised by the caller.
    unsafe { LLVMAddIncoming(phi, &mut value, &mut from, 1) }
}
