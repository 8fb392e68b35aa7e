//! From the trace of a run to an input that takes another way.
//!
//! A symbolic run leaves records, nodes and tables: a [`Recording`]. [`Path::new`] makes it a [`Path`]: the events of the run
//! in order, with expressions over bytes of the input in place of labels, and with what each event demands of an input that
//! is to come so far. [`flip`] asks a solver for an input that does the same up to one event and decides otherwise there;
//! [`verify`] looks at a run of that input and says whether it did.
//!
//! ```text
//!   records, nodes ──Path::new──► events with expressions ──flip──► Query ──Solver──► Model ──Regions::apply──► Input
//!                                                                                                                 │
//!                                     flipped, or diverged at …  ◄──verify──  Path of the new run  ◄──── run ─────┘
//! ```
//!
//! Beside branches, values of expressions ([`Event::SiteValue`]) can be asked for with [`reach_value`], and guideposts
//! ([`Event::Guidepost`]) are flipped like branches: a broken one into a satisfied one. [`infect`] asks for a value of which a
//! mutant would make another.
//!
//! [`Regions`] is the bridge between bytes that expressions name and parts of an [`Input`](cairn_model::Input).
//!
//! [`Fixed`] is what we demand of an input beyond the program's own branches. [`Freedom`] is what a run leaves open.
//!
//! [`search`] is concolic testing as a whole: it goes from input to input as a heuristic of `cairn-search` says.
//!
//! Nothing here runs a target or knows how a solver works. Recordings come from the target and are not trusted: what makes
//! no sense ends the path there, and what is before it stays right. Every expression is evaluated on the run's own input and
//! compared with the value the run had; what differs is a mistake of ours, is reported, and is not used.

mod event;
mod fixed;
mod flip;
mod freedom;
mod guidepost;
mod infect;
mod path;
mod regions;
pub mod search;
mod verify;

pub use crate::{
    event::Event,
    fixed::{Fixed, Origin},
    flip::{Demands, Flip, Solved, flip, flip_besides, reach_value},
    freedom::{ByteFreedom, Freedom, Freedoms},
    infect::infect,
    path::{Constraint, Disagreement, Path, Recording, Step},
    regions::{ApplyError, Limits, Regions, contents, contents_mut},
    verify::{Verification, verify, verify_value, verify_whole},
};
