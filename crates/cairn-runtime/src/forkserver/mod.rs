//! AFL's forkserver, so that other people's fuzzers can drive a view.
//!
//! A client (`afl-fuzz` and its companions, LibAFL) starts the view with two [`pipes`] and names shared memory in the
//! environment ([`client`]). The view says what it wants ([`handshake`]), lays the client's map over its counters
//! ([`map`]), and from then on forks once for every input, or once for many ([`serve`]). [`enter`] returns in the
//! children, which run the program; the server itself never comes back.
//!
//! Where the server stands is as late as possible: at `main`; in a harness, behind its initialisation; in a program that
//! uses AFL's macros, at the first of them it meets. Inputs come as the client always brings them, on standard input or
//! in a file, and a target that takes a buffer can have them in shared memory ([`testcase`]).
//!
//! None of this happens with a channel: then Cairn itself is the host. The views other than the plain one do not
//! serve, because what they keep in front of their counters would look like coverage.

pub mod client;
pub mod handshake;
pub mod map;
pub mod pipes;
pub mod process;
pub mod rounds;
pub mod segment;
pub mod serve;
pub mod testcase;

use crate::{channel, counters, system};
use cairn_abi::view::ViewKind;
use client::Client;
use core::{
    arch::asm,
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, Ordering},
};
use handshake::{Failure, Offer};
use map::Map;
use rounds::Rounds;
use testcase::Testcase;

/// What a child of the server works with.
#[derive(Debug)]
pub struct Driven {
    /// The shared memory inputs come in, where client and target agreed on that.
    pub testcase: Option<Testcase>,
    /// How many inputs this process runs.
    pub rounds: Rounds,
}

/// Where a target takes its inputs from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Files and standard input, which the client has to write.
    Files,
    /// The buffer of AFL's macros. Without shared memory it holds standard input, read once.
    Buffer,
    /// A buffer, or files and standard input, as often as there are inputs: a harness.
    Anything,
}

/// Before `main` of a program. One that uses AFL's macros says itself when it is ready.
pub fn at_main() {
    if !is_linked(Macro::Init) && !is_linked(Macro::Loop) && !is_linked(Macro::Buffer) {
        enter(Takes::Files);
    }
}

/// At one of AFL's macros.
pub fn at_macro() -> Option<&'static mut Driven> {
    enter(if is_linked(Macro::Buffer) { Takes::Buffer } else { Takes::Files })
}

/// Becomes a forkserver if a client wants one, and returns in every child of it; without a client returns `None`.
///
/// Only the first call does so. Later ones return what that one did.
pub fn enter(takes: Takes) -> Option<&'static mut Driven> {
    static ENTERED: AtomicBool = AtomicBool::new(false);
    static DRIVEN: Slot = Slot(UnsafeCell::new(None));
    // SAFETY: the program has one thread where its forkserver stands, and no caller keeps what it got across the next
    // call.
    let driven = unsafe { &mut *DRIVEN.0.get() };
    if !ENTERED.swap(true, Ordering::Relaxed) {
        *driven = start(takes);
    }
    driven.as_mut()
}

struct Slot(UnsafeCell<Option<Driven>>);

// SAFETY: see the one use of it.
unsafe impl Sync for Slot {}

fn start(takes: Takes) -> Option<Driven> {
    let is_plain = counters::view().kind == ViewKind::Plain as u32;
    if channel::find().is_some() || !is_plain {
        return None;
    }
    let client = Client::in_environment()?;
    let map = Map::attach(client.map);
    if !pipes::are_open() {
        // A client that starts the view anew for every input, as `afl-showmap` does for a single one.
        map?.lay_if_unused();
        return None;
    }
    let Some(map) = map else { handshake::fail(client.form, Failure::Attach) };
    let testcase = client.testcase.filter(|_| takes != Takes::Files).and_then(Testcase::attach);
    let offer = Offer { map_size: Map::size_wanted(), takes_testcase: testcase.is_some() };
    let agreement = handshake::greet(client.form, offer);
    if !map.lay() {
        // The client was told the size and most of them have given up by now.
        serve::refuse(agreement.request, Failure::MapSize);
    }
    let testcase = testcase.filter(|_| agreement.uses_testcase);
    let is_read_once = takes == Takes::Buffer && testcase.is_none();
    let is_persistent = client.is_persistent && !is_read_once;
    serve::serve(agreement.request, is_persistent);
    Some(Driven { testcase, rounds: Rounds::new(is_persistent) })
}

#[derive(Clone, Copy)]
enum Macro {
    Init,
    Loop,
    Buffer,
}

/// True if the program uses the macro: each calls a function in an archive member of its own.
fn is_linked(which: Macro) -> bool {
    macro_rules! is_defined {
        ($name:literal) => {{
            let place: usize;
            // SAFETY: reads the linker's table of addresses, where a weak symbol nobody defines is null.
            #[cfg(target_arch = "x86_64")]
            unsafe {
                asm!(
                    concat!(".weak ", $name),
                    concat!("mov {place}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                    place = out(reg) place,
                    options(pure, readonly, nostack, preserves_flags),
                );
            }
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            unsafe {
                asm!(
                    concat!(".weak ", $name),
                    concat!("adrp {place}, :got:", $name),
                    concat!("ldr {place}, [{place}, :got_lo12:", $name, "]"),
                    place = out(reg) place,
                    options(pure, readonly, nostack, preserves_flags),
                );
            }
            place != 0
        }};
    }
    match which {
        Macro::Init => is_defined!("cairn_afl_init"),
        Macro::Loop => is_defined!("cairn_afl_loop"),
        Macro::Buffer => is_defined!("cairn_afl_buffer"),
    }
}

/// Ends the server; its children end with it.
fn leave() -> ! {
    system::exit(1)
}
