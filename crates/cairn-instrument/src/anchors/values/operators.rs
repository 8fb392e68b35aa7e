//! Operators on numbers and truth values, casts, calls and `?:`.

use super::Finder;
use crate::{
    anchors::{subject::Expression, types},
    ir::{Arithmetic, Callee, CodeOperand, CodeType, IrKind, Opcode, Predicate, is_named},
};
use cairn_model::{facts::TypeClass, mutants::ValueType};

impl Finder<'_, '_> {
    pub(super) fn unary(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some(child) = subject.only_child(expression) else { return };
        let place = fact.place;
        let is_constant = |operand: CodeOperand, value: i64| matches!(operand, CodeOperand::Integer { value: found, .. } if found == value);
        let at = match fact.operator.as_str() {
            "*" => return self.object(expression),
            "&" => {
                self.value[expression as usize] = self.address[child as usize];
                return;
            }
            "+" => {
                self.value[expression as usize] = self.value[child as usize];
                return;
            }
            "-" => self.take(expression, place, |finder, at| match finder.opcode(at) {
                Opcode::Arithmetic(Arithmetic::FNeg) => finder.matches(finder.operand(at, 0), child),
                Opcode::Arithmetic(Arithmetic::Sub) => {
                    is_constant(finder.operand(at, 0), 0) && finder.matches(finder.operand(at, 1), child)
                }
                _ => false,
            }),
            "~" => self.take(expression, place, |finder, at| {
                *finder.opcode(at) == Opcode::Arithmetic(Arithmetic::Xor)
                    && subject.code.at(at).result != CodeType::Int(1)
                    && is_constant(finder.operand(at, 1), -1)
                    && finder.matches(finder.operand(at, 0), child)
            }),
            "!" => self.take(expression, place, |finder, at| {
                *finder.opcode(at) == Opcode::Arithmetic(Arithmetic::Xor)
                    && subject.code.at(at).result == CodeType::Int(1)
                    && is_constant(finder.operand(at, 1), -1)
                    && finder.is_truth(finder.operand(at, 0), child)
            }),
            _ => None,
        };
        if let Some(at) = at {
            self.computed(expression, at);
        }
    }

    pub(super) fn binary(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some((left, right)) = subject.operands(expression) else { return };
        if fact.operator == "," {
            self.value[expression as usize] = self.value[right as usize];
            self.address[expression as usize] = self.address[right as usize];
            return;
        }
        let (Some(left_type), Some(right_type)) = (subject.scalar(left), subject.scalar(right)) else {
            return;
        };
        let at = if let Some(comparison) = comparison(&fact.operator, left_type, right_type) {
            let (predicate, operand_type) = comparison;
            self.take(expression, fact.place, |finder, at| {
                *finder.opcode(at) == Opcode::Compare(predicate)
                    && subject.operand_type(finder.operand(at, 0)).is_none_or(|found| found == operand_type)
                    && finder.matches(finder.operand(at, 0), left)
                    && finder.matches(finder.operand(at, 1), right)
            })
        } else if left_type == ValueType::Pointer || right_type == ValueType::Pointer {
            self.pointer_arithmetic(expression, (left, left_type), (right, right_type))
        } else if let Some((arithmetic, result)) = arithmetic(&fact.operator, left_type, right_type) {
            self.take(expression, fact.place, |finder, at| {
                *finder.opcode(at) == Opcode::Arithmetic(arithmetic)
                    && subject.code.at(at).result == types::code_type(result)
                    && finder.matches(finder.operand(at, 0), left)
                    && finder.matches(finder.operand(at, 1), right)
            })
        } else {
            None
        };
        if let Some(at) = at {
            self.computed(expression, at);
        }
    }

