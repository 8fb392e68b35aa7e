use super::last_path::LastPath;
use crate::{
    nearness::Nearness,
    selector::{News, Question, Selector, View},
};

/// The turn of the last path whose other way leads nearest to a branch that nobody took: the control-flow directed search of Burnim and
/// Sen (ASE 2008).
///
/// Distances are those of the program map, through calls and returns. Of several turns that are equally near the first is chosen;
/// those from which no way is known come last.
#[derive(Debug, Default)]
pub struct ControlFlowDirected {
    last: LastPath,
    nearness: Nearness,
}

impl Selector for ControlFlowDirected {
    fn choose(&mut self, view: &View<'_>, _random: &mut fastrand::Rng) -> Option<Question> {
        let path = self.last.get(view)?;
        view.open_turns(path).min_by_key(|question| {
            let distance = view.aim(*question).and_then(|aim| self.nearness.of(view, aim));
            distance.unwrap_or(u32::MAX)
        })
    }

    fn observe(&mut self, _view: &View<'_>, news: &News) {
        self.last.observe(news);
    }
}
