//! The table.

use super::{
    Facts, Feature,
    Source::{self, History, Map, Trace},
};
use crate::{contexts::Contexts, history::Asked, turn::opposite};
use cairn_model::{
    FunctionId,
    facts::{ConstantKind, DecisionKind},
    map::{Branch, ConditionKind},
};

/// All of them, in the paper's order.
pub const FEATURES: [Feature; 40] = [
    feature(1, "branch in the main function", Map, |facts| facts.is_in_main()),
    feature(2, "true branch of a loop", Map, |facts| facts.is_loop(true)),
    feature(3, "false branch of a loop", Map, |facts| facts.is_loop(false)),
    feature(4, "nested branch", Map, |facts| facts.condition.is_some_and(|c| c.features.nesting_depth > 0)),
    feature(5, "branch containing external function calls", Map, |facts| {
        facts.condition.is_some_and(|c| c.features.uses_external_call)
    }),
    // What is meant is a comparison with such a constant: nearly every branch is about integers.
    feature(6, "branch containing integer expressions", Map, |facts| {
        facts.compares_with(&[ConstantKind::Integer, ConstantKind::Character])
    }),
    feature(7, "branch containing constant strings", Map, |facts| {
        facts.compares_with(&[ConstantKind::String])
    }),
    feature(8, "branch containing pointer expressions", Map, |facts| {
        facts.condition.is_some_and(|c| c.features.reads_pointer)
    }),
    feature(9, "branch containing local variables", Map, |facts| {
        facts.condition.is_some_and(|c| c.features.reads_local)
    }),
    feature(10, "branch inside a loop body", Map, |facts| facts.is_in_loop_body()),
    feature(11, "true branch of a case statement", Map, |facts| facts.is_case(true)),
    feature(12, "false branch of a case statement", Map, |facts| facts.is_case(false)),
    feature(13, "first 10% branches of a path", Trace, |facts| facts.question.index * 10 < facts.path.length),
    feature(14, "last 10% branches of a path", Trace, |facts| {
        (facts.path.length - 1 - facts.question.index) * 10 < facts.path.length
    }),
    feature(15, "branch appearing most frequently in a path", Trace, |facts| {
        facts.n_times() == Some(facts.path.most)
    }),
    feature(16, "branch appearing least frequently in a path", Trace, |facts| {
        facts.n_times() == Some(facts.path.least)
    }),
    feature(17, "branch newly covered in the previous execution", History, |facts| {
        facts.branch.is_some_and(|branch| facts.path.view.history.new_branches().contains(&branch))
    }),
    feature(18, "branch located right after the just-negated branch", Trace, |facts| {
        facts.just_negated().is_some_and(|index| facts.question.index == index + 1)
    }),
    feature(19, "branch whose context (k = 1) is already visited", History, |facts| facts.knows_context(1)),
    feature(20, "branch whose context (k = 2) is already visited", History, |facts| facts.knows_context(2)),
    feature(21, "branch whose context (k = 3) is already visited", History, |facts| facts.knows_context(3)),
    feature(22, "branch whose context (k = 4) is already visited", History, |facts| facts.knows_context(4)),
    feature(23, "branch whose context (k = 5) is already visited", History, |facts| facts.knows_context(5)),
    feature(24, "branch negated more than 10 times", History, |facts| facts.asked().n_negated > 10),
    feature(25, "branch negated more than 20 times", History, |facts| facts.asked().n_negated > 20),
    feature(26, "branch negated more than 30 times", History, |facts| facts.asked().n_negated > 30),
    feature(27, "branch near the just-negated branch", Trace, |facts| facts.is_near_negated()),
    feature(28, "branch failed to be negated more than 10 times", History, |facts| {
        facts.asked().n_failed > 10
    }),
    feature(29, "the opposite branch failed to be negated more than 10 times", History, |facts| {
        facts.opposite().is_some_and(|branch| facts.path.view.history.asked(branch).n_failed > 10)
    }),
    feature(30, "the opposite branch is uncovered (depth 0)", History, |facts| {
        facts.opposite().is_some_and(|branch| facts.is_missing(branch))
    }),
    feature(31, "the opposite branch is uncovered (depth 1)", History, |facts| {
        facts.after_opposite().any(|branch| facts.is_missing(branch))
    }),
    feature(32, "branch negated in the last 10 executions", History, |facts| facts.is_negated_within(10)),
    feature(33, "branch negated in the last 20 executions", History, |facts| facts.is_negated_within(20)),
    feature(34, "branch negated in the last 30 executions", History, |facts| facts.is_negated_within(30)),
    feature(
        35,
        "branch in the function that has the largest number of uncovered branches",
        History,
        |facts| facts.function().is_some() && facts.function() == facts.path.least_covered,
    ),
    feature(
        36,
        "the opposite branch belongs to unreached functions (top 10% of the largest)",
        History,
        |facts| facts.leads_to_new(|facts, function| facts.path.features.is_large(function, 10)),
    ),
    feature(
        37,
        "the opposite branch belongs to unreached functions (top 20% of the largest)",
        History,
        |facts| facts.leads_to_new(|facts, function| facts.path.features.is_large(function, 20)),
    ),
    feature(
        38,
        "the opposite branch belongs to unreached functions (top 30% of the largest)",
        History,
        |facts| facts.leads_to_new(|facts, function| facts.path.features.is_large(function, 30)),
    ),
    feature(
        39,
        "the opposite branch belongs to unreached functions (more than 10 branches)",
        History,
        |facts| facts.leads_to_new(|facts, function| facts.path.features.sizes[function.index()] > 10),
    ),
    feature(40, "branch inside the most recently reached function", History, |facts| {
        facts.function().is_some() && facts.function() == facts.path.view.history.latest_function()
    }),
];

