//! How long a line is that was read.
//!
//! Its length is an expression: where its first end is among the bytes of the file that come next, or where the file ends. A
//! program that asks only for the length may be given lines of any length. But what lies in memory, and what is read next, is
//! that of the line as it was. So as soon as a record is about anything else, it becomes a demand on the bytes that the line is as
//! long as it was.

use super::{
    build::{binary, cairn_symbolic_ite, constant, input},
    nodes::{intern, is_first_note, is_on, node},
    sources::{OF_LINE, demand, read_ahead},
};
use cairn_abi::{
    record::Record,
    symbolic::{Op, RegionId},
};
use core::ffi::c_int;

/// Longer lines are followed as they are.
const MAX_LENGTH: u64 = 256;

/// How far behind a line its end is looked for: up to the end of a block, so that lines of one block have parts of their
/// expressions in common, and one more.
const BLOCK: u64 = 64;

/// No end was found.
const NOWHERE: u64 = u64::MAX;

/// The line that was read last, if it may still have any length.
static mut OPEN: Option<Line> = None;

#[derive(Clone, Copy)]
struct Line {
    region: RegionId,
    start: u32,
    length: u32,
    end: u8,
    /// It has the end it was read up to; else the file ended.
    has_end: bool,
    /// Whether the file goes on where the line begins.
    goes_on: u32,
    /// Its length in bytes.
    bytes: u32,
    /// What must not be [`NOWHERE`], if an end was not looked for in all of the file.
    found: u32,
    /// The size of the file.
    size: u32,
}

fn open() -> &'static mut Option<Line> {
    let line = &raw mut OPEN;
    // SAFETY: a symbolic view has one thread, and nothing here calls back while it is used.
    unsafe { &mut *line }
}

/// The label of what a function returned that read a line of so many bytes, or 0 if its length is not followed.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_line_length(descriptor: c_int, offset: i64, length: u64, end: c_int) -> u32 {
    settle();
    if !is_on() || length == 0 || length > MAX_LENGTH {
        return 0;
    }
    let (Ok(start), end) = (u32::try_from(offset), end as u8) else { return 0 };
    let mut room = [0; (MAX_LENGTH + 2 * BLOCK) as usize];
    let reach = ((u64::from(start) + length) / BLOCK + 2) * BLOCK - u64::from(start);
    let Some(room) = room.get_mut(..reach as usize) else { return 0 };
    let Some(ahead) = read_ahead(descriptor, start, room) else { return 0 };
    let bytes = ahead.bytes;
    let has_end = bytes.get(length as usize - 1) == Some(&end);
    let first = bytes.iter().position(|byte| *byte == end);
    let is_whole = u64::from(start) + bytes.len() as u64 == ahead.size;
    let is_as_read = if has_end { first == Some(length as usize - 1) } else { first.is_none() && is_whole };
    if !is_as_read || !has_end && bytes.len() as u64 != length {
        return 0;
    }

    let (mut place, mut known) = (0, NOWHERE);
    for (index, byte) in bytes.iter().enumerate().rev() {
        let at = start + index as u32;
        let is_end = is_end(ahead.region, at, *byte, end);
        let (here, holds) = (u64::from(at) + 1, *byte == end);
        place = cairn_symbolic_ite(64, is_end, 0, place, holds.into(), here, known);
        known = if holds { here } else { known };
    }
    let size = ahead.size;
    let is_cut = binary(Op::ULt, 64, [ahead.size_label, place], [size, known], (size < known).into());
    let stop = cairn_symbolic_ite(64, is_cut, ahead.size_label, place, (size < known).into(), size, known);
    let offset = u64::from(start);
    let n_bytes = binary(Op::Sub, 64, [stop, 0], [size.min(known), offset], length);
    let goes_on = intern(Op::ULt, 1, [constant(64, offset), ahead.size_label, OF_LINE], 1);
    *open() = Some(Line {
        region: ahead.region,
        start,
        length: length as u32,
        end,
        has_end,
        goes_on,
        bytes: n_bytes,
        found: if is_whole { 0 } else { place },
        size: ahead.size_label,
    });
    cairn_symbolic_ite(64, goes_on, n_bytes, 0, 1, length, u64::MAX)
}

/// Something is about to be noted that depends on the input.
pub fn before(record: &Record) {
    let Some(line) = *open() else { return };
    let label = match *record {
        Record::Conditional { label, .. }
        | Record::SymbolicAddress { label, .. }
        | Record::SiteValue { label, .. }
        | Record::Guidepost { label, .. } => label,
        Record::Enter { .. } | Record::Leave { .. } | Record::InputRead { .. } => return,
    };
    if label == 0 || label == line.goes_on {
        return;
    }
    if !line.decides(label) {
        return settle();
    }
    let found = line.found;
    if found != 0
        && let Some(open) = open()
    {
        open.found = 0;
        let is_found = binary(Op::Ne, 64, [found, 0], [node(found).value, NOWHERE], 1);
        demand(is_found, true);
    }
}

/// From now on, the line that was read last is as long as it was.
fn settle() {
    let Some(line) = open().take() else { return };
    if is_first_note(line.goes_on) {
        demand(line.goes_on, true);
    }
    let after = line.start + line.length;
    for at in line.start..after {
        let is_last = line.has_end && at + 1 == after;
        // The nodes are known, and with them the values.
        demand(is_end(line.region, at, 0, line.end), is_last);
    }
    if !line.has_end {
        let (end, size) = (u64::from(after), node(line.size).value);
        demand(binary(Op::ULt, 64, [0, line.size], [end, size], (end < size).into()), false);
    }
}

/// Whether a byte of the input is the end of a line.
fn is_end(region: RegionId, at: u32, byte: u8, end: u8) -> u32 {
    let label = input(region, at, 8, byte.into());
    binary(Op::Eq, 8, [label, 0], [byte.into(), end.into()], (byte == end).into())
}

impl Line {
    /// Whether a label depends on nothing but the length of this line, as far as one looks.
    fn decides(&self, label: u32) -> bool {
        const MOST: usize = 32;
        let mut open = [0; MOST];
        open[0] = label;
        let mut n_open = 1;
        let mut n_seen = 0;
        while n_open > 0 {
            n_open -= 1;
            n_seen += 1;
            let label = open[n_open];
            if label == self.goes_on || label == self.bytes {
                continue;
            }
            let known = node(label);
            let operands = match Op::from_target(known.op) {
                Some(Op::Constant) => continue,
                Some(Op::Not | Op::Neg | Op::ZExt | Op::SExt | Op::Extract) => [known.a, 0, 0],
                Some(Op::Ite) => [known.a, known.b, known.c],
                Some(Op::Add | Op::Sub | Op::Mul | Op::UDiv | Op::SDiv | Op::URem | Op::SRem) => {
                    [known.a, known.b, 0]
                }
                Some(Op::And | Op::Or | Op::Xor | Op::Shl | Op::LShr | Op::AShr) => [known.a, known.b, 0],
                Some(Op::Eq | Op::Ne | Op::ULt | Op::ULe | Op::SLt | Op::SLe) => [known.a, known.b, 0],
                _ => return false,
            };
            if n_seen + n_open + 3 > MOST {
                return false;
            }
            for operand in operands.into_iter().filter(|operand| *operand != 0) {
                open[n_open] = operand;
                n_open += 1;
            }
        }
        true
    }
}
