//! The edges of one function, and which of them lead back.

use super::End;
use crate::{ids::BlockId, map::Block};

/// A function as paths pass it. Blocks are known by their position in the function; the entry is the first.
#[derive(Debug)]
pub struct Flow {
    pub first: BlockId,
    pub nodes: Vec<Node>,
    /// The blocks that can be reached, each behind all to which it has an edge that does not lead back.
    pub backwards: Vec<usize>,
}

#[derive(Debug, Default)]
pub struct Node {
    /// Why paths end in it, if they do. Then it has no ways out.
    pub end: Option<End>,
    pub ways: Vec<Way>,
    /// How many edges that do not lead back lead into it.
    pub n_ways_in: usize,
    pub is_reached: bool,
    /// Whether control comes there by unwinding.
    pub is_landing_pad: bool,
    /// Whether an edge leads back by unwinding into it.
    pub unwinds_back: bool,
}

#[derive(Debug)]
pub struct Way {
    pub to: usize,
    pub is_back: bool,
    /// Whether it is taken by unwinding, so that nothing can be inserted on it.
    pub unwinds: bool,
}

impl Flow {
    /// Follows the edges from the entry; `None` if something cannot be followed.
    pub fn of(blocks: &[Block], first: BlockId) -> Option<Self> {
        if blocks.is_empty() || blocks.iter().zip(0..).any(|(block, at)| is_computed(block, first.0 + at)) {
            return None;
        }
        let nodes = blocks.iter().enumerate().map(|(at, block)| node(blocks, at, block, first)).collect();
        let mut flow = Self { first, nodes, backwards: Vec::new() };
        flow.search();
        flow.note_ways_in();
        Some(flow)
    }

    /// Depth first, in the order of edges. An edge to a block whose own edges are still being followed leads back.
    fn search(&mut self) {
        let mut is_open = vec![false; self.nodes.len()];
        let mut stack = vec![(0, 0)];
        self.nodes[0].is_reached = true;
        is_open[0] = true;
        while let Some((at, edge)) = stack.last_mut() {
            let Some(way) = self.nodes[*at].ways.get_mut(*edge) else {
                is_open[*at] = false;
                self.backwards.push(*at);
                stack.pop();
                continue;
            };
            *edge += 1;
            let to = way.to;
            way.is_back = is_open[to];
            if !std::mem::replace(&mut self.nodes[to].is_reached, true) {
                is_open[to] = true;
                stack.push((to, 0));
            }
        }
    }

    fn note_ways_in(&mut self) {
        for &from in &self.backwards {
            for edge in 0..self.nodes[from].ways.len() {
                let Way { to, is_back, unwinds } = self.nodes[from].ways[edge];
                let target = &mut self.nodes[to];
                target.n_ways_in += usize::from(!is_back);
                target.is_landing_pad |= unwinds;
                target.unwinds_back |= unwinds && is_back;
            }
        }
    }
}

fn node(blocks: &[Block], at: usize, block: &Block, first: BlockId) -> Node {
    let end = if block.returns {
        Some(End::Returns)
    } else if block.successors.is_empty() || never_goes_on(blocks, at, first) {
        Some(End::Exits)
    } else {
        None
    };
    let ways = block.successors.iter().enumerate().filter(|_| end.is_none()).map(|(edge, target)| Way {
        to: (target.to.0 - first.0) as usize,
        is_back: false,
        unwinds: unwinds(block, edge),
    });
    Node { end, ways: ways.collect(), ..Node::default() }
}

/// Whether an edge is the unwinding one of a call: only there one of two ways has a counter.
fn unwinds(block: &Block, edge: usize) -> bool {
    let counters: Vec<_> = block.successors.iter().map(|edge| edge.counter.is_some()).collect();
    counters == [true, false] && edge == 1
}

/// Whether a block ends in a call behind which nothing is left.
///
/// What follows a call that may not come back has a counter where it can be executed and nothing else would tell.
fn never_goes_on(blocks: &[Block], at: usize, first: BlockId) -> bool {
    let Some(rest) = blocks.get(at + 1).filter(|_| continues(&blocks[at], first.0 + at as u32)) else {
        return false;
    };
    rest.successors.is_empty() && !rest.returns && rest.counter.is_none()
}

/// Whether a block ends in a call that may not come back, and the next block is what follows it.
fn continues(block: &Block, id: u32) -> bool {
    let [edge] = &block.successors[..] else { return false };
    !edge.is_sure && edge.counter.is_none() && edge.to.0 == id + 1
}

/// Whether a block ends in a computed `goto` or something like it: it has edges that neither are sure nor have counters.
fn is_computed(block: &Block, id: u32) -> bool {
    let is_open = |edge: &crate::map::Edge| !edge.is_sure && edge.counter.is_none();
    !block.successors.is_empty() && block.successors.iter().all(is_open) && !continues(block, id)
}
