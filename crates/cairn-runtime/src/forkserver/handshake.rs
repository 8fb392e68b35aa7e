//! What client and target tell each other before the first run.
//!
//! ```text
//!   old form:   target → options, map size and error in one word
//!               client → the options it agrees to, only if a test case in shared memory was offered
//!
//!   new form:   target → "AFL" and version 1
//!               client → the same, inverted
//!               target → options, then the parameter of each, then the first word again
//! ```
//! AFL++ speaks the new form since 4.20, as does LibAFL; both still understand the old one.

use super::{leave, pipes};

/// Which handshake to speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As before AFL++ 4.20.
    Old,
    /// As since.
    New,
}

/// What the target offers.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Bytes of map it needs.
    pub map_size: usize,
    /// True if it can take inputs from shared memory.
    pub takes_testcase: bool,
}

/// What came of the offer.
#[derive(Clone, Copy, Debug)]
pub struct Agreement {
    /// True if inputs come in shared memory.
    pub uses_testcase: bool,
    /// The request for the first run, where the client sent that instead of an answer.
    pub request: Option<u32>,
}

/// What can go wrong, numbered as clients know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Failure {
    /// The map is too small, or too large to be told.
    MapSize = 1,
    /// The map cannot be attached.
    Attach = 8,
}

impl Failure {
    /// The word that reports it, in place of a greeting or of a child's id.
    pub fn word(self, form: Form) -> u32 {
        match form {
            Form::Old => old::FAILED | (self as u32) << 8,
            Form::New => new::FAILED | self as u32,
        }
    }
}

mod old {
    pub const ENABLED: u32 = 0x8000_0001;
    pub const MAP_SIZE: u32 = 0x4000_0000;
    pub const TESTCASE: u32 = 0x0100_0000;
    pub const FAILED: u32 = 0xf800_008f;
    /// 23 bits hold the size less one.
    pub const MOST: usize = 1 << 23;
}

mod new {
    pub const GREETING: u32 = u32::from_be_bytes(*b"AFL\x01");
    pub const MAP_SIZE: u32 = 1;
    pub const TESTCASE: u32 = 2;
    pub const FAILED: u32 = 0xeffe_0000;
}

/// Reports a failure instead of greeting, and ends the server.
pub fn fail(form: Form, failure: Failure) -> ! {
    pipes::tell(failure.word(form));
    leave()
}

/// Greets the client. Ends the server if the client goes away.
pub fn greet(form: Form, offer: Offer) -> Agreement {
    match form {
        Form::Old => greet_old(offer),
        Form::New => greet_new(offer),
    }
}

fn greet_old(offer: Offer) -> Agreement {
    if offer.map_size > old::MOST {
        fail(Form::Old, Failure::MapSize);
    }
    let mut options = old::ENABLED | old::MAP_SIZE | (offer.map_size as u32 - 1) << 1;
    if offer.takes_testcase {
        options |= old::TESTCASE;
    }
    pipes::tell(options);
    if !offer.takes_testcase {
        return Agreement { uses_testcase: false, request: None };
    }
    let answer = pipes::hear();
    let agrees_to = |options: u32| answer & options == options;
    // A client that wants none of the options may say so, or go straight on to its first run.
    Agreement {
        uses_testcase: agrees_to(old::ENABLED | old::TESTCASE),
        request: (!agrees_to(old::ENABLED)).then_some(answer),
    }
}

fn greet_new(offer: Offer) -> Agreement {
    pipes::tell(new::GREETING);
    let answer = pipes::hear();
    if answer != !new::GREETING {
        // A client that knows only the old form saw no options, and this is its first run.
        return Agreement { uses_testcase: false, request: Some(answer) };
    }
    let testcase = if offer.takes_testcase { new::TESTCASE } else { 0 };
    pipes::tell(new::MAP_SIZE | testcase);
    pipes::tell(offer.map_size as u32);
    pipes::tell(new::GREETING);
    Agreement { uses_testcase: offer.takes_testcase, request: None }
}
