//! Where the values of expressions can be observed in a symbolic run.
//!
//! The [`SiteTable`] is written with the detailed symbolic view and belongs to it. A [`Probe`] is a spot in the code where the
//! value of an expression was found: the same spots at which mutants change something.

use crate::{
    ids::{ProbeId, SiteId},
    mutants::{Patch, ValueType},
    versioned::Versioned,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Every probe of one view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteTable {
    /// The hash of the program map that sites refer to.
    pub map_hash: [u8; 32],
    /// Probes, by site and then by spot.
    pub probes: Vec<Probe>,
}

impl Versioned for SiteTable {
    const MAGIC: [u8; 8] = *b"cairnsit";
    const VERSION: u32 = 1;
    const NAME: &'static str = "site table";
}

/// A spot in the code where the value of an expression was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The expression.
    pub site: SiteId,
    /// Which of the expression's spots it is; mutants are told the same number in [`Patch::spot`].
    pub spot: u16,
    /// What of the expression is found there.
    pub role: ProbeRole,
    /// The type of the value.
    pub value_type: ValueType,
    /// The types of what it is computed from, as mutants number it.
    pub operands: Vec<ValueType>,
    /// The number of the text it belongs to. Instances of a template have the same, and so do all that a mutant changes
    /// together.
    pub text: u32,
}

/// What of an expression is found at a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeRole {
    /// Its value; of `++`, `--` and `op=` the new one, before it is converted to the type of the variable.
    Value,
    /// A constant.
    Constant,
    /// What `=` stores.
    Stored,
    /// What `return` hands back.
    Returned,
    /// The truth that a decision tests.
    Decision,
}

impl fmt::Display for ProbeRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Value => "value",
            Self::Constant => "constant",
            Self::Stored => "stored",
            Self::Returned => "returned",
            Self::Decision => "decision",
        })
    }
}

impl SiteTable {
    /// The probes of a site, in the order of its spots: the first is what people mean by its value.
    pub fn of_site(&self, site: SiteId) -> impl Iterator<Item = (ProbeId, &Probe)> {
        let first = self.probes.partition_point(|probe| probe.site < site);
        let of_site = self.probes[first..].iter().take_while(move |probe| probe.site == site);
        (first as u32..).map(ProbeId).zip(of_site)
    }

    /// The first probe of every site.
    pub fn first_of_each(&self) -> impl Iterator<Item = (ProbeId, &Probe)> {
        let mut last = None;
        self.with_ids().filter(move |(_, probe)| last.replace(probe.site) != Some(probe.site))
    }

    /// The probes of a patch of the mutant view: none if its values cannot be observed here.
    pub fn of_patch(&self, patch: &Patch) -> Vec<ProbeId> {
        let own = self.of_site(patch.site).find(|(_, probe)| probe.spot == patch.spot);
        let Some((_, own)) = own else { return Vec::new() };
        self.with_ids().filter(|(_, probe)| probe.text == own.text).map(|(id, _)| id).collect()
    }

    fn with_ids(&self) -> impl Iterator<Item = (ProbeId, &Probe)> {
        (0..).map(ProbeId).zip(&self.probes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(probes: &[(u32, u16, u32)]) -> SiteTable {
        let probe = |(site, spot, text): &(u32, u16, u32)| Probe {
            site: SiteId(*site),
            spot: *spot,
            role: ProbeRole::Value,
            value_type: ValueType::Bool,
            operands: Vec::new(),
            text: *text,
        };
        SiteTable { probes: probes.iter().map(probe).collect(), ..SiteTable::default() }
    }

    #[test]
    fn a_site_has_the_probes_of_its_spots() {
        let table = table(&[(1, 0, 0), (3, 0, 1), (3, 2, 2), (4, 0, 3)]);
        let of = |site| table.of_site(SiteId(site)).map(|(id, _)| id.0).collect::<Vec<_>>();
        assert_eq!((of(1), of(2), of(3), of(9)), (vec![0], vec![], vec![1, 2], vec![]));
        assert_eq!(table.first_of_each().map(|(id, _)| id.0).collect::<Vec<_>>(), [0, 1, 3]);
    }

    #[test]
    fn a_patch_has_the_probes_of_all_that_come_from_its_text() {
        let table = table(&[(1, 0, 0), (3, 0, 1), (3, 1, 2), (7, 1, 2)]);
        let patch = |site, spot| Patch {
            site: SiteId(site),
            spot,
            function: 0,
            value_type: ValueType::Bool,
            is_observable: true,
            mutants: 0..1,
            first_selector: 1,
        };
        assert_eq!(table.of_patch(&patch(3, 1)), [ProbeId(2), ProbeId(3)]);
        assert_eq!(table.of_patch(&patch(1, 1)), []);
    }
}
