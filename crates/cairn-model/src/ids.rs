//! Ids: dense ones index a table of one program map, stable ones survive rebuilds.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! dense_id {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the table this id indexes.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

dense_id! {
    /// A function of the target.
    FunctionId;
    /// A basic block, numbered over the whole program.
    BlockId;
    /// A condition: one operand of a decision, or one case label of a switch.
    ConditionId;
    /// A decision: the conditions that together choose a way.
    DecisionId;
    /// An expression in the source.
    SiteId;
    /// One counter of the plain view.
    CounterId;
    /// A basic path, numbered over the whole program; its counter in the basic-path view has the same number.
    BasicPathId;
    /// A mutant of the mutant view.
    MutantId;
    /// A spot in the code at which mutants change something.
    PatchId;
    /// A spot in the code of a detailed symbolic view where a value can be observed.
    ProbeId;
}

/// Names the same thing in every build of the same source.
///
/// It is a hash of (relative path, function, kind, text, ordinal among equals), so it does not change when a
/// comment, a line or another function is added to the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct StableId(pub u64);

impl StableId {
    /// Hashes the parts of a key. Parts are length-prefixed, so `["ab", "c"]` and `["a", "bc"]` differ.
    pub fn from_key(parts: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let bytes = hasher.finalize();
        Self(u64::from_le_bytes(bytes.as_bytes()[..8].try_into().expect("a hash has 32 bytes")))
    }
}

impl fmt::Display for StableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for StableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl From<StableId> for String {
    fn from(id: StableId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for StableId {
    type Error = std::num::ParseIntError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        u64::from_str_radix(&text, 16).map(Self)
    }
}
