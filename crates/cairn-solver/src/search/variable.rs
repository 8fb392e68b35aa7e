//! Bytes that are changed together, as the number they make.

use super::{
    distance::{number_at, rank},
    problem::{Problem, Touch},
};
use crate::terms::{bytes_read_by, changeable, reads_floats};
use cairn_expr::{ExprId, InputByte, Op};
use std::collections::BTreeSet;

/// A number in the input.
pub struct Variable {
    /// Its bytes, lowest first, and what depends on them.
    pub touch: Touch,
    /// How the bytes are read.
    pub kind: Kind,
}

/// How bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One byte, which stays in its domain.
    Byte,
    /// An integer of 2, 4 or 8 bytes.
    Word,
    /// A floating-point number of 4 or 8 bytes.
    Float,
}

impl Variable {
    /// How many bits it has.
    pub fn width(&self) -> u32 {
        8 * self.touch.slots.len() as u32
    }

    /// Its bits.
    pub fn bits(&self, problem: &Problem<'_>) -> u64 {
        let bytes = problem.bytes();
        self.touch.slots.iter().rev().fold(0, |bits, slot| bits << 8 | u64::from(bytes[*slot]))
    }

    /// Gives it new bits and returns the distance.
    pub fn try_bits(&self, problem: &mut Problem<'_>, bits: u64) -> f64 {
        for (n, slot) in self.touch.slots.iter().enumerate() {
            problem.set(*slot, (bits >> (8 * n)) as u8);
        }
        problem.evaluate(&self.touch)
    }

    /// Its bits after `steps` to the next larger value, or to smaller ones.
    pub fn moved(&self, problem: &Problem<'_>, bits: u64, steps: i64) -> u64 {
        match self.kind {
            Kind::Byte => problem.domain(self.touch.slots[0]).step(bits as u8, steps).into(),
            Kind::Word => bits.wrapping_add_signed(steps) & all(self.width()),
            Kind::Float => number_at(rank(bits, self.width()).saturating_add_signed(steps), self.width()),
        }
    }

    /// How many steps there are to take, as a power of two.
    pub fn reach(&self, problem: &Problem<'_>) -> u32 {
        match self.kind {
            Kind::Byte => problem.domain(self.touch.slots[0]).values().len().max(2).ilog2(),
            Kind::Word | Kind::Float => self.width() - 1,
        }
    }

    /// Its value, if it is a floating-point number.
    pub fn number(&self, bits: u64) -> f64 {
        match self.width() {
            32 => f32::from_bits(bits as u32).into(),
            _ => f64::from_bits(bits),
        }
    }

    /// The bits of a floating-point number, rounded to its width.
    pub fn bits_of(&self, number: f64) -> u64 {
        match self.width() {
            32 => (number as f32).to_bits().into(),
            _ => number.to_bits(),
        }
    }
}

fn all(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

/// All numbers the query reads: every byte, every wider input, and adjacent bytes that are put together in either order.
///
/// Of a large query only as many as can be afforded, those of the conditions that are broken first.
pub fn variables(problem: &Problem<'_>) -> Vec<Variable> {
    let dag = problem.dag;
    let mut groups: BTreeSet<(Kind, Vec<usize>)> =
        (0..problem.n_slots()).map(|slot| (Kind::Byte, vec![slot])).collect();
    let parts = changeable(dag, problem.conditions);
    let mut in_floats: BTreeSet<ExprId> = BTreeSet::new();
    for part in &parts {
        let node = dag.node(*part);
        if reads_floats(node.op()) {
            in_floats.extend(node.operands());
        }
    }
    for part in &parts {
        let Some(range) = dag.reads_together(*part) else { continue };
        let size = range.end - range.start;
        if !matches!(size, 2 | 4 | 8) || dag.width(*part) < 8 * size {
            continue;
        }
        let first = problem.slot(InputByte { region: range.region, offset: range.start });
        let upwards: Vec<usize> = (first..first + size as usize).collect();
        let downwards: Vec<usize> = upwards.iter().rev().copied().collect();
        let op = dag.op(*part);
        if op == Op::Input {
            groups.insert((Kind::Word, upwards.clone()));
        } else {
            groups.insert((Kind::Word, upwards.clone()));
            groups.insert((Kind::Word, downwards.clone()));
        }
        if in_floats.contains(part) && dag.width(*part) == 8 * size && size != 2 {
            groups.insert((Kind::Float, upwards));
            if op != Op::Input {
                groups.insert((Kind::Float, downwards));
            }
        }
    }
    let mut groups: Vec<(Kind, Vec<usize>)> = groups.into_iter().collect();
    if groups.len() > problem.max_touches() {
        let broken: BTreeSet<usize> =
            bytes_read_by(dag, problem.broken()).map(|byte| problem.slot(byte)).collect();
        groups.sort_by_key(|(_, slots)| !slots.iter().any(|slot| broken.contains(slot)));
        groups.truncate(problem.max_touches().max(1));
    }
    groups.into_iter().map(|(kind, slots)| Variable { kind, touch: problem.touch(slots) }).collect()
}
