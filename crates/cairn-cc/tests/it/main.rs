//! Real compiles and links of tiny programs.
//!
//! Every test has a [`Project`](project::Project): a folder, and a `cairn-cc` just built that finds archives and headers
//! of the distribution.

mod build_systems;
mod command_lines;
mod compiles;
mod finding;
mod harnesses;
mod links;
mod project;
mod relocatable;
mod sanitized;
mod toolchain;
mod views;
