//! `&&` and `||` doing something else.
//!
//! The sides of a logical operator are tested by branches. Before such a branch, an active mutant turns off to one of
//! its own:
//!
//! ```text
//!   br i1 %a, label %right, label %false
//! becomes
//!   switch i32 %active, label %natural [ i32 17, label %mutant ]
//! mutant:
//!   br i1 %a, label %to_true, label %to_right
//! to_true:
//!   (what counts a way to %true)
//!   br label %true
//! …
//! natural:
//!   br i1 %a, label %right, label %false
//! ```
//! A mutant's way to a block counts as the ordinary one, because lines are known to be executed by the ways to them.

use super::{
    formula::{FormulaBuilder, Manner, Values},
    resolve::{ResolvedLogical, ResolvedOperand, ResolvedResult, Way},
    switched::{Weave, Weaver, add_incoming, read_operand},
    tame::first_after_variables,
};
use crate::fuel::split_before;
use cairn_model::mutants::{Change, Formula, LogicalChange, ValueType};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, core::*, prelude::*};

/// Where control goes after a side was evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destination {
    Right,
    True,
    False,
}

/// Where the left side leads, when it is true and when it is false.
fn after_left(is_and: bool, change: Option<&LogicalChange>) -> [Destination; 2] {
    use Destination::*;
    match (change, is_and) {
        (None, true) | (Some(LogicalChange::Swap), false) => [Right, False],
        (None, false) | (Some(LogicalChange::Swap), true) => [True, Right],
        (Some(LogicalChange::Negate), true) => [Right, True],
        (Some(LogicalChange::Negate), false) => [False, Right],
        (Some(LogicalChange::Left), _) => [True, False],
        (Some(LogicalChange::Right | LogicalChange::Both(_)), _) => [Right, Right],
    }
}

/// What an operator needs beside itself.
pub struct Surroundings<'a> {
    /// Where its operands are.
    pub operands: &'a [ResolvedOperand],
    /// The function's variables.
    pub variables: &'a [(LLVMValueRef, Option<ValueType>)],
    /// The selector.
    pub active: LLVMValueRef,
}

/// Weaves the mutants of one operator; false if its code is not what it should be, and then nothing was changed.
///
/// # Safety
/// The operator was resolved in the weaver's module, and only operators were woven since.
pub unsafe fn weave(
    weaver: &Weaver,
    patch: &Weave,
    at: &ResolvedLogical,
    surroundings: &Surroundings,
) -> bool {
    let changes: Option<Vec<&LogicalChange>> = patch
        .changes
        .iter()
        .map(|change| match change {
            Change::Logical(change) => Some(change),
            Change::Value(_) => None,
        })
        .collect();
    let Some(changes) = changes else { return false };
    let operator = Operator { weaver, patch, at, surroundings, changes };
    // SAFETY: promised by the caller.
    unsafe {
        if !operator.is_as_expected() {
            return false;
        }
        operator.change_left();
        operator.change_right()
    }
}

struct Operator<'a> {
    weaver: &'a Weaver<'a>,
    patch: &'a Weave<'a>,
    at: &'a ResolvedLogical,
    surroundings: &'a Surroundings<'a>,
    changes: Vec<&'a LogicalChange>,
}

