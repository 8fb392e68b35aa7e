//! Calls of the runtime for labels, at the builder's position.

use super::{
    region::Body,
    runtime::{self, Signature},
    shape::{Leaf, LeafKind},
};
use cairn_abi::symbolic::Op;
use inkwell::llvm_sys::{LLVMTypeKind::*, core::*, prelude::*};

/// A value and its label.
#[derive(Clone, Copy)]
pub(super) struct Labelled {
    pub label: LLVMValueRef,
    pub value: LLVMValueRef,
}

/// An operation and a width in one number, as the runtime takes them.
pub(super) fn code(op: Op, width: u32) -> u64 {
    op as u64 | u64::from(width) << 8
}

impl Body<'_> {
    pub(super) fn word(&self, value: u64) -> LLVMValueRef {
        // SAFETY: constants belong to the module's context.
        unsafe { LLVMConstInt(self.pass.i64_type, value, 0) }
    }

    pub(super) fn number(&self, value: u64) -> LLVMValueRef {
        // SAFETY: as above.
        unsafe { LLVMConstInt(self.pass.i32_type, value, 0) }
    }

    pub(super) fn is_zero(&self, label: LLVMValueRef) -> bool {
        label == self.pass.zero
    }

    /// # Safety
    /// The builder is positioned where the arguments are known.
    pub(super) unsafe fn call(&self, signature: &Signature, arguments: &mut [LLVMValueRef]) -> LLVMValueRef {
        // SAFETY: promised by the caller.
        unsafe { self.pass.runtime.call(self.pass.builder, signature, arguments) }
    }

    /// The lowest 64 bits of a value, zero-extended.
    ///
    /// # Safety
    /// The builder is positioned where the value is known.
    pub(super) unsafe fn as_word(&self, value: LLVMValueRef) -> LLVMValueRef {
        let (builder, wide, none) = (self.pass.builder, self.pass.i64_type, c"".as_ptr());
        // SAFETY: promised by the caller.
        unsafe {
            let integer = match LLVMGetTypeKind(LLVMTypeOf(value)) {
                LLVMPointerTypeKind => return LLVMBuildPtrToInt(builder, value, wide, none),
                LLVMDoubleTypeKind => return LLVMBuildBitCast(builder, value, wide, none),
                LLVMFloatTypeKind => LLVMBuildBitCast(builder, value, self.pass.i32_type, none),
                LLVMIntegerTypeKind => value,
                _ => return self.word(0),
            };
            match LLVMGetIntTypeWidth(LLVMTypeOf(integer)) {
                64 => integer,
                width if width < 64 => LLVMBuildZExt(builder, integer, wide, none),
                _ => LLVMBuildTrunc(builder, integer, wide, none),
            }
        }
    }

    /// The bits of an integer above the lowest 64.
    pub(super) unsafe fn high_word(&self, value: LLVMValueRef) -> LLVMValueRef {
        let (builder, none) = (self.pass.builder, c"".as_ptr());
        // SAFETY: the builder is positioned where the value is known.
        unsafe {
            let by = LLVMConstInt(LLVMTypeOf(value), 64, 0);
            let high = LLVMBuildLShr(builder, value, by, none);
            LLVMBuildTrunc(builder, high, self.pass.i64_type, none)
        }
    }

    /// The label of an operation on two values of `width` bits, whose result is `result`.
    ///
    /// # Safety
    /// The builder is positioned where all are known.
    pub(super) unsafe fn binary(
        &self,
        op: Op,
        width: u32,
        left: Labelled,
        right: Labelled,
        result: LLVMValueRef,
    ) -> LLVMValueRef {
        if self.is_zero(left.label) && self.is_zero(right.label) {
            return self.pass.zero;
        }
        let code = self.number(code(op, width));
        // SAFETY: promised by the caller.
        unsafe {
            if width <= 64 {
                let (a, b) = (self.as_word(left.value), self.as_word(right.value));
                let result = self.as_word(result);
                return self.call(&runtime::BINARY, &mut [code, left.label, right.label, a, b, result]);
            }
            let (a, b) = (self.as_word(left.value), self.as_word(right.value));
            let (a_high, b_high) = (self.high_word(left.value), self.high_word(right.value));
            let result = self.as_word(result);
            let mut arguments = [code, left.label, right.label, a, a_high, b, b_high, result];
            self.call(&runtime::BINARY_WIDE, &mut arguments)
        }
    }

    /// The label of an operation on one value; `width` is that of the result, `extra` what the operation says.
    ///
    /// # Safety
    /// The builder is positioned where all are known.
    pub(super) unsafe fn unary(
        &self,
        op: Op,
        width: u32,
        extra: u32,
        label: LLVMValueRef,
        result: LLVMValueRef,
    ) -> LLVMValueRef {
        if self.is_zero(label) {
            return label;
        }
        let code = self.number(code(op, width) | u64::from(extra) << 16);
        // SAFETY: promised by the caller.
        unsafe {
            let result = self.as_word(result);
            self.call(&runtime::UNARY, &mut [code, label, result])
        }
    }

    /// The label of a value that depends on others in a way we do not follow.
    ///
    /// # Safety
    /// The builder is positioned where all are known.
    pub(super) unsafe fn opaque(
        &self,
        leaf: &Leaf,
        value: Option<LLVMValueRef>,
        labels: &[LLVMValueRef],
    ) -> LLVMValueRef {
        let labels: Vec<_> = labels.iter().copied().filter(|label| !self.is_zero(*label)).collect();
        let width = if leaf.kind == LeafKind::Other { 64 } else { leaf.width };
        // SAFETY: promised by the caller.
        unsafe {
            let value = match value {
                Some(value) => self.as_word(value),
                None => self.word(0),
            };
            let mut rest = labels.into_iter();
            let Some(mut whole) = rest.next() else { return self.pass.zero };
            let first = rest.next().unwrap_or(self.pass.zero);
            let width = self.number(width.into());
            whole = self.call(&runtime::OPAQUE, &mut [width, value, whole, first]);
            for label in rest {
                whole = self.call(&runtime::OPAQUE, &mut [width, value, whole, label]);
            }
            whole
        }
    }
}
