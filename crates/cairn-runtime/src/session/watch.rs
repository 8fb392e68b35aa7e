//! What a run touched, as the kernel tells.
//!
//! The host watches the scratch folder and lends the descriptor. The runner adds what `/proc` shows of processes: a program
//! that looks there sees the runner, not a process of its own, and the host must know.

use crate::system;
use cairn_abi::session::descriptors::WATCH;
use core::ffi::CStr;

/// What a run touched.
pub struct Seen {
    /// Something in the scratch folder.
    pub scratch: bool,
    /// How often what `/proc` shows of processes was opened.
    pub n_looks_at_itself: u64,
}

/// Watches `/proc` and this process's part of it; -1 where that cannot be.
///
/// All of `/proc` only where it is the run's own: elsewhere the whole machine opens it all the time.
pub fn watch_proc(is_own: bool, template: i32) -> [i32; 3] {
    let add = |path: &CStr| {
        let arguments = [WATCH as usize, path.as_ptr().expose_provenance(), libc::IN_OPEN as usize, 0, 0, 0];
        // SAFETY: the kernel reads the path.
        unsafe { system::call(libc::SYS_inotify_add_watch, arguments) }.max(-1) as i32
    };
    let mut path = [0; 24];
    [
        if is_own { add(c"/proc") } else { -1 },
        add(c"/proc/self/"),
        // Where a program looks that knows its number.
        path_of(template, &mut path).map_or(-1, add),
    ]
}

/// `/proc/N`.
fn path_of(process: i32, path: &mut [u8; 24]) -> Option<&CStr> {
    const START: &[u8] = b"/proc/";
    let mut digits = [0; 10];
    let mut n = 0;
    let mut left = u32::try_from(process).ok()?;
    while left > 0 || n == 0 {
        *digits.get_mut(n)? = b'0' + (left % 10) as u8;
        left /= 10;
        n += 1;
    }
    for (place, byte) in path.iter_mut().zip(START.iter().chain(digits.get(..n)?.iter().rev())) {
        *place = *byte;
    }
    CStr::from_bytes_until_nul(path).ok()
}

/// What a process finds below its own folder and all others of its namespaces find there too.
const SAME_FOR_ALL: &[&[u8]] = &[b"mountinfo", b"mounts", b"mountstats"];

/// Room for what the kernel tells at once.
#[repr(C, align(8))]
struct Events([u8; 1024]);

/// No event is longer: one with the longest name.
const LONGEST_EVENT: usize = size_of::<Event>() + 256;

impl Events {
    /// Reads what there is to tell, as much as there is room for; how many bytes, and whether there may be more.
    fn read(&mut self) -> (usize, bool) {
        let length = system::read(WATCH, &mut self.0).unwrap_or(0);
        (length, length + LONGEST_EVENT > self.0.len())
    }
}

/// As the kernel lays it out; a name of `length` bytes follows.
#[derive(Clone, Copy)]
#[repr(C)]
struct Event {
    watch: i32,
    mask: u32,
    cookie: u32,
    length: u32,
}

/// Reads everything there is to tell.
pub fn look(proc_watches: &[i32; 3]) -> Seen {
    let mut seen = Seen { scratch: false, n_looks_at_itself: 0 };
    let mut events = Events([0; 1024]);
    loop {
        let (length, may_be_more) = events.read();
        let mut at = 0;
        while at + size_of::<Event>() <= length {
            // SAFETY: a whole event lies there.
            let event = unsafe { events.0.as_ptr().add(at).cast::<Event>().read_unaligned() };
            let name =
                events.0.get(at + size_of::<Event>()..).and_then(|rest| rest.get(..event.length as usize));
            let name = name.and_then(|name| name.split(|byte| *byte == 0).next()).unwrap_or(&[]);
            at += size_of::<Event>() + event.length as usize;
            if event.mask & libc::IN_IGNORED != 0 {
                // The watch of an earlier runner has gone with it.
                continue;
            }
            match proc_watches.iter().position(|watch| *watch == event.watch) {
                // In `/proc` itself only folders show processes.
                Some(0) => seen.n_looks_at_itself += u64::from(event.mask & libc::IN_ISDIR != 0),
                Some(_) => seen.n_looks_at_itself += u64::from(!SAME_FOR_ALL.contains(&name)),
                None => seen.scratch = true,
            }
        }
        if !may_be_more {
            return seen;
        }
    }
}

/// Forgets what there is to tell.
pub fn drain() {
    let mut events = Events([0; 1024]);
    while events.read().1 {}
}
