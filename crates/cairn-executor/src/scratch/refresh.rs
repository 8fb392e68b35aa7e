//! The folder between the runs of a live target: made what the next run needs with as little work as that takes.
//!
//! A run that changed nothing costs one read of the [`Watch`]; a new content is written into the file that is there.
//! Whatever is in doubt goes the way of [`Scratch::prepare`].
//!
//! The target's side may have a hand in this: it reads the same descriptor after each run, and may replace contents
//! by itself. The host then hears of it through [`Scratch::mark_changed`] and [`Scratch::now_holds`].

use super::{
    Difference, Layout, Scratch,
    held::Held,
    rewrite::{restore_access_times, rewrite},
    watch::Watch,
};
use crate::error::ExecutorError;
use cairn_model::input::{FileKind, FileRegion};
use nix::{
    sys::statvfs::{FsFlags, fstatvfs},
    unistd::geteuid,
};
use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
};

impl Scratch {
    /// A descriptor that has something to read when anything in the folder changed: inotify, non-blocking, closed on
    /// exec. It stays the same; every refresh points it at the folders there are.
    ///
    /// `None` if the kernel refuses to watch, or refused to watch a folder of the last refresh. Then every run counts
    /// as one that changed something, and the target's side cannot tell either.
    ///
    /// The first call lays out anew what the last refresh did, so it comes between runs.
    pub(crate) fn watch(&mut self) -> Option<BorrowedFd<'_>> {
        if self.watch.is_none() {
            self.watch = Some(Watch::new().ok()?);
            let is_noatime = |flags: FsFlags| flags.contains(FsFlags::ST_NOATIME);
            self.keeps_access_times = fstatvfs(&self.root).is_ok_and(|status| is_noatime(status.flags()));
            let files = std::mem::take(&mut self.held.files);
            self.lay_out(&files).ok()?;
        }
        self.watch.as_ref().filter(|watch| watch.is_complete()).map(Watch::as_fd)
    }

    /// Whether reading the folder leaves no trace in it. Known once there is a [`Scratch::watch`]; until then it does.
    pub(crate) fn keeps_access_times(&self) -> bool {
        self.keeps_access_times
    }

    /// Whether anything may have changed since the last refresh. Remains true until the next one.
    pub(crate) fn has_changed(&mut self) -> io::Result<bool> {
        // Read in any case, so that the queue does not fill up.
        let seen = match &self.watch {
            Some(watch) => watch.drain().map(|has_changed| has_changed || !watch.is_complete()),
            None => Ok(true),
        };
        self.is_changed |= seen != Ok(false);
        Ok(seen.map(|_| self.is_changed)?)
    }

    /// Something changed, and the target's side has read of it already.
    pub(crate) fn mark_changed(&mut self) {
        self.is_changed = true;
    }

    /// Makes the folder hold exactly `files`, as [`Scratch::prepare`] does.
    pub(crate) fn refresh(&mut self, files: &[FileRegion]) -> Result<&Layout, ExecutorError> {
        let read = ExecutorError::system("read what changed in the scratch folder");
        if self.has_changed().map_err(read)? || self.adapt(files).is_err() {
            self.lay_out(files)?;
        }
        Ok(&self.held.layout)
    }

    /// What the last refresh laid out, for [`Scratch::collect`].
    pub(crate) fn layout(&self) -> &Layout {
        &self.held.layout
    }

    /// How `files` differ from those the folder holds. Contents are told only if the target's user may replace all
    /// of them. Changes not yet read by [`Scratch::has_changed`] are not taken into account.
    pub(crate) fn difference(&self, files: &[FileRegion]) -> Difference {
        if self.is_changed {
            return Difference::Other;
        }
        match self.held.compare(files) {
            Difference::Contents(indices)
                if !indices.iter().all(|index| self.held.is_open_to_target(*index)) =>
            {
                Difference::Other
            }
            difference => difference,
        }
    }

    /// The target's side made the folder hold `files`, which differ from what it held in contents only, and read the
    /// events this raised. If they differ otherwise, the folder counts as changed.
    ///
    /// While a batch is put together, this may run ahead of what happens, so that [`Scratch::difference`] compares
    /// each input with the one before it. Afterwards it takes the files of the last input that was run.
    pub(crate) fn now_holds(&mut self, files: &[FileRegion]) {
        match self.held.compare(files) {
            Difference::Same => {}
            Difference::Contents(indices) => {
                indices.into_iter().for_each(|index| self.held.replaced(index, &files[index]));
            }
            Difference::Other => self.mark_changed(),
        }
    }

    /// Makes an unchanged folder hold `files` without making or removing any entry. After an error the folder is to
    /// be laid out.
    fn adapt(&mut self, files: &[FileRegion]) -> io::Result<()> {
        let indices = match self.held.compare(files) {
            Difference::Same => Vec::new(),
            Difference::Contents(indices) => indices,
            Difference::Other => return Err(io::ErrorKind::Unsupported.into()),
        };
        let mut has_touched = !indices.is_empty();
        for index in indices {
            let (Some((path, region, size)), FileKind::Regular(content)) =
                (self.held.replaceable(index), &files[index].kind)
            else {
                return Err(io::ErrorKind::Unsupported.into());
            };
            rewrite(&self.root, path, region, size, &content.0)?;
            self.held.replaced(index, &files[index]);
        }
        if !self.keeps_access_times {
            has_touched |= restore_access_times(&self.root, &self.held.layout)?;
        }
        if has_touched && let Some(watch) = &self.watch {
            watch.drain()?;
        }
        Ok(())
    }

    fn lay_out(&mut self, files: &[FileRegion]) -> Result<(), ExecutorError> {
        let layout = self.prepare(files)?;
        let user = self.owner.map_or_else(geteuid, |(user, _)| user);
        self.held = Held::new(files, layout, user);
        if let Some(watch) = &self.watch {
            watch.drain().map_err(ExecutorError::errno("read what changed in the scratch folder"))?;
        }
        self.is_changed = false;
        Ok(())
    }
}
