//! A query compiled for trying many candidates.

use super::{
    distance::{Condition, Metric},
    distances::Distances,
    domain::{Domain, Domains},
};
use crate::{Budget, Model, Query, terms::changeable};
use cairn_expr::{Dag, ExprId, InputByte, InputRange, Machine, Slice, Tape};
use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

/// Evaluations of one byte's own conditions that count as one of the query.
const DOMAIN_DISCOUNT: u64 = 16;

/// Instructions and distances between two looks at the clock, some tens of microseconds.
const LOOK_AFTER: usize = 1 << 15;

/// Instructions looked through for touches.
const MAX_TOUCHED_CODE: usize = 4_000_000;

/// The compiled expressions of a query, which a [`Problem`] runs.
pub struct Compiled<'a> {
    dag: &'a Dag,
    tape: Tape,
    /// The roots of the tape, sorted.
    parts: Vec<ExprId>,
    conditions: Vec<ExprId>,
    /// What each condition reads.
    reads: Vec<Cow<'a, [InputRange]>>,
}

/// Pairs of a condition and a byte that it reads: all of them are kept, because a byte that changes means its conditions.
const MOST_READINGS: u64 = 4_000_000;

impl<'a> Compiled<'a> {
    /// Compiles a query; none if it is too large for a search to get anywhere.
    pub fn new(query: &Query<'a>) -> Option<Self> {
        let mut conditions: Vec<ExprId> = query.conditions().collect();
        conditions.sort_unstable();
        conditions.dedup();
        let dag = query.dag;
        let mut reads = Vec::with_capacity(conditions.len());
        let mut n_readings = 0;
        for condition in &conditions {
            let ranges = dag.reads(*condition);
            n_readings += ranges.iter().map(|range| u64::from(range.end - range.start)).sum::<u64>();
            if n_readings > MOST_READINGS {
                return None;
            }
            reads.push(ranges);
        }
        let mut parts = conditions.clone();
        for part in changeable(dag, &conditions) {
            parts.push(part);
            parts.extend(dag.node(part).operands());
        }
        parts.sort_unstable();
        parts.dedup();
        let tape = Tape::compile(dag, &parts);
        Some(Self { dag, tape, parts, conditions, reads })
    }
}

/// The place of an expression on the tape, where all parts of the query are.
fn place(parts: &[ExprId], id: ExprId) -> usize {
    parts.binary_search(&id).expect("the tape has all parts of the query")
}

/// A query, a candidate, and how far it is from holding.
pub struct Problem<'t> {
    /// Where the expressions are.
    pub dag: &'t Dag,
    /// Everything that has to hold.
    pub conditions: &'t [ExprId],
    machine: Machine<'t>,
    /// The roots of the tape, sorted, so that a place is found by bisection.
    parts: &'t [ExprId],
    compiled: Vec<Condition>,
    /// The conditions that read each slot.
    readers: Vec<Vec<usize>>,
    domains: Vec<Domain>,
    /// Of each condition.
    distances: Distances,
    metric: Metric,
    scratch: Vec<[f64; 2]>,
    evaluations: u64,
    limit: u64,
    start: Instant,
    timeout: Duration,
    /// Instructions and distances since somebody looked at the clock.
    since_look: usize,
    is_late: bool,
}

/// Slots that change together, and what has to be evaluated again then.
pub struct Touch {
    /// The slots.
    pub slots: Vec<usize>,
    slice: Slice,
    conditions: Vec<usize>,
}

impl<'t> Problem<'t> {
    /// Starts at the seed.
    pub fn new(compiled: &'t Compiled<'_>, query: &Query<'_>, budget: Budget, domains: &mut Domains) -> Self {
        let Compiled { dag, tape, parts, conditions, reads } = compiled;
        let machine = tape.machine(query.seed);
        let mut readers = vec![Vec::new(); tape.inputs().len()];
        for (index, ranges) in reads.iter().enumerate() {
            for range in ranges.iter() {
                let first = InputByte { region: range.region, offset: range.start };
                let first = tape.slot(first).expect("the tape reads what conditions read");
                let n_bytes = (range.end - range.start) as usize;
                for slot in &mut readers[first..first + n_bytes] {
                    slot.push(index);
                }
            }
        }
        let root = |id: ExprId| place(parts, id);
        let compiled = conditions.iter().map(|id| Condition::compile(dag, *id, &root)).collect();
        let mut problem = Self {
            dag,
            conditions,
            machine,
            parts,
            compiled,
            readers,
            domains: Vec::new(),
            distances: Distances::new(conditions.len()),
            metric: Metric::Difference,
            scratch: Vec::new(),
            evaluations: 1,
            limit: budget.evaluations,
            start: Instant::now(),
            timeout: budget.timeout,
            since_look: 0,
            is_late: false,
        };
        problem.find_domains(domains);
        problem.measure_all();
        problem
    }

    fn find_domains(&mut self, domains: &mut Domains) {
        for slot in 0..self.n_slots() {
            // A long input must not use up everything before the search begins.
            if self.evaluations > self.limit / 4 {
                self.domains.push(Domain::full());
                continue;
            }
            let alone: Vec<ExprId> = self.readers[slot]
                .iter()
                .map(|index| self.conditions[*index])
                .filter(|condition| {
                    let range = self.dag.reads_together(*condition);
                    range.is_some_and(|range| range.end - range.start == 1)
                })
                .collect();
            let (domain, n_evaluations) = domains.of(self.dag, &alone);
            // They look at this byte's own conditions only, which is a small part of an evaluation.
            self.evaluations += n_evaluations / DOMAIN_DISCOUNT;
            self.domains.push(domain);
        }
    }

