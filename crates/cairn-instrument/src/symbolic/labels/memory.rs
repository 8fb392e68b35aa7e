//! Labels of memory.

use super::{
    region::{Body, Labels, LookedAt},
    runtime,
    shape::{Leaf, LeafKind},
    values::operands,
};
use cairn_abi::{
    symbolic::{Op, SHADOW_BASE, SHADOW_MASK},
    view::{COUNTERS_SYMBOL, FUEL_SYMBOL},
};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode::*, core::*, prelude::*};

/// Bytes up to which the shadow is looked at in place.
const LOOKED_AT: u64 = 32;

impl Body<'_> {
    pub(super) unsafe fn look_at_load(&self, load: LLVMValueRef) -> LookedAt {
        // SAFETY: the builder stands behind the load.
        unsafe {
            let pointer = LLVMGetOperand(load, 0);
            let words = if is_constant(pointer) {
                Vec::new()
            } else {
                self.shadow_of(pointer, &self.leaves_of(load))
            };
            LookedAt { values: vec![pointer], words, truths: Vec::new() }
        }
    }

    pub(super) unsafe fn look_at_store(&self, store: LLVMValueRef) -> LookedAt {
        // SAFETY: the builder stands behind the store.
        unsafe {
            let (value, pointer) = (LLVMGetOperand(store, 0), LLVMGetOperand(store, 1));
            let words = self.shadow_of(pointer, &self.leaves_of(value));
            LookedAt { values: vec![value, pointer], words, truths: Vec::new() }
        }
    }

    pub(super) unsafe fn look_at_exchange(&self, exchange: LLVMValueRef) -> LookedAt {
        // SAFETY: the builder stands behind the exchange.
        unsafe {
            let operands = operands(exchange);
            let words = self.shadow_of(operands[0], &self.leaves_of(operands[1]));
            LookedAt { values: operands, words, truths: Vec::new() }
        }
    }

    /// Words that are not all zero if what lies there has labels.
    unsafe fn shadow_of(&self, pointer: LLVMValueRef, leaves: &[Leaf]) -> Vec<LLVMValueRef> {
        let size = leaves.iter().map(|leaf| leaf.offset + leaf.size).max().unwrap_or(0);
        if size > LOOKED_AT {
            // Rare enough to go the slow way every time.
            return vec![self.word(1)];
        }
        // SAFETY: the builder stands where the pointer is known.
        unsafe { self.shadow_words(pointer, size) }
    }

    /// The shadow of `size` bytes.
    ///
    /// # Safety
    /// The builder stands where the pointer is known.
    pub(super) unsafe fn shadow_words(&self, pointer: LLVMValueRef, size: u64) -> Vec<LLVMValueRef> {
        let (pass, none) = (self.pass, c"".as_ptr());
        let builder = pass.builder;
        // SAFETY: promised by the caller; the shadow of every address is mapped.
        unsafe {
            let address = LLVMBuildPtrToInt(builder, pointer, pass.i64_type, none);
            let above = SHADOW_MASK.leading_zeros();
            let high = LLVMBuildShl(builder, address, self.word(above.into()), none);
            let scaled = LLVMBuildLShr(builder, high, self.word(u64::from(above) - 2), none);
            let shadow = LLVMBuildAdd(builder, scaled, self.word(SHADOW_BASE), none);
            let shadow = LLVMBuildIntToPtr(builder, shadow, pass.pointer, none);
            let at = |byte: u64| {
                let mut index = [self.word(byte * 4)];
                let byte_type = LLVMInt8TypeInContext(pass.context);
                LLVMBuildGEP2(builder, byte_type, shadow, index.as_mut_ptr(), 1, none)
            };
            let read = |value_type: LLVMTypeRef, place: LLVMValueRef| {
                let load = LLVMBuildLoad2(builder, value_type, place, none);
                LLVMSetAlignment(load, 4);
                load
            };
            let mut words = Vec::new();
            for byte in (0..size / 2 * 2).step_by(2) {
                words.push(read(pass.i64_type, at(byte)));
            }
            if size % 2 == 1 {
                let last = read(pass.i32_type, at(size - 1));
                words.push(LLVMBuildZExt(builder, last, pass.i64_type, none));
            }
            words
        }
    }

    unsafe fn at(&self, pointer: LLVMValueRef, offset: u64) -> LLVMValueRef {
        // SAFETY: the builder stands where the pointer is known.
        unsafe {
            if offset == 0 {
                return pointer;
            }
            let mut index = [self.word(offset)];
            let byte = LLVMInt8TypeInContext(self.pass.context);
            LLVMBuildGEP2(self.pass.builder, byte, pointer, index.as_mut_ptr(), 1, c"".as_ptr())
        }
    }

    pub(super) unsafe fn load(&self, load: LLVMValueRef) -> Labels {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let pointer = LLVMGetOperand(load, 0);
            let pointer_label = self.label_of(pointer);
            let leaves = self.leaves_of(load);
            let whole = (leaves.len() == 1).then_some(load);
            leaves
                .iter()
                .enumerate()
                .map(|(number, leaf)| {
                    let value = whole.or_else(|| self.part_of(load, number));
                    self.load_part(self.at(pointer, leaf.offset), pointer_label, leaf, value)
                })
                .collect()
        }
    }

    /// The label of a part that lies at `place`. What was loaded is `value` if it is known: the memory may hold something
    /// else by now.
    unsafe fn load_part(
        &self,
        place: LLVMValueRef,
        pointer_label: LLVMValueRef,
        leaf: &Leaf,
        value: Option<LLVMValueRef>,
    ) -> LLVMValueRef {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let value = value.filter(|_| leaf.kind != LeafKind::Other);
            let word_at = |offset: u64, size: u64| match (value, offset) {
                (Some(value), 0) => self.as_word(value),
                (Some(value), _) => self.high_word(value),
                (None, _) => self.as_word(self.read(self.at(place, offset), (size * 8) as u32)),
            };
            let part = |offset: u64, size: u64| {
                let word = word_at(offset, size);
                let (place, size) = (self.at(place, offset), self.word(size));
                match self.is_zero(pointer_label) {
                    true => self.call(&runtime::LOAD, &mut [place, size, word]),
                    false => self.call(&runtime::LOAD_AT, &mut [place, size, word, pointer_label]),
                }
            };
            if leaf.kind == LeafKind::Other {
                let parts: Vec<_> = (0..leaf.size)
                    .step_by(8)
                    .map(|offset| part(offset, (leaf.size - offset).min(8)))
                    .collect();
                return self.opaque(leaf, None, &parts);
            }
            if leaf.size <= 8 {
                let label = part(0, leaf.size);
                if u64::from(leaf.width) == leaf.size * 8 {
                    return label;
                }
                return self.unary(Op::Extract, leaf.width, 0, label, word_at(0, leaf.size));
            }
            let (low, high) = (part(0, 8), part(8, leaf.size - 8));
            let joined = (leaf.size * 8) as u32;
            let code = self.number(super::emit::code(Op::Concat, joined));
            let (low_word, high_word) = (word_at(0, 8), word_at(8, leaf.size - 8));
            self.call(&runtime::BINARY, &mut [code, high, low, high_word, low_word, low_word])
        }
    }

    /// Reads an integer of the program's memory again.
    unsafe fn read(&self, place: LLVMValueRef, width: u32) -> LLVMValueRef {
        // SAFETY: the program has just read there.
        unsafe {
            let value_type = LLVMIntTypeInContext(self.pass.context, width);
            let load = LLVMBuildLoad2(self.pass.builder, value_type, place, c"".as_ptr());
            LLVMSetAlignment(load, 1);
            load
        }
    }

    pub(super) unsafe fn store(&self, store: LLVMValueRef) {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let (value, pointer) = (LLVMGetOperand(store, 0), LLVMGetOperand(store, 1));
            let pointer_label = self.label_of(pointer);
            let leaves = self.leaves_of(value);
            let whole = (leaves.len() == 1).then_some(value);
            for (leaf, label) in leaves.iter().zip(self.labels_of(value)) {
                self.store_part(self.at(pointer, leaf.offset), pointer_label, leaf, label, whole);
            }
        }
    }

    unsafe fn store_part(
        &self,
        place: LLVMValueRef,
        pointer_label: LLVMValueRef,
        leaf: &Leaf,
        label: LLVMValueRef,
        value: Option<LLVMValueRef>,
    ) {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let part = |offset: u64, size: u64, label: LLVMValueRef| {
                let (place, size) = (self.at(place, offset), self.word(size));
                match self.is_zero(pointer_label) {
                    true => self.call(&runtime::STORE, &mut [place, size, label]),
                    false => self.call(&runtime::STORE_AT, &mut [place, size, label, pointer_label]),
                };
            };
            if leaf.size <= 8 && leaf.kind != LeafKind::Other {
                part(0, leaf.size, label);
                return;
            }
            for offset in (0..leaf.size).step_by(8) {
                let size = (leaf.size - offset).min(8);
                let label = match leaf.kind {
                    LeafKind::Other => label,
                    _ => {
                        let value = match (value, offset) {
                            (Some(value), 0) => self.as_word(value),
                            (Some(value), _) => self.high_word(value),
                            (None, _) => self.read(self.at(place, offset), (size * 8) as u32),
                        };
                        self.unary(Op::Extract, (size * 8) as u32, (offset * 8) as u32, label, value)
                    }
                };
                part(offset, size, label);
            }
        }
    }

    /// What an atomic exchange leaves: labels of what was there, and an opaque value in its place.
    pub(super) unsafe fn exchange(&self, exchange: LLVMValueRef) -> Labels {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let operands = operands(exchange);
            let (pointer, operand) = (operands[0], operands[1]);
            let leaves = self.leaves_of(operand);
            let old_value = (LLVMGetInstructionOpcode(exchange) == LLVMAtomicRMW).then_some(exchange);
            let old: Vec<_> =
                leaves.iter().map(|leaf| self.load_part(pointer, self.pass.zero, leaf, old_value)).collect();
            let labels: Vec<_> = old
                .iter()
                .copied()
                .chain(operands[1..].iter().map(|operand| self.label_of(*operand)))
                .collect();
            for leaf in &leaves {
                let value = leaf.is_narrow().then(|| self.read(pointer, leaf.width));
                let label = self.opaque(leaf, value, &labels);
                self.store_part(pointer, self.pass.zero, leaf, label, None);
            }
            if old_value.is_some() {
                return old;
            }
            self.opaque_parts(exchange, &labels)
        }
    }

    /// A truth value that says whether all conditions are noted, also those without a label.
    pub(super) unsafe fn notes_all(&self) -> LLVMValueRef {
        // SAFETY: the builder is positioned; the state is the runtime's.
        unsafe {
            let place = self.state_at(std::mem::offset_of!(cairn_abi::symbolic::state::CallState, notes_all));
            let flag = LLVMBuildLoad2(self.pass.builder, self.pass.i32_type, place, c"".as_ptr());
            let zero = self.pass.zero;
            LLVMBuildICmp(self.pass.builder, LLVMIntPredicate::LLVMIntNE, flag, zero, c"".as_ptr())
        }
    }
}

