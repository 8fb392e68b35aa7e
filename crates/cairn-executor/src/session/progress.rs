//! How far a batch is, by the runner's word, and since when.

use std::time::Instant;

/// Since when nothing has moved.
pub(super) struct Watched {
    pub(super) progress: Progress,
    pub(super) since: Instant,
    /// What the runner held, in bytes, when half of the wall limit had passed.
    pub(super) at_half: Option<u64>,
}

/// What the board says about a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) n_done: u32,
    pub(super) current: u32,
}

impl Progress {
    /// Whether a batch of `n_inputs` that was at `earlier` may be here now: it goes forward, and only to its end.
    pub(super) fn may_follow(self, earlier: Self, n_inputs: u32) -> bool {
        (earlier.n_done..=n_inputs).contains(&self.n_done)
            && (earlier.current..n_inputs).contains(&self.current)
    }
}

#[cfg(test)]
mod tests {
    use super::Progress;

    #[test]
    fn a_batch_goes_forward_and_only_to_its_end() {
        let at = |n_done, current| Progress { n_done, current };
        let may = |earlier: Progress, later: Progress| later.may_follow(earlier, 3);
        assert!(may(at(0, 0), at(0, 0)) && may(at(1, 1), at(2, 1)) && may(at(0, 0), at(3, 2)));
        // The two numbers are not read at the same moment.
        assert!(may(at(0, 0), at(0, 2)) && may(at(0, 0), at(2, 0)));
        assert!(!may(at(0, 0), at(4, 2)) && !may(at(0, 0), at(0, 3)));
        assert!(!may(at(2, 2), at(1, 2)) && !may(at(2, 2), at(2, 1)));
    }
}
