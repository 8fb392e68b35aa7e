//! Which bytes of an input a run looked at, and what else they could have been.
//!
//! Symbolic execution leaves variables without a value that no path condition speaks of. An input of ours has all its bytes, so
//! nothing gets out of order; but bytes that nothing was decided by are *free*, and others have only so many values on the same way.

use crate::path::Path;
use cairn_expr::{BuildMix, Dag, ExprId, InputByte, RegionId, evaluate};
use cairn_model::Input;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

/// What a byte of an input may become without leaving the way of its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteFreedom {
    /// Anything: no decision depends on it.
    #[default]
    Free,
    /// Anything from `low` to `high`, whatever other bytes are.
    Within {
        /// The least value.
        low: u8,
        /// The greatest.
        high: u8,
    },
    /// Nothing else, or what it may become depends on other bytes.
    Fixed,
}

impl ByteFreedom {
    /// Whether the byte may have this value.
    pub fn allows(self, value: u8) -> bool {
        match self {
            Self::Free => true,
            Self::Within { low, high } => (low..=high).contains(&value),
            Self::Fixed => false,
        }
    }
}

/// What the bytes of an input may become without leaving the way of its run, as far as the run could be followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Freedom {
    /// What is not here is free.
    bytes: BTreeMap<InputByte, ByteFreedom>,
}

impl Freedom {
    /// What the run of a path leaves open.
    pub fn of(path: &Path) -> Self {
        let dag = path.dag();
        let mut bytes = BTreeMap::new();
        let mut alone: BTreeMap<InputByte, Vec<ExprId>> = BTreeMap::new();
        let mut seen: HashSet<ExprId, BuildMix> = HashSet::default();
        let demands = path.steps().iter().filter_map(|step| Some(step.constraint?.holds));
        for holds in demands.filter(|holds| seen.insert(*holds)) {
            let reads = dag.reads(holds);
            match &*reads {
                [range] if range.end - range.start == 1 => {
                    alone
                        .entry(InputByte { region: range.region, offset: range.start })
                        .or_default()
                        .push(holds);
                }
                ranges => bytes.extend(
                    ranges.iter().flat_map(|range| range.bytes()).map(|byte| (byte, ByteFreedom::Fixed)),
                ),
            }
        }
        for (byte, demands) in alone {
            bytes.entry(byte).or_insert_with(|| within(dag, path, byte, &demands));
        }
        Self { bytes }
    }

    /// What one byte may become.
    pub fn of_byte(&self, region: RegionId, offset: u32) -> ByteFreedom {
        self.bytes.get(&InputByte { region, offset }).copied().unwrap_or_default()
    }

    /// Whether nothing of the first `size` bytes of a region was looked at.
    pub fn is_free(&self, region: RegionId, size: u32) -> bool {
        let of_region = InputByte { region, offset: 0 }..InputByte { region, offset: size };
        self.bytes.range(of_region).next().is_none()
    }
}

/// The values around that of the run with which everything holds that is demanded of a byte alone.
fn within(dag: &Dag, path: &Path, byte: InputByte, demands: &[ExprId]) -> ByteFreedom {
    let holds = |value: u8| {
        let only =
            |region: RegionId, offset: u32| if byte == (InputByte { region, offset }) { value } else { 0 };
        demands.iter().all(|demand| evaluate(dag, *demand, &only) == 1)
    };
    let own = cairn_expr::Bytes::byte(path.regions(), byte.region, byte.offset);
    let low = (0..own).rev().take_while(|value| holds(*value)).last().unwrap_or(own);
    let high = (own..=u8::MAX).skip(1).take_while(|value| holds(*value)).last().unwrap_or(own);
    match (low, high) {
        (0, u8::MAX) => ByteFreedom::Free,
        _ if low == high => ByteFreedom::Fixed,
        _ => ByteFreedom::Within { low, high },
    }
}

/// What is known of the freedom of inputs; shared by those who find it out and those who use it.
#[derive(Clone, Debug, Default)]
pub struct Freedoms {
    by_input: Arc<Mutex<HashMap<String, Arc<Freedom>>>>,
}

impl Freedoms {
    /// Notes what is known of an input.
    pub fn tell(&self, input: &Input, freedom: Freedom) {
        self.with(|known| known.insert(input.address(), Arc::new(freedom)));
    }

    /// What is known of an input.
    pub fn of(&self, input: &Input) -> Option<Arc<Freedom>> {
        self.with(|known| if known.is_empty() { None } else { known.get(&input.address()).cloned() })
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashMap<String, Arc<Freedom>>) -> T) -> T {
        // Entries are inserted whole, so what a panicking thread left is whole.
        work(&mut self.by_input.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
