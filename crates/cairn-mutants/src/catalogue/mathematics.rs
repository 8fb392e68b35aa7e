//! PIT's operators on numbers: one replacement for each operation.

use super::{
    assignments, binary,
    context::{Context, Drafts},
    operator::{Example, Maker, Operator, Set},
    text::{Precedence, Text},
};
use crate::formula::BinaryOperator;
use cairn_model::facts::ExpressionKind;

/// The operators of this family.
pub const OPERATORS: &[Operator] = &[
    Operator {
        name: "math",
        code: "MATH",
        meaning: "Replaces an arithmetic, bitwise or shift operator, also in `op=`, by one opposite: `+` and `-`, `*` and `/`, `&` and `|`, `<<` and `>>` change places, `%` becomes `*`, `^` becomes `&`.",
        surviving: "The tests do not look at the result, or use operands for which both operators agree.",
        example: Example { before: "total = price * count;", after: "total = price / count;" },
        kill: "Use operands other than 0 and 1, and let the result reach the output.",
        sets: &[Set::Compact, Set::Mu2],
        maker: Maker::Spot(math),
    },
    Operator {
        name: "increments",
        code: "INCREMENTS",
        meaning: "Counts in the other direction: `++` becomes `--` and the other way round.",
        surviving: "The tests do not depend on this count.",
        example: Example { before: "n_lines++;", after: "n_lines--;" },
        kill: "Let the count reach the output, a limit, or an index.",
        sets: &[Set::Compact, Set::Mu2],
        maker: Maker::Spot(increments),
    },
    Operator {
        name: "invert-negatives",
        code: "INVERT_NEGS",
        meaning: "Drops a minus: `-a` becomes `a`.",
        surviving: "The tests negate only 0, or do not look at the sign.",
        example: Example { before: "return -error;", after: "return error;" },
        kill: "Negate a number that is not 0 and look at its sign.",
        sets: &[Set::Compact, Set::Mu2],
        maker: Maker::Spot(invert_negatives),
    },
];

fn math(context: &Context<'_>, drafts: &mut Drafts) {
    use BinaryOperator::*;
    let Some(old) = context.binary_operator() else { return };
    let new = match old {
        Add => Subtract,
        Subtract => Add,
        Multiply => Divide,
        Divide | Remainder => Multiply,
        BitAnd => BitOr,
        BitOr | BitXor => BitAnd,
        ShiftLeft => ShiftRight,
        ShiftRight => ShiftLeft,
        _ => return,
    };
    if context.is_value_of(ExpressionKind::Binary) {
        binary::propose(context, drafts, old, new);
    } else if context.is_value_of(ExpressionKind::CompoundAssign) {
        assignments::propose(context, drafts, old, new);
    }
}

fn increments(context: &Context<'_>, drafts: &mut Drafts) {
    if !context.is_value_of(ExpressionKind::IncrementDecrement) || context.spot.operands.len() != 1 {
        return;
    }
    let (old, new, operator) = match context.site.operator.as_str() {
        "++" => ("++", "--", BinaryOperator::Subtract),
        "--" => ("--", "++", BinaryOperator::Add),
        _ => return,
    };
    let formula = context.formula(|builder| {
        let value = context.operand(builder, 0);
        let one = builder.integer(crate::formula::types::INT, 1);
        builder.binary(operator, value, one)
    });
    let text = &context.site.text;
    let changed = match (text.strip_prefix(old), text.strip_suffix(old)) {
        (Some(rest), _) => Some(format!("{new}{rest}")),
        (None, Some(rest)) => Some(format!("{rest}{new}")),
        (None, None) => None,
    };
    let is_exact = changed.is_some() && context.text().is_exact();
    let changed = changed.unwrap_or_else(|| format!("{new} instead of {old}"));
    drafts.value(Text::with_precedence(changed, Precedence::PREFIX, is_exact), true, formula);
}

fn invert_negatives(context: &Context<'_>, drafts: &mut Drafts) {
    let is_minus = context.is_value_of(ExpressionKind::Unary) && context.site.operator == "-";
    if !is_minus || context.spot.operands.len() != 1 {
        return;
    }
    let formula = context.formula(|builder| Some(context.operand(builder, 0)));
    drafts.value(context.operand_text(0), true, formula);
}
