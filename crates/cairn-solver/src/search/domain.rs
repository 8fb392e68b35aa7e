//! Which values a byte can have at all.

use cairn_expr::{Dag, ExprId, Tape};

/// A set of byte values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Sorted.
    values: Vec<u8>,
    /// The place of each value, or of the next one above it.
    places: Box<[u8; 256]>,
    bits: [u64; 4],
}

impl Domain {
    /// All values that satisfy conditions which read only this byte. Also how many evaluations that took.
    pub fn of(dag: &Dag, conditions: &[ExprId]) -> (Self, u64) {
        if conditions.is_empty() {
            return (Self::from_values((0..=255).collect()), 0);
        }
        let tape = Tape::compile(dag, conditions);
        let zero = |_, _| 0u8;
        let mut machine = tape.machine(&zero);
        let values = (0..=255u8)
            .filter(|value| {
                machine.set(0, *value);
                machine.run();
                (0..conditions.len()).all(|root| machine.low_value(root) == 1)
            })
            .collect();
        (Self::from_values(values), 256)
    }

    fn from_values(values: Vec<u8>) -> Self {
        let mut places = Box::new([0; 256]);
        let mut bits = [0; 4];
        for value in 0..=255u8 {
            let place = values.partition_point(|known| *known < value).min(values.len().saturating_sub(1));
            places[usize::from(value)] = place as u8;
        }
        for value in &values {
            bits[usize::from(*value) / 64] |= 1 << (value % 64);
        }
        Self { values, places, bits }
    }

    /// The values, sorted.
    pub fn values(&self) -> &[u8] {
        &self.values
    }

    /// Whether it is one of them.
    pub fn contains(&self, value: u8) -> bool {
        self.bits[usize::from(value) / 64] >> (value % 64) & 1 == 1
    }

    /// Whether it is every value.
    pub fn is_full(&self) -> bool {
        self.values.len() == 256
    }

    /// The value `steps` places from `value`, going round. The domain must not be empty.
    pub fn step(&self, value: u8, steps: i64) -> u8 {
        let place = i64::from(self.places[usize::from(value)]);
        self.values[(place + steps).rem_euclid(self.values.len() as i64) as usize]
    }

    /// The value itself or, if it is not one, the next above, or the last.
    pub fn nearest(&self, value: u8) -> u8 {
        self.values[usize::from(self.places[usize::from(value)])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_expr::{Op, RegionId};

    #[test]
    fn conditions_on_one_byte_say_what_it_can_be() {
        let mut dag = Dag::new();
        let byte = dag.input(RegionId(0), 7, 8);
        let (zero, nine) = (dag.constant(8, 0x30), dag.constant(8, 0x39));
        let conditions = [dag.compare(Op::ULe, zero, byte), dag.compare(Op::ULe, byte, nine)];
        let (domain, n_evaluations) = Domain::of(&dag, &conditions);
        assert_eq!(domain.values(), b"0123456789");
        assert_eq!(n_evaluations, 256);
        assert_eq!(domain.step(b'3', 4), b'7');
        assert_eq!(domain.step(b'9', 1), b'0');
        assert_eq!(domain.nearest(b'z'), b'9');
        assert!(domain.contains(b'5') && !domain.contains(b'a') && !domain.is_full());
    }
}
