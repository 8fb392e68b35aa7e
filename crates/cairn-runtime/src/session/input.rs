//! Readies the process for one input.

use super::{Entry, Part, vault::Vault, watch};
use crate::{channel, environment, symbolic::sources, system};
use cairn_abi::session::{
    FileSlot, InputSlot, RunnerMode, Span,
    descriptors::{FILE, SCRATCH, STDIN_CONTENT},
};
use core::{ffi::c_int, ptr, sync::atomic::Ordering};

/// What the program is called with.
pub type Arguments = [usize; 3];

/// Lays everything out that the input gives; `None` when the input does not fit together.
pub fn ready(vault: &mut Vault, slot: &InputSlot) -> Option<Arguments> {
    let inputs = vault.regions.inputs;
    if vault.mode == RunnerMode::Snapshot {
        fill_stdin(part(inputs, slot.stdin)?, vault.stdin_size.take())?;
        write_files(vault, slot.files)?;
    }
    channel::deliver(bytes(part(inputs, slot.delivery)?), bytes(part(inputs, slot.buffer)?));
    if vault.regions.symbolic.is_some() {
        sources::begin(bytes(part(inputs, slot.sources)?));
    }
    match vault.entry {
        Entry::Harness(harness) => {
            if vault.mode == RunnerMode::Snapshot {
                // For its environment.
                lay_out_strings(vault, ptr::null(), slot)?;
            }
            let given = part(inputs, slot.buffer)?;
            // SAFETY: the buffer is as large as all inputs together; the program does not run.
            let start = unsafe {
                let start = vault.buffer.start.add(vault.buffer.size - given.size);
                // Before its buffer no harness finds what an earlier one was given.
                if vault.buffer_used > given.size {
                    let earlier = vault.buffer_used - given.size;
                    start.sub(earlier).write_bytes(0, earlier);
                }
                vault.buffer_used = given.size;
                ptr::copy_nonoverlapping(given.start, start, given.size);
                start
            };
            if vault.regions.symbolic.is_some() {
                let harness = (harness.test_one_input as *const ()).expose_provenance();
                // SAFETY: the bytes were just written.
                unsafe { sources::label_buffer(start, given.size, harness) };
            }
            Some([start.expose_provenance(), given.size, 0])
        }
        Entry::Main { start, main } => {
            let arguments = lay_out_strings(vault, start, slot)?;
            if vault.regions.symbolic.is_some() {
                let [_, argv, envp] = arguments.map(ptr::with_exposed_provenance_mut);
                let main = (main as *const ()).expose_provenance();
                // SAFETY: the lists were just written.
                unsafe { sources::label_strings(arguments[0] as c_int, argv, envp, main) };
            }
            Some(arguments)
        }
    }
}

/// A part of the inputs, if it lies within them.
pub(super) fn part(inputs: Part, span: Span) -> Option<Part> {
    let (offset, length) = (span.offset as usize, span.length as usize);
    if offset.checked_add(length)? > inputs.size {
        return None;
    }
    // SAFETY: within the region.
    Some(Part { start: unsafe { inputs.start.add(offset) }, size: length })
}

pub(super) fn bytes(part: Part) -> &'static [u8] {
    // SAFETY: the host writes inputs only when it has the turn.
    unsafe { part.bytes() }
}

/// `before` is how much was in it after the last run, which may have written to it by another way.
fn fill_stdin(content: Part, before: Option<u64>) -> Option<()> {
    let before = before.or_else(|| system::regular_file_size(STDIN_CONTENT));
    if content.size == 0 && before == Some(0) {
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
        if before.is_none_or(|before| before > content.size as u64) {
            system::call(libc::SYS_ftruncate, [file, content.size, 0, 0, 0, 0]);
        }
    }
    Some(())
}

/// The file written last. It stays open, and as it was written until a run is found to have changed files.
#[derive(Clone, Copy)]
pub struct Written {
    path: Part,
    content: Part,
    times: [i64; 2],
}

/// Gives files of the scratch folder new content, and forgets that they changed.
fn write_files(vault: &mut Vault, span: Span) -> Option<()> {
    let inputs = vault.regions.inputs;
    let files = part(inputs, span)?;
    if files.size == 0 {
        return Some(());
    }
    let mut has_written = false;
    for index in 0..files.size / size_of::<FileSlot>() {
        // SAFETY: within the region, which the host laid out at a multiple of 8.
        let slot = unsafe { files.start.cast::<FileSlot>().add(index).read_unaligned() };
        let wanted = Written {
            path: part(inputs, slot.path)?,
            content: part(inputs, slot.content)?,
            times: slot.times,
        };
        if bytes(wanted.path).last() != Some(&0) {
            return None;
        }
        has_written |= write_file(&mut vault.written, wanted)?;
    }
    if has_written {
        watch::drain();
    }
    Some(())
}

