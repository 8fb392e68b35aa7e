//! Chooses by weight.

use crate::random::Random;

/// Things with weights, of which one is chosen in constant time: Walker's alias method.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chooser {
    /// For each thing: below which chance it is taken itself, and which one is taken otherwise.
    places: Vec<(u32, u32)>,
    /// Kept so that a renewal allocates nothing.
    scaled: Vec<f64>,
    small: Vec<u32>,
    large: Vec<u32>,
}

impl Chooser {
    /// Takes other weights. Those that are not positive numbers count as nothing; if none is, all are equal.
    pub(crate) fn renew(&mut self, weights: impl Iterator<Item = f64>) {
        let Self { places, scaled, small, large } = self;
        places.clear();
        scaled.clear();
        small.clear();
        large.clear();
        scaled.extend(weights.map(|weight| if weight.is_finite() { weight.max(0.0) } else { 0.0 }));
        let total: f64 = scaled.iter().sum();
        if total <= 0.0 {
            scaled.fill(1.0);
        }
        let total: f64 = scaled.iter().sum();
        let n = scaled.len();
        for (index, weight) in scaled.iter_mut().enumerate() {
            *weight *= n as f64 / total;
            if *weight < 1.0 {
                small.push(index as u32)
            } else {
                large.push(index as u32)
            }
            places.push((u32::MAX, index as u32));
        }
        while let (Some(little), Some(much)) = (small.pop(), large.last().copied()) {
            let share = scaled[little as usize];
            places[little as usize] = ((share * f64::from(u32::MAX)) as u32, much);
            scaled[much as usize] -= 1.0 - share;
            if scaled[much as usize] < 1.0 {
                large.pop();
                small.push(much);
            }
        }
    }

    /// The number of one of the things.
    ///
    /// # Panics
    /// If there are none.
    #[inline]
    pub(crate) fn choose(&self, random: &mut Random) -> usize {
        let bits = random.bits();
        let place = ((bits >> 32) * self.places.len() as u64) >> 32;
        let (own, other) = self.places[place as usize];
        if bits as u32 <= own { place as usize } else { other as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(weights: &[f64]) -> Vec<f64> {
        let mut chooser = Chooser::default();
        chooser.renew(weights.iter().copied());
        let mut random = Random::new(3);
        let mut counts = vec![0u32; weights.len()];
        for _ in 0..100_000 {
            counts[chooser.choose(&mut random)] += 1;
        }
        counts.iter().map(|count| (f64::from(*count) / 10_000.0).round() / 10.0).collect()
    }

    #[test]
    fn what_weighs_more_is_chosen_more_often() {
        assert_eq!(shares(&[1.0, 2.0, 0.0, 7.0]), [0.1, 0.2, 0.0, 0.7]);
    }

    #[test]
    fn without_weights_all_are_equal() {
        assert_eq!(shares(&[0.0, f64::NAN, -1.0, 0.0, 0.0]), [0.2; 5]);
    }
}
