use crate::selector::{News, Question, Selector, View};

/// Lets one selector choose until something happens, and another from then on.
pub struct Until {
    first: Box<dyn Selector>,
    moment: Moment,
    then: Box<dyn Selector>,
    is_over: bool,
}

/// When a selector has had its turn. Each has also when it has nothing to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After so many executions of the search.
    Executions(u32),
    /// After so many executions since one took a branch that none took before.
    NothingNewFor(u32),
    /// When it has nothing to ask.
    NothingLeft,
}

impl Until {
    /// `first` until `moment`, `then` ever after.
    pub fn new(first: Box<dyn Selector>, moment: Moment, then: Box<dyn Selector>) -> Self {
        Self { first, moment, then, is_over: false }
    }
}

impl Selector for Until {
    fn choose(&mut self, view: &View<'_>, random: &mut fastrand::Rng) -> Option<Question> {
        self.is_over |= match self.moment {
            Moment::Executions(n) => view.history.n_executions() >= n,
            Moment::NothingNewFor(n) => view.history.n_since_new() >= n,
            Moment::NothingLeft => false,
        };
        if !self.is_over {
            if let Some(question) = self.first.choose(view, random) {
                return Some(question);
            }
            self.is_over = true;
        }
        self.then.choose(view, random)
    }

    fn observe(&mut self, view: &View<'_>, news: &News) {
        self.first.observe(view, news);
        self.then.observe(view, news);
    }
}
