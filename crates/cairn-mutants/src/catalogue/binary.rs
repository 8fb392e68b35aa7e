//! One binary operator for another, where nothing is assigned: `O··N`.

use super::{
    context::{Context, Drafts},
    effects::may_fault,
    operator::{Example, Maker, Operator, Set},
    text::Text,
};
use crate::{
    formula::{BinaryOperator, Family},
    site::{Operand, Role},
};
use cairn_model::{facts::ExpressionKind, mutants::ValueType};

const DIFFERENT_RESULTS: &str =
    "Find operands for which both operators give different results, and let the result reach the output.";
const BOTH_TRUTHS: &str =
    "Run it with a result that is neither 0 nor 1, and let the number, not only its truth, reach the output.";

macro_rules! replace {
    ($name:literal, $code:literal, $from:ident -> $to:ident, $meaning:literal, $surviving:literal,
     $before:literal => $after:literal, $kill:expr) => {
        Operator {
            name: $name,
            code: $code,
            meaning: $meaning,
            surviving: $surviving,
            example: Example { before: $before, after: $after },
            kill: $kill,
            sets: &[Set::Deminer],
            maker: Maker::Spot(|context, drafts| replace(context, drafts, Family::$from, Family::$to)),
        }
    };
}

/// The operators of this family.
pub const OPERATORS: &[Operator] = &[
    replace!("arith-op-replace", "OAAN", Arithmetic -> Arithmetic,
        "Replaces one of `+ - * / %` by each of the others.",
        "The tests do not care how the two numbers are combined.",
        "total = price * count;" => "total = price + count;", DIFFERENT_RESULTS),
    replace!("arith-to-bitwise", "OABN", Arithmetic -> Bitwise,
        "Replaces an arithmetic operator by each of `& | ^`.",
        "The tests use numbers for which adding and combining bits are the same, such as `4 + 1`.",
        "id = high + low;" => "id = high | low;",
        "Use operands that share bits, so that a carry makes the difference."),
    replace!("arith-to-shift", "OASN", Arithmetic -> Shift,
        "Replaces an arithmetic operator by `<<` and `>>`.",
        "The tests do not notice a result that is far too large or too small.",
        "size = width * 2;" => "size = width << 2;", DIFFERENT_RESULTS),
    replace!("arith-to-relational", "OARN", Arithmetic -> Relational,
        "Replaces an arithmetic operator by each comparison, which gives 0 or 1.",
        "Only whether the number is 0 matters to the tests, or not even that.",
        "return used + extra;" => "return used < extra;", BOTH_TRUTHS),
    replace!("arith-to-logical", "OALN", Arithmetic -> Logical,
        "Replaces an arithmetic operator by `&&` and `||`, where the right side has no effects.",
        "Only whether the number is 0 matters to the tests, or not even that.",
        "return used + extra;" => "return used && extra;", BOTH_TRUTHS),
    replace!("bitwise-op-replace", "OBBN", Bitwise -> Bitwise,
        "Replaces one of `& | ^` by each of the others.",
        "The tests never combine bits that one side has and the other lacks.",
        "flags = mode & MASK;" => "flags = mode | MASK;",
        "Use operands that differ in some bits and share others."),
    replace!("bitwise-to-arith", "OBAN", Bitwise -> Arithmetic,
        "Replaces a bitwise operator by each of `+ - * / %`.",
        "The tests use operands without common bits, for which `|` is a sum.",
        "word = high | low;" => "word = high + low;",
        "Use operands that share bits, so that a carry makes the difference."),
    replace!("bitwise-to-shift", "OBSN", Bitwise -> Shift,
        "Replaces a bitwise operator by `<<` and `>>`.",
        "The tests do not look at the bits that come out.",
        "flags = mode & MASK;" => "flags = mode << MASK;", DIFFERENT_RESULTS),
    replace!("bitwise-to-relational", "OBRN", Bitwise -> Relational,
        "Replaces a bitwise operator by each comparison.",
        "Only whether some bit is set matters to the tests, or not even that.",
        "if (mode & READ)" => "if (mode < READ)",
        "Try each bit of the mask alone, and other bits without it."),
    replace!("bitwise-to-logical", "OBLN", Bitwise -> Logical,
        "Replaces a bitwise operator by `&&` and `||`, where the right side has no effects.",
        "The tests never have bits on both sides that do not meet, such as `2 & 1`.",
        "if (mode & READ)" => "if (mode && READ)",
        "Set a bit that the other side lacks, and no common one."),
    replace!("relational-op-replace", "ORRN", Relational -> Relational,
        "Replaces a comparison by each of the other five.",
        "The tests never compare values that are just equal, or never values on both sides of the limit.",
        "while (i < n)" => "while (i <= n)",
        "Compare values just below, at, and just above the limit."),
    replace!("relational-to-arith", "ORAN", Relational -> Arithmetic,
        "Replaces a comparison by each of `+ - * / %`.",
        "The tests never see this comparison fail, or never see it hold.",
        "if (length > limit)" => "if (length - limit)",
        "Make the comparison both true and false, with operands that are not 0."),
    replace!("relational-to-bitwise", "ORBN", Relational -> Bitwise,
        "Replaces a comparison by each of `& | ^`.",
        "The tests never see this comparison fail, or never see it hold.",
        "if (length > limit)" => "if (length & limit)",
        "Make the comparison both true and false, with operands that share some bits."),
    replace!("relational-to-shift", "ORSN", Relational -> Shift,
        "Replaces a comparison by `<<` and `>>`, a slip of one key.",
        "The tests never see this comparison fail, or never see it hold.",
        "if (length > limit)" => "if (length >> limit)",
        "Make the comparison both true and false, with small operands that are not 0."),
    replace!("relational-to-logical", "ORLN", Relational -> Logical,
        "Replaces a comparison by `&&` and `||`, where the right side has no effects.",
        "The tests never see this comparison fail with operands that are not 0.",
        "if (length > limit)" => "if (length && limit)",
        "Make the comparison both true and false, with operands that are not 0, and once with one that is."),
    replace!("shift-op-replace", "OSSN", Shift -> Shift,
        "Replaces `<<` by `>>` and the other way round.",
        "The tests shift only by 0, or shift only 0, or do not look at the result.",
        "bit = 1 << index;" => "bit = 1 >> index;",
        "Shift a number that is not 0 by at least one."),
    replace!("shift-to-arith", "OSAN", Shift -> Arithmetic,
        "Replaces a shift by each of `+ - * / %`.",
        "The tests shift by amounts for which a plain operation gives the same, such as `x << 1` and `x * 2`.",
        "block = offset >> bits;" => "block = offset / bits;",
        "Shift by three or more."),
    replace!("shift-to-bitwise", "OSBN", Shift -> Bitwise,
        "Replaces a shift by each of `& | ^`.",
        "The tests do not look at the bits that come out.",
        "block = offset >> bits;" => "block = offset & bits;", DIFFERENT_RESULTS),
    replace!("shift-to-relational", "OSRN", Shift -> Relational,
        "Replaces a shift by each comparison: `<<` is one key away from `<`.",
        "Only whether the result is 0 matters to the tests, or not even that.",
        "bit = 1 << index;" => "bit = 1 < index;", BOTH_TRUTHS),
    replace!("shift-to-logical", "OSLN", Shift -> Logical,
        "Replaces a shift by `&&` and `||`, where the right side has no effects.",
        "Only whether the result is 0 matters to the tests, or not even that.",
        "bit = 1 << index;" => "bit = 1 && index;", BOTH_TRUTHS),
];

