//! Floating point, where few rules of arithmetic hold.

use cairn_abi::symbolic::Op;

use crate::{dag::Dag, node::ExprId, value::Bits};

impl Dag {
    /// Integers are always numbers, and so are most constants.
    pub(super) fn simpler_unordered(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        match (self.is_number(a), self.is_number(b)) {
            (true, true) => self.truth(false),
            (false, true) if a != b => Some(self.compare(Op::FUnordered, a, a)),
            (true, false) if a != b => Some(self.compare(Op::FUnordered, b, b)),
            _ => None,
        }
    }

    fn is_number(&self, id: ExprId) -> bool {
        match self.op(id) {
            Op::SignedToF | Op::UnsignedToF => true,
            Op::FToF => matches!(self.op(self.node(id).operand(0)), Op::SignedToF | Op::UnsignedToF),
            Op::Constant => {
                let value = self.constant_value(id).expect("it is a constant");
                let bits = Bits { value, width: self.width(id) };
                crate::value::compute(Op::FUnordered, 1, bits, bits, Bits::default()) == 0
            }
            _ => false,
        }
    }
}
