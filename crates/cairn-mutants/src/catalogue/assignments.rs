//! One assignment for another: `O··A`.

use super::{
    binary::is_sensible,
    context::{Context, Drafts},
    operator::{Example, Maker, Operator, Set},
    text::Text,
};
use crate::formula::{BinaryOperator, Builder, Expression, Family};
use cairn_model::{
    facts::{ExpressionKind, TypeClass},
    mutants::{Formula, ValueType},
};

const LOOK_AFTERWARDS: &str =
    "Begin with an old value that is not 0, change it here, and let the new value reach the output.";

macro_rules! replace {
    ($name:literal, $code:literal, $maker:expr, $meaning:literal, $surviving:literal,
     $before:literal => $after:literal, $kill:expr) => {
        Operator {
            name: $name,
            code: $code,
            meaning: $meaning,
            surviving: $surviving,
            example: Example { before: $before, after: $after },
            kill: $kill,
            sets: &[Set::Deminer],
            maker: Maker::Spot($maker),
        }
    };
}

/// The operators of this family.
pub const OPERATORS: &[Operator] = &[
    replace!("arith-assign-replace", "OAAA", |c, d| replace(c, d, Family::Arithmetic, Family::Arithmetic),
        "Replaces one of `+= -= *= /= %=` by each of the others.",
        "The tests do not care how the variable changes.",
        "sum += value;" => "sum -= value;", LOOK_AFTERWARDS),
    replace!("arith-assign-to-bitwise", "OABA", |c, d| replace(c, d, Family::Arithmetic, Family::Bitwise),
        "Replaces an arithmetic assignment by each of `&= |= ^=`.",
        "The tests use numbers for which adding and combining bits are the same.",
        "sum += value;" => "sum |= value;",
        "Use an old value and an operand that share bits."),
    replace!("arith-assign-to-shift", "OASA", |c, d| replace(c, d, Family::Arithmetic, Family::Shift),
        "Replaces an arithmetic assignment by `<<=` and `>>=`.",
        "The tests do not notice a value that is far too large or too small.",
        "sum += value;" => "sum <<= value;", LOOK_AFTERWARDS),
    replace!("arith-assign-to-plain", "OAEA", |c, d| to_plain(c, d, Family::Arithmetic),
        "Replaces an arithmetic assignment by `=`: the old value is forgotten.",
        "The tests come here only once, or with an old value of 0.",
        "sum += value;" => "sum = value;", "Come here twice, with operands that are not 0."),
    replace!("bitwise-assign-replace", "OBBA", |c, d| replace(c, d, Family::Bitwise, Family::Bitwise),
        "Replaces one of `&= |= ^=` by each of the others.",
        "The tests never combine bits that one side has and the other lacks.",
        "flags |= SEEN;" => "flags ^= SEEN;", "Set a bit that is already set; clear one that is not."),
    replace!("bitwise-assign-to-arith", "OBAA", |c, d| replace(c, d, Family::Bitwise, Family::Arithmetic),
        "Replaces a bitwise assignment by each of `+= -= *= /= %=`.",
        "The tests set each bit only once, so that adding does the same.",
        "flags |= SEEN;" => "flags += SEEN;", "Set a bit that is already set."),
    replace!("bitwise-assign-to-shift", "OBSA", |c, d| replace(c, d, Family::Bitwise, Family::Shift),
        "Replaces a bitwise assignment by `<<=` and `>>=`.",
        "The tests do not look at the bits that come out.",
        "flags |= SEEN;" => "flags <<= SEEN;", LOOK_AFTERWARDS),
    replace!("bitwise-assign-to-plain", "OBEA", |c, d| to_plain(c, d, Family::Bitwise),
        "Replaces a bitwise assignment by `=`: other bits are forgotten.",
        "The tests never have other bits set when they come here.",
        "flags |= SEEN;" => "flags = SEEN;", "Come here with another bit set, and look at that one afterwards."),
    replace!("shift-assign-replace", "OSSA", |c, d| replace(c, d, Family::Shift, Family::Shift),
        "Replaces `<<=` by `>>=` and the other way round.",
        "The tests shift only by 0, or shift only 0, or do not look at the result.",
        "mask <<= 1;" => "mask >>= 1;", LOOK_AFTERWARDS),
    replace!("shift-assign-to-arith", "OSAA", |c, d| replace(c, d, Family::Shift, Family::Arithmetic),
        "Replaces a shift assignment by each of `+= -= *= /= %=`.",
        "The tests shift by amounts for which a plain operation gives the same.",
        "mask <<= 1;" => "mask += 1;", LOOK_AFTERWARDS),
    replace!("shift-assign-to-bitwise", "OSBA", |c, d| replace(c, d, Family::Shift, Family::Bitwise),
        "Replaces a shift assignment by each of `&= |= ^=`.",
        "The tests do not look at the bits that come out.",
        "mask <<= 1;" => "mask |= 1;", LOOK_AFTERWARDS),
    replace!("shift-assign-to-plain", "OSEA", |c, d| to_plain(c, d, Family::Shift),
        "Replaces a shift assignment by `=`: the old value is forgotten.",
        "The tests do not look at the value afterwards.",
        "mask <<= 1;" => "mask = 1;", LOOK_AFTERWARDS),
    replace!("plain-assign-to-arith", "OEAA", |c, d| from_plain(c, d, Family::Arithmetic),
        "Replaces `=` by each of `+= -= *= /= %=`.",
        "The tests come here only with an old value of 0, or do not look at the new one.",
        "length = n;" => "length += n;", LOOK_AFTERWARDS),
    replace!("plain-assign-to-bitwise", "OEBA", |c, d| from_plain(c, d, Family::Bitwise),
        "Replaces `=` by each of `&= |= ^=`.",
        "The tests come here only with an old value of 0, or do not look at the new one.",
        "mode = READ;" => "mode |= READ;", LOOK_AFTERWARDS),
    replace!("plain-assign-to-shift", "OESA", |c, d| from_plain(c, d, Family::Shift),
        "Replaces `=` by `<<=` and `>>=`.",
        "The tests do not look at the new value.",
        "length = n;" => "length <<= n;", LOOK_AFTERWARDS),
];

