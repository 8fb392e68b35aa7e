//! PIT's operators on conditions: the boundary, and the opposite.

use super::{
    binary,
    context::{Context, Drafts},
    negations,
    operator::{Example, Maker, Operator, Set},
};
use crate::{
    formula::{BinaryOperator, Family},
    site::Role,
};
use cairn_model::facts::ExpressionKind;

/// The operators of this family.
pub const OPERATORS: &[Operator] = &[
    Operator {
        name: "conditional-boundary",
        code: "CONDITIONALS_BOUNDARY",
        meaning: "Moves the boundary of a comparison by one: `<` and `<=` change places, and `>` and `>=`.",
        surviving: "The tests never compare two equal values here.",
        example: Example { before: "while (i < n)", after: "while (i <= n)" },
        kill: "Compare equal values, and let it matter which way the program goes.",
        sets: &[Set::Compact, Set::Mu2],
        maker: Maker::Spot(boundary),
    },
    Operator {
        name: "negate-conditionals",
        code: "NEGATE_CONDITIONALS",
        meaning: "Turns a single condition into its opposite: `==` into `!=`, `<` into `>=`, `p` into `!p`.",
        surviving: "The tests do not care which way the program goes here.",
        example: Example { before: "if (a == b)", after: "if (a != b)" },
        kill: "Let the two ways differ in something that reaches the output.",
        sets: &[Set::Compact, Set::Mu2],
        maker: Maker::Spot(negate),
    },
];

fn boundary(context: &Context<'_>, drafts: &mut Drafts) {
    use BinaryOperator::*;
    if !context.is_value_of(ExpressionKind::Binary) {
        return;
    }
    let Some(old) = context.binary_operator() else { return };
    let new = match old {
        Less => LessOrEqual,
        LessOrEqual => Less,
        Greater => GreaterOrEqual,
        GreaterOrEqual => Greater,
        _ => return,
    };
    binary::propose(context, drafts, old, new);
}

fn negate(context: &Context<'_>, drafts: &mut Drafts) {
    match context.spot.role {
        Role::Value if is_comparison(context) => {
            let Some(old) = context.binary_operator() else { return };
            let Some(new) = old.negated() else { return };
            binary::propose(context, drafts, old, new);
        }
        Role::Value if negations::is_logical_operand(context) => negations::negate(context, drafts),
        // A comparison is negated where it is computed, and a logical expression is more than one condition.
        Role::Decision if !is_comparison(context) && context.site.kind != ExpressionKind::Logical => {
            negations::negate(context, drafts);
        }
        _ => {}
    }
}

fn is_comparison(context: &Context<'_>) -> bool {
    context.site.kind == ExpressionKind::Binary
        && context.binary_operator().is_some_and(|operator| operator.family() == Family::Relational)
}
