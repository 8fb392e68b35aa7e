//! AFL++ as a peer: driving its instrumented programs as `afl-fuzz` does, without the mutations.

mod client;
mod memory;
mod own;

pub use self::{
    client::{Client, Delivery},
    own::{afl_fuzz_rate, compiler},
};
