//! Floating-point operations undone, as far as rounding lets them be.

use super::{Demand, Values};
use cairn_expr::{Dag, ExprId, ExprNode, MathFunction, Op, mask, signed};

/// A floating-point number of 32 or 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// Its value.
    pub value: f64,
    width: u32,
}

impl Number {
    /// The number with these bits.
    pub fn from_bits(bits: u128, width: u32) -> Self {
        let value = match width {
            32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits as u64),
        };
        Self { value, width }
    }

    /// Another number of the same width, rounded to it.
    pub fn like(self, value: f64) -> Self {
        let value = if self.width == 32 { f64::from(value as f32) } else { value };
        Self { value, ..self }
    }

    /// Its bits.
    pub fn bits(self) -> u128 {
        match self.width {
            32 => (self.value as f32).to_bits().into(),
            _ => self.value.to_bits().into(),
        }
    }

    /// The next larger number.
    pub fn next_up(self) -> Self {
        match self.width {
            32 => self.like((self.value as f32).next_up().into()),
            _ => self.like(self.value.next_up()),
        }
    }

    /// The next smaller number.
    pub fn next_down(self) -> Self {
        match self.width {
            32 => self.like((self.value as f32).next_down().into()),
            _ => self.like(self.value.next_down()),
        }
    }
}

/// The ways to give a floating-point operation the bits `wanted`.
pub fn ways(dag: &Dag, values: &mut Values<'_>, node: &ExprNode, wanted: u128) -> Vec<Vec<Demand>> {
    let operands = node.operands();
    let a = operands[0];
    let b = operands.get(1).copied().unwrap_or(a);
    let target = Number::from_bits(wanted, node.width());
    let t = target.value;
    let mut ways = Ways { dag, list: Vec::new() };
    if matches!(node.op(), Op::FToSigned | Op::FToUnsigned) {
        let number = match node.op() {
            Op::FToSigned => signed(wanted, node.width()) as f64,
            _ => wanted as f64,
        };
        ways.number(a, number);
        return ways.list;
    }
    if matches!(node.op(), Op::SignedToF | Op::UnsignedToF) {
        ways.integers(a, node.op() == Op::SignedToF, t);
        return ways.list;
    }
    let x = Number::from_bits(values(a), dag.width(a)).value;
    let y = Number::from_bits(values(b), dag.width(b)).value;
    match node.op() {
        Op::FAdd => {
            ways.rounded(a, t - y);
            ways.rounded(b, t - x);
        }
        Op::FSub => {
            ways.rounded(a, t + y);
            ways.rounded(b, x - t);
        }
        Op::FMul => {
            ways.rounded(a, t / y);
            ways.rounded(b, t / x);
            if t >= 0.0 && a == b {
                ways.rounded(a, t.sqrt());
                ways.rounded(a, -t.sqrt());
            }
        }
        Op::FDiv => {
            ways.rounded(a, t * y);
            ways.rounded(b, x / t);
        }
        Op::FRem => ways.number(a, t),
        Op::FNeg => ways.number(a, -t),
        Op::FToF => ways.number(a, t),
        Op::Math => ways.math(node.function(), a, b, x, y, t),
        _ => {}
    }
    ways.list
}

struct Ways<'a> {
    dag: &'a Dag,
    list: Vec<Vec<Demand>>,
}

impl Ways<'_> {
    fn number(&mut self, node: ExprId, value: f64) {
        if self.dag.is_fixed(node) {
            return;
        }
        let number = Number::from_bits(0, self.dag.width(node)).like(value);
        self.list.push(vec![Demand::whole(self.dag, node, number.bits())]);
    }

    /// The number, and those beside it, because undoing rounds too.
    fn rounded(&mut self, node: ExprId, value: f64) {
        if value.is_nan() {
            return;
        }
        let number = Number::from_bits(0, self.dag.width(node)).like(value);
        for near in [number, number.next_up(), number.next_down()] {
            self.number(node, near.value);
        }
    }

    fn integers(&mut self, node: ExprId, is_signed: bool, value: f64) {
        if self.dag.is_fixed(node) || value.is_nan() {
            return;
        }
        let width = self.dag.width(node);
        let mut whole = vec![value.trunc(), value.floor(), value.ceil()];
        whole.dedup();
        for value in whole {
            let bits = if is_signed { value as i128 as u128 } else { value as u128 };
            let bits = bits & mask(width);
            let back = if is_signed { signed(bits, width) as f64 } else { bits as f64 };
            if back == value {
                self.list.push(vec![Demand::whole(self.dag, node, bits)]);
            }
        }
    }

    fn math(&mut self, function: MathFunction, a: ExprId, b: ExprId, x: f64, y: f64, t: f64) {
        match function {
            MathFunction::Fabs => {
                self.number(a, t.copysign(x));
                self.number(a, -t.copysign(x));
            }
            MathFunction::CopySign => {
                self.number(b, t);
                self.number(a, t);
            }
            MathFunction::Floor
            | MathFunction::Ceil
            | MathFunction::Trunc
            | MathFunction::Round
            | MathFunction::RoundEven => self.number(a, t),
            MathFunction::Sqrt => self.rounded(a, t * t),
            MathFunction::Exp => self.rounded(a, t.ln()),
            MathFunction::Exp2 => self.rounded(a, t.log2()),
            MathFunction::Log => self.rounded(a, t.exp()),
            MathFunction::Log2 => self.rounded(a, t.exp2()),
            MathFunction::Log10 => self.rounded(a, 10f64.powf(t)),
            MathFunction::Sin => self.rounded(a, t.asin()),
            MathFunction::Cos => self.rounded(a, t.acos()),
            MathFunction::Tan => self.rounded(a, t.atan()),
            MathFunction::Asin => self.rounded(a, t.sin()),
            MathFunction::Acos => self.rounded(a, t.cos()),
            MathFunction::Atan => self.rounded(a, t.tan()),
            MathFunction::Sinh => self.rounded(a, t.asinh()),
            MathFunction::Cosh => self.rounded(a, t.acosh()),
            MathFunction::Tanh => self.rounded(a, t.atanh()),
            MathFunction::Cbrt => self.rounded(a, t * t * t),
            MathFunction::Pow => {
                self.rounded(a, t.powf(1.0 / y));
                self.rounded(b, t.ln() / x.ln());
            }
            MathFunction::Atan2 => self.rounded(a, t.tan() * y),
            MathFunction::Hypot => {
                self.rounded(a, (t * t - y * y).sqrt());
                self.rounded(b, (t * t - x * x).sqrt());
            }
            MathFunction::Fmin | MathFunction::Fmax => {
                self.number(a, t);
                self.number(b, t);
            }
        }
    }
}
