//! Switch statements and their labels.

use crate::{
    source::Sources,
    tree::{NodeId, Tree},
};
use cairn_model::facts::{Extent, LabelFact, SwitchFact};
use clang_sys::*;

/// Describes the switch `node` on `value`.
pub fn describe<'u>(
    tree: &Tree<'u>,
    sources: &Sources<'u>,
    node: NodeId,
    value: Option<NodeId>,
    body: &[NodeId],
) -> SwitchFact {
    let span = sources.span(tree.cursor(node));
    let mut labels = Vec::new();
    for part in body {
        collect_labels(tree, sources, *part, &mut labels);
    }
    let value = value.map(|value| sources.span(tree.cursor(value)));
    SwitchFact {
        place: span.extent.start,
        extent: span.extent,
        text: value.as_ref().map(|value| sources.excerpt(value)).unwrap_or_default(),
        value: value.map_or(span.extent, |value| value.extent),
        labels,
    }
}

fn collect_labels<'u>(tree: &Tree<'u>, sources: &Sources<'u>, node: NodeId, labels: &mut Vec<LabelFact>) {
    match tree.kind(node) {
        CXCursor_SwitchStmt | CXCursor_LambdaExpr => return,
        CXCursor_CaseStmt | CXCursor_DefaultStmt => labels.push(label(tree, sources, node)),
        _ => {}
    }
    for child in tree.children(node) {
        collect_labels(tree, sources, *child, labels);
    }
}

fn label<'u>(tree: &Tree<'u>, sources: &Sources<'u>, node: NodeId) -> LabelFact {
    let constants = match tree.children(node) {
        [constants @ .., _] if tree.kind(node) == CXCursor_CaseStmt => constants,
        _ => &[],
    };
    let value = |constant: &NodeId| tree.cursor(*constant).evaluate().flatten();
    let range = match constants {
        [only] => value(only).map(|only| (only, only)),
        [low, high] => value(low).zip(value(high)),
        _ => None,
    };
    // The node reaches over the statement that it labels; the label ends with its last constant or its keyword.
    let mut span = sources.span(tree.cursor(node));
    let last = constants.last().map(|last| sources.span(tree.cursor(*last)));
    match (span.file, last) {
        (_, Some(last)) if last.end >= span.start => {
            (span.end, span.extent.end) = (last.end, last.extent.end)
        }
        (Some(file), _) => {
            let mut scanner = sources.scan(file, span.start);
            scanner.token();
            span.end = scanner.offset;
            span.extent.end = sources.advance(file, span.start, span.extent.start, span.end);
        }
        _ => span.extent = Extent { start: span.extent.start, end: span.extent.start },
    }
    let labelled = tree.children(node).last().filter(|child| tree.kind(**child) == CXCursor_BreakStmt);
    LabelFact {
        range,
        extent: span.extent,
        text: sources.excerpt(&span),
        macro_name: sources.macro_name(&span),
        only_break: labelled.map(|child| sources.span(tree.cursor(*child)).extent.start),
    }
}
