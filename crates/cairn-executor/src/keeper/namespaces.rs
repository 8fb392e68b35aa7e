//! Inside the keeper: its own view of the file system.
//!
//! The target sees the machine's files, all read-only, below the same paths; a minimal `/dev`; a `/proc` that shows
//! only its own processes; and one writable place, the scratch folder on a tmpfs.

use super::{
    plan::{NamespacePlan, Plan, ProgramMounts, Step},
    raw::{self, check, syscall},
    shared::Board,
};
use libc::{c_char, c_int, c_ulong};
use std::{ffi::CString, ptr::null};

const MOUNT_ATTR_RDONLY: u64 = 1;
const MOUNT_ATTR_NOSUID: u64 = 2;
const AT_RECURSIVE: usize = 0x8000;

#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace_fd: u64,
}

/// Makes the mounts. Returns a descriptor that sets the next process id, or -1 where there is none.
pub(super) fn enter(
    plan: &Plan,
    namespaces: &NamespacePlan,
    board: &mut Board,
) -> Result<c_int, (Step, c_int)> {
    let at = |step| move |errno| (step, errno);
    mount(null(), c"/".as_ptr(), null(), libc::MS_REC | libc::MS_PRIVATE, null())
        .map_err(at(Step::PrivateMounts))?;

    let point = namespaces.mount_point.as_ptr();
    // A run that reads a file must not change what the next one sees.
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOATIME;
    mount(c"tmpfs".as_ptr(), point, c"tmpfs".as_ptr(), flags, namespaces.mount_options.as_ptr())
        .map_err(at(Step::MountScratch))?;
    make_scratch(plan).map_err(at(Step::MakeScratch))?;
    make_devices(namespaces).map_err(at(Step::Devices))?;
    if let Some(program) = &namespaces.program {
        show_program(program).map_err(at(Step::ProgramFolder))?;
    }
    let last_pid = open_last_pid(namespaces);
    board.has_fixed_pids = u32::from(last_pid >= 0);

    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    if mount(c"proc".as_ptr(), c"/proc".as_ptr(), c"proc".as_ptr(), flags, null()).is_err() {
        // A container that masks parts of its /proc may not show a fresh one. The old one shows processes
        // outside, so it is hidden.
        mount(c"tmpfs".as_ptr(), c"/proc".as_ptr(), c"tmpfs".as_ptr(), flags, null())
            .map_err(at(Step::MountProc))?;
        board.proc_hidden = 1;
    }

    let read_only = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;
    set_attributes(c"/".as_ptr(), AT_RECURSIVE, read_only, 0).map_err(at(Step::ReadOnly))?;
    set_attributes(plan.scratch.as_ptr(), 0, 0, MOUNT_ATTR_RDONLY).map_err(at(Step::ReadOnly))?;
    Ok(last_pid)
}

fn make_scratch(plan: &Plan) -> Result<(), c_int> {
    let scratch = plan.scratch.as_ptr();
    make_folder(scratch)?;
    // A mount of its own, so that it alone stays writable.
    bind(scratch, scratch, 0)
}

fn make_devices(namespaces: &NamespacePlan) -> Result<(), c_int> {
    make_folder(namespaces.dev.as_ptr())?;
    make_folder(namespaces.shm.as_ptr())?;
    bind_files(&namespaces.devices)?;
    for (content, place) in &namespaces.links {
        // SAFETY: both are C strings.
        check(unsafe { libc::symlink(content.as_ptr(), place.as_ptr()) })?;
    }
    bind(namespaces.dev.as_ptr(), c"/dev".as_ptr(), libc::MS_REC)
}

fn show_program(program: &ProgramMounts) -> Result<(), c_int> {
    make_folder(program.folder.as_ptr())?;
    match &program.whole {
        Some(whole) => bind(whole.as_ptr(), program.folder.as_ptr(), libc::MS_REC),
        None => bind_files(&program.files),
    }
}

fn bind_files(files: &[(CString, CString)]) -> Result<(), c_int> {
    for (from, to) in files {
        // SAFETY: the path is a C string.
        let made = check(unsafe {
            libc::open(to.as_ptr(), libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC, 0o644)
        })?;
        raw::close(made as c_int);
        bind(from.as_ptr(), to.as_ptr(), 0)?;
    }
    Ok(())
}

/// Process ids start at the same number in every run if the kernel lets us say so. The file is opened through a
/// mount that is gone afterwards, so that nothing of `/proc` stays writable.
fn open_last_pid(namespaces: &NamespacePlan) -> c_int {
    let proc = namespaces.proc.as_ptr();
    if make_folder(proc).is_err() || mount(c"proc".as_ptr(), proc, c"proc".as_ptr(), 0, null()).is_err() {
        return -1;
    }
    // SAFETY: both are C strings.
    unsafe {
        let fd = libc::open(namespaces.last_pid.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        libc::umount2(proc, libc::MNT_DETACH);
        fd
    }
}

fn make_folder(path: *const c_char) -> Result<(), c_int> {
    // SAFETY: `path` is a C string.
    check(unsafe { libc::mkdir(path, 0o755) }).map(drop)
}

fn bind(from: *const c_char, to: *const c_char, flags: c_ulong) -> Result<(), c_int> {
    mount(from, to, null(), libc::MS_BIND | flags, null())
}

fn mount(
    from: *const c_char,
    to: *const c_char,
    kind: *const c_char,
    flags: c_ulong,
    options: *const c_char,
) -> Result<(), c_int> {
    // SAFETY: all pointers are C strings or null where mount(2) allows it.
    check(unsafe { libc::mount(from, to, kind, flags, options.cast()) }).map(drop)
}

fn set_attributes(path: *const c_char, flags: usize, set: u64, clear: u64) -> Result<(), c_int> {
    let attributes = MountAttr { set, clear, propagation: 0, user_namespace_fd: 0 };
    let arguments = [
        libc::AT_FDCWD as usize,
        path as usize,
        flags,
        &raw const attributes as usize,
        size_of::<MountAttr>(),
    ];
    syscall(libc::SYS_mount_setattr, arguments).map(drop)
}
