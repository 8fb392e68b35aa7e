//! How far a condition is from holding.
//!
//! A condition that holds is at 0; the closest one that does not is at 1, and differences count by their logarithm, so
//! that no condition drowns the others: of integers on the circle of their width, of floating-point numbers by how many
//! numbers lie between. Conjunctions add, disjunctions take the nearest.
//!
//! See Tracey et al., "An automated framework for structural test-data generation", and XSat
//! (<https://doi.org/10.1007/978-3-319-41540-6_11>) for the distance between floating-point numbers.

use cairn_expr::{BuildMix, Dag, ExprId, Machine, Op, mask};
use std::collections::HashMap;

/// What a difference between integers that should be equal is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Their difference.
    Difference,
    /// How many bits differ.
    Bits,
}

/// The distance of what is not a number from everything.
const NOT_A_NUMBER: f64 = 66.0;

/// A condition compiled for measuring.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Its own place on the tape.
    root: usize,
    /// Steps over truth values, operands first; the last is the condition.
    steps: Vec<Step>,
}

/// How a truth value comes about.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A comparison of two roots of the tape.
    Compare {
        op: Op,
        width: u32,
        a: usize,
        b: usize,
    },
    /// A root of the tape that is 1 or 0.
    Flag {
        root: usize,
    },
    Not {
        a: usize,
    },
    And {
        a: usize,
        b: usize,
    },
    Or {
        a: usize,
        b: usize,
    },
    /// Whether two truth values are the same.
    Same {
        a: usize,
        b: usize,
    },
    Differ {
        a: usize,
        b: usize,
    },
    Ite {
        condition: usize,
        then: usize,
        otherwise: usize,
    },
}

/// How far a truth value is from being true, and from being false.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    to_true: f64,
    to_false: f64,
}

impl Condition {
    /// Compiles a condition. `root` is the place of an expression on the tape; all its parts are there.
    pub fn compile(dag: &Dag, id: ExprId, root: &dyn Fn(ExprId) -> usize) -> Self {
        let mut steps = Vec::new();
        let mut places: HashMap<ExprId, usize, BuildMix> = HashMap::default();
        let mut open = vec![id];
        while let Some(next) = open.last().copied() {
            if places.contains_key(&next) {
                open.pop();
                continue;
            }
            let node = dag.node(next);
            let operands = node.operands();
            let is_logic = !dag.is_fixed(next)
                && match node.op() {
                    Op::Not | Op::And | Op::Or | Op::Xor | Op::Ite => true,
                    Op::Eq | Op::Ne => dag.width(operands[0]) == 1,
                    _ => false,
                };
            if is_logic {
                let missing: Vec<ExprId> =
                    operands.iter().copied().filter(|operand| !places.contains_key(operand)).collect();
                if !missing.is_empty() {
                    open.extend(missing);
                    continue;
                }
            }
            let at = |n: usize| places[&operands[n]];
            let step = match node.op() {
                Op::Not if is_logic => Step::Not { a: at(0) },
                Op::And if is_logic => Step::And { a: at(0), b: at(1) },
                Op::Or if is_logic => Step::Or { a: at(0), b: at(1) },
                Op::Xor | Op::Ne if is_logic => Step::Differ { a: at(0), b: at(1) },
                Op::Eq if is_logic => Step::Same { a: at(0), b: at(1) },
                Op::Ite if is_logic => Step::Ite { condition: at(0), then: at(1), otherwise: at(2) },
                op if cairn_expr::is_comparison(op) && !dag.is_fixed(next) => Step::Compare {
                    op,
                    width: dag.width(operands[0]),
                    a: root(operands[0]),
                    b: root(operands[1]),
                },
                _ => Step::Flag { root: root(next) },
            };
            places.insert(next, steps.len());
            steps.push(step);
            open.pop();
        }
        Self { root: root(id), steps }
    }

    /// How far it is from holding on the machine's values.
    pub fn distance(&self, machine: &Machine<'_>, metric: Metric, scratch: &mut Vec<[f64; 2]>) -> f64 {
        // Most do hold.
        if machine.low_value(self.root) == 1 {
            return 0.0;
        }
        if let [step] = self.steps.as_slice() {
            return step.measure(machine, metric, &[]).to_true;
        }
        scratch.clear();
        for step in &self.steps {
            let pair = step.measure(machine, metric, scratch);
            scratch.push([pair.to_true, pair.to_false]);
        }
        scratch[self.steps.len() - 1][0]
    }
}

