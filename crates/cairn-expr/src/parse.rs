//! Reads what [`print`](crate::print()) writes.

use std::{collections::HashMap, iter::Peekable, str::CharIndices};

use cairn_abi::symbolic::Op;

use crate::{
    bits::{MAX_WIDTH, mask},
    check::Malformed,
    dag::Dag,
    names::{function_named, op_named, region_named},
    node::{ExprId, ExprNode, TableId, arity, is_comparison},
    print::has_width,
};

/// Why a text is not an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at byte {at}")]
pub struct ParseError {
    /// Where, in bytes.
    pub at: usize,
    /// What is wrong there.
    pub reason: ParseErrorReason,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseErrorReason {
    /// The text ends inside of parentheses, or there is none.
    #[error("the expression is not complete")]
    Incomplete,
    /// Something follows the expression.
    #[error("there is more text after the expression")]
    Trailing,
    /// A parenthesis that closes nothing.
    #[error("`)` closes nothing")]
    Unopened,
    /// The first word of a list is neither an operation nor a function.
    #[error("`{0}` is not an operation")]
    UnknownOperation(String),
    /// A name that was not introduced before.
    #[error("`{0}` is not defined")]
    UnknownName(String),
    /// A name was introduced twice.
    #[error("`{0}` is defined twice")]
    NameTaken(String),
    /// A list has not the parts its first word asks for.
    #[error("`{operation}` needs {expected}")]
    Form {
        /// The first word.
        operation: String,
        /// What should be there.
        expected: &'static str,
    },
    /// Widths do not fit.
    #[error("{0}")]
    Malformed(Malformed),
}

use ParseErrorReason as Reason;

/// Reads an expression, as it is: nothing is simplified.
pub fn parse(dag: &mut Dag, text: &str) -> Result<ExprId, ParseError> {
    let mut parser = Parser { dag, names: HashMap::new() };
    let tokens = Tokens { text, rest: text.char_indices().peekable() };
    let mut open: Vec<(usize, Vec<Item>)> = Vec::new();
    let mut done = None;
    for (at, token) in tokens {
        if done.is_some() {
            return Err(ParseError { at, reason: Reason::Trailing });
        }
        let item = match token {
            "(" => {
                open.push((at, Vec::new()));
                continue;
            }
            ")" => {
                let (start, items) = open.pop().ok_or(ParseError { at, reason: Reason::Unopened })?;
                parser.list(items).map_err(|reason| ParseError { at: start, reason })?
            }
            word => Item::Word(word),
        };
        match (open.last_mut(), item) {
            (Some((_, items)), item) => items.push(item),
            (None, Item::Expression(id)) => done = Some(id),
            (None, _) => return Err(ParseError { at, reason: Reason::Incomplete }),
        }
    }
    done.ok_or(ParseError { at: text.len(), reason: Reason::Incomplete })
}

#[derive(Clone, Copy, Debug)]
enum Item<'t> {
    Word(&'t str),
    Expression(ExprId),
    Table(TableId),
    /// Names were introduced.
    Definitions,
}

struct Parser<'d, 't> {
    dag: &'d mut Dag,
    names: HashMap<&'t str, Item<'t>>,
}

impl<'t> Parser<'_, 't> {
    fn list(&mut self, items: Vec<Item<'t>>) -> Result<Item<'t>, Reason> {
        let (word, rest) = match items.split_first() {
            Some((Item::Word(word), rest)) => (*word, rest),
            // A list of definitions, each of which was carried out when its parenthesis closed.
            _ if items.iter().all(|item| matches!(item, Item::Definitions)) => return Ok(Item::Definitions),
            _ => return Err(Reason::UnknownOperation("(".to_owned())),
        };
        if word.starts_with('$') {
            return self.define(word, rest);
        }
        let rest: Vec<Item> = rest.iter().map(|item| self.resolve(*item)).collect::<Result<_, _>>()?;
        let form = |expected| Reason::Form { operation: word.to_owned(), expected };
        match word {
            "let" => match rest[..] {
                [Item::Definitions, body @ Item::Expression(_)] => Ok(body),
                _ => Err(form("a list of definitions and an expression")),
            },
            "bytes" => {
                let hex = match rest[..] {
                    [] => "",
                    [Item::Word(hex)] => hex,
                    _ => return Err(form("bytes in hexadecimal")),
                };
                let bytes = unhex(hex).ok_or(form("bytes in hexadecimal"))?;
                Ok(Item::Table(self.dag.add_table(&bytes)))
            }
            _ => self.operation(word, &rest).map(Item::Expression),
        }
    }

    fn define(&mut self, name: &'t str, rest: &[Item<'t>]) -> Result<Item<'t>, Reason> {
        let expected = "one expression or table";
        let form = Reason::Form { operation: name.to_owned(), expected };
        let [meaning] = rest else { return Err(form) };
        let meaning = self.resolve(*meaning)?;
        if !matches!(meaning, Item::Expression(_) | Item::Table(_)) {
            return Err(form);
        }
        match self.names.insert(name, meaning) {
            Some(_) => Err(Reason::NameTaken(name.to_owned())),
            None => Ok(Item::Definitions),
        }
    }

    /// A name stands for what it was defined as.
    fn resolve(&self, item: Item<'t>) -> Result<Item<'t>, Reason> {
        match item {
            Item::Word(name) if name.starts_with('$') => {
                self.names.get(name).copied().ok_or_else(|| Reason::UnknownName(name.to_owned()))
            }
            item => Ok(item),
        }
    }

    fn operation(&mut self, word: &str, rest: &[Item<'t>]) -> Result<ExprId, Reason> {
        let form = |expected| Reason::Form { operation: word.to_owned(), expected };
        let n_operands = rest.iter().rev().take_while(|item| matches!(item, Item::Expression(_))).count();
        let (head, operands) = rest.split_at(rest.len() - n_operands);
        let operands: Vec<ExprId> = operands
            .iter()
            .filter_map(|item| if let Item::Expression(id) = item { Some(*id) } else { None })
            .collect();
        if let Some(function) = function_named(word) {
            if !head.is_empty() || operands.len() != function.arity() {
                return Err(form("one operand, or two if it is a function of two"));
            }
            return self.add(ExprNode::math(function, self.dag.width(operands[0]), &operands));
        }
        let op = op_named(word).filter(|op| *op != Op::Math);
        let op = op.ok_or_else(|| Reason::UnknownOperation(word.to_owned()))?;
        match (op, head, &operands[..]) {
            (Op::Constant, [Item::Word(width), Item::Word(value)], []) => {
                let (width, value) = value_of(width, value).ok_or(form("a width and a value that fits"))?;
                Ok(self.dag.constant(width, value))
            }
            (Op::Opaque, [Item::Word(width), Item::Word(value)], [] | [_] | [_, _]) => {
                let (width, value) = value_of(width, value).ok_or(form("a width and a value that fits"))?;
                Ok(self.dag.opaque(width, value, &operands))
            }
            (Op::Input, [Item::Word(region), Item::Word(offset), Item::Word(width)], []) => {
                let expected = "a region, an offset and a width";
                let region = region_named(region).ok_or(form(expected))?;
                let offset = offset.parse().map_err(|_| form(expected))?;
                let width = width_of(width).ok_or(form(expected))?;
                self.add(ExprNode::input(region, offset, width))
            }
            (Op::Extract, [Item::Word(low), Item::Word(width)], [a]) => {
                let expected = "the lowest bit, a width and an operand";
                let low = low.parse().map_err(|_| form(expected))?;
                let width = width_of(width).ok_or(form(expected))?;
                self.add(ExprNode::extract(*a, low, width))
            }
            (Op::Table, [Item::Word(width), Item::Table(table)], [offset]) => {
                let width = width_of(width).ok_or(form("a width, a table and an offset"))?;
                self.add(ExprNode::table(*table, *offset, width))
            }
            (op, [Item::Word(width)], [_]) if has_width(op) => {
                let width = width_of(width).ok_or(form("a width and an operand"))?;
                self.add(ExprNode::operation(op, width, &operands))
            }
            (op, [], [a, ..]) if !has_width(op) && arity(op) == Some(operands.len()) => {
                let width = match op {
                    _ if is_comparison(op) => 1,
                    Op::Concat => self.dag.width(*a) + self.dag.width(operands[1]),
                    Op::Ite => self.dag.width(operands[1]),
                    _ => self.dag.width(*a),
                };
                if width > MAX_WIDTH {
                    return Err(Reason::Malformed(Malformed::Width { op, width }));
                }
                self.add(ExprNode::operation(op, width, &operands))
            }
            _ => Err(form(expected_form(op))),
        }
    }

    fn add(&mut self, node: ExprNode) -> Result<ExprId, Reason> {
        self.dag.check(&node).map_err(Reason::Malformed)?;
        Ok(self.dag.raw(node))
    }
}

fn expected_form(op: Op) -> &'static str {
    match op {
        Op::Constant => "a width and a value",
        Op::Opaque => "a width, a value and at most two operands",
        Op::Input => "a region, an offset and a width",
        Op::Extract => "the lowest bit, a width and an operand",
        Op::Table => "a width, a table and an offset",
        op if has_width(op) => "a width and an operand",
        op => match arity(op) {
            Some(1) => "one operand",
            Some(2) => "two operands",
            _ => "three operands",
        },
    }
}

