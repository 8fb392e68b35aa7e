//! The real programs Cairn is measured on.
//!
//! A [`Target`] is a program or a library with a harness of ours: which Debian source package it comes from, how its
//! own authors say it is built, which of its files are in scope, and which part of its test suite concerns it.
//! [`targets`] lists them; [`Cache`] is where everything lives, outside any checkout:
//!
//! ```text
//!   sources/PACKAGE/          fetched by scripts/deb-sources, unpacked
//!   builds/NAME-FLAVOUR/      a copy of the source, built in place by one compiler
//!   targets/NAME/             the executable built with cairn-cc, and a cairn.toml with its scope
//!   recordings/NAME/inputs/   what its own test suite asked of it, or samples its source brings
//! ```
//!
//! Each of these is made by a step that writes its name last ([`Cache::step`]): a step that was interrupted, or whose
//! recipe has changed since, is done again from the start, and one that is done costs nothing.
//!
//! This crate runs other programs and returns where the results are. It never prints: what takes long is announced
//! through [`Cache::say`].

mod cache;
mod catalogue;
mod error;
mod flavour;
mod needs;
mod package;
mod record;
mod shell;
mod target;

pub use crate::{
    cache::Cache,
    catalogue::{find, targets},
    error::TargetsError,
    flavour::Flavour,
    needs::need,
    package::{PACKAGES, Package, package},
    record::Recorded,
    target::{Built, Input, Kind, Target},
};
