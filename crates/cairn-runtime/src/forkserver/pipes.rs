//! The two pipes between client and server. Everything on them is a 32-bit word.

use super::leave;
use crate::system;

/// What the client says.
const CONTROL: i32 = 198;
/// What the server says.
const STATUS: i32 = 199;

/// True if both are open in the right direction.
pub fn are_open() -> bool {
    let mode = |descriptor: i32| {
        // SAFETY: asking for a descriptor's flags touches no memory.
        let flags = unsafe {
            system::call(libc::SYS_fcntl, [descriptor as usize, libc::F_GETFL as usize, 0, 0, 0, 0])
        };
        i32::try_from(flags).ok().filter(|flags| *flags >= 0).map(|flags| flags & libc::O_ACCMODE)
    };
    let reads = matches!(mode(CONTROL), Some(libc::O_RDONLY | libc::O_RDWR));
    let writes = matches!(mode(STATUS), Some(libc::O_WRONLY | libc::O_RDWR));
    reads && writes
}

/// The next word from the client. Ends the server when there is none, because then the client is gone.
pub fn hear() -> u32 {
    let mut word = [0; 4];
    let mut filled = 0;
    while let Some(rest) = word.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match system::read(CONTROL, rest) {
            None | Some(0) => leave(),
            Some(more) => filled += more,
        }
    }
    u32::from_ne_bytes(word)
}

/// Sends a word to the client. Ends the server when it cannot be sent.
pub fn tell(word: u32) {
    let bytes = word.to_ne_bytes();
    loop {
        let arguments = [STATUS as usize, bytes.as_ptr().expose_provenance(), bytes.len(), 0, 0, 0];
        // SAFETY: the kernel only reads `bytes`.
        match unsafe { system::call(libc::SYS_write, arguments) } {
            // A pipe takes four bytes as a whole.
            4 => return,
            answer if answer == -(libc::EINTR as isize) => {}
            _ => leave(),
        }
    }
}

/// Closes both. A child has no use for them, and must not keep them open when the server is gone.
pub fn close() {
    system::close(CONTROL);
    system::close(STATUS);
}
