//! How much a symbolic run may leave behind.

use cairn_abi::channel::TraceLevel;

/// Sizes of what a symbolic run writes. Memory is used only as far as a run gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolicConfig {
    /// Which conditionals are recorded. Default: those that depend on the input.
    pub trace_level: TraceLevel,
    /// Bytes for trace records; a run that needs more ends its trace there. Default: 64 MiB.
    pub trace_size: usize,
    /// The most nodes; likewise. Default: 8 Mi.
    pub n_nodes: usize,
    /// Bytes for constant tables. Default: 16 MiB.
    pub tables_size: usize,
    /// The probes of the view, if it is a detailed one; others have none. Default: 0.
    pub n_probes: usize,
    /// How many times the wall limit of an ordinary run a symbolic one may take. Default: 20.
    pub patience: u32,
}

impl Default for SymbolicConfig {
    fn default() -> Self {
        Self {
            trace_level: TraceLevel::Symbolic,
            trace_size: 64 << 20,
            n_nodes: 8 << 20,
            tables_size: 16 << 20,
            n_probes: 0,
            patience: 20,
        }
    }
}
