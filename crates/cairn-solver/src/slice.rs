//! Which constraints have anything to do with a goal.

use cairn_expr::{Dag, ExprId};

/// The constraints that share input bytes with `goal`, directly or through others, in their order.
///
/// Changing the bytes of the goal cannot break the others.
pub fn slice(dag: &Dag, constraints: &[ExprId], goal: ExprId) -> Vec<ExprId> {
    let related = dag.connected(constraints, goal);
    constraints
        .iter()
        .zip(related)
        .filter_map(|(constraint, related)| related.then_some(*constraint))
        .collect()
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

    /// The same, found by looking at all pairs again and again.
    fn slow_slice(dag: &Dag, constraints: &[ExprId], goal: ExprId) -> Vec<ExprId> {
        let share = |a: ExprId, b: ExprId| {
            let bytes = |id| dag.reads(id).iter().flat_map(|range| range.bytes()).collect::<Vec<_>>();
            let (a, b) = (bytes(a), bytes(b));
            a.iter().any(|byte| b.contains(byte))
        };
        let mut related: Vec<bool> = constraints.iter().map(|constraint| share(*constraint, goal)).collect();
        for _ in constraints {
            for at in 0..constraints.len() {
                let is_related = (0..constraints.len())
                    .any(|other| related[other] && share(constraints[at], constraints[other]));
                related[at] |= is_related;
            }
        }
        constraints.iter().zip(related).filter_map(|(id, related)| related.then_some(*id)).collect()
    }

    #[test]
    fn slices_are_those_of_looking_at_all_pairs() {
        let mut dag = Dag::new();
        let pairs =
            [(0, 1), (2, 3), (9, 10), (4, 5), (1, 2), (10, 11), (5, 9), (6, 7), (3, 4), (7, 0), (20, 21)];
        let mut conditions = Vec::from(pairs.map(|(a, b)| less(&mut dag, a, b)));
        // Words overlap without being equal, and many bytes apart are a union of sets.
        for start in [11, 14, 30] {
            let word = dag.input(RegionId(0), start, 32);
            let limit = dag.constant(32, 1000);
            conditions.push(dag.compare(Op::ULt, word, limit));
        }
        let every_other = (0..40).fold(dag.constant(8, 0), |sum, index| {
            let byte = dag.input(RegionId(1), 2 * index, 8);
            dag.binary(Op::Add, sum, byte)
        });
        let limit = dag.constant(8, 9);
        conditions.push(dag.compare(Op::ULt, every_other, limit));
        let byte = dag.input(RegionId(1), 44, 8);
        conditions.push(dag.compare(Op::ULt, byte, limit));
        let elsewhere = dag.input(RegionId(1), 45, 8);
        conditions.push(dag.compare(Op::ULt, elsewhere, limit));
        for (index, goal) in conditions.iter().enumerate() {
            let before = &conditions[..index];
            assert_eq!(slice(&dag, before, *goal), slow_slice(&dag, before, *goal), "at {index}");
            let after = &conditions[index + 1..];
            assert_eq!(slice(&dag, after, *goal), slow_slice(&dag, after, *goal), "after {index}");
        }
    }
}
