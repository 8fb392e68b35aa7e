//! Drop-in C and C++ compiler that keeps whole-program bitcode, and the builder of views.
//!
//! [`driver::run`] is the compiler. It runs the user's command with clang-19 as it stands, so the ordinary
//! executable is the one the user asked for, and beside it compiles every C and C++ source a second time to O0
//! bitcode and collects front-end facts. Both travel inside the object as a section that final links drop
//! ([`payload`]), which is why `ar`, `ld -r`, `install` and `ccache` need not know about us. When an executable is
//! linked, a second link merges the bitcode, and [`record::BuildRecord`] says how to link a view from it. Records
//! live in a `.cairn` folder and are found by build id ([`store`]).
//!
//! [`views`] is what `cairn` calls: [`views::find()`] turns an executable into its record, [`views::build_views`]
//! runs `cairn-instrument` and links the views it made.
//!
//! This crate knows command lines, objects and archives. It never looks inside bitcode or facts: LLVM and libclang
//! stay in `cairn-instrument` and `cairn-facts`.
//!
//! A decision worth explaining: nothing of ours may break a build. If the second compile, the facts or the second
//! link fail, the native result stands and the reason is recorded, to be told when someone asks for a view.

pub mod arguments;
pub mod driver;
pub mod elf;
pub mod payload;
pub mod record;
pub mod settings;
pub mod store;
pub mod toolchain;
pub mod views;

mod archive;
mod compile;
mod file_hash;
mod link;
mod preset;
mod relocatable;
mod scratch;
mod unit;

pub use crate::{record::BuildRecord, settings::Settings, toolchain::Toolchain};
