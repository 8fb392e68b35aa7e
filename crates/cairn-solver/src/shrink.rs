//! Models that change no more than they have to.

use crate::{Model, Query, query::Changed};
use cairn_expr::{ExprId, Tape};

/// Instructions that may be spent on one model.
const MAX_CODE: usize = 1 << 20;

/// The model without the changes it can do without, one byte after the other from the last to the first. It has to hold.
///
/// Solvers give values to bytes that could have kept theirs. An input that differs less from the seed is likelier to take
/// the same path, also where the query does not say all that decides it.
pub fn shrink(query: &Query<'_>, model: &Model) -> Model {
    let model = model.changes(query.seed);
    if model.len() < 2 {
        return model;
    }
    let conditions: Vec<ExprId> = query.conditions().collect();
    let tape = Tape::compile(query.dag, &conditions);
    if tape.len() * model.len() > MAX_CODE {
        return model;
    }
    let mut machine = tape.machine(&Changed { seed: query.seed, model: &model });
    for slot in (0..tape.inputs().len()).rev() {
        let byte = tape.inputs()[slot];
        let (new, old) = (machine.byte(slot), query.seed.byte(byte.region, byte.offset));
        if new == old {
            continue;
        }
        machine.set(slot, old);
        machine.run();
        if (0..conditions.len()).any(|root| machine.low_value(root) == 0) {
            machine.set(slot, new);
        }
    }
    let bytes = tape.inputs().iter().zip(machine.input());
    bytes.map(|(byte, value)| (byte.region, byte.offset, *value)).collect::<Model>().changes(query.seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_expr::{Dag, RegionId, parse};

    #[test]
    fn only_changes_that_are_needed_stay() {
        let mut dag = Dag::new();
        let goal = parse(&mut dag, "(ult (const 16 0x100) (input stdin 0 16))").unwrap();
        let other = parse(&mut dag, "(ule (input stdin 2 8) (const 8 9))").unwrap();
        let zeros = |_, _| 0u8;
        let query = Query { dag: &dag, constraints: &[other], n_always: 0, goal, seed: &zeros };
        let model: Model =
            [(0, 7), (1, 9), (2, 3)].map(|(at, value)| (RegionId(0), at, value)).into_iter().collect();
        assert_eq!(shrink(&query, &model).to_string(), "stdin[1]=0x09");
    }
}
