//! What a run of a mutant view does beside running the program.

use crate::{session::Activation, symbolic::Asked};
use cairn_abi::mutants::{BODIES_START, Body, Guidepost, MutantControl};
use std::mem::offset_of;

/// What is active in a run, and what is told of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arming {
    pub(crate) activation: Activation,
    pub(crate) watching: Watching,
    /// What a symbolic run is asked.
    pub(crate) asked: Asked,
}

/// What a run tells of the patch that is selected in it; by default nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watching {
    /// Bits of [`cairn_abi::mutants::observes`].
    pub(crate) observes: u32,
    /// The armed guidepost, if `observes` asks for one.
    pub(crate) guidepost: Option<Box<Guidepost>>,
}

impl Arming {
    /// Every function evaluates its mutants beside the original.
    pub(crate) const EXAMINES: Self = Self {
        activation: Activation { selector: 0, examines: true },
        watching: Watching { observes: 0, guidepost: None },
        asked: Asked::NOTHING,
    };

    /// Writes all of it into control pages that are all zero. The runtime adds the switch of the active mutant.
    pub(crate) fn write(&self, control: &mut [u8]) {
        if control.is_empty() {
            return;
        }
        self.watching.write(control);
        if self.activation.selector != 0 {
            put(control, offset_of!(MutantControl, active), self.activation.selector);
        }
        if self.activation.examines {
            control[BODIES_START..].fill(Body::Examined as u8);
        }
    }
}

impl Watching {
    /// Writes what a run is to tell into control pages.
    pub(crate) fn write(&self, control: &mut [u8]) {
        if control.is_empty() {
            return;
        }
        put(control, offset_of!(MutantControl, observes), self.observes);
        if let Some(guidepost) = &self.guidepost {
            let at = offset_of!(MutantControl, guidepost);
            // SAFETY: a guidepost is numbers without gaps between them.
            let bytes = unsafe {
                std::slice::from_raw_parts((&raw const **guidepost).cast::<u8>(), size_of::<Guidepost>())
            };
            control[at..at + bytes.len()].copy_from_slice(bytes);
        }
    }
}

fn put(control: &mut [u8], at: usize, number: u32) {
    control[at..at + 4].copy_from_slice(&number.to_ne_bytes());
}
