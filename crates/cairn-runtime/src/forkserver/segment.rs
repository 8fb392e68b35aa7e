//! Shared memory, as clients name it.

use crate::system;
use cairn_abi::channel::PAGE;
use core::ptr;

/// The name of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// System V's: a number.
    Number(i32),
    /// POSIX's: `/name`, a file in `/dev/shm`.
    File(&'static [u8]),
}

impl Name {
    /// Reads what stands in the environment.
    pub fn parse(text: &'static [u8]) -> Option<Self> {
        match text {
            [b'/', rest @ ..] => (!rest.is_empty() && !rest.contains(&b'/')).then_some(Self::File(text)),
            _ => decimal(text).map(Self::Number),
        }
    }
}

fn decimal(text: &[u8]) -> Option<i32> {
    core::str::from_utf8(text).ok()?.parse().ok().filter(|number| *number >= 0)
}

/// Attached shared memory. It stays attached as long as the process lives.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    start: *mut u8,
    size: usize,
}

impl Segment {
    /// Attaches what `name` names; `None` when the kernel refuses.
    pub fn attach(name: Name) -> Option<Self> {
        match name {
            Name::Number(number) => Self::attach_numbered(number),
            Name::File(name) => Self::attach_file(name),
        }
    }

    fn attach_numbered(number: i32) -> Option<Self> {
        // SAFETY: the structure is plain data, for which zeros are a value.
        let mut status: libc::shmid_ds = unsafe { core::mem::zeroed() };
        let place = (&raw mut status).expose_provenance();
        // SAFETY: the kernel writes one structure, for which there is room.
        let known = unsafe {
            system::call(libc::SYS_shmctl, [number as usize, libc::IPC_STAT as usize, place, 0, 0, 0])
        };
        if known != 0 {
            return None;
        }
        // SAFETY: the kernel chooses a place nothing lies at.
        let answer = unsafe { system::call(libc::SYS_shmat, [number as usize, 0, 0, 0, 0, 0]) };
        let is_error = (-4095..=0).contains(&answer);
        (!is_error).then(|| Self {
            start: ptr::with_exposed_provenance_mut(answer as usize),
            size: status.shm_segsz,
        })
    }

    fn attach_file(name: &[u8]) -> Option<Self> {
        // Zeros behind the name end it.
        let mut path = [0; 256];
        let folder = b"/dev/shm";
        let length = folder.len().checked_add(name.len())?;
        path.get_mut(..folder.len())?.copy_from_slice(folder);
        path.get_mut(folder.len()..length).filter(|_| length < 256)?.copy_from_slice(name);
        let flags = libc::O_RDWR | libc::O_CLOEXEC;
        let arguments = [libc::AT_FDCWD as usize, path.as_ptr().expose_provenance(), flags as usize, 0, 0, 0];
        // SAFETY: the kernel reads the path, which ends in a zero byte.
        let descriptor = i32::try_from(unsafe { system::call(libc::SYS_openat, arguments) }).ok()?;
        if descriptor < 0 {
            return None;
        }
        let size = system::regular_file_size(descriptor).and_then(|size| usize::try_from(size).ok());
        let attached = size
            .filter(|size| *size > 0)
            .and_then(|size| system::map_shared(descriptor, 0, size).map(|start| Self { start, size }));
        system::close(descriptor);
        attached
    }

    /// The first byte; on a page.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// How many bytes the client asked for. All of the last page is there.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Moves the first `size` bytes, whole pages, over what lies at `place`, and detaches the others.
    ///
    /// Attaching there would bring the whole segment, which may be much larger than what it shall replace.
    ///
    /// # Safety
    /// The pages at `place` belong to the caller, and nobody relies on what they hold. The segment has `size` bytes.
    pub unsafe fn move_over(self, place: *mut u8, size: usize) -> bool {
        let flags = (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as usize;
        let (from, to) = (self.start.expose_provenance(), place.expose_provenance());
        // SAFETY: the caller gives up the pages at `place`, and nobody else knows those at `start`.
        let answer = unsafe { system::call(libc::SYS_mremap, [from, size, size, flags, to, 0]) };
        let rest = self.size.next_multiple_of(PAGE).saturating_sub(size);
        if rest > 0 {
            // SAFETY: what is left of the mapping, which nobody knows.
            unsafe { system::unmap(self.start.add(size), rest) };
        }
        answer.cast_unsigned() == to
    }
}
