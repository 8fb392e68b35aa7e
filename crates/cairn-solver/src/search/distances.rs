//! The distances of all conditions, and their sum.

/// Conditions whose sum is kept.
const BLOCK: usize = 64;

/// A change of a few distances costs little, however many there are: the sums of blocks are kept, each made of its own
/// distances alone, so that the total does not depend on what was there before.
pub struct Distances {
    distances: Vec<f64>,
    sums: Vec<f64>,
}

impl Distances {
    /// So many conditions that all hold.
    pub fn new(n_conditions: usize) -> Self {
        Self { distances: vec![0.0; n_conditions], sums: vec![0.0; n_conditions.div_ceil(BLOCK)] }
    }

    /// Of each condition.
    pub fn of_all(&self) -> &[f64] {
        &self.distances
    }

    /// The sum.
    pub fn total(&self) -> f64 {
        self.sums.iter().sum()
    }

    /// Measures all.
    pub fn set_all(&mut self, mut distance: impl FnMut(usize) -> f64) {
        for (index, place) in self.distances.iter_mut().enumerate() {
            *place = distance(index);
        }
        for block in 0..self.sums.len() {
            self.add_up(block);
        }
    }

    /// Measures some, which are sorted.
    pub fn update(&mut self, conditions: &[usize], mut distance: impl FnMut(usize) -> f64) {
        for some in conditions.chunk_by(|a, b| a / BLOCK == b / BLOCK) {
            for index in some {
                self.distances[*index] = distance(*index);
            }
            self.add_up(some[0] / BLOCK);
        }
    }

    fn add_up(&mut self, block: usize) {
        let start = block * BLOCK;
        let end = self.distances.len().min(start + BLOCK);
        self.sums[block] = self.distances[start..end].iter().sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_that_of_now() {
        let mut distances = Distances::new(200);
        distances.set_all(|index| index as f64);
        assert_eq!(distances.total(), 19_900.0);
        distances.update(&[3, 5, 64, 199], |_| 1e300);
        distances.update(&[3, 5, 64, 199], |_| 0.25);
        assert_eq!(distances.total(), 19_900.0 - 271.0 + 1.0);
        assert_eq!(distances.of_all()[64], 0.25);
    }
}
