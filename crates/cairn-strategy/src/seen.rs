//! What was seen before.

use cairn_abi::session::class;

/// For each counter the classes of hit counts that were seen, as a session's baseline has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    classes: Vec<u8>,
}

/// Counters that differ from run to run of one input, and therefore tell nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unstable {
    counters: Vec<u32>,
}

/// Counters hit, with the class of each count, in order.
pub type Hits = Vec<(u32, u8)>;

impl Seen {
    /// Nothing seen.
    pub fn nothing(n_counters: u32) -> Self {
        Self { classes: vec![0; n_counters as usize] }
    }

    /// As a session's baseline.
    pub fn classes(&self) -> &[u8] {
        &self.classes
    }

    /// The hits of a run that left `counters`.
    pub fn hits(counters: &[u8]) -> Hits {
        let hit = |(index, count): (usize, &u8)| (*count != 0).then(|| (index as u32, class(*count)));
        counters.iter().enumerate().filter_map(hit).collect()
    }

    /// The hits whose class was not seen, and of these how many counters were never hit at all.
    pub fn new_in(&self, hits: &[(u32, u8)]) -> (usize, usize) {
        let mut n_new = (0, 0);
        for (counter, class) in hits {
            let seen = self.classes.get(*counter as usize).copied().unwrap_or(0);
            n_new.0 += usize::from(class & !seen != 0);
            n_new.1 += usize::from(seen == 0);
        }
        n_new
    }

    /// Adds what a run hit.
    pub fn add(&mut self, hits: &[(u32, u8)]) {
        for (counter, class) in hits {
            if let Some(seen) = self.classes.get_mut(*counter as usize) {
                *seen |= class;
            }
        }
    }

    /// From now on nothing about these counters is new.
    pub fn ignore(&mut self, unstable: &Unstable) {
        for counter in &unstable.counters {
            if let Some(seen) = self.classes.get_mut(*counter as usize) {
                *seen = u8::MAX;
            }
        }
    }

    /// How many counters were hit.
    pub fn n_hit(&self) -> usize {
        self.classes.iter().filter(|classes| **classes != 0).count()
    }
}

impl Unstable {
    /// These counters, in order.
    pub fn of(counters: Vec<u32>) -> Self {
        Self { counters }
    }

    /// The counters whose class differs between two runs of one input.
    pub fn between(one: &[u8], other: &[u8]) -> Self {
        let differs = |(index, (one, other)): (usize, (&u8, &u8))| {
            (class(*one) != class(*other)).then_some(index as u32)
        };
        Self { counters: one.iter().zip(other).enumerate().filter_map(differs).collect() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    /// The counters, in order.
    pub fn counters(&self) -> &[u32] {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_count_of_a_known_counter_is_new_once() {
        let mut seen = Seen::nothing(3);
        seen.add(&Seen::hits(&[1, 0, 0]));
        let more = Seen::hits(&[9, 0, 1]);
        assert_eq!(seen.new_in(&more), (2, 1));
        seen.add(&more);
        assert_eq!(seen.new_in(&more), (0, 0));
    }

    #[test]
    fn an_unstable_counter_is_never_new() {
        let mut seen = Seen::nothing(2);
        let unstable = Unstable::between(&[1, 5], &[1, 200]);
        assert_eq!(unstable.counters(), [1]);
        seen.ignore(&unstable);
        assert_eq!(seen.new_in(&Seen::hits(&[0, 31])), (0, 0));
    }
}
