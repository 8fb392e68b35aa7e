//! Dominators and loops of a small graph.

use std::collections::BTreeSet;

/// What a graph with one entry (node 0) looks like.
#[derive(Debug)]
pub struct Shape {
    /// The immediate dominator of each node; `None` for the entry and for unreachable nodes.
    pub dominator: Vec<Option<usize>>,
    /// Loops, by header, with all their nodes.
    pub loops: Vec<Loop>,
    predecessors: Vec<Vec<usize>>,
    /// When a walk of the dominator tree enters and leaves each node, so that dominance is one comparison.
    spans: Vec<(u32, u32)>,
    /// The nodes in an order that puts dominators first.
    order: Vec<usize>,
}

/// A natural loop; loops with the same header are one.
#[derive(Debug)]
pub struct Loop {
    /// The node every turn passes.
    pub header: usize,
    /// All nodes.
    pub nodes: BTreeSet<usize>,
}

impl Shape {
    /// Analyses a graph given as successor lists.
    pub fn of(successors: &[Vec<usize>]) -> Self {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (node, ways) in successors.iter().enumerate() {
            for way in ways {
                predecessors[*way].push(node);
            }
        }
        let dominator = dominators(successors, &predecessors);
        let (spans, order) = walk(&dominator);
        let mut shape = Self { dominator, loops: Vec::new(), predecessors, spans, order };
        for (node, ways) in successors.iter().enumerate() {
            for header in ways {
                if shape.dominates(*header, node) {
                    shape.add_loop(*header, node);
                }
            }
        }
        shape
    }

    /// Whether every way from the entry to `node` passes `above`.
    pub fn dominates(&self, above: usize, node: usize) -> bool {
        let ((start, end), (at, _)) = (self.spans[above], self.spans[node]);
        start <= at && at < end
    }

    /// The node before `node` if every way to `node` comes from there by one edge, loops back to it aside.
    pub fn entered_from(&self, node: usize) -> Option<usize> {
        let mut outside = self.predecessors[node].iter().filter(|before| !self.dominates(node, **before));
        match (outside.next(), outside.next()) {
            (Some(before), None) => Some(*before),
            _ => None,
        }
    }

    /// The nodes that can be reached, dominators before what they dominate.
    pub fn dominators_first(&self) -> &[usize] {
        &self.order
    }

    /// How many loops are around a node.
    pub fn loop_depth(&self, node: usize) -> usize {
        self.loops.iter().filter(|l| l.nodes.contains(&node)).count()
    }

    /// The smallest loop around a node.
    pub fn innermost_loop(&self, node: usize) -> Option<&Loop> {
        self.loops.iter().filter(|l| l.nodes.contains(&node)).min_by_key(|l| l.nodes.len())
    }

    fn add_loop(&mut self, header: usize, back: usize) {
        let mut nodes = BTreeSet::from([header]);
        let mut pending = vec![back];
        while let Some(node) = pending.pop() {
            if nodes.insert(node) {
                pending.extend(&self.predecessors[node]);
            }
        }
        match self.loops.iter_mut().find(|l| l.header == header) {
            Some(existing) => existing.nodes.extend(nodes),
            None => self.loops.push(Loop { header, nodes }),
        }
    }
}

/// Cooper, Harvey and Kennedy's iteration over reverse postorder.
fn dominators(successors: &[Vec<usize>], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let order = postorder(successors);
    let mut rank = vec![usize::MAX; successors.len()];
    for (position, node) in order.iter().enumerate() {
        rank[*node] = position;
    }
    let mut dominator: Vec<Option<usize>> = vec![None; successors.len()];
    if successors.is_empty() {
        return dominator;
    }
    dominator[0] = Some(0);
    let mut changed = true;
    while changed {
        changed = false;
        for node in order.iter().rev().copied().filter(|node| *node != 0) {
            let mut best: Option<usize> = None;
            for before in predecessors[node].iter().copied().filter(|before| dominator[*before].is_some()) {
                best = Some(match best {
                    None => before,
                    Some(mut a) => {
                        let mut b = before;
                        while a != b {
                            while rank[a] < rank[b] {
                                a = dominator[a].expect("processed nodes have dominators");
                            }
                            while rank[b] < rank[a] {
                                b = dominator[b].expect("processed nodes have dominators");
                            }
                        }
                        a
                    }
                });
            }
            if best.is_some() && dominator[node] != best {
                dominator[node] = best;
                changed = true;
            }
        }
    }
    dominator[0] = None;
    dominator
}

/// Walks the dominator tree from the entry.
fn walk(dominator: &[Option<usize>]) -> (Vec<(u32, u32)>, Vec<usize>) {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); dominator.len()];
    for (node, above) in dominator.iter().enumerate() {
        if let Some(above) = above {
            below[*above].push(node);
        }
    }
    // Nodes that cannot be reached get spans of their own, so that they dominate nothing but themselves.
    let mut spans = vec![(0, 0); dominator.len()];
    let mut order = Vec::new();
    let mut time = 0;
    for root in (0..dominator.len()).filter(|node| dominator[*node].is_none()) {
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            if *next == 0 {
                spans[*node].0 = time;
                time += 1;
                order.push(*node);
            }
            match below[*node].get(*next) {
                Some(child) => {
                    *next += 1;
                    stack.push((*child, 0));
                }
                None => {
                    spans[*node].1 = time;
                    stack.pop();
                }
            }
        }
    }
    (spans, order)
}

fn postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    if successors.is_empty() {
        return order;
    }
    let mut seen = vec![false; successors.len()];
    seen[0] = true;
    let mut stack = vec![(0, 0)];
    while let Some((node, next)) = stack.last_mut() {
        match successors[*node].get(*next) {
            Some(way) => {
                *next += 1;
                if !std::mem::replace(&mut seen[*way], true) {
                    stack.push((*way, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 → 1 (header) → 2 → {3, 4} → 5 → 1, and 1 → 6.
    fn loop_with_choice() -> Shape {
        Shape::of(&[vec![1], vec![2, 6], vec![3, 4], vec![5], vec![5], vec![1], vec![]])
    }

    #[test]
    fn joins_are_dominated_by_the_fork() {
        let shape = loop_with_choice();
        assert_eq!(shape.dominator, [None, Some(0), Some(1), Some(2), Some(2), Some(2), Some(1)]);
    }

    #[test]
    fn a_loop_holds_its_body_and_not_its_exit() {
        let shape = loop_with_choice();
        assert_eq!(shape.loop_depth(5), 1);
        assert_eq!(shape.loop_depth(6), 0);
        assert_eq!(shape.innermost_loop(3).unwrap().header, 1);
    }

    #[test]
    fn a_node_with_one_way_in_is_entered_from_there() {
        let shape = loop_with_choice();
        assert_eq!(shape.entered_from(3), Some(2));
        assert_eq!(shape.entered_from(5), None);
        assert_eq!(shape.entered_from(1), Some(0));
    }

    #[test]
    fn unreachable_nodes_dominate_only_themselves() {
        let shape = Shape::of(&[vec![1], vec![], vec![1]]);
        assert!(shape.dominates(2, 2) && !shape.dominates(2, 1) && !shape.dominates(0, 2));
    }
}
