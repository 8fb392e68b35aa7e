//! Asks for an input that decides otherwise.

use crate::{event::Event, fixed::Fixed, path::Path, regions::ApplyError};
use cairn_expr::{ExprId, Op};
use cairn_model::Input;
use cairn_solver::{Answer, Budget, Model, Query, Reason, Response, Solver, Stage, Strength};

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flip {
    /// Here is an input.
    Solved(Box<Solved>),
    /// There is none that takes the same way up to the step. This follows from what the program itself decides.
    Unsat,
    /// There is none with these values, which other inputs may well change on the same way.
    Fixed(Fixed),
    /// Nobody knows.
    Unknown(Reason),
    /// The bytes that were found make no input.
    NoInput(ApplyError),
    /// The step does not depend on the input in a way that can be followed.
    NotSymbolic,
}

/// An input that was found. Only a run tells whether it does what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    /// The input.
    pub input: Input,
    /// What differs from the run's own.
    pub model: Model,
    /// Who found it.
    pub stage: Stage,
    /// Whether the whole path was asked for.
    pub strength: Strength,
    /// What was asked for.
    pub demands: Demands,
}

/// What has to hold of an input before the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Demands {
    /// Everything that held of the run.
    All,
    /// Only what the program itself decided: with all that was fixed, there is no input.
    Own,
}

/// Asks for an input that takes the same way up to a step and decides otherwise there.
pub fn flip(path: &Path, step: usize, solver: &mut dyn Solver, budget: Budget) -> Flip {
    let Some(constraint) = path.steps()[step].constraint else { return Flip::NotSymbolic };
    let is_repeated = path.steps()[..step]
        .iter()
        .filter(|before| before.constraint == Some(constraint))
        .map(|before| before.origin.is_of_the_way())
        .reduce(|one, other| one || other);
    match is_repeated {
        // A condition decided twice on the way cannot be decided otherwise the second time.
        Some(true) => refuted(path.fixed(step, constraint.otherwise)),
        Some(false) => without_ours(path, step, constraint.otherwise, solver, budget),
        None => solve(path, step, constraint.otherwise, solver, budget),
    }
}

/// Likewise, but does not ask again where everything together has no answer because of what was fixed: that is [`Flip::Fixed`] then.
pub fn flip_whole(path: &Path, step: usize, solver: &mut dyn Solver, budget: Budget) -> Flip {
    let Some(constraint) = path.steps()[step].constraint else { return Flip::NotSymbolic };
    let goal = constraint.otherwise;
    let is_repeated = path.steps()[..step].iter().any(|before| before.constraint == Some(constraint));
    let answer = match is_repeated {
        true => Flip::Unsat,
        false => ask(path, (&path.prefix(step), path.n_always()), goal, Demands::All, solver, budget),
    };
    match answer {
        Flip::Unsat if path.prefix_of_any_kind(step).1 == 0 => refuted(path.fixed(step, goal)),
        Flip::Unsat => Flip::Fixed(path.fixed(step, goal)),
        answer => answer,
    }
}

/// Asks for an input that takes the same way up to a step and does there neither what this run did nor what `others` did:
/// conditions that held of other runs at this step, as [`Path::adopt`] brings them here.
///
/// A branch has two ways, but an address may be any, and so may a length that a library function computes.
pub fn flip_besides(
    path: &mut Path,
    step: usize,
    others: &[ExprId],
    solver: &mut dyn Solver,
    budget: Budget,
) -> Flip {
    let Some(constraint) = path.steps()[step].constraint else { return Flip::NotSymbolic };
    let dag = path.dag_mut();
    let goal = others.iter().fold(constraint.otherwise, |goal, other| {
        let not = dag.unary(Op::Not, *other);
        dag.binary(Op::And, goal, not)
    });
    solve(path, step, goal, solver, budget)
}

/// Asks for an input that takes the same way up to the evaluation of a site, whose value is then `value`.
pub fn reach_value(
    path: &mut Path,
    step: usize,
    value: u64,
    solver: &mut dyn Solver,
    budget: Budget,
) -> Flip {
    let Event::SiteValue { expression: Some(expression), .. } = path.steps()[step].event else {
        return Flip::NotSymbolic;
    };
    let dag = path.dag_mut();
    let wanted = dag.constant(dag.width(expression), value.into());
    let goal = dag.compare(Op::Eq, expression, wanted);
    solve(path, step, goal, solver, budget)
}

/// Asks for an input that takes the same way up to a step and makes `goal` hold.
pub(crate) fn solve(path: &Path, step: usize, goal: ExprId, solver: &mut dyn Solver, budget: Budget) -> Flip {
    match ask(path, (&path.prefix(step), path.n_always()), goal, Demands::All, solver, budget) {
        Flip::Unsat => without_ours(path, step, goal, solver, budget),
        answer => answer,
    }
}

/// Asks again without what was fixed, because everything together has no answer.
fn without_ours(path: &Path, step: usize, goal: ExprId, solver: &mut dyn Solver, budget: Budget) -> Flip {
    let fixed = path.fixed(step, goal);
    if fixed.is_nothing() {
        let (prefix, n_kinds) = path.prefix_of_any_kind(step);
        return match n_kinds {
            0 => Flip::Unsat,
            _ => match ask(path, (&prefix, path.n_always() - n_kinds), goal, Demands::All, solver, budget) {
                Flip::Unsat => Flip::Unsat,
                _ => Flip::Fixed(Fixed { n_kinds, ..fixed }),
            },
        };
    }
    match ask(path, (&path.own_prefix(step), path.n_always()), goal, Demands::Own, solver, budget) {
        Flip::Solved(mut solved) => {
            // The way itself was not asked for, so that nobody takes the answer for a certain one.
            solved.strength = Strength::Optimistic { n_constraints: 0 };
            Flip::Solved(solved)
        }
        _ => Flip::Fixed(fixed),
    }
}

fn refuted(fixed: Fixed) -> Flip {
    if fixed.is_nothing() { Flip::Unsat } else { Flip::Fixed(fixed) }
}

/// Asks for an input with these conditions, of which so many of the first always hold.
fn ask(
    path: &Path,
    (constraints, n_always): (&[ExprId], usize),
    goal: ExprId,
    demands: Demands,
    solver: &mut dyn Solver,
    budget: Budget,
) -> Flip {
    let regions = path.regions();
    let query = Query { dag: path.dag(), constraints, n_always, goal, seed: regions };
    let Response { answer, stage, strength, .. } = solver.solve(&query, budget);
    let model = match answer {
        Answer::Sat(model) => model.changes(regions),
        Answer::Unsat => return Flip::Unsat,
        Answer::Unknown(reason) => return Flip::Unknown(reason),
    };
    match regions.apply(model.iter()) {
        Ok(input) => Flip::Solved(Box::new(Solved { input, model, stage, strength, demands })),
        Err(error) => Flip::NoInput(error),
    }
}
