//! The memory shared with the host, if there is one.

use crate::system;
use cairn_abi::{
    ABI_VERSION,
    channel::{
        CHANNEL_FD, CHANNEL_MAGIC, ChannelHeader, EndedBy, PAGE, RUNTIME_EXIT_CODE, Refusal, Region, Stage,
    },
    delivery,
};
use core::{
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering},
};

/// A mapped channel. It stays mapped as long as the process lives.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    base: *mut u8,
    size: usize,
}

static BASE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static SIZE: AtomicUsize = AtomicUsize::new(0);
static LOOKED: AtomicBool = AtomicBool::new(false);

/// The channel, or `None` when the target runs on its own.
///
/// Looks once, before the target where possible: later the target may have closed the descriptor. A view counts into the
/// channel from then on.
pub fn find() -> Option<Channel> {
    if !LOOKED.load(Ordering::Acquire) {
        if let Some(channel) = open() {
            SIZE.store(channel.size, Ordering::Relaxed);
            BASE.store(channel.base, Ordering::Relaxed);
            channel.header().stage.fetch_max(Stage::RuntimeStarted as u32, Ordering::Relaxed);
            #[cfg(target_arch = "x86_64")]
            crate::stack::watch(channel);
        }
        LOOKED.store(true, Ordering::Release);
        #[cfg(feature = "view")]
        crate::counters::lay(known());
    }
    known()
}

fn known() -> Option<Channel> {
    let base = BASE.load(Ordering::Relaxed);
    (!base.is_null()).then(|| Channel { base, size: SIZE.load(Ordering::Relaxed) })
}

fn open() -> Option<Channel> {
    let size = usize::try_from(system::regular_file_size(CHANNEL_FD)?).ok()?;
    if size < PAGE {
        return None;
    }
    let channel = Channel { base: system::map_shared(CHANNEL_FD, 0, size)?, size };
    let header = channel.header();
    if header.magic != CHANNEL_MAGIC {
        // SAFETY: the mapping was made here and nothing else knows it.
        unsafe { system::unmap(channel.base, size) };
        return None;
    }
    if header.abi_version != ABI_VERSION {
        channel.refuse(Refusal::Version);
    }
    Some(channel)
}

impl Channel {
    /// The first page.
    pub fn header(&self) -> &'static ChannelHeader {
        // SAFETY: the mapping starts on a page, is at least a page long, and is never unmapped once handed out. The
        // host writes the plain fields before the run; what changes during the run is atomic.
        unsafe { &*self.base.cast::<ChannelHeader>() }
    }

    /// The start and size of a region; `None` when it is absent or does not lie within the channel.
    pub fn region(&self, region: Region) -> Option<(*mut u8, usize)> {
        let offset = usize::try_from(region.offset).ok()?;
        let size = usize::try_from(region.size).ok()?;
        let is_within = offset.checked_add(size)? <= self.size;
        // SAFETY: the offset is within the mapping.
        (is_within && size > 0).then(|| (unsafe { self.base.add(offset) }, size))
    }

    /// All of it.
    #[cfg(feature = "view")]
    pub(crate) fn whole(&self) -> (*mut u8, usize) {
        (self.base, self.size)
    }

    /// The harness buffer.
    pub fn buffer(&self) -> Option<&'static [u8]> {
        DELIVERED.buffer.get().or_else(|| self.delivery().buffer())
    }

    /// What the input delivers.
    pub fn delivery(&self) -> delivery::Reader<'static> {
        if let Some(items) = DELIVERED.items.get() {
            return delivery::Reader::new(items);
        }
        let used = self.region(self.header().delivery).and_then(|(start, size)| {
            let length = usize::try_from(self.header().delivery_length).ok()?;
            // SAFETY: within the region, which stays mapped; the host wrote it before the run and writes no more.
            (length <= size).then(|| unsafe { core::slice::from_raw_parts(start, length) })
        });
        delivery::Reader::new(used.unwrap_or(&[]))
    }

    /// Ends the run because view and channel do not fit.
    pub fn refuse(&self, why: Refusal) -> ! {
        self.header().refusal.store(why as u32, Ordering::Relaxed);
        system::exit(RUNTIME_EXIT_CODE)
    }
}

/// What the current input of a session delivers.
struct Delivered {
    items: Bytes,
    buffer: Bytes,
}

static DELIVERED: Delivered = Delivered { items: Bytes::new(), buffer: Bytes::new() };

/// Bytes that are somewhere else in every run.
struct Bytes {
    start: AtomicPtr<u8>,
    length: AtomicUsize,
}

impl Bytes {
    const fn new() -> Self {
        Self { start: AtomicPtr::new(ptr::null_mut()), length: AtomicUsize::new(0) }
    }

    fn get(&self) -> Option<&'static [u8]> {
        let start = self.start.load(Ordering::Relaxed);
        // SAFETY: set together by `deliver`, whose bytes outlive the run.
        (!start.is_null())
            .then(|| unsafe { core::slice::from_raw_parts(start, self.length.load(Ordering::Relaxed)) })
    }

    #[cfg(feature = "view")]
    fn set(&self, bytes: &'static [u8]) {
        self.length.store(bytes.len(), Ordering::Relaxed);
        self.start.store(bytes.as_ptr().cast_mut(), Ordering::Relaxed);
    }
}

/// From now on these are delivered, whatever the channel holds.
#[cfg(feature = "view")]
pub(crate) fn deliver(items: &'static [u8], buffer: &'static [u8]) {
    DELIVERED.items.set(items);
    DELIVERED.buffer.set(buffer);
}

/// Notes how far the run came.
pub fn reached(stage: Stage) {
    if let Some(channel) = find() {
        channel.header().stage.fetch_max(stage as u32, Ordering::Relaxed);
    }
}

/// Ends the run. The host is told why; a person on their own gets `explanation`, a whole line or several parts of one.
pub fn end(why: EndedBy, explanation: &[&[u8]]) -> ! {
    match find() {
        Some(channel) => {
            channel.header().ended_by.store(why as u32, Ordering::Relaxed);
            #[cfg(all(feature = "view", target_arch = "x86_64"))]
            crate::session::end_run();
        }
        None => {
            for part in explanation {
                system::complain(part);
            }
        }
    }
    system::exit(RUNTIME_EXIT_CODE)
}
