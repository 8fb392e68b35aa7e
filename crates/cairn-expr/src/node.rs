//! One operation of a [`Dag`](crate::Dag).

use std::{
    hash::{Hash, Hasher},
    ops::Deref,
};

use cairn_abi::symbolic::{MathFunction, Op, RegionId};

/// An expression in one [`Dag`](crate::Dag). Operands always have smaller numbers than what is made of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub(crate) u32);

impl ExprId {
    /// Its place in the order of creation: dense, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A constant table in one [`Dag`](crate::Dag).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub(crate) u32);

/// An operation, its width and its operands. What each [`Op`] computes is defined with it.
///
/// The fields `a`, `b`, `c` hold operands, or what is not an operand: both halves of a constant, a region and an offset, the
/// number of an opaque value, the lowest bit of an extract, a table, a function. The methods tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExprNode {
    pub(crate) op: Op,
    pub(crate) width: u8,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
}

impl Hash for ExprNode {
    /// In two words, because every node that is built is looked up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let head = u64::from(self.op as u8) << 8 | u64::from(self.width);
        state.write_u64(head << 32 | u64::from(self.a));
        state.write_u64(u64::from(self.b) << 32 | u64::from(self.c));
    }
}

/// In place of an operand that is not there.
const NONE: u32 = u32::MAX;

impl ExprNode {
    /// An operation whose operands are all it has: none of [`Op::Constant`], [`Op::Input`], [`Op::Opaque`], [`Op::Extract`],
    /// [`Op::Table`] and [`Op::Math`].
    pub fn operation(op: Op, width: u32, operands: &[ExprId]) -> Self {
        assert_eq!(arity(op), Some(operands.len()), "operands of {op:?}");
        Self::with_operands(op, width, operands)
    }

    /// `width` bits of `a` from bit number `low` on.
    pub fn extract(a: ExprId, low: u32, width: u32) -> Self {
        Self { b: low, ..Self::with_operands(Op::Extract, width, &[a]) }
    }

    /// The little-endian value at a byte offset of a table.
    pub fn table(table: TableId, offset: ExprId, width: u32) -> Self {
        Self { b: table.0, ..Self::with_operands(Op::Table, width, &[offset]) }
    }

    /// A function of the mathematical library.
    pub fn math(function: MathFunction, width: u32, operands: &[ExprId]) -> Self {
        assert_eq!(function.arity(), operands.len(), "operands of {function:?}");
        Self { c: function as u32, ..Self::with_operands(Op::Math, width, operands) }
    }

    /// Bytes of the input.
    pub fn input(region: RegionId, offset: u32, width: u32) -> Self {
        Self { op: Op::Input, width: narrow(width), a: region.0, b: offset, c: 0 }
    }

    pub(crate) fn opaque(width: u32, serial: u32, dependencies: &[ExprId]) -> Self {
        Self { c: serial, ..Self::with_operands(Op::Opaque, width, dependencies) }
    }

    fn with_operands(op: Op, width: u32, operands: &[ExprId]) -> Self {
        let at = |n: usize| operands.get(n).map_or(NONE, |id| id.0);
        Self { op, width: narrow(width), a: at(0), b: at(1), c: at(2) }
    }

    /// The same operation on other operands, as many as it has.
    pub(crate) fn on(mut self, operands: &[ExprId]) -> Self {
        debug_assert_eq!(self.operands().len(), operands.len());
        for (field, operand) in [&mut self.a, &mut self.b, &mut self.c].into_iter().zip(operands) {
            *field = operand.0;
        }
        self
    }

    /// What it computes.
    pub fn op(&self) -> Op {
        self.op
    }

    /// The width of its value in bits.
    pub fn width(&self) -> u32 {
        u32::from(self.width)
    }

    /// Its operands; for an opaque value, what it depends on.
    pub fn operands(&self) -> Operands {
        let n = match self.op {
            Op::Opaque | Op::Math => [self.a, self.b].iter().take_while(|id| **id != NONE).count(),
            op => arity(op).unwrap_or(usize::from(matches!(op, Op::Extract | Op::Table))),
        };
        Operands { ids: [ExprId(self.a), ExprId(self.b), ExprId(self.c)], n }
    }

    /// The `n`-th operand, which must exist.
    pub fn operand(&self, n: usize) -> ExprId {
        self.operands()[n]
    }

    /// The lowest bit that an [`Op::Extract`] takes.
    pub fn low(&self) -> u32 {
        assert_eq!(self.op, Op::Extract);
        self.b
    }

    /// Region and offset of an [`Op::Input`].
    pub fn place(&self) -> (RegionId, u32) {
        assert_eq!(self.op, Op::Input);
        (RegionId(self.a), self.b)
    }

    /// The table of an [`Op::Table`].
    pub fn table_id(&self) -> TableId {
        assert_eq!(self.op, Op::Table);
        TableId(self.b)
    }

    /// The function of an [`Op::Math`].
    pub fn function(&self) -> MathFunction {
        assert_eq!(self.op, Op::Math);
        MathFunction::from_target(self.c).expect("nodes are made from functions that exist")
    }
}

/// The operands of a node; a slice of zero to three.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    ids: [ExprId; 3],
    n: usize,
}

impl Deref for Operands {
    type Target = [ExprId];

    fn deref(&self) -> &[ExprId] {
        &self.ids[..self.n]
    }
}

impl IntoIterator for Operands {
    type Item = ExprId;
    type IntoIter = std::iter::Take<std::array::IntoIter<ExprId, 3>>;

    fn into_iter(self) -> Self::IntoIter {
        self.ids.into_iter().take(self.n)
    }
}

/// How many operands an operation has, if operands are all it has.
pub fn arity(op: Op) -> Option<usize> {
    match op {
        Op::Constant | Op::Input => Some(0),
        Op::Opaque | Op::Extract | Op::Table | Op::Math => None,
        Op::Not | Op::Neg | Op::PopCount | Op::LeadingZeros | Op::TrailingZeros => Some(1),
        Op::ZExt | Op::SExt => Some(1),
        Op::FNeg | Op::FToSigned | Op::FToUnsigned | Op::SignedToF | Op::UnsignedToF | Op::FToF => Some(1),
        Op::Ite => Some(3),
        _ => Some(2),
    }
}

/// Whether both operands may change places.
pub fn is_commutative(op: Op) -> bool {
    matches!(op, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Eq | Op::Ne | Op::FEq | Op::FUnordered)
}

/// Whether it compares its operands, so that its width is 1 whatever theirs is.
pub fn is_comparison(op: Op) -> bool {
    matches!(
        op,
        Op::Eq
            | Op::Ne
            | Op::ULt
            | Op::ULe
            | Op::SLt
            | Op::SLe
            | Op::FEq
            | Op::FLt
            | Op::FLe
            | Op::FUnordered
    )
}

fn narrow(width: u32) -> u8 {
    u8::try_from(width).expect("widths are at most 128 bits")
}
