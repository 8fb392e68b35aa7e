//! The conditions a run evaluates, in order.

use super::{
    build::{binary, constant, not},
    cut, lines,
    nodes::{intern, is_first_note, is_on, node},
    threads,
};
use crate::channel::Channel;
use cairn_abi::{
    record::{Access, RECORD_SIZE, Record},
    symbolic::{
        Cut, Op,
        switch::{INVERTED, LIBRARY, NO_CONDITION, SwitchCase, SwitchInfo, is_unnamed},
    },
};
use core::{
    ptr,
    sync::atomic::{AtomicU64, Ordering},
};

struct Trace {
    start: *mut u8,
    capacity: u64,
    committed: *const AtomicU64,
}

static mut TRACE: Trace = Trace { start: ptr::null_mut(), capacity: 0, committed: ptr::null() };

fn trace() -> &'static mut Trace {
    let trace = &raw mut TRACE;
    // SAFETY: a symbolic view has one thread, and nothing here calls back.
    unsafe { &mut *trace }
}

/// Starts with an empty trace.
pub fn begin(channel: Channel) {
    let header = channel.header();
    if let Some((start, size)) = channel.region(header.trace) {
        let capacity = (size / RECORD_SIZE) as u64;
        *trace() = Trace { start, capacity, committed: &raw const header.trace_committed };
    }
}

/// Notes no more.
pub fn stop() {
    trace().capacity = 0;
}

/// Notes nothing until [`resume`]; returns what it takes.
pub fn pause() -> u64 {
    core::mem::take(&mut trace().capacity)
}

/// Goes on where [`pause`] interrupted.
pub fn resume(capacity: u64) {
    trace().capacity = capacity;
}

/// Appends a record.
pub fn note(record: Record) {
    if trace().capacity == 0 {
        return;
    }
    lines::before(&record);
    let trace = trace();
    if threads::have_started() {
        return cut(Cut::Thread);
    }
    // SAFETY: the counter is in the channel's header, the place within the trace region.
    unsafe {
        let committed = &*trace.committed;
        let index = committed.load(Ordering::Relaxed);
        if index >= trace.capacity {
            return cut(Cut::Records);
        }
        trace.start.add(index as usize * RECORD_SIZE).cast::<[u8; RECORD_SIZE]>().write(record.to_bytes());
        committed.store(index + 1, Ordering::Release);
    }
}

/// Notes an address that depends on the input.
pub fn address(address: u64, length: u32, label: u32, access: Access) {
    if !is_first_note(label) {
        return;
    }
    if let Some(condition) = choice(label) {
        if is_first_note(condition) {
            let direction = node(condition).value == 1;
            note(Record::Conditional { condition: LIBRARY, direction, label: condition });
        }
        return;
    }
    note(Record::SymbolicAddress { site: NO_CONDITION, access, address, length, label });
}

/// The condition that chooses between two constants, if an address is no more than that and some distance: whoever uses what
/// `fgets` returned relies on something having come, not on where it lies.
fn choice(label: u32) -> Option<u32> {
    let is_constant = |label: u32| node(label).op == Op::Constant as u8;
    let mut known = node(label);
    while known.op == Op::Add as u8 {
        known = match [known.a, known.b] {
            [a, b] if is_constant(b) => node(a),
            [a, b] if is_constant(a) => node(b),
            _ => return None,
        };
    }
    (known.op == Op::Ite as u8 && is_constant(known.b) && is_constant(known.c)).then_some(known.a)
}

/// A condition was evaluated. `number` is that of the condition, perhaps [`INVERTED`].
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_condition(number: u32, label: u32, truth: u32) {
    let is_inverted = number & INVERTED != 0;
    let condition = number & !INVERTED;
    if label == 0 && (is_unnamed(condition) || !super::notes_all()) {
        return;
    }
    if is_unnamed(condition) && !is_first_note(label) {
        return;
    }
    let noted = match (is_inverted, label) {
        (true, 1..) if is_on() => not(label),
        _ => label,
    };
    note(Record::Conditional { condition, direction: (truth != 0) != is_inverted, label: noted });
}

/// A switch was evaluated: one condition for each label, up to the one that is taken.
///
/// # Safety
/// `info` is the view's own, with its cases behind it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_switch(info: *const SwitchInfo, label: u32, value: u64) {
    // SAFETY: promised by the caller.
    let (info, cases) = unsafe {
        let cases = info.add(1).cast::<SwitchCase>();
        (&*info, core::slice::from_raw_parts(cases, (*info).n_cases as usize))
    };
    // The mark has widened the value, and so its label.
    let label = if label == 0 || !is_on() { 0 } else { super::build::extract(label, 0, info.width, value) };
    let mut default = 0;
    let mut is_taken = false;
    let mut rest = cases;
    while let Some(first) = rest.first() {
        // Cases of one label are one condition; those without a number stand for themselves.
        let count = match first.condition {
            condition if is_unnamed(condition) => 1,
            condition => rest.iter().take_while(|case| case.condition == condition).count(),
        };
        let (group, after) = rest.split_at(count);
        rest = after;
        let holds = group.iter().any(|case| case.value == value);
        let mut truth = 0;
        if label != 0 {
            for case in group {
                let equal =
                    binary(Op::Eq, info.width, [label, 0], [value, case.value], (case.value == value).into());
                truth = if truth == 0 { equal } else { either(truth, equal) };
            }
            let other = not(truth);
            default = if default == 0 { other } else { both(default, other) };
        }
        if !is_taken {
            condition(first.condition, truth, holds);
        }
        is_taken |= holds;
    }
    if !is_unnamed(info.default) {
        condition(info.default, default, !is_taken);
    }
}

fn condition(condition: u32, label: u32, direction: bool) {
    let is_wanted = match (label, is_unnamed(condition)) {
        (0, true) => false,
        (0, false) => super::notes_all(),
        (_, true) => is_first_note(label),
        _ => true,
    };
    if is_wanted {
        note(Record::Conditional { condition, direction, label });
    }
}

fn either(left: u32, right: u32) -> u32 {
    intern(Op::Or, 1, [left, right, 0], node(left).value | node(right).value)
}

fn both(left: u32, right: u32) -> u32 {
    if left == 0 || right == 0 {
        return constant(1, 1);
    }
    intern(Op::And, 1, [left, right, 0], node(left).value & node(right).value)
}
