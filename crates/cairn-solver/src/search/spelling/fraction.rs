//! Floating-point numbers, as `strtod` reads them.

use super::{
    Attempts, MAX_PLACES,
    decimal::beside,
    page::{End, Page},
};
use crate::{inversion::Demand, search::problem::Problem};
use cairn_expr::{Dag, ExprId, Op};
use std::ops::ControlFlow;

/// Parts of an expression that are looked at to see whether it is read from digits.
const MAX_PARTS: usize = 64;

const ENDS: [End; 5] = [End::Kept, End::Byte(b' '), End::Byte(0), End::Zeros, End::Byte(b'\n')];

/// Writes the number that is wanted, and those of few digits beside it.
pub fn write(problem: &mut Problem<'_>, attempts: &mut Attempts, demand: Demand) -> ControlFlow<()> {
    let numbers = beside(demand.value as u64, problem.dag.width(demand.node));
    for range in problem.dag.reads(demand.node).into_owned() {
        let page = Page::new(problem, range, &attempts.start);
        for place in 0..page.base().len().min(MAX_PLACES) {
            let room = page.base().len() - place;
            for text in numbers.iter().flat_map(|number| number.texts(room)) {
                for end in ENDS {
                    attempts.write(problem, &page, place, &text, end)?;
                }
            }
        }
        page.restore(problem);
    }
    ControlFlow::Continue(())
}

/// Whether an expression is a floating-point number that is read from digits: an integer and, if there is a point or an
/// exponent, a power of ten from a table.
pub fn is_read_from_digits(dag: &Dag, id: ExprId) -> bool {
    let is_integer = |id: ExprId| {
        matches!(dag.op(id), Op::UnsignedToF | Op::SignedToF) && adds_digits(dag, dag.node(id).operand(0))
    };
    let mut open = vec![id];
    for _ in 0..MAX_PARTS {
        let Some(next) = open.pop() else { return false };
        let node = dag.node(next);
        match node.op() {
            Op::Ite => open.extend([node.operand(1), node.operand(2)]),
            Op::FToF => open.push(node.operand(0)),
            // The sign is chosen; what is always negated is computed from a number.
            Op::FNeg if next != id => open.push(node.operand(0)),
            Op::FMul | Op::FDiv => {
                let (a, b) = (node.operand(0), node.operand(1));
                if [(a, b), (b, a)].iter().any(|(a, b)| is_integer(*a) && dag.op(*b) == Op::Table) {
                    return true;
                }
            }
            _ if is_integer(next) => return true,
            _ => {}
        }
    }
    false
}

/// Whether an integer is made from digits, each of which is added to ten times those before it.
fn adds_digits(dag: &Dag, id: ExprId) -> bool {
    let mut open = vec![id];
    for _ in 0..MAX_PARTS {
        let Some(next) = open.pop() else { return false };
        let node = dag.node(next);
        match node.op() {
            Op::Mul if node.operands().iter().any(|id| dag.constant_value(*id) == Some(10)) => return true,
            Op::Ite => open.extend([node.operand(2), node.operand(1)]),
            Op::Add | Op::Sub | Op::Neg | Op::ZExt | Op::SExt => open.extend(node.operands()),
            _ => {}
        }
    }
    false
}
