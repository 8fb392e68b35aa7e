//! Negations: `O·NG`.

use super::{
    context::{Context, Drafts},
    operator::{Example, Maker, Operator, Set},
    text::{Precedence, Text},
};
use crate::{
    formula::{BinaryOperator, Family},
    site::Role,
};
use cairn_model::{
    facts::ExpressionKind,
    mutants::{Change, LogicalChange},
};

/// The operators of this family.
pub const OPERATORS: &[Operator] = &[
    Operator {
        name: "decision-negate",
        code: "OCNG",
        meaning: "Negates the whole condition of `if`, `while`, `for`, `do` or `?:`.",
        surviving: "The tests do not care which way the program goes here.",
        example: Example { before: "if (a && b)", after: "if (!(a && b))" },
        kill: "Let the two ways differ in something that reaches the output.",
        sets: &[Set::Deminer],
        maker: Maker::Spot(decision),
    },
    Operator {
        name: "logical-negate",
        code: "OLNG",
        meaning: "Negates `&&` or `||` as a whole, or one of its operands.",
        surviving: "The tests never make this operand decide.",
        example: Example { before: "if (a && b)", after: "if (!a && b)" },
        kill: "Make each operand both true and false while the other one lets it decide.",
        sets: &[Set::Deminer],
        maker: Maker::Spot(logical),
    },
    Operator {
        name: "bitwise-negate",
        code: "OBNG",
        meaning: "Inverts all bits of `&`, `|` or `^`, or of one of its operands.",
        surviving: "The tests do not look at these bits.",
        example: Example { before: "flags = a | b;", after: "flags = a | ~b;" },
        kill: "Let single bits of the result decide something, both set and not.",
        sets: &[Set::Deminer],
        maker: Maker::Spot(bitwise),
    },
];

fn decision(context: &Context<'_>, drafts: &mut Drafts) {
    if context.spot.role == Role::Decision {
        negate(context, drafts);
    }
}

fn logical(context: &Context<'_>, drafts: &mut Drafts) {
    if context.spot.role == Role::Logical {
        let text = Text::prefix("!", context.text());
        drafts.add(text, true, Some(Change::Logical(LogicalChange::Negate)));
    } else if is_logical_operand(context) {
        negate(context, drafts);
    }
}

/// Whether the value of a direct operand of `&&` or `||` is found here. Of an assignment, what is stored is found instead.
pub fn is_logical_operand(context: &Context<'_>) -> bool {
    use ExpressionKind as Kind;
    let is_operand = context.parent().is_some_and(|parent| parent.kind == Kind::Logical);
    let is_stored =
        matches!(context.site.kind, Kind::Assign | Kind::CompoundAssign | Kind::IncrementDecrement);
    context.spot.role == Role::Value && is_operand && !is_stored && context.site.kind != Kind::Logical
}

/// Proposes `!value`.
pub fn negate(context: &Context<'_>, drafts: &mut Drafts) {
    let formula = context.formula(|builder| {
        let value = builder.original(context.spot.value_type);
        builder.not(value)
    });
    drafts.value(negated_text(context), true, formula);
}

/// `!a` for `a`, and `a` for `!a`.
fn negated_text(context: &Context<'_>) -> Text {
    let own = context.text();
    let is_negation = context.site.kind == ExpressionKind::Unary && context.site.operator == "!";
    match own.as_str().strip_prefix('!').filter(|_| is_negation) {
        Some(rest) => Text::with_precedence(rest.trim_start().to_owned(), Precedence::PREFIX, own.is_exact()),
        None => Text::prefix("!", own),
    }
}

fn bitwise(context: &Context<'_>, drafts: &mut Drafts) {
    let operator = context.binary_operator().filter(|operator| operator.family() == Family::Bitwise);
    let Some(operator) = operator.filter(|_| context.is_value_of(ExpressionKind::Binary)) else { return };
    if context.pair().is_none() {
        return;
    }
    let texts = || [context.operand_text(0), context.operand_text(1)];
    let invert = |text| Text::prefix("~", text);
    let with = |drafts: &mut Drafts, inverted: [bool; 3], text: Text| {
        drafts.value(text, true, inverted_formula(context, operator, inverted));
    };
    let [left, right] = texts();
    with(drafts, [false, true, false], Text::binary(operator, left, invert(right)));
    let [left, right] = texts();
    with(drafts, [true, false, false], Text::binary(operator, invert(left), right));
    let [left, right] = texts();
    with(drafts, [false, false, true], invert(Text::binary(operator, left, right)));
}

/// Inverts the left side, the right side, the result.
fn inverted_formula(
    context: &Context<'_>,
    operator: BinaryOperator,
    [left_inverted, right_inverted, result_inverted]: [bool; 3],
) -> Option<cairn_model::mutants::Formula> {
    context.formula(|builder| {
        let (mut left, mut right) = (context.operand(builder, 0), context.operand(builder, 1));
        // C inverts before it converts to the other side's type.
        if left_inverted {
            left = context.own_operand(builder, 0)?;
            left = builder.complement(left)?;
        }
        if right_inverted {
            right = context.own_operand(builder, 1)?;
            right = builder.complement(right)?;
        }
        let result = builder.binary(operator, left, right)?;
        if result_inverted { builder.complement(result) } else { Some(result) }
    })
}
