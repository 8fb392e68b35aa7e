//! From input to input towards a goal.
//!
//! The ways of all runs make a tree. Wherever a way could have gone on otherwise than any run did, there may be another input;
//! the place that promises to come closest to the goal is asked about next. Branches of library functions count for the
//! conditions after them that depend on the same bytes, because that is what they may decide.

use super::{
    Traced, Tracer,
    goal::Goal,
    patience::Until,
    shape::{mix, shapes},
};
use crate::failure::Failure;
use cairn_concolic::{Event, Flip, Path, flip_besides};
use cairn_expr::InputByte;
use cairn_model::{Coverage, Input, ProgramMap, distance::Distances, map::Branch};
use cairn_solver::{Budget, Solver};
use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap, HashSet},
};

/// Who is asked.
pub struct Solvers<'a> {
    /// About the whole way.
    pub strict: &'a mut dyn Solver,
    /// About conditions of the map that cannot be decided otherwise on the same way: perhaps on another, if some of what library
    /// functions did may change.
    pub hopeful: &'a mut dyn Solver,
}

/// How much may be spent on the way.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Symbolic runs.
    pub runs: usize,
    /// What each question may cost.
    pub budget: Budget,
    /// When to stop.
    pub until: &'a Until,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Explored {
    /// The input that met the goal.
    pub found: Option<Input>,
    /// Symbolic runs made beside the first.
    pub n_runs: usize,
    /// Questions asked.
    pub n_questions: usize,
    /// Expressions that had another value than the run had, in all runs.
    pub n_disagreements: usize,
    /// Why it ended before everything was tried, if it was not for the number of runs.
    pub stopped: Option<&'static str>,
}

/// Looks for an input that meets `goal`, starting from `start` which does not.
pub fn explore(
    map: &ProgramMap,
    tracer: &mut Tracer<'_>,
    mut solvers: Solvers<'_>,
    start: Traced,
    goal: &Goal,
    effort: Effort<'_>,
    progress: &dyn Fn(&Explored),
) -> Result<Explored, Failure> {
    let mut explored = Explored::default();
    let mut search = Search::new(map, goal);
    let mut inputs: HashSet<String> = HashSet::from([start.path.regions().input().address()]);
    search.add(start.path, None);
    while let Some(question) = search.next() {
        if explored.n_runs >= effort.runs || explored.n_questions >= QUESTIONS_PER_RUN * effort.runs {
            break;
        }
        if let Some(why) = effort.until.over() {
            explored.stopped = Some(why);
            break;
        }
        progress(&explored);
        explored.n_questions += 1;
        let budget = effort.until.limit(effort.budget);
        let Flip::Solved(solved) = search.ask(&question, &mut solvers, budget) else { continue };
        if !inputs.insert(solved.input.address()) {
            continue;
        }
        let traced = tracer.trace(&solved.input)?;
        explored.n_runs += 1;
        explored.n_disagreements += traced.path.n_mistakes();
        let mut coverage = Coverage::empty(map);
        coverage.add(&traced.run.execution.counters);
        if goal.is_met(map, &coverage) {
            explored.found = Some(solved.input);
            break;
        }
        search.add(traced.path, Some(question.path));
    }
    Ok(explored)
}

/// Most questions are cheap and many have no answer.
const QUESTIONS_PER_RUN: usize = 50;

/// A branch from which no way leads to the goal is tried last, but it is tried: the map does not know all ways.
const FAR: u32 = 10_000;

/// How much a branch loses each time it was tried.
const LOSS: u32 = 2;

/// More ways than this from one place are not looked for.
const MAX_WAYS: usize = 64;

/// How many bytes of a step are looked at to find what it is good for.
const MAX_BYTES: usize = 64;

/// The tree of all ways seen, and the places in it from which another may lead.
struct Search<'a> {
    map: &'a ProgramMap,
    distances: Vec<Distances>,
    waiting: BinaryHeap<Reverse<Waiting>>,
    paths: Vec<Path>,
    /// How many steps each path is from the last one that took a branch nobody took before.
    boredom: Vec<u32>,
    /// Branches of the map that were taken.
    taken: HashSet<Branch>,
    /// Places by what has to hold to come there.
    places: HashMap<u64, Place>,
    /// How often each kind of place was tried.
    tried: HashMap<Kind, u32>,
    n_added: u64,
}

