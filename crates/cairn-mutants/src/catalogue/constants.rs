//! Other numbers in place of a variable or constant.

use super::{
    context::{Context, Drafts},
    effects::is_droppable,
    operator::{Example, Maker, Operator, Set},
    text::Text,
};
use crate::{
    formula::{BinaryOperator, Family, Value, types},
    site::Role,
};
use cairn_model::{facts::ExpressionKind, mutants::ValueType};

/// The operators of this family.
pub const OPERATORS: &[Operator] = &[
    Operator {
        name: "constant-required",
        code: "CRCR",
        meaning: "Replaces a variable, member, element or constant by 0, 1 and -1; without a sign, -1 is the largest number.",
        surviving: "The tests do not care what the value is.",
        example: Example { before: "copy(to, from, length);", after: "copy(to, from, 0);" },
        kill: "Run with different values here, and let the difference reach the output.",
        sets: &[Set::Deminer],
        maker: Maker::Spot(required),
    },
    Operator {
        name: "value-twiddle",
        code: "VTWD",
        meaning: "Adds 1 to, or subtracts 1 from, a variable, member or element where it is read.",
        surviving: "The tests do not notice a value that is off by one.",
        example: Example { before: "while (i < n)", after: "while (i < n + 1)" },
        kill: "Test at the limit: the last element, the full buffer, the empty list.",
        sets: &[Set::Deminer],
        maker: Maker::Spot(twiddle),
    },
    Operator {
        name: "constant-nudge",
        code: "INLINE_CONSTS",
        meaning: "Replaces a constant by a near one: 0 by 1, 1 by 0, any other by one more. Limits of comparisons are left to `conditional-boundary`.",
        surviving: "The tests do not depend on this constant.",
        example: Example { before: "size = used + 16;", after: "size = used + 17;" },
        kill: "Let the exact number reach the output, or a limit that is tested.",
        sets: &[Set::Compact],
        maker: Maker::Spot(nudge),
    },
];

fn required(context: &Context<'_>, drafts: &mut Drafts) {
    if !context.is_read() && !is_constant(context) {
        return;
    }
    let signed = [0, 1, -1];
    let choices = if context.is_truth() { &signed[..2] } else { &signed[..] };
    for number in choices {
        replace(context, drafts, *number);
    }
}

fn nudge(context: &Context<'_>, drafts: &mut Drafts) {
    let Role::Constant { value, float: None } = context.spot.role else { return };
    let is_limit = context.parent().is_some_and(|parent| {
        let operator =
            BinaryOperator::parse(&parent.operator).filter(|_| parent.kind == ExpressionKind::Binary);
        operator.is_some_and(|operator| {
            operator.family() == Family::Relational
                && !matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual)
        })
    });
    if is_limit || !matches!(context.spot.value_type, ValueType::Int { .. } | ValueType::Bool) {
        return;
    }
    match value {
        0 => replace(context, drafts, 1),
        1 => replace(context, drafts, 0),
        _ if context.is_truth() => {}
        _ => {
            let more = context.formula(|builder| {
                let next = value.wrapping_add(1);
                Some(builder.integer(context.spot.value_type, next))
            });
            let is_literal =
                context.site.kind == ExpressionKind::Integer && context.site.macro_name.is_none();
            let text = match value.checked_add(1).filter(|_| is_literal && is_decimal(&context.site.text)) {
                Some(next) => Text::number(&format!("{next}{}", suffix(&context.site.text))),
                None => Text::binary(BinaryOperator::Add, context.text(), Text::number("1")),
            };
            // At the end of its type, one more is something else in the source and in the code.
            let is_faithful = i32::try_from(value).is_ok_and(|value| value < i32::MAX);
            drafts.value(text, is_faithful && holds(context, value.wrapping_add(1)), more);
        }
    }
}

fn is_constant(context: &Context<'_>) -> bool {
    matches!(context.spot.role, Role::Constant { .. })
}

fn is_decimal(text: &str) -> bool {
    text == "0" || text.starts_with(|first: char| ('1'..='9').contains(&first))
}

/// What follows the digits: `u`, `L`.
fn suffix(text: &str) -> &str {
    text.trim_start_matches(|letter: char| letter.is_ascii_digit())
}

/// Whether the number is in the range of the site's own type.
fn holds(context: &Context<'_>, number: i64) -> bool {
    context.site_type().is_some_and(|own| read_as(own, number) == Some(i128::from(number)))
}

