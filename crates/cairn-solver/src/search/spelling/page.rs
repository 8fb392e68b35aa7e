//! A part of the input that numbers are written on.

use crate::search::problem::{Problem, Touch};
use cairn_expr::{InputByte, InputRange};

/// What is written behind a number, so that it ends there.
#[derive(Clone, Copy)]
pub enum End {
    /// Nothing: what is there stays.
    Kept,
    /// One byte that belongs to no number.
    Byte(u8),
    /// Zeros to the last byte, which do not change a fraction.
    Zeros,
}

/// Bytes that lie together, to be written on.
pub struct Page {
    touch: Touch,
    base: Vec<u8>,
}

impl Page {
    /// The bytes of a range, which are those of `start` wherever nothing else is written.
    pub fn new(problem: &Problem<'_>, range: InputRange, start: &[u8]) -> Self {
        let first = problem.slot(InputByte { region: range.region, offset: range.start });
        let slots: Vec<usize> = (first..first + (range.end - range.start) as usize).collect();
        let base = slots.iter().map(|slot| start[*slot]).collect();
        Self { touch: problem.touch(slots), base }
    }

    /// What the bytes were.
    pub fn base(&self) -> &[u8] {
        &self.base
    }

    /// Whether a byte may be written there.
    pub fn allows(&self, problem: &Problem<'_>, place: usize, byte: u8) -> bool {
        problem.domain(self.touch.slots[place]).contains(byte)
    }

    /// Writes text that fits there, and what ends it; all other bytes are as they were. Returns the distance, or nothing if a
    /// byte cannot be what it should.
    pub fn write(&self, problem: &mut Problem<'_>, place: usize, text: &[u8], end: End) -> Option<f64> {
        let mut bytes = self.base.clone();
        let after = place + text.len();
        bytes[place..after].copy_from_slice(text);
        match end {
            End::Kept => {}
            End::Byte(byte) => *bytes.get_mut(after)? = byte,
            End::Zeros => {
                let rest = bytes.get_mut(after..).filter(|rest| !rest.is_empty() && !text.contains(&b'e'))?;
                rest.fill(b'0');
                if !text.contains(&b'.') {
                    rest[0] = b'.';
                }
            }
        }
        let is_allowed = |(slot, byte): (&usize, &u8)| problem.domain(*slot).contains(*byte);
        let mut changes = self.touch.slots.iter().zip(&bytes);
        if !changes.all(is_allowed) {
            return None;
        }
        for (slot, byte) in self.touch.slots.iter().zip(&bytes) {
            problem.set(*slot, *byte);
        }
        Some(problem.evaluate(&self.touch))
    }

    /// Puts everything back.
    pub fn restore(&self, problem: &mut Problem<'_>) {
        for (slot, byte) in self.touch.slots.iter().zip(&self.base) {
            problem.set(*slot, *byte);
        }
        problem.evaluate(&self.touch);
    }
}
