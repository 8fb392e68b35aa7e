//! Choices by a condition.

use cairn_abi::symbolic::Op;

use crate::{bits::mask, dag::Dag, node::ExprId};

impl Dag {
    pub(super) fn simpler_ite(&mut self, condition: ExprId, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if let Some(truth) = self.constant_value(condition) {
            return Some(if truth == 1 { a } else { b });
        }
        if a == b {
            return Some(a);
        }
        if let Some(opposite) = self.operand_if(condition, Op::Not) {
            return Some(self.ite(opposite, b, a));
        }
        if let Some((x, y)) = self.operands_if(condition, Op::Ne) {
            let equal = self.compare(Op::Eq, x, y);
            return Some(self.ite(equal, b, a));
        }
        // Equal values may be taken for each other.
        if let Some((x, y)) = self.operands_if(condition, Op::Eq)
            && ((x, y) == (a, b) || (x, y) == (b, a))
        {
            return Some(b);
        }
        if let Some((again, then, _)) = self.choice(a)
            && again == condition
        {
            return Some(self.ite(condition, then, b));
        }
        if let Some((again, _, otherwise)) = self.choice(b)
            && again == condition
        {
            return Some(self.ite(condition, a, otherwise));
        }
        let constants = (self.constant_value(a), self.constant_value(b));
        if width == 1 {
            return self.simpler_logic(condition, a, b);
        }
        match constants {
            (Some(1), Some(0)) => return Some(self.zext(condition, width)),
            (Some(0), Some(1)) => {
                let opposite = self.not(condition);
                return Some(self.zext(opposite, width));
            }
            (Some(ones), Some(0)) if ones == mask(width) => return Some(self.sext(condition, width)),
            (Some(0), Some(ones)) if ones == mask(width) => {
                let opposite = self.not(condition);
                return Some(self.sext(opposite, width));
            }
            _ => {}
        }
        let inner = |dag: &Self, id| dag.operand_if(id, Op::ZExt).map(|x| dag.width(x));
        let narrow = inner(self, a).or_else(|| inner(self, b))?;
        let (a, b) = (self.narrow_to(a, narrow)?, self.narrow_to(b, narrow)?);
        let chosen = self.ite(condition, a, b);
        Some(self.zext(chosen, width))
    }

    fn simpler_logic(&mut self, condition: ExprId, a: ExprId, b: ExprId) -> Option<ExprId> {
        match (self.constant_value(a), self.constant_value(b)) {
            (Some(1), Some(_)) => Some(condition),
            (Some(_), Some(_)) => Some(self.not(condition)),
            (Some(1), None) => Some(self.binary(Op::Or, condition, b)),
            (Some(_), None) => {
                let opposite = self.not(condition);
                Some(self.binary(Op::And, opposite, b))
            }
            (None, Some(0)) => Some(self.binary(Op::And, condition, a)),
            (None, Some(_)) => {
                let opposite = self.not(condition);
                Some(self.binary(Op::Or, opposite, a))
            }
            (None, None) => None,
        }
    }

    /// The expression of which `id` is the zero extension from `width` bits.
    fn narrow_to(&mut self, id: ExprId, width: u32) -> Option<ExprId> {
        match self.constant_value(id) {
            Some(constant) if constant <= mask(width) => Some(self.constant(width, constant)),
            Some(_) => None,
            None => self.operand_if(id, Op::ZExt).filter(|x| self.width(*x) == width),
        }
    }
}
