//! What operands should be so that a comparison is true, or false.

use super::{Demand, Values, floats::Number};
use cairn_expr::{Dag, ExprId, ExprNode, Op, mask};

/// The ways to make a comparison come out as wanted.
pub fn ways(dag: &Dag, values: &mut Values<'_>, node: &ExprNode, wanted: bool) -> Vec<Vec<Demand>> {
    let (a, b) = (node.operand(0), node.operand(1));
    let mut ways = Ways { dag, list: Vec::new() };
    match (node.op(), wanted) {
        (Op::Eq, true) | (Op::Ne, false) => {
            ways.push(a, values(b));
            ways.push(b, values(a));
        }
        (Op::Eq, false) | (Op::Ne, true) => {
            for (changed, other) in [(a, b), (b, a)] {
                let other = values(other);
                for value in [other.wrapping_add(1), other.wrapping_sub(1), other ^ 0x20, !other] {
                    ways.push(changed, value);
                }
            }
        }
        (Op::ULt, true) => ways.order(values, a, b, Order { strict: true, signed: false }),
        (Op::ULe, true) => ways.order(values, a, b, Order { strict: false, signed: false }),
        (Op::SLt, true) => ways.order(values, a, b, Order { strict: true, signed: true }),
        (Op::SLe, true) => ways.order(values, a, b, Order { strict: false, signed: true }),
        (Op::ULt, false) => ways.order(values, b, a, Order { strict: false, signed: false }),
        (Op::ULe, false) => ways.order(values, b, a, Order { strict: true, signed: false }),
        (Op::SLt, false) => ways.order(values, b, a, Order { strict: false, signed: true }),
        (Op::SLe, false) => ways.order(values, b, a, Order { strict: true, signed: true }),
        (op, wanted) => ways.floats(values, op, wanted, a, b),
    }
    ways.list
}

#[derive(Clone, Copy)]
struct Order {
    strict: bool,
    signed: bool,
}

struct Ways<'a> {
    dag: &'a Dag,
    list: Vec<Vec<Demand>>,
}

impl Ways<'_> {
    fn push(&mut self, node: ExprId, value: u128) {
        if !self.dag.is_fixed(node) {
            self.list.push(vec![Demand::whole(self.dag, node, value)]);
        }
    }

    /// `a` should be below `b`: just so, or as far as possible, or halfway.
    fn order(&mut self, values: &mut Values<'_>, a: ExprId, b: ExprId, order: Order) {
        let width = self.dag.width(a);
        // With the sign bit inverted, signed order is unsigned order.
        let flip = if order.signed { 1 << (width - 1) } else { 0 };
        let step = u128::from(order.strict);
        let most = mask(width);
        let (x, y) = (values(a) ^ flip, values(b) ^ flip);
        if y >= step {
            self.push(a, (y - step) ^ flip);
        }
        if x <= most - step {
            self.push(b, (x + step) ^ flip);
        }
        if y >= step {
            self.push(a, flip);
            self.push(a, (y / 2) ^ flip);
            self.push(a, 0);
        }
        if x <= most - step {
            self.push(b, most ^ flip);
            self.push(b, (x + (most - x).div_ceil(2)) ^ flip);
        }
        // Where one operand is at the end of the range, both have to move.
        if order.strict && y < step && x > most - step && !self.dag.is_fixed(a) && !self.dag.is_fixed(b) {
            self.list.push(vec![Demand::whole(self.dag, a, flip), Demand::whole(self.dag, b, most ^ flip)]);
        }
    }

    fn floats(&mut self, values: &mut Values<'_>, op: Op, wanted: bool, a: ExprId, b: ExprId) {
        let width = self.dag.width(a);
        let (x, y) = (Number::from_bits(values(a), width), Number::from_bits(values(b), width));
        // A number to stand for what is not one.
        let solid = |number: Number| if number.value.is_nan() { number.like(1.0) } else { number };
        let (near_a, near_b) = match (op, wanted) {
            (Op::FEq, true) | (Op::FLe, _) | (Op::FLt, false) => (vec![solid(y)], vec![solid(x)]),
            (Op::FEq, false) => (beside(solid(y)), beside(solid(x))),
            (Op::FLt, true) => (below(solid(y)), above(solid(x))),
            (Op::FUnordered, true) => (vec![x.like(f64::NAN)], vec![y.like(f64::NAN)]),
            (_, _) => {
                let mut demands = Vec::new();
                for (node, number) in [(a, x), (b, y)] {
                    if number.value.is_nan() {
                        demands.push(Demand::whole(self.dag, node, number.like(1.0).bits()));
                    }
                }
                self.list.push(demands);
                return;
            }
        };
        // `a <= b` fails where `a > b`.
        let (near_a, near_b) = match (op, wanted) {
            (Op::FLe, false) => (above(solid(y)), below(solid(x))),
            _ => (near_a, near_b),
        };
        let n_ways = near_a.len().max(near_b.len());
        for n in 0..n_ways {
            if let Some(number) = near_a.get(n) {
                self.push(a, number.bits());
            }
            if let Some(number) = near_b.get(n) {
                self.push(b, number.bits());
            }
        }
        if x.value.is_nan() || y.value.is_nan() {
            self.push(a, x.like(0.0).bits());
            self.push(b, y.like(0.0).bits());
        }
    }
}

fn below(number: Number) -> Vec<Number> {
    let value = number.value;
    vec![
        number.next_down(),
        number.like(value - 1.0),
        number.like(value - value.abs() * 0.5 - 1e-3),
        number.like(-1e9),
    ]
}

fn above(number: Number) -> Vec<Number> {
    let value = number.value;
    vec![
        number.next_up(),
        number.like(value + 1.0),
        number.like(value + value.abs() * 0.5 + 1e-3),
        number.like(1e9),
    ]
}

fn beside(number: Number) -> Vec<Number> {
    vec![number.like(number.value + 1.0), number.next_up(), number.like(0.0), number.like(1.0)]
}
