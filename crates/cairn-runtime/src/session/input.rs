//! Readies the process for one input.

use super::{Entry, Part, vault::Vault, watch};
use crate::{channel, environment, system};
use cairn_abi::session::{
    FileSlot, InputSlot, RunnerMode, Span,
    descriptors::{SCRATCH, STDIN_CONTENT},
};
use core::{ffi::c_char, ptr, sync::atomic::Ordering};

/// What the program is called with.
pub type Arguments = [usize; 3];

/// Lays everything out that the input gives; `None` when the input does not fit together.
pub fn ready(vault: &mut Vault, slot: &InputSlot) -> Option<Arguments> {
    let inputs = vault.regions.inputs;
    if vault.mode == RunnerMode::Snapshot {
        fill_stdin(part(inputs, slot.stdin)?)?;
        write_files(inputs, slot.files)?;
    }
    channel::deliver(bytes(part(inputs, slot.delivery)?), bytes(part(inputs, slot.buffer)?));
    match vault.entry {
        Entry::Harness(_) => {
            if vault.mode == RunnerMode::Snapshot {
                // For its environment.
                lay_out_strings(vault, ptr::null_mut(), slot)?;
            }
            let given = part(inputs, slot.buffer)?;
            // SAFETY: the buffer is as large as all inputs together; the program does not run.
            let start = unsafe {
                let start = vault.buffer.start.add(vault.buffer.size - given.size);
                ptr::copy_nonoverlapping(given.start, start, given.size);
                start
            };
            Some([start.expose_provenance(), given.size, 0])
        }
        Entry::Main { name, .. } => lay_out_strings(vault, name, slot),
    }
}

/// A part of the inputs, if it lies within them.
fn part(inputs: Part, span: Span) -> Option<Part> {
    let (offset, length) = (span.offset as usize, span.length as usize);
    if offset.checked_add(length)? > inputs.size {
        return None;
    }
    // SAFETY: within the region.
    Some(Part { start: unsafe { inputs.start.add(offset) }, size: length })
}

fn bytes(part: Part) -> &'static [u8] {
    // SAFETY: the host writes inputs only when it has the turn.
    unsafe { part.bytes() }
}

fn fill_stdin(content: Part) -> Option<()> {
    // The program may have written to it by another way.
    if content.size == 0 && system::regular_file_size(STDIN_CONTENT) == Some(0) {
        return Some(());
    }
    let file = STDIN_CONTENT as usize;
    // SAFETY: the kernel reads the content.
    unsafe {
        let mut written = 0;
        while written < content.size {
            let place = content.start.add(written).expose_provenance();
            let more = system::call(libc::SYS_pwrite64, [file, place, content.size - written, written, 0, 0]);
            written += usize::try_from(more).ok().filter(|more| *more > 0)?;
        }
        // Afterwards, so that pages stay: fresh ones cost more than the write.
        system::call(libc::SYS_ftruncate, [file, content.size, 0, 0, 0, 0]);
    }
    Some(())
}

/// Gives files of the scratch folder new content, and forgets that they changed.
fn write_files(inputs: Part, span: Span) -> Option<()> {
    let files = part(inputs, span)?;
    if files.size == 0 {
        return Some(());
    }
    for index in 0..files.size / size_of::<FileSlot>() {
        // SAFETY: within the region, which the host laid out at a multiple of 8.
        let slot = unsafe { files.start.cast::<FileSlot>().add(index).read_unaligned() };
        let (path, content) = (part(inputs, slot.path)?, part(inputs, slot.content)?);
        if bytes(path).last() != Some(&0) {
            return None;
        }
        write_file(path, content, slot.times)?;
    }
    watch::drain();
    Some(())
}

fn write_file(path: Part, content: Part, times: [i64; 2]) -> Option<()> {
    let flags = libc::O_WRONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let path = path.start.expose_provenance();
    // SAFETY: the path ends in a zero byte; the kernel reads the content and the times.
    unsafe {
        let file = system::call(libc::SYS_openat, [SCRATCH as usize, path, flags as usize, 0, 0, 0]);
        let file = usize::try_from(file).ok()?;
        let mut written = 0;
        let mut is_whole = true;
        while written < content.size && is_whole {
            let place = content.start.add(written).expose_provenance();
            let more = system::call(libc::SYS_write, [file, place, content.size - written, 0, 0, 0]);
            is_whole = more > 0;
            written += usize::try_from(more).unwrap_or(0);
        }
        system::call(libc::SYS_ftruncate, [file, content.size, 0, 0, 0, 0]);
        let times = [times[0], 0, times[1], 0];
        let place = (&raw const times).expose_provenance();
        system::call(libc::SYS_utimensat, [file, 0, place, 0, 0, 0]);
        system::close(file as i32);
        is_whole.then_some(())
    }
}

/// Pointers first, strings after them, as the kernel lays them out on the stack of a new process.
fn lay_out_strings(vault: &mut Vault, name: *mut c_char, slot: &InputSlot) -> Option<Arguments> {
    let strings = part(vault.regions.inputs, slot.strings)?;
    let (n_arguments, n_variables) = (slot.n_arguments as usize, slot.n_variables as usize);
    let n_pointers = n_arguments.checked_add(n_variables)?.checked_add(3)?;
    let area = vault.arguments;
    let pointers_size = n_pointers.checked_mul(size_of::<usize>())?;
    let used = pointers_size.checked_add(strings.size)?;
    if used > area.size || bytes(strings).last().is_some_and(|last| *last != 0) {
        return None;
    }
    let first_string = area.start.addr() + pointers_size;
    // SAFETY: all of it lies within the area, which no run uses now.
    unsafe {
        ptr::copy_nonoverlapping(strings.start, area.start.add(pointers_size), strings.size);
        if vault.arguments_used > used {
            area.start.add(used).write_bytes(0, vault.arguments_used - used);
        }
        let pointers = area.start.cast::<usize>();
        pointers.write(name.expose_provenance());
        let mut next = 1;
        let mut at = 0;
        for string in bytes(strings).split_inclusive(|byte| *byte == 0) {
            if next == n_arguments + 1 {
                pointers.add(next).write(0);
                next += 1;
            }
            if next + 1 >= n_pointers {
                return None;
            }
            pointers.add(next).write(first_string + at);
            next += 1;
            at += string.len();
        }
        if next == n_arguments + 1 {
            pointers.add(next).write(0);
            next += 1;
        }
        pointers.add(next).write(0);
        if next + 1 != n_pointers {
            return None;
        }
        vault.arguments_used = used;
        let variables = pointers.add(n_arguments + 2);
        environment::set(variables.cast());
        Some([n_arguments + 1, pointers.expose_provenance(), variables.expose_provenance()])
    }
}

/// Resets what the run writes into the channel. Counters stay readable after a run until the next one starts.
pub fn clear(vault: &Vault, fuel: u64) {
    let regions = &vault.regions;
    // SAFETY: counters and fuel belong to the view, whose code does not run.
    unsafe {
        let counters = regions.counters_at_start;
        regions.counters.start.copy_from_nonoverlapping(counters.start, counters.size);
        crate::counters::set_path_hash(regions.path_hash_at_start);
        regions.fuel.write(fuel);
    }
    let header = regions.header;
    header.stage.store(cairn_abi::channel::Stage::MainEntered as u32, Ordering::Relaxed);
    header.ended_by.store(0, Ordering::Relaxed);
    header.harness_return.store(0, Ordering::Relaxed);
    header.output_total.store(0, Ordering::Relaxed);
}
