//! Bytes of an input and the values they should have.

use cairn_abi::symbolic::RegionId;
use cairn_expr::Bytes;
use std::{collections::BTreeMap, fmt};

/// New values for some bytes of an input. All others stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Model {
    bytes: BTreeMap<(RegionId, u32), u8>,
}

impl Model {
    /// The new value of a byte, if it has one.
    pub fn get(&self, region: RegionId, offset: u32) -> Option<u8> {
        self.bytes.get(&(region, offset)).copied()
    }

    /// Gives a byte a value.
    pub fn set(&mut self, region: RegionId, offset: u32, value: u8) {
        self.bytes.insert((region, offset), value);
    }

    /// All bytes with values, by region and offset.
    pub fn iter(&self) -> impl Iterator<Item = (RegionId, u32, u8)> + '_ {
        self.bytes.iter().map(|((region, offset), value)| (*region, *offset, *value))
    }

    /// How many bytes have values.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether no byte has a value.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Only the bytes whose value differs from the seed's.
    pub fn changes(&self, seed: &dyn Bytes) -> Model {
        self.iter().filter(|(region, offset, value)| seed.byte(*region, *offset) != *value).collect()
    }
}

impl FromIterator<(RegionId, u32, u8)> for Model {
    fn from_iter<I: IntoIterator<Item = (RegionId, u32, u8)>>(bytes: I) -> Self {
        Self { bytes: bytes.into_iter().map(|(region, offset, value)| ((region, offset), value)).collect() }
    }
}

/// One line for people: `stdin[0]=0x41 stdin[1]=0x42`.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (region, offset, value)) in self.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{}[{offset}]={value:#04x}", cairn_expr::region_name(region))?;
        }
        Ok(())
    }
}
