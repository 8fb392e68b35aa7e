use crate::{
    selector::{News, Question, Selector, View},
    tree::PathId,
};
use std::{cmp::Reverse, collections::BinaryHeap};

/// All turns of one run, then all of the most promising of the runs that came of them: the generational search of Godefroid, Levin and
/// Molnar, *Automated Whitebox Fuzz Testing* (NDSS 2008).
///
/// A run promises as much as it took branches that none took before; of several the first is next.
#[derive(Debug, Default)]
pub struct Generational {
    /// Runs that wait, the most promising on top.
    waiting: BinaryHeap<(usize, Reverse<PathId>)>,
    parent: Option<PathId>,
}

impl Selector for Generational {
    fn choose(&mut self, view: &View<'_>, _random: &mut fastrand::Rng) -> Option<Question> {
        loop {
            let question = self.parent.and_then(|path| view.open_turns(path).next());
            if question.is_some() {
                return question;
            }
            let (_, Reverse(path)) = self.waiting.pop()?;
            self.parent = Some(path);
        }
    }

    fn observe(&mut self, view: &View<'_>, news: &News) {
        if let Some(path) = news.path() {
            self.waiting.push((view.history.n_new(path), Reverse(path)));
        }
    }
}
