//! Which pages of large mappings a run has written.
//!
//! The kernel (6.7 and later) notes it in the page tables: pages are write-protected through a userfaultfd in asynchronous
//! mode, the first write to one lifts the protection without asking anyone, and the PAGEMAP_SCAN request lists those.

use super::{Range, descriptors};
use crate::system;
use cairn_abi::session::descriptors::{PAGEMAP, WRITE_TRACKER};

/// Zeros are a tracker that was not opened.
#[derive(Clone, Copy)]
pub struct Tracker {
    is_open: bool,
}

const USERFAULTFD: i64 = 323;
/// The kernel's own accesses are then not reported; with asynchronous protection nothing is.
const USER_MODE_ONLY: usize = 1;

const UFFDIO_API: usize = 0xc018_aa3f;
const UFFDIO_REGISTER: usize = 0xc020_aa00;
const UFFDIO_WRITEPROTECT: usize = 0xc018_aa06;
const PAGEMAP_SCAN: usize = 0xc060_6610;

const API: u64 = 0xaa;
const FEATURE_UNPOPULATED: u64 = 1 << 13;
const FEATURE_ASYNC: u64 = 1 << 15;
const MODE_WRITE_PROTECT: u64 = 2;
const PROTECT: u64 = 1;
const IS_WRITTEN: u64 = 2;

#[derive(Clone, Copy)]
#[repr(C)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// How many stretches of pages one request lists.
const MAX_REGIONS: usize = 256;

impl Tracker {
    /// `None` when the kernel cannot.
    pub fn open() -> Option<Self> {
        let flags = USER_MODE_ONLY | libc::O_CLOEXEC as usize | libc::O_NONBLOCK as usize;
        // SAFETY: makes a descriptor, which is moved to its place.
        unsafe {
            let opened = system::call(USERFAULTFD, [flags, 0, 0, 0, 0, 0]);
            let opened = i32::try_from(opened).ok().filter(|opened| *opened >= 0)?;
            let place = [opened as usize, WRITE_TRACKER as usize, libc::O_CLOEXEC as usize, 0, 0, 0];
            let moved = system::call(libc::SYS_dup3, place);
            system::close(opened);
            if moved < 0 {
                return None;
            }
        }
        let mut api = [API, FEATURE_ASYNC | FEATURE_UNPOPULATED, 0];
        request(WRITE_TRACKER, UFFDIO_API, &mut api)?;
        descriptors::place(c"/proc/self/pagemap", PAGEMAP)?;
        Some(Self { is_open: true })
    }

    /// Makes a mapping one whose pages can be protected.
    pub fn register(&self, range: Range) -> Option<()> {
        let mut register = [range.start as u64, range.size() as u64, MODE_WRITE_PROTECT, 0];
        request(WRITE_TRACKER, UFFDIO_REGISTER, &mut register).map(drop)
    }

    /// Forgets what was written.
    pub fn protect(&self, range: Range) -> Option<()> {
        let mut protect = [range.start as u64, range.size() as u64, PROTECT];
        request(WRITE_TRACKER, UFFDIO_WRITEPROTECT, &mut protect).map(drop)
    }

    /// Copies back the pages that were written. `copy` is the address of the mapping's copy.
    pub fn restore(&self, range: Range, copy: usize) -> bool {
        if !self.is_open {
            return false;
        }
        let mut at = range.start;
        while at < range.end {
            let mut found = [Region { start: 0, end: 0, categories: 0 }; MAX_REGIONS];
            let list = (&raw mut found).expose_provenance() as u64;
            let mut scan = [
                96,
                0,
                at as u64,
                range.end as u64,
                0,
                list,
                MAX_REGIONS as u64,
                0,
                0,
                IS_WRITTEN,
                0,
                IS_WRITTEN,
            ];
            let Some(n) = request(PAGEMAP, PAGEMAP_SCAN, &mut scan) else { return false };
            let walked = scan[4] as usize;
            for region in found.iter().take(n) {
                let written = Range { start: region.start as usize, end: region.end as usize };
                if written.start < range.start || written.end > range.end {
                    return false;
                }
                // SAFETY: within the mapping and its copy.
                unsafe {
                    core::ptr::copy_nonoverlapping(
                        core::ptr::with_exposed_provenance::<u8>(copy + (written.start - range.start)),
                        core::ptr::with_exposed_provenance_mut(written.start),
                        written.size(),
                    );
                }
                if self.protect(written).is_none() {
                    return false;
                }
            }
            if walked <= at {
                return false;
            }
            at = walked;
        }
        true
    }
}

/// Asks a descriptor; `None` on failure, else the answer.
fn request<const N: usize>(descriptor: i32, number: usize, argument: &mut [u64; N]) -> Option<usize> {
    let place = argument.as_mut_ptr().expose_provenance();
    // SAFETY: each request is defined with a structure of these words.
    let answer = unsafe { system::call(libc::SYS_ioctl, [descriptor as usize, number, place, 0, 0, 0]) };
    usize::try_from(answer).ok()
}
