//! Another variable, array or member of the same type.

use super::{
    context::{Context, Drafts},
    effects::is_droppable,
    operator::{Example, Maker, Operator, Set},
    text::{Precedence, Text},
};
use crate::{
    formula::types,
    site::{Role, Variable},
};
use cairn_model::{
    facts::{ExpressionKind, TypeFact},
    mutants::{Formula, ValueType},
};

/// How many other variables, arrays or members an operator tries at one spot: those declared nearest to the original.
pub const MAX_ALTERNATIVES: usize = 4;

/// The operators of this family.
pub const OPERATORS: &[Operator] = &[
    Operator {
        name: "scalar-to-local",
        code: "VLSR",
        meaning: "Reads or assigns a parameter or local variable of the same type instead of a variable, member or element.",
        surviving: "In the tests both have the same value here, or it does not matter.",
        example: Example { before: "while (i < width)", after: "while (i < height)" },
        kill: "Give the two variables different values.",
        sets: &[Set::Deminer],
        maker: Maker::Spot(|context, drafts| scalars(context, drafts, true)),
    },
    Operator {
        name: "scalar-to-global",
        code: "VGSR",
        meaning: "Reads or assigns a global variable of the same type instead of a variable, member or element.",
        surviving: "In the tests both have the same value here, or it does not matter.",
        example: Example { before: "if (depth > limit)", after: "if (n_errors > limit)" },
        kill: "Give the two variables different values.",
        sets: &[Set::Deminer],
        maker: Maker::Spot(|context, drafts| scalars(context, drafts, false)),
    },
    Operator {
        name: "array-to-local",
        code: "VLAR",
        meaning: "Uses a local array with elements of the same type instead of an array.",
        surviving: "In the tests both arrays hold the same, or it does not matter.",
        example: Example { before: "key = names[i];", after: "key = values[i];" },
        kill: "Give the two arrays different contents, and look at them afterwards.",
        sets: &[Set::Deminer],
        maker: Maker::Spot(|context, drafts| arrays(context, drafts, true)),
    },
    Operator {
        name: "array-to-global",
        code: "VGAR",
        meaning: "Uses a global array with elements of the same type instead of an array.",
        surviving: "In the tests both arrays hold the same, or it does not matter.",
        example: Example { before: "class = kinds[letter];", after: "class = widths[letter];" },
        kill: "Give the two arrays different contents, and look at them afterwards.",
        sets: &[Set::Deminer],
        maker: Maker::Spot(|context, drafts| arrays(context, drafts, false)),
    },
    Operator {
        name: "member-replace",
        code: "VSCR",
        meaning: "Uses another member of the same type in the same structure.",
        surviving: "In the tests both members have the same value, or it does not matter.",
        example: Example { before: "line->start", after: "line->end" },
        kill: "Give the two members different values.",
        sets: &[Set::Deminer],
        maker: Maker::Spot(members),
    },
];

fn scalars(context: &Context<'_>, drafts: &mut Drafts, is_local: bool) {
    let is_assigned = match context.spot.role {
        // The old value that `op=` and `++` need is still that of the original, so only `=` means what it says.
        Role::Assigned => context.parent().is_some_and(|parent| parent.kind == ExpressionKind::Assign),
        _ => false,
    };
    if !is_assigned && !context.is_read() {
        return;
    }
    let Some(own) = context.site_type().filter(|own| types::is_arithmetic(*own)) else { return };
    let fits = |variable: &Variable| {
        let held = if is_assigned { types::of_fact(&variable.value_type) } else { variable.scalar };
        let wanted = if is_assigned { own } else { context.spot.value_type };
        !variable.is_array
            && variable.is_local == is_local
            && held == Some(wanted)
            && is_same_type(&variable.value_type, &context.site.value_type)
            && !(is_assigned && variable.is_const)
    };
    for (number, variable) in nearest(context, fits) {
        let formula = context.formula(|builder| {
            Some(match is_assigned {
                true => builder.address_of(number),
                false => builder.variable(number, context.spot.value_type),
            })
        });
        let drops_nothing =
            context.site.kind == ExpressionKind::Reference || is_droppable(context.map, context.spot.site);
        drafts.value(Text::name(&variable.name), drops_nothing, formula);
    }
}

fn arrays(context: &Context<'_>, drafts: &mut Drafts, is_local: bool) {
    if context.spot.role != Role::ArrayBase {
        return;
    }
    let Some(own) = own_variable(context).map(|(_, own)| own).filter(|own| own.is_array) else { return };
    let fits = |variable: &Variable| {
        variable.is_array
            && variable.is_local == is_local
            && variable.value_type == own.value_type
            && (own.is_const || !variable.is_const)
    };
    for (number, variable) in nearest(context, fits) {
        drafts.value(Text::name(&variable.name), true, address(context, number));
    }
}

fn address(context: &Context<'_>, number: u32) -> Option<Formula> {
    context.formula(|builder| Some(builder.address_of(number)))
}

fn members(context: &Context<'_>, drafts: &mut Drafts) {
    let Role::Member { offset } = context.spot.role else { return };
    let mut siblings: Vec<_> =
        context.spot.siblings.iter().filter(|sibling| sibling.offset != offset).collect();
    siblings.sort_by_key(|sibling| (sibling.offset.abs_diff(offset), sibling.offset));
    let own = context.text();
    let before = own.as_str().strip_suffix(&context.site.operator);
    for sibling in siblings.into_iter().take(MAX_ALTERNATIVES) {
        let formula = context.formula(|builder| {
            let address = builder.original(ValueType::Pointer);
            Some(builder.offset(address, sibling.offset - offset))
        });
        let text = match before.filter(|before| !before.is_empty()) {
            Some(before) => {
                let text = format!("{before}{}", sibling.name);
                Text::with_precedence(text, Precedence::POSTFIX, own.is_exact())
            }
            None => Text::name(&sibling.name).made_inexact(),
        };
        drafts.value(text, true, formula);
    }
}

/// Types that C code can exchange without noticing.
fn is_same_type(left: &TypeFact, right: &TypeFact) -> bool {
    left.class == right.class && left.bits == right.bits
}

/// The variable the site names.
fn own_variable<'a>(context: &Context<'a>) -> Option<(u32, &'a Variable)> {
    if context.site.kind != ExpressionKind::Reference {
        return None;
    }
    visible(context).find(|(_, variable)| variable.name == context.site.operator)
}

/// Visible variables that fit, those declared nearest to the site's own first. Where the site is no variable of its own,
/// the latest declared ones.
fn nearest<'a>(
    context: &Context<'a>,
    fits: impl Fn(&Variable) -> bool,
) -> impl Iterator<Item = (u32, &'a Variable)> {
    let own = own_variable(context).map(|(number, _)| number);
    let is_named = context.site.kind == ExpressionKind::Reference;
    let mut found: Vec<_> = visible(context)
        .filter(|(_, variable)| !(is_named && variable.name == context.site.operator) && fits(variable))
        .collect();
    found.sort_by_key(|(number, _)| (own.unwrap_or(u32::MAX).abs_diff(*number), *number));
    found.into_iter().take(MAX_ALTERNATIVES)
}

fn visible<'a>(context: &Context<'a>) -> impl Iterator<Item = (u32, &'a Variable)> {
    let variables = &context.function.variables;
    context.spot.visible.iter().filter_map(|number| Some((*number, variables.get(*number as usize)?)))
}
