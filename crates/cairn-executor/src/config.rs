//! What to run and within which limits.

use cairn_abi::channel::TraceLevel;
use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

/// The program an executor runs.
#[derive(Clone, Debug)]
pub struct Target {
    /// The executable.
    pub program: PathBuf,
    /// How many counters its view has; 0 for a build without any.
    pub n_counters: u32,
}

/// Limits and surroundings of every run of one executor.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// A run that takes longer ends as `TimedOut`. Default: one second.
    pub wall_limit: Duration,
    /// Steps (loop back-edges and calls) a run of a view may take before it ends as `OutOfFuel`; 0 for no limit.
    /// Default: 0.
    pub fuel: u64,
    /// Bytes of address space one process may have; 0 for no limit, which sanitizers need. Default: 1 GiB.
    ///
    /// The limit is per process: a run as a whole is bounded by it times [`RunConfig::max_processes`].
    /// An allocation beyond it fails in the program. If the program dies of a signal having filled seven eighths
    /// of the limit, the run ends as `OutOfMemory`; if it handles the failure, its own ending stands.
    ///
    /// On a busy machine the wall limit may pass first. A run that is out of time also ends as `OutOfMemory` if its
    /// main process holds at least half of the limit and, growing on as it did in the second half of the time,
    /// would have filled the rest within as much time again; or if it holds at least an eighth, a third of which it has
    /// taken in the second half. A hang that merely holds much memory is a hang.
    pub memory_limit: u64,
    /// Bytes kept of each stream, of each written file and of the harness output. Default: 1 MiB.
    pub output_limit: u64,
    /// Bytes a run may write into one file or stream before it ends as `TooMuchOutput`. Default: 64 MiB.
    pub file_limit: u64,
    /// Bytes the scratch folder holds when it is a file system of its own. Default: 256 MiB.
    pub scratch_limit: u64,
    /// Processes and threads of one run. Default: 64.
    pub max_processes: u64,
    /// Whether the program may execute other programs. Default: no.
    pub allow_exec: bool,
    /// How well the run is contained. Default: `full`.
    pub level: SandboxLevel,
    /// What the program finds in `argv[0]`. Default: its own file name.
    pub program_name: Option<String>,
    /// Where scratch folders are made. Default: `/tmp`.
    pub base_folder: PathBuf,
    /// How much the target traces. Default: counters only.
    pub trace_level: TraceLevel,
    /// Bytes for trace records. Default: 0.
    pub trace_size: usize,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            wall_limit: Duration::from_secs(1),
            fuel: 0,
            memory_limit: 1 << 30,
            output_limit: 1 << 20,
            file_limit: 64 << 20,
            scratch_limit: 256 << 20,
            max_processes: 64,
            allow_exec: false,
            level: SandboxLevel::default(),
            program_name: None,
            base_folder: PathBuf::from("/tmp"),
            trace_level: TraceLevel::default(),
            trace_size: 0,
        }
    }
}

/// How well a run is contained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SandboxLevel {
    /// Not at all: limits hold, but the program may do whatever the user may.
    Off,
    /// Landlock of any version and the system call filter. Files outside the scratch folder cannot be written,
    /// made, removed or renamed, and no metadata changes anywhere, not even in the scratch folder. Where the kernel
    /// has no Landlock, namespaces take its place.
    Basic,
    /// Namespaces and the system call filter, or Landlock of version 6 and the filter.
    #[default]
    Full,
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Off => "off",
            Self::Basic => "basic",
            Self::Full => "full",
        })
    }
}

impl FromStr for SandboxLevel {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            "basic" => Ok(Self::Basic),
            "full" => Ok(Self::Full),
            _ => Err(format!("`{text}` is not a sandbox level: use `full`, `basic` or `off`")),
        }
    }
}
