//! Other results of functions.

use super::{
    context::{Context, Drafts},
    effects::is_droppable,
    operator::{Example, Maker, Operator, Set},
    text::Text,
};
use crate::site::Role;
use cairn_model::{facts::ExpressionKind, mutants::ValueType};

/// The operators of this family.
pub const OPERATORS: &[Operator] = &[Operator {
    name: "return-values",
    code: "RETURN_VALS",
    meaning: "Returns 0, false or a null pointer after computing the result; 1 where 0 is returned, and both for truth values.",
    surviving: "The tests do not depend on what this function returns here.",
    example: Example { before: "return n_matches;", after: "return 0;" },
    kill: "Let the result reach the output, or decide something that does.",
    sets: &[Set::Compact, Set::Mu2],
    maker: Maker::Spot(returns),
}];

fn returns(context: &Context<'_>, drafts: &mut Drafts) {
    if context.spot.role != Role::Returned {
        return;
    }
    let known = known_constant(context);
    let choices: &[i64] = match (context.is_truth(), known) {
        (true, Some(0)) => &[1],
        (true, Some(_)) => &[0],
        (true, None) => &[0, 1],
        (false, Some(0)) => &[1],
        (false, _) => &[0],
    };
    for number in choices {
        let formula = context.formula(|builder| match context.spot.value_type {
            ValueType::Pointer if *number != 0 => None,
            ValueType::Pointer => Some(builder.integer(ValueType::Pointer, 0)),
            value_type => Some(builder.number(value_type, *number)),
        });
        let (text, is_faithful) = text(context, *number);
        drafts.value(text, is_faithful, formula);
    }
}

/// The returned number, if it is a constant.
fn known_constant(context: &Context<'_>) -> Option<i64> {
    context.function.spots.iter().filter(|spot| spot.site == context.spot.site).find_map(|spot| {
        match spot.role {
            Role::Constant { value, float: None } => Some(value),
            Role::Constant { float: Some(bits), .. } if f64::from_bits(bits) == 0.0 => Some(0),
            _ => None,
        }
    })
}

/// The result is computed before it is replaced, so what has effects stays in the text.
fn text(context: &Context<'_>, number: i64) -> (Text, bool) {
    use ExpressionKind as Kind;
    let number = Text::number(&number.to_string());
    match context.site.kind {
        _ if is_droppable(context.map, context.spot.site) => (number, true),
        Kind::Call | Kind::MacroUse => (Text::comma(context.text(), number), true),
        Kind::Assign | Kind::CompoundAssign | Kind::IncrementDecrement => {
            (Text::comma(context.text(), number), false)
        }
        _ => (number, false),
    }
}
