//! Learns which of several ways pays.

use crate::{chooser::Chooser, random::Random};

/// Several ways to do something, each chosen about as often as it has paid.
///
/// What counts is finds per try. Each way is credited with one find to begin with, so that it is not given up before it
/// had its chance; a quarter of all choices stays uniform, and what is long ago counts less, because what pays changes
/// as a campaign goes on.
#[derive(Clone, Debug)]
pub(crate) struct Bandit {
    ways: Vec<Way>,
    chooser: Chooser,
    n_since_renewal: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Way {
    tries: f64,
    finds: f64,
}

/// Shares change after so many choices; a find alone does not change them at once.
const RENEWAL: u32 = 4096;

/// The share of choices that stays uniform.
const UNIFORM: f64 = 0.25;

/// What counts as long ago: after so many tries all of them count half.
const MEMORY: f64 = 4e6;

impl Bandit {
    /// So many ways, all equal.
    pub(crate) fn new(n_ways: usize) -> Self {
        let mut bandit =
            Self { ways: vec![Way::default(); n_ways], chooser: Chooser::default(), n_since_renewal: 0 };
        bandit.renew();
        bandit
    }

    /// One of the ways, which is thereby tried.
    #[inline]
    pub(crate) fn choose(&mut self, random: &mut Random) -> usize {
        let way = self.chooser.choose(random);
        self.ways[way].tries += 1.0;
        self.n_since_renewal += 1;
        if self.n_since_renewal >= RENEWAL {
            self.renew();
        }
        way
    }

    /// Notes that a way has paid.
    pub(crate) fn reward(&mut self, way: usize, amount: f64) {
        self.ways[way].finds += amount;
    }

    /// The share of each way in choices.
    pub(crate) fn shares(&self) -> Vec<f64> {
        let rates = self.rates();
        let total: f64 = rates.iter().sum();
        let n = rates.len() as f64;
        rates.iter().map(|rate| UNIFORM / n + (1.0 - UNIFORM) * rate / total).collect()
    }

    fn rates(&self) -> Vec<f64> {
        let tries: f64 = self.ways.iter().map(|way| way.tries).sum();
        let finds: f64 = self.ways.iter().map(|way| way.finds).sum();
        // As many tries as one find takes on average.
        let tries_per_find = (tries + 1.0) / (finds + 1.0);
        self.ways.iter().map(|way| (way.finds + 1.0) / (way.tries + tries_per_find)).collect()
    }

    fn renew(&mut self) {
        self.n_since_renewal = 0;
        if self.ways.iter().map(|way| way.tries).sum::<f64>() > MEMORY {
            for way in &mut self.ways {
                way.tries /= 2.0;
                way.finds /= 2.0;
            }
        }
        let shares = self.shares();
        self.chooser.renew(shares.into_iter());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    /// Lets a bandit choose among ways that pay with these chances, and returns the shares it ends with.
    fn learnt(chances: &[f64], n: usize) -> String {
        let mut bandit = Bandit::new(chances.len());
        let mut random = Random::new(5);
        for _ in 0..n {
            let way = bandit.choose(&mut random);
            if random.below(1_000_000) < (chances[way] * 1e6) as usize {
                bandit.reward(way, 1.0);
            }
        }
        bandit.shares().iter().map(|share| format!("{share:.2}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_pays_is_chosen_more_often_and_nothing_is_given_up() {
        expect!["0.07 0.23 0.63 0.07"].assert_eq(&learnt(&[0.0, 0.001, 0.004, 0.0], 200_000));
    }

    #[test]
    fn before_anything_pays_all_ways_are_about_equal() {
        expect!["0.25 0.25 0.25 0.25"].assert_eq(&learnt(&[0.0; 4], 200_000));
    }
}
