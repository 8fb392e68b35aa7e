use crate::selector::{News, Question, Selector, View};

/// Lets several selectors choose in turn; one that has nothing to ask is passed over.
pub struct Interleaved {
    selectors: Vec<Box<dyn Selector>>,
    next: usize,
}

impl Interleaved {
    /// In this order.
    pub fn new(selectors: Vec<Box<dyn Selector>>) -> Self {
        Self { selectors, next: 0 }
    }
}

impl Selector for Interleaved {
    fn choose(&mut self, view: &View<'_>, random: &mut fastrand::Rng) -> Option<Question> {
        let n_selectors = self.selectors.len();
        for _ in 0..n_selectors {
            let selector = &mut self.selectors[self.next];
            self.next = (self.next + 1) % n_selectors;
            if let Some(question) = selector.choose(view, random) {
                return Some(question);
            }
        }
        None
    }

    fn observe(&mut self, view: &View<'_>, news: &News) {
        self.selectors.iter_mut().for_each(|selector| selector.observe(view, news));
    }
}
