//! C's binary operators.

/// A binary operator of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BinaryOperator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&&`
    LogicalAnd,
    /// `||`
    LogicalOr,
}

/// Operators that one class of mutation operators treats alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `+ - * / %`
    Arithmetic,
    /// `& | ^`
    Bitwise,
    /// `<< >>`
    Shift,
    /// `< <= > >= == !=`
    Relational,
    /// `&& ||`
    Logical,
}

use BinaryOperator::*;

const ALL: [BinaryOperator; 18] = [
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    LogicalAnd,
    LogicalOr,
];

impl BinaryOperator {
    /// The operator with this spelling, that of `op=` included.
    pub fn parse(spelling: &str) -> Option<Self> {
        let plain = spelling.strip_suffix('=').filter(|plain| !matches!(*plain, "" | "<" | ">" | "=" | "!"));
        let spelling = plain.unwrap_or(spelling);
        ALL.into_iter().find(|operator| operator.spelling() == spelling)
    }

    /// As written in C.
    pub fn spelling(self) -> &'static str {
        match self {
            Add => "+",
            Subtract => "-",
            Multiply => "*",
            Divide => "/",
            Remainder => "%",
            BitAnd => "&",
            BitOr => "|",
            BitXor => "^",
            ShiftLeft => "<<",
            ShiftRight => ">>",
            Less => "<",
            LessOrEqual => "<=",
            Greater => ">",
            GreaterOrEqual => ">=",
            Equal => "==",
            NotEqual => "!=",
            LogicalAnd => "&&",
            LogicalOr => "||",
        }
    }

    /// Its family.
    pub fn family(self) -> Family {
        match self {
            Add | Subtract | Multiply | Divide | Remainder => Family::Arithmetic,
            BitAnd | BitOr | BitXor => Family::Bitwise,
            ShiftLeft | ShiftRight => Family::Shift,
            Less | LessOrEqual | Greater | GreaterOrEqual | Equal | NotEqual => Family::Relational,
            LogicalAnd | LogicalOr => Family::Logical,
        }
    }

    /// Whether it is `/` or `%`.
    pub fn divides(self) -> bool {
        matches!(self, Divide | Remainder)
    }

    /// The relation that holds exactly when this one does not, floats that cannot be ordered aside.
    pub fn negated(self) -> Option<Self> {
        Some(match self {
            Less => GreaterOrEqual,
            LessOrEqual => Greater,
            Greater => LessOrEqual,
            GreaterOrEqual => Less,
            Equal => NotEqual,
            NotEqual => Equal,
            _ => return None,
        })
    }
}

impl Family {
    /// Its operators, in a fixed order.
    pub fn members(self) -> impl Iterator<Item = BinaryOperator> {
        ALL.into_iter().filter(move |operator| operator.family() == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_read_back_also_with_an_assignment() {
        for operator in ALL {
            assert_eq!(BinaryOperator::parse(operator.spelling()), Some(operator));
            if matches!(operator.family(), Family::Arithmetic | Family::Bitwise | Family::Shift) {
                assert_eq!(BinaryOperator::parse(&format!("{}=", operator.spelling())), Some(operator));
            }
        }
        assert_eq!(BinaryOperator::parse("="), None);
        assert_eq!(BinaryOperator::parse(","), None);
    }

    #[test]
    fn negating_twice_changes_nothing() {
        for operator in Family::Relational.members() {
            assert_eq!(operator.negated().and_then(BinaryOperator::negated), Some(operator));
        }
    }
}
