//! The control pages, written.

use cairn_abi::{
    mutants::{
        BODIES_START, Body, MutantControl, MutantViewInfo, ValuesHead, control_size, function_of,
        infections_size,
    },
    session::InputSlot,
};
use core::ptr;

/// The way to the control pages, and what belongs to them.
#[derive(Clone, Copy, Debug)]
pub struct Switches {
    control: *mut u8,
    info: &'static MutantViewInfo,
    values: Option<(*mut u8, usize)>,
}

impl Switches {
    /// # Safety
    /// `control` is writable for as many bytes as the control pages of the view have.
    pub unsafe fn new(
        info: &'static MutantViewInfo,
        control: *mut u8,
        values: Option<(*mut u8, usize)>,
    ) -> Self {
        Self { control, info, values }
    }

    /// Readies the view for one input of a session.
    pub fn begin(&self, slot: &InputSlot) {
        if slot.examines != 0 {
            self.examine();
            // SAFETY: the infection pages are the view's, as long as they should be, and none of its code runs.
            unsafe { self.info.infections.write_bytes(0, self.infections_size()) };
        }
        self.activate(slot.selector);
        // SAFETY: as in `activate`; the host writes only when it has the turn.
        let observes = unsafe { (*self.control.cast::<MutantControl>()).observes };
        if observes != 0
            && let Some((values, size)) = self.values
            && size >= size_of::<ValuesHead>()
        {
            // SAFETY: there is room for the head, which is all zero at first.
            unsafe { values.write_bytes(0, size_of::<ValuesHead>()) };
        }
    }

    /// Makes the view the original again.
    pub fn end(&self, slot: &InputSlot) {
        if slot.examines != 0 {
            self.set_all(Body::Original);
        }
        self.set(0, slot.selector, Body::Original);
    }

    /// Makes the view the original, whatever it was.
    pub fn rest(&self) {
        self.set(0, 0, Body::Original);
        self.set_all(Body::Original);
    }

    /// Activates what has this selector; 0 for nothing.
    pub fn activate(&self, selector: u32) {
        self.set(selector, selector, Body::Mutated);
    }

    /// Makes every function evaluate its mutants beside the original.
    pub fn examine(&self) {
        self.set_all(Body::Examined);
    }

    /// Whether a mapping is the writable one of the control pages, or the infection pages.
    pub fn hold(&self, start: usize, end: usize) -> bool {
        let meets = |place: *mut u8, size: usize| place.addr() < end && start < place.addr() + size;
        meets(self.control, control_size(self.info.n_functions as usize))
            || meets(self.info.infections, self.infections_size())
    }

    fn infections_size(&self) -> usize {
        infections_size(self.info.n_patches as usize, self.info.n_selectors as usize)
    }

    /// Sets the active selector, and the body of the function that the selector `of` belongs to.
    fn set(&self, active: u32, of: u32, body: Body) {
        // SAFETY: the control pages start so and are writable here.
        unsafe { ptr::write_volatile(&raw mut (*self.control.cast::<MutantControl>()).active, active) };
        if of == 0 {
            return;
        }
        // SAFETY: the view has one entry a function and one more.
        let first = unsafe {
            core::slice::from_raw_parts(self.info.first_selectors, self.info.n_functions as usize + 1)
        };
        if let Some(function) = function_of(first, of) {
            // SAFETY: there is a switch for every function.
            unsafe { self.control.add(BODIES_START + function).write_volatile(body as u8) };
        }
    }

    fn set_all(&self, body: Body) {
        // SAFETY: there is a switch for every function.
        unsafe { self.control.add(BODIES_START).write_bytes(body as u8, self.info.n_functions as usize) };
    }
}
