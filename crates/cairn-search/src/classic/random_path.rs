use crate::{
    selector::{Question, Selector, View},
    tree::NodeId,
};

/// Walks from the root and decides every turn by chance, until the way leaves what runs have seen: the uniform random search of Burnim and
/// Sen (ASE 2008), and the random path selection of Cadar, Dunbar and Engler, *KLEE* (OSDI 2008).
///
/// Ways behind which everything was asked are not taken. A loop that makes many paths is chosen no more often than a single one.
#[derive(Debug, Default)]
pub struct RandomPath;

impl Selector for RandomPath {
    fn choose(&mut self, view: &View<'_>, random: &mut fastrand::Rng) -> Option<Question> {
        walk(view, random).map(|node| view.tree.question(node))
    }
}

/// Ways on from somewhere that were not tried on this walk.
#[derive(Default)]
struct Ways {
    /// By direction: nodes that follow, and the flip if it leads there.
    sides: [Vec<Way>; 2],
}

#[derive(Clone, Copy)]
enum Way {
    On(NodeId),
    Flip(NodeId),
}

/// A walk that ends at a flip. It goes back where a limit forbids everything behind a way.
fn walk(view: &View<'_>, random: &mut fastrand::Rng) -> Option<NodeId> {
    let is_open = |node: &NodeId| view.tree.n_open_below(*node) > 0;
    let on = |nodes: &[NodeId]| -> Vec<Way> { nodes.iter().copied().filter(is_open).map(Way::On).collect() };
    let mut stack = vec![Ways { sides: [on(view.tree.roots()), Vec::new()] }];
    while let Some(ways) = stack.last_mut() {
        let Some(way) = ways.take(random) else {
            stack.pop();
            continue;
        };
        let node = match way {
            Way::Flip(node) => return Some(node),
            Way::On(node) => node,
        };
        let mut sides = [false, true].map(|direction| on(view.tree.children(node, direction)));
        if view.may_ask(node) {
            sides[usize::from(!view.tree.first_direction(node))].push(Way::Flip(node));
        }
        stack.push(Ways { sides });
    }
    None
}

impl Ways {
    /// One of the ways, taken out: either direction is as likely as the other.
    fn take(&mut self, random: &mut fastrand::Rng) -> Option<Way> {
        let side = match &self.sides {
            [no, yes] if no.is_empty() && yes.is_empty() => return None,
            [no, _] if no.is_empty() => 1,
            [_, yes] if yes.is_empty() => 0,
            _ => usize::from(random.bool()),
        };
        let ways = &mut self.sides[side];
        let index = if ways.len() == 1 { 0 } else { random.usize(..ways.len()) };
        Some(ways.swap_remove(index))
    }
}
