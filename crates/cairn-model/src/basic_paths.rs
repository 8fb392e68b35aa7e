//! Basic paths: the ways through each function on which nothing is passed twice.
//!
//! A basic path begins at a function's entry or where an edge back leads, and ends at a return or by taking an edge back
//! (Ball and Larus, [Efficient Path Profiling](https://doi.org/10.1109/MICRO.1996.566449)). A loop that is not entered,
//! entered once and entered again therefore shows as three different sets of paths.
//!
//! [`BasicPaths::of`] numbers them from the blocks and edges of the map alone, so the instrumenter and whoever reads
//! counters agree without another file. A run keeps one number for each function that is running: it is set at the entry
//! ([`BasicPaths::entry`]), changes on edges ([`BasicPaths::step`]) and is the path's id where the path ends.
//!
//! Not every way is a path of its own:
//!
//! - From one start there are at most [`MOST_FROM_ONE_START`] paths. Where there would be more, some end in the middle of
//!   the function and go on as others, as if the edge led back.
//! - A block that ends in a call that never comes back ends its path, which counts when the block begins. A function that
//!   is left in another call, by `exit`, `longjmp` or an exception, has not ended its path, and none is counted.
//! - Functions out of scope have no paths, nor have those with a computed `goto` or an `asm goto`: nothing can be inserted
//!   on these edges.

mod describe;
mod flow;
mod numbering;
#[cfg(test)]
mod tests;

use crate::{
    ids::{BasicPathId, BlockId, FunctionId},
    map::{Branch, ProgramMap},
};
use flow::Flow;
use std::collections::BTreeMap;

/// The most paths that begin in one place, unless a single block has more ways out.
///
/// Every path has a counter that is cleared, copied and read with each run, so there should not be many more than a small run executes
/// instructions. Seven conditions in a row still are told apart whole.
pub const MOST_FROM_ONE_START: u32 = 128;

/// The basic paths of a program, numbered.
#[derive(Clone, Debug)]
pub struct BasicPaths {
    /// Where paths begin, in the order of their numbers.
    origins: Vec<Origin>,
    /// By function: the number at its entry, if it has paths.
    entries: Vec<Option<BasicPathId>>,
    /// By block id.
    nodes: Vec<Node>,
    n_paths: u32,
}

/// Where paths begin that are numbered from `first` on.
#[derive(Clone, Debug)]
struct Origin {
    function: FunctionId,
    start: Start,
    block: BlockId,
    first: BasicPathId,
}

/// A block as paths pass it.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Why paths end in it, if they do.
    end: Option<End>,
    /// One for each edge of the map, none in blocks that no path passes.
    ways: Vec<Way>,
}

#[derive(Clone, Debug)]
struct Way {
    to: BlockId,
    step: Step,
    is_back: bool,
    unwinds: bool,
}

impl Way {
    fn addend(&self) -> u32 {
        match self.step {
            Step::Add(addend) | Step::Restart { addend, .. } => addend,
        }
    }
}

/// What taking an edge does to the number that a running function keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It grows; by 0 on most edges.
    Add(u32),
    /// It grows and is the id of a path that has ended. Then it is set for the next.
    Restart {
        /// By how much it grows.
        addend: u32,
        /// What it is set to.
        next: BasicPathId,
    },
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Start {
    /// At the function's entry.
    Entry,
    /// At this block, where another path has ended.
    Again(BlockId),
}

/// How a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// The function returns.
    Returns,
    /// Its last block does not come to an end: the program or the function is left there in another way.
    Exits,
    /// Control comes to this block, where another path begins.
    GoesOn(BlockId),
}

/// One basic path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicPath {
    /// Its function.
    pub function: FunctionId,
    /// The blocks it passes, at least one.
    pub blocks: Vec<BlockId>,
    /// Where it begins.
    pub start: Start,
    /// How it ends.
    pub end: End,
}

/// A path as it was found by its number: where it begins, and each block with the edge that is taken there.
struct Walk<'a> {
    origin: &'a Origin,
    blocks: Vec<BlockId>,
    /// As many as blocks, or one less where the path ends in a block.
    edges: Vec<usize>,
}

impl BasicPaths {
    /// Numbers the paths of all functions in scope.
    pub fn of(map: &ProgramMap) -> Self {
        Self::with_limit(map, MOST_FROM_ONE_START)
    }

    fn with_limit(map: &ProgramMap, limit: u32) -> Self {
        let mut paths = Self {
            origins: Vec::new(),
            entries: vec![None; map.functions.len()],
            nodes: vec![Node::default(); map.blocks.len()],
            n_paths: 0,
        };
        for (index, function) in map.functions.iter().enumerate() {
            let range = function.blocks.start as usize..function.blocks.end as usize;
            if function.in_scope
                && let Some(flow) = Flow::of(&map.blocks[range], function.entry())
            {
                paths.add(FunctionId(index as u32), &flow, limit);
            }
        }
        paths
    }

