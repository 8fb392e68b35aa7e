//! Integers that are read from digits, recognised.
//!
//! A reader that looks at one byte after the other leaves a chain of choices: if the byte is a digit, what was read so far times
//! the radix, plus the digit; else what was read so far.
//!
//! ```text
//! (ite $is_digit (add (mul $before (const 64 10)) $digit) $before)
//! ```
//!
//! A radix that the text itself chooses, as `0x` does, makes one more choice of the product. The sign and the limits of the
//! type are chosen around the chain.

use cairn_expr::{Dag, ExprId, ExprNode, Op};

/// Parts of an expression that are looked at.
const MAX_PARTS: usize = 12;

/// Choices between radixes.
const MAX_RADIXES: usize = 4;

/// How an integer is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// The last choice of the chain.
    pub chain: ExprId,
    /// Sorted; several if the text chooses one of them.
    pub radixes: Vec<u32>,
}

/// How an expression is read from digits, if it is: a chain, or a choice of its value and others, such as its negation.
pub fn read_at(dag: &Dag, id: ExprId) -> Option<Reader> {
    // What is computed from a number is undone by others; a number begins where something is chosen.
    if dag.op(id) != Op::Ite {
        return None;
    }
    let mut open = vec![id];
    for _ in 0..MAX_PARTS {
        let next = open.pop()?;
        let node = dag.node(next);
        match node.op() {
            Op::Ite => match radixes(dag, node) {
                Some(radixes) => return Some(Reader { chain: next, radixes }),
                None => open.extend([node.operand(1), node.operand(2)]),
            },
            Op::Neg | Op::ZExt | Op::SExt => open.push(node.operand(0)),
            Op::Extract if node.low() == 0 => open.push(node.operand(0)),
            _ => {}
        }
    }
    None
}

/// The radixes of a choice between a number with one more digit and without it.
fn radixes(dag: &Dag, choice: &ExprNode) -> Option<Vec<u32>> {
    let arms = [choice.operand(1), choice.operand(2)];
    [(arms[0], arms[1]), (arms[1], arms[0])].into_iter().find_map(|(longer, before)| {
        let sum = dag.node(longer);
        if sum.op() != Op::Add || dag.is_fixed(before) {
            return None;
        }
        sum.operands().iter().find_map(|product| {
            let mut radixes = Vec::new();
            find_radixes(dag, *product, before, &mut radixes)?;
            radixes.sort_unstable();
            radixes.dedup();
            Some(radixes)
        })
    })
}

/// Notes by what `before` is multiplied in a product; none if it is something else.
fn find_radixes(dag: &Dag, product: ExprId, before: ExprId, radixes: &mut Vec<u32>) -> Option<()> {
    let node = dag.node(product);
    let operands = node.operands();
    let times = |factor: ExprId| dag.constant_value(factor);
    let radix = match node.op() {
        Op::Mul if operands[0] == before => times(operands[1])?,
        Op::Mul if operands[1] == before => times(operands[0])?,
        Op::Shl if operands[0] == before => 1 << times(operands[1])?.min(6),
        Op::Ite if radixes.len() < MAX_RADIXES => {
            find_radixes(dag, operands[1], before, radixes)?;
            return find_radixes(dag, operands[2], before, radixes);
        }
        _ => return None,
    };
    radixes.push(u32::try_from(radix).ok().filter(|radix| (2..=36).contains(radix))?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_expr::parse;
    use expect_test::{Expect, expect};

    /// The radixes in which an expression of two bytes is read.
    fn check(text: &str, expected: Expect) {
        let mut dag = Dag::new();
        let digits = "(let (($a (zext 64 (input stdin 0 8))) ($b (zext 64 (input stdin 1 8))) \
                      ($p (ult $a (const 64 9))) ($q (ult $b (const 64 9))))";
        let id = parse(&mut dag, &format!("{digits} {text})")).unwrap();
        let radixes = read_at(&dag, id).map(|reader| reader.radixes);
        expected.assert_eq(&format!("{radixes:?}"));
    }

    #[test]
    fn a_digit_that_may_follow_is_recognised() {
        check("(ite $q (add (mul $a (const 64 10)) $b) $a)", expect!["Some([10])"]);
        check("(ite $q $a (add $b (mul (const 64 36) $a)))", expect!["Some([36])"]);
        check("(ite $q (add (shl $a (const 64 4)) $b) $a)", expect!["Some([16])"]);
    }

    #[test]
    fn sign_and_limit_are_looked_through() {
        check(
            "(let (($n (ite $q (add (mul $a (const 64 10)) $b) $a))) (ite $p (const 64 77) (ite $q (neg $n) $n)))",
            expect!["Some([10])"],
        );
    }

    #[test]
    fn a_radix_may_be_chosen() {
        check(
            "(ite $q (add (ite $p (shl $a (const 64 4)) (mul $a (const 64 10))) $b) $a)",
            expect!["Some([10, 16])"],
        );
    }

    #[test]
    fn other_sums_and_choices_are_not() {
        check("(add (mul $a (const 64 10)) $b)", expect!["None"]);
        check("(ite $q (add (mul $a (const 64 10)) $b) $b)", expect!["None"]);
        check("(ite $q (add (mul $a (const 64 1000)) $b) $a)", expect!["None"]);
        check("(ite $q (add $a $b) $a)", expect!["None"]);
    }
}