/// Puts a number in place of the site.
pub fn replace(context: &Context<'_>, drafts: &mut Drafts, number: i64) {
    // The number is one of the site's own type, which the code may have converted: -1 of `unsigned` is 4294967295 where
    // that is used as a `long`.
    let spot_type = context.spot.value_type;
    let own = context.site_type().filter(|own| types::is_arithmetic(*own)).unwrap_or(spot_type);
    match (spot_type, own) {
        (ValueType::Float { .. }, ValueType::Float { .. }) => float(context, drafts, own, number),
        (
            ValueType::Bool | ValueType::Int { .. } | ValueType::Float { .. },
            ValueType::Bool | ValueType::Int { .. },
        ) => {
            integer(context, drafts, own, number);
        }
        _ => {}
    }
}

fn float(context: &Context<'_>, drafts: &mut Drafts, own: ValueType, number: i64) {
    if let Role::Constant { float: Some(bits), .. } = context.spot.role
        && f64::from_bits(bits) == number as f64
    {
        return;
    }
    let suffix = if own == (ValueType::Float { bits: 32 }) { "f" } else { "" };
    let text = Text::number(&format!("{number}.0{suffix}"));
    let formula = context.formula(|builder| Some(builder.float(context.spot.value_type, number as f64)));
    drafts.value(text, is_replaceable(context), formula);
}

fn integer(context: &Context<'_>, drafts: &mut Drafts, own: ValueType, number: i64) {
    let Some(exact) = read_as(own, number) else { return };
    let spot_type = context.spot.value_type;
    let is_same = match context.spot.role {
        Role::Constant { float: Some(bits), .. } => f64::from_bits(bits) == exact as f64,
        // The same bits are the same constant.
        Role::Constant { value, .. } => {
            Value::integer(spot_type, value.into()) == Value::integer(spot_type, exact)
        }
        _ => false,
    };
    if !is_same {
        propose_integer(context, drafts, own, number, exact);
    }
}

fn propose_integer(context: &Context<'_>, drafts: &mut Drafts, own: ValueType, number: i64, exact: i128) {
    let spot_type = context.spot.value_type;
    let formula = context.formula(|builder| match spot_type {
        ValueType::Float { .. } => Some(builder.float(spot_type, exact as f64)),
        ValueType::Int { bits, .. } if bits <= 64 => Some(builder.integer(spot_type, exact as i64)),
        _ => i64::try_from(exact).ok().map(|number| builder.integer(spot_type, number)),
    });
    drafts.value(Text::number(&literal(own, number, exact)), is_replaceable(context), formula);
}

/// Whether leaving the site out leaves out nothing but its value.
fn is_replaceable(context: &Context<'_>) -> bool {
    is_constant(context) || is_droppable(context.map, context.spot.site)
}

/// The number that a type makes of another.
fn read_as(own: ValueType, number: i64) -> Option<i128> {
    match own {
        ValueType::Bool => matches!(number, 0 | 1).then_some(number.into()),
        ValueType::Int { is_signed: true, .. } => Some(Value::integer(own, number.into()).as_signed()),
        ValueType::Int { bits, is_signed: false } if bits <= 64 => {
            Some(Value::integer(own, number.into()).bits() as i128)
        }
        _ => None,
    }
}

/// A literal of the type, or of one that is promoted to the same.
fn literal(own: ValueType, number: i64, exact: i128) -> String {
    match own {
        ValueType::Int { bits: 32, is_signed: false } => format!("{number}u"),
        ValueType::Int { bits: 64, is_signed: false } => format!("{number}ul"),
        ValueType::Int { bits: 64, is_signed: true } => format!("{number}l"),
        _ => exact.to_string(),
    }
}

fn twiddle(context: &Context<'_>, drafts: &mut Drafts) {
    if !context.is_read() || context.is_truth() {
        return;
    }
    for operator in [BinaryOperator::Add, BinaryOperator::Subtract] {
        let formula = context.formula(|builder| {
            let value = builder.original(context.spot.value_type);
            let one = builder.integer(types::INT, 1);
            builder.binary(operator, value, one)
        });
        // Narrow types wrap around in the code; in the source the sum is an `int`.
        let is_faithful = types::promoted(context.spot.value_type) == context.spot.value_type;
        drafts.value(Text::binary(operator, context.text(), Text::number("1")), is_faithful, formula);
    }
}
