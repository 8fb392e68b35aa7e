//! Sites, decisions and conditions.

use super::{Builder, operands};
use crate::{
    ir::{Definition, IrKind},
    join::{self, Event, EventKind, Joined, Role},
    plan::{Insert, Mark, ValueAt},
};
use cairn_model::{
    BlockId, ConditionId, CounterId, DecisionId, SiteId,
    facts::{ConditionFact, DecisionKind, ExpressionKind, FunctionFacts},
    map::{
        Branch, Condition, ConditionFeatures, ConditionKind, Decision, Extent, LeftOut, LeftOutReason, Site,
    },
};

impl Builder<'_> {
    pub(super) fn add_sites(&mut self) {
        let Some(facts) = self.subject.facts else { return };
        for expression in &facts.function.expressions {
            let stable_id = self.stable_id("site", &format!("{:?} {}", expression.kind, expression.text));
            let extent = self.fact_extent(expression.extent);
            self.map.sites.push(Site {
                stable_id,
                function: self.function,
                parent: expression.parent.map(|parent| SiteId(self.first_site + parent)),
                kind: match expression.is_macro_use {
                    true => ExpressionKind::MacroUse,
                    false => expression.kind,
                },
                operator: match expression.is_macro_use {
                    true => expression.macro_name.clone().unwrap_or_default(),
                    false => expression.operator.clone(),
                },
                value_type: expression.value_type.clone(),
                text: expression.text.clone(),
                extent,
                macro_name: expression.macro_name.clone(),
            });
        }
    }

    pub(super) fn add_conditions(&mut self) {
        let is_range_check = |event: &Event| match event.kind {
            EventKind::Branch { block } => self.range_checks.values().any(|checks| checks.contains(&block)),
            _ => false,
        };
        let mut events = join::events(self.subject.ir);
        events.retain(|event| !is_range_check(event));
        let Some(facts) = self.subject.facts else {
            for event in events.iter().filter(|event| event.role == Role::Test) {
                if self.subject.is_synthetic || event.place.is_none() {
                    self.leave_out_event(event);
                } else {
                    self.add_unjoined(event);
                }
            }
            return;
        };
        let file_of = |file: u32| facts.ir_files[file as usize];
        let joined = join::join(&events, facts.function, &file_of);
        let mut is_explained = vec![false; events.len()];
        for (index, condition) in facts.function.conditions.iter().enumerate() {
            match &joined[index] {
                Joined::Event(event) => is_explained[*event] = true,
                Joined::Split(arms) => arms.iter().for_each(|(_, event)| is_explained[*event] = true),
                missing => self.leave_out(condition, missing),
            }
        }
        for decision in &facts.function.decisions {
            let decision_id = DecisionId(self.map.decisions.len() as u32);
            let mut ids = Vec::new();
            for index in &decision.conditions {
                let condition = &facts.function.conditions[*index as usize];
                match &joined[*index as usize] {
                    Joined::Event(event) => {
                        ids.push(self.add_joined(&events[*event], condition, decision_id))
                    }
                    Joined::Split(arms) => {
                        ids.extend(self.add_split(&events, &joined, arms, condition, decision_id))
                    }
                    _ => {}
                }
            }
            if ids.is_empty() {
                continue;
            }
            let is_constant = |index: &&u32| joined[**index as usize] == Joined::Constant;
            let n_constant = decision.conditions.iter().filter(is_constant).count() as u32;
            let extent = self.fact_extent(decision.extent);
            self.push_decision(Some(decision.kind), extent, ids, n_constant);
        }
        for (event, is_explained) in events.iter().zip(is_explained) {
            if !is_explained && event.role == Role::Test {
                self.leave_out_event(event);
            }
        }
    }

    /// A branch without a source condition.
    fn leave_out_event(&mut self, event: &Event) {
        let place = event.place.map(|place| self.files.show(self.place(place))).unwrap_or_default();
        let what = self.subject.ir.symbol.clone();
        self.map.left_out.push(LeftOut { reason: LeftOutReason::Hidden, what, place });
    }

    pub(super) fn push_decision(
        &mut self,
        kind: Option<DecisionKind>,
        extent: Extent,
        conditions: Vec<ConditionId>,
        n_constant: u32,
    ) {
        let texts: Vec<&str> =
            conditions.iter().map(|id| self.map.conditions[id.index()].text.as_str()).collect();
        let text = texts.join("\n");
        let stable_id = self.stable_id("decision", &text);
        self.map.decisions.push(Decision {
            stable_id,
            function: self.function,
            kind,
            extent,
            conditions,
            n_constant,
        });
    }

    pub(super) fn leave_out(&mut self, condition: &ConditionFact, joined: &Joined) {
        let facts = self.subject.facts.expect("conditions come from facts");
        let expression = &facts.function.expressions[condition.expression as usize];
        let place = self.fact_place(condition.extent.start);
        self.map.left_out.push(LeftOut {
            reason: match joined {
                Joined::Constant => LeftOutReason::Constant,
                Joined::Ambiguous => LeftOutReason::Ambiguous,
                Joined::Untested => LeftOutReason::Untested,
                Joined::Dead | Joined::Event(_) | Joined::Split(_) => LeftOutReason::Dead,
            },
            what: expression.text.clone(),
            place: self.files.show(place),
        });
    }

    pub(super) fn add_joined(
        &mut self,
        event: &Event,
        fact: &ConditionFact,
        decision: DecisionId,
    ) -> ConditionId {
        let condition = self.described(fact, decision, kind_of(event));
        self.count(event, condition, fact.is_inverted)
    }

    /// A condition `a ? b : c` that is tested directly: it is true when the arm that was reached is.
    pub(super) fn add_split(
        &mut self,
        events: &[Event],
        joined: &[Joined],
        arms: &[(usize, usize)],
        fact: &ConditionFact,
        decision: DecisionId,
    ) -> Option<ConditionId> {
        let facts = self.subject.facts.expect("joined to facts").function;
        let mut condition = self.described(fact, decision, ConditionKind::Branch);
        let id = ConditionId(self.map.conditions.len() as u32);
        let branch_of = |event: usize| match events[event].kind {
            EventKind::Branch { block } => Some(block),
            _ => None,
        };
        // Arms that are simple tests decide directly.
        let simple: Vec<(usize, bool)> = arms
            .iter()
            .filter_map(|(arm, event)| Some((branch_of(*event)?, fact.arms[*arm].is_inverted)))
            .collect();
        let mut blocks: Vec<usize> = simple.iter().map(|(block, _)| *block).collect();
        let mut decider = simple.first().copied();
        // Of arms that are `&&` or `||`, every condition may lead out, and the last one leads both ways.
        for arm in fact.arms.iter().filter_map(|arm| arm.decision) {
            for index in &facts.decisions[arm as usize].conditions {
                let Joined::Event(event) = joined[*index as usize] else { continue };
                let Some(block) = branch_of(event) else { continue };
                blocks.push(block);
                if facts.decisions[arm as usize].conditions.last() == Some(index) {
                    decider = decider.or(Some((block, facts.conditions[*index as usize].is_inverted)));
                }
            }
        }
        // A constant arm decides as soon as it is reached.
        for arm in &fact.arms {
            let (Some(value), Some((tested, direction))) = (arm.constant, arm.behind) else { continue };
            let Joined::Event(event) = joined[tested as usize] else { continue };
            let Some(block) = branch_of(event) else { continue };
            let [yes, no] = self.branch_counters[&block];
            let counter = if direction != facts.conditions[tested as usize].is_inverted { yes } else { no };
            let counters =
                if value != fact.is_inverted { &mut condition.when_true } else { &mut condition.when_false };
            counters.push(counter);
            condition.block = self.last_piece_id(block);
        }
        if let Some((first, is_inverted)) = decider {
            let IrKind::Branch(_, ways) = self.subject.ir.blocks[first].end() else { return None };
            // Where `!` stands around the whole, clang swaps the targets of every arm.
            let [when_true, when_false] =
                if is_inverted != fact.is_inverted { [ways[1], ways[0]] } else { *ways };
            condition.block = self.last_piece_id(first);
            for block in blocks {
                let IrKind::Branch(_, ways) = self.subject.ir.blocks[block].end() else { continue };
                for (way, counter) in ways.iter().zip(self.branch_counters[&block]) {
                    if *way == when_true {
                        condition.when_true.push(counter);
                    } else if *way == when_false {
                        condition.when_false.push(counter);
                    }
                }
            }
        }
        if condition.when_true.is_empty() && condition.when_false.is_empty() {
            self.leave_out(fact, &Joined::Dead);
            return None;
        }
        for (block, is_inverted) in simple {
            let block = self.last_piece_id(block);
            let edges = &mut self.map.blocks[block.index()].successors;
            let is_inverted = is_inverted != fact.is_inverted;
            for (edge, direction) in edges.iter_mut().zip([!is_inverted, is_inverted]) {
                edge.shows = Some(Branch { condition: id, direction });
            }
        }
        self.map.conditions.push(condition);
        Some(id)
    }

    /// A condition as the facts describe it, without block and counters.
    pub(super) fn described(
        &mut self,
        fact: &ConditionFact,
        decision: DecisionId,
        kind: ConditionKind,
    ) -> Condition {
        let facts = self.subject.facts.expect("joined to facts");
        let expression = &facts.function.expressions[fact.expression as usize];
        let extent = self.fact_extent(fact.extent);
        let stable_id = self.stable_id("condition", &expression.text);
        Condition {
            stable_id,
            function: self.function,
            decision,
            kind,
            text: expression.text.clone(),
            extent,
            macro_name: expression.macro_name.clone(),
            block: BlockId(0),
            when_true: Vec::new(),
            when_false: Vec::new(),
            features: ConditionFeatures {
                stays_in_loop: stays_in_loop(facts.function, fact),
                compares_with: fact.compares_with,
                reads_pointer: fact.reads_pointer,
                reads_local: fact.reads_local,
                uses_external_call: fact.uses_external_call,
                ..ConditionFeatures::default()
            },
            site: Some(SiteId(self.first_site + fact.expression)),
            is_joined: true,
        }
    }

    pub(super) fn add_unjoined(&mut self, event: &Event) {
        let Some(place) = event.place.map(|place| self.place(place)) else { return };
        let extent = Extent { start: place, end: place };
        let stable_id = self.stable_id("condition", "");
        let decision = DecisionId(self.map.decisions.len() as u32);
        let condition = Condition {
            stable_id,
            function: self.function,
            decision,
            kind: kind_of(event),
            text: String::new(),
            extent,
            macro_name: None,
            block: BlockId(0),
            when_true: Vec::new(),
            when_false: Vec::new(),
            features: ConditionFeatures::default(),
            site: None,
            is_joined: false,
        };
        let id = self.count(event, condition, false);
        self.push_decision(None, extent, vec![id], 0);
    }

    /// Gives a condition its block and counters and adds it to the map.
    pub(super) fn count(&mut self, event: &Event, mut condition: Condition, swapped: bool) -> ConditionId {
        let id = ConditionId(self.map.conditions.len() as u32);
        self.marks.push(mark_of(event, id, swapped));
        match event.kind {
            EventKind::Branch { block } => {
                let [yes, no] = self.branch_counters[&block];
                condition.block = self.last_piece_id(block);
                condition.when_true = vec![if swapped { no } else { yes }];
                condition.when_false = vec![if swapped { yes } else { no }];
                let edges = &mut self.map.blocks[condition.block.index()].successors;
                for (edge, direction) in edges.iter_mut().zip([!swapped, swapped]) {
                    edge.shows = Some(Branch { condition: id, direction });
                }
            }
            EventKind::Select { at, condition: value } => {
                condition.block = self.piece_id(at.block, at.instruction);
                self.count_value(
                    &mut condition,
                    Insert::Value { value, at: ValueAt::Before(at), base: CounterId(0) },
                );
            }
            EventKind::Value { block, value } if self.count_test(&mut condition, block, value) => {
                condition.block = self.last_piece_id(block);
            }
            EventKind::Value { block, value } => {
                condition.block = self.last_piece_id(block);
                self.count_value(
                    &mut condition,
                    Insert::Value { value, at: ValueAt::EndOf(block), base: CounterId(0) },
                );
            }
        }
        self.map.conditions.push(condition);
        id
    }

    /// Counts an operand whose phi is branched on at once, as that of `while (a && b)` is. Returns whether it is one.
    ///
    /// Then one way out of the branch is taken exactly when the operand has one value: when it is true in `a && b`,
    /// when it is false in `a || b`. Both share a counter, which the operand counts.
    fn count_test(&mut self, condition: &mut Condition, block: usize, value: Definition) -> bool {
        let Some(test) = operands::test_of(self.subject.ir, block, value) else { return false };
        let Some(shared) = self.branch_counters.get(&test.branch).map(|ways| ways[test.way]) else {
            return false;
        };
        let n_before = self.inserts.len();
        self.inserts.retain(|insert| !matches!(insert, Insert::Edges { counter, .. } if *counter == shared));
        if self.inserts.len() == n_before {
            return false;
        }
        let other = self.new_counter();
        let counters = if test.when { [other, shared] } else { [shared, other] };
        condition.when_false = vec![counters[0]];
        condition.when_true = vec![counters[1]];
        self.inserts.push(Insert::Test { value, block, counters });
        true
    }

    pub(super) fn count_value(&mut self, condition: &mut Condition, insert: Insert) {
        let base = self.new_counter();
        let when_true = self.new_counter();
        condition.when_false = vec![base];
        condition.when_true = vec![when_true];
        let Insert::Value { value, at, .. } = insert else {
            unreachable!("only values are counted by pairs")
        };
        self.inserts.push(Insert::Value { value, at, base });
    }
}

