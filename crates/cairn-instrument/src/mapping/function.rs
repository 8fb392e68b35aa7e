//! Adds one function to the map and plans its counters.

use super::{FactsRef, Group, features, files::FileTable, switches};
use crate::{
    ir::{Callee, IrFunction, IrKind, IrModule, IrPlace},
    join::{self, Event, EventKind, Joined},
    plan::{Insert, ValueAt},
    returns::Returns,
    scope::Scope,
    structure::Structure,
};
use cairn_model::{
    BlockId, ConditionId, CounterId, DecisionId, FunctionId, ProgramMap, SiteId, StableId,
    facts::{ConditionFact, DecisionKind, LabelFact, SwitchFact},
    map::{
        Block, Branch, Call, Condition, ConditionFeatures, ConditionKind, Decision, Edge, Extent, Function,
        LeftOut, LeftOutReason, Place, Site,
    },
};
use std::collections::HashMap;

/// What a function is added from.
pub struct Subject<'a> {
    /// The module.
    pub module: &'a IrModule,
    /// The function, first of its group.
    pub ir: &'a IrFunction,
    /// Its copies.
    pub group: &'a Group,
    /// What the front end knows of it.
    pub facts: Option<FactsRef<'a>>,
    /// Which calls come back.
    pub returns: &'a Returns,
    /// Whom calls reach.
    pub calls: &'a CallTargets,
    /// What is counted.
    pub scope: &'a Scope,
}

/// Whom calls may reach.
pub struct CallTargets {
    id_of: Vec<Option<FunctionId>>,
    by_signature: HashMap<String, Vec<FunctionId>>,
}

impl CallTargets {
    /// Collects the functions whose address is taken, by type.
    pub fn of(module: &IrModule, id_of: &[Option<FunctionId>]) -> Self {
        let mut by_signature: HashMap<String, Vec<FunctionId>> = HashMap::new();
        for (function, id) in module.functions.iter().zip(id_of) {
            if let (true, Some(id)) = (function.address_taken, id) {
                by_signature.entry(function.signature.clone()).or_default().push(*id);
            }
        }
        for ids in by_signature.values_mut() {
            ids.sort();
            ids.dedup();
        }
        Self { id_of: id_of.to_vec(), by_signature }
    }

    fn call(&self, callee: &Callee, place: Option<Place>) -> Option<Call> {
        let (callees, external, is_indirect) = match callee {
            Callee::Intrinsic => return None,
            Callee::Defined(index) => (self.id_of[*index].into_iter().collect(), None, false),
            Callee::External { name, .. } => (Vec::new(), Some(name.clone()), false),
            Callee::Indirect(signature) => {
                (self.by_signature.get(signature).cloned().unwrap_or_default(), None, true)
            }
        };
        Some(Call { callees, external, is_indirect, place })
    }
}

/// Adds the function to the map; returns what to insert into each of its copies.
pub fn add(
    map: &mut ProgramMap,
    n_counters: &mut u32,
    files: &mut FileTable,
    subject: &Subject,
) -> Vec<Insert> {
    let source = subject.ir.source.as_ref().expect("groups hold functions with debug information");
    let in_scope = subject.scope.includes(&subject.group.path, &source.name) && !subject.ir.is_naked;
    if subject.ir.is_naked {
        map.left_out.push(LeftOut {
            reason: LeftOutReason::Naked,
            what: source.name.clone(),
            place: format!("{}:{}", subject.group.path, source.line),
        });
    }
    let structure = Structure::of(subject.ir, subject.returns);
    let mut builder = Builder {
        function: FunctionId(map.functions.len() as u32),
        first_block: map.blocks.len() as u32,
        first_condition: map.conditions.len(),
        first_site: map.sites.len() as u32,
        in_scope,
        n_counters,
        structure: &structure,
        inserts: Vec::new(),
        branch_counters: HashMap::new(),
        ordinals: HashMap::new(),
        map,
        files,
        subject,
    };
    builder.add_function();
    builder.add_blocks();
    if in_scope {
        builder.add_sites();
        builder.add_conditions();
        builder.add_switches();
        let blocks = builder.map.functions.last().expect("just added").blocks.clone();
        let conditions = builder.first_condition..builder.map.conditions.len();
        features::fill(builder.map, blocks, conditions);
    } else {
        builder.add_switches();
    }
    builder.inserts
}

