//! Regions: what lies between two calls of a block.

use super::{Pass, blocks_in_order, reach::symbolic_values, shape::Leaf};
use crate::{fuel::split_before, ir::instructions};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode::*, core::*, prelude::*};
use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
};

/// The labels of a value's parts.
pub(super) type Labels = Vec<LLVMValueRef>;

/// A function while its labels are computed.
pub(super) struct Body<'p> {
    pub pass: &'p Pass,
    pub function: LLVMValueRef,
    /// Values that may have labels.
    symbolic: HashSet<LLVMValueRef>,
    /// Labels that are known.
    labels: HashMap<LLVMValueRef, Labels>,
    /// What the region that is open has to do when something has a label.
    region: Vec<Item>,
    /// What is to be done in any case when the region ends.
    pub defaults: Defaults,
    /// Whether the labels that were passed or returned are meant for whom they may be meant: asked when a region begins to end,
    /// because its end says something else.
    pub meant: RefCell<HashMap<LLVMValueRef, LLVMValueRef>>,
    /// Where a function with variable arguments keeps their labels.
    pub variable_arguments: Option<LLVMValueRef>,
}

/// Fields of the call state that are cleared at the end of a region.
#[derive(Clone, Copy, Default)]
pub(super) struct Defaults {
    pub arguments: bool,
    pub result: bool,
}

/// A step of a region.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    /// The function's parameters get the labels that were passed.
    Parameters,
    /// An instruction's value gets its label.
    Value(LLVMValueRef),
    /// A store changes the shadow.
    Store(LLVMValueRef),
    /// A condition or a switch is evaluated.
    Mark(LLVMValueRef),
    /// Arguments are passed.
    Arguments(LLVMValueRef),
    /// A call's result gets the label that was returned.
    Result(LLVMValueRef),
    /// A value is returned.
    Return(LLVMValueRef),
}

impl<'p> Body<'p> {
    pub fn new(pass: &'p Pass, function: LLVMValueRef) -> Self {
        // SAFETY: the function belongs to the live module.
        let symbolic = unsafe { symbolic_values(pass, function) };
        Self {
            pass,
            function,
            symbolic,
            labels: HashMap::new(),
            region: Vec::new(),
            defaults: Defaults::default(),
            meant: RefCell::default(),
            variable_arguments: None,
        }
    }

    pub fn compute(mut self) {
        // SAFETY: the function belongs to the live module, and nothing else changes it meanwhile.
        unsafe {
            let blocks = blocks_in_order(self.function);
            let content: Vec<Vec<LLVMValueRef>> = blocks.iter().map(|block| instructions(*block)).collect();
            let phis: Vec<LLVMValueRef> = content
                .iter()
                .flatten()
                .copied()
                .filter(|at| LLVMGetInstructionOpcode(*at) == LLVMPHI)
                .collect();
            for phi in &phis {
                self.add_label_phis(*phi);
            }
            for (number, block) in content.iter().enumerate() {
                if number == 0 {
                    self.begin_function();
                }
                self.take_result_of_invoke(blocks[number]);
                for instruction in block {
                    self.visit(*instruction);
                }
                let end = *block.last().expect("a block has a terminator");
                if !self.region.is_empty() {
                    self.end_region(end);
                }
            }
            for phi in &phis {
                self.fill_label_phis(*phi);
            }
        }
    }

    /// Whether a value may have a label.
    pub fn may_be_symbolic(&self, value: LLVMValueRef) -> bool {
        self.symbolic.contains(&value)
    }

    /// The parts of a value.
    pub fn leaves_of(&self, value: LLVMValueRef) -> Vec<Leaf> {
        // SAFETY: the value belongs to the live module.
        self.pass.leaves(unsafe { LLVMTypeOf(value) })
    }

    pub fn add(&mut self, item: Item) {
        self.region.push(item);
    }

    /// Labels known before the region, which decide whether it has anything to do.
    fn known(&self, value: LLVMValueRef) -> &[LLVMValueRef] {
        self.labels.get(&value).map_or(&[], |labels| labels)
    }

    /// Labels of phis beside the phis themselves, for values that come in later.
    unsafe fn add_label_phis(&mut self, phi: LLVMValueRef) {
        if !self.may_be_symbolic(phi) {
            return;
        }
        // SAFETY: phis may stand before phis.
        unsafe {
            LLVMPositionBuilderBefore(self.pass.builder, phi);
            let labels = self
                .leaves_of(phi)
                .iter()
                .map(|_| LLVMBuildPhi(self.pass.builder, self.pass.i32_type, c"label".as_ptr()))
                .collect();
            self.labels.insert(phi, labels);
        }
    }

    unsafe fn fill_label_phis(&mut self, phi: LLVMValueRef) {
        let Some(own) = self.labels.get(&phi) else { return };
        // SAFETY: what comes in is known at the end of the block it comes from, and so is its label.
        unsafe {
            for index in 0..LLVMCountIncoming(phi) {
                let labels = self.labels.get(&LLVMGetIncomingValue(phi, index));
                let mut from = LLVMGetIncomingBlock(phi, index);
                for (leaf, label_phi) in own.iter().enumerate() {
                    let mut label = labels.map_or(self.pass.zero, |labels| labels[leaf]);
                    LLVMAddIncoming(*label_phi, &mut label, &mut from, 1);
                }
            }
        }
    }

