//! The process as it was before the first run, and the way back to it.
//!
//! All private writable memory is copied once and copied back after every run; that is cheaper than asking the kernel which
//! pages changed, as long as it is little. Large mappings are tracked instead ([`tracker`]). Mappings a run adds are known from
//! [`super::trap`], which carries them out; the total size of the address space tells whether one was missed. That is looked
//! at after runs that changed mappings in unusual ways and with the last of a batch, since asking takes the kernel a while.

pub mod descriptors;
pub mod heap;
pub mod signals;
mod stack;
mod tracker;

use self::{
    descriptors::StreamSizes,
    heap::Heap,
    signals::{Signals, SignalsLeft},
    stack::{Stack, is_filled},
    tracker::Tracker,
};
use super::{Part, maps, vault::Vault};
use crate::{symbolic::renewal, system};
use cairn_abi::{
    channel::PAGE,
    session::{Obstacle, descriptors::STATM},
};

/// Most mappings a program may have.
const MAX_RANGES: usize = 1024;
/// Most mappings a run may add.
const MAX_ADDED: usize = 1024;
/// Bytes that are copied without asking what changed.
const COPY_LIMIT: usize = 1 << 20;
/// Mappings of this size and more are tracked when there is more than [`COPY_LIMIT`].
const TRACKED_SIZE: usize = 256 << 10;

/// Addresses from `start` to before `end`.
#[derive(Clone, Copy)]
pub struct Range {
    pub start: usize,
    pub end: usize,
}

impl Range {
    fn of(part: Part) -> Self {
        Self { start: part.start.addr(), end: part.start.addr() + part.size }
    }

    fn meets(&self, start: usize, end: usize) -> bool {
        self.start < end && start < self.end
    }

    fn size(&self) -> usize {
        self.end - self.start
    }
}

/// Memory that is restored.
#[derive(Clone, Copy)]
struct Kept {
    range: Range,
    /// Where its copy starts in the copies.
    offset: usize,
    is_tracked: bool,
}

/// Everything needed to restore the process. Zeros are a snapshot of nothing.
pub struct Snapshot {
    kept: [Kept; MAX_RANGES],
    n_kept: usize,
    copies: Part,
    /// Every mapping there was, writable or not.
    occupied: [Range; MAX_RANGES],
    n_occupied: usize,
    added: [Range; MAX_ADDED],
    n_added: usize,
    /// Bytes the run has mapped in all.
    mapped: usize,
    pub stack: Stack,
    pub heap: Heap,
    /// The mask for the permissions of new files.
    file_mask: usize,
    /// Pages of the whole address space.
    total_pages: usize,
    pub signals: Signals,
    /// What the run has left of the mask and the stack of signals.
    pub signals_left: SignalsLeft,
    /// Whether the run has changed mappings in another way than to add some and to remove them as a whole.
    pub has_remapped: bool,
    /// Whether it has set the mask for the permissions of new files.
    pub has_set_file_mask: bool,
    /// Whether it has left the folder it was started in.
    pub has_moved: bool,
    /// Signals whose handlers are restored, one bit each.
    pub changed_signals: u32,
    /// How often a signal was added to them.
    pub n_signals_noted: u32,
    tracker: Tracker,
}

/// Takes the snapshot. To be called on the runner's stack, after everything the runner itself maps.
pub fn take(vault: &mut Vault) -> Result<(), Obstacle> {
    // First: it changes what is kept.
    vault.snapshot.heap = Heap::read();
    keep_memory(vault)?;
    vault.snapshot.signals = Signals::read();
    vault.snapshot.file_mask = descriptors::file_mask();
    descriptors::open_statm().ok_or(Obstacle::Maps)?;
    vault.snapshot.total_pages = total_pages().ok_or(Obstacle::Maps)?;
    Ok(())
}

