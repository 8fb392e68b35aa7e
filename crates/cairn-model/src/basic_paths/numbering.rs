//! How many paths lead on from each block, and what each edge adds to a path's number.

use super::flow::{Flow, Node};
use std::collections::BTreeSet;

/// What was found out about the blocks of a function, by position.
#[derive(Debug)]
pub struct Numbering {
    /// How many paths lead on from each block; 0 for what is not reached.
    pub n_paths: Vec<u32>,
    /// The ways out of each block.
    pub ways: Vec<Vec<NumberedWay>>,
}

/// A way out of a block.
#[derive(Clone, Copy, Debug)]
pub struct NumberedWay {
    pub to: usize,
    /// How many paths leave the block by ways that are numbered before this one.
    pub addend: u32,
    /// Whether paths end by taking it.
    pub ends_path: bool,
}

impl Numbering {
    /// Where paths begin that are not the function's entry.
    pub fn restarts(&self) -> BTreeSet<usize> {
        self.ways.iter().flatten().filter(|way| way.ends_path).map(|way| way.to).collect()
    }
}

/// Numbers the paths of a function, at most `limit` from one start unless a single block has more ways out.
///
/// Paths are cut at two kinds of places. Where ways meet and half of the limit lies ahead, all of them end: cut before
/// the ways part, each would have the rest of the paths for itself. What is still too much is cut at its widest edges.
pub fn number(flow: &Flow, limit: u32) -> Numbering {
    let mut numbering =
        Numbering { n_paths: vec![0; flow.nodes.len()], ways: vec![Vec::new(); flow.nodes.len()] };
    let mut is_cut: Vec<bool> = flow.nodes.iter().map(|node| node.unwinds_back).collect();
    for &at in &flow.backwards {
        let node = &flow.nodes[at];
        if node.end.is_some() {
            numbering.n_paths[at] = 1;
        } else {
            let mut ways = Ways::of(node, &numbering.n_paths, &is_cut);
            ways.cut(node, limit);
            numbering.n_paths[at] = ways.total();
            numbering.ways[at] = ways.number(node);
        }
        // Nothing can be inserted on edges that unwind: whatever happens there is the same for all of them.
        let is_meeting = node.n_ways_in > 1 || node.is_landing_pad;
        is_cut[at] |= is_meeting && numbering.n_paths[at] > limit / 2;
    }
    numbering
}

/// The ways out of a block: how many paths take each, and whether they end there.
struct Ways(Vec<(u32, bool)>);

impl Ways {
    fn of(node: &Node, n_paths: &[u32], is_cut: &[bool]) -> Self {
        let ways = node.ways.iter().map(|way| match way.is_back || is_cut[way.to] {
            true => (1, true),
            false => (n_paths[way.to], false),
        });
        Self(ways.collect())
    }

    fn total(&self) -> u32 {
        self.0.iter().map(|(n, _)| n).sum()
    }

    /// Ends paths on the widest ways, until what is left is within the limit.
    fn cut(&mut self, node: &Node, limit: u32) {
        while self.total() > limit {
            let widest = (0..self.0.len())
                .filter(|index| self.0[*index].0 > 1 && !node.ways[*index].unwinds)
                .max_by_key(|index| (self.0[*index].0, std::cmp::Reverse(*index)));
            let Some(widest) = widest else { return };
            self.0[widest] = (1, true);
        }
    }

    /// Numbers the ways in order, but the one that unwinds first, so that it adds nothing.
    fn number(&self, node: &Node) -> Vec<NumberedWay> {
        let unwinding: u32 =
            self.0.iter().zip(&node.ways).filter(|(_, way)| way.unwinds).map(|((n, _), _)| n).sum();
        let mut next = unwinding;
        let number = |((n_paths, ends_path), way): (&(u32, bool), &super::flow::Way)| {
            let addend = if way.unwinds { 0 } else { next };
            next += if way.unwinds { 0 } else { *n_paths };
            NumberedWay { to: way.to, addend, ends_path: *ends_path }
        };
        self.0.iter().zip(&node.ways).map(number).collect()
    }
}