    /// Ends the open region before an instruction.
    ///
    /// # Safety
    /// The instruction stands behind everything the region holds, in the same block, and is no phi.
    pub unsafe fn end_region(&mut self, at: LLVMValueRef) {
        let items = std::mem::take(&mut self.region);
        let defaults = std::mem::take(&mut self.defaults);
        let pass = self.pass;
        let builder = pass.builder;
        // SAFETY: promised by the caller.
        unsafe {
            let next = LLVMGetInstructionParent(at);
            let before = split_before(builder, pass.context, at);
            LLVMPositionBuilderAtEnd(builder, before);
            let test = self.test(&items);
            self.set_defaults(defaults);
            let Some(test) = test else {
                LLVMBuildBr(builder, next);
                return;
            };
            let slow = LLVMInsertBasicBlockInContext(pass.context, next, c"cairn.slow".as_ptr());
            let branch = LLVMBuildCondBr(builder, test, slow, next);
            LLVMSetMetadata(branch, pass.unlikely_kind, pass.unlikely);
            LLVMPositionBuilderAtEnd(builder, slow);
            let mut computed = Vec::new();
            for item in &items {
                for (value, labels) in self.carry_out(*item) {
                    self.labels.insert(value, labels.clone());
                    computed.push((value, labels));
                }
            }
            LLVMBuildBr(builder, next);
            LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(next));
            for (value, labels) in computed {
                let merged = labels.into_iter().map(|label| self.merge(label, slow, before)).collect();
                self.labels.insert(value, merged);
            }
        }
    }

    /// Likewise, where one may be open.
    ///
    /// # Safety
    /// As for [`end_region`](Self::end_region).
    pub unsafe fn end_region_if_open(&mut self, at: LLVMValueRef) {
        if !self.region.is_empty() {
            // SAFETY: promised by the caller.
            unsafe { self.end_region(at) };
        }
    }

    /// The label behind a region: what was computed, or none.
    unsafe fn merge(
        &self,
        label: LLVMValueRef,
        slow: LLVMBasicBlockRef,
        before: LLVMBasicBlockRef,
    ) -> LLVMValueRef {
        let pass = self.pass;
        if label == pass.zero {
            return label;
        }
        // SAFETY: the builder stands at the start of the block that both lead to.
        unsafe {
            let phi = LLVMBuildPhi(pass.builder, pass.i32_type, c"label".as_ptr());
            let mut values = [label, pass.zero];
            let mut blocks = [slow, before];
            LLVMAddIncoming(phi, values.as_mut_ptr(), blocks.as_mut_ptr(), 2);
            phi
        }
    }

    /// Whether a region has anything to do, as a truth value; `None` where it never has.
    unsafe fn test(&self, items: &[Item]) -> Option<LLVMValueRef> {
        let pass = self.pass;
        let builder = pass.builder;
        // SAFETY: the builder stands behind everything the items look at.
        unsafe {
            let mut labels: Vec<LLVMValueRef> = Vec::new();
            let mut words = Vec::new();
            let mut truths = Vec::new();
            for item in items {
                let looked_at = self.looked_at(*item);
                for value in looked_at.values {
                    labels.extend(self.known(value).iter().filter(|label| **label != pass.zero));
                }
                words.extend(looked_at.words);
                truths.extend(looked_at.truths);
            }
            let mut seen = HashSet::new();
            labels.retain(|label| seen.insert(*label));
            let or = |values: Vec<LLVMValueRef>| {
                values.into_iter().reduce(|left, right| LLVMBuildOr(builder, left, right, c"".as_ptr()))
            };
            let non_zero = |value: LLVMValueRef| {
                let zero = LLVMConstNull(LLVMTypeOf(value));
                LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntNE, value, zero, c"".as_ptr())
            };
            let labels = or(labels);
            let word = match (labels, or(words)) {
                (Some(labels), Some(words)) => {
                    let labels = LLVMBuildZExt(builder, labels, pass.i64_type, c"".as_ptr());
                    Some(LLVMBuildOr(builder, labels, words, c"".as_ptr()))
                }
                (labels, words) => labels.or(words),
            };
            truths.extend(word.map(non_zero));
            or(truths)
        }
    }

    /// The labels of a value's parts, as far as the steps before have computed them.
    pub fn labels_of(&self, value: LLVMValueRef) -> Labels {
        match self.labels.get(&value) {
            Some(labels) => labels.clone(),
            None => vec![self.pass.zero; self.leaves_of(value).len()],
        }
    }

    /// The label of a value that has one part; the first of several.
    pub fn label_of(&self, value: LLVMValueRef) -> LLVMValueRef {
        self.labels.get(&value).and_then(|labels| labels.first()).copied().unwrap_or(self.pass.zero)
    }
}

/// What decides whether a step has anything to do.
#[derive(Default)]
pub(super) struct LookedAt {
    /// Values whose labels matter.
    pub values: Vec<LLVMValueRef>,
    /// Words that are not zero when there is something to do.
    pub words: Vec<LLVMValueRef>,
    /// Truth values.
    pub truths: Vec<LLVMValueRef>,
}
