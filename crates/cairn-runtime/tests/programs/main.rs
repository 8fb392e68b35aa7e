//! Real C and C++ programs, linked with the archives and run with and without a channel.
//!
//! These need `clang-19` and what `cargo xtask dist` assembles.

mod support;

mod archives;
mod forkserver;
mod harness;
mod mutants;
mod variables;
mod view;
