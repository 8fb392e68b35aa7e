//! The function itself and its blocks.

use super::Builder;
use crate::{ir::IrKind, plan::Insert};
use cairn_model::{
    BlockId, CounterId,
    map::{Block, Edge, Function, Place},
};

impl Builder<'_> {
    pub(super) fn add_function(&mut self) {
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

    pub(super) fn add_blocks(&mut self) {
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
    pub(super) fn ways_out(&mut self, block: usize) -> Vec<Edge> {
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
}
