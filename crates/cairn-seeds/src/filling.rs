//! What is put where an input is free.

use cairn_abi::symbolic::{RegionId, RegionKind};
use cairn_concolic::{ByteFreedom, Freedom, contents_mut};
use cairn_model::{Input, input::VariableValue};
use std::{fmt, str::FromStr};

/// What is put where an input is free, the paper's *flag*. All other bytes keep their places and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filling {
    /// What the input it was made from has there.
    #[default]
    Keep,
    /// Zeros.
    Zero,
    /// Anything.
    Random,
    /// Letters and digits.
    Text,
}

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Variables of any type hold these.
const NUMBERS: std::ops::Range<u64> = 0..100;

impl Filling {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Keep, Self::Zero, Self::Random, Self::Text];

    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Zero => "zero",
            Self::Random => "random",
            Self::Text => "text",
        }
    }

    /// Puts something where an input is free, in regions that may be changed.
    pub fn fill(
        self,
        input: &mut Input,
        freedom: &Freedom,
        may_change: impl Fn(RegionId) -> bool,
        random: &mut fastrand::Rng,
    ) {
        if self == Self::Keep {
            return;
        }
        for (region, bytes) in contents_mut(input).filter(|(region, _)| may_change(*region)) {
            // Arguments end with a zero.
            let least = u8::from(region.kind() == Some(RegionKind::Argument));
            for (offset, byte) in (0..).zip(bytes.iter_mut()) {
                if freedom.of_byte(region, offset) == ByteFreedom::Free {
                    *byte = self.byte(random).max(least);
                }
            }
        }
        for (index, variable) in (0..).zip(&mut input.variables) {
            let region = RegionId::new(RegionKind::Variable, index);
            if freedom.is_free(region, u32::MAX) {
                self.fill_variable(&mut variable.value, random);
            }
        }
    }

    fn byte(self, random: &mut fastrand::Rng) -> u8 {
        match self {
            Self::Keep | Self::Zero => 0,
            Self::Random => random.u8(..),
            Self::Text => LETTERS[random.usize(..LETTERS.len())],
        }
    }

    fn fill_variable(self, value: &mut VariableValue, random: &mut fastrand::Rng) {
        let number = if self == Self::Zero { 0 } else { random.u64(NUMBERS) };
        match value {
            VariableValue::Int(value) => *value = number as i64,
            VariableValue::Uint(value) => *value = number,
            VariableValue::Double(bits) => *bits = (number as f64).to_bits(),
            VariableValue::Float(bits) => *bits = (number as f32).to_bits(),
            VariableValue::Bytes(bytes) => bytes.0.iter_mut().for_each(|byte| *byte = self.byte(random)),
        }
    }
}

impl fmt::Display for Filling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Filling {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|filling| filling.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(|filling| format!("`{filling}`")).join(", ");
            format!("`{name}` is no way to fill free places; there are {names}")
        })
    }
}