fn replace(context: &Context<'_>, drafts: &mut Drafts, from: Family, to: Family) {
    if !context.is_value_of(ExpressionKind::Binary) {
        return;
    }
    let Some(old) = context.binary_operator().filter(|old| old.family() == from) else { return };
    for new in to.members() {
        propose(context, drafts, old, new);
    }
}

/// Proposes `left new right` for `left old right`, if that is C and something else.
pub fn propose(context: &Context<'_>, drafts: &mut Drafts, old: BinaryOperator, new: BinaryOperator) {
    debug_assert!(context.spot.role == Role::Value);
    let Some([left, right]) = context.pair() else { return };
    if new == old || !is_sensible(old, new, left, right) {
        return;
    }
    let Some((formula, natural)) = context.typed_formula(|builder| {
        let sides = match new.family() {
            Family::Shift => [context.own_operand(builder, 0)?, context.own_operand(builder, 1)?],
            _ => [context.operand(builder, 0), context.operand(builder, 1)],
        };
        builder.binary(new, sides[0], sides[1])
    }) else {
        return;
    };
    let [left_text, right_text] = [context.operand_text(0), context.operand_text(1)];
    // Where the source would not evaluate the right side at all, the code already has.
    let right_is_safe = right.site.is_some_and(|site| !may_fault(context.map, site));
    let evaluates_alike = new.family() != Family::Logical || right_is_safe;
    let is_faithful = evaluates_alike && context.fits_in_source(natural);
    drafts.value(Text::binary(new, left_text, right_text), is_faithful, Some(formula));
}

/// Whether `left new right` is allowed here and not plainly the same as `left old right`.
pub fn is_sensible(old: BinaryOperator, new: BinaryOperator, left: &Operand, right: &Operand) -> bool {
    let is_pointer = |operand: &Operand| operand.value_type == ValueType::Pointer;
    if (is_pointer(left) || is_pointer(right)) && !(is_relation(old) && is_relation(new)) {
        return false;
    }
    if new.family() == Family::Logical && !right.is_pure {
        return false;
    }
    let Some(constant) = right.constant else { return true };
    if new.divides() && constant == 0 {
        return false;
    }
    let effect = effect(new, constant);
    if effect.is_some() && effect == self::effect(old, constant) {
        return false;
    }
    let has_no_sign = matches!(left.value_type, ValueType::Int { is_signed: false, .. } | ValueType::Pointer);
    !(has_no_sign && constant == 0 && is_same_at_zero(old, new))
}

fn is_relation(operator: BinaryOperator) -> bool {
    operator.family() == Family::Relational
}

#[derive(PartialEq)]
enum Effect {
    /// The left side comes out.
    Nothing,
    /// 0 comes out.
    Zero,
}

/// What an operation with a constant right side amounts to, where it needs no computing.
fn effect(operator: BinaryOperator, constant: i64) -> Option<Effect> {
    use BinaryOperator::*;
    match (operator, constant) {
        (Add | Subtract | BitOr | BitXor | ShiftLeft | ShiftRight, 0) => Some(Effect::Nothing),
        (Multiply | Divide, 1) | (BitAnd, -1) => Some(Effect::Nothing),
        (Multiply | BitAnd, 0) | (Remainder, 1) => Some(Effect::Zero),
        _ => None,
    }
}

/// Nothing is less than 0 without a sign.
fn is_same_at_zero(old: BinaryOperator, new: BinaryOperator) -> bool {
    use BinaryOperator::*;
    matches!(
        (old, new),
        (Greater, NotEqual) | (NotEqual, Greater) | (LessOrEqual, Equal) | (Equal, LessOrEqual)
    )
}
