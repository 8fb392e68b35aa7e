//! Numbers that the input spells with digits.
//!
//! What `strtod` makes of text is one expression, in which every byte may be a digit, a point, a sign or the letter of an
//! exponent. From `1111` no change of a single byte leads closer to `3.75`, so neither descent nor inversion gets there. But
//! inversion knows which number is wanted, and a number that is known can be written down.
//!
//! Where a range is asked for, inversion names its end. Numbers of few digits beside it are tried too: one of them lies in
//! any range that has room for it.

mod decimal;

use self::decimal::beside;
use super::problem::{Problem, Touch};
use crate::inversion::{Demand, Inversion};
use cairn_expr::{Dag, ExprId, InputByte, InputRange, Op};

/// Broken conditions that are followed to numbers.
const MAX_BROKEN: usize = 3;

/// Numbers taken from each.
const MAX_NUMBERS: usize = 4;

/// Steps from operation to operation on the way to them.
const MAX_STEPS: usize = 400;

/// Bytes at which a number may begin: before it there may be white space.
const MAX_PLACES: usize = 4;

/// Parts of an expression that are looked at to see whether it is read from digits.
const MAX_PARTS: usize = 64;

/// What is written behind a number, so that it ends there.
#[derive(Clone, Copy)]
enum End {
    /// Nothing: what is there stays.
    Kept,
    /// One byte that belongs to no number.
    Byte(u8),
    /// Zeros to the last byte, which do not change a fraction.
    Zeros,
}

const ENDS: [End; 5] = [End::Kept, End::Byte(b' '), End::Byte(0), End::Zeros, End::Byte(b'\n')];

/// Writes numbers that broken conditions want to where they are read. Whether everything holds then; if not, the best candidate
/// is left in place.
pub fn spell(problem: &mut Problem<'_>) -> bool {
    let mut best = problem.bytes().to_vec();
    let mut least = problem.total();
    for demand in wanted(problem) {
        let numbers = beside(demand.value as u64, problem.dag.width(demand.node));
        for range in problem.dag.reads(demand.node).into_owned() {
            let page = Page::new(problem, range);
            for place in 0..page.base.len().min(MAX_PLACES) {
                let room = page.base.len() - place;
                for text in numbers.iter().filter_map(|number| number.text(room)) {
                    for end in ENDS {
                        if problem.is_spent() {
                            problem.restore(&best);
                            return problem.is_solved();
                        }
                        let Some(distance) = page.write(problem, place, text.as_bytes(), end) else {
                            continue;
                        };
                        if distance < least {
                            least = distance;
                            best = problem.bytes().to_vec();
                        }
                        if problem.is_solved() {
                            return true;
                        }
                    }
                }
            }
            page.restore(problem);
        }
    }
    problem.restore(&best);
    false
}

/// The numbers that broken conditions want of what is read from digits.
fn wanted(problem: &Problem<'_>) -> Vec<Demand> {
    let dag = problem.dag;
    let mut found: Vec<Demand> = Vec::new();
    for broken in problem.broken().take(MAX_BROKEN) {
        let demand = Demand::whole(dag, broken, 1);
        let mut inversion = Inversion::new(demand, MAX_STEPS).up_to(is_read_from_digits);
        while inversion.next(dag, &mut |id| problem.value(id), &|_, _| false).is_some() {}
        let some = inversion.stopped().iter().take(MAX_NUMBERS);
        found.extend(some.filter(|demand| !found.contains(demand)).copied().collect::<Vec<_>>());
    }
    found
}

/// Whether an expression is a floating-point number that is read from digits: an integer and, if there is a point or an
/// exponent, a power of ten from a table.
fn is_read_from_digits(dag: &Dag, id: ExprId) -> bool {
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

/// Bytes that lie together, to be written on.
struct Page {
    touch: Touch,
    /// What they were.
    base: Vec<u8>,
}

impl Page {
    fn new(problem: &Problem<'_>, range: InputRange) -> Self {
        let first = problem.slot(InputByte { region: range.region, offset: range.start });
        let slots: Vec<usize> = (first..first + (range.end - range.start) as usize).collect();
        let base = slots.iter().map(|slot| problem.bytes()[*slot]).collect();
        Self { touch: problem.touch(slots), base }
    }

    /// Writes text that fits there, and what ends it; all other bytes are as they were. Returns the distance, or nothing if a
    /// byte cannot be what it should.
    fn write(&self, problem: &mut Problem<'_>, place: usize, text: &[u8], end: End) -> Option<f64> {
        let mut bytes = self.base.clone();
        let after = place + text.len();
        bytes[place..after].copy_from_slice(text);
        match end {
            End::Kept => {}
            End::Byte(byte) => *bytes.get_mut(after)? = byte,
            End::Zeros => {
                let rest = bytes.get_mut(after..).filter(|rest| !rest.is_empty() && !text.contains(&b'e'))?;
                rest.fill(b'0');
                if !text.contains(&b'.') {
                    rest[0] = b'.';
                }
            }
        }
        let is_allowed = |(slot, byte): (&usize, &u8)| problem.domain(*slot).contains(*byte);
        let mut changes = self.touch.slots.iter().zip(&bytes);
        if !changes.all(is_allowed) {
            return None;
        }
        for (slot, byte) in self.touch.slots.iter().zip(&bytes) {
            problem.set(*slot, *byte);
        }
        Some(problem.evaluate(&self.touch))
    }

    fn restore(&self, problem: &mut Problem<'_>) {
        for (slot, byte) in self.touch.slots.iter().zip(&self.base) {
            problem.set(*slot, *byte);
        }
        problem.evaluate(&self.touch);
    }
}