struct Builder<'a> {
    function: FunctionId,
    first_block: u32,
    first_condition: usize,
    first_site: u32,
    in_scope: bool,
    n_counters: &'a mut u32,
    structure: &'a Structure,
    inserts: Vec<Insert>,
    /// The counters of the true and the false way out of a block that ends with a conditional branch.
    branch_counters: HashMap<usize, [CounterId; 2]>,
    /// How many things of one kind and text were met, so that equals get different stable ids.
    ordinals: HashMap<(&'static str, String), u32>,
    map: &'a mut ProgramMap,
    files: &'a mut FileTable,
    subject: &'a Subject<'a>,
}

impl Builder<'_> {
    fn stable_id(&mut self, kind: &'static str, text: &str) -> StableId {
        let ordinal = self.ordinals.entry((kind, text.to_string())).or_default();
        let group = self.subject.group;
        let variant = group.variant.to_string();
        let id =
            StableId::from_key(&[&group.path, &group.symbol, &variant, kind, text, &ordinal.to_string()]);
        *ordinal += 1;
        id
    }

    fn new_counter(&mut self) -> CounterId {
        *self.n_counters += 1;
        CounterId(*self.n_counters - 1)
    }

    /// A counter, unless the function is out of scope.
    fn counter(&mut self, insert: impl FnOnce(CounterId) -> Insert) -> Option<CounterId> {
        if !self.in_scope {
            return None;
        }
        let counter = self.new_counter();
        self.inserts.push(insert(counter));
        Some(counter)
    }

    fn place(&self, place: IrPlace) -> Place {
        // Files of the bitcode have the same numbers in the map.
        Place { file: place.file, line: place.line, column: place.column }
    }

    fn fact_place(&mut self, place: Place) -> Place {
        let facts = self.subject.facts.expect("only asked about facts that exist");
        Place { file: self.files.intern(&facts.files[place.file as usize]), ..place }
    }

    fn fact_extent(&mut self, extent: Extent) -> Extent {
        Extent { start: self.fact_place(extent.start), end: self.fact_place(extent.end) }
    }

    fn block_id(&self, ir_block: usize) -> BlockId {
        BlockId(self.first_block + self.structure.first_piece[ir_block] as u32)
    }

    /// The piece that holds an instruction.
    fn piece_id(&self, ir_block: usize, instruction: usize) -> BlockId {
        let first = self.structure.first_piece[ir_block];
        let offset = self.structure.pieces[first..]
            .iter()
            .take_while(|piece| piece.block == ir_block)
            .position(|piece| piece.instructions.contains(&instruction))
            .unwrap_or(0);
        BlockId(self.first_block + (first + offset) as u32)
    }

    fn last_piece_id(&self, ir_block: usize) -> BlockId {
        self.piece_id(ir_block, self.subject.ir.blocks[ir_block].instructions.len() - 1)
    }

    fn add_function(&mut self) {
        let source = self.subject.ir.source.as_ref().expect("groups hold functions with debug information");
        let last_line = self
            .structure
            .pieces
            .iter()
            .flat_map(|piece| &piece.lines)
            .filter(|(file, _)| *file == source.file)
            .map(|(_, line)| *line)
            .max();
        let (column, end_line) = match self.subject.facts {
            Some(facts) => (facts.function.place.column, facts.function.extent.end.line),
            None => (1, last_line.unwrap_or(source.line)),
        };
        let stable_id = self.stable_id("function", "");
        self.map.functions.push(Function {
            stable_id,
            name: source.name.clone(),
            symbol: self.subject.ir.symbol.clone(),
            place: Place { file: source.file, line: source.line, column },
            end_line,
            blocks: self.first_block..self.first_block + self.structure.pieces.len() as u32,
            in_scope: self.in_scope,
            n_copies: self.subject.group.members.len() as u32,
        });
    }

    fn add_blocks(&mut self) {
        let structure = self.structure;
        for (index, piece) in structure.pieces.iter().enumerate() {
            let ir_block = &self.subject.ir.blocks[piece.block];
            let counter = piece.needs_counter.then_some(()).and_then(|()| {
                let (block, instruction) = (piece.block, piece.instructions.start);
                self.counter(|counter| Insert::Before { block, instruction, counter })
            });
            let calls = ir_block.instructions[piece.instructions.clone()]
                .iter()
                .filter_map(|instruction| match &instruction.kind {
                    IrKind::Call(callee) | IrKind::Invoke(callee, _) => {
                        self.subject.calls.call(callee, instruction.place.map(|place| self.place(place)))
                    }
                    _ => None,
                })
                .collect();
            let successors = if piece.is_last {
                self.ways_out(piece.block)
            } else {
                let to = BlockId(self.first_block + index as u32 + 1);
                vec![Edge { to, counter: None, shows: None, is_sure: false }]
            };
            self.map.blocks.push(Block {
                lines: piece.lines.iter().copied().collect(),
                successors,
                calls,
                counter,
                returns: piece.is_last && matches!(ir_block.end(), IrKind::Return),
            });
        }
    }

    /// The edges after the last piece of a block. Those of a switch are added later, by label.
    fn ways_out(&mut self, block: usize) -> Vec<Edge> {
        let edge = |to, counter: Option<CounterId>, is_sure| Edge { to, counter, shows: None, is_sure };
        match self.subject.ir.blocks[block].end() {
            IrKind::Jump(to) => vec![edge(self.block_id(*to), None, true)],
            IrKind::Branch(_, [yes, no]) => {
                let ways = [*yes, *no].map(|to| self.block_id(to));
                let counters = [0, 1].map(|successor| {
                    self.counter(|counter| Insert::Edges { block, successors: vec![successor], counter })
                });
                if let [Some(yes), Some(no)] = counters {
                    self.branch_counters.insert(block, [yes, no]);
                }
                (0..2).map(|way| edge(ways[way], counters[way], false)).collect()
            }
            IrKind::Invoke(_, [normal, unwind]) => {
                let (normal, unwind) = (self.block_id(*normal), self.block_id(*unwind));
                let counter = self.counter(|counter| Insert::Edges { block, successors: vec![0], counter });
                vec![edge(normal, counter, false), edge(unwind, None, false)]
            }
            IrKind::OtherEnd(ways) => ways.iter().map(|to| edge(self.block_id(*to), None, false)).collect(),
            _ => Vec::new(),
        }
    }

    fn add_sites(&mut self) {
        let Some(facts) = self.subject.facts else { return };
        for expression in &facts.function.expressions {
            let stable_id = self.stable_id("site", &format!("{:?} {}", expression.kind, expression.text));
            let extent = self.fact_extent(expression.extent);
            self.map.sites.push(Site {
                stable_id,
                function: self.function,
                parent: expression.parent.map(|parent| SiteId(self.first_site + parent)),
                kind: expression.kind,
                operator: expression.operator.clone(),
                value_type: expression.value_type.clone(),
                text: expression.text.clone(),
                extent,
                macro_name: expression.macro_name.clone(),
            });
        }
    }

    fn add_conditions(&mut self) {
        let events = join::events(self.subject.ir);
        let Some(facts) = self.subject.facts else {
            for event in &events {
                self.add_unjoined(event);
            }
            return;
        };
        let ir_files: HashMap<&str, u32> = self
            .subject
            .module
            .files
            .iter()
            .enumerate()
            .map(|(index, file)| (file.as_str(), index as u32))
            .collect();
        let file_of = |file: u32| {
            let path = super::files::normal(&facts.files[file as usize]);
            ir_files.get(path.as_str()).copied()
        };
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
        for (event, _) in events.iter().zip(is_explained).filter(|(_, is_explained)| !is_explained) {
            let place = event.place.map(|place| self.files.show(self.place(place))).unwrap_or_default();
            let what = self.subject.ir.symbol.clone();
            self.map.left_out.push(LeftOut { reason: LeftOutReason::Hidden, what, place });
        }
    }

    fn push_decision(
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

    fn leave_out(&mut self, condition: &ConditionFact, joined: &Joined) {
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

    fn add_joined(&mut self, event: &Event, fact: &ConditionFact, decision: DecisionId) -> ConditionId {
        let condition = self.described(fact, decision, kind_of(event));
        self.count(event, condition, fact.is_inverted)
    }

    /// A condition `a ? b : c` that is tested directly: it is true when the arm that was reached is.
    fn add_split(
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
        let (first, is_inverted) = decider?;
        let IrKind::Branch(_, ways) = self.subject.ir.blocks[first].end() else { return None };
        let [when_true, when_false] = if is_inverted { [ways[1], ways[0]] } else { *ways };
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
        for (block, is_inverted) in simple {
            let block = self.last_piece_id(block);
            let edges = &mut self.map.blocks[block.index()].successors;
            for (edge, direction) in edges.iter_mut().zip([!is_inverted, is_inverted]) {
                edge.shows = Some(Branch { condition: id, direction });
            }
        }
        self.map.conditions.push(condition);
        Some(id)
    }

    /// A condition as the facts describe it, without block and counters.
    fn described(&mut self, fact: &ConditionFact, decision: DecisionId, kind: ConditionKind) -> Condition {
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

    fn add_unjoined(&mut self, event: &Event) {
        let source = self.subject.ir.source.as_ref().expect("groups hold functions with debug information");
        let place = match event.place {
            Some(place) => self.place(place),
            None => Place { file: source.file, line: source.line, column: 1 },
        };
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
    fn count(&mut self, event: &Event, mut condition: Condition, swapped: bool) -> ConditionId {
        let id = ConditionId(self.map.conditions.len() as u32);
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

    fn count_value(&mut self, condition: &mut Condition, insert: Insert) {
        let base = self.new_counter();
        let when_true = self.new_counter();
        condition.when_false = vec![base];
        condition.when_true = vec![when_true];
        let Insert::Value { value, at, .. } = insert else {
            unreachable!("only values are counted by pairs")
        };
        self.inserts.push(Insert::Value { value, at, base });
    }

    fn add_switches(&mut self) {
        let ir = self.subject.ir;
        for (block, ir_block) in ir.blocks.iter().enumerate() {
            let IrKind::Switch(switch) = ir_block.end() else { continue };
            let facts = self.subject.facts.and_then(|facts| {
                let module = self.subject.module;
                let file_of = |file: u32| {
                    let path = super::files::normal(&facts.files[file as usize]);
                    module.files.iter().position(|other| *other == path).map(|index| index as u32)
                };
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
    fn label_target(&mut self, way: &switches::LabelWay) -> BlockId {
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
    fn add_labels(
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
        let has_way = |label: &LabelFact| ways.iter().any(|way| way.label.is_some_and(|other| std::ptr::eq(other, label)));
        let is_large_range = |label: &LabelFact| label.range.is_some_and(|(low, high)| low != high) && !has_way(label);
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

/// The text of the condition that stands for a `default` nobody wrote.
pub const IMPLICIT_DEFAULT: &str = "(no case)";

fn kind_of(event: &Event) -> ConditionKind {
    match event.kind {
        EventKind::Branch { .. } => ConditionKind::Branch,
        EventKind::Select { .. } => ConditionKind::Select,
        EventKind::Value { .. } => ConditionKind::Value,
    }
}
