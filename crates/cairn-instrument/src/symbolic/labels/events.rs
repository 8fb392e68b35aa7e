//! Marks of a detailed view: functions that are entered and left, and expressions that a run may be asked about.

use super::{
    name_of,
    region::{Body, LookedAt},
    runtime,
};
use crate::symbolic::{
    frames::{MARK_ENTER, MARK_LEAVE},
    marks::{MARK, MARK_SWITCH},
    sites::MARK_SITE,
};
use cairn_abi::symbolic::sites::{SITES_SYMBOL, SWITCHES_START};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMTypeKind, core::*, prelude::*};
use std::ffi::CString;

/// What a mark tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkKind {
    Condition,
    Switch,
    Enter,
    Leave,
    Site,
}

/// The kind of a mark, if the function with this name is one.
pub(super) fn mark_kind(name: &str) -> Option<MarkKind> {
    Some(match name {
        MARK => MarkKind::Condition,
        MARK_SWITCH => MarkKind::Switch,
        MARK_ENTER => MarkKind::Enter,
        MARK_LEAVE => MarkKind::Leave,
        MARK_SITE => MarkKind::Site,
        _ => return None,
    })
}

impl Body<'_> {
    /// What decides whether a mark has anything to say.
    ///
    /// # Safety
    /// The builder stands where the mark does.
    pub(super) unsafe fn look_at_mark(&self, call: LLVMValueRef) -> LookedAt {
        // SAFETY: promised by the caller.
        unsafe {
            match mark_kind(&name_of(LLVMGetCalledValue(call))) {
                Some(MarkKind::Enter | MarkKind::Leave) => {
                    LookedAt { truths: vec![self.notes_all()], ..LookedAt::default() }
                }
                Some(MarkKind::Site) => {
                    let truths = vec![self.is_asked(LLVMGetOperand(call, 0))];
                    LookedAt { truths, ..LookedAt::default() }
                }
                _ => {
                    let values = vec![LLVMGetOperand(call, 1)];
                    LookedAt { values, truths: vec![self.notes_all()], ..LookedAt::default() }
                }
            }
        }
    }

    /// Says what a mark has to say.
    ///
    /// # Safety
    /// The builder stands where the mark does.
    pub(super) unsafe fn carry_out_mark(&self, call: LLVMValueRef) {
        // SAFETY: promised by the caller.
        unsafe {
            let first = LLVMGetOperand(call, 0);
            match mark_kind(&name_of(LLVMGetCalledValue(call))) {
                Some(MarkKind::Enter) => {
                    self.call(&runtime::ENTER, &mut [first]);
                }
                Some(MarkKind::Leave) => {
                    self.call(&runtime::LEAVE, &mut [first]);
                }
                Some(MarkKind::Site) => {
                    let (place, value) = (LLVMGetOperand(call, 1), LLVMGetOperand(call, 2));
                    let (label, value) = (self.label_of(value), self.as_word(value));
                    let [(a, a_value, a_width), (b, b_value, b_width)] =
                        [3, 4].map(|index| self.operand_of_mark(call, index));
                    let widths = self.number(a_width | b_width << 8);
                    let mut arguments = [first, place, label, value, a, b, a_value, b_value, widths];
                    self.call(&runtime::SITE, &mut arguments);
                }
                _ => self.note_condition(call),
            }
        }
    }

    /// The label, the value and the width of an operand that a mark names; 0 as width where it names none.
    unsafe fn operand_of_mark(&self, call: LLVMValueRef, index: u32) -> (LLVMValueRef, LLVMValueRef, u64) {
        // SAFETY: the builder stands where the mark does.
        unsafe {
            let nothing = (self.pass.zero, self.word(0), 0);
            if index >= LLVMGetNumArgOperands(call) {
                return nothing;
            }
            let operand = LLVMGetOperand(call, index);
            let is_told = LLVMGetTypeKind(LLVMTypeOf(operand)) != LLVMTypeKind::LLVMPointerTypeKind;
            match self.leaves_of(operand).first() {
                Some(leaf) if is_told && leaf.is_narrow() => {
                    (self.label_of(operand), self.as_word(operand), leaf.width.into())
                }
                _ => nothing,
            }
        }
    }

    /// A truth value: the run is asked about the values at a probe.
    unsafe fn is_asked(&self, probe: LLVMValueRef) -> LLVMValueRef {
        let (pass, none) = (self.pass, c"".as_ptr());
        // SAFETY: the builder is positioned; a view with such marks has the pages.
        unsafe {
            let name = CString::new(SITES_SYMBOL).expect("our symbols have no zero byte");
            let pages = LLVMGetNamedGlobal(pass.module, name.as_ptr());
            let byte = LLVMInt8TypeInContext(pass.context);
            let mut at = [self.word(SWITCHES_START as u64 + LLVMConstIntGetZExtValue(probe))];
            let place = LLVMBuildInBoundsGEP2(pass.builder, byte, pages, at.as_mut_ptr(), 1, none);
            let switch = LLVMBuildLoad2(pass.builder, byte, place, none);
            LLVMBuildICmp(pass.builder, LLVMIntPredicate::LLVMIntNE, switch, LLVMConstNull(byte), none)
        }
    }
}
