//! Which child of `if`, `switch`, `while` and `for` is which.
//!
//! libclang lists the parts that are there and not their names. Most are told by kind; for the rest we look at
//! the text for `;`. In a macro there is no text, and we go by what such parts usually are.

use crate::{
    source::{ForHeader, Scanner, Sources},
    tree::{NodeId, Tree},
};
use clang_sys::*;

/// The parts of an `if`, `while` or `switch`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Header<'t> {
    /// The initialisation of C++17.
    pub init: Option<NodeId>,
    /// The variable declared in place of the condition.
    pub variable: Option<NodeId>,
    /// The condition or the value switched on.
    pub condition: Option<NodeId>,
    /// What it governs.
    pub arms: &'t [NodeId],
    /// Whether it says `constexpr`.
    pub is_constexpr: bool,
}

/// The parts of a `for`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ForParts {
    /// The initialisation.
    pub init: Option<NodeId>,
    /// The variable declared in place of the condition.
    pub variable: Option<NodeId>,
    /// The condition.
    pub condition: Option<NodeId>,
    /// The increment.
    pub increment: Option<NodeId>,
    /// The body.
    pub body: Option<NodeId>,
}

/// Reads `if`, `while` or `switch`.
pub fn header<'t>(tree: &'t Tree<'_>, sources: &Sources<'_>, node: NodeId) -> Header<'t> {
    let mut header = Header::default();
    let mut rest = tree.children(node);
    let text = scanner(tree, sources, node);
    if let Some(mut words) = text {
        words.word();
        header.is_constexpr = words.word() == Some("constexpr");
    }
    if let [first, others @ ..] = rest
        && tree.kind(*first) == CXCursor_VarDecl
    {
        (header.variable, rest) = (Some(*first), others);
    }
    let has_init = match rest.first() {
        Some(first) if matches!(tree.kind(*first), CXCursor_DeclStmt | CXCursor_NullStmt) => true,
        // libclang 19 leaves out the initialisation of `switch`, which then has two children at most.
        Some(_) if rest.len() > 2 => text.is_some_and(|text| text.semicolons_in_header() > 0),
        _ => false,
    };
    if let [first, others @ ..] = rest
        && has_init
    {
        (header.init, rest) = (Some(*first), others);
    }
    // `if consteval` has no condition, only arms.
    if let [first, others @ ..] = rest
        && tree.is_expression(*first)
    {
        (header.condition, rest) = (Some(*first), others);
    }
    header.arms = rest;
    header
}

/// Reads a `for`.
pub fn for_parts(tree: &Tree<'_>, sources: &Sources<'_>, node: NodeId) -> ForParts {
    let Some((body, rest)) = tree.children(node).split_last() else { return ForParts::default() };
    let mut parts = ForParts { body: Some(*body), ..ForParts::default() };
    let mut rest = rest.to_vec();
    if let Some(at) = rest.iter().position(|part| tree.kind(*part) == CXCursor_VarDecl) {
        parts.variable = Some(rest.remove(at));
    }
    let written = scanner(tree, sources, node).and_then(Scanner::for_header).filter(|header| {
        let n_parts =
            [header.has_init, header.has_condition, header.has_increment].iter().filter(|has| **has).count();
        n_parts == rest.len()
    });
    let present = written.unwrap_or_else(|| usual_parts(tree, &rest));
    let mut rest = rest.into_iter();
    parts.init = if present.has_init { rest.next() } else { None };
    parts.condition = if present.has_condition { rest.next() } else { None };
    parts.increment = if present.has_increment { rest.next() } else { None };
    parts
}

fn usual_parts(tree: &Tree<'_>, parts: &[NodeId]) -> ForHeader {
    let changes = |node: &NodeId| {
        let node = tree.without_hidden(*node);
        matches!(
            tree.binary_operator(node),
            Some(CXBinaryOperator_Assign..=CXBinaryOperator_OrAssign | CXBinaryOperator_Comma)
        ) || matches!(
            tree.unary_operator(node),
            Some(
                CXUnaryOperator_PostInc
                    | CXUnaryOperator_PostDec
                    | CXUnaryOperator_PreInc
                    | CXUnaryOperator_PreDec
            )
        )
    };
    let is_init = |node: &NodeId| {
        tree.kind(*node) == CXCursor_DeclStmt
            || tree.binary_operator(tree.without_hidden(*node)) == Some(CXBinaryOperator_Assign)
    };
    let (has_init, has_condition, has_increment) = match parts {
        [] => (false, false, false),
        [only] if is_init(only) => (true, false, false),
        [only] => (false, !changes(only), changes(only)),
        [first, second] if is_init(first) => (true, !changes(second), changes(second)),
        [_, second] => (!changes(second), true, changes(second)),
        _ => (true, true, true),
    };
    ForHeader { has_init, has_condition, has_increment }
}

fn scanner<'u>(tree: &Tree<'_>, sources: &Sources<'u>, node: NodeId) -> Option<Scanner<'u>> {
    let span = sources.span(tree.cursor(node));
    span.file.filter(|_| !span.begins_in_macro).map(|file| sources.scan(file, span.start))
}