impl Operator<'_> {
    unsafe fn is_as_expected(&self) -> bool {
        let needs_operands = self.changes.iter().any(|change| matches!(change, LogicalChange::Both(_)));
        if needs_operands && self.surroundings.operands.len() != 2 {
            return false;
        }
        // SAFETY: all terminators belong to the function.
        unsafe {
            let is_way = |(end, number): &Way| {
                LLVMGetInstructionOpcode(*end) == LLVMOpcode::LLVMBr
                    && LLVMIsConditional(*end) != 0
                    && *number < 2
            };
            let all_lead = |ways: &[Way], to: LLVMBasicBlockRef| {
                !ways.is_empty() && ways.iter().all(|way| is_way(way) && LLVMGetSuccessor(way.0, way.1) == to)
            };
            let target = |ways: &[Way]| {
                let (end, number) = *ways.first().filter(|way| is_way(way))?;
                Some(LLVMGetSuccessor(end, number))
            };
            let (Some(after_true), Some(after_false)) =
                (target(&self.at.left_true), target(&self.at.left_false))
            else {
                return false;
            };
            if !all_lead(&self.at.left_true, after_true) || !all_lead(&self.at.left_false, after_false) {
                return false;
            }
            let past = if self.at.is_and { after_false } else { after_true };
            match &self.at.result {
                ResolvedResult::Branches { right_true, right_false, .. } => {
                    let (Some(when_true), Some(when_false)) = (target(right_true), target(right_false))
                    else {
                        return false;
                    };
                    let expected = if self.at.is_and { when_false } else { when_true };
                    all_lead(right_true, when_true) && all_lead(right_false, when_false) && past == expected
                }
                // Another phi would need to know what to be on new ways in.
                ResolvedResult::Phi { phi, .. } => {
                    past == LLVMGetInstructionParent(*phi)
                        && LLVMGetFirstInstruction(past) == *phi
                        && LLVMGetInstructionOpcode(LLVMGetNextInstruction(*phi)) != LLVMOpcode::LLVMPHI
                }
            }
        }
    }

    /// Whether the mutant `index` is active, at the builder's position.
    unsafe fn is_active(&self, index: usize) -> LLVMValueRef {
        let selector = self.weaver.selector(self.patch.first_selector + index as u32);
        let (builder, active) = (self.weaver.builder, self.surroundings.active);
        // SAFETY: `active` is defined everywhere in the function.
        unsafe { LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntEQ, active, selector, c"".as_ptr()) }
    }

    /// Mutants turn off where the left side is decided.
    unsafe fn change_left(&self) {
        let mut ends: Vec<LLVMValueRef> = Vec::new();
        for (end, _) in self.at.left_true.iter().chain(&self.at.left_false) {
            if !ends.contains(end) {
                ends.push(*end);
            }
        }
        let natural = after_left(self.at.is_and, None);
        for end in ends {
            // SAFETY: the code is as expected.
            unsafe {
                self.turn_off(end, |change| {
                    let changed = after_left(self.at.is_and, Some(change));
                    if changed == natural {
                        return None;
                    }
                    let destination = |number: u32| {
                        if self.at.left_true.contains(&(end, number)) {
                            Some(changed[0])
                        } else if self.at.left_false.contains(&(end, number)) {
                            Some(changed[1])
                        } else {
                            None
                        }
                    };
                    Some((LLVMGetCondition(end), [destination(0), destination(1)]))
                });
            }
        }
    }

    /// Puts a mutant's own branch before `end`: a condition, and where to for true and false; `None` is where `end`
    /// leads itself.
    unsafe fn turn_off(
        &self,
        end: LLVMValueRef,
        plan: impl Fn(&LogicalChange) -> Option<(LLVMValueRef, [Option<Destination>; 2])>,
    ) {
        let (builder, context) = (self.weaver.builder, self.weaver.context);
        // SAFETY: `end` is a conditional branch of the function.
        unsafe {
            let before = split_before(builder, context, end);
            let natural = LLVMGetInstructionParent(end);
            LLVMPositionBuilderAtEnd(builder, before);
            let switch =
                LLVMBuildSwitch(builder, self.surroundings.active, natural, self.changes.len() as u32);
            for (index, change) in self.changes.iter().enumerate() {
                let mutant = LLVMInsertBasicBlockInContext(context, natural, c"cairn.mutant".as_ptr());
                LLVMPositionBuilderAtEnd(builder, mutant);
                let Some((condition, destinations)) = plan(change) else {
                    LLVMDeleteBasicBlock(mutant);
                    continue;
                };
                let selector = self.weaver.selector(self.patch.first_selector + index as u32);
                LLVMAddCase(switch, selector, mutant);
                let decided = LLVMGetInsertBlock(builder);
                let ways = [0, 1].map(|number| {
                    let way = LLVMInsertBasicBlockInContext(context, natural, c"cairn.way".as_ptr());
                    LLVMPositionBuilderAtEnd(builder, way);
                    self.go(way, (end, number), destinations[number as usize]);
                    way
                });
                LLVMPositionBuilderAtEnd(builder, decided);
                LLVMBuildCondBr(builder, condition, ways[0], ways[1]);
            }
        }
    }

    /// Ends `way` with a jump to a destination, counted like the ordinary way there.
    unsafe fn go(&self, way: LLVMBasicBlockRef, own: Way, destination: Option<Destination>) {
        let builder = self.weaver.builder;
        // SAFETY: the code is as expected.
        unsafe {
            let ordinary = match destination {
                None => own,
                Some(destination) => match self.ordinary(destination) {
                    Some(ordinary) => ordinary,
                    None => {
                        // Only a phi takes a truth value that no way hands over by itself.
                        let ResolvedResult::Phi { phi, .. } = &self.at.result else { return };
                        LLVMBuildBr(builder, LLVMGetInstructionParent(*phi));
                        let truth = u64::from(destination == Destination::True);
                        let truth = LLVMConstInt(LLVMInt1TypeInContext(self.weaver.context), truth, 0);
                        add_incoming(*phi, truth, way);
                        return;
                    }
                },
            };
            self.weaver.count_way(ordinary);
            let to = LLVMGetSuccessor(ordinary.0, ordinary.1);
            let from = LLVMGetInstructionParent(ordinary.0);
            LLVMBuildBr(builder, to);
            let mut phi = LLVMGetFirstInstruction(to);
            while LLVMGetInstructionOpcode(phi) == LLVMOpcode::LLVMPHI {
                let value = (0..LLVMCountIncoming(phi))
                    .find(|index| LLVMGetIncomingBlock(phi, *index) == from)
                    .map(|index| LLVMGetIncomingValue(phi, index));
                add_incoming(phi, value.expect("a phi knows every way in"), way);
                phi = LLVMGetNextInstruction(phi);
            }
        }
    }

    /// A way by which the unchanged operator reaches a destination.
    fn ordinary(&self, destination: Destination) -> Option<Way> {
        let natural = after_left(self.at.is_and, None);
        if natural[0] == destination {
            return self.at.left_true.first().copied();
        }
        if natural[1] == destination {
            return self.at.left_false.first().copied();
        }
        match (&self.at.result, destination) {
            (ResolvedResult::Branches { right_true, .. }, Destination::True) => right_true.first().copied(),
            (ResolvedResult::Branches { right_false, .. }, Destination::False) => {
                right_false.first().copied()
            }
            _ => None,
        }
    }

    /// Mutants that look at both sides, or negate the whole, change what the right side hands over.
    unsafe fn change_right(&self) -> bool {
        // SAFETY: the code is as expected.
        unsafe {
            match &self.at.result {
                ResolvedResult::Branches { right_true, right_false, .. } => {
                    self.change_branches(right_true, right_false)
                }
                ResolvedResult::Phi { phi, from, extended } => self.change_phi(*phi, *from, *extended),
            }
        }
    }

    unsafe fn change_branches(&self, right_true: &[Way], right_false: &[Way]) -> bool {
        let changes_right =
            |change: &&LogicalChange| matches!(change, LogicalChange::Negate | LogicalChange::Both(_));
        if !self.changes.iter().any(changes_right) {
            return true;
        }
        let mut ends: Vec<LLVMValueRef> = Vec::new();
        for (end, _) in right_true.iter().chain(right_false) {
            if !ends.contains(end) {
                ends.push(*end);
            }
        }
        let fits = std::cell::Cell::new(true);
        for end in ends {
            // SAFETY: the code is as expected.
            unsafe {
                self.turn_off(end, |change| match change {
                    LogicalChange::Negate => {
                        let destination = |number: u32| {
                            if right_true.contains(&(end, number)) {
                                Some(Destination::False)
                            } else if right_false.contains(&(end, number)) {
                                Some(Destination::True)
                            } else {
                                None
                            }
                        };
                        Some((LLVMGetCondition(end), [destination(0), destination(1)]))
                    }
                    LogicalChange::Both(formula) => {
                        let truth = self.both(formula, Manner::Real).filter(|truth| is_truth(*truth));
                        fits.set(fits.get() && truth.is_some());
                        Some((truth?, [Some(Destination::True), Some(Destination::False)]))
                    }
                    _ => None,
                });
            }
        }
        fits.get()
    }

    unsafe fn change_phi(
        &self,
        phi: LLVMValueRef,
        from: LLVMBasicBlockRef,
        extended: Option<LLVMValueRef>,
    ) -> bool {
        let (builder, none) = (self.weaver.builder, c"".as_ptr());
        // SAFETY: the code is as expected; `from` keeps its end when it is cut.
        unsafe {
            let Some(entry) =
                (0..LLVMCountIncoming(phi)).find(|index| LLVMGetIncomingBlock(phi, *index) == from)
            else {
                return false;
            };
            let end = LLVMGetBasicBlockTerminator(from);
            LLVMPositionBuilderBefore(builder, end);
            let mut value = LLVMGetIncomingValue(phi, entry);
            let mut number = extended.map(|extended| LLVMConstNull(LLVMTypeOf(extended)));
            let mut fits = true;
            for (index, change) in self.changes.iter().enumerate() {
                match change {
                    LogicalChange::Negate => {
                        let is_active = self.is_active(index);
                        value = LLVMBuildXor(builder, value, is_active, none);
                    }
                    LogicalChange::Both(formula) => {
                        let Some(built) = self.both(formula, Manner::Trial) else {
                            fits = false;
                            continue;
                        };
                        let is_active = self.is_active(index);
                        match &mut number {
                            Some(number) if LLVMTypeOf(built) == LLVMTypeOf(*number) => {
                                *number = LLVMBuildSelect(builder, is_active, built, *number, none);
                            }
                            _ if is_truth(built) => {
                                value = LLVMBuildSelect(builder, is_active, built, value, none);
                            }
                            _ => fits = false,
                        }
                    }
                    _ => {}
                }
            }
            LLVMSetOperand(phi, entry, value);
            if let (Some(number), Some(extended)) = (number, extended)
                && LLVMIsConstant(number) == 0
            {
                self.pass_number(number, end, extended);
            }
            fits
        }
    }

    /// A number does not fit through the phi of truth values: it is put aside, and taken where the truth value is made
    /// a number.
    unsafe fn pass_number(&self, number: LLVMValueRef, end: LLVMValueRef, extended: LLVMValueRef) {
        let (builder, none) = (self.weaver.builder, c"".as_ptr());
        // SAFETY: `number` is defined before `end`; every mutant that has one comes by there.
        unsafe {
            let function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(end));
            LLVMPositionBuilderBefore(builder, first_after_variables(function));
            let slot = LLVMBuildAlloca(builder, LLVMTypeOf(extended), c"cairn.number".as_ptr());
            LLVMPositionBuilderBefore(builder, end);
            LLVMBuildStore(builder, number, slot);
            LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(extended));
            let mut any = LLVMConstNull(LLVMInt1TypeInContext(self.weaver.context));
            for (index, change) in self.changes.iter().enumerate() {
                if matches!(change, LogicalChange::Both(_)) {
                    any = LLVMBuildOr(builder, any, self.is_active(index), none);
                }
            }
            let kept = LLVMBuildLoad2(builder, LLVMTypeOf(extended), slot, none);
            // The choice uses the extension itself, so it takes its place first and the extension back afterwards.
            let chosen = LLVMBuildSelect(builder, any, kept, kept, none);
            LLVMReplaceAllUsesWith(extended, chosen);
            LLVMSetOperand(chosen, 2, extended);
        }
    }

    /// A formula over both sides, at the builder's position.
    ///
    /// The left side is a single condition whose block leads to the right side, so both are defined there.
    unsafe fn both(&self, formula: &Formula, manner: Manner) -> Option<LLVMValueRef> {
        let weaver = self.weaver;
        // SAFETY: the builder stands after the right side.
        unsafe {
            let operands: Vec<_> = self
                .surroundings
                .operands
                .iter()
                .map(|operand| read_operand(weaver.builder, operand))
                .collect();
            let original = LLVMConstNull(LLVMInt1TypeInContext(weaver.context));
            let values = Values { original, operands: &operands, variables: self.surroundings.variables };
            let mut formulas =
                FormulaBuilder { builder: weaver.builder, context: weaver.context, manner, uncertain: None };
            let built = formulas.build(formula, &values);
            // Between two selects there is no stopping the program.
            built.filter(|_| formulas.uncertain.is_none())
        }
    }
}

unsafe fn is_truth(value: LLVMValueRef) -> bool {
    // SAFETY: the value belongs to a live module.
    unsafe { LLVMTypeOf(value) == LLVMInt1TypeInContext(LLVMGetTypeContext(LLVMTypeOf(value))) }
}
