//! Recordings written by hand: how they become paths, what is asked, and what is made of the answers.

use cairn_abi::{
    record::{Access, Record},
    symbolic::{
        Node, Op, RegionId, RegionKind,
        switch::{GIVEN, LIBRARY, NO_CONDITION},
    },
};
use cairn_concolic::{
    Demands, Event, Fixed, Flip, Limits, Path, Recording, Regions, Verification, flip, flip_besides,
    reach_value, verify,
};
use cairn_expr::{DEFAULT_OPERATIONS, infix};
use cairn_model::Input;
use cairn_solver::{Budget, Checked, InputToState};
use expect_test::{Expect, expect};

fn node(op: Op, width: u16, a: u32, b: u32, value: u64) -> Node {
    Node { op: op as u8, width, a, b, value, ..Node::default() }
}

/// Byte `offset` of standard input, which is `value`.
fn byte(offset: u32, value: u8) -> Node {
    node(Op::Input, 8, RegionId::new(RegionKind::Stdin, 0).0, offset, value.into())
}

fn conditional(condition: u32, direction: bool, label: u32) -> Record {
    Record::Conditional { condition, direction, label }
}

/// A run on "ab": `stdin[0] == 'x'` and `stdin[1] == 'b'`.
fn nodes() -> Vec<Node> {
    vec![
        Node::default(),
        byte(0, b'a'),
        node(Op::Constant, 8, 0, 0, b'x'.into()),
        node(Op::Eq, 1, 1, 2, 0),
        byte(1, b'b'),
        node(Op::Constant, 8, 0, 0, b'b'.into()),
        node(Op::Eq, 1, 4, 5, 1),
    ]
}

fn path(stdin: &str, nodes: &[Node], records: &[Record]) -> Path {
    let input = Input { stdin: stdin.into(), ..Input::default() };
    let regions = Regions::new(input, Vec::new(), Limits::default());
    Path::new(Recording { records, nodes, tables: &[] }, regions)
}

/// One step a line: what has to hold.
fn check(path: &Path, expected: Expect) {
    let mut text = String::new();
    for step in path.steps() {
        let what = match step.event {
            Event::Conditional { condition, direction, occurrence, .. } => {
                let name = condition.map_or("-".into(), |id| id.0.to_string());
                format!("condition {name} {direction} #{occurrence}")
            }
            Event::Address { address, .. } => format!("address {address:#x}"),
            event => format!("{event:?}"),
        };
        let holds = step
            .constraint
            .map_or("-".into(), |constraint| infix(path.dag(), constraint.holds, DEFAULT_OPERATIONS));
        text.push_str(&format!("{what}: {holds}\n"));
    }
    for disagreement in path.disagreements() {
        text.push_str(&format!(
            "step {}: the run had {}, we have {}\n",
            disagreement.step, disagreement.recorded, disagreement.evaluated
        ));
    }
    if let Some(damage) = path.damage() {
        text.push_str(&format!("damage: {damage}\n"));
    }
    expected.assert_eq(&text);
}

fn solver() -> Checked<InputToState> {
    Checked::new(InputToState)
}

