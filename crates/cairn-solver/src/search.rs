//! Tries values, guided by how far conditions are from holding.
//!
//! No single way of choosing candidates wins everywhere, so a few take turns on one compiled query ([`problem`]):
//!
//! 1. [`domain`]: conditions on one byte tell which values it can have; [`exhaustive`] tries everything where that is little.
//! 2. [`parity`] and [`sums`]: equations that are linear, over bits or over numbers, are solved as such, and those that
//!    inversion meets on its way.
//! 3. [`spelling`]: a number that is read from digits and known is written down.
//! 4. [`descent`]: one number after the other is moved while that helps, by the [`distance`] of the conditions.
//! 5. [`repair`]: a move, and the equations it broke mended by inversion.
//! 6. Restarts from candidates changed at random, until the budget is used up.

mod constants;
mod descent;
mod distance;
mod distances;
mod domain;
mod equations;
mod exhaustive;
mod parity;
mod problem;
mod random;
mod repair;
mod spelling;
mod sums;
mod variable;

use self::{
    constants::Constants,
    descent::descend,
    distance::Metric,
    domain::Domains,
    equations::{equations, waypoints},
    exhaustive::{Exhausted, n_candidates, try_everything},
    parity::solve_parities,
    problem::{Compiled, Problem},
    random::Random,
    repair::{mend, move_and_mend},
    spelling::spell,
    sums::solve_sums,
    variable::{Kind, Variable, variables},
};
use crate::{Answer, Budget, Query, Reason, Response, Solver, Stage, Statistics, Work};

/// Candidates that are all tried before anything else.
const FEW_CANDIDATES: u64 = 2_048;

/// Candidates that are all tried when everything else failed.
const MANY_CANDIDATES: u64 = 1 << 17;

/// Searches for values by trying them.
///
/// It finds models, and refutes only what few candidates can satisfy. The same seed makes the same choices on the same
/// query, whatever was asked before.
#[derive(Clone, Debug)]
pub struct Search {
    seed: u64,
    domains: Domains,
}

impl Search {
    /// Makes its random choices from a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, domains: Domains::default() }
    }
}

impl Solver for Search {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        let Some(compiled) = Compiled::new(query) else {
            return Response::new(Stage::Search, Answer::Unknown(Reason::TooLarge), Work::default());
        };
        let mut problem = Problem::new(&compiled, query, budget, &mut self.domains);
        let mut random = Random::new(self.seed ^ query.dag.fingerprint(query.goal));
        let answer = search(&mut problem, &mut random);
        let work = Work { evaluations: problem.evaluations(), rlimit: 0 };
        Response::new(Stage::Search, answer, work)
    }

    fn collect(&self, _: &mut Statistics) {}
}

fn search(problem: &mut Problem<'_>, random: &mut Random) -> Answer {
    if problem.is_solved() {
        return Answer::Sat(problem.model());
    }
    if (0..problem.n_slots()).any(|slot| problem.domain(slot).values().is_empty()) {
        return Answer::Unsat;
    }
    let n_candidates = n_candidates(problem).unwrap_or(u64::MAX);
    if n_candidates <= FEW_CANDIDATES {
        match try_everything(problem) {
            Exhausted::Found => return Answer::Sat(problem.model()),
            Exhausted::Refuted => return Answer::Unsat,
            Exhausted::Unfinished => return Answer::Unknown(spent(problem)),
        }
    }
    // If trying everything is possible, cleverness must not use up what that takes.
    let everything = if n_candidates <= MANY_CANDIDATES { 2 * n_candidates } else { u64::MAX };
    let can_exhaust = everything < problem.left();
    let clever = if can_exhaust { (problem.left() - everything).min(n_candidates / 2) } else { u64::MAX };
    let limit = problem.limit_to(clever);
    if guided(problem, random) {
        return Answer::Sat(problem.model());
    }
    problem.set_limit(limit);
    if can_exhaust {
        match try_everything(problem) {
            Exhausted::Found => return Answer::Sat(problem.model()),
            Exhausted::Refuted => return Answer::Unsat,
            Exhausted::Unfinished => {}
        }
    }
    Answer::Unknown(spent(problem))
}

