//! The basic-path view: which basic paths a run takes.
//!
//! [`BasicPaths`] numbers the paths of the map. [`build`] finds where in the bitcode the blocks and edges of the map are, and
//! decides what is done to a path's number there; [`lower()`] carries that out on a fresh copy. In this view the counters
//! are the paths, and nothing else is counted.

mod lower;

pub use lower::lower;

use crate::{
    ir::{IrFunction, IrKind, IrModule},
    mapping::{self, Options},
    plan::{Insert, Plan},
    returns::Returns,
    structure::{Piece, Structure},
};
use cairn_model::{
    BasicPaths, BlockId, CounterId, FunctionId, ProgramMap,
    basic_paths::{End, Step},
};
use std::collections::{BTreeMap, HashMap};

/// What to insert into the functions of a module to count basic paths.
#[derive(Debug, Default)]
pub struct PathPlan {
    /// By function in module order; empty for functions without paths.
    pub functions: Vec<Vec<PathInsert>>,
    /// How many paths there are.
    pub n_paths: u32,
}

/// Something to do where control passes. Positions are those of the unchanged function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathInsert {
    /// Where.
    pub at: Spot,
    /// What, in order.
    pub changes: Vec<Change>,
}

/// A place in a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Where control comes to an instruction. What is inserted at one instruction is done in order.
    Before {
        /// Block index.
        block: usize,
        /// Instruction index.
        instruction: usize,
    },
    /// Where any of these ways out of a block is taken.
    Edges {
        /// Block index.
        block: usize,
        /// Successor numbers of its terminator, all leading to one block.
        successors: Vec<u32>,
    },
}

/// What is done to the number of the path that is being taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It becomes this.
    Set(u32),
    /// It grows by this.
    Add(u32),
    /// It is counted.
    Count,
}

/// Plans the view of a module, of which `map` and `plan` were made under the same options.
pub fn build(module: &IrModule, map: &ProgramMap, plan: &Plan, options: &Options) -> PathPlan {
    let paths = BasicPaths::of(map);
    let returns = Returns::of(module);
    let mut path_plan =
        PathPlan { functions: vec![Vec::new(); module.functions.len()], n_paths: paths.n_paths() };
    for (id, source) in (0..).map(FunctionId).zip(mapping::sources(module, options)) {
        let Some(entry) = paths.entry(id) else { continue };
        let first = source.members[0];
        let ir = &module.functions[first];
        let subject = Subject {
            ir,
            structure: &Structure::of(ir, &returns),
            first_block: map.functions[id.index()].entry(),
            successors_of: successors_by_counter(&plan.functions[first]),
            map,
            paths: &paths,
        };
        let inserts = subject.inserts(entry.0);
        for member in source.members {
            path_plan.functions[member] = inserts.clone();
        }
    }
    path_plan
}

/// The ways out of blocks that have counters.
fn successors_by_counter(inserts: &[Insert]) -> HashMap<CounterId, &[u32]> {
    let edges = inserts.iter().filter_map(|insert| match insert {
        Insert::Edges { successors, counter, .. } => Some((*counter, &successors[..])),
        _ => None,
    });
    edges.collect()
}

/// A function of the map and of the bitcode.
struct Subject<'a> {
    ir: &'a IrFunction,
    structure: &'a Structure,
    first_block: BlockId,
    successors_of: HashMap<CounterId, &'a [u32]>,
    map: &'a ProgramMap,
    paths: &'a BasicPaths,
}

impl Subject<'_> {
    fn inserts(&self, entry: u32) -> Vec<PathInsert> {
        let mut inserts = vec![before(0, 0, vec![Change::Set(entry)])];
        // A path may end where control comes to a landing pad and the next where that begins.
        inserts.extend(self.landing_pads().into_iter().map(|(block, changes)| before(block, 0, changes)));
        for (id, piece) in self.pieces() {
            match self.paths.end(id) {
                Some(End::Returns) => {
                    inserts.push(before(piece.block, piece.instructions.end - 1, vec![Change::Count]));
                }
                Some(_) => inserts.push(before(piece.block, piece.instructions.start, vec![Change::Count])),
                None => inserts.extend(self.edges(id, piece)),
            }
        }
        inserts.retain(|insert| !insert.changes.is_empty());
        inserts
    }

    fn pieces(&self) -> impl Iterator<Item = (BlockId, &Piece)> {
        (self.first_block.0..).map(BlockId).zip(&self.structure.pieces)
    }

    /// What happens at landing pads, by block: the same whatever unwinds there.
    fn landing_pads(&self) -> BTreeMap<usize, Vec<Change>> {
        let unwinding = self.pieces().filter_map(|(id, piece)| match self.ir.blocks[piece.block].end() {
            IrKind::Invoke(_, [_, pad]) if piece.is_last => Some((*pad, self.changes(id, 1)?)),
            _ => None,
        });
        unwinding.collect()
    }

    /// What happens on the edges of a block, but for those that unwind.
    fn edges(&self, id: BlockId, piece: &Piece) -> Vec<PathInsert> {
        let block = piece.block;
        let at_end = Spot::Before { block, instruction: piece.instructions.end - 1 };
        let edges = self.map.blocks[id.index()].successors.iter().enumerate();
        let insert = |(index, edge): (usize, &cairn_model::map::Edge)| {
            let at = match self.ir.blocks[block].end() {
                _ if !piece.is_last => Spot::Before { block, instruction: piece.instructions.end },
                IrKind::Branch(..) => Spot::Edges { block, successors: vec![index as u32] },
                IrKind::Invoke(..) if index == 0 => Spot::Edges { block, successors: vec![0] },
                IrKind::Invoke(..) => return None,
                IrKind::Switch(_) => {
                    let successors = self.successors_of.get(&edge.counter?)?.to_vec();
                    Spot::Edges { block, successors }
                }
                _ => at_end.clone(),
            };
            Some(PathInsert { at, changes: self.changes(id, index)? })
        };
        edges.filter_map(insert).collect()
    }

    /// What happens on an edge of the map.
    fn changes(&self, from: BlockId, edge: usize) -> Option<Vec<Change>> {
        let mut changes = changes_of(self.paths.step(from, edge)?);
        // A label without code has a block in the map only; its one edge is taken with the edge to it.
        let to = self.map.blocks[from.index()].successors[edge].to;
        if (to.0 - self.first_block.0) as usize >= self.structure.pieces.len() {
            changes.extend(changes_of(self.paths.step(to, 0)?));
        }
        Some(changes)
    }
}

fn before(block: usize, instruction: usize, changes: Vec<Change>) -> PathInsert {
    PathInsert { at: Spot::Before { block, instruction }, changes }
}

fn changes_of(step: Step) -> Vec<Change> {
    let add = |addend| (addend > 0).then_some(Change::Add(addend));
    match step {
        Step::Add(addend) => add(addend).into_iter().collect(),
        Step::Restart { addend, next } => {
            add(addend).into_iter().chain([Change::Count, Change::Set(next.0)]).collect()
        }
    }
}
