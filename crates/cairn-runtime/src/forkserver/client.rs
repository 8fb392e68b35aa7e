//! What the environment says about the client.

use super::{handshake::Form, segment::Name};
use crate::environment::variable;
use core::hint::black_box;

/// A client, as far as its environment shows it.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// Where it wants coverage.
    pub map: Name,
    /// Where it can put inputs.
    pub testcase: Option<Name>,
    /// True if a child shall run many inputs.
    pub is_persistent: bool,
    /// The handshake it knows.
    pub form: Form,
}

impl Client {
    /// The client, or `None` when no map is named.
    pub fn in_environment() -> Option<Self> {
        // AFL's tools look for this name, zero byte included, in the file and call a program without it
        // uninstrumented, so the text must not dissolve into instructions.
        let map = Name::parse(variable(black_box(c"__AFL_SHM_ID").to_bytes())?)?;
        Some(Self {
            map,
            testcase: variable(b"__AFL_SHM_FUZZ_ID").and_then(Name::parse),
            is_persistent: variable(b"__AFL_PERSISTENT").is_some(),
            form: form(),
        })
    }
}

/// The new form where the client certainly knows it.
///
/// The target speaks first, so nothing the client sends can decide. Every client understands the old form, while one that
/// knows only that takes the new greeting for a target without options. What gives a newer client away is that it also
/// tells the sizes of its shared memory: AFL++ since 4.3x that of the test case, LibAFL that of the map.
fn form() -> Form {
    let tells_sizes =
        variable(b"__AFL_SHM_FUZZ_MAP_SIZE").is_some() || variable(b"__AFL_SHM_ID_SIZE").is_some();
    // AFL++'s own switch.
    let wants_old = variable(b"AFL_OLD_FORKSERVER").is_some();
    if tells_sizes && !wants_old { Form::New } else { Form::Old }
}
