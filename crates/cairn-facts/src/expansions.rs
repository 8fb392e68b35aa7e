//! Where templates expand parameter packs.
//!
//! `(values + ...)` is one text and, in an instance, one expression for each value. A change of the text is no change of
//! one of these, so none of them can be changed.

use crate::{
    source::Sources,
    tree::{NodeId, Tree},
};
use cairn_model::facts::{ExpressionFact, ExpressionKind, Extent};
use clang_sys::*;
use std::collections::HashMap;

/// The expansions met so far.
#[derive(Default)]
pub struct Expansions {
    extents: Vec<Extent>,
}

impl Expansions {
    /// Finds those of a template.
    pub fn read<'u>(&mut self, template: &Tree<'u>, sources: &Sources<'u>) {
        for node in 0..template.len() as NodeId {
            if is_expansion(template, sources, node) {
                self.extents.push(sources.span(template.cursor(node)).extent);
            }
        }
    }

    /// Marks the expressions of an instance that stand in expansions.
    pub fn mark(&self, expressions: &mut [ExpressionFact]) {
        let mut n_alike: HashMap<(Extent, ExpressionKind), u32> = HashMap::new();
        for fact in expressions.iter() {
            *n_alike.entry((fact.extent, fact.kind)).or_default() += 1;
        }
        for fact in expressions {
            // A constructor that is called around a call stands where that stands.
            let is_repeated = fact.macro_name.is_none()
                && !matches!(fact.kind, ExpressionKind::Call | ExpressionKind::Other)
                && n_alike[&(fact.extent, fact.kind)] > 1;
            // What holds a fold begins or ends with one of the values, somewhere inside.
            let Extent { start, end } = fact.extent;
            let is_inside =
                |extent: &Extent| extent.contains(start) || extent.start < end && extent.contains(end);
            fact.is_expanded = is_repeated || self.extents.iter().any(is_inside);
        }
    }
}

/// Whether it is `pattern...` or a fold, which libclang does not name: it begins with a bracket of its own.
fn is_expansion<'u>(tree: &Tree<'u>, sources: &Sources<'u>, node: NodeId) -> bool {
    match tree.kind(node) {
        CXCursor_PackExpansionExpr => true,
        CXCursor_UnexposedExpr => {
            let start = |node: NodeId| sources.span(tree.cursor(node)).start;
            let has_bracket = tree.children(node).first().is_some_and(|first| start(*first) > start(node));
            let span = sources.span(tree.cursor(node));
            let text =
                span.file.map_or(&[][..], |file| &sources.text(file)[span.start..span.end.max(span.start)]);
            has_bracket && text.starts_with(b"(") && text.windows(3).any(|dots| dots == b"...")
        }
        _ => false,
    }
}
