//! Which mutant is active: the target's side of [`cairn_abi::mutants`].
//!
//! With a host the channel's control pages are laid over the view's, read-only, because a mutant is a program gone
//! wrong and must not choose another. The runtime writes through a second mapping with guards around it ([`Switches`]):
//! once when the process serves one run, and run by run in a session. Without a host the environment decides
//! ([`alone`]), so that any test runner can run a mutant. [`value`] is where mutated bodies report what they compute.

mod alone;
mod reach;
mod switches;
mod value;

pub use self::{alone::start as start_alone, switches::Switches};

use crate::{
    channel::{Channel, find},
    counters::view,
    system,
};
use cairn_abi::{
    channel::{CHANNEL_FD, PAGE, Refusal},
    mutants::{MutantControl, MutantName, MutantViewInfo, control_size, infections_size},
};
use core::{
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// Where the runtime writes the control pages; null where the host asks for no mutants.
static WRITABLE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// What the view says of its mutants; `None` in other views.
fn info() -> Option<&'static MutantViewInfo> {
    // SAFETY: the view points to its own introduction, or nowhere.
    unsafe { view().mutants.as_ref() }
}

/// Mutants by name, sorted.
fn names(info: &MutantViewInfo) -> &'static [MutantName] {
    match info.n_names {
        0 => &[],
        // SAFETY: the view has so many names, and never changes them.
        n_names => unsafe { core::slice::from_raw_parts(info.names, n_names as usize) },
    }
}

/// Makes the host's choice of mutants the view's. Without mutants in the channel the view runs as the original.
///
/// To be called before any code of the program: constructors belong to the run.
pub fn lay(channel: Channel) {
    let header = channel.header();
    let Some((own, size)) = channel.region(header.control) else { return };
    let Some(info) = info() else { channel.refuse(Refusal::Mutants) };
    let infections = infections_size(info.n_patches as usize, info.n_selectors as usize);
    let is_fitting = size == control_size(info.n_functions as usize)
        && channel.region(header.infections).is_some_and(|(_, size)| size == infections)
        && info.control.addr().is_multiple_of(PAGE)
        && info.infections.addr().is_multiple_of(PAGE);
    if !is_fitting {
        channel.refuse(Refusal::Mutants);
    }
    let Some(writable) = map_between_guards(header.control.offset, size) else {
        channel.refuse(Refusal::Mutants)
    };
    WRITABLE.store(writable, Ordering::Relaxed);
    if let Some(switches) = Switches::find() {
        // SAFETY: the control pages start so; the host wrote them before the process started.
        let active = unsafe { (*writable.cast::<MutantControl>()).active };
        switches.activate(active);
    }
    // SAFETY: these pages hold what the view says and nothing else; the channel stays mapped.
    let is_laid = unsafe {
        system::map_shared_over(info.control, CHANNEL_FD, header.control.offset, size)
            && system::make_read_only(info.control, size)
            && system::make_read_only(own, size)
            && system::map_shared_over(info.infections, CHANNEL_FD, header.infections.offset, infections)
    };
    if !is_laid {
        channel.refuse(Refusal::Mutants);
    }
}

/// A mapping no pointer gets to by running on from a neighbour.
fn map_between_guards(offset: u64, size: usize) -> Option<*mut u8> {
    let extent = system::reserve(size + 2 * PAGE)?;
    // SAFETY: within the reservation, which is ours.
    unsafe {
        let place = extent.add(PAGE);
        system::map_shared_over(place, CHANNEL_FD, offset, size).then_some(place)
    }
}

impl Switches {
    /// Those of this process, if it serves a host that wants mutants.
    pub fn find() -> Option<Self> {
        let control = WRITABLE.load(Ordering::Relaxed);
        if control.is_null() {
            return None;
        }
        let values = find().and_then(|channel| channel.region(channel.header().values));
        // SAFETY: `lay` mapped the control pages of this view there, sized for its functions.
        info().map(|info| unsafe { Self::new(info, control, values) })
    }
}