fn solved(flip: Flip) -> Input {
    match flip {
        Flip::Solved(solved) => solved.input,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_event_says_what_it_takes_to_come_past_it() {
    let records = [
        conditional(7, false, 3),
        conditional(NO_CONDITION, true, 6),
        conditional(7, false, 3),
        conditional(9, true, 0),
        Record::Enter { function: 1 },
    ];
    check(
        &path("ab", &nodes(), &records),
        expect![[r#"
            condition 7 false #1: stdin[0] != 'x'
            condition - true #1: stdin[1] == 'b'
            condition 7 false #2: stdin[0] != 'x'
            condition 9 true #0: -
            Enter { function: FunctionId(1) }: -
        "#]],
    );
}

#[test]
fn a_flipped_condition_keeps_what_came_before() {
    let records = [conditional(1, true, 6), conditional(2, false, 3), conditional(3, true, 6)];
    let path = path("ab", &nodes(), &records);
    assert_eq!(path.prefix(2).len(), 2);
    let input = solved(flip(&path, 1, &mut solver(), Budget::default()));
    assert_eq!(input.stdin, "xb".into());
    assert_eq!(flip(&path, 2, &mut solver(), Budget::default()), Flip::Unsat);
}

#[test]
fn a_concrete_condition_cannot_be_flipped() {
    let path = path("ab", &nodes(), &[conditional(1, true, 0)]);
    assert_eq!(flip(&path, 0, &mut solver(), Budget::default()), Flip::NotSymbolic);
    assert_eq!(path.decisions().count(), 0);
}

#[test]
fn an_address_pins_what_it_is_made_of() {
    let mut nodes = nodes();
    nodes.push(node(Op::ZExt, 64, 1, 0, b'a'.into()));
    let address =
        |address| Record::SymbolicAddress { site: 0, access: Access::Load, address, length: 1, label: 7 };
    check(
        &path("ab", &nodes, &[address(b'a'.into()), conditional(1, false, 3)]),
        expect![[r#"
            address 0x61: stdin[0] == 'a'
            condition 1 false #1: stdin[0] != 'x'
        "#]],
    );
}

#[test]
fn what_we_evaluate_otherwise_is_told_and_not_used() {
    let mut nodes = nodes();
    nodes[3].value = 1;
    check(
        &path("ab", &nodes, &[conditional(1, true, 3), conditional(2, true, 6)]),
        expect![[r#"
            condition 1 true #1: -
            condition 2 true #1: stdin[1] == 'b'
            step 0: the run had 1, we have 0
        "#]],
    );
}

#[test]
fn every_node_is_held_against_the_run() {
    let mut nodes = nodes();
    nodes[6].value = 0;
    let path = path("ab", &nodes, &[conditional(1, false, 3)]);
    assert_eq!((path.disagreements().len(), path.n_mistakes()), (0, 1));
    let wrong = path.wrong_nodes()[0];
    assert_eq!((wrong.label, wrong.recorded, wrong.computed), (6, 0, 1));
}

#[test]
fn a_path_ends_where_its_nodes_make_no_sense() {
    let mut nodes = nodes();
    nodes.push(node(Op::Eq, 1, 99, 1, 1));
    check(
        &path("ab", &nodes, &[conditional(1, true, 6), conditional(2, true, 7), conditional(3, true, 6)]),
        expect![[r#"
            condition 1 true #1: stdin[1] == 'b'
            damage: label 7 has the operand 99, which is not a smaller label
        "#]],
    );
}

#[test]
fn opaque_values_keep_their_taint_and_demand_nothing() {
    let mut nodes = nodes();
    nodes.push(node(Op::Opaque, 1, 1, 4, 1));
    let path = path("ab", &nodes, &[conditional(1, true, 7)]);
    assert_eq!(path.steps()[0].constraint, None);
    let taint = path.taint(&path.steps()[0].event);
    assert_eq!((taint.len(), taint[0].start, taint[0].end), (1, 0, 2));
}

#[test]
fn the_value_of_a_site_can_be_asked_for() {
    let record =
        Record::SiteValue { site: 4, spot: 0, evaluation: 0, value: b'a'.into(), label: 1, operands: [0, 0] };
    let mut path = path("ab", &nodes(), &[conditional(2, false, 3), record]);
    let input = solved(reach_value(&mut path, 1, b'q'.into(), &mut solver(), Budget::default()));
    assert_eq!(input.stdin, "qb".into());
    let taken = reach_value(&mut path, 1, b'x'.into(), &mut solver(), Budget::default());
    assert!(!matches!(taken, Flip::Solved(_)), "{taken:?}");
}

#[test]
fn a_step_with_many_ways_is_asked_for_one_that_nobody_took() {
    let pinned = |at: u8| {
        let nodes = [Node::default(), byte(0, at), node(Op::ZExt, 64, 1, 0, at.into())];
        let record = Record::SymbolicAddress {
            site: 0,
            access: Access::Load,
            address: at.into(),
            length: 1,
            label: 2,
        };
        path(std::str::from_utf8(&[at]).unwrap(), &nodes, &[record])
    };
    let mut first = pinned(1);
    let mut others = Vec::new();
    for taken in [0, 2, 3, 4] {
        let other = pinned(taken);
        others.push(first.adopt(&other, other.steps()[0].constraint.unwrap().holds));
    }
    let mut solver = Checked::new(cairn_solver::Search::new(0));
    let input = solved(flip_besides(&mut first, 0, &others, &mut solver, Budget::default()));
    assert!(input.stdin.0[0] > 4, "{input}");
}

#[test]
fn a_new_run_is_held_against_the_old_one() {
    let old = [conditional(1, true, 6), conditional(2, false, 3), conditional(3, true, 6)];
    let old = path("ab", &nodes(), &old);
    let compare = |records: &[Record]| verify(&old, 1, &path("ab", &nodes(), records));
    assert_eq!(compare(&[conditional(1, true, 6), conditional(2, true, 3)]), Verification::Flipped);
    assert_eq!(compare(&[conditional(1, true, 6), conditional(2, false, 3)]), Verification::Same);
    assert_eq!(compare(&[conditional(1, false, 6)]), Verification::Diverged { after: 0 });
    assert_eq!(
        compare(&[conditional(1, true, 6), conditional(3, true, 6)]),
        Verification::Diverged { after: 1 }
    );
    assert_eq!(compare(&[conditional(1, true, 6)]), Verification::Ended { after: 1 });
    assert_eq!(Verification::Ended { after: 1 }.to_string(), "ended after 1 decision");
    assert_eq!(Verification::Diverged { after: 2 }.to_string(), "diverged after 2 decisions");
}

#[test]
fn what_only_we_demand_refutes_nothing() {
    // `stdin[0] != 'x'` is what a library function saw, and the program asks for it afterwards.
    let seen = |origin| path("ab", &nodes(), &[conditional(origin, false, 3), conditional(1, false, 3)]);
    assert_eq!(flip(&seen(2), 1, &mut solver(), Budget::default()), Flip::Unsat);
    assert_eq!(flip(&seen(NO_CONDITION), 1, &mut solver(), Budget::default()), Flip::Unsat);
    let path = seen(LIBRARY);
    let Flip::Solved(solved) = flip(&path, 1, &mut solver(), Budget::default()) else { panic!("not solved") };
    assert_eq!((solved.input.stdin, solved.demands), ("xb".into(), Demands::Own));
}

#[test]
fn nothing_is_impossible_behind_an_address_that_was_fixed() {
    let mut nodes = nodes();
    nodes.push(node(Op::ZExt, 64, 1, 0, b'a'.into()));
    let address =
        Record::SymbolicAddress { site: 0, access: Access::Load, address: b'a'.into(), length: 1, label: 7 };
    let path = path("ab", &nodes, &[address, conditional(1, false, 3), conditional(2, false, 3)]);
    let mut solver = Checked::new(cairn_solver::Search::new(0));
    let Flip::Solved(solved) = flip(&path, 1, &mut solver, Budget::default()) else { panic!("not solved") };
    assert_eq!((solved.input.stdin, solved.demands), ("xb".into(), Demands::Own));
    let again = flip(&path, 2, &mut solver, Budget::default());
    assert_eq!(again, Flip::Fixed(Fixed { n_addresses: 1, ..Fixed::default() }));
}

#[test]
fn a_value_that_is_not_followed_refutes_nothing() {
    // `stdin[0] == 'x' && opaque`, where the opaque value was false.
    let mut nodes = nodes();
    nodes.push(node(Op::Opaque, 1, 4, 0, 0));
    nodes.push(node(Op::And, 1, 3, 7, 0));
    let path = path("ab", &nodes, &[conditional(1, false, 8)]);
    let mut solver = Checked::new(cairn_solver::Search::new(0));
    let answer = flip(&path, 0, &mut solver, Budget::default());
    assert!(!matches!(answer, Flip::Unsat | Flip::Solved(_)), "{answer:?}");
}

#[test]
fn a_run_of_the_same_way_may_differ_in_library_functions() {
    let old = [conditional(LIBRARY, true, 6), conditional(2, false, 3)];
    let old = path("ab", &nodes(), &old);
    let new = path("ab", &nodes(), &[conditional(LIBRARY, false, 6), conditional(2, true, 3)]);
    assert_eq!(verify(&old, 1, &new), Verification::Flipped);
    // Where the library's decision is what was asked for, it counts.
    assert_eq!(verify(&old, 0, &new), Verification::Flipped);
}

#[test]
fn what_is_given_is_no_decision_and_holds_all_the_same() {
    // Only one of the two runs read the file.
    let old = path("ab", &nodes(), &[conditional(2, false, 3)]);
    let new = path("ab", &nodes(), &[conditional(GIVEN, true, 6), conditional(2, true, 3)]);
    assert_eq!(verify(&old, 0, &new), Verification::Flipped);
    let path = path("ab", &nodes(), &[conditional(GIVEN, false, 3), conditional(1, false, 3)]);
    assert_eq!(flip(&path, 1, &mut solver(), Budget::default()), Flip::Unsat);
}

#[test]
fn conditions_that_do_not_depend_on_the_input_count_where_both_runs_have_them() {
    let old = path("ab", &nodes(), &[conditional(1, true, 0), conditional(2, false, 3)]);
    let new = path("ab", &nodes(), &[conditional(1, false, 0), conditional(2, true, 3)]);
    assert_eq!(verify(&old, 1, &new), Verification::Diverged { after: 0 });
    let new = path("ab", &nodes(), &[conditional(2, true, 3)]);
    assert_eq!(verify(&old, 1, &new), Verification::Flipped);
}

#[test]
fn sizes_stay_within_limits() {
    let size = RegionId::new(RegionKind::StdinMetadata, 0);
    let nodes = [
        Node::default(),
        node(Op::Input, 64, size.0, 0, 2),
        node(Op::Constant, 64, 0, 0, 100),
        node(Op::ULt, 1, 2, 1, 0),
    ];
    let path = path("ab", &nodes, &[conditional(1, false, 3)]);
    assert_eq!(path.prefix(0).len(), 1);
    let mut solver = Checked::new(cairn_solver::Search::new(0));
    let input = solved(flip(&path, 0, &mut solver, Budget::default()));
    assert!((101..=1 << 20).contains(&input.stdin.0.len()), "{}", input.stdin.0.len());
}
