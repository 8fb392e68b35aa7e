//! Values of operators, casts and reads.

use super::{Builder, TruthUse};
use crate::{
    anchors::{
        At, OperandAt,
        subject::{Expression, Usage},
        types,
    },
    ir::{Arithmetic, CodeOperand, CodeType, Definition, Opcode, Predicate},
};
use cairn_model::{
    facts::{ExpressionKind, TypeClass},
    mutants::ValueType,
};
use cairn_mutants::site::{Operand, Role};

type Operands = Vec<(Operand, OperandAt)>;

impl Builder<'_, '_> {
    /// The spot where the value of an expression is computed.
    pub(super) fn value(&mut self, expression: Expression) {
        use ExpressionKind as Kind;
        let Some(at) = self.values.instruction[expression as usize] else { return };
        let fact = self.subject.fact(expression);
        match fact.kind {
            Kind::Reference | Kind::Member | Kind::Index => self.read(expression, at),
            Kind::Unary if fact.operator == "*" => self.read(expression, at),
            Kind::Unary => self.unary(expression, at),
            Kind::Binary => self.binary(expression, at),
            Kind::CompoundAssign => self.compound(expression, at),
            Kind::IncrementDecrement => self.step(expression, at),
            Kind::Cast => self.cast(expression, at),
            _ => {}
        }
    }

    fn value_spot(
        &mut self,
        expression: Expression,
        value_type: ValueType,
        at: Definition,
        operands: Operands,
    ) {
        self.push(expression, Role::Value, value_type, At::Result(at), operands);
    }

    fn read(&mut self, expression: Expression, load: Definition) {
        let subject = self.subject;
        if subject.field(expression).is_some_and(|(field, _)| field.bit_width.is_some()) {
            if let Some(value_type) = subject.scalar(expression) {
                self.value_spot(expression, value_type, load, Vec::new());
            }
            return;
        }
        let is_plain = subject.code.at(load).opcode == Opcode::Load { is_volatile: false };
        if subject.usage(expression) != Usage::Read || !is_plain {
            return;
        }
        match types::scalar(&subject.fact(expression).value_type) {
            // A byte in memory, of which one bit is used.
            Some(ValueType::Bool) => {
                if let [(user, _)] = subject.uses(load)
                    && matches!(subject.code.at(*user).opcode, Opcode::Convert { .. })
                    && subject.code.at(*user).result == CodeType::Int(1)
                {
                    self.value_spot(expression, ValueType::Bool, *user, Vec::new());
                }
            }
            Some(value_type) => self.value_spot(expression, value_type, load, Vec::new()),
            None => {}
        }
    }

    fn unary(&mut self, expression: Expression, at: Definition) {
        let subject = self.subject;
        let (Some(child), Some(own)) =
            (subject.only_child(expression), types::scalar(&subject.fact(expression).value_type))
        else {
            return;
        };
        let number = match (subject.fact(expression).operator.as_str(), &subject.code.at(at).opcode) {
            ("!", _) => return self.not(expression, child, at),
            ("-", Opcode::Arithmetic(Arithmetic::Sub)) => 1,
            _ => 0,
        };
        // The result has the promoted type of the operand.
        let operand = self.operand(child, own, OperandAt::Operand(at, number));
        self.value_spot(expression, own, at, vec![operand]);
    }

    fn not(&mut self, expression: Expression, child: Expression, at: Definition) {
        let tested = self.code_operand(at, 0);
        let Some(operand) = self.truth_operand(child, tested, OperandAt::Operand(at, 0)) else { return };
        self.truth_spot(expression, at, vec![operand]);
    }

    /// The value behind a tested bit: what is compared with 0, or the bit itself, which is at `bit`.
    pub(super) fn truth_operand(
        &self,
        expression: Expression,
        tested: CodeOperand,
        bit: OperandAt,
    ) -> Option<(Operand, OperandAt)> {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let is_truth = fact.value_type.class == TypeClass::Bool
            || fact.kind == ExpressionKind::Logical
            || matches!(fact.operator.as_str(), "!" | "<" | "<=" | ">" | ">=" | "==" | "!=");
        if is_truth {
            return Some(self.operand(expression, ValueType::Bool, bit));
        }
        // Of a truth value that becomes a number and is tested again, as in `(x, a != b)`, only one test is left.
        let has_own_value = matches!(
            fact.kind,
            ExpressionKind::Reference
                | ExpressionKind::Member
                | ExpressionKind::Index
                | ExpressionKind::Call
                | ExpressionKind::Unary
                | ExpressionKind::Binary
                | ExpressionKind::IncrementDecrement
                | ExpressionKind::CompoundAssign
        );
        if !has_own_value || fact.operator == "," {
            return None;
        }
        let CodeOperand::Result(compare) = tested else { return None };
        let own = subject.scalar(expression)?;
        let is_test =
            matches!(subject.code.at(compare).opcode, Opcode::Compare(Predicate::Ne | Predicate::Une));
        let is_own = subject.operand_type(self.code_operand(compare, 0)) == Some(types::code_type(own));
        (is_test && is_own).then(|| self.operand(expression, own, OperandAt::Operand(compare, 0)))
    }

