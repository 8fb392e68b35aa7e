//! What neither DEMINER's table nor PIT's defaults have.

use super::{
    context::{Context, Drafts},
    effects::is_droppable,
    operator::{Example, Maker, Operator, Set},
    text::{Precedence, Text},
};
use crate::{formula::types, site::Role};
use cairn_model::{
    SiteId,
    facts::ExpressionKind,
    mutants::{UnaryOperation, ValueType},
};

/// The operators of this family.
pub const OPERATORS: &[Operator] = &[
    Operator {
        name: "assign-keep",
        code: "SSDL",
        meaning: "Keeps the old value where something is assigned, as if the statement had been deleted; the right side is still evaluated.",
        surviving: "The tests do not depend on this assignment.",
        example: Example { before: "limit = n;", after: "limit = limit;" },
        kill: "Assign a value that differs from the old one, and let the new one reach the output.",
        sets: &[Set::Compact],
        maker: Maker::Spot(keep),
    },
    Operator {
        name: "unary-drop",
        code: "UOD",
        meaning: "Drops `!` or `~`.",
        surviving: "The tests do not care which way the program goes, or which bits come out.",
        example: Example { before: "mask = ~bits;", after: "mask = bits;" },
        kill: "Let the truth or the bits reach the output.",
        sets: &[],
        maker: Maker::Spot(drop_unary),
    },
    Operator {
        name: "value-negate",
        code: "UOI",
        meaning: "Negates a number where a variable, member or element is read.",
        surviving: "The tests use only 0 here, or do not look at the sign.",
        example: Example { before: "return width;", after: "return -width;" },
        kill: "Use a number that is not 0 and look at its sign.",
        sets: &[],
        maker: Maker::Spot(|context, drafts| sign(context, drafts, UnaryOperation::Negate)),
    },
    Operator {
        name: "value-absolute",
        code: "ABS",
        meaning: "Takes the absolute value where a signed variable, member or element is read.",
        surviving: "The tests use no negative number here.",
        example: Example { before: "return x - y;", after: "return (x < 0 ? -x : x) - y;" },
        kill: "Use a negative number.",
        sets: &[],
        maker: Maker::Spot(|context, drafts| sign(context, drafts, UnaryOperation::Absolute)),
    },
    Operator {
        name: "decision-fix",
        code: "REMOVE_CONDITIONALS",
        meaning: "Goes the same way always: a whole condition becomes 1, and 0.",
        surviving: "The tests go only one way here, or it does not matter which.",
        example: Example { before: "if (a && b)", after: "if (1)" },
        kill: "Go both ways, and let the difference reach the output.",
        sets: &[],
        maker: Maker::Spot(fix_decision),
    },
    Operator {
        name: "indirection-precedence",
        code: "OIPM",
        meaning: "Moves `*` and `++` or `--` around a pointer: `*p++` becomes `(*p)++` and `++*p`.",
        surviving: "The tests do not notice whether the pointer or what it points to changes.",
        example: Example { before: "c = *p++;", after: "c = (*p)++;" },
        kill: "Read the next element afterwards.",
        sets: &[Set::Deminer],
        maker: Maker::NotMade(
            "it changes what is written where, not one value: a mutant is a formula for a value that is already \
             there, and DEMINER's guideposts cannot be set on pointers either",
        ),
    },
];

fn keep(context: &Context<'_>, drafts: &mut Drafts) {
    let is_compound = context.is_value_of(ExpressionKind::CompoundAssign);
    let is_plain = context.is_assignment();
    if !is_compound && !is_plain {
        return;
    }
    let Some([left, right]) = context.pair() else { return };
    // A `long` that was converted to be added to a `double` does not come back as it was.
    let own = context.own_type(left).unwrap_or(left.value_type);
    if !types::preserves_value(own, left.value_type)
        && types::is_integer(own) != types::is_integer(left.value_type)
    {
        return;
    }
    let formula = context.formula(|builder| Some(context.operand(builder, 0)));
    let (target, value) = (context.operand_text(0), context.operand_text(1));
    let site_is = |check: &dyn Fn(SiteId) -> bool| right.site.is_some_and(check);
    let is_dropped = site_is(&|site| is_droppable(context.map, site));
    // A compiler leaves out what a comma drops, as far as it has no effect, and with it what could fault.
    let is_call = site_is(&|site| context.map.sites[site.index()].kind == ExpressionKind::Call);
    let kept = if right.is_pure { target.clone() } else { Text::comma(value, target.clone()) };
    let is_faithful = left.is_pure && (is_dropped || is_call);
    drafts.value(Text::assignment(None, target, kept), is_faithful, formula);
}

fn drop_unary(context: &Context<'_>, drafts: &mut Drafts) {
    let is_unary = context.is_value_of(ExpressionKind::Unary) && context.spot.operands.len() == 1;
    if !is_unary || !matches!(context.site.operator.as_str(), "!" | "~") {
        return;
    }
    if context.spot.operands[0].value_type == ValueType::Pointer && context.spot.value_type != ValueType::Bool
    {
        return;
    }
    let formula = context.typed_formula(|builder| {
        let value = context.operand(builder, 0);
        if context.spot.value_type == ValueType::Bool { builder.truth(value) } else { Some(value) }
    });
    let Some((formula, natural)) = formula else { return };
    drafts.value(context.operand_text(0), context.fits_in_source(natural), Some(formula));
}

fn sign(context: &Context<'_>, drafts: &mut Drafts, operation: UnaryOperation) {
    if !context.is_read() || context.is_truth() {
        return;
    }
    let formula = context.typed_formula(|builder| {
        let value = builder.original(context.spot.value_type);
        match operation {
            UnaryOperation::Absolute => {
                // What is promoted from a type without a sign is never negative.
                matches!(value.value_type, ValueType::Int { is_signed: true, .. }).then_some(())?;
                builder.absolute(value)
            }
            _ => builder.negate(value),
        }
    });
    let Some((formula, natural)) = formula else { return };
    let own = context.text();
    let negated = Text::prefix("-", own.clone());
    let text = match operation {
        UnaryOperation::Absolute => {
            let text = format!("({} < 0 ? {} : {})", own.as_str(), negated.as_str(), own.as_str());
            let is_exact = own.is_exact() && is_droppable(context.map, context.spot.site);
            Text::with_precedence(text, Precedence::POSTFIX, is_exact)
        }
        _ => negated,
    };
    drafts.value(text, natural == context.spot.value_type, Some(formula));
}

fn fix_decision(context: &Context<'_>, drafts: &mut Drafts) {
    if context.spot.role != Role::Decision {
        return;
    }
    for number in [1, 0] {
        let formula = context.formula(|builder| Some(builder.integer(context.spot.value_type, number)));
        drafts.value(
            Text::number(&number.to_string()),
            is_droppable(context.map, context.spot.site),
            formula,
        );
    }
}
