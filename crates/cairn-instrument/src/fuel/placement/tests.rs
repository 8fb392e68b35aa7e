//! Programs as text: a function is a name (with `*` when its address is taken, `!` when it is naked) and its blocks in
//! order, each with what it calls and where it goes. `f` calls a function of the text, `libc.f` one outside, `*` one
//! through a pointer; `~` before the successors makes the end a computed goto.

use super::*;
use crate::ir::{IrBlock, IrInstruction};
use expect_test::{Expect, expect};

fn parse(text: &str) -> IrModule {
    let is_name = |line: &&str| line.ends_with(':');
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let bare = |name: &str| name.trim_end_matches([':', '*', '!']).to_string();
    let names: Vec<String> = lines.iter().filter(|line| is_name(line)).map(|line| bare(line)).collect();
    let mut functions: Vec<IrFunction> = Vec::new();
    for line in &lines {
        if is_name(line) {
            functions.push(IrFunction {
                symbol: bare(line),
                source: None,
                blocks: Vec::new(),
                is_naked: line.contains('!'),
                address_taken: line.contains('*'),
                signature: String::new(),
            });
            continue;
        }
        let (calls, ways) = line.split_once("->").expect("a block has `->`");
        let mut kinds: Vec<IrKind> =
            calls.split_whitespace().map(|callee| IrKind::Call(parse_callee(callee, &names))).collect();
        kinds.push(parse_end(ways.trim()));
        let instructions = kinds.into_iter().map(|kind| IrInstruction { place: None, kind }).collect();
        functions.last_mut().expect("a name comes first").blocks.push(IrBlock { instructions });
    }
    IrModule { files: Vec::new(), functions }
}

fn parse_callee(text: &str, names: &[String]) -> Callee {
    match (text, text.strip_prefix("libc.")) {
        ("*", _) => Callee::Indirect("void ()".into()),
        ("llvm", _) => Callee::Intrinsic,
        (_, Some(name)) => Callee::External { name: name.into(), no_return: false },
        _ => Callee::Defined(names.iter().position(|name| name == text).expect("a function of the text")),
    }
}

fn parse_end(text: &str) -> IrKind {
    let ways: Vec<usize> = text
        .trim_start_matches('~')
        .split_whitespace()
        .map(|way| way.parse().expect("a block number"))
        .collect();
    match ways.as_slice() {
        _ if text.starts_with('~') => IrKind::OtherEnd(ways),
        [] => IrKind::Return,
        [to] => IrKind::Jump(*to),
        [a, b] => IrKind::Branch(None, [*a, *b]),
        _ => panic!("at most two ways"),
    }
}

fn show(name: &str, steps: &Steps) -> String {
    let mut words = Vec::new();
    if steps.at_entry {
        words.push("entry".to_string());
    }
    words.extend(steps.at_blocks.iter().map(|block| format!("block {block}")));
    words.extend(
        steps.in_register.iter().map(|found| format!("register {} {:?}", found.header, found.blocks)),
    );
    words.extend(steps.after_calls.iter().map(|call| format!("after {}.{}", call.block, call.instruction)));
    format!("{name}: {}\n", if words.is_empty() { "-".into() } else { words.join(", ") })
}

#[track_caller]
fn check(text: &str, fuel: Fuel, expected: Expect) {
    let module = parse(text);
    let steps = place(&module, fuel);
    let lines = module.functions.iter().zip(&steps).map(|(function, steps)| show(&function.symbol, steps));
    expected.assert_eq(&lines.collect::<String>());
}

const LOOP: &str = "
    f:
      -> 1
      -> 1 2
      ->
";

#[test]
fn an_innermost_loop_that_calls_nothing_is_spared_or_counts_in_a_register() {
    check(LOOP, Fuel::WhereCallsAre, expect!["f: -\n"]);
    check(LOOP, Fuel::Everywhere, expect!["f: register 1 {1}\n"]);
}

#[test]
fn a_loop_that_calls_takes_steps() {
    let text = |callee: &str| format!("f:\n -> 1\n -> 2\n {callee} -> 1 3\n ->\n");
    for callee in ["libc.getchar", "*"] {
        check(&text(callee), Fuel::WhereCallsAre, expect!["f: block 1\n"]);
        check(&text(callee), Fuel::Everywhere, expect!["f: block 1\n"]);
    }
    check(&text("llvm"), Fuel::WhereCallsAre, expect!["f: -\n"]);
}

#[test]
fn outer_loops_take_steps() {
    let text = "
        f:
          -> 1
          -> 2
          -> 2 3
          -> 1 4
          ->
    ";
    check(text, Fuel::WhereCallsAre, expect!["f: block 1\n"]);
    check(text, Fuel::Everywhere, expect!["f: block 1, register 2 {2}\n"]);
}

#[test]
fn loops_with_two_ways_in_take_steps_and_so_do_loops_around_them() {
    let text = "
        f:
          -> 1 2
          -> 2
          -> 1 3
          ->
        around:
          -> 1
          -> 2 3
          -> 3
          -> 2 4
          -> 1 5
          ->
    ";
    check(
        text,
        Fuel::WhereCallsAre,
        expect![[r#"
        f: block 1
        around: block 1, block 2
    "#]],
    );
}

#[test]
fn a_loop_by_computed_goto_cannot_count_in_a_register() {
    let text = "
        f:
          -> 1
          -> ~ 1 2
          ->
        entered:
          -> ~ 1 2
          -> 1 2
          ->
    ";
    check(text, Fuel::WhereCallsAre, expect!["f: -\nentered: -\n"]);
    check(text, Fuel::Everywhere, expect!["f: block 1\nentered: block 1\n"]);
}

#[test]
fn every_circle_of_calls_passes_a_step_and_other_functions_take_none() {
    let text = "
        leaf:
          ->
        self:
          leaf self ->
        even:
          odd ->
        odd:
          even leaf ->
        user:
          even self ->
    ";
    check(
        text,
        Fuel::WhereCallsAre,
        expect![[r#"
        leaf: -
        self: entry
        even: entry
        odd: -
        user: -
    "#]],
    );
}

#[test]
fn what_is_called_through_pointers_takes_steps_and_covers_circles_through_it() {
    let text = "
        callback*:
          -> 
        walk:
          visit ->
        visit*:
          walk * ->
    ";
    check(
        text,
        Fuel::WhereCallsAre,
        expect![[r#"
        callback: entry
        walk: -
        visit: entry
    "#]],
    );
}

#[test]
fn a_second_return_is_a_step() {
    check("f:\n libc._setjmp libc.longjmp ->\n", Fuel::WhereCallsAre, expect!["f: after 0.0\n"]);
}

#[test]
fn naked_functions_are_left_alone() {
    check("f*!:\n -> 1\n libc.g -> 1 2\n ->\n", Fuel::Everywhere, expect!["f: -\n"]);
}
