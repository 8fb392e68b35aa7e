//! `&&` and `||` for something else: `OL·N`.

use super::{
    context::{Context, Drafts},
    effects::is_droppable,
    operator::{Example, Maker, Operator, Set},
    text::Text,
};
use crate::{
    formula::{BinaryOperator, Builder, Family},
    site::Role,
};
use cairn_model::{
    SiteId,
    facts::ExpressionKind,
    mutants::{Change, LogicalChange, ValueType},
};

const EACH_DECIDES: &str = "Make both operands true, both false, and each one alone.";

macro_rules! replace {
    ($name:literal, $code:literal, $to:ident, $meaning:literal, $before:literal => $after:literal) => {
        Operator {
            name: $name,
            code: $code,
            meaning: $meaning,
            surviving: "The tests do not try all combinations of the two operands.",
            example: Example { before: $before, after: $after },
            kill: EACH_DECIDES,
            sets: &[Set::Deminer],
            maker: Maker::Spot(|context, drafts| both(context, drafts, Family::$to)),
        }
    };
}

/// The operators of this family.
pub const OPERATORS: &[Operator] = &[
    Operator {
        name: "logical-op-swap",
        code: "OLLN",
        meaning: "Replaces `&&` by `||` and the other way round; the right side is evaluated where the new operator does.",
        surviving: "The tests never have one operand true and the other false.",
        example: Example { before: "if (a && b)", after: "if (a || b)" },
        kill: "Make exactly one operand true.",
        sets: &[Set::Deminer, Set::Compact],
        maker: Maker::Spot(swap),
    },
    replace!("logical-to-arith", "OLAN", Arithmetic,
        "Replaces `&&` or `||` by each of `+ - * / %`; both sides are evaluated.",
        "if (a && b)" => "if (a + b)"),
    replace!("logical-to-bitwise", "OLBN", Bitwise,
        "Replaces `&&` or `||` by each of `& | ^`; both sides are evaluated.",
        "if (a && b)" => "if (a & b)"),
    replace!("logical-to-relational", "OLRN", Relational,
        "Replaces `&&` or `||` by each comparison; both sides are evaluated.",
        "if (a && b)" => "if (a < b)"),
    replace!("logical-to-shift", "OLSN", Shift,
        "Replaces `&&` or `||` by `<<` and `>>`; both sides are evaluated.",
        "if (a && b)" => "if (a << b)"),
    Operator {
        name: "logical-drop",
        code: "COD",
        meaning: "Drops an operand of `&&` or `||`: only the other one is evaluated and decides.",
        surviving: "The tests never make the dropped operand decide.",
        example: Example { before: "if (a && b)", after: "if (a)" },
        kill: "Make the dropped operand decide: for `&&`, false while the other one is true.",
        sets: &[],
        maker: Maker::Spot(drop_operand),
    },
];

fn swap(context: &Context<'_>, drafts: &mut Drafts) {
    let Some((old, [left, right])) = sides(context) else { return };
    let new = match old {
        BinaryOperator::LogicalAnd => BinaryOperator::LogicalOr,
        _ => BinaryOperator::LogicalAnd,
    };
    drafts.add(Text::binary(new, left, right), true, Some(Change::Logical(LogicalChange::Swap)));
}

fn both(context: &Context<'_>, drafts: &mut Drafts, to: Family) {
    let Some((_, [left_text, right_text])) = sides(context) else { return };
    let Some([left, right]) = context.pair() else { return };
    if [left, right].iter().any(|side| side.value_type == ValueType::Pointer) {
        return;
    }
    for new in to.members().filter(|new| !(new.divides() && right.constant == Some(0))) {
        let mut builder = Builder::new();
        let (left, right) = (context.operand(&mut builder, 0), context.operand(&mut builder, 1));
        let Some(result) = builder.binary(new, left, right) else { continue };
        let is_faithful = context.fits_in_source(result.value_type);
        let formula = builder.finish(result, context.spot.value_type);
        let change = formula.map(|formula| Change::Logical(LogicalChange::Both(formula)));
        drafts.add(Text::binary(new, left_text.clone(), right_text.clone()), is_faithful, change);
    }
}

fn drop_operand(context: &Context<'_>, drafts: &mut Drafts) {
    let Some((_, [left, right])) = sides(context) else { return };
    // As a number, the result stays 0 or 1.
    let is_number = context.spot.value_type != ValueType::Bool;
    let result = |text: Text| if is_number { Text::prefix("!!", text) } else { text };
    drafts.add(result(left), true, Some(Change::Logical(LogicalChange::Left)));
    // The left side is evaluated all the same, so it must not matter.
    if first_child(context).is_some_and(|left| is_droppable(context.map, left)) {
        drafts.add(result(right), true, Some(Change::Logical(LogicalChange::Right)));
    }
}

/// The left side.
fn first_child(context: &Context<'_>) -> Option<SiteId> {
    let own = context.spot.site;
    let later = (own.0 + 1..context.map.sites.len() as u32).map(SiteId);
    later
        .take_while(|site| context.map.sites[site.index()].function == context.site.function)
        .find(|site| context.map.sites[site.index()].parent == Some(own))
}

/// The operator and the texts of both sides, which are known also where their values are not.
fn sides(context: &Context<'_>) -> Option<(BinaryOperator, [Text; 2])> {
    if context.spot.role != Role::Logical || context.site.kind != ExpressionKind::Logical {
        return None;
    }
    let operator = context.binary_operator()?;
    let own = context.spot.site;
    let inside = context.map.sites[own.index()..].iter().skip(1);
    let mut children = inside
        .take_while(|site| site.function == context.site.function)
        .filter(|site| site.parent == Some(own));
    let mut text = || children.next().map(|child| Text::of_site(context.map, child, context.site));
    Some((operator, [text()?, text()?]))
}
