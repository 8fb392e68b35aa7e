//! Which instructions depend on which bytes.

use super::instruction::Instruction;

/// For each slot, the instructions that depend on it, in their order.
#[derive(Clone, Debug)]
pub(super) struct Dependents {
    instructions: Vec<u32>,
    /// Where the instructions of each slot begin, and where the last ones end.
    starts: Vec<u32>,
}

/// More is not kept, neither slots of instructions nor instructions of slots.
const MOST: usize = 4_000_000;

impl Dependents {
    /// Of a tape with so many registers and slots; none if there are too many.
    pub fn of(code: &[Instruction], n_registers: usize, n_slots: usize) -> Option<Self> {
        let slots = SlotSets::of(code, n_registers)?;
        let mut starts = vec![0_u32; n_slots + 1];
        let mut n_all = 0;
        for instruction in code {
            let set = slots.of_register(instruction.target);
            n_all += set.len();
            if n_all > MOST {
                return None;
            }
            set.iter().for_each(|slot| starts[*slot as usize + 1] += 1);
        }
        for slot in 0..n_slots {
            starts[slot + 1] += starts[slot];
        }
        let mut ends = starts.clone();
        let mut instructions = vec![0; n_all];
        for (index, instruction) in code.iter().enumerate() {
            for slot in slots.of_register(instruction.target) {
                let end = &mut ends[*slot as usize];
                instructions[*end as usize] = index as u32;
                *end += 1;
            }
        }
        Some(Self { instructions, starts })
    }

    /// The instructions that depend on a slot.
    pub fn of_slot(&self, slot: usize) -> &[u32] {
        &self.instructions[self.starts[slot] as usize..self.starts[slot + 1] as usize]
    }
}

/// For each register, the slots that it depends on, sorted.
struct SlotSets {
    slots: Vec<u32>,
    /// Start and end of a set. Many registers have the same.
    sets: Vec<(u32, u32)>,
}

impl SlotSets {
    fn of(code: &[Instruction], n_registers: usize) -> Option<Self> {
        let mut sets = Self { slots: Vec::new(), sets: vec![(0, 0); n_registers] };
        for instruction in code {
            let set = match instruction.slots() {
                Some(read) => sets.add(read.map(|slot| slot as u32)),
                None => {
                    let sources = instruction.sources().map(|register| sets.sets[register as usize]);
                    let sources: Vec<(u32, u32)> = sources.collect();
                    sources.into_iter().fold((0, 0), |a, b| sets.union(a, b))
                }
            };
            sets.sets[instruction.target as usize] = set;
            if sets.slots.len() > MOST {
                return None;
            }
        }
        Some(sets)
    }

    fn of_register(&self, register: u32) -> &[u32] {
        self.set(self.sets[register as usize])
    }

    fn set(&self, (start, end): (u32, u32)) -> &[u32] {
        &self.slots[start as usize..end as usize]
    }

    fn add(&mut self, slots: impl Iterator<Item = u32>) -> (u32, u32) {
        let start = self.slots.len() as u32;
        self.slots.extend(slots);
        (start, self.slots.len() as u32)
    }

    /// The union of two sets: one of them if it has the other's slots.
    fn union(&mut self, a: (u32, u32), b: (u32, u32)) -> (u32, u32) {
        let n_of = |(start, end): (u32, u32)| end - start;
        if a == b || n_of(b) == 0 {
            return a;
        }
        if n_of(a) == 0 {
            return b;
        }
        let mut merged = Vec::with_capacity((n_of(a) + n_of(b)) as usize);
        let (mut left, mut right) = (self.set(a), self.set(b));
        while let ([x, ..], [y, ..]) = (left, right) {
            merged.push(*x.min(y));
            left = &left[usize::from(x <= y)..];
            right = &right[usize::from(y <= x)..];
        }
        merged.extend_from_slice(left);
        merged.extend_from_slice(right);
        match merged.len() as u32 {
            n if n == n_of(a) => a,
            n if n == n_of(b) => b,
            _ => self.add(merged.into_iter()),
        }
    }
}
