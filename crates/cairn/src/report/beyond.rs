//! What a set of inputs reaches beyond another.

use cairn_abi::counters::beyond;
use cairn_model::{Coverage, ProgramMap, map::Branch};
use std::fmt::Write;

/// The branches of `coverage` that `baseline` lacks, in source order.
pub fn render(map: &ProgramMap, coverage: &Coverage, baseline: &Coverage) -> String {
    let n_counters = beyond(coverage.counters(), baseline.counters()).count();
    let mut new: Vec<_> = map
        .conditions_with_ids()
        .flat_map(|(id, condition)| {
            [true, false].map(|direction| (condition, Branch { condition: id, direction }))
        })
        .filter(|(_, branch)| coverage.covers(map, *branch) && !baseline.covers(map, *branch))
        .collect();
    new.sort_by_key(|(condition, branch)| (condition.extent.start, *branch));
    let mut text = format!("  beyond    {} branches, {n_counters} counters\n", new.len());
    for (condition, branch) in new {
        let place = map.show(condition.extent.start);
        let _ =
            writeln!(text, "  {place}: `{}` {}  [{}]", condition.text, branch.direction, condition.stable_id);
    }
    text
}
