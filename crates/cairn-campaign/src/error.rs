//! What can go wrong with a campaign.

use cairn_executor::ExecutorError;
use cairn_store::{StoreError, is_disk_full};
use cairn_strategy::StrategyError;
use std::{error::Error, io, path::PathBuf};

/// Why a campaign could not begin or go on. What it found is stored.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// Another one is at work in the folder.
    #[error(
        "another campaign is at work in `{folder}`\n\nhint: wait for it, end it, or choose another folder with `-o`"
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// There is a campaign of another program.
    #[error(
        "`{folder}` holds a campaign of another program, or of another build of it\n\nhint: choose another folder with \
         `-o`, and give the old one's `corpus` as seeds"
    )]
    OtherProgram {
        /// The folder.
        folder: PathBuf,
    },
    /// A file of the campaign cannot be used.
    #[error("failed to {action} `{path}`")]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run could not be carried out.
    #[error(transparent)]
    Run(#[from] ExecutorError),
    /// A strategy cannot work.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
    /// No seed can be started from.
    #[error("{reason}\n\nhint: {hint}")]
    NoSeeds {
        /// What is wrong with them.
        reason: String,
        /// What to try.
        hint: &'static str,
    },
    /// Most of what was kept is not there.
    #[error(
        "of {n_all} inputs that the campaign in `{folder}` has kept, {n_lost} are gone from its `corpus` or are others now\n\nhint: \
         put back what was there, also `[input]` of `cairn.toml` as it was, or begin a new campaign with `{folder}/corpus` as \
         seeds"
    )]
    Lost {
        /// The folder.
        folder: PathBuf,
        /// How many.
        n_lost: usize,
        /// Of how many.
        n_all: usize,
    },
    /// A worker died again and again.
    #[error("worker {worker} died {times} times in a row: {why}")]
    Worker {
        /// Which.
        worker: usize,
        /// How often.
        times: u32,
        /// Why, the last time.
        why: String,
    },
}

/// An error with all its causes in one line.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

impl CampaignError {
    /// Whether the disk that the campaign is kept on is full.
    pub fn is_disk_full(&self) -> bool {
        // Runs have other reasons to find no room.
        matches!(self, Self::Store(_) | Self::File { .. }) && is_disk_full(self)
    }
}
