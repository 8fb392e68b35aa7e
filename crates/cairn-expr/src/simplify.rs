//! Rules that make expressions smaller or more alike.
//!
//! An expression is simplified while it is built, from operands that are simple already, so a rule looks only a few nodes deep.
//! A rule builds its result by the same constructors. Rules never change a value; `tests/properties.rs` holds them to it.
//!
//! Of equal forms we choose: constants on the right and outermost in sums; additions instead of subtractions of constants;
//! zero and sign extensions of extracts instead of right shifts; unsigned operations where no sign can be set; extracts of
//! whole bytes of the input as smaller inputs; concatenations nested to the right.

mod arithmetic;
mod bitwise;
mod choice;
mod equality;
mod float;
mod order;
mod pieces;
mod shift;
mod widths;

use cairn_abi::symbolic::Op;

use crate::{
    bits::is_negative,
    dag::Dag,
    node::{ExprId, ExprNode, is_commutative},
};

/// How far rules have gone for the expression being built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effort {
    depth: u32,
    work: u32,
}

/// Rules apply rules at most this deep, so that long chains neither overflow the stack nor are walked again at each step.
const MAX_DEPTH: u32 = 24;

/// And at most this many in all.
const MAX_WORK: u32 = 400;

/// An expression of another graph, or of the same, built again by the simplifying constructors.
///
/// Operands are simplified first, however deep they are.
pub fn simplify(from: &Dag, root: ExprId, into: &mut Dag) -> ExprId {
    crate::copy::copy(from, &[root], into, Dag::build)[0]
}

impl Dag {
    /// The simplest equal of a node that the rules find.
    pub fn build(&mut self, node: ExprNode) -> ExprId {
        if let Err(malformed) = self.check(&node) {
            panic!("{malformed}");
        }
        if self.effort.depth == 0 {
            self.effort.work = 0;
        }
        self.effort.depth += 1;
        self.effort.work += 1;
        let is_tired = self.effort.depth > MAX_DEPTH || self.effort.work > MAX_WORK;
        let node = self.ordered(node);
        let simple = if is_tired { None } else { self.simpler(&node) };
        self.effort.depth -= 1;
        simple.unwrap_or_else(|| self.raw(node))
    }

    /// The constant of a commutative operation on the right, else the older operand on the left.
    fn ordered(&self, mut node: ExprNode) -> ExprNode {
        if is_commutative(node.op) {
            let key = |id: u32| (self.op(ExprId(id)) == Op::Constant, id);
            if key(node.a) > key(node.b) {
                (node.a, node.b) = (node.b, node.a);
            }
        }
        node
    }

    fn simpler(&mut self, node: &ExprNode) -> Option<ExprId> {
        if let Some(folded) = self.fold(node).or_else(|| self.fold_choice(node)) {
            return Some(folded);
        }
        let operands = node.operands();
        let width = node.width();
        match (node.op, &operands[..]) {
            (Op::Add, [a, b]) => self.simpler_add(*a, *b),
            (Op::Sub, [a, b]) => self.simpler_sub(*a, *b),
            (Op::Neg, [a]) => self.simpler_neg(*a),
            (Op::Mul, [a, b]) => self.simpler_mul(*a, *b),
            (Op::UDiv | Op::URem, [a, b]) => self.simpler_unsigned_division(node.op, *a, *b),
            (Op::SDiv | Op::SRem, [a, b]) => self.simpler_signed_division(node.op, *a, *b),
            (Op::Not, [a]) => self.simpler_not(*a),
            (Op::And, [a, b]) => self.simpler_and(*a, *b),
            (Op::Or, [a, b]) => self.simpler_or(*a, *b),
            (Op::Xor, [a, b]) => self.simpler_xor(*a, *b),
            (Op::Shl, [a, b]) => self.simpler_shl(*a, *b),
            (Op::LShr | Op::AShr, [a, b]) => self.simpler_right_shift(node.op, *a, *b),
            (Op::Eq, [a, b]) => self.simpler_eq(*a, *b),
            (Op::Ne, [a, b]) => {
                let equal = self.simpler_eq(*a, *b)?;
                Some(self.not(equal))
            }
            (Op::ULt | Op::ULe, [a, b]) => self.simpler_unsigned_order(node.op, *a, *b),
            (Op::SLt | Op::SLe, [a, b]) => self.simpler_signed_order(node.op, *a, *b),
            (Op::ZExt | Op::SExt, [a]) => self.simpler_extension(node.op, *a, width),
            (Op::Extract, [a]) => self.simpler_extract(*a, node.b, width),
            (Op::Concat, [a, b]) => self.simpler_concat(*a, *b),
            (Op::Ite, [a, b, c]) => self.simpler_ite(*a, *b, *c),
            (Op::FNeg, [a]) => self.operand_if(*a, Op::FNeg),
            (Op::FUnordered, [a, b]) => self.simpler_unordered(*a, *b),
            _ => None,
        }
    }

