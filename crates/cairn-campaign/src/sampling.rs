//! Which samples of a strategy are looked at with sanitizers, and how much work that may be.

use cairn_strategy::{Chosen, Sample};
use std::{collections::VecDeque, time::Duration};

/// The part of the time that goes to samples.
const SHARE: u32 = 5;

/// Inputs tried for each look where time is not limited, and how many looks come first.
const INPUTS_PER_LOOK: u64 = 500;
const FIRST_LOOKS: u64 = 16;

/// Samples that wait, of those that will not come again.
const MOST_WAITING: usize = 256;

/// Chooses among samples, and keeps the work with them within its share.
///
/// Where time is limited, the share is one of time. Where it is not, a look is worth a number of inputs, so that decisions are
/// the same every time.
#[derive(Debug, Default)]
pub(crate) struct Sampling {
    waiting: VecDeque<Sample>,
    by_chance: Vec<Sample>,
    n_inputs: u64,
    n_looks: u64,
    working: Duration,
    looking: Duration,
}

impl Sampling {
    /// Notes a step that tried `n_inputs` in the time it `took`, where that is limited, and what it handed over.
    ///
    /// What reached something new waits for its turn; what was chosen by chance is chosen anew in every step.
    pub(crate) fn worked(&mut self, n_inputs: u64, took: Option<Duration>, samples: Vec<Sample>) {
        self.n_inputs += n_inputs;
        self.working += took.unwrap_or_default();
        let (before_cuts, by_chance): (Vec<Sample>, Vec<Sample>) =
            samples.into_iter().partition(|sample| sample.chosen == Chosen::BeforeCuts);
        self.by_chance = by_chance;
        let room = MOST_WAITING.saturating_sub(self.waiting.len());
        self.waiting.extend(before_cuts.into_iter().take(room));
    }

    /// The next one to look at, if there is one and the share allows.
    pub(crate) fn next(&mut self, is_timed: bool) -> Option<Sample> {
        let is_allowed = match is_timed {
            true => self.looking * SHARE <= self.working + self.looking,
            false => self.n_looks * INPUTS_PER_LOOK <= self.n_inputs + FIRST_LOOKS * INPUTS_PER_LOOK,
        };
        if !is_allowed {
            return None;
        }
        self.waiting.pop_front().or_else(|| self.by_chance.pop())
    }

    /// Notes a look, and what it took where time is limited.
    pub(crate) fn looked(&mut self, took: Option<Duration>) {
        self.n_looks += 1;
        self.looking += took.unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_model::Input;

    fn sample(name: &str, chosen: Chosen) -> Sample {
        Sample { input: Input::default(), parent: None, reason: name.into(), chosen }
    }

    /// Looks at all it may, each of which takes so long.
    fn looks(sampling: &mut Sampling, each: Option<Duration>) -> Vec<String> {
        let mut looked_at = Vec::new();
        while let Some(sample) = sampling.next(each.is_some()) {
            looked_at.push(sample.reason);
            sampling.looked(each);
        }
        looked_at
    }

    #[test]
    fn what_reached_something_new_comes_first_and_waits() {
        let mut sampling = Sampling::default();
        let second = Duration::from_secs(1);
        let step = |sampling: &mut Sampling, names: [(&str, Chosen); 3]| {
            sampling.worked(100, Some(4 * second), names.map(|(name, chosen)| sample(name, chosen)).to_vec());
            looks(sampling, Some(second))
        };
        use Chosen::{BeforeCuts, ByChance};
        assert_eq!(step(&mut sampling, [("a", ByChance), ("b", BeforeCuts), ("c", BeforeCuts)]), ["b", "c"]);
        assert_eq!(step(&mut sampling, [("d", BeforeCuts), ("e", BeforeCuts), ("f", ByChance)]), ["d"]);
        assert_eq!(step(&mut sampling, [("g", ByChance), ("h", ByChance), ("i", ByChance)]), ["e"]);
        assert_eq!(step(&mut sampling, [("j", ByChance), ("k", ByChance), ("l", ByChance)]), ["l"]);
    }

    #[test]
    fn looks_have_their_share_of_work() {
        let mut sampling = Sampling::default();
        let mut n_looks = 0;
        for _ in 0..10 {
            sampling.worked(INPUTS_PER_LOOK, None, vec![sample("", Chosen::ByChance); 100]);
            n_looks += looks(&mut sampling, None).len() as u64;
        }
        assert_eq!(n_looks, FIRST_LOOKS + 10 + 1);
    }
}
