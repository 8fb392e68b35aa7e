//! Labels of the elements of small vectors: pairs of `float` travel in them.

use super::{
    emit::Labelled,
    region::{Body, Labels},
    values::operands,
};
use cairn_abi::symbolic::Op;
use inkwell::llvm_sys::{LLVMOpcode::*, LLVMTypeKind::*, core::*, prelude::*};

/// Whether a value is a vector.
///
/// # Safety
/// The value belongs to a live module.
pub(super) unsafe fn is_vector(value: LLVMValueRef) -> bool {
    // SAFETY: promised by the caller.
    unsafe { LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind }
}

impl Body<'_> {
    /// A part of a value that has several, if it can be had.
    ///
    /// # Safety
    /// The builder stands where the value is known.
    pub(super) unsafe fn part_of(&self, value: LLVMValueRef, number: usize) -> Option<LLVMValueRef> {
        let (builder, none) = (self.pass.builder, c"".as_ptr());
        // SAFETY: promised by the caller; there are as many elements as parts.
        unsafe {
            let leaves = self.leaves_of(value);
            if !leaves.get(number)?.is_narrow() {
                return None;
            }
            let value_type = LLVMTypeOf(value);
            match LLVMGetTypeKind(value_type) {
                LLVMVectorTypeKind => {
                    Some(LLVMBuildExtractElement(builder, value, self.number(number as u64), none))
                }
                LLVMStructTypeKind if LLVMCountStructElementTypes(value_type) as usize == leaves.len() => {
                    let part = LLVMBuildExtractValue(builder, value, number as u32, none);
                    let kind = LLVMGetTypeKind(LLVMTypeOf(part));
                    (!matches!(kind, LLVMStructTypeKind | LLVMArrayTypeKind | LLVMVectorTypeKind))
                        .then_some(part)
                }
                LLVMStructTypeKind | LLVMArrayTypeKind => None,
                _ => Some(value),
            }
        }
    }

    /// The labels of what an instruction makes of elements; `None` for all others.
    ///
    /// # Safety
    /// The builder stands where everything is known.
    pub(super) unsafe fn elements(&self, value: LLVMValueRef) -> Option<Labels> {
        // SAFETY: promised by the caller.
        unsafe {
            let operands = operands(value);
            match LLVMGetInstructionOpcode(value) {
                LLVMExtractElement => {
                    let labels = self.labels_of(operands[0]);
                    Some(vec![*labels.get(constant(operands[1])?)?])
                        .filter(|_| labels.len() == size(operands[0]))
                }
                LLVMInsertElement => {
                    let mut labels = self.labels_of(operands[0]);
                    let place = constant(operands[2]).filter(|_| labels.len() == size(operands[0]))?;
                    *labels.get_mut(place)? = self.label_of(operands[1]);
                    Some(labels)
                }
                LLVMShuffleVector => {
                    let labels = [self.labels_of(operands[0]), self.labels_of(operands[1])].concat();
                    let count = LLVMGetNumMaskElements(value);
                    let is_known = labels.len() == 2 * size(operands[0])
                        && self.leaves_of(value).len() == count as usize;
                    let chosen = |index| {
                        let from = usize::try_from(LLVMGetMaskValue(value, index)).ok();
                        from.and_then(|from| labels.get(from)).copied().unwrap_or(self.pass.zero)
                    };
                    is_known.then(|| (0..count).map(chosen).collect())
                }
                LLVMBitCast if is_vector(value) || is_vector(operands[0]) => {
                    self.reinterpreted(value, operands[0])
                }
                _ => None,
            }
        }
    }

    /// The same bits as other parts.
    unsafe fn reinterpreted(&self, value: LLVMValueRef, from: LLVMValueRef) -> Option<Labels> {
        // SAFETY: the builder stands where both are known.
        unsafe {
            let (new, old) = (self.leaves_of(value), self.leaves_of(from));
            let is_narrow = |leaves: &[super::shape::Leaf]| leaves.iter().all(|leaf| leaf.is_narrow());
            if !is_narrow(&new) || !is_narrow(&old) {
                return None;
            }
            if new.len() == old.len() {
                return Some(self.labels_of(from));
            }
            let labels = self.labels_of(from);
            let total: u32 = old.iter().map(|leaf| leaf.width).sum();
            match (&old[..], &new[..]) {
                ([_], parts) => {
                    let part = |(number, leaf): (usize, &super::shape::Leaf)| {
                        let element = self.part_of(value, number)?;
                        Some(self.unary(Op::Extract, leaf.width, 8 * leaf.offset as u32, labels[0], element))
                    };
                    parts.iter().enumerate().map(part).collect()
                }
                (parts, [_]) if total <= 64 => {
                    let word = self.as_word(value);
                    Some(vec![self.joined(word, parts, &labels)])
                }
                _ => None,
            }
        }
    }

    /// The label of a word of 64 bits or fewer that consists of `parts`.
    unsafe fn joined(
        &self,
        word: LLVMValueRef,
        parts: &[super::shape::Leaf],
        labels: &[LLVMValueRef],
    ) -> LLVMValueRef {
        let (builder, none) = (self.pass.builder, c"".as_ptr());
        // SAFETY: the builder stands where the word is known.
        unsafe {
            let mut sum = Labelled { label: self.pass.zero, value: self.word(0) };
            for (leaf, label) in parts.iter().zip(labels) {
                let shift = self.word(8 * leaf.offset);
                let mask = self.word(u64::MAX >> (64 - leaf.width));
                let low = LLVMBuildAnd(builder, LLVMBuildLShr(builder, word, shift, none), mask, none);
                let label = self.unary(Op::ZExt, 64, 0, *label, low);
                let high = LLVMBuildShl(builder, low, shift, none);
                let by = Labelled { label: self.pass.zero, value: shift };
                let label = self.binary(Op::Shl, 64, Labelled { label, value: low }, by, high);
                let total = LLVMBuildOr(builder, sum.value, high, none);
                let label = self.binary(Op::Or, 64, sum, Labelled { label, value: high }, total);
                sum = Labelled { label, value: total };
            }
            let width = parts.iter().map(|leaf| leaf.width).sum();
            if width == 64 { sum.label } else { self.unary(Op::Extract, width, 0, sum.label, word) }
        }
    }
}

/// How many elements a vector has.
unsafe fn size(vector: LLVMValueRef) -> usize {
    // SAFETY: the caller has a vector of a live module.
    unsafe { LLVMGetVectorSize(LLVMTypeOf(vector)) as usize }
}

fn constant(index: LLVMValueRef) -> Option<usize> {
    // SAFETY: the caller has a value of a live module.
    unsafe {
        let is_constant = !LLVMIsAConstantInt(index).is_null();
        is_constant.then(|| LLVMConstIntGetZExtValue(index) as usize)
    }
}
