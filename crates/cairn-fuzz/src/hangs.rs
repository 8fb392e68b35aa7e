//! Runs that do not end, told from those that only take longer.
//!
//! A hang takes all the time a run has, so one place where a program hangs would slow everything down a hundred times. Runs of a
//! batch therefore have little time. One that is out of it and was elsewhere than those known to hang is run once more, with all
//! the time the session gives: machines have other things to do, and inputs may be slow. Where it ends, nothing is lost; where it
//! does not, others that get to the same place are not waited for.

use cairn_strategy::likeness;
use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};

/// Runs that are waited for although they hit nothing that runs known to hang have not hit.
const MOST_MORE: u32 = 8;

/// A run of a batch has so many times what a slow one took that ended.
const MARGIN: u32 = 4;

/// What is known of runs that do not end.
#[derive(Debug, Default)]
pub(crate) struct Hangs {
    /// What runs that do not end hit, by likeness.
    known: HashSet<u64>,
    /// Counters that they hit.
    hit: BTreeSet<u32>,
    /// Those that hit nothing new among them.
    n_more: u32,
    /// What slow inputs need that are known to end.
    needed: Duration,
}

impl Hangs {
    /// How long a run of a batch may take, where `learned` is what inputs need that are known, and `whole` what any run has.
    pub(crate) fn backstop(&self, learned: Option<Duration>, whole: Duration) -> Duration {
        learned.map_or(whole, |learned| learned.max(self.needed).min(whole))
    }

    /// Whether a run that is out of time gets to where runs do not end.
    pub(crate) fn is_known(&self, hits: &[(u32, u8)]) -> bool {
        let is_elsewhere = hits.iter().any(|(counter, _)| !self.hit.contains(counter));
        self.known.contains(&likeness(hits)) || !is_elsewhere && self.n_more >= MOST_MORE
    }

    /// Notes what a run hit that had the whole time and did not end. It was first seen `before` that.
    pub(crate) fn add(&mut self, before: &[(u32, u8)], hits: &[(u32, u8)]) {
        let n_known = self.hit.len();
        self.hit.extend(before.iter().chain(hits).map(|(counter, _)| counter));
        self.n_more += u32::from(self.hit.len() == n_known);
        self.known.extend([likeness(before), likeness(hits)]);
    }

    /// Notes that a run took longer than it had at first, and ended.
    pub(crate) fn ended(&mut self, took: Duration) {
        self.needed = self.needed.max(took * MARGIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_where_runs_do_not_end_is_waited_for_once() {
        let mut hangs = Hangs::default();
        let here = [(0, 1), (3, 128)];
        assert!(!hangs.is_known(&here));
        hangs.add(&here, &here);
        assert!(hangs.is_known(&here));
        // How often it was there says nothing.
        assert!(hangs.is_known(&[(0, 1), (3, 16)]));
        assert!(!hangs.is_known(&[(0, 1), (4, 1)]));
    }

    #[test]
    fn ways_to_known_places_are_waited_for_a_few_times() {
        let mut hangs = Hangs::default();
        let all: Vec<(u32, u8)> = (0..8).map(|counter| (counter, 1)).collect();
        hangs.add(&all, &all);
        let ways = (1..200u32).map(|n| (0..8).filter(|bit| n >> bit & 1 == 1).map(|bit| (bit, 1)).collect());
        let mut ways: Vec<Vec<(u32, u8)>> = ways.collect();
        ways.retain(|way| {
            let is_known = hangs.is_known(way);
            if !is_known {
                hangs.add(way, way);
            }
            !is_known
        });
        assert_eq!(ways.len() as u32, MOST_MORE);
    }

    #[test]
    fn slow_inputs_have_their_time() {
        let ms = Duration::from_millis;
        let mut hangs = Hangs::default();
        assert_eq!(hangs.backstop(None, ms(1000)), ms(1000));
        assert_eq!(hangs.backstop(Some(ms(25)), ms(1000)), ms(25));
        hangs.ended(ms(40));
        assert_eq!(hangs.backstop(Some(ms(25)), ms(1000)), ms(160));
        assert_eq!(hangs.backstop(Some(ms(25)), ms(100)), ms(100));
    }
}
