//! What was reached of each function, and what was not.

use super::Share;
use cairn_model::{
    Coverage, ProgramMap,
    map::{Branch, Condition, Function},
};

/// What was reached of a function that has branches.
pub struct FunctionShare<'a> {
    /// Which.
    pub function: &'a Function,
    /// Branches reached.
    pub share: Share,
    /// Whether it was called at all.
    pub is_entered: bool,
    /// Conditions with the directions nobody took.
    pub missing: Vec<(&'a Condition, Vec<bool>)>,
}

/// All functions with branches in scope, those with the most to reach first.
pub fn by_function<'a>(map: &'a ProgramMap, coverage: &Coverage) -> Vec<FunctionShare<'a>> {
    let executed = coverage.executed_blocks(map);
    let of = |function: &'a Function| FunctionShare {
        function,
        share: Share::default(),
        is_entered: executed.get(function.entry().index()).copied().unwrap_or(false),
        missing: Vec::new(),
    };
    let mut shares: Vec<FunctionShare<'a>> = map.functions.iter().map(of).collect();
    for (id, condition) in map.conditions_with_ids() {
        let of_function = &mut shares[condition.function.0 as usize];
        let mut missing = Vec::new();
        for direction in [true, false] {
            let is_covered = coverage.covers(map, Branch { condition: id, direction });
            of_function.share.add(is_covered);
            if !is_covered {
                missing.push(direction);
            }
        }
        if !missing.is_empty() {
            of_function.missing.push((condition, missing));
        }
    }
    shares.retain(|of_function| of_function.share.total > 0);
    shares.sort_by_key(|of_function| {
        let Share { covered, total } = of_function.share;
        (std::cmp::Reverse(total - covered), map.show(of_function.function.place))
    });
    shares
}
