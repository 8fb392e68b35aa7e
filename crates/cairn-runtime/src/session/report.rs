//! Writes what a run left.

use super::{Part, switch::Left, vault::Vault};
use crate::system;
use cairn_abi::{
    channel::EndedBy,
    session::{
        BatchKind, ResultSlot, RunEnd, RunnerMode, Span,
        descriptors::{STDERR, STDOUT},
        flags, n_new, wants,
    },
};
use core::sync::atomic::Ordering;

/// A batch as the host described it.
pub struct Batch {
    pub kind: BatchKind,
    pub n_inputs: usize,
    pub wants: u32,
    pub first_run: u64,
    pub fuel: u64,
    /// Bytes of the captured region in use.
    pub captured: usize,
}

/// Facts the caller knows about the run.
pub struct Run {
    pub left: Left,
    /// Bits of [`flags`].
    pub flags: u32,
    /// Bytes in the files behind standard output and standard error.
    pub written: [u64; 2],
    /// See [`ResultSlot::n_looks_at_itself`].
    pub n_looks_at_itself: u64,
    /// What the harness made of a buffer it was to change.
    pub made: Part,
}

impl Run {
    /// A run that has written and made nothing and not looked at itself.
    pub fn new(left: Left, flags: u32) -> Self {
        Self { left, flags, written: [0; 2], n_looks_at_itself: 0, made: Part::NONE }
    }
}

/// Fills the slot of input `index`. Returns whether the batch ends here.
pub fn write(vault: &Vault, batch: &mut Batch, index: usize, run: &Run) -> bool {
    let regions = &vault.regions;
    let header = regions.header;
    // SAFETY: the program does not run; counters are as it left them.
    let (counters, baseline, left_fuel) =
        unsafe { (regions.counters.bytes(), regions.baseline.bytes(), regions.fuel.read()) };
    let ended_by = header.ended_by.load(Ordering::Relaxed);
    let stage = header.stage.load(Ordering::Relaxed);
    let (end, value) = match run.left {
        Left::Returned(value) => (RunEnd::Returned, value),
        // A harness that ran from a snapshot returned first, and then the process ended as it does after that.
        Left::Exited(0) if stage == cairn_abi::channel::Stage::HarnessReturned as u32 => {
            (RunEnd::Returned, header.harness_return.load(Ordering::Relaxed))
        }
        Left::Exited(value) => (RunEnd::Exited, value),
        Left::Runtime => (RunEnd::Runtime, cairn_abi::channel::RUNTIME_EXIT_CODE),
        Left::Call(number) => (RunEnd::NeedsFork, number),
        Left::Signalled(signal) => (RunEnd::Signalled, signal),
        Left::Waiting => (RunEnd::Waiting, 0),
    };
    let end = if run.flags & RUINED != 0 { RunEnd::Ruined } else { end };
    let mut slot = ResultSlot {
        run: batch.first_run + index as u64,
        end: end as u32,
        value,
        flags: run.flags & !RUINED,
        n_new: n_new(counters, baseline),
        stage,
        ended_by: if end == RunEnd::Runtime { ended_by } else { EndedBy::Program as u32 },
        fuel_used: batch.fuel.wrapping_sub(left_fuel),
        path_hash: crate::counters::path_hash(),
        n_looks_at_itself: run.n_looks_at_itself,
        harness_return: header.harness_return.load(Ordering::Relaxed),
        ..ResultSlot::default()
    };
    if matches!(run.left, Left::Returned(_)) {
        slot.stage = cairn_abi::channel::Stage::HarnessReturned as u32;
    }
    if slot.n_new > 0 {
        slot.flags |= flags::NEW;
    }
    let wants_counters =
        batch.wants & wants::COUNTERS != 0 || batch.wants & wants::COUNTERS_IF_NEW != 0 && slot.n_new > 0;
    let mut keeper = Keeper { room: regions.captured, used: batch.captured, is_full: false };
    if wants_counters {
        slot.counters = keeper.keep_bytes(counters);
    }
    if vault.mode == RunnerMode::Snapshot {
        let wants_output = batch.wants & wants::OUTPUT != 0;
        let [stdout, stderr] = run.written;
        slot.totals = [stdout, stderr, 0];
        for (descriptor, size, span) in
            [(STDOUT, stdout, &mut slot.stdout), (STDERR, stderr, &mut slot.stderr)]
        {
            if size > 0 {
                if wants_output {
                    *span = keeper.keep_file(descriptor, size.min(regions.output.size as u64) as usize);
                }
                // SAFETY: the stream belongs to the run that is over.
                unsafe { system::call(libc::SYS_ftruncate, [descriptor as usize, 0, 0, 0, 0, 0]) };
            }
        }
    }
    let output_total = header.output_total.load(Ordering::Relaxed);
    slot.totals[2] = output_total;
    if batch.wants & wants::OUTPUT != 0 && output_total > 0 {
        let length = output_total.min(regions.output.size as u64) as usize;
        // SAFETY: the program does not run.
        slot.output = keeper.keep_bytes(unsafe { regions.output.bytes() }.get(..length).unwrap_or(&[]));
    }
    if run.made.size > 0 {
        // SAFETY: the program does not run.
        slot.output = keeper.keep_bytes(unsafe { run.made.bytes() });
    }
    if keeper.is_full {
        slot.flags |= flags::NOT_KEPT | flags::LAST;
    }
    batch.captured = keeper.used;
    // SAFETY: the runner wrote the captured region and nobody else writes it now.
    slot.checksum = slot.checksum_of(unsafe { regions.captured.bytes() });
    // SAFETY: `index` is below the capacity.
    unsafe { regions.results.start.cast::<ResultSlot>().add(index).write(slot) };
    slot.flags & (flags::LAST | flags::LEAVES) != 0
}

/// In [`Run::flags`]: the process could not be restored. Not a fact of the interface, which has [`RunEnd::Ruined`].
pub const RUINED: u32 = 1 << 31;

/// Fills the captured region from its start.
struct Keeper {
    room: Part,
    used: usize,
    is_full: bool,
}

impl Keeper {
    fn place(&mut self, length: usize) -> Option<*mut u8> {
        if length > self.room.size - self.used {
            self.is_full = true;
            return None;
        }
        // SAFETY: within the region.
        Some(unsafe { self.room.start.add(self.used) })
    }

    fn keep_bytes(&mut self, bytes: &[u8]) -> Span {
        let Some(place) = self.place(bytes.len()) else { return Span::default() };
        // SAFETY: there is room, and both regions are apart.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        self.took(bytes.len())
    }

    fn keep_file(&mut self, descriptor: i32, length: usize) -> Span {
        let Some(place) = self.place(length) else { return Span::default() };
        let arguments = [descriptor as usize, place.expose_provenance(), length, 0, 0, 0];
        // SAFETY: there is room.
        let read = unsafe { system::call(libc::SYS_pread64, arguments) };
        self.took(usize::try_from(read).unwrap_or(0))
    }

    fn took(&mut self, length: usize) -> Span {
        let span = Span { offset: self.used as u32, length: length as u32 };
        self.used += length;
        span
    }
}
