//! The folder of a campaign.

use crate::error::CampaignError;
use cairn_model::Template;
use cairn_store::{CorpusFolder, Store};
use nix::fcntl::{Flock, FlockArg};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

/// The folder of a campaign, held by this process alone.
///
/// ```text
///   corpus/        inputs that are kept
///   crashes/       one input for each way to crash
///   hangs/         one input for each way to hang
///   unconfirmed/   inputs that failed in a view, and not on the bare build
///   campaign.db    where everything came from
///   events.jsonl   what happened, one event a line
///   report.html    for people
/// ```
#[derive(Debug)]
pub struct CampaignFolder {
    path: PathBuf,
    template: Template,
    /// Inputs that are kept.
    pub corpus: CorpusFolder,
    /// Inputs on which the program crashes.
    pub crashes: CorpusFolder,
    /// Inputs on which it does not end, or fills memory or disk.
    pub hangs: CorpusFolder,
    /// Inputs that failed in a view, and in no run of the bare build.
    pub unconfirmed: CorpusFolder,
    _lock: Flock<File>,
}

impl CampaignFolder {
    /// Opens the folder, made if needed, and keeps others out of it.
    pub fn open(path: &Path, template: Template) -> Result<Self, CampaignError> {
        let failed = |action, path: &Path| {
            let path = path.to_path_buf();
            move |source| CampaignError::File { action, path, source }
        };
        fs::create_dir_all(path).map_err(failed("make the folder", path))?;
        let lock_path = path.join(".lock");
        let file = File::create(&lock_path).map_err(failed("open", &lock_path))?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| match errno {
            nix::errno::Errno::EWOULDBLOCK => CampaignError::InUse { folder: path.to_path_buf() },
            errno => failed("lock", &lock_path)(errno.into()),
        })?;
        let open = |name: &str| CorpusFolder::open(path.join(name), template.clone());
        Ok(Self {
            path: path.to_path_buf(),
            corpus: open("corpus")?,
            crashes: open("crashes")?,
            hangs: open("hangs")?,
            unconfirmed: open("unconfirmed")?,
            template,
            _lock: lock,
        })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How raw bytes become inputs.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Opens the store.
    pub fn store(&self) -> Result<Store, CampaignError> {
        Ok(Store::open(&self.store_path())?)
    }

    /// The file of the store.
    pub fn store_path(&self) -> PathBuf {
        self.path.join("campaign.db")
    }

    /// The journal.
    pub fn journal_path(&self) -> PathBuf {
        self.path.join("events.jsonl")
    }

    /// The report.
    pub fn report_path(&self) -> PathBuf {
        self.path.join("report.html")
    }
}
