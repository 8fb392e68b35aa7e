//! Inside the keeper: removes the scratch folder of an executor that may be gone.
//!
//! Like `scratch::wipe`, but without allocating: folders inside folders are moved up before they are emptied, so
//! nothing recurses however deep they are.

use super::raw::{self, check, syscall};
use libc::{c_char, c_int};
use std::ffi::{CStr, CString};

/// How long this may take; a folder that is filled faster than it is emptied stays.
const PATIENCE_NS: u64 = 5_000_000_000;

/// Where in `struct linux_dirent64` the record's length and the name lie.
const LENGTH: usize = 16;
const NAME: usize = 19;

/// Removes `folder` and everything in it, as far as possible. `token` lets the keeper through its own filter.
pub(super) fn remove(folder: &CString, token: usize) {
    let deadline = raw::now_ns() + PATIENCE_NS;
    change_mode(libc::AT_FDCWD, folder.as_ptr(), token);
    if let Ok(root) = open(libc::AT_FDCWD, folder.as_ptr()) {
        let mut mover = Mover { root, n_moved: 0, token };
        while mover.empty(root, true) && raw::now_ns() < deadline {}
        raw::close(root);
    }
    // SAFETY: the path is a C string.
    unsafe { libc::rmdir(folder.as_ptr()) };
}

struct Mover {
    root: c_int,
    n_moved: i32,
    token: usize,
}

impl Mover {
    /// Removes what is in `folder`; returns whether there was anything.
    fn empty(&mut self, folder: c_int, is_root: bool) -> bool {
        let mut found = false;
        let mut buffer = [0u8; 4096];
        // SAFETY: takes no pointers.
        unsafe { libc::lseek(folder, 0, libc::SEEK_SET) };
        loop {
            let arguments = [folder as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0];
            let Ok(n @ 1..) = syscall(libc::SYS_getdents64, arguments) else { return found };
            let mut rest = buffer.get(..n as usize).unwrap_or(&[]);
            while let (Some(&[low, high]), Some(name)) = (rest.get(LENGTH..LENGTH + 2), rest.get(NAME..)) {
                if let Ok(name) = CStr::from_bytes_until_nul(name)
                    && name != c"."
                    && name != c".."
                {
                    found = true;
                    self.remove_entry(folder, name, is_root);
                }
                rest = rest.get(usize::from(u16::from_ne_bytes([low, high]))..).unwrap_or(&[]);
            }
        }
    }

    fn remove_entry(&mut self, folder: c_int, name: &CStr, is_root: bool) {
        // SAFETY: the name is a C string.
        let unlink = |flags| unsafe { libc::unlinkat(folder, name.as_ptr(), flags) } == 0;
        if unlink(0) || unlink(libc::AT_REMOVEDIR) {
            return;
        }
        change_mode(folder, name.as_ptr(), self.token);
        if !is_root {
            self.move_up(folder, name);
        } else if let Ok(inner) = open(folder, name.as_ptr()) {
            self.empty(inner, false);
            raw::close(inner);
            unlink(libc::AT_REMOVEDIR);
        }
    }

    fn move_up(&mut self, folder: c_int, name: &CStr) {
        // A name the target has taken is met again under the next number.
        self.n_moved = self.n_moved.wrapping_add(1);
        let path = raw::ProcPath::new().number(self.n_moved);
        // The part after `/proc/` is a plain name.
        // SAFETY: both are C strings; the second starts within the path's buffer.
        unsafe { libc::renameat(folder, name.as_ptr(), self.root, path.as_ptr().add(6)) };
    }
}

fn open(folder: c_int, name: *const c_char) -> Result<c_int, c_int> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: `name` is a C string.
    check(unsafe { libc::openat(folder, name, flags) }).map(|fd| fd as c_int)
}

/// The kernel looks at three arguments, the filter at the fifth. A failure shows in what follows.
fn change_mode(folder: c_int, name: *const c_char, token: usize) {
    let _ = syscall(libc::SYS_fchmodat, [folder as usize, name as usize, 0o700, 0, token]);
}