fn keep_memory(vault: &mut Vault) -> Result<(), Obstacle> {
    let text = vault.text;
    let length = descriptors::read_file(c"/proc/self/maps", text).ok_or(Obstacle::Maps)?;
    // SAFETY: the text is ours and was just filled.
    let text_bytes = unsafe { text.bytes() }.get(..length).ok_or(Obstacle::Maps)?;
    let (own, channel) = (Range::of(vault.extent), Range::of(vault.regions.channel));
    let (counters, fuel) = (vault.regions.counters.start.addr(), vault.regions.fuel.addr());
    let mutants = vault.regions.mutants;
    let snapshot = &mut vault.snapshot;
    let mut total = 0;
    for mapping in maps::mappings(text_bytes) {
        let range = Range { start: mapping.start, end: mapping.end };
        *snapshot.occupied.get_mut(snapshot.n_occupied).ok_or(Obstacle::Setup)? = range;
        snapshot.n_occupied += 1;
        let is_ours = own.meets(range.start, range.end) || renewal::hold(range.start, range.end);
        if !mapping.is_writable || is_ours {
            continue;
        }
        if mapping.is_shared {
            let is_ours = channel.meets(range.start, range.end)
                || (range.start..range.end).contains(&counters)
                || (range.start..range.end).contains(&fuel)
                || mutants.is_some_and(|mutants| mutants.hold(range.start, range.end));
            if is_ours {
                continue;
            }
            return Err(Obstacle::SharedMemory);
        }
        if mapping.is_stack {
            snapshot.stack = Stack::new(range);
        }
        let slot = snapshot.kept.get_mut(snapshot.n_kept).ok_or(Obstacle::Setup)?;
        *slot = Kept { range, offset: total, is_tracked: false };
        snapshot.n_kept += 1;
        total += range.size();
    }
    snapshot.keep(total)
}

impl Snapshot {
    fn keep(&mut self, total: usize) -> Result<(), Obstacle> {
        if total > COPY_LIMIT {
            self.track()?;
        }
        let start = system::map_private(total).ok_or(Obstacle::Size)?;
        // SAFETY: the memory is new; the ranges are mapped and readable, and nothing changes them now.
        unsafe {
            self.copies = Part { start, size: total };
            for kept in self.kept.get(..self.n_kept).unwrap_or(&[]) {
                copy_filled_pages(kept.range, start.add(kept.offset));
            }
            system::make_read_only(start, total);
        }
        // Only now: copying has read pages, and what is tracked is writing.
        let tracked = self.kept.get(..self.n_kept).unwrap_or(&[]).iter().filter(|kept| kept.is_tracked);
        for kept in tracked {
            self.tracker.protect(kept.range).ok_or(Obstacle::Size)?;
        }
        Ok(())
    }

    fn track(&mut self) -> Result<(), Obstacle> {
        self.tracker = Tracker::open().ok_or(Obstacle::Size)?;
        for kept in self.kept.get_mut(..self.n_kept).unwrap_or(&mut []) {
            // The stack grows, and a part that is tracked would not grow with it.
            let is_stack = kept.range.start == self.stack.start;
            if kept.range.size() >= TRACKED_SIZE && !is_stack {
                self.tracker.register(kept.range).ok_or(Obstacle::Size)?;
                kept.is_tracked = true;
            }
        }
        Ok(())
    }

    /// How many bytes are restored.
    pub fn size(&self) -> usize {
        self.copies.size
    }

    /// Whether a range holds anything that was there before the run.
    pub fn is_occupied(&self, start: usize, length: usize) -> bool {
        let Some(end) = start.checked_add(length).and_then(|end| end.checked_next_multiple_of(PAGE)) else {
            return true;
        };
        let copies = Range::of(self.copies);
        let occupied = self.occupied.get(..self.n_occupied).unwrap_or(&[]);
        copies.meets(start, end)
            || self.heap.range().meets(start, end)
            || occupied.iter().any(|range| range.meets(start, end))
    }

    /// Whether a range lies within memory whose content is restored.
    pub fn is_kept(&self, start: usize, length: usize) -> bool {
        let kept = self.kept.get(..self.n_kept).unwrap_or(&[]);
        start
            .checked_add(length)
            .is_some_and(|end| kept.iter().any(|kept| kept.range.start <= start && end <= kept.range.end))
    }

    /// Notes a mapping of the run; false when there are too many.
    pub fn add(&mut self, start: usize, length: usize) -> bool {
        let range = Range { start, end: start + length.next_multiple_of(PAGE) };
        self.mapped = self.mapped.saturating_add(range.size());
        if let Some(last) = self.n_added.checked_sub(1).and_then(|last| self.added.get_mut(last))
            && last.start == range.start
        {
            last.end = last.end.max(range.end);
            return true;
        }
        let Some(slot) = self.added.get_mut(self.n_added) else { return false };
        *slot = range;
        self.n_added += 1;
        true
    }

    /// The most memory that the run can have used by now.
    pub fn most_used(&self) -> usize {
        self.size() + stack::LIMIT + self.mapped + self.heap.moved
    }

