use super::*;
use crate::{
    ids::{CounterId, StableId},
    map::{Block, Edge, Function, Place},
};
use expect_test::{Expect, expect};
use proptest::{collection::vec, prelude::*, sample::Index};
use std::collections::BTreeSet;

/// How a block ends. Targets are positions in the function.
#[derive(Clone, Debug)]
enum Ending {
    Return,
    /// In something that does not come back.
    Stop,
    Jump(usize),
    /// A branch or a switch; several ways may lead to one block.
    Ways(Vec<usize>),
    /// A call: where it comes back to, and where it unwinds to.
    Invoke(usize, usize),
    /// A computed `goto`.
    Computed(Vec<usize>),
}

fn block(ending: &Ending) -> Block {
    let edge = |to: usize, is_counted: bool, is_sure| Edge {
        to: BlockId(to as u32),
        counter: is_counted.then_some(CounterId(0)),
        shows: None,
        is_sure,
    };
    let successors = match ending {
        Ending::Return | Ending::Stop => Vec::new(),
        Ending::Jump(to) => vec![edge(*to, false, true)],
        Ending::Ways(ways) => ways.iter().map(|to| edge(*to, true, false)).collect(),
        Ending::Invoke(to, unwinding) => vec![edge(*to, true, false), edge(*unwinding, false, false)],
        Ending::Computed(ways) => ways.iter().map(|to| edge(*to, false, false)).collect(),
    };
    Block { successors, returns: matches!(ending, Ending::Return), ..Block::default() }
}

/// One function with these blocks.
fn map(endings: &[Ending]) -> ProgramMap {
    map_of_blocks(endings.iter().map(block).collect())
}

fn map_of_blocks(blocks: Vec<Block>) -> ProgramMap {
    let function = Function {
        stable_id: StableId(0),
        name: "f".into(),
        symbol: "f".into(),
        place: Place { file: 0, line: 1, column: 1 },
        end_line: 1,
        blocks: 0..blocks.len() as u32,
        in_scope: true,
        n_copies: 1,
    };
    ProgramMap { functions: vec![function], blocks, ..ProgramMap::default() }
}

/// A line for each path.
fn listed(paths: &BasicPaths) -> String {
    let line = |id: u32| {
        let BasicPath { blocks, start, end, .. } = paths.path(BasicPathId(id));
        let blocks: Vec<u32> = blocks.iter().map(|block| block.0).collect();
        format!("{id} {start:?} {blocks:?} {end:?}\n")
    };
    (0..paths.n_paths()).map(line).collect()
}

#[track_caller]
fn check(endings: &[Ending], expected: Expect) {
    expected.assert_eq(&listed(&BasicPaths::of(&map(endings))));
}

