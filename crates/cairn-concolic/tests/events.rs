//! Values of sites and guideposts in recordings written by hand.

use cairn_abi::{
    mutants::{self, Guidepost, ValueKind, When},
    record::{GuidepostState, Record},
    symbolic::{Node, Op, RegionId, RegionKind},
};
use cairn_concolic::{
    Event, Flip, Limits, Path, Recording, Regions, Verification, flip, verify, verify_value,
};
use cairn_expr::{DEFAULT_OPERATIONS, infix};
use cairn_model::Input;
use cairn_solver::{Budget, Checked, Search};
use expect_test::{Expect, expect};

fn node(op: Op, width: u16, a: u32, b: u32, value: u64) -> Node {
    Node { op: op as u8, width, a, b, value, ..Node::default() }
}

/// A run on two bytes: labels 1 and 2 are the bytes, 4 is whether the first is `x`.
fn nodes(bytes: [u8; 2]) -> Vec<Node> {
    let stdin = RegionId::new(RegionKind::Stdin, 0).0;
    vec![
        Node::default(),
        node(Op::Input, 8, stdin, 0, bytes[0].into()),
        node(Op::Input, 8, stdin, 1, bytes[1].into()),
        node(Op::Constant, 8, 0, 0, b'x'.into()),
        node(Op::Eq, 1, 1, 3, (bytes[0] == b'x').into()),
    ]
}

fn guided(bytes: [u8; 2], records: &[Record], armed: &Guidepost) -> Path {
    let input = Input { stdin: bytes.to_vec().into(), ..Input::default() };
    let regions = Regions::new(input, Vec::new(), Limits::default());
    let nodes = nodes(bytes);
    Path::guided(Recording { records, nodes: &nodes, tables: &[] }, regions, Some(armed))
}

/// The first byte is not `x`; then the guidepost is asked about the second.
fn records(bytes: [u8; 2], state: GuidepostState) -> [Record; 2] {
    let condition = Record::Conditional { condition: 1, direction: bytes[0] == b'x', label: 4 };
    let value = bytes[1].into();
    [condition, Record::Guidepost { guidepost: 0, state, evaluation: 0, value, label: 2 }]
}

fn guidepost(predicate: mutants::Predicate, kind: ValueKind, values: &[u64]) -> Guidepost {
    let mut guidepost = Guidepost {
        when: When::Every as u32,
        predicate: predicate as u32,
        kind: kind as u32,
        bits: 8,
        n_values: values.len() as u32,
        ..Guidepost::NONE
    };
    guidepost.values[..values.len()].copy_from_slice(values);
    guidepost
}

/// What a broken guidepost demands otherwise.
fn check(armed: &Guidepost, value: u8, expected: Expect) {
    let bytes = [b'a', value];
    let path = guided(bytes, &records(bytes, GuidepostState::Broken), armed);
    let constraint = path.steps()[1].constraint.expect("it depends on the input");
    expected.assert_eq(&infix(path.dag(), constraint.otherwise, DEFAULT_OPERATIONS));
    let Flip::Solved(solved) = flip(&path, 1, &mut Checked::new(Search::new(0)), Budget::default()) else {
        panic!("it can be satisfied");
    };
    let new = [solved.input.stdin.0[0], solved.input.stdin.0[1]];
    assert_eq!(new[0], b'a', "the way to it is kept");
    let value = new[1].into();
    assert!(armed.admits(value, value, value), "{value}");
    let satisfied = guided(new, &records(new, GuidepostState::Satisfied), armed);
    assert_eq!(verify(&path, 1, &satisfied), Verification::Flipped);
}

