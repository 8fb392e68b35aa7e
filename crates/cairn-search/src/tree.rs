//! The ways of all runs, as one tree.

use crate::{
    search::Outcome,
    selector::Question,
    turn::{Turn, TurnKind},
};
use cairn_model::{ConditionId, map::Branch};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    ops::Range,
};

/// A place in the tree where runs decide by their input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A run, in the order in which runs were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

/// A node as one path passed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Where.
    pub node: NodeId,
    /// What was decided there.
    pub direction: bool,
}

/// What is known of the way out of a node that its first path did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlipState {
    /// Nobody asked for it.
    Open,
    /// Somebody did, and this came of it.
    Asked(Outcome),
    /// Some run takes it.
    Taken,
}

/// The ways of all runs.
///
/// Nodes are what runs decided by their input; what they decided without is kept between nodes. Every node has one *flip*: the way out
/// that its first path did not take.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The first nodes of paths: one, unless something else than the input decides.
    roots: Vec<NodeId>,
    paths: Vec<TreePath>,
    /// Turns that do not depend on the input, in the order of nodes.
    fixed: Vec<Turn>,
    n_open: usize,
}

#[derive(Debug)]
struct Node {
    condition: Option<ConditionId>,
    kind: TurnKind,
    depth: u32,
    parent: Option<Taken>,
    /// A hash of the way that leads here, this node included.
    way: u64,
    /// Turns between the parent and this node that do not depend on the input.
    before: Range<u32>,
    /// What follows, by direction: one node, unless something else than the input decides.
    children: [Vec<NodeId>; 2],
    first_path: PathId,
    first_direction: bool,
    flip: FlipState,
    /// Open flips here and below.
    n_open: u32,
}

#[derive(Debug)]
struct TreePath {
    taken: Vec<Taken>,
    tail: Range<u32>,
    made_from: Option<Question>,
    is_cut: bool,
}

impl Tree {
    /// Adds the way of a run, of which only the first `bound` turns that depend on the input count.
    pub(crate) fn add(&mut self, turns: &[Turn], bound: usize, made_from: Option<Question>) -> PathId {
        let path = PathId(self.paths.len() as u32);
        let mut taken: Vec<Taken> = Vec::new();
        let mut fixed: Vec<Turn> = Vec::new();
        let mut is_cut = false;
        let n_known = self.nodes.len();
        for turn in turns {
            if !turn.is_symbolic() {
                fixed.push(*turn);
                continue;
            }
            if taken.len() == bound {
                is_cut = true;
                break;
            }
            let parent = taken.last().copied();
            let node = self.enter(parent, turn, &fixed, path);
            fixed.clear();
            taken.push(Taken { node, direction: turn.direction });
            if self.nodes[node.0 as usize].first_direction != turn.direction {
                self.close(node, FlipState::Taken);
            }
        }
        self.count_new(&taken, n_known);
        let tail = self.keep(&fixed);
        self.paths.push(TreePath { taken, tail, made_from, is_cut });
        path
    }

    /// The node that follows `parent` where `turn` is decided; a new one is open.
    fn enter(&mut self, parent: Option<Taken>, turn: &Turn, fixed: &[Turn], path: PathId) -> NodeId {
        let following = match parent {
            None => &self.roots,
            Some(Taken { node, direction }) => &self.nodes[node.0 as usize].children[usize::from(direction)],
        };
        let is_it = |node: &&NodeId| {
            let node = &self.nodes[node.0 as usize];
            node.condition == turn.condition && node.kind == turn.kind
        };
        if let Some(known) = following.iter().find(is_it) {
            return *known;
        }
        let id = NodeId(self.nodes.len() as u32);
        let before = self.keep(fixed);
        let depth = parent.map_or(0, |parent| self.nodes[parent.node.0 as usize].depth + 1);
        let way_before = parent.map(|parent| (self.way(parent.node), parent.direction));
        self.nodes.push(Node {
            condition: turn.condition,
            kind: turn.kind,
            depth,
            parent,
            way: hash(&(way_before, turn.condition, turn.kind)),
            before,
            children: [Vec::new(), Vec::new()],
            first_path: path,
            first_direction: turn.direction,
            flip: FlipState::Open,
            n_open: 0,
        });
        match parent {
            None => self.roots.push(id),
            Some(Taken { node, direction }) => {
                self.nodes[node.0 as usize].children[usize::from(direction)].push(id);
            }
        }
        id
    }

    /// Counts the flips of nodes that were not there before a path came: all that follow its first new one.
    fn count_new(&mut self, path: &[Taken], n_known: usize) {
        let n_new = path.iter().rev().take_while(|taken| taken.node.0 as usize >= n_known).count();
        for (index, taken) in path.iter().enumerate() {
            let n_from_here = path.len() - index;
            self.nodes[taken.node.0 as usize].n_open += n_new.min(n_from_here) as u32;
        }
        self.n_open += n_new;
    }

    fn keep(&mut self, fixed: &[Turn]) -> Range<u32> {
        let start = self.fixed.len() as u32;
        self.fixed.extend_from_slice(fixed);
        start..self.fixed.len() as u32
    }

    /// Notes what became of a flip. What a run takes is taken, whatever was answered.
    pub(crate) fn close(&mut self, node: NodeId, state: FlipState) {
        let flip = &mut self.nodes[node.0 as usize].flip;
        let was_open = *flip == FlipState::Open;
        if *flip != FlipState::Taken {
            *flip = state;
        }
        if was_open && state != FlipState::Open {
            self.n_open -= 1;
            let mut next = Some(node);
            while let Some(id) = next {
                let node = &mut self.nodes[id.0 as usize];
                node.n_open -= 1;
                next = node.parent.map(|parent| parent.node);
            }
        }
    }