#[test]
fn no_turn_one_turn_and_more_are_different_paths() {
    check(
        &[Ending::Jump(1), Ending::Ways(vec![2, 3]), Ending::Jump(1), Ending::Return],
        expect![[r#"
            0 Entry [0, 1, 2] GoesOn(BlockId(1))
            1 Entry [0, 1, 3] Returns
            2 Again(BlockId(1)) [1, 2] GoesOn(BlockId(1))
            3 Again(BlockId(1)) [1, 3] Returns
        "#]],
    );
}

#[test]
fn labels_of_one_block_are_different_paths() {
    check(
        &[Ending::Ways(vec![1, 2, 2]), Ending::Return, Ending::Return],
        expect![[r#"
            0 Entry [0, 1] Returns
            1 Entry [0, 2] Returns
            2 Entry [0, 2] Returns
        "#]],
    );
}

#[test]
fn a_call_that_never_comes_back_ends_a_path() {
    let mut blocks: Vec<Block> =
        [Ending::Ways(vec![1, 3]), Ending::Computed(vec![2]), Ending::Stop, Ending::Return]
            .iter()
            .map(block)
            .collect();
    let paths = BasicPaths::of(&map_of_blocks(blocks.clone()));
    expect![[r#"
        0 Entry [0, 1] Exits
        1 Entry [0, 3] Returns
    "#]]
    .assert_eq(&listed(&paths));
    assert_eq!(paths.end(BlockId(1)), Some(End::Exits));
    assert_eq!(paths.end(BlockId(2)), None);

    // Behind a call that may come back, what resumes unwinding has a counter.
    blocks[2].counter = Some(CounterId(0));
    expect![[r#"
        0 Entry [0, 1, 2] Exits
        1 Entry [0, 3] Returns
    "#]]
    .assert_eq(&listed(&BasicPaths::of(&map_of_blocks(blocks))));
}

#[test]
fn a_function_with_a_computed_goto_has_no_paths() {
    let map = map(&[Ending::Computed(vec![1, 2]), Ending::Return, Ending::Return]);
    let paths = BasicPaths::of(&map);
    assert_eq!((paths.n_paths(), paths.entry(FunctionId(0))), (0, None));
}

#[test]
fn functions_out_of_scope_have_no_paths() {
    let mut map = map(&[Ending::Return]);
    map.functions[0].in_scope = false;
    assert_eq!(BasicPaths::of(&map).n_paths(), 0);
}

#[test]
fn fourteen_conditions_in_a_row_are_cut_once() {
    let mut endings: Vec<Ending> =
        (0..14).flat_map(|n| [Ending::Ways(vec![2 * n + 1, 2 * n + 2]), Ending::Jump(2 * n + 2)]).collect();
    endings.push(Ending::Return);
    let paths = BasicPaths::of(&map(&endings));
    assert_eq!(paths.n_paths(), 2 * MOST_FROM_ONE_START);
    assert_eq!(paths.path(BasicPathId(0)).end, End::GoesOn(BlockId(14)));
    assert_eq!(paths.path(BasicPathId(MOST_FROM_ONE_START)).start, Start::Again(BlockId(14)));
}

#[test]
fn a_switch_wider_than_the_limit_is_numbered_alone() {
    let n_ways = 3 * MOST_FROM_ONE_START as usize;
    let endings = [Ending::Jump(1), Ending::Ways(vec![2; n_ways]), Ending::Return];
    let paths = BasicPaths::of(&map(&endings));
    assert_eq!(paths.n_paths() as usize, 1 + n_ways);
    assert_eq!(paths.path(BasicPathId(0)).end, End::GoesOn(BlockId(1)));
}

/// Functions of a few blocks, some reached by unwinding only.
fn function() -> impl Strategy<Value = Vec<Ending>> {
    let ending = (0..9u8, vec(any::<Index>(), 3), any::<Index>());
    (2..10usize, 1..3usize).prop_flat_map(move |(n, n_pads)| {
        vec(ending.clone(), n + n_pads).prop_map(move |endings| {
            let ending = |(kind, ways, pad): (u8, Vec<Index>, Index)| {
                // Nothing leads to an entry.
                let ways: Vec<usize> = ways.iter().map(|way| 1 + way.index(n - 1)).collect();
                match kind {
                    0 => Ending::Return,
                    1 => Ending::Stop,
                    2 => Ending::Jump(ways[0]),
                    3..6 => Ending::Ways(ways[..2].to_vec()),
                    6 => Ending::Ways(ways),
                    _ => Ending::Invoke(ways[0], n + pad.index(n_pads)),
                }
            };
            endings.into_iter().map(ending).collect()
        })
    })
}

/// Walks through a function as an instrumented program would: each path that ended, the blocks passed on it, and how.
fn run(map: &ProgramMap, paths: &BasicPaths, choices: &[Index]) -> Vec<(BasicPathId, Vec<BlockId>, End)> {
    let mut ended = Vec::new();
    let mut at = BlockId(0);
    let mut number = paths.entry(FunctionId(0)).expect("it has paths").0;
    let mut passed = vec![at];
    for choice in choices {
        if let Some(end) = paths.end(at) {
            ended.push((BasicPathId(number), passed, end));
            break;
        }
        let edges = &map.blocks[at.index()].successors;
        let edge = choice.index(edges.len());
        let step = paths.step(at, edge).expect("it is passed");
        at = edges[edge].to;
        match step {
            Step::Add(addend) => {
                number += addend;
                passed.push(at);
            }
            Step::Restart { addend, next } => {
                let path = std::mem::replace(&mut passed, vec![at]);
                ended.push((BasicPathId(number + addend), path, End::GoesOn(at)));
                number = next.0;
            }
        }
    }
    ended
}

proptest! {
    #[test]
    fn every_walk_is_told_by_its_paths(
        endings in function(),
        limit in prop_oneof![3..9u32, Just(MOST_FROM_ONE_START)],
        choices in vec(any::<Index>(), 1..60),
    ) {
        let map = map(&endings);
        let paths = BasicPaths::with_limit(&map, limit);
        for (id, passed, end) in run(&map, &paths, &choices) {
            let path = paths.path(id);
            prop_assert_eq!((path.blocks, path.end), (passed, end));
        }
    }

    #[test]
    fn numbers_are_dense_and_each_is_another_way(endings in function(), limit in 3..9u32) {
        let map = map(&endings);
        let paths = BasicPaths::with_limit(&map, limit);
        let mut seen = BTreeSet::new();
        for id in (0..paths.n_paths()).map(BasicPathId) {
            let walk = paths.walk(id);
            let added: u32 = (walk.blocks.iter().zip(&walk.edges))
                .map(|(block, edge)| paths.nodes[block.index()].ways[*edge].addend())
                .sum();
            prop_assert_eq!(walk.origin.first.0 + added, id.0);
            prop_assert!(seen.insert((walk.origin.start, walk.blocks.clone(), walk.edges.clone())));
            let is_new: BTreeSet<_> = walk.blocks.iter().collect();
            prop_assert_eq!(is_new.len(), walk.blocks.len(), "a block is passed twice");
        }
    }

    #[test]
    fn no_start_has_more_paths_than_the_limit(endings in function(), limit in 3..9u32) {
        let paths = BasicPaths::with_limit(&map(&endings), limit);
        let firsts: Vec<u32> = paths.origins.iter().map(|origin| origin.first.0).chain([paths.n_paths()]).collect();
        prop_assert!(firsts.windows(2).all(|range| (1..=limit).contains(&(range[1] - range[0]))));
    }

    #[test]
    fn unwinding_into_a_block_changes_the_number_alike_wherever_it_comes_from(
        endings in function(),
        limit in 3..9u32,
    ) {
        let map = map(&endings);
        let paths = BasicPaths::with_limit(&map, limit);
        let mut steps = BTreeMap::new();
        for (from, ending) in endings.iter().enumerate() {
            let Ending::Invoke(_, pad) = ending else { continue };
            let Some(step) = paths.step(BlockId(from as u32), 1) else { continue };
            prop_assert_eq!(*steps.entry(*pad).or_insert(step), step);
            let adds_nothing = matches!(step, Step::Add(0) | Step::Restart { addend: 0, .. });
            prop_assert!(adds_nothing);
        }
    }
}
