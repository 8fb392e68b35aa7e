//! Expressions of C, with their types.

use crate::formula::{BinaryOperator, Family, types};
use cairn_model::{
    facts::{ExpressionKind, TypeClass, TypeFact},
    mutants::ValueType,
};
use std::{collections::BTreeMap, ops::Range};

pub use cairn_model::facts::ExpressionKind as Kind;

/// An expression.
#[derive(Clone, Debug)]
pub struct Tree {
    pub kind: ExpressionKind,
    pub operator: String,
    pub fact: TypeFact,
    /// Without parentheses around it.
    pub span: Range<usize>,
    pub children: Vec<Tree>,
    /// Of literals.
    pub number: i64,
    pub float: f64,
}

impl Tree {
    pub fn value_type(&self) -> ValueType {
        types::of_fact(&self.fact).unwrap_or(ValueType::Pointer)
    }

    pub fn is_pure(&self) -> bool {
        let is_effect =
            matches!(self.kind, Kind::Call | Kind::Assign | Kind::CompoundAssign | Kind::IncrementDecrement);
        !is_effect && self.children.iter().all(Tree::is_pure)
    }

    pub fn binary_operator(&self) -> Option<BinaryOperator> {
        BinaryOperator::parse(&self.operator)
            .filter(|_| matches!(self.kind, Kind::Binary | Kind::Logical | Kind::CompoundAssign))
    }

    /// Whether its value is 0 or 1.
    pub fn is_test(&self) -> bool {
        let is_relation = self.binary_operator().is_some_and(|it| it.family() == Family::Relational);
        is_relation || (self.kind == Kind::Unary && self.operator == "!")
    }
}

/// A type by its name.
pub fn type_named(name: &str) -> Option<TypeFact> {
    let (class, bits) = match name {
        "_Bool" => (TypeClass::Bool, 8),
        "char" | "signed char" => (TypeClass::Signed, 8),
        "unsigned char" => (TypeClass::Unsigned, 8),
        "short" => (TypeClass::Signed, 16),
        "unsigned short" => (TypeClass::Unsigned, 16),
        "int" => (TypeClass::Signed, 32),
        "unsigned" | "unsigned int" => (TypeClass::Unsigned, 32),
        "long" => (TypeClass::Signed, 64),
        "unsigned long" => (TypeClass::Unsigned, 64),
        "float" => (TypeClass::Float, 32),
        "double" => (TypeClass::Float, 64),
        "char *" => (TypeClass::Pointer, 64),
        _ => return None,
    };
    Some(TypeFact { spelling: name.to_owned(), class, bits })
}

fn fact_of(value_type: ValueType) -> TypeFact {
    let name = match value_type {
        ValueType::Bool => "_Bool",
        ValueType::Int { bits: 32, is_signed: true } => "int",
        ValueType::Int { bits: 32, is_signed: false } => "unsigned int",
        ValueType::Int { bits: 64, is_signed: true } => "long",
        ValueType::Int { bits: 64, is_signed: false } => "unsigned long",
        ValueType::Float { bits: 32 } => "float",
        ValueType::Float { .. } => "double",
        ValueType::Pointer => "char *",
        ValueType::Int { .. } => panic!("C computes in no type narrower than int"),
    };
    type_named(name).expect("it is one of ours")
}

/// Parses an expression; `None` if it is none.
pub fn parse(source: &str, names: &BTreeMap<String, TypeFact>) -> Option<Tree> {
    let mut parser = Parser { source, names, at: 0 };
    let tree = parser.assignment()?;
    parser.blank();
    (parser.at == source.len()).then_some(tree)
}

struct Parser<'a> {
    source: &'a str,
    names: &'a BTreeMap<String, TypeFact>,
    at: usize,
}

const OPERATORS: [&str; 33] = [
    "<<=", ">>=", "&&", "||", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "++", "--", "->", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "=", "!",
];