impl Step {
    #[inline]
    fn measure(&self, machine: &Machine<'_>, metric: Metric, before: &[[f64; 2]]) -> Pair {
        let pair = |place: usize| Pair { to_true: before[place][0], to_false: before[place][1] };
        match *self {
            Step::Compare { op, width, a, b } if width <= 64 => {
                compare(op, width, machine.low_value(a), machine.low_value(b), metric)
            }
            Step::Compare { op, width, a, b } => compare_wide(op, width, machine.value(a), machine.value(b)),
            Step::Flag { root } => flag(machine.low_value(root) == 1),
            Step::Not { a } => {
                let a = pair(a);
                Pair { to_true: a.to_false, to_false: a.to_true }
            }
            Step::And { a, b } => both(pair(a), pair(b)),
            Step::Or { a, b } => {
                let (a, b) = (pair(a), pair(b));
                Pair { to_true: a.to_true.min(b.to_true), to_false: a.to_false + b.to_false }
            }
            Step::Same { a, b } => same(pair(a), pair(b)),
            Step::Differ { a, b } => {
                let Pair { to_true, to_false } = same(pair(a), pair(b));
                Pair { to_true: to_false, to_false: to_true }
            }
            Step::Ite { condition, then, otherwise } => {
                let (condition, then, otherwise) = (pair(condition), pair(then), pair(otherwise));
                Pair {
                    to_true: (condition.to_true + then.to_true).min(condition.to_false + otherwise.to_true),
                    to_false: (condition.to_true + then.to_false)
                        .min(condition.to_false + otherwise.to_false),
                }
            }
        }
    }
}

fn flag(holds: bool) -> Pair {
    match holds {
        true => Pair { to_true: 0.0, to_false: 1.0 },
        false => Pair { to_true: 1.0, to_false: 0.0 },
    }
}

fn both(a: Pair, b: Pair) -> Pair {
    Pair { to_true: a.to_true + b.to_true, to_false: a.to_false.min(b.to_false) }
}

fn same(a: Pair, b: Pair) -> Pair {
    Pair {
        to_true: (a.to_true + b.to_true).min(a.to_false + b.to_false),
        to_false: (a.to_true + b.to_false).min(a.to_false + b.to_true),
    }
}

#[inline]
fn compare(op: Op, width: u32, a: u64, b: u64, metric: Metric) -> Pair {
    let all = mask(width) as u64;
    let sign = 1 << (width - 1);
    match op {
        Op::Eq => equal(a, b, all, metric),
        Op::Ne => {
            let Pair { to_true, to_false } = equal(a, b, all, metric);
            Pair { to_true: to_false, to_false: to_true }
        }
        Op::ULt => less(a, b),
        Op::ULe => at_most(a, b),
        Op::SLt => less(a ^ sign, b ^ sign),
        Op::SLe => at_most(a ^ sign, b ^ sign),
        _ => compare_floats(op, width, a, b),
    }
}

#[inline]
fn equal(a: u64, b: u64, all: u64, metric: Metric) -> Pair {
    if a == b {
        return Pair { to_true: 0.0, to_false: 1.0 };
    }
    let to_true = match metric {
        Metric::Difference => {
            let (up, down) = (a.wrapping_sub(b) & all, b.wrapping_sub(a) & all);
            logarithm(up.min(down) as f64)
        }
        Metric::Bits => f64::from((a ^ b).count_ones()),
    };
    Pair { to_true, to_false: 0.0 }
}

#[inline]
fn less(a: u64, b: u64) -> Pair {
    match a < b {
        true => Pair { to_true: 0.0, to_false: logarithm((b - a) as f64) },
        false => Pair { to_true: logarithm((a - b) as f64 + 1.0), to_false: 0.0 },
    }
}

#[inline]
fn at_most(a: u64, b: u64) -> Pair {
    let Pair { to_true, to_false } = less(b, a);
    Pair { to_true: to_false, to_false: to_true }
}

/// Integers wider than 64 bits are rare, so their distance is only roughly that of the others.
fn compare_wide(op: Op, width: u32, a: u128, b: u128) -> Pair {
    let all = mask(width);
    let sign = 1 << (width - 1);
    let less = |a: u128, b: u128| match a < b {
        true => Pair { to_true: 0.0, to_false: logarithm((b - a) as f64) },
        false => Pair { to_true: logarithm((a - b) as f64 + 1.0), to_false: 0.0 },
    };
    let inverse = |Pair { to_true, to_false }: Pair| Pair { to_true: to_false, to_false: to_true };
    let equal = || match a == b {
        true => Pair { to_true: 0.0, to_false: 1.0 },
        false => {
            let (up, down) = (a.wrapping_sub(b) & all, b.wrapping_sub(a) & all);
            Pair { to_true: logarithm(up.min(down) as f64), to_false: 0.0 }
        }
    };
    match op {
        Op::Eq => equal(),
        Op::Ne => inverse(equal()),
        Op::ULt => less(a, b),
        Op::ULe => inverse(less(b, a)),
        Op::SLt => less(a ^ sign, b ^ sign),
        _ => inverse(less(b ^ sign, a ^ sign)),
    }
}

