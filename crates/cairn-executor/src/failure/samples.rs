//! What a run noted about itself, read as the words of somebody who may lie.

use cairn_abi::stack::{
    INSTRUCTION_POINTER, MAPS_OFFSET, MAPS_SIZE, N_REGISTERS, STACK_POINTER, STACK_REGION_SIZE, STACK_SIZE,
    StackHead, stack_offset,
};
use std::sync::atomic::Ordering;

/// Where a process was at one moment.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) signal: i32,
    /// Why the signal came, in the kernel's words.
    pub(super) code: i32,
    pub(super) fault: u64,
    pub(super) registers: [u64; N_REGISTERS],
    pub(super) memory: Memory,
}

/// A piece of the process's memory: its stack, from the lowest page on that is there.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) start: u64,
    pub(super) bytes: Vec<u8>,
}

impl Memory {
    /// The word at an address, if it was kept.
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        Some(u64::from_le_bytes(*self.bytes.get(offset..)?.first_chunk()?))
    }
}

impl Sample {
    pub(super) fn stack_pointer(&self) -> u64 {
        self.registers[STACK_POINTER]
    }

    pub(super) fn instruction_pointer(&self) -> u64 {
        self.registers[INSTRUCTION_POINTER]
    }

    /// Whether the stack was used up: the fault lies below all memory of the stack, not far from where the stack pointer
    /// has got to.
    pub(super) fn is_stack_overflow(&self) -> bool {
        /// How far below the stack pointer a function may touch memory: a call, or variables of one that calls nothing.
        const BELOW: u64 = 4096;
        let is_fault = [libc::SIGSEGV, libc::SIGBUS].contains(&self.signal) && self.code > 0;
        let has_stack = !self.memory.bytes.is_empty();
        is_fault
            && has_stack
            && self.fault < self.memory.start
            && self.fault >= self.stack_pointer().saturating_sub(BELOW)
    }
}

/// The complete samples of a region, and the text of the mappings.
pub(super) fn read(region: &[u8]) -> (Vec<Sample>, String) {
    if region.len() < STACK_REGION_SIZE {
        return (Vec::new(), String::new());
    }
    assert!(region.as_ptr().cast::<StackHead>().is_aligned(), "regions start on a page");
    // SAFETY: the region is larger than the head and aligned for it; the head is made of atomics, for which every bit
    // pattern is a value.
    let head = unsafe { &*region.as_ptr().cast::<StackHead>() };
    let samples = head.samples.iter().enumerate().filter_map(|(index, sample)| {
        let is_complete = sample.is_complete.load(Ordering::Acquire) == 1;
        let length = (sample.stack_length.load(Ordering::Relaxed) as usize).min(STACK_SIZE);
        let offset = stack_offset(index);
        is_complete.then(|| Sample {
            signal: sample.signal.load(Ordering::Relaxed) as i32,
            code: sample.code.load(Ordering::Relaxed) as i32,
            fault: sample.fault.load(Ordering::Relaxed),
            registers: std::array::from_fn(|index| sample.registers[index].load(Ordering::Relaxed)),
            memory: Memory {
                start: sample.stack_start.load(Ordering::Relaxed),
                bytes: region[offset..offset + length].to_vec(),
            },
        })
    });
    let length = (head.maps_length.load(Ordering::Relaxed) as usize).min(MAPS_SIZE);
    let maps = &region[MAPS_OFFSET..MAPS_OFFSET + length];
    (samples.collect(), String::from_utf8_lossy(maps).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(stack_pointer: u64, fault: u64, stack_start: u64) -> Sample {
        let mut registers = [0; N_REGISTERS];
        registers[STACK_POINTER] = stack_pointer;
        let memory = Memory { start: stack_start, bytes: vec![0; 8192] };
        Sample { signal: libc::SIGSEGV, code: 1, fault, registers, memory }
    }

    #[test]
    fn a_stack_is_used_up_where_there_is_none_below() {
        assert!(sample(0x10010, 0xfff8, 0x10000).is_stack_overflow(), "a call on the last page");
        assert!(sample(0x8000, 0x8100, 0x10000).is_stack_overflow(), "large variables");
        assert!(!sample(0x10010, 0, 0x10000).is_stack_overflow(), "a null pointer");
        assert!(!sample(0x10010, 0x12000, 0x10000).is_stack_overflow(), "beyond the other end");
        assert!(!sample(0x10010, 0x4000, 0x10000).is_stack_overflow(), "far below");
    }

    #[test]
    fn memory_that_was_not_kept_is_not_read() {
        let memory = Memory { start: 0x1000, bytes: vec![1; 12] };
        assert_eq!(memory.word(0x1004), Some(0x0101_0101_0101_0101));
        assert_eq!(memory.word(0x1005), None);
        assert_eq!(memory.word(0xfff), None);
        assert_eq!(memory.word(u64::MAX), None);
    }

    #[test]
    fn lengths_a_process_wrote_are_cut() {
        // Aligned as a channel is.
        let mut words = vec![u64::MAX; STACK_REGION_SIZE / 8];
        // SAFETY: as many bytes.
        let region =
            unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), STACK_REGION_SIZE) };
        assert!(read(region).0.is_empty(), "no sample says 1");
        // SAFETY: as in `read`.
        let head = unsafe { &*region.as_ptr().cast::<StackHead>() };
        head.samples[3].is_complete.store(1, Ordering::Relaxed);
        let (samples, maps) = read(region);
        assert_eq!((samples.len(), samples[0].memory.bytes.len()), (1, STACK_SIZE));
        assert!(maps.len() >= MAPS_SIZE);
        assert!(read(&region[..100]).0.is_empty());
    }
}
