//! The ways in which one function of the map was compiled.
//!
//! A header's function may be compiled with other constants in each unit: the copies look alike, share sites and counters,
//! and have other code. Each such way is a body of its own, in which a mutant changes the same expression.

use super::AnchoredFunction;
use crate::{
    ir::{Code, CodeOperand, FunctionCode, ModuleCode},
    mapping::{FactsRef, FunctionSource},
};
use cairn_model::facts::{ExpressionFact, Place};
use cairn_mutants::site::Spot;

/// The copies of a function, those with the same code together, with the facts of the first of each. `None` if the facts
/// of copies tell of other expressions, or of none.
pub fn by_code<'s, 'a>(
    code: &ModuleCode,
    source: &'s FunctionSource<'a>,
) -> Option<Vec<(&'s FactsRef<'a>, Vec<usize>)>> {
    let mut bodies: Vec<(&FactsRef, Vec<usize>)> = Vec::new();
    for (member, facts) in source.members.iter().zip(&source.facts) {
        let own = &code.functions[*member];
        let same =
            bodies.iter_mut().find(|(_, members)| is_same_code(code, &code.functions[members[0]], own));
        match same {
            Some((_, members)) => members.push(*member),
            None => bodies.push((facts.as_ref()?, vec![*member])),
        }
    }
    let (first, _) = bodies.first()?;
    bodies.iter().all(|(facts, _)| has_same_expressions(first, facts)).then_some(bodies)
}

/// Whether a spot of one body is there in all of them, so that numbers of spots mean the same everywhere.
pub fn have_same_spots(bodies: &[AnchoredFunction]) -> bool {
    let is_same = |(one, other): (&Spot, &Spot)| {
        one.site == other.site
            && one.value_type == other.value_type
            && std::mem::discriminant(&one.role) == std::mem::discriminant(&other.role)
    };
    bodies.windows(2).all(|pair| {
        let [one, other] = [&pair[0].mutable.spots, &pair[1].mutable.spots];
        one.len() == other.len() && one.iter().zip(other).all(is_same)
    })
}

fn has_same_expressions(one: &FactsRef, other: &FactsRef) -> bool {
    let [one, other] = [one, other].map(|facts| &facts.function.expressions);
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| {
            let of = |fact: &ExpressionFact| {
                let place = |place: Place| (place.line, place.column);
                (fact.kind, fact.parent, place(fact.extent.start), place(fact.extent.end))
            };
            of(one) == of(other) && one.text == other.text
        })
}

/// Whether copies of a function do the same, apart from which copy of a variable they use.
fn is_same_code(module: &ModuleCode, one: &FunctionCode, other: &FunctionCode) -> bool {
    let is_same_operand = |one: &CodeOperand, other: &CodeOperand| match (one, other) {
        (
            CodeOperand::Global { global, offset },
            CodeOperand::Global { global: other_global, offset: other_offset },
        ) => {
            let [one, other] = [*global, *other_global].map(|index| &module.globals[index as usize]);
            let is_same_symbol = !one.is_external && !other.is_external || one.symbol == other.symbol;
            offset == other_offset && one.name == other.name && is_same_symbol
        }
        _ => one == other,
    };
    let is_same = |one: &Code, other: &Code| {
        one.opcode == other.opcode
            && one.result == other.result
            && one.operands.len() == other.operands.len()
            && one.operands.iter().zip(&other.operands).all(|(one, other)| is_same_operand(one, other))
    };
    let is_same_block = |(one, other): (&Vec<Code>, &Vec<Code>)| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
    };
    one.blocks.len() == other.blocks.len() && one.blocks.iter().zip(&other.blocks).all(is_same_block)
}
