//! What symbolic runs are asked about expressions of the program.

use crate::{error::ExecutorError, mutants::arm};
use cairn_abi::{
    mutants as abi,
    symbolic::sites::{SWITCHES_START, SiteControl, switches},
};
use cairn_model::{Guidepost, ProbeId, SiteTable, guidepost::Predicate, mutants::Patch};
use std::mem::offset_of;

/// What a run is asked; by default nothing. Only detailed views can answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Probes whose values become records.
    pub noted: Vec<ProbeId>,
    /// A guidepost; a run that breaks it ends there.
    pub guidepost: Option<ArmedGuidepost>,
}

/// A guidepost where a detailed view can look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmedGuidepost {
    /// How records call it.
    pub number: u32,
    /// Its probes, which are one place: their evaluations are counted together.
    pub probes: Vec<ProbeId>,
    /// What is asked of values.
    pub condition: Box<abi::Guidepost>,
}

impl ArmedGuidepost {
    /// Arms a guidepost of `patch`, under a number of the caller's choice.
    pub fn new(
        number: u32,
        guidepost: &Guidepost,
        patch: &Patch,
        sites: &SiteTable,
    ) -> Result<Self, ExecutorError> {
        if let Predicate::DiffersFromMutant(_) = guidepost.predicate {
            let reason = "symbolic views have no mutants to compare with".to_owned();
            return Err(ExecutorError::Guidepost { reason });
        }
        let probes = sites.of_patch(patch);
        if probes.is_empty() {
            return Err(ExecutorError::NotObservable { patch: guidepost.patch.0 });
        }
        Ok(Self { number, probes, condition: Box::new(arm(guidepost, patch.value_type)?) })
    }
}

impl Asked {
    /// Nothing.
    pub const NOTHING: Self = Self { noted: Vec::new(), guidepost: None };

    /// All probes that are asked.
    pub(crate) fn probes(&self) -> impl Iterator<Item = ProbeId> {
        let guided = self.guidepost.iter().flat_map(|armed| &armed.probes);
        guided.chain(&self.noted).copied()
    }

    /// Writes it into the sites region, which is all zero. Probes that the view does not have are left out.
    pub(crate) fn write(&self, region: &mut [u8]) {
        if region.is_empty() {
            return;
        }
        if let Some(armed) = &self.guidepost {
            let at = offset_of!(SiteControl, number);
            region[at..at + 4].copy_from_slice(&armed.number.to_ne_bytes());
            let at = offset_of!(SiteControl, guidepost);
            let bytes = abi_bytes(&armed.condition);
            region[at..at + bytes.len()].copy_from_slice(bytes);
        }
        let guided = self.guidepost.iter().flat_map(|armed| &armed.probes);
        let noted = self.noted.iter().map(|probe| (probe, switches::NOTE));
        for (probe, bit) in guided.map(|probe| (probe, switches::GUIDEPOST)).chain(noted) {
            if let Some(switch) = region.get_mut(SWITCHES_START + probe.index()) {
                *switch |= bit;
            }
        }
    }
}

fn abi_bytes(guidepost: &abi::Guidepost) -> &[u8] {
    // SAFETY: a guidepost is numbers without gaps between them.
    unsafe { std::slice::from_raw_parts((&raw const *guidepost).cast::<u8>(), size_of::<abi::Guidepost>()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_abi::symbolic::sites::sites_size;

    #[test]
    fn switches_say_what_is_asked_of_each_probe() {
        let condition = abi::Guidepost { n_values: 7, ..abi::Guidepost::NONE };
        let armed = ArmedGuidepost { number: 9, probes: vec![ProbeId(1)], condition: Box::new(condition) };
        let noted = vec![ProbeId(0), ProbeId(1), ProbeId(1 << 20)];
        let mut region = vec![0; sites_size(3)];
        Asked { noted, guidepost: Some(armed) }.write(&mut region);
        assert_eq!(region[SWITCHES_START..][..3], [switches::NOTE, switches::NOTE | switches::GUIDEPOST, 0]);
        assert_eq!(region[..4], 9u32.to_ne_bytes());
        let at = offset_of!(SiteControl, guidepost) + offset_of!(abi::Guidepost, n_values);
        assert_eq!(region[at..at + 4], 7u32.to_ne_bytes());
    }
}
