//! What a compiler command line asks for.
//!
//! [`response`] expands `@file`; [`CommandLine::parse`] splits the words into inputs and options with their values;
//! [`filter`] decides which options the native command, the bitcode compile and the second link may see.

mod command_line;
pub mod filter;
mod language;
mod linker;
mod options;
mod precompiled;
pub mod response;

pub(crate) use command_line::raw_linker_words;
pub use command_line::{CommandLine, Input, Mode, Word};
pub use language::Language;
pub use linker::{LinkerWord, linker_words};