/// What places have in common: the branch of the map that leaving them otherwise is good for and, inside library functions,
/// the shape of what is decided.
type Kind = (Option<Branch>, u64);

/// A place where ways part.
#[derive(Default)]
struct Place {
    /// The ways taken from here: what held, by path and step.
    ways: Vec<(usize, usize)>,
    /// Whether there are no others.
    is_complete: bool,
    /// How many were known when another was asked for.
    n_asked: usize,
    /// The least cost at which it waits.
    waits_at: Option<u32>,
    /// That of the least boring path that came here.
    boredom: Option<u32>,
}

/// A place to be left otherwise, cheapest and oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    cost: u32,
    order: u64,
    path: usize,
    step: usize,
    place: u64,
    kind: Kind,
}

impl<'a> Search<'a> {
    fn new(map: &'a ProgramMap, goal: &Goal) -> Self {
        Self {
            map,
            distances: goal.distances(map),
            waiting: BinaryHeap::new(),
            paths: Vec::new(),
            boredom: Vec::new(),
            taken: HashSet::new(),
            places: HashMap::new(),
            tried: HashMap::new(),
            n_added: 0,
        }
    }

    /// Adds the way of a run that was made from another's; places that it leaves as nobody did are worth another question, and
    /// so are places from which it shows that the goal is closer than it seemed.
    fn add(&mut self, path: Path, made_from: Option<usize>) {
        let mut is_new = false;
        for branch in path.steps().iter().filter_map(|step| opposite(&step.event)) {
            is_new |= self.taken.insert(Branch { direction: !branch.direction, ..branch });
        }
        let before = made_from.map_or(0, |other| self.boredom[other] + 1);
        self.boredom.push(if is_new { 0 } else { before });
        let aims = self.aims(&path);
        let shapes = shapes(path.dag());
        let number = self.paths.len();
        self.paths.push(path);
        let mut here = 0;
        for (index, aim) in aims.into_iter().enumerate() {
            let path = &self.paths[number];
            let Some(constraint) = path.steps()[index].constraint else { continue };
            let holds = path.dag().fingerprint(constraint.holds);
            let place = self.places.entry(here).or_default();
            let boredom = self.boredom[number];
            place.boredom = Some(place.boredom.map_or(boredom, |least| least.min(boredom)));
            let mut is_known = false;
            for (other, step) in &place.ways {
                let other = &self.paths[*other];
                let Some(way) = other.steps()[*step].constraint else { continue };
                is_known |= other.dag().fingerprint(way.holds) == holds;
                place.is_complete |= other.dag().fingerprint(way.otherwise) == holds;
            }
            if !is_known && place.ways.len() < MAX_WAYS {
                place.ways.push((number, index));
                place.waits_at = None;
            }
            let is_library = opposite(&path.steps()[index].event).is_none();
            let kind = (aim, if is_library { shapes[constraint.otherwise.index()] } else { 0 });
            self.offer(number, index, here, kind);
            here = mix(here, holds);
        }
    }

    /// Lets a place wait, unless it does so at a lower cost or was asked about.
    fn offer(&mut self, path: usize, step: usize, at: u64, kind: Kind) {
        let waiting = Waiting { cost: 0, order: self.n_added, path, step, place: at, kind };
        let cost = self.cost(&waiting);
        let Some(place) = self.places.get_mut(&at) else { return };
        let is_settled = place.is_complete || place.n_asked == place.ways.len();
        if is_settled || place.waits_at.is_some_and(|other| other <= cost) {
            return;
        }
        place.waits_at = Some(cost);
        self.n_added += 1;
        self.waiting.push(Reverse(Waiting { cost, ..waiting }));
    }