/// Writes a file unless it is the last one that was written, with the same content. Returns whether it was written.
fn write_file(last: &mut Option<Written>, wanted: Written) -> Option<bool> {
    let before = last.take().filter(|last| bytes(last.path) == bytes(wanted.path));
    if before.is_some_and(|last| last.times == wanted.times && are_same(last.content, wanted.content)) {
        *last = before;
        return Some(false);
    }
    if before.is_none() {
        open_to_write(wanted.path)?;
    }
    let (file, content) = (FILE as usize, wanted.content);
    // SAFETY: the kernel reads the content and the times.
    unsafe {
        let mut written = 0;
        while written < content.size {
            let place = content.start.add(written).expose_provenance();
            let more = system::call(libc::SYS_pwrite64, [file, place, content.size - written, written, 0, 0]);
            written += usize::try_from(more).ok().filter(|more| *more > 0)?;
        }
        if before.is_none_or(|before| before.content.size > content.size) {
            system::call(libc::SYS_ftruncate, [file, content.size, 0, 0, 0, 0]);
        }
        let [accessed, modified] = wanted.times;
        let times = [accessed, 0, modified, 0];
        let place = (&raw const times).expose_provenance();
        system::call(libc::SYS_utimensat, [file, 0, place, 0, 0, 0]);
    }
    *last = Some(wanted);
    Some(true)
}

/// Compares eight bytes at a time, which is what makes it cheaper than to write.
fn are_same(one: Part, other: Part) -> bool {
    let (words, rest) = bytes(one).as_chunks::<8>();
    let (other_words, other_rest) = bytes(other).as_chunks::<8>();
    let mut pairs = words.iter().zip(other_words);
    one.size == other.size
        && pairs.all(|(word, other)| u64::from_ne_bytes(*word) == u64::from_ne_bytes(*other))
        && rest.iter().zip(other_rest).all(|(byte, other)| byte == other)
}

/// Opens a file of the scratch folder at its place among our descriptors.
fn open_to_write(path: Part) -> Option<()> {
    let flags = libc::O_WRONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the path ends in a zero byte; the place is ours.
    unsafe {
        let path = path.start.expose_provenance();
        let opened = system::call(libc::SYS_openat, [SCRATCH as usize, path, flags as usize, 0, 0, 0]);
        let opened = usize::try_from(opened).ok()?;
        let moved = system::call(libc::SYS_dup3, [opened, FILE as usize, libc::O_CLOEXEC as usize, 0, 0, 0]);
        system::close(opened as i32);
        (moved >= 0).then_some(())
    }
}

/// What lies before the pointers to arguments: their number, as the kernel writes it, and what start-up code leaves on the
/// stack below. Programs that count down too far find it.
const N_BEFORE: usize = 4;

/// Pointers first, strings after them, as the kernel lays them out on the stack of a new process; `start` are those of this
/// one, or null.
fn lay_out_strings(vault: &mut Vault, start: *const usize, slot: &InputSlot) -> Option<Arguments> {
    let strings = part(vault.regions.inputs, slot.strings)?;
    let (n_arguments, n_variables) = (slot.n_arguments as usize, slot.n_variables as usize);
    let n_pointers = n_arguments.checked_add(n_variables)?.checked_add(3)?;
    let area = vault.arguments;
    let pointers_size = n_pointers.checked_add(N_BEFORE)?.checked_mul(size_of::<usize>())?;
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
        let pointers = area.start.cast::<usize>().add(N_BEFORE);
        lay_out_before(pointers, start);
        pointers.sub(1).write(n_arguments + 1);
        pointers.write(if start.is_null() { 0 } else { start.read() });
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

/// Copies what lies before the pointers to arguments of this process. What points there points to the copy then.
///
/// # Safety
/// There is room before `pointers`; `start` are what the process was started with, on its stack, or null.
unsafe fn lay_out_before(pointers: *mut usize, start: *const usize) {
    for number in 1..=N_BEFORE {
        // SAFETY: promised by the caller; below its arguments a stack goes on.
        unsafe {
            let word = if start.is_null() { 0 } else { start.sub(number).read() };
            let is_near = start.addr().wrapping_sub(word) <= N_BEFORE * size_of::<usize>();
            let moved = word.wrapping_sub(start.addr()).wrapping_add(pointers.addr());
            pointers.sub(number).write(if is_near && !start.is_null() { moved } else { word });
        }
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