fn replace(context: &Context<'_>, drafts: &mut Drafts, from: Family, to: Family) {
    if !context.is_value_of(ExpressionKind::CompoundAssign) {
        return;
    }
    let Some(old) = context.binary_operator().filter(|old| old.family() == from) else { return };
    for new in to.members() {
        propose(context, drafts, old, new);
    }
}

/// Proposes `left new= right` for `left old= right`.
pub fn propose(context: &Context<'_>, drafts: &mut Drafts, old: BinaryOperator, new: BinaryOperator) {
    let Some([left, right]) = context.pair() else { return };
    if new == old || !is_sensible(old, new, left, right) {
        return;
    }
    let formula = context.formula(|builder| {
        let sides = match new.family() {
            Family::Shift => [context.own_operand(builder, 0)?, context.own_operand(builder, 1)?],
            _ => [context.operand(builder, 0), context.operand(builder, 1)],
        };
        builder.binary(new, sides[0], sides[1])
    });
    let text = Text::assignment(Some(new), context.operand_text(0), context.operand_text(1));
    // The result is converted to the variable's type here as there.
    drafts.value(text, true, formula);
}

fn to_plain(context: &Context<'_>, drafts: &mut Drafts, from: Family) {
    if !context.is_value_of(ExpressionKind::CompoundAssign) || context.spot.value_type == ValueType::Pointer {
        return;
    }
    let Some(old) = context.binary_operator().filter(|old| old.family() == from) else { return };
    if context.pair().is_none() {
        return;
    }
    let formula = context.formula(|builder| match old.family() {
        // A shift's right side has a type of its own, which may be wider than the shift's.
        Family::Shift => context.own_operand(builder, 1),
        _ => Some(context.operand(builder, 1)),
    });
    let text = Text::assignment(None, context.operand_text(0), context.operand_text(1));
    drafts.value(text, true, formula);
}

fn from_plain(context: &Context<'_>, drafts: &mut Drafts, to: Family) {
    if !context.is_assignment() {
        return;
    }
    let Some([left, right]) = context.pair() else { return };
    for new in to.members() {
        let divides_by_zero = new.divides() && right.constant == Some(0);
        let is_pointer = [left, right].iter().any(|side| side.value_type == ValueType::Pointer);
        if divides_by_zero || is_pointer {
            continue;
        }
        let formula = stored(context, |builder| {
            let sides = [context.operand(builder, 0), context.operand(builder, 1)];
            builder.binary(new, sides[0], sides[1])
        });
        let text = Text::assignment(Some(new), context.operand_text(0), context.operand_text(1));
        drafts.value(text, true, formula);
    }
}

/// A formula for what is stored. A `_Bool` takes the truth of a number, also where code holds it as a byte.
fn stored(context: &Context<'_>, build: impl FnOnce(&mut Builder) -> Option<Expression>) -> Option<Formula> {
    let is_bool = context.site.value_type.class == TypeClass::Bool;
    context.formula(|builder| {
        let result = build(builder)?;
        if is_bool { builder.truth(result) } else { Some(result) }
    })
}
