//! Switches: edges by label, and a condition for each label.

use super::{Builder, Subject};
use crate::{
    ir::IrKind,
    mapping::switches,
    plan::{Insert, Mark},
};
use cairn_model::{
    BlockId, ConditionId, CounterId, DecisionId,
    facts::{ConstantKind, DecisionKind, LabelFact, SwitchFact},
    map::{Block, Branch, Condition, ConditionFeatures, ConditionKind, Edge, LeftOut, LeftOutReason},
};

/// The text of the condition that stands for a `default` nobody wrote.
pub const IMPLICIT_DEFAULT: &str = "(no case)";

/// What kind of constant a label is.
fn constant_kind(label: Option<&LabelFact>) -> Option<ConstantKind> {
    let label = label.filter(|label| label.range.is_some())?;
    Some(if label.text.contains('\'') { ConstantKind::Character } else { ConstantKind::Integer })
}

/// The switch statement behind the end of a block.
fn switch_facts<'a>(subject: &Subject<'a>, block: usize) -> Option<&'a SwitchFact> {
    let facts = subject.facts?;
    let file_of = |file: u32| facts.ir_files[file as usize];
    switches::facts_of(subject.ir, block, facts.function, &file_of)
}

/// One way a switch may go: what its label is, and which edge of which block takes it.
struct LabelEdge<'a> {
    /// `None` for a default nobody wrote and for cases without facts.
    label: Option<&'a LabelFact>,
    is_default: bool,
    counter: CounterId,
    block: BlockId,
    edge: usize,
}

