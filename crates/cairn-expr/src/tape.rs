//! Expressions compiled for many evaluations.
//!
//! A [`Tape`] is a flat list of instructions over an array of 64-bit registers; a value wider than 64 bits has two of them.
//! A [`Machine`] holds the registers and the bytes of one input. After some bytes were changed, [`Machine::run_slice`] repeats
//! only the instructions that depend on them.

mod compile;
mod dependents;
mod instruction;

use crate::{
    evaluate::Bytes,
    inputs::InputByte,
    tape::{
        dependents::Dependents,
        instruction::{Instruction, Place, execute},
    },
};
use std::sync::OnceLock;

/// Some expressions, compiled together.
#[derive(Clone, Debug)]
pub struct Tape {
    code: Vec<Instruction>,
    /// The registers before the first run: constants are in place.
    registers: Vec<u64>,
    roots: Vec<Place>,
    inputs: Vec<InputByte>,
    tables: Vec<Box<[u8]>>,
    /// Made for the first slice; none if they are too many.
    dependents: OnceLock<Option<Dependents>>,
}

/// The instructions of a [`Tape`] that depend on some bytes.
#[derive(Clone, Debug)]
pub struct Slice {
    code: Vec<Instruction>,
}

impl Slice {
    /// How many instructions it has.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// Whether nothing depends on the bytes.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }
}

impl Tape {
    /// The bytes it reads, sorted. Places in this list, *slots*, name bytes from here on; adjacent bytes of a region have
    /// adjacent slots.
    pub fn inputs(&self) -> &[InputByte] {
        &self.inputs
    }

    /// The slot of a byte, if it is read.
    pub fn slot(&self, byte: InputByte) -> Option<usize> {
        self.inputs.binary_search(&byte).ok()
    }

    /// How many instructions a run takes.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// Whether all roots are leaves.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// How many roots there are.
    pub fn n_roots(&self) -> usize {
        self.roots.len()
    }

    /// What must be repeated when the bytes in some slots change.
    pub fn slice(&self, slots: &[usize]) -> Slice {
        let all = || Dependents::of(&self.code, self.registers.len(), self.inputs.len());
        let Some(dependents) = self.dependents.get_or_init(all) else { return self.slice_of_all(slots) };
        let mut indices: Vec<u32> =
            slots.iter().flat_map(|slot| dependents.of_slot(*slot).iter().copied()).collect();
        if slots.len() > 1 {
            indices.sort_unstable();
            indices.dedup();
        }
        Slice { code: indices.into_iter().map(|index| self.code[index as usize]).collect() }
    }

    /// Likewise, by looking through everything.
    fn slice_of_all(&self, slots: &[usize]) -> Slice {
        let mut is_changed = vec![false; self.registers.len()];
        let mut code = Vec::new();
        for instruction in &self.code {
            let depends = match instruction.slots() {
                Some(read) => slots.iter().any(|slot| read.contains(slot)),
                None => instruction.sources().any(|register| is_changed[register as usize]),
            };
            if depends {
                is_changed[instruction.target as usize] = true;
                code.push(*instruction);
            }
        }
        Slice { code }
    }

    /// A machine that has run on an input.
    pub fn machine(&self, bytes: &(impl Bytes + ?Sized)) -> Machine<'_> {
        let input = self.inputs.iter().map(|byte| bytes.byte(byte.region, byte.offset)).collect();
        let mut machine = Machine { tape: self, registers: self.registers.clone(), input };
        machine.run();
        machine
    }
}

/// The state of a [`Tape`]: the bytes of an input, and the values after the last run.
#[derive(Clone, Debug)]
pub struct Machine<'t> {
    tape: &'t Tape,
    registers: Vec<u64>,
    input: Vec<u8>,
}

impl<'t> Machine<'t> {
    /// The tape it runs.
    pub fn tape(&self) -> &'t Tape {
        self.tape
    }

    /// The bytes, by slot.
    pub fn input(&self) -> &[u8] {
        &self.input
    }

    /// The byte in a slot.
    pub fn byte(&self, slot: usize) -> u8 {
        self.input[slot]
    }

    /// Changes a byte. Values follow at the next run.
    pub fn set(&mut self, slot: usize, byte: u8) {
        self.input[slot] = byte;
    }

    /// Evaluates everything.
    pub fn run(&mut self) {
        execute(&self.tape.code, &mut self.registers, &self.input, &self.tape.tables);
    }

    /// Evaluates what a slice of the same tape holds. All bytes that changed since the last run must be among its bytes.
    pub fn run_slice(&mut self, slice: &Slice) {
        execute(&slice.code, &mut self.registers, &self.input, &self.tape.tables);
    }

    /// The value of a root, by its place in the list the tape was compiled from.
    pub fn value(&self, root: usize) -> u128 {
        self.tape.roots[root].read(&self.registers)
    }

    /// The lowest 64 bits of the value of a root, which are all of most.
    pub fn low_value(&self, root: usize) -> u64 {
        self.registers[self.tape.roots[root].register as usize]
    }
}
