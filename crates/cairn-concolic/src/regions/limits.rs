//! How large new inputs may become.

/// Limits on what [`Regions::apply`](super::Regions::apply) makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one region's content. Default: 1 MiB.
    pub max_size: u64,
    /// The size of a file of which the end is a hole. Default: 1 GiB.
    pub max_hole: u64,
    /// Bytes of one argument or entry of the environment. Default: 4096.
    pub max_word: u64,
    /// Arguments. Default: 64.
    pub max_words: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_size: 1 << 20, max_hole: 1 << 30, max_word: 4096, max_words: 64 }
    }
}