    /// A comparison or `!`, as a truth value or as the number made of it.
    fn truth_spot(&mut self, expression: Expression, at: Definition, operands: Operands) {
        let is_bool = self.subject.fact(expression).value_type.class == TypeClass::Bool;
        match self.truth_use(at) {
            TruthUse::Truth => self.value_spot(expression, ValueType::Bool, at, operands),
            _ if is_bool => self.value_spot(expression, ValueType::Bool, at, operands),
            TruthUse::Number(number) => self.value_spot(expression, types::INT, number, operands),
            TruthUse::Both => {}
        }
    }

    fn binary(&mut self, expression: Expression, at: Definition) {
        let subject = self.subject;
        let Some((left, right)) = subject.operands(expression) else { return };
        let (Some(left_type), Some(right_type)) = (subject.scalar(left), subject.scalar(right)) else {
            return;
        };
        match subject.code.at(at).opcode {
            Opcode::Compare(_) => {
                let pointer = (left_type == ValueType::Pointer || right_type == ValueType::Pointer)
                    .then_some(ValueType::Pointer);
                let Some(common) = pointer.or_else(|| types::common(left_type, right_type)) else { return };
                let operands = vec![
                    self.operand(left, common, OperandAt::Operand(at, 0)),
                    self.operand(right, common, OperandAt::Operand(at, 1)),
                ];
                self.truth_spot(expression, at, operands);
            }
            Opcode::ElementPointer { .. } => {
                let Some(operands) = self.moved_pointer(expression, at) else { return };
                self.value_spot(expression, ValueType::Pointer, at, operands);
            }
            Opcode::Arithmetic(_) if left_type == ValueType::Pointer => self.difference(expression, at),
            Opcode::Arithmetic(arithmetic) => {
                let Some(operands) = self.arithmetic_operands(left, right, arithmetic, at) else { return };
                let value_type = operands[0].0.value_type;
                self.value_spot(expression, value_type, at, operands);
            }
            _ => {}
        }
    }

    /// Both sides of an operation on numbers; the left one has the type of the result.
    fn arithmetic_operands(
        &self,
        left: Expression,
        right: Expression,
        arithmetic: Arithmetic,
        at: Definition,
    ) -> Option<Operands> {
        let subject = self.subject;
        let (left_type, right_type) = (subject.scalar(left)?, subject.scalar(right)?);
        if !matches!(arithmetic, Arithmetic::Shl | Arithmetic::LShr | Arithmetic::AShr) {
            let common = types::common(left_type, right_type)?;
            return Some(vec![
                self.operand(left, common, OperandAt::Operand(at, 0)),
                self.operand(right, common, OperandAt::Operand(at, 1)),
            ]);
        }
        let left_operand = self.operand(left, types::promoted(left_type), OperandAt::Operand(at, 0));
        Some(vec![left_operand, self.shift_amount(right, types::promoted(right_type), at)?])
    }

    /// The amount of a shift before it is converted to the width of the left side.
    fn shift_amount(
        &self,
        right: Expression,
        own: ValueType,
        at: Definition,
    ) -> Option<(Operand, OperandAt)> {
        let subject = self.subject;
        let amount = self.code_operand(at, 1);
        if subject.operand_type(amount) == Some(types::code_type(own)) {
            return Some(self.operand(right, own, OperandAt::Operand(at, 1)));
        }
        match (amount, own) {
            // A constant has been converted already.
            (CodeOperand::Integer { bits, .. }, ValueType::Int { is_signed, .. }) => {
                let value_type = ValueType::Int { bits: u8::try_from(bits).ok()?, is_signed };
                Some(self.operand(right, value_type, OperandAt::Operand(at, 1)))
            }
            (CodeOperand::Result(conversion), _) => {
                let code = subject.code.at(conversion);
                let is_own = matches!(code.opcode, Opcode::Convert { .. })
                    && subject.operand_type(code.operands[0]) == Some(types::code_type(own));
                is_own.then(|| self.operand(right, own, OperandAt::Operand(conversion, 0)))
            }
            _ => None,
        }
    }

