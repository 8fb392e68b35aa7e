//! The folder a run works in: laid out before it, looked at afterwards, emptied before the next.
//!
//! Everything goes through descriptors relative to the folder and never follows a link, because links are content:
//! an input or a target may point them anywhere.
//!
//! A fresh process gets a folder made from nothing ([`Scratch::prepare`]). Between the runs of a live target only what
//! differs is made good ([`Scratch::refresh`]).

mod collect;
mod held;
mod materialise;
mod paths;
mod refresh;
mod rewrite;
mod root;
mod watch;
mod wipe;

pub use self::materialise::DEFAULT_TIME;
pub(crate) use self::{collect::Changes, held::Difference, materialise::Layout};

use self::{held::Held, watch::Watch};

use crate::error::ExecutorError;
use cairn_model::input::FileRegion;
use nix::{
    sys::stat::Mode,
    unistd::{Gid, Uid},
};
use std::os::fd::OwnedFd;

/// The mode of the folder itself when a run starts.
const ROOT_MODE: Mode = Mode::from_bits_truncate(0o755);

/// The scratch folder of one executor.
#[derive(Debug)]
pub(crate) struct Scratch {
    root: OwnedFd,
    owner: Option<(Uid, Gid)>,
    /// What the last refresh laid out.
    held: Held,
    /// Whether the folder may hold something else by now.
    is_changed: bool,
    watch: Option<Watch>,
    /// Whether the folder is mounted so that reading leaves no trace. Otherwise a refresh takes the traces back.
    keeps_access_times: bool,
}

impl Scratch {
    /// Takes the folder `root`; what is made in it belongs to `owner`, if this process may give things away.
    pub(crate) fn new(root: OwnedFd, owner: Option<(u32, u32)>) -> Result<Self, ExecutorError> {
        let owner = owner.map(|(user, group)| (Uid::from_raw(user), Gid::from_raw(group)));
        if let Some((user, group)) = owner {
            nix::unistd::fchown(&root, Some(user), Some(group))
                .map_err(ExecutorError::errno("give the scratch folder to the target's user"))?;
        }
        Ok(Self {
            root,
            owner,
            held: Held::default(),
            is_changed: true,
            watch: None,
            keeps_access_times: false,
        })
    }

    /// Empties the folder and lays out `files`.
    pub(crate) fn prepare(&mut self, files: &[FileRegion]) -> Result<Layout, ExecutorError> {
        self.is_changed = true;
        if let Some(watch) = &mut self.watch {
            watch.stop();
        }
        root::reset(&self.root, self.owner).map_err(ExecutorError::errno("reset the scratch folder"))?;
        wipe::wipe(&self.root).map_err(ExecutorError::errno("empty the scratch folder"))?;
        materialise::materialise(&self.root, self.owner, files, self.watch.as_mut())
    }

    /// What changed since `layout` was laid out; contents are cut at `limit`.
    pub(crate) fn collect(
        &self,
        layout: &Layout,
        files: &[FileRegion],
        limit: u64,
    ) -> Result<Changes, ExecutorError> {
        collect::collect(&self.root, layout, files, limit)
            .map_err(ExecutorError::errno("look at the scratch folder"))
    }
}

#[cfg(test)]
mod tests;