    /// The value, if all operands are constants.
    fn fold(&mut self, node: &ExprNode) -> Option<ExprId> {
        if matches!(node.op, Op::Constant | Op::Input | Op::Opaque) {
            return None;
        }
        if node.operands().iter().any(|id| self.op(*id) != Op::Constant) {
            return None;
        }
        let value = self.compute(node, |id| self.constant_value(id).expect("all are constants"));
        Some(self.constant(node.width(), value))
    }

    /// An operation on a choice between constants is a choice between its values, if all other operands are constants.
    fn fold_choice(&mut self, node: &ExprNode) -> Option<ExprId> {
        let operands = node.operands();
        if matches!(node.op, Op::Ite | Op::Opaque) {
            return None;
        }
        let mut variable = operands.iter().filter(|id| self.op(**id) != Op::Constant);
        let (choice, None) = (*variable.next()?, variable.next()) else { return None };
        let (condition, then, otherwise) = self.choice(choice)?;
        let (then, otherwise) = (self.constant_value(then)?, self.constant_value(otherwise)?);
        let value = |chosen: u128| {
            self.compute(node, |id| if id == choice { chosen } else { self.constant_value(id).unwrap_or(0) })
        };
        let (then, otherwise) = (value(then), value(otherwise));
        let then = self.constant(node.width(), then);
        let otherwise = self.constant(node.width(), otherwise);
        Some(self.ite(condition, then, otherwise))
    }

    fn truth(&mut self, truth: bool) -> Option<ExprId> {
        Some(self.constant(1, truth.into()))
    }

    fn zero(&mut self, width: u32) -> Option<ExprId> {
        Some(self.constant(width, 0))
    }

    /// The operand of a unary operation.
    fn operand_if(&self, id: ExprId, op: Op) -> Option<ExprId> {
        let node = self.node(id);
        (node.op == op).then(|| node.operand(0))
    }

    /// Both operands of a binary operation.
    fn operands_if(&self, id: ExprId, op: Op) -> Option<(ExprId, ExprId)> {
        let node = self.node(id);
        (node.op == op).then(|| (node.operand(0), node.operand(1)))
    }

    /// The operands of a binary operation whose second is a constant.
    fn constant_if(&self, id: ExprId, op: Op) -> Option<(ExprId, u128)> {
        let (a, b) = self.operands_if(id, op)?;
        Some((a, self.constant_value(b)?))
    }

    fn choice(&self, id: ExprId) -> Option<(ExprId, ExprId, ExprId)> {
        let node = self.node(id);
        (node.op == Op::Ite).then(|| (node.operand(0), node.operand(1), node.operand(2)))
    }

    /// Whether the highest bit is never set.
    fn is_never_negative(&self, id: ExprId) -> bool {
        !is_negative(self.possible_ones(id), self.width(id))
    }
}
