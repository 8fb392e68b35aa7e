//! The program that stands where a test suite expects another.
//!
//! It records the call in a child, waits for it, and becomes the original: same arguments, environment, descriptors,
//! signals and process. Whatever happens to the child, the original runs. Rust's own start of a program would ignore
//! `SIGPIPE` and open closed descriptors, which the original would inherit; therefore this one starts as C programs do.

#![no_main]

use cairn_recorder::{
    Call, Settings, capture,
    journal::{self, Line},
    keep, settings,
};
use nix::{
    errno::Errno,
    libc::{self, c_char, c_int},
    sys::{
        prctl::set_pdeathsig,
        signal::Signal,
        stat::{Mode, umask},
        wait::waitpid,
    },
    unistd::{ForkResult, fork},
};
use std::{
    ffi::{CStr, CString},
    fs::{self, File},
    io::{Write, stderr},
    iter,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    panic::{catch_unwind, set_hook},
    path::{Path, PathBuf},
    ptr,
};

#[used]
static MARK: [u8; settings::marker().len()] = settings::marker();

const MYSELF: &str = "/proc/self/exe";

type Strings = *const *const c_char;

/// Where a C program starts.
#[unsafe(no_mangle)]
pub extern "C" fn main(_: c_int, arguments: Strings, environment: Strings) -> c_int {
    let settings = File::open(MYSELF).ok().and_then(|file| Settings::of(&file));
    if let Some(settings) = &settings {
        // SAFETY: this process has one thread, so the child may do everything the parent may.
        match unsafe { fork() } {
            Ok(ForkResult::Child) => {
                // A suite that kills the program kills what it is waiting for.
                let _ = set_pdeathsig(Signal::SIGKILL);
                // What the suite sees on standard error is the program's alone.
                set_hook(Box::new(|_| {}));
                let _ = catch_unwind(|| record(settings, arguments, environment));
                // SAFETY: nothing of the suite's is to be flushed or run at the end of this child.
                unsafe { libc::_exit(0) }
            }
            Ok(ForkResult::Parent { child }) => while waitpid(child, None) == Err(Errno::EINTR) {},
            // Without room for another process the program itself is what matters.
            Err(_) => {}
        }
    }
    become_original(settings.as_ref(), arguments, environment)
}

fn record(settings: &Settings, arguments: Strings, environment: Strings) {
    // SAFETY: both arrays are as the kernel gave them to `main`, and nobody changed them.
    let (arguments, environment) = unsafe { (strings(arguments), strings(environment)) };
    let call = Call { arguments, environment: environment.iter().map(|text| split_variable(text)).collect() };
    umask(Mode::from_bits_truncate(0o022));
    let _ = journal::write(&settings.session, &Line::Seen);
    let outcome = capture(&call, settings).and_then(|captured| {
        Ok(Line::Kept {
            address: keep(&captured.input, settings)?,
            notes: captured.notes.iter().map(ToString::to_string).collect(),
        })
    });
    let line = outcome.unwrap_or_else(|reason| Line::LeftOut { reason: reason.to_string() });
    let _ = journal::write(&settings.session, &line);
}

/// The strings of an array that ends with a null pointer.
///
/// # Safety
///
/// `array` is such an array, and its strings end with zero.
unsafe fn strings(array: Strings) -> Vec<Vec<u8>> {
    // SAFETY: the caller promises that the array and its strings end, and only what lies before is read.
    let pointers = (0..).map(|index| unsafe { *array.add(index) }).take_while(|pointer| !pointer.is_null());
    // SAFETY: as above.
    pointers.map(|pointer| unsafe { CStr::from_ptr(pointer) }.to_bytes().to_vec()).collect()
}

fn split_variable(text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    match text.iter().position(|byte| *byte == b'=') {
        Some(at) => (text[..at].to_vec(), text[at + 1..].to_vec()),
        None => (text.to_vec(), Vec::new()),
    }
}

/// Returns only if there is no original to be found.
fn become_original(settings: Option<&Settings>, arguments: Strings, environment: Strings) -> c_int {
    let candidates = match settings {
        // A copy of a recorder may outlive the recording; then the program is back in its place.
        Some(settings) => vec![settings.original.clone(), settings.program.clone()],
        // Too few descriptors to look at ourselves, or our end was cut off by `strip`.
        None => fs::read_link(MYSELF).map(|path| settings::saved_original(&path)).into_iter().collect(),
    };
    let mut error = Errno::ENOENT;
    for path in candidates.iter().filter(|path| !is_myself(path)) {
        let Ok(file) = CString::new(path.as_os_str().as_bytes()) else { continue };
        // SAFETY: the path ends with zero, and the arrays are those `main` was given.
        unsafe { libc::execve(file.as_ptr(), arguments, environment) };
        error = Errno::last();
        if error == Errno::ENOEXEC {
            error = become_script(&file, arguments, environment);
        }
        if error != Errno::ENOENT {
            break;
        }
    }
    complain(&candidates, error);
    if error == Errno::ENOENT { 127 } else { 126 }
}

/// A script without `#!` is run by the shell, as shells do.
fn become_script(file: &CStr, arguments: Strings, environment: Strings) -> Errno {
    // SAFETY: the array has at least its final null pointer; what follows the name is kept.
    let rest = unsafe { if (*arguments).is_null() { arguments } else { arguments.add(1) } };
    // SAFETY: only pointers up to the null pointer are read.
    let rest = (0..).map(|index| unsafe { *rest.add(index) }).take_while(|pointer| !pointer.is_null());
    let shell = c"/bin/sh";
    let all: Vec<*const c_char> =
        [shell.as_ptr(), file.as_ptr()].into_iter().chain(rest).chain(iter::once(ptr::null())).collect();
    // SAFETY: all strings live until the call, and the array ends with a null pointer.
    unsafe { libc::execve(shell.as_ptr(), all.as_ptr(), environment) };
    Errno::last()
}

fn is_myself(path: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    identity(path).is_some_and(|other| Some(other) == identity(Path::new(MYSELF)))
}

fn complain(candidates: &[PathBuf], error: Errno) {
    let program = candidates.last().map_or("the program".into(), |path| format!("`{}`", path.display()));
    let text = format!(
        "error: failed to start {program} after recording: {}\n\nhint: `cairn record --restore PROGRAM` puts a \
         program back in its place\n",
        error.desc()
    );
    let _ = stderr().write_all(text.as_bytes());
}
