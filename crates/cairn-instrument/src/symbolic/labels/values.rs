//! Labels of what instructions compute.

use super::{
    emit::Labelled,
    memory::is_ours,
    region::{Body, Item, Labels, LookedAt},
    runtime,
    shape::LeafKind,
};
use cairn_abi::symbolic::Op;
use inkwell::llvm_sys::{
    LLVMIntPredicate::*, LLVMOpcode::*, LLVMRealPredicate::*, LLVMTypeKind, core::*, prelude::*, target::*,
};

impl Body<'_> {
    /// Takes an instruction into the open region, or ends the region before it.
    ///
    /// # Safety
    /// The instruction follows what was visited before in its block.
    pub(super) unsafe fn visit(&mut self, instruction: LLVMValueRef) {
        // SAFETY: promised by the caller.
        unsafe {
            match LLVMGetInstructionOpcode(instruction) {
                LLVMPHI => {}
                LLVMStore if is_ours(LLVMGetOperand(instruction, 1)) => {}
                LLVMStore => self.add(Item::Store(instruction)),
                LLVMCall | LLVMInvoke | LLVMCallBr => self.visit_call(instruction),
                LLVMRet => self.visit_return(instruction),
                _ if self.may_be_symbolic(instruction) => self.add(Item::Value(instruction)),
                _ => {}
            }
        }
    }

    /// What decides whether a step has anything to do.
    ///
    /// # Safety
    /// The builder stands behind everything the step looks at.
    pub(super) unsafe fn looked_at(&self, item: Item) -> LookedAt {
        // SAFETY: promised by the caller.
        unsafe {
            match item {
                Item::Value(value) => match LLVMGetInstructionOpcode(value) {
                    LLVMLoad => self.look_at_load(value),
                    LLVMAtomicRMW | LLVMAtomicCmpXchg => self.look_at_exchange(value),
                    _ => LookedAt { values: operands(value), ..LookedAt::default() },
                },
                Item::Store(store) => self.look_at_store(store),
                Item::Mark(call) => self.look_at_mark(call),
                Item::Parameters => self.look_at_parameters(),
                Item::Arguments(call) => self.look_at_arguments(call),
                Item::Result(call) => self.look_at_result(call),
                Item::Return(ret) => LookedAt { values: operands(ret), ..LookedAt::default() },
            }
        }
    }

    /// Carries out a step; returns the labels it computes.
    ///
    /// # Safety
    /// The builder stands where everything is known.
    pub(super) unsafe fn carry_out(&mut self, item: Item) -> Vec<(LLVMValueRef, Labels)> {
        // SAFETY: promised by the caller.
        unsafe {
            match item {
                Item::Value(value) => vec![(value, self.labels_computed(value))],
                Item::Store(store) => {
                    self.store(store);
                    Vec::new()
                }
                Item::Mark(call) => {
                    self.carry_out_mark(call);
                    Vec::new()
                }
                Item::Parameters => self.take_parameters(),
                Item::Arguments(call) => {
                    self.pass_arguments(call);
                    Vec::new()
                }
                Item::Result(call) => vec![(call, self.take_result(call))],
                Item::Return(ret) => {
                    self.give_result(ret);
                    Vec::new()
                }
            }
        }
    }

    unsafe fn labels_computed(&self, value: LLVMValueRef) -> Labels {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            match LLVMGetInstructionOpcode(value) {
                LLVMLoad => self.load(value),
                LLVMAtomicRMW | LLVMAtomicCmpXchg => self.exchange(value),
                LLVMExtractValue => {
                    let whole = LLVMGetOperand(value, 0);
                    let (first, count) = self.pass.part(LLVMTypeOf(whole), indices(value));
                    self.labels_of(whole)[first..first + count].to_vec()
                }
                LLVMInsertValue => {
                    let (whole, part) = (LLVMGetOperand(value, 0), LLVMGetOperand(value, 1));
                    let (first, count) = self.pass.part(LLVMTypeOf(whole), indices(value));
                    let mut labels = self.labels_of(whole);
                    labels.splice(first..first + count, self.labels_of(part));
                    labels
                }
                LLVMFreeze => self.labels_of(LLVMGetOperand(value, 0)),
                LLVMSelect => self.select(value),
                LLVMCall => self.intrinsic(value),
                _ => {
                    let leaves = self.leaves_of(value);
                    match &leaves[..] {
                        [leaf] if leaf.kind != LeafKind::Other && self.is_plain(value) => {
                            vec![self.scalar(value)]
                        }
                        leaves => {
                            let labels: Vec<_> = operands(value)
                                .into_iter()
                                .flat_map(|operand| self.labels_of(operand))
                                .collect();
                            leaves.iter().map(|leaf| self.opaque_part(value, leaf, &labels)).collect()
                        }
                    }
                }
            }
        }
    }

    unsafe fn opaque_part(
        &self,
        value: LLVMValueRef,
        leaf: &super::shape::Leaf,
        labels: &[LLVMValueRef],
    ) -> LLVMValueRef {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let is_scalar = leaf.is_narrow() && self.leaves_of(value).len() == 1;
            self.opaque(leaf, is_scalar.then_some(value), labels)
        }
    }

    /// Whether an instruction's operands are all integers, pointers or floating-point numbers that we follow.
    unsafe fn is_plain(&self, value: LLVMValueRef) -> bool {
        // SAFETY: the value is an instruction of the live module.
        unsafe {
            operands(value).into_iter().all(|operand| {
                let leaves = self.leaves_of(operand);
                leaves.len() == 1 && leaves[0].kind != LeafKind::Other
            })
        }
    }

    fn labelled(&self, value: LLVMValueRef) -> Labelled {
        Labelled { label: self.label_of(value), value }
    }

    fn width_of(&self, value: LLVMValueRef) -> u32 {
        self.leaves_of(value)[0].width
    }

    unsafe fn scalar(&self, value: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let opcode = LLVMGetInstructionOpcode(value);
            let width = self.width_of(value);
            let first = LLVMGetOperand(value, 0);
            let from = self.width_of(first);
            let binary =
                |op: Op| self.binary(op, width, self.labelled(first), self.labelled(second(value)), value);
            let unary = |op: Op| self.unary(op, width, 0, self.label_of(first), value);
            match opcode {
                LLVMAdd => binary(Op::Add),
                LLVMSub => binary(Op::Sub),
                LLVMMul => binary(Op::Mul),
                LLVMUDiv => binary(Op::UDiv),
                LLVMSDiv => binary(Op::SDiv),
                LLVMURem => binary(Op::URem),
                LLVMSRem => binary(Op::SRem),
                LLVMAnd => binary(Op::And),
                LLVMOr => binary(Op::Or),
                LLVMXor => binary(Op::Xor),
                LLVMShl => binary(Op::Shl),
                LLVMLShr => binary(Op::LShr),
                LLVMAShr => binary(Op::AShr),
                LLVMFAdd => binary(Op::FAdd),
                LLVMFSub => binary(Op::FSub),
                LLVMFMul => binary(Op::FMul),
                LLVMFDiv => binary(Op::FDiv),
                LLVMFRem => binary(Op::FRem),
                LLVMFNeg => unary(Op::FNeg),
                LLVMICmp => self.compare(value),
                LLVMFCmp => self.float_compare(value),
                LLVMTrunc => unary(Op::Extract),
                LLVMZExt => unary(Op::ZExt),
                LLVMSExt => unary(Op::SExt),
                LLVMFPToSI => unary(Op::FToSigned),
                LLVMFPToUI => unary(Op::FToUnsigned),
                LLVMSIToFP => unary(Op::SignedToF),
                LLVMUIToFP => unary(Op::UnsignedToF),
                LLVMFPExt | LLVMFPTrunc => unary(Op::FToF),
                LLVMBitCast if from == width => self.label_of(first),
                LLVMPtrToInt | LLVMIntToPtr | LLVMAddrSpaceCast if from == width => self.label_of(first),
                LLVMPtrToInt if width < from => unary(Op::Extract),
                LLVMPtrToInt | LLVMIntToPtr => unary(Op::ZExt),
                LLVMGetElementPtr => self.address(value),
                _ => {
                    let labels: Vec<_> =
                        operands(value).into_iter().map(|operand| self.label_of(operand)).collect();
                    self.opaque_part(value, &self.leaves_of(value)[0], &labels)
                }
            }
        }
    }

    unsafe fn compare(&self, value: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let (left, right) = (self.labelled(LLVMGetOperand(value, 0)), self.labelled(second(value)));
            let (op, is_swapped) = match LLVMGetICmpPredicate(value) {
                LLVMIntEQ => (Op::Eq, false),
                LLVMIntNE => (Op::Ne, false),
                LLVMIntULT => (Op::ULt, false),
                LLVMIntULE => (Op::ULe, false),
                LLVMIntUGT => (Op::ULt, true),
                LLVMIntUGE => (Op::ULe, true),
                LLVMIntSLT => (Op::SLt, false),
                LLVMIntSLE => (Op::SLe, false),
                LLVMIntSGT => (Op::SLt, true),
                LLVMIntSGE => (Op::SLe, true),
            };
            let (left, right) = if is_swapped { (right, left) } else { (left, right) };
            self.binary(op, self.width_of(left.value), left, right, value)
        }
    }

    unsafe fn float_compare(&self, value: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let (left, right) = (LLVMGetOperand(value, 0), second(value));
            let (left_label, right_label) = (self.label_of(left), self.label_of(right));
            let predicate = LLVMGetFCmpPredicate(value);
            if self.is_zero(left_label) && self.is_zero(right_label)
                || matches!(predicate, LLVMRealPredicateTrue | LLVMRealPredicateFalse)
            {
                return self.pass.zero;
            }
            let code = self.number(predicate as u64 | u64::from(self.width_of(left)) << 8);
            let (a, b, result) = (self.as_word(left), self.as_word(right), self.as_word(value));
            self.call(&runtime::FLOAT_COMPARE, &mut [code, left_label, right_label, a, b, result])
        }
    }

    unsafe fn select(&self, value: LLVMValueRef) -> Labels {
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let (condition, yes, no) = (LLVMGetOperand(value, 0), second(value), LLVMGetOperand(value, 2));
            let leaves = self.leaves_of(value);
            let condition_label = self.label_of(condition);
            let is_vector = LLVMGetTypeKind(LLVMTypeOf(condition)) == LLVMTypeKind::LLVMVectorTypeKind;
            let (yes_labels, no_labels) = (self.labels_of(yes), self.labels_of(no));
            if is_vector {
                let labels = [vec![condition_label], yes_labels, no_labels].concat();
                return leaves.iter().map(|leaf| self.opaque(leaf, None, &labels)).collect();
            }
            if let ([leaf], false) = (&leaves[..], self.is_zero(condition_label))
                && leaf.is_narrow()
            {
                let (c, a, b) = (self.as_word(condition), self.as_word(yes), self.as_word(no));
                let width = self.number(leaf.width.into());
                let mut arguments = [width, condition_label, yes_labels[0], no_labels[0], c, a, b];
                return vec![self.call(&runtime::ITE, &mut arguments)];
            }
            // The chosen one's, with the choice as a dependence where it cannot be written down.
            yes_labels
                .iter()
                .zip(&no_labels)
                .zip(&leaves)
                .map(|((yes, no), leaf)| {
                    let chosen = match yes == no {
                        true => *yes,
                        false => LLVMBuildSelect(self.pass.builder, condition, *yes, *no, c"".as_ptr()),
                    };
                    match self.is_zero(condition_label) {
                        true => chosen,
                        false => self.opaque(leaf, None, &[condition_label, chosen]),
                    }
                })
                .collect()
        }
    }

    /// The label of an address computed from a pointer and indices.
    unsafe fn address(&self, value: LLVMValueRef) -> LLVMValueRef {
        let (pass, none) = (self.pass, c"".as_ptr());
        let builder = pass.builder;
        // SAFETY: the builder stands where everything is known.
        unsafe {
            let base = LLVMGetOperand(value, 0);
            let mut sum = Labelled { label: self.label_of(base), value: self.as_word(base) };
            let mut element = LLVMGetGEPSourceElementType(value);
            let mut constant = 0u64;
            for number in 1..LLVMGetNumOperands(value) as u32 {
                let index = LLVMGetOperand(value, number);
                if number > 1 && LLVMGetTypeKind(element) == LLVMTypeKind::LLVMStructTypeKind {
                    let field = LLVMConstIntGetZExtValue(index) as u32;
                    constant = constant.wrapping_add(LLVMOffsetOfElement(pass.layout, element, field));
                    element = LLVMStructGetTypeAtIndex(element, field);
                    continue;
                }
                if number > 1 {
                    element = LLVMGetElementType(element);
                }
                let size = LLVMABISizeOfType(pass.layout, element);
                if !LLVMIsAConstantInt(index).is_null() {
                    constant =
                        constant.wrapping_add((LLVMConstIntGetSExtValue(index) as u64).wrapping_mul(size));
                    continue;
                }
                let width = LLVMGetIntTypeWidth(LLVMTypeOf(index));
                let wide = match width {
                    64 => index,
                    ..64 => LLVMBuildSExt(builder, index, pass.i64_type, none),
                    _ => LLVMBuildTrunc(builder, index, pass.i64_type, none),
                };
                let mut term = Labelled { label: self.label_of(index), value: wide };
                match width {
                    64 => {}
                    ..64 => term.label = self.unary(Op::SExt, 64, 0, term.label, wide),
                    _ => term.label = self.unary(Op::Extract, 64, 0, term.label, wide),
                }
                if size != 1 {
                    let size = Labelled { label: pass.zero, value: self.word(size) };
                    let product = LLVMBuildMul(builder, wide, size.value, none);
                    term = Labelled { label: self.binary(Op::Mul, 64, term, size, product), value: product };
                }
                let total = LLVMBuildAdd(builder, sum.value, term.value, none);
                sum = Labelled { label: self.binary(Op::Add, 64, sum, term, total), value: total };
            }
            if constant != 0 {
                let constant = Labelled { label: pass.zero, value: self.word(constant) };
                let total = LLVMBuildAdd(builder, sum.value, constant.value, none);
                sum.label = self.binary(Op::Add, 64, sum, constant, total);
            }
            sum.label
        }
    }
}

unsafe fn second(value: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: the caller has an instruction with two operands.
    unsafe { LLVMGetOperand(value, 1) }
}

/// The operands of an instruction that are values.
///
/// # Safety
/// The value is an instruction of a live module.
pub(super) unsafe fn operands(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: promised by the caller.
    unsafe {
        let count = match LLVMGetInstructionOpcode(value) {
            LLVMCall | LLVMInvoke => LLVMGetNumArgOperands(value),
            _ => LLVMGetNumOperands(value) as u32,
        };
        (0..count)
            .map(|index| LLVMGetOperand(value, index))
            .filter(|operand| LLVMValueIsBasicBlock(*operand) == 0)
            .collect()
    }
}

/// Where in an aggregate an instruction looks.
unsafe fn indices<'a>(value: LLVMValueRef) -> &'a [u32] {
    // SAFETY: the caller has an `extractvalue` or `insertvalue`, which keeps its indices.
    unsafe { std::slice::from_raw_parts(LLVMGetIndices(value), LLVMGetNumIndices(value) as usize) }
}
