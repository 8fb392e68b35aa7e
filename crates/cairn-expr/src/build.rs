//! Constructors of expressions, which simplify.
//!
//! Widths that do not fit are mistakes of the caller and panic; what comes from elsewhere is checked by
//! [`import`](crate::import), [`parse`](crate::parse()) and [`store`](crate::store).

use cairn_abi::symbolic::{MathFunction, Op, RegionId};

use crate::{
    dag::Dag,
    node::{ExprId, ExprNode, TableId, is_comparison},
};

impl Dag {
    /// Bytes of the input as a little-endian number.
    pub fn input(&mut self, region: RegionId, offset: u32, width: u32) -> ExprId {
        self.build(ExprNode::input(region, offset, width))
    }

    /// [`Op::Not`], [`Op::Neg`], [`Op::FNeg`] or a count of bits.
    pub fn unary(&mut self, op: Op, a: ExprId) -> ExprId {
        self.build(ExprNode::operation(op, self.width(a), &[a]))
    }

    /// An operation on two operands of the width of its result.
    pub fn binary(&mut self, op: Op, a: ExprId, b: ExprId) -> ExprId {
        assert!(!is_comparison(op));
        self.build(ExprNode::operation(op, self.width(a), &[a, b]))
    }

    /// A comparison, of integers or of floating-point numbers.
    pub fn compare(&mut self, op: Op, a: ExprId, b: ExprId) -> ExprId {
        assert!(is_comparison(op));
        self.build(ExprNode::operation(op, 1, &[a, b]))
    }

    /// Every bit inverted; of a truth value, its negation.
    pub fn not(&mut self, a: ExprId) -> ExprId {
        self.unary(Op::Not, a)
    }

    /// `width` bits from bit number `low` on.
    pub fn extract(&mut self, a: ExprId, low: u32, width: u32) -> ExprId {
        self.build(ExprNode::extract(a, low, width))
    }

    /// `high` above `low`.
    pub fn concat(&mut self, high: ExprId, low: ExprId) -> ExprId {
        let width = self.width(high) + self.width(low);
        self.build(ExprNode::operation(Op::Concat, width, &[high, low]))
    }

    /// With zeros above, up to `width`, which may be the width it has.
    pub fn zext(&mut self, a: ExprId, width: u32) -> ExprId {
        self.extend(Op::ZExt, a, width)
    }

    /// With its sign above, up to `width`, which may be the width it has.
    pub fn sext(&mut self, a: ExprId, width: u32) -> ExprId {
        self.extend(Op::SExt, a, width)
    }

    fn extend(&mut self, op: Op, a: ExprId, width: u32) -> ExprId {
        if self.width(a) == width {
            return a;
        }
        self.build(ExprNode::operation(op, width, &[a]))
    }

    /// `then` if `condition`, of width 1, is 1, else `otherwise`.
    pub fn ite(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        self.build(ExprNode::operation(Op::Ite, self.width(then), &[condition, then, otherwise]))
    }

    /// The little-endian value at a byte offset, of 64 bits, of a table.
    pub fn table(&mut self, table: TableId, offset: ExprId, width: u32) -> ExprId {
        self.build(ExprNode::table(table, offset, width))
    }

    /// A conversion from or to floating point: [`Op::FToSigned`], [`Op::FToUnsigned`], [`Op::SignedToF`],
    /// [`Op::UnsignedToF`] or [`Op::FToF`].
    pub fn convert(&mut self, op: Op, a: ExprId, width: u32) -> ExprId {
        self.build(ExprNode::operation(op, width, &[a]))
    }

    /// A function of the mathematical library.
    pub fn math(&mut self, function: MathFunction, operands: &[ExprId]) -> ExprId {
        self.build(ExprNode::math(function, self.width(operands[0]), operands))
    }
}
