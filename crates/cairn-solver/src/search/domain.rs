//! Which values a byte can have at all.

use cairn_expr::{BuildMix, Dag, ExprId, Tape};
use std::collections::HashMap;

/// A set of byte values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Sorted.
    values: Vec<u8>,
    /// The place of each value, or of the next one above it.
    places: Box<[u8; 256]>,
    bits: Bits,
}

/// One bit for every value of a byte.
type Bits = [u64; 4];

const EVERY: Bits = [u64::MAX; 4];

/// Which values satisfy conditions that read one byte only, remembered from query to query: paths ask for the same all the
/// time.
#[derive(Clone, Debug, Default)]
pub struct Domains {
    /// By the condition's fingerprint.
    known: HashMap<u64, Bits, BuildMix>,
}

/// Conditions that are remembered.
const MAX_KNOWN: usize = 1 << 16;

impl Domains {
    /// All values that satisfy conditions which read only this byte. Also how many evaluations that takes, remembered or not.
    pub fn of(&mut self, dag: &Dag, conditions: &[ExprId]) -> (Domain, u64) {
        if conditions.is_empty() {
            return (Domain::full(), 0);
        }
        if self.known.len() > MAX_KNOWN {
            self.known.clear();
        }
        let bits = conditions.iter().fold(EVERY, |bits, condition| {
            let satisfying =
                self.known.entry(dag.fingerprint(*condition)).or_insert_with(|| satisfying(dag, *condition));
            std::array::from_fn(|word| bits[word] & satisfying[word])
        });
        (Domain::from_bits(bits), 256)
    }
}

/// The values of the only byte that a condition reads on which it holds.
fn satisfying(dag: &Dag, condition: ExprId) -> Bits {
    let tape = Tape::compile(dag, &[condition]);
    let zero = |_, _| 0u8;
    let mut machine = tape.machine(&zero);
    let mut bits = [0; 4];
    for value in 0..=255u8 {
        machine.set(0, value);
        machine.run();
        bits[usize::from(value) / 64] |= machine.low_value(0) << (value % 64);
    }
    bits
}

impl Domain {
    /// Every value.
    pub fn full() -> Self {
        Self {
            values: (0..=255).collect(),
            places: Box::new(std::array::from_fn(|value| value as u8)),
            bits: EVERY,
        }
    }

    fn from_bits(bits: Bits) -> Self {
        let is_one = |value: &u8| bits[usize::from(*value) / 64] >> (value % 64) & 1 == 1;
        let values: Vec<u8> = (0..=255).filter(is_one).collect();
        let mut places = Box::new([0; 256]);
        let mut place = 0;
        for (value, at) in (0..=255u8).zip(places.iter_mut()) {
            while place + 1 < values.len() && values[place] < value {
                place += 1;
            }
            *at = place as u8;
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
        let mut domains = Domains::default();
        let (domain, n_evaluations) = domains.of(&dag, &conditions);
        assert_eq!(domain.values(), b"0123456789");
        assert_eq!(n_evaluations, 256);
        assert_eq!(domains.of(&dag, &conditions), (domain.clone(), 256), "remembered or not");
        assert_eq!(domain.step(b'3', 4), b'7');
        assert_eq!(domain.step(b'9', 1), b'0');
        assert_eq!(domain.nearest(b'z'), b'9');
        assert!(domain.contains(b'5') && !domain.contains(b'a') && !domain.is_full());
        assert_eq!(domains.of(&dag, &[]), (Domain::full(), 0));
        assert_eq!(Domain::from_bits(EVERY), Domain::full());
    }
}