    /// How many bytes the query reads.
    pub fn n_slots(&self) -> usize {
        self.readers.len()
    }

    /// The bytes of the candidate, by slot.
    pub fn bytes(&self) -> &[u8] {
        self.machine.input()
    }

    /// The values a byte can have, as far as conditions on it alone tell.
    pub fn domain(&self, slot: usize) -> &Domain {
        &self.domains[slot]
    }

    /// The slot of a byte of the input, which the query reads.
    pub fn slot(&self, byte: InputByte) -> usize {
        self.machine.tape().slot(byte).expect("the query reads it")
    }

    /// The value of an expression of the query.
    pub fn value(&self, id: ExprId) -> u128 {
        self.machine.value(place(self.parts, id))
    }

    /// The lowest 64 bits of the value of an expression of the query.
    pub fn low_value(&self, id: ExprId) -> u64 {
        self.machine.low_value(place(self.parts, id))
    }

    /// How many touches are worth their making: each looks through the whole tape.
    pub fn max_touches(&self) -> usize {
        MAX_TOUCHED_CODE / self.machine.tape().len().max(1)
    }

    /// What has to be evaluated again when these slots change.
    pub fn touch(&self, slots: Vec<usize>) -> Touch {
        let slice = self.machine.tape().slice(&slots);
        let mut conditions: Vec<usize> =
            slots.iter().flat_map(|slot| self.readers[*slot].iter().copied()).collect();
        conditions.sort_unstable();
        conditions.dedup();
        Touch { slots, slice, conditions }
    }

    /// Changes a byte of the candidate; values follow with [`Problem::evaluate`].
    pub fn set(&mut self, slot: usize, value: u8) {
        self.machine.set(slot, value);
    }

    /// Evaluates what depends on the touched slots and returns the distance of the whole query.
    pub fn evaluate(&mut self, touch: &Touch) -> f64 {
        self.count(touch.slice.len() + touch.conditions.len());
        self.machine.run_slice(&touch.slice);
        let Self { compiled, machine, metric, scratch, .. } = self;
        self.distances.update(&touch.conditions, |index| compiled[index].distance(machine, *metric, scratch));
        self.total()
    }

    /// Puts a whole candidate in place and returns its distance.
    pub fn restore(&mut self, bytes: &[u8]) -> f64 {
        for (slot, value) in bytes.iter().enumerate() {
            self.machine.set(slot, *value);
        }
        self.count(self.machine.tape().len() + self.conditions.len());
        self.machine.run();
        self.measure_all();
        self.total()
    }

    fn measure_all(&mut self) {
        let Self { compiled, machine, metric, scratch, .. } = self;
        self.distances.set_all(|index| compiled[index].distance(machine, *metric, scratch));
    }

    /// The distance of the candidate; 0 if everything holds.
    pub fn total(&self) -> f64 {
        self.distances.total()
    }

    /// Whether everything holds.
    pub fn is_solved(&self) -> bool {
        self.distances.of_all().iter().all(|distance| *distance == 0.0)
    }

    /// The conditions that do not hold.
    pub fn broken(&self) -> impl Iterator<Item = ExprId> + '_ {
        let pairs = self.conditions.iter().zip(self.distances.of_all());
        pairs.filter(|(_, distance)| **distance > 0.0).map(|(condition, _)| *condition)
    }

    /// Whether a change there can help: a broken condition reads it.
    pub fn matters(&self, touch: &Touch) -> bool {
        touch.conditions.iter().any(|index| self.distances.of_all()[*index] > 0.0)
    }

    /// Measures differently from now on.
    pub fn set_metric(&mut self, metric: Metric) {
        self.metric = metric;
        self.measure_all();
    }

    /// Counts an evaluation of this size.
    fn count(&mut self, size: usize) {
        self.evaluations += 1;
        self.since_look += 16 + size;
        if self.since_look >= LOOK_AFTER {
            self.since_look = 0;
            self.is_late = self.start.elapsed() > self.timeout;
        }
    }

    /// Notes whether it is late, after work that counts as no evaluation.
    pub fn look_at_clock(&mut self) {
        self.is_late = self.start.elapsed() > self.timeout;
    }

    /// Evaluations so far.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// Allows `more` evaluations from here on, or fewer if less is left; returns the limit there was.
    pub fn limit_to(&mut self, more: u64) -> u64 {
        let before = self.limit;
        self.limit = before.min(self.evaluations.saturating_add(more));
        before
    }

    /// Goes back to a limit there was.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Evaluations that are left.
    pub fn left(&self) -> u64 {
        if self.is_late { 0 } else { self.limit.saturating_sub(self.evaluations) }
    }

    /// Whether work or time is used up.
    pub fn is_spent(&self) -> bool {
        self.left() == 0
    }

    /// Whether it is time that is used up.
    pub fn is_late(&self) -> bool {
        self.is_late
    }

    /// The candidate as a model.
    pub fn model(&self) -> Model {
        let inputs = self.machine.tape().inputs();
        inputs.iter().zip(self.bytes()).map(|(byte, value)| (byte.region, byte.offset, *value)).collect()
    }
}
