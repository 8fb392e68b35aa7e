//! The last path that still has something to ask.

use crate::{
    selector::{News, View},
    tree::PathId,
};

/// Runs in order, those without anything to ask taken away from the end.
#[derive(Debug, Default)]
pub(super) struct LastPath {
    paths: Vec<PathId>,
}

impl LastPath {
    pub(super) fn observe(&mut self, news: &News) {
        self.paths.extend(news.path());
    }

    /// The last path with a turn that may be asked about.
    pub(super) fn get(&mut self, view: &View<'_>) -> Option<PathId> {
        // What is closed stays closed, so a path that has nothing to ask never has again.
        while let Some(path) = self.paths.last() {
            if view.open_turns(*path).next().is_some() {
                return Some(*path);
            }
            self.paths.pop();
        }
        None
    }
}
