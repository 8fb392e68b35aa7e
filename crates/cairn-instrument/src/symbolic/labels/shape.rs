//! Types as a row of parts that have one label each.

use super::Pass;
use inkwell::llvm_sys::{LLVMTypeKind::*, core::*, prelude::*, target::*};

/// A part of a value that has one label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    pub kind: LeafKind,
    /// In bits.
    pub width: u32,
    /// In bytes, from where the whole lies in memory.
    pub offset: u64,
    /// Bytes it takes in memory.
    pub size: u64,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeafKind {
    /// An integer of at most 128 bits, or a pointer.
    Integer,
    /// A `float` or `double`.
    Float,
    /// Anything else: it can only be opaque.
    Other,
}

impl Leaf {
    /// Whether its value fits the runtime's 64 bits.
    pub fn is_narrow(&self) -> bool {
        self.kind != LeafKind::Other && self.width <= 64
    }
}

impl Pass {
    /// The parts of a type; none for types without values and for too large ones.
    pub(super) fn leaves(&self, value_type: LLVMTypeRef) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.add_leaves(value_type, 0, &mut leaves);
        leaves
    }

    fn add_leaves(&self, value_type: LLVMTypeRef, offset: u64, leaves: &mut Vec<Leaf>) {
        // SAFETY: the type belongs to the module's context.
        unsafe {
            let sized = |kind, width| Leaf {
                kind,
                width,
                offset,
                size: LLVMStoreSizeOfType(self.layout, value_type),
            };
            match LLVMGetTypeKind(value_type) {
                LLVMIntegerTypeKind => {
                    let width = LLVMGetIntTypeWidth(value_type);
                    let kind = if width <= 128 { LeafKind::Integer } else { LeafKind::Other };
                    leaves.push(sized(kind, width));
                }
                LLVMPointerTypeKind => leaves.push(sized(LeafKind::Integer, 64)),
                LLVMFloatTypeKind => leaves.push(sized(LeafKind::Float, 32)),
                LLVMDoubleTypeKind => leaves.push(sized(LeafKind::Float, 64)),
                LLVMStructTypeKind => {
                    for index in 0..LLVMCountStructElementTypes(value_type) {
                        let at = offset + LLVMOffsetOfElement(self.layout, value_type, index);
                        self.add_leaves(LLVMStructGetTypeAtIndex(value_type, index), at, leaves);
                    }
                }
                LLVMArrayTypeKind => {
                    let element = LLVMGetElementType(value_type);
                    let size = LLVMABISizeOfType(self.layout, element);
                    for index in 0..LLVMGetArrayLength2(value_type) {
                        self.add_leaves(element, offset + index * size, leaves);
                    }
                }
                LLVMVectorTypeKind if self.has_parts(value_type) => {
                    let element = LLVMGetElementType(value_type);
                    let size = LLVMStoreSizeOfType(self.layout, element);
                    for index in 0..u64::from(LLVMGetVectorSize(value_type)) {
                        self.add_leaves(element, offset + index * size, leaves);
                    }
                }
                LLVMHalfTypeKind | LLVMBFloatTypeKind | LLVMX86_FP80TypeKind | LLVMFP128TypeKind
                | LLVMVectorTypeKind => leaves.push(sized(LeafKind::Other, 64)),
                _ => {}
            }
        }
    }

    /// Whether the elements of a vector have labels of their own: a few, each of whole bytes.
    fn has_parts(&self, vector: LLVMTypeRef) -> bool {
        const MAX_ELEMENTS: u32 = 8;
        // SAFETY: the type belongs to the module's context.
        unsafe {
            let element = LLVMGetElementType(vector);
            let is_plain = match LLVMGetTypeKind(element) {
                LLVMFloatTypeKind | LLVMDoubleTypeKind | LLVMPointerTypeKind => true,
                LLVMIntegerTypeKind => matches!(LLVMGetIntTypeWidth(element), 8 | 16 | 32 | 64),
                _ => false,
            };
            is_plain && LLVMGetVectorSize(vector) <= MAX_ELEMENTS
        }
    }

    /// Which parts of a whole belong to the element that `indices` lead to: the first, and how many.
    pub(super) fn part(&self, value_type: LLVMTypeRef, indices: &[u32]) -> (usize, usize) {
        let mut value_type = value_type;
        let mut first = 0;
        // SAFETY: the type belongs to the module's context, and the indices are an instruction's.
        unsafe {
            for index in indices {
                if LLVMGetTypeKind(value_type) == LLVMStructTypeKind {
                    for before in 0..*index {
                        first += self.leaves(LLVMStructGetTypeAtIndex(value_type, before)).len();
                    }
                    value_type = LLVMStructGetTypeAtIndex(value_type, *index);
                } else {
                    value_type = LLVMGetElementType(value_type);
                    first += *index as usize * self.leaves(value_type).len();
                }
            }
        }
        (first, self.leaves(value_type).len())
    }
}
