use super::last_path::LastPath;
use crate::selector::{News, Question, Selector, View};

/// Any turn of the last path, all equally likely: the random branch search of Burnim and Sen, *Heuristics for Scalable Dynamic Test
/// Generation* (ASE 2008).
#[derive(Debug, Default)]
pub struct RandomBranch {
    last: LastPath,
}

impl Selector for RandomBranch {
    fn choose(&mut self, view: &View<'_>, random: &mut fastrand::Rng) -> Option<Question> {
        let path = self.last.get(view)?;
        random.choice(view.open_turns(path).collect::<Vec<_>>())
    }

    fn observe(&mut self, _view: &View<'_>, news: &News) {
        self.last.observe(news);
    }
}
