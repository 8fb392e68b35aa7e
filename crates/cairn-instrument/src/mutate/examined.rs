//! Examined bodies: the original, and beside it what each mutant would have made of it.
//!
//! ```text
//!   %sum = add i32 %a, %b
//! is followed by
//!   store i8 1, ptr @__cairn_infections + PATCH
//!   %difference = sub i32 %a, %b
//!   %differs = icmp ne i32 %difference, %sum
//!   (or it into the byte at @__cairn_infections + N_PATCHES + 17)
//! ```
//! It changes nothing and stops at nothing: what could is said to differ. So does whatever changes where something is
//! stored, or which way control goes.

use super::{
    formula::{FormulaBuilder, Manner, Values},
    resolve::{ResolvedAnchor, ResolvedAt, ResolvedFunction},
    switched::{Weave, as_type, evaluated_at, read_operand},
};
use cairn_model::mutants::{Change, ValueType};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind, core::*, prelude::*};

/// Adds examinations to a function.
pub struct Examiner {
    /// The module's context.
    pub context: LLVMContextRef,
    /// For new instructions.
    pub builder: LLVMBuilderRef,
    /// The infection pages.
    pub infections: LLVMValueRef,
    /// How many patches the view has.
    pub n_patches: u32,
}

impl Examiner {
    /// Examines `patches`.
    ///
    /// # Safety
    /// The function was resolved in this module and has not been changed since.
    pub unsafe fn examine(&self, function: &ResolvedFunction, patches: &[Weave]) {
        for patch in patches {
            let Some(Some(anchor)) = function.anchors.get(patch.spot) else { continue };
            // SAFETY: promised by the caller.
            unsafe {
                match &anchor.at {
                    ResolvedAt::Result(at) => {
                        let mut next = LLVMGetNextInstruction(*at);
                        while LLVMGetInstructionOpcode(next) == LLVMOpcode::LLVMPHI {
                            next = LLVMGetNextInstruction(next);
                        }
                        LLVMPositionBuilderBefore(self.builder, next);
                        self.note(patch.number);
                        self.compare(function, patch, anchor, *at);
                    }
                    ResolvedAt::Operands(operands) => {
                        for (at, number) in operands {
                            LLVMPositionBuilderBefore(self.builder, evaluated_at(*at, *number));
                            self.note(patch.number);
                            let original =
                                as_type(self.builder, LLVMGetOperand(*at, *number), patch.value_type);
                            self.compare(function, patch, anchor, original);
                        }
                    }
                    ResolvedAt::Negated(at, number) => {
                        LLVMPositionBuilderBefore(self.builder, *at);
                        self.note(patch.number);
                        let original = LLVMBuildNeg(self.builder, LLVMGetOperand(*at, *number), c"".as_ptr());
                        self.compare(function, patch, anchor, original);
                    }
                    ResolvedAt::Stored(store) => {
                        LLVMPositionBuilderBefore(self.builder, *store);
                        self.note(patch.number);
                        self.compare(function, patch, anchor, LLVMGetOperand(*store, 0));
                    }
                    ResolvedAt::Logical(logical) => {
                        let mut ends: Vec<_> =
                            logical.left_true.iter().chain(&logical.left_false).map(|way| way.0).collect();
                        ends.dedup();
                        for end in ends {
                            LLVMPositionBuilderBefore(self.builder, end);
                            self.note(patch.number);
                            for mutant in 0..patch.changes.len() {
                                self.note(self.n_patches + patch.first_selector + mutant as u32);
                            }
                        }
                    }
                }
            }
        }
    }

    unsafe fn compare(
        &self,
        function: &ResolvedFunction,
        patch: &Weave,
        anchor: &ResolvedAnchor,
        original: LLVMValueRef,
    ) {
        // SAFETY: the builder is positioned where the original and its operands are defined.
        unsafe {
            let operands: Vec<_> =
                anchor.operands.iter().map(|operand| read_operand(self.builder, operand)).collect();
            for (index, change) in patch.changes.iter().enumerate() {
                let byte = self.n_patches + patch.first_selector + index as u32;
                let Change::Value(formula) = change else { continue };
                if patch.value_type == ValueType::Pointer {
                    self.note(byte);
                    continue;
                }
                let mut formulas = FormulaBuilder {
                    builder: self.builder,
                    context: self.context,
                    manner: Manner::Trial,
                    uncertain: None,
                };
                let values = Values { original, operands: &operands, variables: &function.variables };
                let built = formulas.build(formula, &values);
                match built.and_then(|built| self.differs(built, original)) {
                    Some(mut differs) => {
                        if let Some(uncertain) = formulas.uncertain {
                            differs = LLVMBuildOr(self.builder, differs, uncertain, c"".as_ptr());
                        }
                        self.note_if(byte, differs);
                    }
                    None => self.note(byte),
                }
            }
        }
    }

    unsafe fn differs(&self, left: LLVMValueRef, right: LLVMValueRef) -> Option<LLVMValueRef> {
        let none = c"".as_ptr();
        // SAFETY: the builder is positioned; types are checked.
        unsafe {
            if LLVMTypeOf(left) != LLVMTypeOf(right) {
                return None;
            }
            let bits = match LLVMGetTypeKind(LLVMTypeOf(left)) {
                LLVMTypeKind::LLVMIntegerTypeKind => None,
                LLVMTypeKind::LLVMFloatTypeKind => Some(LLVMInt32TypeInContext(self.context)),
                LLVMTypeKind::LLVMDoubleTypeKind => Some(LLVMInt64TypeInContext(self.context)),
                _ => return None,
            };
            let as_bits = |value| match bits {
                Some(bits) => LLVMBuildBitCast(self.builder, value, bits, none),
                None => value,
            };
            let (left, right) = (as_bits(left), as_bits(right));
            Some(LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntNE, left, right, none))
        }
    }

    unsafe fn byte_at(&self, number: u32) -> LLVMValueRef {
        // SAFETY: the number lies in the infection pages.
        unsafe {
            let byte = LLVMInt8TypeInContext(self.context);
            let mut offset = [LLVMConstInt(LLVMInt64TypeInContext(self.context), u64::from(number), 0)];
            LLVMConstInBoundsGEP2(byte, self.infections, offset.as_mut_ptr(), 1)
        }
    }

    unsafe fn note(&self, number: u32) {
        // SAFETY: the builder is positioned.
        unsafe {
            let one = LLVMConstInt(LLVMInt8TypeInContext(self.context), 1, 0);
            LLVMBuildStore(self.builder, one, self.byte_at(number));
        }
    }

    unsafe fn note_if(&self, number: u32, condition: LLVMValueRef) {
        let none = c"".as_ptr();
        // SAFETY: the builder is positioned where `condition` is defined.
        unsafe {
            let byte = LLVMInt8TypeInContext(self.context);
            let place = self.byte_at(number);
            let old = LLVMBuildLoad2(self.builder, byte, place, none);
            let noted = LLVMBuildZExt(self.builder, condition, byte, none);
            LLVMBuildStore(self.builder, LLVMBuildOr(self.builder, old, noted, none), place);
        }
    }
}