/// The variable an address certainly belongs to, if that can be seen.
unsafe fn origin(pointer: LLVMValueRef) -> LLVMValueRef {
    let mut pointer = pointer;
    // SAFETY: the pointer belongs to a live module.
    unsafe {
        loop {
            let is_address = !LLVMIsAGetElementPtrInst(pointer).is_null()
                || !LLVMIsAConstantExpr(pointer).is_null()
                    && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr;
            if !is_address {
                return pointer;
            }
            pointer = LLVMGetOperand(pointer, 0);
        }
    }
}

/// Whether an address is that of a counter or of the fuel: no memory of the program.
///
/// # Safety
/// The pointer belongs to a live module.
pub(super) unsafe fn is_ours(pointer: LLVMValueRef) -> bool {
    // SAFETY: promised by the caller.
    unsafe {
        let origin = origin(pointer);
        !LLVMIsAGlobalVariable(origin).is_null()
            && [COUNTERS_SYMBOL, FUEL_SYMBOL].contains(&super::name_of(origin).as_str())
    }
}

/// Whether what lies there never changes.
unsafe fn is_constant(pointer: LLVMValueRef) -> bool {
    // SAFETY: the pointer belongs to a live module.
    unsafe {
        let origin = origin(pointer);
        !LLVMIsAGlobalVariable(origin).is_null() && LLVMIsGlobalConstant(origin) != 0
    }
}