/// The direction that stays in the loop whose condition `&&` or `||` joins: bitcode computes the whole first, so
/// both directions of an operand lead to the same test.
fn stays_in_loop(function: &FunctionFacts, fact: &ConditionFact) -> Option<bool> {
    let decision = &function.decisions[fact.decision as usize];
    let is_loop = matches!(decision.kind, DecisionKind::While | DecisionKind::For | DecisionKind::Do);
    if !is_loop || !decision.is_tested_whole {
        return None;
    }
    let expressions = &function.expressions;
    let around = std::iter::successors(expressions[fact.expression as usize].parent, |parent| {
        expressions[*parent as usize].parent
    });
    let mut operators = around.map(|index| &expressions[index as usize]).take_while(|around| {
        decision.extent.start <= around.extent.start && around.extent.end <= decision.extent.end
    });
    let first = operators.next()?.operator.clone();
    if operators.any(|around| around.operator != first) {
        return None;
    }
    let is_last = decision.conditions.last().map(|last| &function.conditions[*last as usize]) == Some(fact);
    // Of `a && b` any false operand leaves; of `a || b` only the last one does.
    (first == "&&" || first == "||" && is_last).then_some(true)
}

fn mark_of(event: &Event, condition: ConditionId, is_inverted: bool) -> Mark {
    match event.kind {
        EventKind::Branch { block } => Mark::Branch { block, condition, is_inverted },
        EventKind::Select { at, condition: value } => {
            Mark::Value { value, at: ValueAt::Before(at), condition }
        }
        EventKind::Value { block, value } => Mark::Value { value, at: ValueAt::EndOf(block), condition },
    }
}

fn kind_of(event: &Event) -> ConditionKind {
    match event.kind {
        EventKind::Branch { .. } => ConditionKind::Branch,
        EventKind::Select { .. } => ConditionKind::Select,
        EventKind::Value { .. } => ConditionKind::Value,
    }
}
