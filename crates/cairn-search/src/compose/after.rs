use crate::selector::{News, Question, Selector, View};

/// Leaves the first turns of every path as they are.
pub struct After {
    first_index: usize,
    inner: Box<dyn Selector>,
}

impl After {
    /// Lets `inner` choose among turns from `first_index` on.
    pub fn new(first_index: usize, inner: Box<dyn Selector>) -> Self {
        Self { first_index, inner }
    }

    fn limited<'a>(&self, view: &View<'a>) -> View<'a> {
        View { first_index: view.first_index.max(self.first_index), ..*view }
    }
}

impl Selector for After {
    fn choose(&mut self, view: &View<'_>, random: &mut fastrand::Rng) -> Option<Question> {
        let view = self.limited(view);
        self.inner.choose(&view, random)
    }

    fn observe(&mut self, view: &View<'_>, news: &News) {
        let view = self.limited(view);
        self.inner.observe(&view, news);
    }
}