const fn feature(
    number: usize,
    text: &'static str,
    source: Source,
    holds: fn(&Facts<'_>) -> bool,
) -> Feature {
    Feature { number, text, source, holds }
}

/// How many turns away something is near.
const NEAR: usize = 5;

impl Facts<'_> {
    fn function(&self) -> Option<FunctionId> {
        self.condition.map(|condition| condition.function)
    }

    fn opposite(&self) -> Option<Branch> {
        self.branch.map(opposite)
    }

    fn is_in_main(&self) -> bool {
        self.function().is_some_and(|function| self.path.view.map.functions[function.index()].name == "main")
    }

    /// Whether the condition is that of a loop statement.
    fn is_of_loop(&self) -> bool {
        let kind = self.decision.and_then(|decision| decision.kind);
        matches!(kind, Some(DecisionKind::While | DecisionKind::For | DecisionKind::Do))
    }

    /// Whether the branch is that of a loop statement that stays in the loop, or the one that leaves it.
    fn is_loop(&self, stays: bool) -> bool {
        let (Some(branch), Some(condition)) = (self.branch, self.condition) else { return false };
        let staying = condition.features.stays_in_loop;
        self.is_of_loop() && staying.is_some_and(|direction| (branch.direction == direction) == stays)
    }

    /// A loop's own condition is in the body of the loops around it only.
    fn is_in_loop_body(&self) -> bool {
        let depth = self.condition.map_or(0, |condition| condition.features.loop_depth);
        depth > u32::from(self.is_of_loop())
    }

    fn is_case(&self, direction: bool) -> bool {
        let is_label = self.condition.is_some_and(|condition| condition.kind == ConditionKind::Case);
        is_label && self.branch.is_some_and(|branch| branch.direction == direction)
    }

    fn compares_with(&self, kinds: &[ConstantKind]) -> bool {
        let kind = self.condition.and_then(|condition| condition.features.compares_with);
        kind.is_some_and(|kind| kinds.contains(&kind))
    }

    fn n_times(&self) -> Option<usize> {
        self.path.n_times.get(&self.branch?).copied()
    }

    /// The turn of this path that was decided otherwise for it, if it is that of the last run.
    fn just_negated(&self) -> Option<usize> {
        let last = self.path.features.last?;
        (last.path == self.question.path).then_some(last.index)
    }

    fn is_near_negated(&self) -> bool {
        self.just_negated().is_some_and(|index| self.question.index.abs_diff(index) <= NEAR)
    }

    fn knows_context(&self, k: usize) -> bool {
        let context = Contexts::of(self.path.view, self.question, k);
        self.path.features.contexts[k - 1].contains(&context)
    }

    fn asked(&self) -> Asked {
        self.branch.map(|branch| self.path.view.history.asked(branch)).unwrap_or_default()
    }

    fn is_negated_within(&self, n_executions: u32) -> bool {
        let now = self.path.view.history.n_executions();
        self.asked().last_execution.is_some_and(|last| now - last < n_executions)
    }

    fn is_missing(&self, branch: Branch) -> bool {
        self.path.view.history.first_taken(branch).is_none()
    }

    /// The branches that can come next after the opposite one.
    fn after_opposite(&self) -> impl Iterator<Item = Branch> {
        let following = self.opposite().and_then(|branch| self.path.features.following.get(&branch));
        following.into_iter().flatten().copied()
    }

    /// Whether a function that nobody entered can come next after the opposite branch, and is such a one.
    fn leads_to_new(&self, is_such: impl Fn(&Self, FunctionId) -> bool) -> bool {
        self.after_opposite().any(|branch| {
            let function = self.path.view.map.conditions[branch.condition.index()].function;
            self.path.view.history.first_entered(function).is_none() && is_such(self, function)
        })
    }
}
