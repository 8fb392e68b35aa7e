//! Counters, as they lie in the view and in the channel.

use crate::channel::PAGE;

/// What stands before the counters in their first page.
#[derive(Debug)]
#[repr(C)]
pub struct CounterHead {
    /// Order-sensitive hash of the counted events, kept only by views built with a path hash.
    pub path_hash: u64,
    /// The first eight bytes of the map hash of the view that lies here, written by its runtime.
    ///
    /// A run may `exec` another view. That one must not count into counters that mean something else.
    pub view: u64,
    /// For later versions.
    pub reserved: [u64; 6],
}

/// Bytes before the first counter.
pub const COUNTERS_START: usize = size_of::<CounterHead>();

const _: () = assert!(COUNTERS_START == 64);

/// The size of the counter region of a view with `n_counters` counters.
pub const fn counter_region_size(n_counters: usize) -> usize {
    (COUNTERS_START + n_counters).next_multiple_of(PAGE)
}

/// The path hash after event `counter`. Emitted inline by the instrumenter; this is its definition.
pub const fn path_hash_step(hash: u64, counter: u32) -> u64 {
    (hash.rotate_left(5) ^ counter as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The counters that are set in `counters` and not in `baseline`, in order.
pub fn beyond<'a>(counters: &'a [u8], baseline: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    counters
        .iter()
        .zip(baseline.iter().chain(core::iter::repeat(&0)))
        .enumerate()
        .filter(|(_, (counter, seen))| **counter != 0 && **seen == 0)
        .map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_baseline_lacks_is_new() {
        assert_eq!(beyond(&[1, 0, 3, 4], &[1, 0, 0]).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn the_path_hash_depends_on_order() {
        let there = path_hash_step(path_hash_step(0, 1), 2);
        let back = path_hash_step(path_hash_step(0, 2), 1);
        assert_ne!(there, back);
    }
}
