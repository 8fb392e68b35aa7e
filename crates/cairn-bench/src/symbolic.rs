//! The symbolic view of real programs: what it costs, how fast it traces, and whether what is solved on its traces holds.

mod flips;
mod loops;
mod opcodes;
mod pairs;
mod pictures;
mod queries;
mod recording;
mod searches;
mod subject;
mod tracing;
mod view;

pub use self::{
    flips::flips, opcodes::opcodes, queries::queries, searches::searches, tracing::tracing, view::view,
};

/// Whose view is measured without symbolic input, and who is traced. `loop` is a small program of ours.
pub const MEASURED: &[&str] = &["sort", "grep", "loop"];

/// Whose branches are decided otherwise.
pub const FLIPPED: &[&str] =
    &["sort", "grep", "sed", "find", "busybox-ls", "busybox-printf", "cjson", "libyaml", "lodepng"];
