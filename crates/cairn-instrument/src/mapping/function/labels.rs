//! Switches: edges by label, and a condition for each label.

use super::Builder;
use crate::{ir::IrKind, mapping::switches, plan::Insert};
use cairn_model::{
    BlockId, ConditionId, CounterId, DecisionId,
    facts::{DecisionKind, LabelFact, SwitchFact},
    map::{Block, Branch, Condition, ConditionFeatures, ConditionKind, Edge, LeftOut, LeftOutReason},
};

/// The text of the condition that stands for a `default` nobody wrote.
pub const IMPLICIT_DEFAULT: &str = "(no case)";

impl Builder<'_> {
    pub(super) fn add_switches(&mut self) {
        let ir = self.subject.ir;
        for (block, ir_block) in ir.blocks.iter().enumerate() {
            let IrKind::Switch(switch) = ir_block.end() else { continue };
            let facts = self.subject.facts.and_then(|facts| {
                let file_of = |file: u32| facts.ir_files[file as usize];
                switches::facts_of(ir, block, facts.function, &file_of)
            });
            let ways = switches::ways(switch, facts);
            let counters: Vec<_> = ways
                .iter()
                .map(|way| {
                    let successors = way.successors.clone();
                    self.counter(|counter| Insert::Edges { block, successors, counter })
                })
                .collect();
            let from = self.last_piece_id(block);
            let mut edges: Vec<Edge> = ways
                .iter()
                .zip(&counters)
                .map(|(way, counter)| Edge {
                    to: self.label_target(way),
                    counter: *counter,
                    shows: None,
                    is_sure: false,
                })
                .collect();
            if let (Some(facts), true) = (facts, self.in_scope) {
                self.add_labels(facts, from, &ways, &counters, &mut edges);
            }
            self.map.blocks[from.index()].successors = edges;
        }
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
    pub(super) fn add_labels(
        &mut self,
        facts: &SwitchFact,
        from: BlockId,
        ways: &[switches::LabelWay],
        counters: &[Option<CounterId>],
        edges: &mut [Edge],
    ) {
        let decision = DecisionId(self.map.decisions.len() as u32);
        let mut ids = Vec::new();
        let mut labels: Vec<Option<&LabelFact>> = facts.labels.iter().map(Some).collect();
        if ways[0].label.is_none() {
            labels.push(None);
        }
        let has_way = |label: &LabelFact| {
            ways.iter().any(|way| way.label.is_some_and(|other| std::ptr::eq(other, label)))
        };
        let is_large_range =
            |label: &LabelFact| label.range.is_some_and(|(low, high)| low != high) && !has_way(label);
        let has_large_range = facts.labels.iter().any(is_large_range);
        for label in labels {
            let is_its = |way: &switches::LabelWay| match (label, way.label) {
                (Some(label), Some(other)) => std::ptr::eq(label, other),
                (None, None) => way.successors == [0],
                _ => false,
            };
            let mine: Vec<usize> = (0..ways.len()).filter(|index| is_its(&ways[*index])).collect();
            let (text, extent, macro_name) = match label {
                Some(label) => (label.text.clone(), self.fact_extent(label.extent), label.macro_name.clone()),
                None => (IMPLICIT_DEFAULT.to_string(), self.fact_extent(facts.value), None),
            };
            // The default edge also leads to the comparisons that large ranges become.
            let is_default = label.is_none_or(|label| label.range.is_none());
            if mine.is_empty() || is_default && has_large_range {
                let is_large = is_default || label.is_some_and(is_large_range);
                let reason = if is_large { LeftOutReason::LargeRange } else { LeftOutReason::Dead };
                let place = self.files.show(extent.start);
                self.map.left_out.push(LeftOut { reason, what: text, place });
                continue;
            }
            let id = ConditionId(self.map.conditions.len() as u32);
            for index in &mine {
                edges[*index].shows = Some(Branch { condition: id, direction: true });
            }
            let stable_id = self.stable_id("condition", &format!("switch ({}) {text}", facts.text));
            let counters_of = |is_mine: bool| {
                let chosen = (0..ways.len()).filter(|index| mine.contains(index) == is_mine);
                chosen.filter_map(|index| counters[index]).collect()
            };
            self.map.conditions.push(Condition {
                stable_id,
                function: self.function,
                decision,
                kind: ConditionKind::Case,
                text,
                extent,
                macro_name,
                block: from,
                when_true: counters_of(true),
                when_false: counters_of(false),
                features: ConditionFeatures::default(),
                site: None,
                is_joined: true,
            });
            ids.push(id);
        }
        let extent = self.fact_extent(facts.extent);
        self.push_decision(Some(DecisionKind::Switch), extent, ids, 0);
    }
}
