//! Casts to other types.

use super::{
    context::{Context, Drafts},
    operator::{Example, Maker, Operator, Set},
    text::Text,
};
use crate::formula::types;
use cairn_model::{facts::ExpressionKind, mutants::ValueType};

/// The operators of this family.
pub const OPERATORS: &[Operator] = &[Operator {
    name: "cast-replace",
    code: "OCOR",
    meaning: "Casts to another arithmetic type instead; the result is then converted to the type of the original cast. Types for which that is the same are left out.",
    surviving: "The tests use only values that both types hold.",
    example: Example { before: "(unsigned char)c", after: "(signed char)c" },
    kill: "Use a value that the other type cannot hold: a negative one, a fraction, one that is too large.",
    sets: &[Set::Deminer],
    maker: Maker::Spot(replace),
}];

const fn int(bits: u8, is_signed: bool) -> ValueType {
    ValueType::Int { bits, is_signed }
}

const CHOICES: [(&str, ValueType); 10] = [
    ("signed char", int(8, true)),
    ("unsigned char", int(8, false)),
    ("short", int(16, true)),
    ("unsigned short", int(16, false)),
    ("int", int(32, true)),
    ("unsigned int", int(32, false)),
    ("long", int(64, true)),
    ("unsigned long", int(64, false)),
    ("float", ValueType::Float { bits: 32 }),
    ("double", ValueType::Float { bits: 64 }),
];

fn replace(context: &Context<'_>, drafts: &mut Drafts) {
    if !context.is_value_of(ExpressionKind::Cast) || context.spot.operands.len() != 1 {
        return;
    }
    let from = context.spot.operands[0].value_type;
    let to = context.spot.value_type;
    if !types::is_arithmetic(from) || !types::is_arithmetic(to) {
        return;
    }
    for (name, through) in CHOICES {
        if through == to || is_same(from, through, to) {
            continue;
        }
        let formula = context.formula(|builder| {
            let value = context.operand(builder, 0);
            builder.convert(value, through)
        });
        let text = Text::prefix(&format!("({name})"), context.operand_text(0));
        drafts.value(text, context.fits_in_source(through), formula);
    }
}

/// Whether a detour through another type changes nothing.
fn is_same(from: ValueType, through: ValueType, to: ValueType) -> bool {
    if types::preserves_value(from, through) {
        return true;
    }
    match (from, through, to) {
        // The low bits pass.
        (ValueType::Int { .. }, ValueType::Int { bits: through, .. }, ValueType::Int { bits: to, .. }) => {
            through >= to
        }
        (ValueType::Int { bits: from, .. }, ValueType::Int { bits: through, .. }, ValueType::Bool) => {
            through >= from
        }
        _ => false,
    }
}
