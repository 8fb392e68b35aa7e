//! The inputs of one process.

use super::{map, process};

/// How many inputs a harness runs before a fresh process takes over, so that what it leaks does not add up.
pub const MOST: u32 = 1000;

/// Counts the inputs of one process, and stops it between them.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    is_persistent: bool,
    done: u32,
}

impl Rounds {
    /// One input, or as many as [`Rounds::begin`] is given if `is_persistent`.
    pub fn new(is_persistent: bool) -> Self {
        Self { is_persistent, done: 0 }
    }

    /// True when there is another input to run, of `most`. Waits for the client between two.
    ///
    /// What is counted before the first and after the last is not seen: it would belong to these inputs only.
    pub fn begin(&mut self, most: u32) -> bool {
        let most = if self.is_persistent { most } else { 1 };
        if self.done >= most {
            map::detach();
            return false;
        }
        match self.done {
            0 => map::clear(),
            _ => process::stop(),
        }
        self.done += 1;
        true
    }
}
