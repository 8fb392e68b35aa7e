//! Has the harness change a buffer itself.
//!
//! A change is a run like any other: within limits, restored afterwards, and a crash is this change's alone. Only what is
//! called is another function, which comes back by returning.

use super::{Entry, Part, input, report::Run, runner, switch::Left, vault::Vault};
use crate::{
    harness::{CustomCrossOver, CustomMutator, Harness},
    mutate,
};
use cairn_abi::{
    changes::{ChangeSlot, TOO_LARGE, changers},
    session::InputSlot,
};
use core::ptr;

/// What the program can change itself, as the host is told.
pub fn changers(entry: Entry) -> u32 {
    let Entry::Harness(harness) = entry else { return 0 };
    let bit = |is_there: bool, bit: u32| if is_there { bit } else { 0 };
    bit(harness.mutator.is_some(), changers::MUTATOR)
        | bit(harness.cross_over.is_some(), changers::CROSS_OVER)
}

/// Carries out the change at `index` of a batch; `None` when it does not fit together.
pub fn carry_out(vault: &mut Vault, index: usize, is_last: bool) -> Option<Run> {
    // SAFETY: `index` is below the capacity, and the host does not write now.
    let slot = unsafe { vault.regions.inputs.start.cast::<ChangeSlot>().add(index).read() };
    // Apart from its bytes a mutator finds what the harness finds.
    input::ready(vault, &InputSlot::default())?;
    let call = ready(vault, &slot)?;
    let mut run = runner::run(vault, is_last, |vault| {
        let make = make as unsafe extern "C" fn(*const Call, usize) -> i32;
        let call = (&raw const call).expose_provenance();
        // SAFETY: the call lies on the runner's stack until the program has left.
        unsafe { vault.switch.call((make as *const ()).expose_provenance(), [call, 0]) }
    });
    if let Left::Returned(size) = run.left
        && let Ok(size) = usize::try_from(size)
        && size <= call.max_size
    {
        run.made = Part { start: call.made, size };
    }
    Some(run)
}

/// A call of the harness's own function.
struct Call {
    changer: Changer,
    /// Where what is made lies afterwards, and for the mutator what it is made of: room for `max_size` bytes.
    made: *mut u8,
    /// Of what is changed.
    size: usize,
    max_size: usize,
    seed: u32,
}

enum Changer {
    Mutator { mutator: CustomMutator, n_times: u32 },
    CrossOver { cross_over: CustomCrossOver, data: Part, other: Part },
}

/// Lays out the bytes so that what follows the last one that may be made cannot be touched.
fn ready(vault: &mut Vault, slot: &ChangeSlot) -> Option<Call> {
    let Entry::Harness(Harness { mutator, cross_over, .. }) = vault.entry else { return None };
    let inputs = vault.regions.inputs;
    let data = input::part(inputs, slot.data)?;
    let max_size = slot.max_size as usize;
    let unused = vault.buffer.size.checked_sub(max_size)?;
    vault.buffer_used = vault.buffer_used.max(max_size);
    // SAFETY: within the buffer.
    let made = unsafe { vault.buffer.start.add(unused) };
    let changer = match slot.changer {
        changers::MUTATOR if data.size <= max_size => {
            // SAFETY: there is room; the program does not run. What lay behind the data before is nobody's business.
            unsafe {
                ptr::copy_nonoverlapping(data.start, made, data.size);
                made.add(data.size).write_bytes(0, max_size - data.size);
            }
            Changer::Mutator { mutator: mutator?, n_times: slot.n_times }
        }
        changers::CROSS_OVER => {
            // SAFETY: as above.
            unsafe { made.write_bytes(0, max_size) };
            let other = input::part(inputs, slot.other)?;
            Changer::CrossOver { cross_over: cross_over?, data, other }
        }
        _ => return None,
    };
    mutate::begin(slot.seed, input::bytes(input::part(inputs, slot.words)?));
    Some(Call { changer, made, size: data.size, max_size, seed: slot.seed })
}

/// Calls the harness's function and returns how many bytes it made, or [`TOO_LARGE`]. Runs on the program's stack.
///
/// # Safety
/// The call was readied.
unsafe extern "C" fn make(call: *const Call, _: usize) -> i32 {
    // SAFETY: the caller vouches.
    let Call { changer, made, size, max_size, seed } = unsafe { &*call };
    let mut size = *size;
    match changer {
        Changer::Mutator { mutator, n_times } => {
            for round in 0..*n_times {
                // SAFETY: this is how libFuzzer calls it.
                size = unsafe { mutator(*made, size, *max_size, seed.wrapping_add(round)) };
                if size == 0 || size > *max_size {
                    break;
                }
            }
        }
        Changer::CrossOver { cross_over, data, other } => {
            // SAFETY: likewise.
            size = unsafe {
                cross_over(data.start, data.size, other.start, other.size, *made, *max_size, *seed)
            };
        }
    }
    if size > *max_size { TOO_LARGE } else { i32::try_from(size).unwrap_or(TOO_LARGE) }
}
