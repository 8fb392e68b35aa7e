//! The usual composition.

use crate::{
    Answers, Budget, Budgeted, Cached, Checked, Counted, InputToState, Optimistic, Portfolio, Query,
    Response, Search, Shared, Sliced, Smt, SmtUnavailable, Solver, Stage, Statistics,
};
use std::{cell::RefCell, rc::Rc, time::Duration};

/// How the usual composition is put together.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Where random choices start. Default 0.
    pub seed: u64,
    /// Whether to ask again with fewer constraints when the whole query has no answer. Default yes.
    pub optimistic: bool,
    /// Whether to do so for refuted queries, too. Default no.
    pub optimistic_if_refuted: bool,
    /// Whether to ask Z3. Default yes, where it is installed.
    pub smt: bool,
    /// What every method may use at first. Most queries need no more, and half of those that do cannot be satisfied at
    /// all, which only Z3 finds out. Default 4 000 evaluations, an `rlimit` of 30 000.
    pub quick: Budget,
    /// What search may use then, before the rest of a query's budget goes to Z3. Default 60 000 evaluations, half a second.
    pub search: Budget,
}

impl Default for Config {
    fn default() -> Self {
        let timeout = Duration::from_millis(500);
        Self {
            seed: 0,
            optimistic: true,
            optimistic_if_refuted: false,
            smt: true,
            quick: Budget { evaluations: 4_000, rlimit: 30_000, timeout },
            search: Budget { evaluations: 60_000, rlimit: 0, timeout },
        }
    }
}

/// The usual composition, and whether Z3 is part of it.
pub struct Standard {
    solver: Box<dyn Solver>,
    /// Why Z3 is missing, if it is: worth a notice.
    pub smt_unavailable: Option<SmtUnavailable>,
}

/// Puts the usual composition together for this thread.
pub fn standard(config: Config) -> Standard {
    let (stages, smt_unavailable) = stages(config);
    let sliced = Sliced::new(Cached::new(Portfolio::new(stages)));
    Standard { solver: around(config, sliced), smt_unavailable }
}

/// Likewise, one that shares its answers with others, instead of making its own from similar ones: what it says does not depend on what was
/// asked before, except that more may be refuted.
pub fn standard_sharing(config: Config, answers: Answers) -> Standard {
    let (stages, smt_unavailable) = stages(config);
    let sliced = Sliced::new(Shared::new(Portfolio::new(stages), answers));
    Standard { solver: around(config, sliced), smt_unavailable }
}

fn stages(config: Config) -> (Vec<Box<dyn Solver>>, Option<SmtUnavailable>) {
    let mut smt_unavailable = None;
    let mut smt = None;
    if config.smt {
        match Smt::open() {
            Ok(opened) => smt = Some(Rc::new(RefCell::new(opened))),
            Err(unavailable) => smt_unavailable = Some(unavailable),
        }
    }
    let mut stages: Vec<Box<dyn Solver>> = vec![
        stage(Stage::InputToState, Budgeted::new(InputToState, config.quick)),
        stage(Stage::Search, Budgeted::new(Search::new(config.seed), config.quick)),
    ];
    if let Some(smt) = &smt {
        stages.push(stage(Stage::Smt, Budgeted::new(Rc::clone(smt), config.quick)));
    }
    // Another seed, because the first choices were made in vain.
    stages.push(stage(Stage::Search, Budgeted::new(Search::new(config.seed.wrapping_add(1)), config.search)));
    if let Some(smt) = smt {
        stages.push(stage(Stage::Smt, smt));
    }
    (stages, smt_unavailable)
}

/// Asks again with fewer constraints, as configured.
fn around(config: Config, sliced: impl Solver + 'static) -> Box<dyn Solver> {
    match (config.optimistic, config.optimistic_if_refuted) {
        (false, _) => Box::new(sliced),
        (true, false) => Box::new(Optimistic::new(sliced)),
        (true, true) => Box::new(Optimistic::also_refuted(sliced)),
    }
}

/// A stage that is counted and whose models are checked.
fn stage(stage: Stage, solver: impl Solver + 'static) -> Box<dyn Solver> {
    Box::new(Checked::new(Counted::new(stage, solver)))
}

impl Standard {
    /// What all stages did so far.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::default();
        self.collect(&mut statistics);
        statistics
    }
}

impl Solver for Standard {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        self.solver.solve(query, budget)
    }

    fn collect(&self, statistics: &mut Statistics) {
        self.solver.collect(statistics);
    }
}