    /// The most promising place.
    fn next(&mut self) -> Option<Waiting> {
        loop {
            let Reverse(waiting) = self.waiting.pop()?;
            // Things like it may have been tried since it was added.
            let cost = self.cost(&waiting);
            let Some(place) = self.places.get_mut(&waiting.place) else { continue };
            if place.is_complete || place.n_asked == place.ways.len() {
                continue;
            }
            if cost > waiting.cost {
                self.waiting.push(Reverse(Waiting { cost, ..waiting }));
                continue;
            }
            place.n_asked = place.ways.len();
            *self.tried.entry(waiting.kind).or_default() += 1;
            return Some(waiting);
        }
    }

    /// Asks for an input that leaves a place as nobody did.
    fn ask(&mut self, waiting: &Waiting, solvers: &mut Solvers<'_>, budget: Budget) -> Flip {
        let ways = self.places.get(&waiting.place).map_or_else(Vec::new, |place| place.ways.clone());
        let mut path = std::mem::take(&mut self.paths[waiting.path]);
        let mut others = Vec::new();
        for (other, step) in ways.into_iter().filter(|(other, _)| *other != waiting.path) {
            let other = &self.paths[other];
            if let Some(way) = other.steps()[step].constraint {
                others.push(path.adopt(other, way.holds));
            }
        }
        let mut answer = flip_besides(&mut path, waiting.step, &others, solvers.strict, budget);
        if matches!(answer, Flip::Unsat | Flip::Fixed(_)) {
            if opposite(&path.steps()[waiting.step].event).is_some() {
                answer = flip_besides(&mut path, waiting.step, &[], solvers.hopeful, budget);
            }
            if let Some(place) = self.places.get_mut(&waiting.place) {
                place.is_complete = true;
            }
        }
        self.paths[waiting.path] = path;
        answer
    }

    /// How far the goal is from where a place would be left to, and more for each time that something like it was tried, for
    /// each way that is known from there, and for each run since something new was seen.
    fn cost(&self, waiting: &Waiting) -> u32 {
        let n_tried = self.tried.get(&waiting.kind).copied().unwrap_or(0);
        let place = self.places.get(&waiting.place);
        let n_ways = place.map_or(0, |place| place.ways.len() as u32);
        let boredom = place.and_then(|place| place.boredom).unwrap_or(0);
        let distance = waiting.kind.0.and_then(|aim| self.distance(aim)).unwrap_or(FAR);
        distance.saturating_add((n_tried + n_ways + 2 * boredom).saturating_mul(LOSS))
    }

    /// What deciding each step otherwise is good for: a condition of the map for its other branch; anything else for the
    /// nearest condition after it that depends on the same bytes, or else for the next one.
    fn aims(&self, path: &Path) -> Vec<Option<Branch>> {
        let mut aims = vec![None; path.steps().len()];
        let mut next = None;
        let mut nearest: HashMap<InputByte, (u32, Branch)> = HashMap::new();
        for (index, step) in path.steps().iter().enumerate().rev() {
            let taint = path.taint(&step.event);
            let bytes = taint.iter().flat_map(|range| {
                (range.start..range.end).map(|offset| InputByte { region: range.region, offset })
            });
            match opposite(&step.event) {
                Some(branch) => {
                    let distance = self.distance(branch).unwrap_or(FAR);
                    for byte in bytes.take(MAX_BYTES) {
                        let known = nearest.entry(byte).or_insert((distance, branch));
                        *known = (*known).min((distance, branch));
                    }
                    next = Some(branch);
                    aims[index] = next;
                }
                None => {
                    let related = bytes.take(MAX_BYTES).filter_map(|byte| nearest.get(&byte)).min();
                    aims[index] = related.map(|(_, branch)| *branch).or(next);
                }
            }
        }
        aims
    }

    fn distance(&self, aim: Branch) -> Option<u32> {
        let condition = self.map.conditions.get(aim.condition.index())?;
        let block = &self.map.blocks[condition.block.index()];
        let start = block.successors.iter().find(|edge| edge.shows == Some(aim)).map(|edge| edge.to);
        let start = start.unwrap_or(condition.block);
        self.distances.iter().filter_map(|distances| distances.from(start)).min()
    }
}

/// The branch of the map that was not taken.
fn opposite(event: &Event) -> Option<Branch> {
    match *event {
        Event::Conditional { condition: Some(condition), direction, .. } => {
            Some(Branch { condition, direction: !direction })
        }
        _ => None,
    }
}