fn compare_floats(op: Op, width: u32, a: u64, b: u64) -> Pair {
    let is_nan = |bits: u64| match width {
        32 => f32::from_bits(bits as u32).is_nan(),
        _ => f64::from_bits(bits).is_nan(),
    };
    let unordered = is_nan(a) || is_nan(b);
    if op == Op::FUnordered {
        return flag(unordered);
    }
    if unordered {
        return Pair { to_true: NOT_A_NUMBER, to_false: 0.0 };
    }
    let (a, b) = (rank(a, width), rank(b, width));
    match op {
        Op::FEq if a == b => Pair { to_true: 0.0, to_false: 1.0 },
        Op::FEq => Pair { to_true: logarithm(a.abs_diff(b) as f64), to_false: 0.0 },
        Op::FLt => less(a, b),
        _ => at_most(a, b),
    }
}

/// The place of a number among all, so that neighbours differ by one. Both zeros have the same.
pub fn rank(bits: u64, width: u32) -> u64 {
    let sign = 1 << (width - 1);
    let magnitude = bits & (sign - 1);
    if bits & sign == 0 { (1 << 63) + magnitude } else { (1 << 63) - magnitude }
}

/// The bits of the number at a place; places outside have those at the end.
pub fn number_at(rank: u64, width: u32) -> u64 {
    let sign = 1 << (width - 1);
    // Infinity is the last.
    let most = match width {
        32 => u64::from(f32::INFINITY.to_bits()),
        _ => f64::INFINITY.to_bits(),
    };
    let magnitude = rank.abs_diff(1 << 63).min(most);
    if rank >= 1 << 63 { magnitude } else { sign | magnitude }
}

/// `log2(1 + d)`, roughly: piecewise linear between powers of two, strictly increasing, and one instruction or two.
#[inline]
fn logarithm(d: f64) -> f64 {
    const UNIT: f64 = 1.0 / (1u64 << 52) as f64;
    ((d + 1.0).to_bits() - 1f64.to_bits()) as f64 * UNIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_grows_with_every_step_that_matters() {
        assert_eq!(logarithm(0.0), 0.0);
        assert_eq!(logarithm(1.0), 1.0);
        assert_eq!(logarithm(3.0), 2.0);
        let steps = [1.0, 2.0, 3.0, 100.0, 101.0, 1e6, 1e6 + 1.0, 1e15, 1e15 + 4.0, 1e18];
        assert!(steps.windows(2).all(|pair| logarithm(pair[0]) < logarithm(pair[1])));
    }

    #[test]
    fn ranks_order_numbers_and_go_back() {
        let numbers = [f64::NEG_INFINITY, -1e9, -1.0, -f64::MIN_POSITIVE, 0.0, 1e-300, 1.0, f64::INFINITY];
        let ranks = numbers.map(|number| rank(number.to_bits(), 64));
        assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]));
        for (number, rank) in numbers.iter().zip(ranks) {
            assert_eq!(f64::from_bits(number_at(rank, 64)), *number);
        }
        assert_eq!(rank((-0.0f32).to_bits().into(), 32), rank(0, 32));
        assert_eq!(number_at(rank(1.5f32.to_bits().into(), 32) + 1, 32), u64::from(1.5f32.to_bits() + 1));
    }

    #[test]
    fn comparisons_that_hold_are_at_zero() {
        let to_true = |op, a, b| compare(op, 8, a, b, Metric::Difference).to_true;
        assert_eq!(to_true(Op::Eq, 5, 5), 0.0);
        assert_eq!(to_true(Op::Eq, 0, 255), 1.0);
        assert_eq!(to_true(Op::ULt, 5, 5), 1.0);
        assert_eq!(to_true(Op::ULe, 5, 5), 0.0);
        assert_eq!(to_true(Op::ULe, 6, 5), 1.0);
        assert_eq!(to_true(Op::SLt, 0x80, 0), 0.0);
        assert_eq!(to_true(Op::Ne, 5, 5), 1.0);
    }
}
