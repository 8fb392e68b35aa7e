//! How often each name was asked for.
//!
//! The n-th request of a name gets the n-th value delivered for it. The counts live in pages of their own, because the
//! target's allocator is not ours to use.

use crate::system;
use cairn_abi::channel::PAGE;
use core::{
    cell::UnsafeCell,
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

/// Counts a request of `name` and returns its number, from 1.
pub fn next(name: &[u8]) -> u32 {
    while TABLE.locked.swap(true, Ordering::Acquire) {
        system::pause();
    }
    // SAFETY: the lock is held.
    let occurrence = unsafe { (*TABLE.table.get()).next(hash(name)) };
    TABLE.locked.store(false, Ordering::Release);
    occurrence
}

struct Shared {
    locked: AtomicBool,
    table: UnsafeCell<Table>,
}

// SAFETY: the table is only touched with the lock held.
unsafe impl Sync for Shared {}

static TABLE: Shared = Shared { locked: AtomicBool::new(false), table: UnsafeCell::new(Table::new()) };

/// An open-addressed hash table that doubles when half full.
struct Table {
    slots: *mut Slot,
    capacity: usize,
    used: usize,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Slot {
    /// 0 when free.
    hash: u64,
    count: u32,
}

impl Table {
    const fn new() -> Self {
        Self { slots: ptr::null_mut(), capacity: 0, used: 0 }
    }

    fn next(&mut self, hash: u64) -> u32 {
        if self.used * 2 >= self.capacity {
            self.grow();
        }
        let Some(slot) = self.slot(hash) else { return 1 };
        let is_new = slot.hash == 0;
        slot.hash = hash;
        slot.count = slot.count.saturating_add(1);
        let count = slot.count;
        self.used += usize::from(is_new);
        count
    }

    /// The slot of `hash`, or the free one it belongs into.
    fn slot(&mut self, hash: u64) -> Option<&mut Slot> {
        if self.slots.is_null() {
            return None;
        }
        // SAFETY: `slots` holds `capacity` slots, and `self` is borrowed as long as the result.
        let slots = unsafe { core::slice::from_raw_parts_mut(self.slots, self.capacity) };
        let start = hash as usize % slots.len();
        let (before, after) = slots.split_at_mut(start);
        after.iter_mut().chain(before).find(|slot| slot.hash == hash || slot.hash == 0)
    }

    fn grow(&mut self) {
        let size = (self.capacity * 2 * size_of::<Slot>()).max(PAGE);
        let Some(memory) = system::map_private(size) else { return };
        #[cfg(all(feature = "view", target_arch = "x86_64"))]
        crate::session::note_mapping(memory, size);
        let mut grown = Self { slots: memory.cast(), capacity: size / size_of::<Slot>(), used: self.used };
        for index in 0..self.capacity {
            // SAFETY: `slots` holds `capacity` slots.
            let old = unsafe { *self.slots.add(index) };
            if old.hash != 0
                && let Some(slot) = grown.slot(old.hash)
            {
                *slot = old;
            }
        }
        if self.capacity > 0 {
            // SAFETY: the old slots were copied and `self` is replaced below.
            unsafe { system::unmap(self.slots.cast(), self.capacity * size_of::<Slot>()) };
        }
        *self = grown;
    }
}

/// FNV-1a, never 0.
fn hash(name: &[u8]) -> u64 {
    let hash = name
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    hash.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_counts_for_itself_also_when_the_table_grows() {
        let mut table = Table::new();
        for round in 1..=3 {
            for number in 0..2000 {
                assert_eq!(table.next(hash(format!("name{number}").as_bytes())), round);
            }
        }
    }
}
