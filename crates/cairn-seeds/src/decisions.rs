//! The outcomes of decisions and of conditions.
//!
//! A decision of several conditions is left by those that settle it: `a && b` by `a` when it is false, and by `b`. Which of these belong
//! together shows where control goes next.

use cairn_model::{
    BlockId, ConditionId, CounterId, ProgramMap,
    map::{Branch, Condition, ConditionKind, Decision},
};
use std::collections::BTreeMap;

/// One outcome of a decision, or one value of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What settles the decision so: any of these.
    pub branches: Vec<Branch>,
    /// Any of these is set when it was.
    counters: Vec<CounterId>,
}

impl Outcome {
    fn of(map: &ProgramMap, branches: Vec<Branch>) -> Self {
        let counters = branches.iter().flat_map(|branch| counters(map, *branch)).copied().collect();
        Self { branches, counters }
    }

    /// Whether a run that left these counters had it.
    pub fn is_in(&self, counters: &[u8]) -> bool {
        self.counters.iter().any(|counter| counters.get(counter.index()).is_some_and(|count| *count != 0))
    }

    /// For people: `parse.c:41:9: a false or b false`.
    pub fn describe(&self, map: &ProgramMap) -> String {
        let Some(first) = self.branches.first() else { return "?".into() };
        let place = map.show(map.conditions[first.condition.index()].extent.start);
        let branches: Vec<String> =
            self.branches.iter().map(|branch| describe_branch(map, *branch)).collect();
        format!("{place}: {}", branches.join(" or "))
    }
}

/// For people: `` `x < y` false ``.
fn describe_branch(map: &ProgramMap, branch: Branch) -> String {
    let condition = &map.conditions[branch.condition.index()];
    match condition.kind {
        ConditionKind::Case if branch.direction => format!("`{}`", condition.text),
        _ => format!("`{}` {}", condition.text, branch.direction),
    }
}

/// The outcomes of all decisions of a program, those of one together.
pub fn of_decisions(map: &ProgramMap) -> Vec<Outcome> {
    map.decisions.iter().flat_map(|decision| outcomes_of(map, decision)).collect()
}

/// Both values of all conditions of a program, and of a switch each label.
pub fn of_conditions(map: &ProgramMap) -> Vec<Outcome> {
    let branches = map
        .conditions_with_ids()
        .flat_map(|(id, _)| [false, true].map(|direction| Branch { condition: id, direction }));
    branches.map(|branch| Outcome::of(map, vec![branch])).collect()
}

/// What two branches that settle a decision alike have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// Where control goes.
    To(BlockId),
    /// The value, where nothing but a value comes of the decision.
    Value(bool),
    /// The label of a switch.
    Label(ConditionId),
}

fn outcomes_of(map: &ProgramMap, decision: &Decision) -> Vec<Outcome> {
    let conditions = decision.conditions.iter().map(|id| (*id, &map.conditions[id.index()]));
    let has_value = conditions
        .clone()
        .any(|(_, condition)| matches!(condition.kind, ConditionKind::Value | ConditionKind::Select));
    let mut by_way: BTreeMap<Way, Vec<Branch>> = BTreeMap::new();
    for (place, (id, condition)) in conditions.enumerate() {
        for direction in [true, false] {
            let branch = Branch { condition: id, direction };
            let way = match condition.kind {
                // That another label was taken is that one's outcome.
                ConditionKind::Case if !direction => continue,
                ConditionKind::Case => Way::Label(id),
                ConditionKind::Value | ConditionKind::Select => Way::Value(direction),
                ConditionKind::Branch => match exit(map, decision, place, condition, branch) {
                    Exit::Goes(_) if has_value => Way::Value(direction),
                    Exit::Goes(to) => Way::To(to),
                    Exit::Stays => continue,
                    Exit::Unknown => Way::Value(direction),
                },
            };
            by_way.entry(way).or_default().push(branch);
        }
    }
    by_way.into_values().map(|branches| Outcome::of(map, branches)).collect()
}

enum Exit {
    /// The decision is settled, and control goes there.
    Goes(BlockId),
    /// A later condition is asked next.
    Stays,
    /// The map does not show where control goes.
    Unknown,
}

/// Where control goes after the `place`th condition of a decision.
fn exit(map: &ProgramMap, decision: &Decision, place: usize, condition: &Condition, branch: Branch) -> Exit {
    let edges = &map.blocks[condition.block.index()].successors;
    let Some(edge) = edges.iter().find(|edge| edge.shows == Some(branch)) else { return Exit::Unknown };
    let later: Vec<BlockId> =
        decision.conditions[place + 1..].iter().map(|id| map.conditions[id.index()].block).collect();
    // Between two conditions lie at most blocks without a choice, such as calls that may not return.
    let mut block = edge.to;
    for _ in 0..map.blocks.len() {
        if later.contains(&block) {
            return Exit::Stays;
        }
        match map.blocks[block.index()].successors.as_slice() {
            [only] if only.to != block => block = only.to,
            _ => break,
        }
    }
    Exit::Goes(edge.to)
}

fn counters(map: &ProgramMap, branch: Branch) -> &[CounterId] {
    let condition = &map.conditions[branch.condition.index()];
    if branch.direction { &condition.when_true } else { &condition.when_false }
}
