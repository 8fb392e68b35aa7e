//! The equations among the conditions: what has to be equal, come what may.

use super::problem::Problem;
use crate::{
    inversion::{Demand, Inversion},
    terms::bytes_read_by,
};
use cairn_expr::{ExprId, Op, mask};

/// Broken conditions that are followed to equations.
const MAX_BROKEN: usize = 3;

/// Equations taken from each.
const MAX_WAYPOINTS: usize = 8;

/// Steps from operation to operation.
const MAX_STEPS: usize = 400;

/// A value that has to be equal to another, or to a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equation {
    a: ExprId,
    b: Side,
    /// The width of both, at most 64.
    pub width: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Term(ExprId),
    Value(u64),
}

impl Equation {
    /// Both sides as they are.
    fn sides(&self, problem: &Problem<'_>) -> (u64, u64) {
        let b = match self.b {
            Side::Term(id) => problem.low_value(id),
            Side::Value(value) => value,
        };
        (problem.low_value(self.a), b)
    }

    /// The first less the second, wrapped to the width.
    pub fn difference(&self, problem: &Problem<'_>) -> u64 {
        let (a, b) = self.sides(problem);
        a.wrapping_sub(b) & mask(self.width) as u64
    }

    /// The bits in which both sides differ.
    pub fn differing_bits(&self, problem: &Problem<'_>) -> u64 {
        let (a, b) = self.sides(problem);
        a ^ b
    }

    fn terms(&self) -> impl Iterator<Item = ExprId> {
        let b = match self.b {
            Side::Term(id) => Some(id),
            Side::Value(_) => None,
        };
        [self.a].into_iter().chain(b)
    }
}

/// The equations that every solution satisfies, of at least a byte.
pub fn equations(problem: &Problem<'_>) -> Vec<Equation> {
    let dag = problem.dag;
    let mut found = Vec::new();
    let mut open: Vec<(ExprId, bool)> =
        problem.conditions.iter().map(|condition| (*condition, true)).collect();
    while let Some((id, wanted)) = open.pop() {
        let node = dag.node(id);
        match (node.op(), wanted) {
            (Op::And, true) | (Op::Or, false) if node.width() == 1 => {
                open.extend(node.operands().into_iter().map(|operand| (operand, wanted)));
            }
            (Op::Not, _) => open.push((node.operand(0), !wanted)),
            (Op::Eq, true) | (Op::Ne, false) => {
                let (a, b) = (node.operand(0), node.operand(1));
                let width = dag.width(a);
                let equation = Equation { a, b: Side::Term(b), width };
                if (8..=64).contains(&width) && !dag.is_fixed(id) && !found.contains(&equation) {
                    found.push(equation);
                }
            }
            _ => {}
        }
    }
    found
}

/// Equations on the way from broken conditions to the input: `hash % 100 == 7` needs a hash, `n / 10.0 == 2.5` a number.
pub fn waypoints(problem: &Problem<'_>) -> Vec<Equation> {
    let dag = problem.dag;
    let mut found = Vec::new();
    for broken in problem.broken().take(MAX_BROKEN) {
        let mut inversion = Inversion::new(Demand::whole(dag, broken, 1), MAX_STEPS);
        while inversion.next(dag, &mut |id| problem.value(id), &|_, _| false).is_some() {}
        for demand in inversion.waypoints().iter().take(MAX_WAYPOINTS) {
            let (a, width) = (demand.node, dag.width(demand.node));
            found.push(Equation { a, b: Side::Value(demand.value as u64), width });
        }
    }
    found
}

/// The slots that the sides of some equations read; none if they are too many.
pub fn slots(problem: &Problem<'_>, equations: &[Equation]) -> Vec<usize> {
    let sides = equations.iter().flat_map(Equation::terms);
    let mut slots: Vec<usize> = bytes_read_by(problem.dag, sides).map(|byte| problem.slot(byte)).collect();
    slots.sort_unstable();
    if slots.len() > problem.max_touches() {
        slots.clear();
    }
    slots
}