impl Parser<'_> {
    fn blank(&mut self) {
        let rest = &self.source[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Where the last token ended.
    fn end(&self) -> usize {
        self.source[..self.at].trim_end().len()
    }

    fn operator(&mut self) -> Option<&'static str> {
        self.blank();
        OPERATORS.into_iter().find(|operator| self.source[self.at..].starts_with(operator))
    }

    fn eat(&mut self, token: &str) -> bool {
        self.blank();
        let is_here = self.source[self.at..].starts_with(token);
        if is_here {
            self.at += token.len();
        }
        is_here
    }

    fn assignment(&mut self) -> Option<Tree> {
        self.blank();
        let start = self.at;
        let left = self.binary(0)?;
        let Some(operator) = self.operator() else { return Some(left) };
        let is_plain = operator == "=";
        let computed = BinaryOperator::parse(operator).filter(|it| it.spelling() != operator);
        if !is_plain && computed.is_none() {
            return Some(left);
        }
        self.eat(operator);
        let right = self.assignment()?;
        let kind = if is_plain { Kind::Assign } else { Kind::CompoundAssign };
        // Parentheses around a child belong to the whole.
        let span = start..self.end();
        Some(Tree { span, ..node(kind, operator, left.fact.clone(), vec![left, right]) })
    }

    fn binary(&mut self, least: u8) -> Option<Tree> {
        self.blank();
        let start = self.at;
        let mut left = self.unary()?;
        while let Some(operator) = self.operator() {
            let Some(binary) = BinaryOperator::parse(operator).filter(|it| it.spelling() == operator) else {
                break;
            };
            let level = level(binary);
            if level < least {
                break;
            }
            self.eat(operator);
            let right = self.binary(level + 1)?;
            let (a, b) = (left.value_type(), right.value_type());
            let result = match binary.family() {
                Family::Logical | Family::Relational => types::INT,
                Family::Shift => types::promoted(a),
                _ => types::common(a, b)?,
            };
            let is_integer = types::is_integer(result) && types::is_integer(b);
            if matches!(binary.family(), Family::Bitwise | Family::Shift) && !is_integer {
                return None;
            }
            let kind = if binary.family() == Family::Logical { Kind::Logical } else { Kind::Binary };
            let span = start..self.end();
            left = Tree { span, ..node(kind, operator, fact_of(result), vec![left, right]) };
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Tree> {
        self.blank();
        let start = self.at;
        for operator in ["++", "--", "-", "~", "!"] {
            if self.eat(operator) {
                let of = self.unary()?;
                let (kind, fact) = match operator {
                    "++" | "--" => (Kind::IncrementDecrement, of.fact.clone()),
                    "!" => (Kind::Unary, fact_of(types::INT)),
                    _ => (Kind::Unary, fact_of(types::promoted(of.value_type()))),
                };
                let end = self.end();
                return Some(Tree { span: start..end, ..node(kind, operator, fact, vec![of]) });
            }
        }
        if self.source[self.at..].starts_with('(') {
            let close = self.source[self.at..].find(')')? + self.at;
            if let Some(fact) = type_named(self.source[self.at + 1..close].trim()) {
                self.at = close + 1;
                let of = self.unary()?;
                let end = self.end();
                return Some(Tree { span: start..end, ..node(Kind::Cast, "", fact, vec![of]) });
            }
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Option<Tree> {
        self.blank();
        let start = self.at;
        let mut tree = self.primary()?;
        loop {
            if self.eat("[") {
                let index = self.assignment()?;
                self.eat("]").then_some(())?;
                let element = type_named(tree.fact.spelling.split('[').next()?)?;
                let end = self.end();
                tree = Tree { span: start..end, ..node(Kind::Index, "[]", element, vec![tree, index]) };
            } else if self.eat("(") {
                let mut children = vec![tree];
                while !self.eat(")") {
                    children.push(self.assignment()?);
                    self.eat(",");
                }
                let end = self.end();
                tree = Tree { span: start..end, ..node(Kind::Call, "f", fact_of(types::INT), children) };
            } else if let Some(operator @ ("++" | "--")) = self.operator() {
                self.eat(operator);
                let end = self.end();
                let fact = tree.fact.clone();
                let step = node(Kind::IncrementDecrement, operator, fact, vec![tree]);
                // A mark for the evaluator: the old value comes out.
                tree = Tree { span: start..end, number: 1, ..step };
            } else {
                return Some(tree);
            }
        }
    }

    fn primary(&mut self) -> Option<Tree> {
        self.blank();
        if self.eat("(") {
            let start = self.at;
            let mut tree = self.assignment()?;
            if self.eat(",") {
                let second = self.assignment()?;
                let comma = node(Kind::Other, ",", second.fact.clone(), vec![tree, second]);
                tree = Tree { span: start..self.end(), ..comma };
            }
            return self.eat(")").then_some(tree);
        }
        let start = self.at;
        let rest = &self.source[start..];
        let length = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '.');
        let word = &rest[..length.unwrap_or(rest.len())];
        self.at += word.len();
        let span = start..self.at;
        let digits = word.trim_end_matches(['u', 'l', 'f']);
        if let Ok(number) = digits.parse::<i64>() {
            let name = match &word[digits.len()..] {
                "" if i32::try_from(number).is_err() => "long",
                "" => "int",
                "u" => "unsigned int",
                "l" => "long",
                "ul" => "unsigned long",
                _ => return None,
            };
            return Some(Tree { span, number, ..node(Kind::Integer, "", type_named(name)?, vec![]) });
        }
        if let Ok(float) = digits.parse::<f64>() {
            let name = if word.ends_with('f') { "float" } else { "double" };
            return Some(Tree { span, float, ..node(Kind::Float, "", type_named(name)?, vec![]) });
        }
        let fact = self.names.get(word)?.clone();
        Some(Tree { span, ..node(Kind::Reference, word, fact, vec![]) })
    }
}

/// A node of which the caller knows better where it begins and ends.
fn node(kind: ExpressionKind, operator: &str, fact: TypeFact, children: Vec<Tree>) -> Tree {
    Tree { kind, operator: operator.to_owned(), fact, span: 0..0, children, number: 0, float: 0.0 }
}

fn level(operator: BinaryOperator) -> u8 {
    use BinaryOperator::*;
    match operator {
        LogicalOr => 1,
        LogicalAnd => 2,
        BitOr => 3,
        BitXor => 4,
        BitAnd => 5,
        Equal | NotEqual => 6,
        Less | LessOrEqual | Greater | GreaterOrEqual => 7,
        ShiftLeft | ShiftRight => 8,
        Add | Subtract => 9,
        Multiply | Divide | Remainder => 10,
    }
}
