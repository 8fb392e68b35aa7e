use super::last_path::LastPath;
use crate::selector::{News, Question, Selector, View};

/// The last turn of the last path that was not asked about, as DART searches: Godefroid, Klarlund and Sen, *DART: Directed Automated
/// Random Testing* (PLDI 2005).
#[derive(Debug, Default)]
pub struct DepthFirst {
    last: LastPath,
}

impl Selector for DepthFirst {
    fn choose(&mut self, view: &View<'_>, _random: &mut fastrand::Rng) -> Option<Question> {
        let path = self.last.get(view)?;
        view.open_turns(path).next_back()
    }

    fn observe(&mut self, _view: &View<'_>, news: &News) {
        self.last.observe(news);
    }
}
