//! How rare what a run hits is.

/// How many runs have hit each counter.
#[derive(Debug, Default)]
pub(crate) struct Rarity {
    n_runs: Vec<u32>,
}

impl Rarity {
    /// Notes the counters of a run, and returns how many runs have hit the rarest of them by now, this one included.
    pub(crate) fn count(&mut self, counters: &[u8]) -> u32 {
        if self.n_runs.len() < counters.len() {
            self.n_runs.resize(counters.len(), 0);
        }
        let mut rarest = u32::MAX;
        // Most are not hit, and are passed over together.
        for (counts, n_runs) in counters.chunks(8).zip(self.n_runs.chunks_mut(8)) {
            if counts.iter().all(|count| *count == 0) {
                continue;
            }
            for (_, n_runs) in counts.iter().zip(n_runs).filter(|(count, _)| **count != 0) {
                *n_runs = n_runs.saturating_add(1);
                rarest = rarest.min(*n_runs);
            }
        }
        rarest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarest_counter_decides() {
        let mut rarity = Rarity::default();
        let often = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let seldom = [1, 0, 0, 0, 0, 0, 0, 0, 0, 3];
        assert_eq!([often, often, seldom, often, seldom].map(|run| rarity.count(&run)), [1, 2, 1, 4, 2]);
        assert_eq!(rarity.count(&[0; 10]), u32::MAX);
    }
}
