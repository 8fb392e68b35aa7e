//! Names under which equal failures are one.
//!
//! A signature is the kind, and the innermost functions of the project's own code, without the rounds of a recursion: how
//! often and by which ways a function came back to itself says nothing about what is wrong. Addresses take no part, so it is
//! the same in every run.
//!
//! The innermost function has its line, because two mistakes in one function are two; callers have none, because one
//! mistake that is reached from several lines of a function is one. A hang is interrupted on any line of its loop, and a
//! stack is used up by whichever function of a recursion comes first; there no line takes part, and for a recursion the
//! functions are those of the cycle in alphabetical order.

use super::frames::Stack;
use cairn_model::Frame;
use std::collections::{BTreeMap, BTreeSet};

/// How many functions take part.
const N_FUNCTIONS: usize = 4;

/// What is certain about where a failure happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// The line.
    Line,
    /// The function.
    Function,
    /// A cycle of functions.
    Cycle,
}

/// The signature of a failure.
pub(super) fn signature(kind: &str, stack: &Stack, precision: Precision) -> String {
    let places = match precision {
        Precision::Cycle => cycle(stack),
        _ => Vec::new(),
    };
    let places = if places.is_empty() { innermost(stack, precision) } else { places };
    let places = if places.is_empty() { offsets(stack) } else { places };
    if places.is_empty() { kind.to_owned() } else { format!("{kind} in {}", places.join(" < ")) }
}

fn innermost(stack: &Stack, precision: Precision) -> Vec<String> {
    without_rounds(stack.own().collect())
        .into_iter()
        .take(N_FUNCTIONS)
        .enumerate()
        .map(|(index, frame)| match index {
            0 if precision == Precision::Line => with_line(frame),
            _ => frame.function.clone(),
        })
        .collect()
}

/// Each function once: behind it come the callers of its outermost call.
fn without_rounds(frames: Vec<&Frame>) -> Vec<&Frame> {
    let outermost: BTreeMap<&str, usize> =
        frames.iter().enumerate().map(|(index, frame)| (frame.function.as_str(), index)).collect();
    let mut kept = Vec::new();
    let mut next = 0;
    while let Some(frame) = frames.get(next) {
        kept.push(*frame);
        next = outermost[frame.function.as_str()] + 1;
    }
    kept
}

fn with_line(frame: &Frame) -> String {
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{} ({file}:{line})", frame.function),
        _ => frame.function.clone(),
    }
}

/// The functions that are on the stack more than once.
fn cycle(stack: &Stack) -> Vec<String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for frame in stack.own() {
        *counts.entry(&frame.function).or_default() += 1;
    }
    counts.retain(|_, count| *count > 1);
    counts.into_keys().take(N_FUNCTIONS).map(str::to_owned).collect()
}

/// Places in a program that has no names.
fn offsets(stack: &Stack) -> Vec<String> {
    let mut seen = BTreeSet::new();
    stack
        .offsets
        .iter()
        .filter(|offset| seen.insert(**offset))
        .take(N_FUNCTIONS)
        .map(|offset| format!("+{offset:#x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{super::frames::tests::stack, *};
    use expect_test::{Expect, expect};

    fn check(text: &str, precision: Precision, expected: &Expect) {
        expected.assert_eq(&signature("SIGSEGV", &stack(text), precision));
    }

    #[test]
    fn only_the_innermost_function_has_a_line() {
        check(
            "memcpy @libc\nf a.c:3\ng a.c:7\nmain a.c:9",
            Precision::Line,
            &expect!["SIGSEGV in f (a.c:3) < g < main"],
        );
        check("f a.c:3\ng a.c:7\nmain a.c:9", Precision::Function, &expect!["SIGSEGV in f < g < main"]);
    }

    #[test]
    fn the_depth_of_a_recursion_makes_no_difference() {
        let expected = expect!["SIGSEGV in leaf (a.c:1) < f < g < main"];
        check("leaf a.c:1\nf a.c:3\ng a.c:7\nf a.c:3\ng a.c:7\nmain a.c:9", Precision::Line, &expected);
        check("leaf a.c:1\nf a.c:3\ng a.c:7\nmain a.c:9", Precision::Line, &expected);
    }

    #[test]
    fn the_ways_of_a_recursion_make_no_difference() {
        let expected = expect!["SIGSEGV in product (a.c:1) < sum < main"];
        check("product a.c:1\nsum a.c:3\nmain a.c:9", Precision::Line, &expected);
        check(
            "product a.c:1\nsum a.c:3\natom a.c:5\nproduct a.c:2\nsum a.c:3\nmain a.c:9",
            Precision::Line,
            &expected,
        );
        check(
            "product a.c:1\nsum a.c:3\natom a.c:5\natom a.c:6\nproduct a.c:2\nsum a.c:4\nmain a.c:9",
            Precision::Line,
            &expected,
        );
        // A function that is entered on another way is another place.
        check(
            "product a.c:1\natom a.c:3\nmain a.c:9",
            Precision::Line,
            &expect!["SIGSEGV in product (a.c:1) < atom < main"],
        );
    }

    #[test]
    fn a_cycle_is_the_same_wherever_the_stack_ended() {
        let expected = expect!["SIGSEGV in f < g"];
        check("leaf a.c:1\nf a.c:3\ng a.c:7\nf a.c:3\ng a.c:7", Precision::Cycle, &expected);
        check("g a.c:7\nf a.c:3\ng a.c:7\nf a.c:3\ng a.c:7", Precision::Cycle, &expected);
    }

    #[test]
    fn a_program_without_names_is_known_by_its_addresses() {
        let mut stack = Stack::default();
        assert_eq!(signature("abort", &stack, Precision::Line), "abort");
        stack.offsets = vec![0x11, 0x22, 0x11];
        assert_eq!(signature("abort", &stack, Precision::Line), "abort in +0x11 < +0x22");
    }
}