fn width_of(word: &str) -> Option<u32> {
    word.parse().ok().filter(|width| (1..=MAX_WIDTH).contains(width))
}

fn value_of(width: &str, value: &str) -> Option<(u32, u128)> {
    let width = width_of(width)?;
    let value = match value.strip_prefix("0x") {
        Some(digits) if !digits.starts_with('+') => u128::from_str_radix(digits, 16).ok()?,
        _ => value.parse().ok()?,
    };
    (value <= mask(width)).then_some((width, value))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    pairs.remainder().is_empty().then(|| pairs.map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// Parentheses and words.
struct Tokens<'t> {
    text: &'t str,
    rest: Peekable<CharIndices<'t>>,
}

impl<'t> Iterator for Tokens<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        while self.rest.next_if(|(_, character)| character.is_whitespace()).is_some() {}
        let (start, first) = self.rest.next()?;
        let mut end = start + first.len_utf8();
        if !matches!(first, '(' | ')') {
            let is_word = |c: char| !c.is_whitespace() && !matches!(c, '(' | ')');
            while let Some((at, character)) = self.rest.next_if(|(_, c)| is_word(*c)) {
                end = at + character.len_utf8();
            }
        }
        Some((start, &self.text[start..end]))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::print::print;

    fn check(text: &str, expected: Expect) {
        let mut dag = Dag::new();
        let answer = match parse(&mut dag, text) {
            Ok(id) => print(&dag, id),
            Err(error) => format!("error: {error}"),
        };
        expected.assert_eq(&answer);
    }

    #[test]
    fn text_is_read_back() {
        for text in [
            "(eq (zext 32 (input stdin 0 8)) (const 32 65))",
            "(extract 3 5 (input arg0 4 16))",
            "(let (($0 (not (input file3 0 8)))) (concat $0 $0))",
            "(let (($t0 (bytes 000102))) (table 8 $t0 (input buffer 0 64)))",
            "(let (($0 (opaque 8 3 (input stdin 0 8)))) (add $0 $0))",
            "(flt (sqrt (fabs (input variable0 0 64))) (const 64 0x3f847ae147ae147b))",
        ] {
            let mut dag = Dag::new();
            let id = parse(&mut dag, text).expect(text);
            assert_eq!(print(&dag, id), text);
        }
    }

    #[test]
    fn numbers_and_spaces_are_free() {
        check("( add(const 8 0x0A)\n (const 8 10) )", expect!["(add (const 8 10) (const 8 10))"]);
    }

    #[test]
    fn what_is_wrong_is_said_where_it_is() {
        check("", expect!["error: the expression is not complete at byte 0"]);
        check("(add (const 8 1)", expect!["error: the expression is not complete at byte 16"]);
        check("(const 8 1))", expect!["error: there is more text after the expression at byte 11"]);
        check("(const 8 1) x", expect!["error: there is more text after the expression at byte 12"]);
        check("(plus (const 8 1) (const 8 1))", expect!["error: `plus` is not an operation at byte 0"]);
        check(
            "(add (const 8 1) (const 9 1))",
            expect!["error: Add of width 8 cannot have operands of widths [8, 9] at byte 0"],
        );
        check("(const 8 256)", expect!["error: `const` needs a width and a value that fits at byte 0"]);
        check("(const 129 1)", expect!["error: `const` needs a width and a value that fits at byte 0"]);
        check("(not $0)", expect!["error: `$0` is not defined at byte 0"]);
        check(
            "(let (($0 (const 8 1)) ($0 (const 8 1))) $0)",
            expect!["error: `$0` is defined twice at byte 23"],
        );
        check(
            "(extract 7 2 (const 8 1))",
            expect!["error: 2 bits from bit 7 on are not part of 8 bits at byte 0"],
        );
        check(
            "(concat (const 128 1) (const 128 1))",
            expect!["error: Concat cannot have a width of 256 bits at byte 0"],
        );
        check(
            "(input stdin 4294967295 8)",
            expect!["error: 1 bytes at offset 4294967295 do not lie inside a region at byte 0"],
        );
        check(
            "(input nowhere 0 8)",
            expect!["error: `input` needs a region, an offset and a width at byte 0"],
        );
        check("(table 8 $t (const 64 0))", expect!["error: `$t` is not defined at byte 0"]);
        check(
            "(pow (const 64 0))",
            expect!["error: `pow` needs one operand, or two if it is a function of two at byte 0"],
        );
        check("(bytes 0)", expect!["error: `bytes` needs bytes in hexadecimal at byte 0"]);
        check("((const 8 1))", expect!["error: `(` is not an operation at byte 0"]);
    }
}
