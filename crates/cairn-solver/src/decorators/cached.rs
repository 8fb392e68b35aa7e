use crate::{
    Answer, Budget, Model, Query, Reason, Response, Solver, Stage, StageStatistics, Statistics, Work,
    terms::{bytes_read_by, is_subset},
};
use std::{
    collections::{HashMap, VecDeque},
    rc::Rc,
    time::Instant,
};

/// Remembers answers.
///
/// A query is known by the structure of its conditions, wherever their graph is: opaque terms count by their value.
/// Three things are remembered: the answer to a query; models, which are tried on other queries with the same goal; and
/// refuted sets of conditions, which refute every query that has them all. Models are evaluated on the new query before
/// they are returned, so only a refutation relies on hashes of 64 bits.
///
/// Wrapped around a slicing solver it would rarely meet the same query again, so it belongs inside.
pub struct Cached<S> {
    inner: S,
    answers: HashMap<Key, Remembered>,
    /// Oldest first.
    order: VecDeque<Key>,
    models: HashMap<u64, VecDeque<Model>>,
    /// Refuted sets by each set's goal.
    refuted: HashMap<u64, Vec<Key>>,
    capacity: usize,
    record: StageStatistics,
}

/// The fingerprints of all conditions, sorted, each once.
type Key = Rc<[u64]>;

enum Remembered {
    /// The values of all bytes the query reads.
    Sat(Model),
    Unsat,
    /// Unknown with this budget.
    Unknown(Budget, Reason),
}

/// Queries remembered by default.
const CAPACITY: usize = 100_000;

/// Models kept for each goal.
const MODELS_OF_A_GOAL: usize = 8;

impl<S: Solver> Cached<S> {
    /// Remembers what `inner` answers.
    pub fn new(inner: S) -> Self {
        Self::with_capacity(inner, CAPACITY)
    }

    /// Remembers at most so many answers; the oldest are forgotten first.
    pub fn with_capacity(inner: S, capacity: usize) -> Self {
        Self {
            inner,
            answers: HashMap::new(),
            order: VecDeque::new(),
            models: HashMap::new(),
            refuted: HashMap::new(),
            capacity,
            record: StageStatistics::default(),
        }
    }

    fn recall(&self, query: &Query<'_>, key: &Key, goal: u64, budget: Budget) -> Option<Answer> {
        match self.answers.get(key) {
            Some(Remembered::Sat(model)) if query.holds(model) => {
                return Some(Answer::Sat(model.changes(query.seed)));
            }
            Some(Remembered::Unsat) => return Some(Answer::Unsat),
            Some(Remembered::Unknown(spent, reason)) if budget == budget.min(*spent) => {
                return Some(Answer::Unknown(reason.clone()));
            }
            _ => {}
        }
        let is_refuted = key
            .iter()
            .filter_map(|condition| self.refuted.get(condition))
            .flatten()
            .any(|refuted| is_subset(refuted, key));
        if is_refuted {
            return Some(Answer::Unsat);
        }
        let models = self.models.get(&goal)?;
        let model = models.iter().rev().find(|model| query.holds(model))?;
        Some(Answer::Sat(model.changes(query.seed)))
    }

    fn remember(&mut self, query: &Query<'_>, key: Key, goal: u64, budget: Budget, answer: &Answer) {
        let remembered = match answer {
            Answer::Sat(model) => {
                let complete = complete(query, model);
                let models = self.models.entry(goal).or_default();
                if models.len() == MODELS_OF_A_GOAL {
                    models.pop_front();
                }
                models.push_back(complete.clone());
                Remembered::Sat(complete)
            }
            Answer::Unsat => {
                self.refuted.entry(goal).or_default().push(key.clone());
                Remembered::Unsat
            }
            Answer::Unknown(reason) => Remembered::Unknown(budget, reason.clone()),
        };
        if self.answers.insert(key.clone(), remembered).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > self.capacity {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(key) = self.order.pop_front() else { return };
        self.answers.remove(&key);
        for condition in key.iter() {
            if let Some(sets) = self.refuted.get_mut(condition) {
                sets.retain(|set| *set != key);
            }
            self.models.remove(condition);
        }
    }
}

impl<S: Solver> Solver for Cached<S> {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        let start = Instant::now();
        let goal = query.dag.fingerprint(query.goal);
        let mut fingerprints: Vec<u64> =
            query.conditions().map(|condition| query.dag.fingerprint(condition)).collect();
        fingerprints.sort_unstable();
        fingerprints.dedup();
        let key: Key = fingerprints.into();
        if let Some(answer) = self.recall(query, &key, goal, budget) {
            let response = Response::new(Stage::Cache, answer, Work::default());
            self.record.note(&response, start.elapsed());
            return response;
        }
        let looking = start.elapsed();
        let response = self.inner.solve(query, budget);
        self.remember(query, key, goal, budget, &response.answer);
        let miss = Response::new(Stage::Cache, Answer::Unknown(Reason::NotFound), Work::default());
        self.record.note(&miss, looking);
        response
    }

    fn collect(&self, statistics: &mut Statistics) {
        statistics.add_stage(Stage::Cache, &self.record);
        self.inner.collect(statistics);
    }
}

/// The values of all bytes the query reads, so that they mean the same on another seed.
fn complete(query: &Query<'_>, model: &Model) -> Model {
    let value = |byte: &cairn_expr::InputByte| {
        model.get(byte.region, byte.offset).unwrap_or_else(|| query.seed.byte(byte.region, byte.offset))
    };
    bytes_read_by(query.dag, query.conditions())
        .map(|byte| (byte.region, byte.offset, value(&byte)))
        .collect()
}