    /// Whether something is mapped at an address.
    pub fn is_mapped(&self, address: usize) -> bool {
        let added = self.added.get(..self.n_added).unwrap_or(&[]);
        self.is_occupied(address, 1) || added.iter().any(|range| range.meets(address, address + 1))
    }

    /// Notes that the run has removed a mapping itself; false when it was none of those it had added. Parts of one stay
    /// noted, which does no harm.
    pub fn forget(&mut self, start: usize, length: usize) -> bool {
        let end = start + length.next_multiple_of(PAGE);
        let added = self.added.get_mut(..self.n_added).unwrap_or(&mut []);
        let Some(index) = added.iter().position(|range| range.start == start && range.end == end) else {
            return false;
        };
        let last = added.len() - 1;
        added.swap(index, last);
        self.n_added = last;
        true
    }

    /// Notes that the run changes the handling of a signal; false when that cannot be undone.
    pub fn change_signal(&mut self, number: usize) -> bool {
        let Some(bit) = u32::try_from(number).ok().and_then(|number| 1u32.checked_shl(number)) else {
            return false;
        };
        if bit & signals::CHANGEABLE == 0 {
            return false;
        }
        self.changed_signals |= bit;
        self.n_signals_noted += 1;
        true
    }

    /// To be called before every run.
    pub fn expect_run(&mut self) {
        // Who leaves in another way than through a trap does not say.
        self.signals_left = SignalsLeft::default();
        self.has_remapped = false;
        self.has_set_file_mask = false;
        self.has_moved = false;
        self.mapped = 0;
        self.heap.moved = 0;
    }

    /// Makes the process what it was, and returns how much is in the standard streams; `None` when that failed.
    ///
    /// The size of the address space is looked at if the run has changed mappings in an unusual way, or if that `is_due`.
    ///
    /// # Safety
    /// The program does not run; the caller is on the runner's stack.
    pub unsafe fn restore(&mut self, is_due: bool) -> Option<StreamSizes> {
        // Signals first: nothing of the program shall run any more.
        self.signals.restore(self.changed_signals, self.signals_left);
        // SAFETY: all of it was mapped by the run that is over.
        unsafe {
            for added in self.added.get(..self.n_added).unwrap_or(&[]) {
                system::unmap(core::ptr::with_exposed_provenance_mut(added.start), added.size());
            }
            self.n_added = 0;
        }
        self.heap.restore();
        let sizes = descriptors::restore(self.has_moved, self.has_set_file_mask.then_some(self.file_mask));
        for kept in self.kept.get_mut(..self.n_kept).unwrap_or(&mut []) {
            if kept.is_tracked {
                if !self.tracker.restore(kept.range, self.copies.start.addr() + kept.offset) {
                    return None;
                }
                continue;
            }
            if kept.range.start == self.stack.start
                && let Some(start) = self.stack.watch(kept.range)
            {
                self.total_pages -= (start - self.stack.start) / PAGE;
                self.stack.cut(start);
                kept.offset += start - kept.range.start;
                kept.range.start = start;
            }
            // SAFETY: the range is mapped and writable: calls that change that are stopped.
            unsafe {
                core::ptr::copy_nonoverlapping(
                    self.copies.start.add(kept.offset),
                    core::ptr::with_exposed_provenance_mut(kept.range.start),
                    kept.range.size(),
                );
            }
        }
        let is_whole = match is_due || self.has_remapped {
            true => self.is_whole() || (self.stack.shrink(), self.is_whole()).1,
            false => {
                if self.stack.has_grown() {
                    self.stack.shrink();
                }
                true
            }
        };
        is_whole.then_some(sizes)
    }

    /// Whether the address space is as large as it was.
    fn is_whole(&self) -> bool {
        total_pages() == Some(self.total_pages + self.heap.n_pages_kept())
    }
}

/// Copies pages that are not zero; the others are zero in fresh memory anyway.
///
/// # Safety
/// The range is readable, and as many bytes at `to` are writable.
unsafe fn copy_filled_pages(range: Range, to: *mut u8) {
    for offset in (0..range.size()).step_by(PAGE) {
        // SAFETY: within the range.
        unsafe {
            let page = core::ptr::with_exposed_provenance::<u8>(range.start + offset);
            if is_filled(page.addr()) {
                core::ptr::copy_nonoverlapping(page, to.add(offset), PAGE);
            }
        }
    }
}

/// The first number in `/proc/self/statm`.
fn total_pages() -> Option<usize> {
    let mut text = [0; 128];
    let length = descriptors::read_at_start(STATM, &mut text)?;
    let digits = text.get(..length)?.iter().take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}