fn spent(problem: &Problem<'_>) -> Reason {
    if problem.is_late() { Reason::OutOfTime } else { Reason::OutOfWork }
}

/// All that is cleverer than trying everything. Whether everything holds then.
fn guided(problem: &mut Problem<'_>, random: &mut Random) -> bool {
    to_domains(problem);
    let start = problem.bytes().to_vec();
    let equations = equations(problem);
    if solve_sums(problem, &equations, random) || solve_parities(problem, &equations, random) {
        return true;
    }
    problem.restore(&start);
    for waypoint in waypoints(problem) {
        if solve_sums(problem, &[waypoint], random) || solve_parities(problem, &[waypoint], random) {
            return true;
        }
    }
    problem.restore(&start);
    if spell(problem) {
        return true;
    }
    let variables = variables(problem);
    let constants = Constants::of(problem);
    let mut best = problem.bytes().to_vec();
    let mut least = problem.total();
    for round in 0.. {
        problem.set_metric(if round % 4 == 3 { Metric::Bits } else { Metric::Difference });
        if descend(problem, &variables, &constants) || mend(problem, &[]) {
            return true;
        }
        if wander(problem, &variables, &constants, random) {
            return true;
        }
        problem.set_metric(Metric::Difference);
        if problem.total() < least {
            least = problem.total();
            best = problem.bytes().to_vec();
        }
        if problem.is_spent() {
            return false;
        }
        restart(problem, if round % 2 == 0 { &best } else { &start }, &variables, &constants, random);
    }
    false
}

/// Moves every byte to a value it can have.
fn to_domains(problem: &mut Problem<'_>) {
    let bytes: Vec<u8> =
        (0..problem.n_slots()).map(|slot| problem.domain(slot).nearest(problem.bytes()[slot])).collect();
    problem.restore(&bytes);
}

/// Moves of one variable with repair, and of two at once, while the descent is stuck. Whether everything holds then.
fn wander(
    problem: &mut Problem<'_>,
    variables: &[Variable],
    constants: &Constants,
    random: &mut Random,
) -> bool {
    let n_moves = 8 + 4 * variables.len().min(32);
    for _ in 0..n_moves {
        if problem.is_spent() {
            return false;
        }
        let variable = random.choose(variables);
        let improved = match random.below(2) {
            0 => move_and_mend(problem, variable, constants.numbers(), random),
            _ => move_two(problem, variable, random.choose(variables), random),
        };
        if improved && (problem.is_solved() || descend(problem, variables, constants)) {
            return true;
        }
    }
    false
}

/// Moves two variables, against each other or together, and keeps what is better. Whether it was.
fn move_two(problem: &mut Problem<'_>, a: &Variable, b: &Variable, random: &mut Random) -> bool {
    let before = problem.total();
    let (x, y) = (a.bits(problem), b.bits(problem));
    for sign in [-1, 1] {
        for _ in 0..4 {
            let step = 1i64 << random.below(a.reach(problem).min(b.reach(problem)) as usize + 1).min(62);
            let step = if random.below(2) == 0 { step } else { -step };
            a.try_bits(problem, a.moved(problem, x, step));
            if b.try_bits(problem, b.moved(problem, y, sign * step)) < before {
                return true;
            }
            a.try_bits(problem, x);
            b.try_bits(problem, y);
        }
    }
    false
}

/// Goes on from a candidate with some variables changed at random.
fn restart(
    problem: &mut Problem<'_>,
    from: &[u8],
    variables: &[Variable],
    constants: &Constants,
    random: &mut Random,
) {
    problem.restore(from);
    let n_changes = 1 + random.below(variables.len().min(6));
    for _ in 0..n_changes {
        let variable = random.choose(variables);
        let bits = match variable.kind {
            Kind::Byte => u64::from(*random.choose(problem.domain(variable.touch.slots[0]).values())),
            Kind::Word if random.below(2) == 0 => *random.choose(constants.integers()),
            Kind::Word => random.next() >> random.below(variable.width() as usize),
            Kind::Float => {
                let number = *random.choose(constants.numbers());
                let factor = f64::powi(2.0, random.below(16) as i32 - 8);
                variable.bits_of(if random.below(2) == 0 { number * factor } else { -number * factor })
            }
        };
        variable.try_bits(problem, bits);
    }
}