    pub(super) fn cast(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some(child) = subject.only_child(expression) else { return };
        // Conversions are looked through, but a comparison with 0 is not one.
        if fact.value_type.class == TypeClass::Bool && subject.fact(child).value_type.class != TypeClass::Bool
        {
            return;
        }
        self.value[expression as usize] = match subject.fact(child).is_array {
            true => self.address[child as usize],
            false => self.value[child as usize],
        };
        let (Some(from), Some(to)) = (subject.scalar(child), types::scalar(&fact.value_type)) else { return };
        let (from, to) = (types::code_type(from), types::code_type(to));
        if from == to
            || from == CodeType::Int(1)
            || to == CodeType::Int(1)
            || subject.fact(child).constant.is_some()
        {
            return;
        }
        let at = self.take(expression, fact.place, |finder, at| {
            let operand = finder.operand(at, 0);
            matches!(finder.opcode(at), Opcode::Convert { .. })
                && subject.code.at(at).result == to
                && subject.operand_type(operand) == Some(from)
                && finder.matches(operand, child)
        });
        self.instruction[expression as usize] = at;
    }

    pub(super) fn call(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let at = self.take(expression, fact.place, |_, at| {
            let IrKind::Call(callee) = &subject.ir.blocks[at.block].instructions[at.instruction].kind else {
                return false;
            };
            match callee {
                Callee::Intrinsic => false,
                Callee::Indirect(_) => fact.operator.is_empty(),
                Callee::External { name, .. } => *name == fact.operator,
                Callee::Defined(index) => is_named(subject.function_name(*index), &fact.operator),
            }
        });
        if let Some(at) = at {
            self.computed(expression, at);
        }
    }

    pub(super) fn conditional(&mut self, expression: Expression) {
        let [_, yes, no] = *self.subject.children(expression) else { return };
        let subject = self.subject;
        let at =
            self.take(expression, subject.fact(expression).place, |finder, at| match finder.opcode(at) {
                Opcode::Select => {
                    finder.matches(finder.operand(at, 1), yes) && finder.matches(finder.operand(at, 2), no)
                }
                Opcode::Phi(blocks) => {
                    blocks.len() == 2
                        && finder.matches(finder.operand(at, 0), yes)
                        && finder.matches(finder.operand(at, 1), no)
                }
                _ => false,
            });
        if let Some(at) = at {
            self.computed(expression, at);
        }
    }
}

/// The comparison that an operator makes, and the type of what it compares.
pub(super) fn comparison(operator: &str, left: ValueType, right: ValueType) -> Option<(Predicate, CodeType)> {
    use Predicate::*;
    let common = match (left, right) {
        (ValueType::Pointer, _) | (_, ValueType::Pointer) => ValueType::Pointer,
        _ => types::common(left, right)?,
    };
    let by_class = |signed, unsigned, float| match common {
        ValueType::Float { .. } => float,
        ValueType::Int { is_signed: true, .. } => signed,
        _ => unsigned,
    };
    let predicate = match operator {
        "==" => by_class(Eq, Eq, Oeq),
        "!=" => by_class(Ne, Ne, Une),
        "<" => by_class(Slt, Ult, Olt),
        "<=" => by_class(Sle, Ule, Ole),
        ">" => by_class(Sgt, Ugt, Ogt),
        ">=" => by_class(Sge, Uge, Oge),
        _ => return None,
    };
    Some((predicate, types::code_type(common)))
}

/// The operation that an operator makes on numbers, and its type.
pub(super) fn arithmetic(
    operator: &str,
    left: ValueType,
    right: ValueType,
) -> Option<(Arithmetic, ValueType)> {
    use Arithmetic::*;
    let result = match operator {
        "<<" | ">>" => types::promoted(left),
        _ => types::common(left, right)?,
    };
    let (is_float, is_signed) = match result {
        ValueType::Float { .. } => (true, false),
        ValueType::Int { is_signed, .. } => (false, is_signed),
        _ => return None,
    };
    let arithmetic = match operator {
        "+" if is_float => FAdd,
        "-" if is_float => FSub,
        "*" if is_float => FMul,
        "/" if is_float => FDiv,
        _ if is_float => return None,
        "+" => Add,
        "-" => Sub,
        "*" => Mul,
        "/" if is_signed => SDiv,
        "/" => UDiv,
        "%" if is_signed => SRem,
        "%" => URem,
        "<<" => Shl,
        ">>" if is_signed => AShr,
        ">>" => LShr,
        "&" => And,
        "|" => Or,
        "^" => Xor,
        _ => return None,
    };
    Some((arithmetic, result))
}
