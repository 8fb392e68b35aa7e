//! The values of expressions that a run is asked about: the target's side of [`cairn_abi::symbolic::sites`].

use super::{build::constant, nodes::is_on, path};
use crate::{
    channel::{self, Channel},
    counters::view,
    system,
};
use cairn_abi::{
    channel::{CHANNEL_FD, EndedBy, PAGE, Refusal},
    record::{GuidepostState, Record},
    symbolic::sites::{SWITCHES_START, SiteControl, site_and_spot, sites_size, switches},
};
use core::ptr;

/// How often things were evaluated in this run.
struct Counts {
    /// One a probe; null where nothing is asked.
    probes: *mut u32,
    guidepost: u32,
}

static mut COUNTS: Counts = Counts { probes: ptr::null_mut(), guidepost: 0 };

fn counts() -> &'static mut Counts {
    let counts = &raw mut COUNTS;
    // SAFETY: a symbolic view has one thread, and nothing here calls back.
    unsafe { &mut *counts }
}

/// Makes what the host asks what the view is asked. Without it every switch of the view stays 0.
///
/// To be called before any code of the program: constructors belong to the run.
pub fn begin(channel: Channel) {
    let Some((own, size)) = channel.region(channel.header().sites) else { return };
    let view = view();
    let n_probes = view.n_probes as usize;
    let is_fitting = n_probes > 0 && size == sites_size(n_probes) && view.sites.addr().is_multiple_of(PAGE);
    let memory = if is_fitting { system::map_private(n_probes * size_of::<u32>()) } else { None };
    let Some(probes) = memory else { channel.refuse(Refusal::Sites) };
    *counts() = Counts { probes: probes.cast(), guidepost: 0 };
    // SAFETY: these pages hold what the view is asked and nothing else; the channel stays mapped.
    let is_laid = unsafe {
        system::map_shared_over(view.sites, CHANNEL_FD, channel.header().sites.offset, size)
            && system::make_read_only(view.sites, size)
            && system::make_read_only(own, size)
    };
    if !is_laid {
        channel.refuse(Refusal::Sites);
    }
}

/// An expression was evaluated whose switch may be on: `place` names it, see [`cairn_abi::symbolic::sites::place`]. Ends the run
/// if its value breaks the guidepost.
///
/// `widths` are those of the operands, 8 bits each; 0 stands for one that is not told.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_site(
    probe: u32,
    place: u64,
    label: u32,
    value: u64,
    first: u32,
    second: u32,
    first_value: u64,
    second_value: u64,
    widths: u32,
) {
    let counts = counts();
    if counts.probes.is_null() || probe >= view().n_probes {
        return;
    }
    // SAFETY: every probe of the view has a switch and a count, and the host does not write while the program runs.
    let (switch, count) = unsafe {
        (*view().sites.add(SWITCHES_START + probe as usize), &mut *counts.probes.add(probe as usize))
    };
    if switch == 0 {
        return;
    }
    let evaluation = *count;
    *count = count.saturating_add(1);
    if switch & switches::NOTE != 0 {
        let (site, spot) = site_and_spot(place);
        let mut operands = [first, second];
        if label | first | second != 0 && is_on() {
            // Of what depends on the input, the other parts are to be known too.
            let values = [(first_value, widths & 0xff), (second_value, widths >> 8 & 0xff)];
            for (operand, (value, width)) in operands.iter_mut().zip(values) {
                if *operand == 0 && width > 0 {
                    *operand = constant(width, value);
                }
            }
        }
        path::note(Record::SiteValue { site, spot, evaluation, value, label, operands });
    }
    if switch & switches::GUIDEPOST != 0 {
        let evaluation = counts.guidepost;
        counts.guidepost = evaluation.saturating_add(1);
        compare(evaluation, value, label);
    }
}

/// Compares a value with the armed guidepost.
fn compare(evaluation: u32, value: u64, label: u32) {
    // SAFETY: the pages start so, and nobody writes them while the program runs.
    let control = unsafe { &*view().sites.cast::<SiteControl>() };
    let state = match control.guidepost.looks_at(evaluation.into()) {
        false => GuidepostState::Reached,
        true if control.guidepost.admits(value, value, value) => GuidepostState::Satisfied,
        true => GuidepostState::Broken,
    };
    path::note(Record::Guidepost { guidepost: control.number, state, evaluation, value, label });
    if state == GuidepostState::Broken {
        channel::end(EndedBy::Guidepost, &[b"error: a guidepost is broken\n"]);
    }
}
