use crate::{
    Answer, Budget, Query, Reason, Response, Solver, Stage, StageStatistics, Statistics, Strength, Work,
    terms::{bytes_read_by, is_subset},
};
use std::{
    collections::{HashMap, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// Answers that many solvers share, also those of other threads.
///
/// A query is known by the structure of its conditions and by the seed's bytes that they read, so that what is recalled is what the solver
/// itself would say: a search with a full memory decides as with an empty one. Only what others have refuted may be refuted where the solver
/// would have given up: refuted sets of conditions refute every query that has them all.
#[derive(Clone, Debug)]
pub struct Answers {
    memory: Arc<Mutex<Memory>>,
    capacity: usize,
}

#[derive(Debug, Default)]
struct Memory {
    answers: HashMap<Key, Remembered>,
    /// Oldest first.
    order: VecDeque<Key>,
    /// Sorted sets of conditions that cannot hold together, by each set's goal; the latest last.
    refuted: HashMap<u64, VecDeque<Box<[u64]>>>,
}

/// A hash of the fingerprints of all conditions and of the bytes they read, in 128 bits.
type Key = [u64; 2];

#[derive(Clone, Debug)]
struct Remembered {
    answer: Answer,
    strength: Strength,
    /// What was allowed.
    budget: Budget,
}

/// Answers remembered by default.
const CAPACITY: usize = 1_000_000;

/// Refuted sets kept for each goal.
const SETS_OF_A_GOAL: usize = 8;

impl Answers {
    /// At most so many; the oldest are forgotten first.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { memory: Arc::default(), capacity }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.with(|memory| memory.answers.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn recall(&self, key: &Key) -> Option<Remembered> {
        self.with(|memory| memory.answers.get(key).cloned())
    }

    fn remember(&self, key: Key, remembered: Remembered) {
        self.with(|memory| {
            if memory.answers.insert(key, remembered).is_none() {
                memory.order.push_back(key);
            }
            while memory.order.len() > self.capacity {
                if let Some(oldest) = memory.order.pop_front() {
                    memory.answers.remove(&oldest);
                }
            }
        });
    }

    /// Whether some of the conditions are known not to hold together; they are sorted.
    fn refute(&self, conditions: &[u64]) -> bool {
        self.with(|memory| {
            let sets = conditions.iter().filter_map(|condition| memory.refuted.get(condition)).flatten();
            sets.into_iter().any(|set| is_subset(set, conditions))
        })
    }

    fn remember_refuted(&self, goal: u64, conditions: Vec<u64>) {
        self.with(|memory| {
            let sets = memory.refuted.entry(goal).or_default();
            if sets.len() == SETS_OF_A_GOAL {
                sets.pop_front();
            }
            sets.push_back(conditions.into());
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut Memory) -> T) -> T {
        // Answers are inserted whole, so what a panicking thread left is whole.
        work(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Answers {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

/// Asks the inner solver only what no solver with the same [`Answers`] was asked.
///
/// Models are evaluated on the query before they are returned, so only a refutation relies on hashes. What nobody knew is asked again with a
/// larger budget.
pub struct Shared<S> {
    inner: S,
    answers: Answers,
    record: StageStatistics,
}

impl<S: Solver> Shared<S> {
    /// Remembers what `inner` says among `answers`.
    pub fn new(inner: S, answers: Answers) -> Self {
        Self { inner, answers, record: StageStatistics::default() }
    }

    fn recall(&self, query: &Query<'_>, key: &Key, budget: Budget) -> Option<Response> {
        let Remembered { answer, strength, budget: allowed } = self.answers.recall(key)?;
        let is_good = match &answer {
            Answer::Sat(model) => query.holds(model),
            Answer::Unsat => true,
            Answer::Unknown(_) => budget == budget.min(allowed),
        };
        is_good.then(|| Response { answer, stage: Stage::Cache, strength, work: Work::default() })
    }
}

impl<S: Solver> Solver for Shared<S> {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        let start = Instant::now();
        let key = key(query);
        if let Some(response) = self.recall(query, &key, budget) {
            self.record.note(&response, start.elapsed());
            return response;
        }
        let conditions = fingerprints(query);
        if self.answers.refute(&conditions) {
            let response = Response::new(Stage::Cache, Answer::Unsat, Work::default());
            self.record.note(&response, start.elapsed());
            return response;
        }
        let looking = start.elapsed();
        let response = self.inner.solve(query, budget);
        if response.answer == Answer::Unsat {
            self.answers.remember_refuted(query.dag.fingerprint(query.goal), conditions);
        }
        // Time depends on the machine, and may be longer the next time.
        if !matches!(response.answer, Answer::Unknown(Reason::OutOfTime)) {
            let Response { answer, strength, .. } = response.clone();
            self.answers.remember(key, Remembered { answer, strength, budget });
        }
        let miss = Response::new(Stage::Cache, Answer::Unknown(Reason::NotFound), Work::default());
        self.record.note(&miss, looking);
        response
    }

    fn collect(&self, statistics: &mut Statistics) {
        statistics.add_stage(Stage::Cache, &self.record);
        self.inner.collect(statistics);
    }
}

/// Of all conditions, sorted, each once.
fn fingerprints(query: &Query<'_>) -> Vec<u64> {
    let mut conditions: Vec<u64> = query.conditions().map(|id| query.dag.fingerprint(id)).collect();
    conditions.sort_unstable();
    conditions.dedup();
    conditions
}

fn key(query: &Query<'_>) -> Key {
    let mut halves = [0u8, 1].map(|half| {
        let mut hasher = DefaultHasher::new();
        half.hash(&mut hasher);
        hasher
    });
    let mut add = |value: u64| halves.iter_mut().for_each(|half| half.write_u64(value));
    query.conditions().for_each(|condition| add(query.dag.fingerprint(condition)));
    for byte in bytes_read_by(query.dag, query.conditions()) {
        let value = query.seed.byte(byte.region, byte.offset);
        add(u64::from(byte.region.0) << 32 | u64::from(byte.offset));
        add(value.into());
    }
    halves.map(|half| half.finish())
}