    /// Opens the flips again that were settled by `outcome`; returns how many.
    pub(crate) fn reopen(&mut self, outcome: Outcome) -> usize {
        let mut n_opened = 0;
        for node in &mut self.nodes {
            if node.flip == FlipState::Asked(outcome) {
                node.flip = FlipState::Open;
                n_opened += 1;
            }
            node.n_open = u32::from(node.flip == FlipState::Open);
        }
        self.n_open += n_opened;
        // Nodes come after those above them.
        for index in (0..self.nodes.len()).rev() {
            let Node { n_open, parent, .. } = self.nodes[index];
            if let Some(parent) = parent {
                self.nodes[parent.node.0 as usize].n_open += n_open;
            }
        }
        n_opened
    }

    /// How many nodes there are; they are numbered in the order in which runs came to them.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// How many runs there are.
    pub fn n_paths(&self) -> usize {
        self.paths.len()
    }

    /// How many flips nobody asked for.
    pub fn n_open(&self) -> usize {
        self.n_open
    }

    /// How many flips of a node and all below it nobody asked for.
    pub fn n_open_below(&self, node: NodeId) -> usize {
        self.nodes[node.0 as usize].n_open as usize
    }

    /// The nodes that a run passed, in order.
    pub fn path(&self, path: PathId) -> &[Taken] {
        &self.paths[path.0 as usize].taken
    }

    /// The question whose answer a run is, if it is one.
    pub fn made_from(&self, path: PathId) -> Option<Question> {
        self.paths[path.0 as usize].made_from
    }

    /// How many flips led to a run from one that was given.
    pub fn generation(&self, path: PathId) -> usize {
        let mut made_from = self.made_from(path);
        let mut generation = 0;
        while let Some(question) = made_from {
            generation += 1;
            made_from = self.made_from(question.path);
        }
        generation
    }

    /// Whether every flip that is known was executed or is impossible, and no path is longer than was looked at.
    pub fn is_exhausted(&self) -> bool {
        let is_settled = |node: &Node| {
            matches!(node.flip, FlipState::Taken | FlipState::Asked(Outcome::Flipped | Outcome::Unsat))
        };
        self.nodes.iter().all(is_settled) && !self.paths.iter().any(|path| path.is_cut)
    }

    /// How far a node is from the root.
    pub fn depth(&self, node: NodeId) -> usize {
        self.nodes[node.0 as usize].depth as usize
    }

    /// A hash of what was decided on the way to a node, and of what is decided there: the same in every tree.
    pub fn way(&self, node: NodeId) -> u64 {
        self.nodes[node.0 as usize].way
    }

    /// What is known of a node's flip.
    pub fn flip(&self, node: NodeId) -> FlipState {
        self.nodes[node.0 as usize].flip
    }

    /// Whether nobody asked for a node's flip.
    pub fn is_open(&self, node: NodeId) -> bool {
        self.flip(node) == FlipState::Open
    }

    /// Who decides at a node.
    pub fn kind(&self, node: NodeId) -> TurnKind {
        self.nodes[node.0 as usize].kind
    }

    /// The condition that is decided at a node.
    pub fn condition(&self, node: NodeId) -> Option<ConditionId> {
        self.nodes[node.0 as usize].condition
    }

    /// The first path's way out of a node: the one that a flip turns away from.
    pub fn first_direction(&self, node: NodeId) -> bool {
        self.nodes[node.0 as usize].first_direction
    }

    /// The question that asks for a node's flip, put to the first path that came there.
    pub fn question(&self, node: NodeId) -> Question {
        let node = &self.nodes[node.0 as usize];
        Question { path: node.first_path, index: node.depth as usize }
    }

    /// The nodes where paths begin.
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// The nodes that follow one way out of a node.
    pub fn children(&self, node: NodeId, direction: bool) -> &[NodeId] {
        &self.nodes[node.0 as usize].children[usize::from(direction)]
    }

    /// The branch of the map that a path took at a node.
    pub fn branch(&self, taken: Taken) -> Option<Branch> {
        Some(Branch { condition: self.condition(taken.node)?, direction: taken.direction })
    }

    /// The branches of the map that runs took before a node, the nearest first, whether they depend on the input or not.
    pub fn branches_before(&self, node: NodeId) -> impl Iterator<Item = Branch> + '_ {
        let mut at = Some(node);
        let mut fixed = self.fixed_before(node);
        std::iter::from_fn(move || {
            loop {
                if let Some(turn) = fixed.next_back() {
                    if let Some(branch) = turn.branch() {
                        return Some(branch);
                    }
                    continue;
                }
                let parent = self.nodes[at?.0 as usize].parent;
                at = parent.map(|parent| parent.node);
                fixed = at.map_or([].iter(), |node| self.fixed_before(node));
                if let Some(branch) = parent.and_then(|parent| self.branch(parent)) {
                    return Some(branch);
                }
            }
        })
    }

    fn fixed_before(&self, node: NodeId) -> std::slice::Iter<'_, Turn> {
        let before = &self.nodes[node.0 as usize].before;
        self.fixed[before.start as usize..before.end as usize].iter()
    }

    /// All branches of the map that a run took, in order, whether they depend on the input or not.
    pub fn branches(&self, path: PathId) -> Vec<Branch> {
        let TreePath { taken, tail, .. } = &self.paths[path.0 as usize];
        let mut branches = Vec::new();
        for taken in taken {
            branches.extend(self.fixed_before(taken.node).filter_map(Turn::branch));
            branches.extend(self.branch(*taken));
        }
        let tail = &self.fixed[tail.start as usize..tail.end as usize];
        branches.extend(tail.iter().filter_map(Turn::branch));
        branches
    }
}

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
