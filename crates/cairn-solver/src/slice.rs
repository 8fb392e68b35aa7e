//! Which constraints have anything to do with a goal.

use crate::terms::bytes_read;
use cairn_expr::{BuildMix, Dag, ExprId, InputByte};
use std::collections::HashMap;

/// The constraints that share input bytes with `goal`, directly or through others, in their order.
///
/// Changing the bytes of the goal cannot break the others.
pub fn slice(dag: &Dag, constraints: &[ExprId], goal: ExprId) -> Vec<ExprId> {
    // The readers of a byte are a list: where it starts, and for every place in it the next.
    let mut last_reader: HashMap<InputByte, usize, BuildMix> = HashMap::default();
    let mut places: Vec<(usize, Option<usize>)> = Vec::new();
    for (index, constraint) in constraints.iter().enumerate() {
        for byte in dag.reads(*constraint).iter().flat_map(|range| range.bytes()) {
            let next = last_reader.insert(byte, places.len());
            places.push((index, next));
        }
    }
    let mut related = vec![false; constraints.len()];
    let mut open = vec![goal];
    while let Some(condition) = open.pop() {
        for byte in dag.reads(condition).iter().flat_map(|range| range.bytes()) {
            // Taken out, because one visit of a byte finds all its readers.
            let mut place = last_reader.remove(&byte);
            while let Some((reader, next)) = place.map(|place| places[place]) {
                if !std::mem::replace(&mut related[reader], true) {
                    open.push(constraints[reader]);
                }
                place = next;
            }
        }
    }
    constraints
        .iter()
        .zip(related)
        .filter_map(|(constraint, related)| related.then_some(*constraint))
        .collect()
}

/// The constraints of one path, for slicing at every branch of it.
///
/// Groups of constraints that share bytes grow as the path is followed, so all slices of a path together cost little
/// more than one.
pub struct Path<'a> {
    dag: &'a Dag,
    /// The group of each byte, by its number in `groups`; a joined group names the one it went into.
    group_of: HashMap<InputByte, usize, BuildMix>,
    joined_into: Vec<usize>,
    groups: Vec<Vec<(usize, ExprId)>>,
    n_constraints: usize,
}

impl<'a> Path<'a> {
    /// A path without constraints.
    pub fn new(dag: &'a Dag) -> Self {
        Self {
            dag,
            group_of: HashMap::default(),
            joined_into: Vec::new(),
            groups: Vec::new(),
            n_constraints: 0,
        }
    }

    /// Adds the next constraint.
    pub fn push(&mut self, constraint: ExprId) {
        let index = self.n_constraints;
        self.n_constraints += 1;
        let mut home: Option<usize> = None;
        for byte in bytes_read(self.dag, constraint) {
            let group = match self.group_of.get(&byte) {
                Some(group) => self.find(*group),
                None => {
                    let group = home.unwrap_or_else(|| self.new_group());
                    self.group_of.insert(byte, group);
                    group
                }
            };
            home = Some(home.map_or(group, |home| self.join(home, group)));
        }
        if let Some(home) = home {
            self.groups[home].push((index, constraint));
        }
    }

    /// The constraints so far that share bytes with `goal`, directly or through others, in their order.
    pub fn slice(&self, goal: ExprId) -> Vec<ExprId> {
        let mut groups: Vec<usize> = bytes_read(self.dag, goal)
            .iter()
            .filter_map(|byte| self.group_of.get(byte))
            .map(|group| self.find(*group))
            .collect();
        groups.sort_unstable();
        groups.dedup();
        let mut members: Vec<(usize, ExprId)> =
            groups.iter().flat_map(|group| self.groups[*group].iter().copied()).collect();
        members.sort_unstable();
        members.into_iter().map(|(_, constraint)| constraint).collect()
    }

    fn new_group(&mut self) -> usize {
        self.joined_into.push(self.groups.len());
        self.groups.push(Vec::new());
        self.groups.len() - 1
    }

    fn find(&self, mut group: usize) -> usize {
        while self.joined_into[group] != group {
            group = self.joined_into[group];
        }
        group
    }

    /// Joins two groups; the smaller goes into the larger, so that chains stay short.
    fn join(&mut self, a: usize, b: usize) -> usize {
        if a == b {
            return a;
        }
        let (small, large) = if self.groups[a].len() < self.groups[b].len() { (a, b) } else { (b, a) };
        let members = std::mem::take(&mut self.groups[small]);
        self.groups[large].extend(members);
        self.joined_into[small] = large;
        large
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_expr::{Op, RegionId};

    fn less(dag: &mut Dag, a: u32, b: u32) -> ExprId {
        let a = dag.input(RegionId(0), a, 8);
        let b = dag.input(RegionId(0), b, 8);
        dag.compare(Op::ULt, a, b)
    }

    #[test]
    fn only_what_is_connected_stays() {
        let mut dag = Dag::new();
        let constraints = [(0, 1), (5, 6), (1, 2), (7, 8)].map(|(a, b)| less(&mut dag, a, b));
        let goal = less(&mut dag, 2, 3);
        assert_eq!(slice(&dag, &constraints, goal), [constraints[0], constraints[2]]);
    }

    #[test]
    fn a_path_gives_the_same_slices_step_by_step() {
        let mut dag = Dag::new();
        let pairs = [(0, 1), (2, 3), (9, 10), (4, 5), (1, 2), (10, 11), (5, 9), (6, 7), (3, 4), (7, 0)];
        let conditions = pairs.map(|(a, b)| less(&mut dag, a, b));
        let mut path = Path::new(&dag);
        for (index, goal) in conditions.iter().enumerate() {
            assert_eq!(path.slice(*goal), slice(&dag, &conditions[..index], *goal), "at {index}");
            path.push(*goal);
        }
    }
}