#[test]
fn a_broken_guidepost_asks_for_what_it_wants() {
    use mutants::Predicate::*;
    check(&guidepost(OneOf, ValueKind::Unsigned, &[7]), 0, expect!["stdin[1] == 7"]);
    check(&guidepost(NoneOf, ValueKind::Unsigned, &[7]), 7, expect!["stdin[1] != 7"]);
    check(
        &guidepost(Between, ValueKind::Unsigned, &[10, 20]),
        0,
        expect!["(10 <= stdin[1]) & (stdin[1] <= 20)"],
    );
    check(
        &guidepost(Between, ValueKind::Signed, &[0xfe, 0xff]),
        0,
        expect!["(-2 <=s stdin[1]) & (stdin[1] <=s -1)"],
    );
}

#[test]
fn a_satisfied_guidepost_is_part_of_the_way() {
    let armed = guidepost(mutants::Predicate::OneOf, ValueKind::Unsigned, &[b'a'.into(), b'b'.into()]);
    let path = guided(*b"ab", &records(*b"ab", GuidepostState::Satisfied), &armed);
    let shown: Vec<String> =
        path.prefix(2).iter().map(|holds| infix(path.dag(), *holds, DEFAULT_OPERATIONS)).collect();
    assert_eq!(shown, ["stdin[0] != 'x'", "(stdin[1] == 'a') | (stdin[1] == 'b')"]);
}

#[test]
fn what_a_run_says_of_itself_has_to_be_so() {
    let armed = guidepost(mutants::Predicate::OneOf, ValueKind::Unsigned, &[7]);
    let lying = guided(*b"ab", &records(*b"ab", GuidepostState::Satisfied), &armed);
    assert_eq!(lying.steps()[1].constraint, None);
    // Nor is anything known of a guidepost of another width.
    let other = Guidepost { bits: 32, ..armed };
    let path = guided(*b"ab", &records(*b"ab", GuidepostState::Broken), &other);
    assert_eq!(path.steps()[1].constraint, None);
}

#[test]
fn an_evaluation_nobody_asked_about_demands_nothing() {
    let armed = guidepost(mutants::Predicate::OneOf, ValueKind::Unsigned, &[7]);
    let path = guided(*b"ab", &records(*b"ab", GuidepostState::Reached), &armed);
    assert_eq!(path.steps()[1].constraint, None);
}

fn site(evaluation: u32, value: u8, label: u32) -> Record {
    Record::SiteValue { site: 4, spot: 1, evaluation, value: value.into(), label, operands: [0, 0] }
}

#[test]
fn evaluations_are_counted_among_those_that_depend_on_the_input() {
    let armed = Guidepost::NONE;
    let path = guided(*b"ab", &[site(0, 9, 0), site(1, b'a', 1), site(2, b'b', 2)], &armed);
    let occurrences = path.steps().iter().map(|step| match step.event {
        Event::SiteValue { occurrence, .. } => occurrence,
        _ => panic!("these are values"),
    });
    assert_eq!(occurrences.collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_value_is_held_against_the_same_evaluation_on_the_same_way() {
    let condition = |direction| Record::Conditional { condition: 1, direction, label: 4 };
    let armed = Guidepost::NONE;
    let old = guided(*b"ab", &[site(0, b'a', 1), condition(false), site(1, b'b', 2)], &armed);
    let compare = |bytes: [u8; 2], records: &[Record]| {
        verify_value(&old, 2, b'q'.into(), &guided(bytes, records, &armed))
    };
    let first = site(0, b'a', 1);
    assert_eq!(compare(*b"aq", &[first, condition(false), site(1, b'q', 2)]), Verification::Valued);
    assert_eq!(compare(*b"ab", &[first, condition(false), site(1, b'b', 2)]), Verification::Same);
    let other = compare(*b"xq", &[first, condition(true), site(1, b'q', 2)]);
    assert_eq!(other, Verification::Diverged { after: 0 });
    assert_eq!(compare(*b"aq", &[first, site(1, b'q', 2)]), Verification::Diverged { after: 0 });
    assert_eq!(compare(*b"aq", &[first, condition(false)]), Verification::Ended { after: 1 });
}