impl Builder<'_> {
    /// The blocks that compare with large ranges, by the block of their switch: branches, but no conditions.
    pub(super) fn find_range_checks(&mut self) {
        for block in 0..self.subject.ir.blocks.len() {
            let subject = self.subject;
            let checks =
                switch_facts(subject, block).map(|facts| switches::range_checks(subject.ir, block, facts));
            self.range_checks.insert(block, checks.unwrap_or_default());
        }
    }

    pub(super) fn add_switches(&mut self) {
        let ir = self.subject.ir;
        for (block, ir_block) in ir.blocks.iter().enumerate() {
            let IrKind::Switch(switch) = ir_block.end() else { continue };
            let facts = switch_facts(self.subject, block);
            let ways = switches::ways(switch, facts);
            let from = self.last_piece_id(block);
            let mut edges = Vec::new();
            let mut label_edges = Vec::new();
            for (number, way) in ways.iter().enumerate() {
                let successors = way.successors.clone();
                let counter = self.counter(|counter| Insert::Edges { block, successors, counter });
                edges.push(Edge { to: self.label_target(way), counter, shows: None, is_sure: false });
                if let Some(counter) = counter {
                    let is_default = number == 0;
                    label_edges.push(LabelEdge {
                        label: way.label,
                        is_default,
                        counter,
                        block: from,
                        edge: number,
                    });
                }
            }
            self.map.blocks[from.index()].successors = edges;
            if let (Some(facts), true) = (facts, self.in_scope) {
                self.put_ranges_behind_default(block, facts, &mut label_edges);
                self.add_labels(facts, from, &label_edges);
                self.mark_switch(block, switch.cases.len(), &ways);
            }
        }
    }

    /// Notes which condition each way out of a switch shows, and each comparison with a large range behind it.
    fn mark_switch(&mut self, block: usize, n_cases: usize, ways: &[switches::LabelWay]) {
        let shown = |map: &cairn_model::ProgramMap, block: BlockId, edge: usize| {
            map.blocks[block.index()].successors[edge].shows.map(|shown| shown.condition)
        };
        let from = self.last_piece_id(block);
        let mut conditions = vec![None; n_cases + 1];
        for (number, way) in ways.iter().enumerate() {
            for successor in &way.successors {
                conditions[*successor as usize] = shown(self.map, from, number);
            }
        }
        self.marks.push(Mark::Switch { block, conditions });
        for check in self.range_checks[&block].clone() {
            if let Some(condition) = shown(self.map, self.last_piece_id(check), 0) {
                self.marks.push(Mark::Branch { block: check, condition, is_inverted: false });
            }
        }
    }

    /// Where large ranges are compared with behind the default edge, that edge alone says nothing: each comparison
    /// takes its label, and what is left after the last is the default.
    fn put_ranges_behind_default<'a>(
        &self,
        block: usize,
        facts: &'a SwitchFact,
        edges: &mut Vec<LabelEdge<'a>>,
    ) {
        let checks = &self.range_checks[&block];
        let Some(last) = checks.last() else { return };
        let default_label = edges[0].label;
        edges.remove(0);
        for (check, label) in checks.iter().zip(switches::large_ranges(facts).rev()) {
            let [counter, _] = self.branch_counters[check];
            let block = self.last_piece_id(*check);
            edges.push(LabelEdge { label: Some(label), is_default: false, counter, block, edge: 0 });
        }
        let [_, counter] = self.branch_counters[last];
        let block = self.last_piece_id(*last);
        edges.push(LabelEdge { label: default_label, is_default: true, counter, block, edge: 1 });
    }

    /// Where a label leads. `case 1: break;` has no block in the bitcode; the map gets one for its line.
    pub(super) fn label_target(&mut self, way: &switches::LabelWay) -> BlockId {
        let to = self.block_id(way.to);
        let Some(place) = way.label.and_then(|label| label.only_break) else { return to };
        let place = self.fact_place(place);
        let line = (place.file, place.line);
        if self.map.blocks[to.index()].lines.contains(&line) {
            return to;
        }
        let id = BlockId(self.map.blocks.len() as u32);
        let onward = Edge { to, counter: None, shows: None, is_sure: true };
        self.map.blocks.push(Block { lines: vec![line], successors: vec![onward], ..Block::default() });
        self.map.functions.last_mut().expect("the function was added first").blocks.end += 1;
        id
    }

    /// One condition for each label, in source order, and one for a default nobody wrote.
    fn add_labels(&mut self, facts: &SwitchFact, from: BlockId, edges: &[LabelEdge]) {
        let decision = DecisionId(self.map.decisions.len() as u32);
        let mut ids = Vec::new();
        let mut labels: Vec<Option<&LabelFact>> = facts.labels.iter().map(Some).collect();
        if facts.labels.iter().all(|label| label.range.is_some()) {
            labels.push(None);
        }
        for label in labels {
            let is_mine = |edge: &&LabelEdge| match (label, edge.label) {
                (Some(label), Some(other)) => std::ptr::eq(label, other),
                (None, None) => edge.is_default,
                _ => false,
            };
            let (text, extent, macro_name) = match label {
                Some(label) => (label.text.clone(), self.fact_extent(label.extent), label.macro_name.clone()),
                None => (IMPLICIT_DEFAULT.to_string(), self.fact_extent(facts.value), None),
            };
            let when_true: Vec<CounterId> = edges.iter().filter(is_mine).map(|edge| edge.counter).collect();
            if when_true.is_empty() {
                let place = self.files.show(extent.start);
                self.map.left_out.push(LeftOut { reason: LeftOutReason::Dead, what: text, place });
                continue;
            }
            let id = ConditionId(self.map.conditions.len() as u32);
            for edge in edges.iter().filter(is_mine) {
                self.map.blocks[edge.block.index()].successors[edge.edge].shows =
                    Some(Branch { condition: id, direction: true });
            }
            let others = edges.iter().filter(|edge| !is_mine(edge)).map(|edge| edge.counter);
            let when_false = others.collect();
            let stable_id = self.stable_id("condition", &format!("switch ({}) {text}", facts.text));
            self.map.conditions.push(Condition {
                stable_id,
                function: self.function,
                decision,
                kind: ConditionKind::Case,
                text,
                extent,
                macro_name,
                block: from,
                when_true,
                when_false,
                features: ConditionFeatures {
                    compares_with: constant_kind(label),
                    ..ConditionFeatures::default()
                },
                site: None,
                is_joined: true,
            });
            ids.push(id);
        }
        let extent = self.fact_extent(facts.extent);
        self.push_decision(Some(DecisionKind::Switch), extent, ids, 0);
    }
}