    fn add(&mut self, function: FunctionId, flow: &Flow, limit: u32) {
        let numbers = numbering::number(flow, limit);
        let id = |position: usize| BlockId(flow.first.0 + position as u32);
        self.entries[function.index()] =
            Some(self.begin(function, Start::Entry, flow.first, numbers.n_paths[0]));
        let mut firsts = BTreeMap::new();
        for position in numbers.restarts() {
            let block = id(position);
            let n_paths = numbers.n_paths[position];
            firsts.insert(position, self.begin(function, Start::Again(block), block, n_paths));
        }
        for (position, node) in flow.nodes.iter().enumerate().filter(|(_, node)| node.is_reached) {
            let ways = node.ways.iter().zip(&numbers.ways[position]).map(|(way, number)| {
                let addend = number.addend;
                let step = match number.ends_path {
                    true => Step::Restart { addend, next: firsts[&way.to] },
                    false => Step::Add(addend),
                };
                Way { to: id(way.to), step, is_back: way.is_back, unwinds: way.unwinds }
            });
            self.nodes[id(position).index()] = Node { end: node.end, ways: ways.collect() };
        }
    }

    fn begin(&mut self, function: FunctionId, start: Start, block: BlockId, n_paths: u32) -> BasicPathId {
        let first = BasicPathId(self.n_paths);
        self.n_paths += n_paths;
        self.origins.push(Origin { function, start, block, first });
        first
    }

    /// How many there are; ids are below.
    pub fn n_paths(&self) -> u32 {
        self.n_paths
    }

    /// The function a path belongs to.
    pub fn function_of(&self, id: BasicPathId) -> FunctionId {
        self.origin(id).function
    }

    /// What a path is. Panics if there is none with this id.
    pub fn path(&self, id: BasicPathId) -> BasicPath {
        let walk = self.walk(id);
        let last = *walk.blocks.last().expect("a path passes a block");
        let end = match walk.last_way(self) {
            Some(way) => End::GoesOn(way.to),
            None => self.nodes[last.index()].end.expect("a path without a last edge ends in its last block"),
        };
        BasicPath { function: walk.origin.function, start: walk.origin.start, blocks: walk.blocks, end }
    }

    /// The branches taken along a path, in order, as far as its edges show them.
    pub fn branches(&self, map: &ProgramMap, id: BasicPathId) -> Vec<Branch> {
        let walk = self.walk(id);
        let edges = walk.blocks.iter().zip(&walk.edges);
        edges.filter_map(|(block, edge)| map.blocks[block.index()].successors[*edge].shows).collect()
    }

    /// The number at the entry of a function; `None` if it has no paths.
    pub fn entry(&self, function: FunctionId) -> Option<BasicPathId> {
        self.entries[function.index()]
    }

    /// What taking an edge of a block, by its position there, does to the number; `None` if no path passes the block
    /// or takes the edge.
    pub fn step(&self, block: BlockId, edge: usize) -> Option<Step> {
        self.nodes[block.index()].ways.get(edge).map(|way| way.step)
    }

    /// How paths end in a block, if they do: where it returns, or, if it exits, as soon as it begins.
    pub fn end(&self, block: BlockId) -> Option<End> {
        self.nodes[block.index()].end
    }

    fn origin(&self, id: BasicPathId) -> &Origin {
        assert!(id.0 < self.n_paths, "there is no basic path {}", id.0);
        &self.origins[self.origins.partition_point(|origin| origin.first <= id) - 1]
    }

    fn walk(&self, id: BasicPathId) -> Walk<'_> {
        let origin = self.origin(id);
        let mut walk = Walk { origin, blocks: vec![origin.block], edges: Vec::new() };
        let mut rest = id.0 - origin.first.0;
        let mut at = origin.block;
        // Addends of one block differ, and what follows an edge adds less than the next larger one.
        while let Some((edge, way)) = (self.nodes[at.index()].ways.iter().enumerate())
            .filter(|(_, way)| way.addend() <= rest)
            .max_by_key(|(_, way)| way.addend())
        {
            walk.edges.push(edge);
            rest -= way.addend();
            if matches!(way.step, Step::Restart { .. }) {
                break;
            }
            at = way.to;
            walk.blocks.push(at);
        }
        debug_assert_eq!(rest, 0, "a number is used up by its path");
        walk
    }
}

impl Walk<'_> {
    /// The edge by which the path ends, unless it ends in a block.
    fn last_way<'a>(&self, paths: &'a BasicPaths) -> Option<&'a Way> {
        if self.edges.len() < self.blocks.len() {
            return None;
        }
        let (block, edge) = (self.blocks.last()?, self.edges.last()?);
        Some(&paths.nodes[block.index()].ways[*edge])
    }
}