    /// The pointer and the number of `p + i`, in the order of the source.
    fn moved_pointer(&self, expression: Expression, at: Definition) -> Option<Operands> {
        let subject = self.subject;
        let (left, right) = subject.operands(expression)?;
        let is_swapped = subject.scalar(left) != Some(ValueType::Pointer);
        let (base, number) = if is_swapped { (right, left) } else { (left, right) };
        let base = self.operand(base, ValueType::Pointer, OperandAt::Operand(at, 0));
        let number = self.distance(number, subject.fact(expression).operator.starts_with('-'), at)?;
        Some(if is_swapped { vec![number, base] } else { vec![base, number] })
    }

    /// The number that a pointer is moved by, as a 64-bit number that is not negated.
    fn distance(&self, number: Expression, is_minus: bool, at: Definition) -> Option<(Operand, OperandAt)> {
        let value_type = ValueType::Int { bits: 64, is_signed: true };
        let operand_at = match self.code_operand(at, 1) {
            CodeOperand::Result(negation) if is_minus => OperandAt::Operand(negation, 1),
            // The code has only the negated constant.
            _ if is_minus => OperandAt::Negated(at, 1),
            _ => OperandAt::Operand(at, 1),
        };
        Some(self.operand(number, value_type, operand_at))
    }

    fn difference(&mut self, expression: Expression, at: Definition) {
        let Some((left, right)) = self.subject.operands(expression) else { return };
        let subtraction = match (self.subject.code.at(at).opcode.clone(), self.code_operand(at, 0)) {
            (Opcode::Arithmetic(Arithmetic::SDiv), CodeOperand::Result(subtraction)) => subtraction,
            _ => at,
        };
        let (CodeOperand::Result(first), CodeOperand::Result(second)) =
            (self.code_operand(subtraction, 0), self.code_operand(subtraction, 1))
        else {
            return;
        };
        let operands = vec![
            self.operand(left, ValueType::Pointer, OperandAt::Operand(first, 0)),
            self.operand(right, ValueType::Pointer, OperandAt::Operand(second, 0)),
        ];
        self.value_spot(expression, ValueType::Int { bits: 64, is_signed: true }, at, operands);
    }

    fn compound(&mut self, expression: Expression, at: Definition) {
        let subject = self.subject;
        let Some((left, right)) = subject.operands(expression) else { return };
        if subject.fact(left).is_volatile {
            return;
        }
        let operands = match subject.code.at(at).opcode {
            Opcode::ElementPointer { .. } => self.moved_pointer(expression, at),
            Opcode::Arithmetic(arithmetic) => self.arithmetic_operands(left, right, arithmetic, at),
            _ => None,
        };
        let Some(operands) = operands else { return };
        let value_type = operands[0].0.value_type;
        self.value_spot(expression, value_type, at, operands);
    }

    fn step(&mut self, expression: Expression, at: Definition) {
        let subject = self.subject;
        let Some(child) = subject.only_child(expression).filter(|child| !subject.fact(*child).is_volatile)
        else {
            return;
        };
        let Some(own) = types::scalar(&subject.fact(child).value_type) else { return };
        // Small integers may be changed at their own width or at that of `int`.
        let result = subject.code.at(at).result;
        let value_type =
            [own, types::promoted(own)].into_iter().find(|wanted| types::code_type(*wanted) == result);
        if let Some(value_type) = value_type.filter(|_| own != ValueType::Bool) {
            let operand = self.operand(child, value_type, OperandAt::Operand(at, 0));
            self.value_spot(expression, value_type, at, vec![operand]);
        }
    }

    fn cast(&mut self, expression: Expression, at: Definition) {
        let subject = self.subject;
        let Some(child) = subject.only_child(expression) else { return };
        let (Some(from), Some(to)) =
            (subject.scalar(child), types::scalar(&subject.fact(expression).value_type))
        else {
            return;
        };
        let operand = self.operand(child, from, OperandAt::Operand(at, 0));
        self.value_spot(expression, to, at, vec![operand]);
    }
}
