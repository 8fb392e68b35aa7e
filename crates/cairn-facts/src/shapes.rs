//! What an expression is to code generation, where libclang does not say.

use crate::{
    clang::Cursor,
    source::Sources,
    tree::{NodeId, Tree},
};
use clang_sys::*;

/// An expression by how its parts are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing of its own: parentheses, `__extension__`, an implicit cast, the clean-up around a full expression, a
    /// template's parameter around what an instance has for it.
    Hidden(NodeId),
    /// `condition ? yes : no`.
    Conditional(NodeId, NodeId, NodeId),
    /// `common ?: other`.
    Elvis(NodeId, NodeId),
    /// `_Generic` and `__builtin_choose_expr`: only the chosen operand exists, if we could tell which it is.
    Choice(Option<NodeId>),
    /// A function of its own.
    Lambda,
    /// Anything else: its children one after the other.
    Plain,
}

/// Finds the shape of `node`.
pub fn shape(tree: &Tree<'_>, sources: &Sources<'_>, node: NodeId) -> Shape {
    let children = tree.children(node);
    match tree.kind(node) {
        CXCursor_LambdaExpr => Shape::Lambda,
        CXCursor_ParenExpr => tree.only_child(node).map_or(Shape::Plain, Shape::Hidden),
        CXCursor_UnaryOperator if tree.cursor(node).unary_operator() == CXUnaryOperator_Extension => {
            tree.only_child(node).map_or(Shape::Plain, Shape::Hidden)
        }
        CXCursor_ConditionalOperator => match children {
            [condition, yes, no] => Shape::Conditional(*condition, *yes, *no),
            _ => Shape::Plain,
        },
        CXCursor_GenericSelectionExpr => Shape::Choice(generic_choice(tree, sources, node)),
        CXCursor_UnexposedExpr => hidden_shape(tree, sources, node),
        CXCursor_DeclRefExpr => tree.template_argument(node).map_or(Shape::Plain, Shape::Hidden),
        _ => Shape::Plain,
    }
}

fn hidden_shape(tree: &Tree<'_>, sources: &Sources<'_>, node: NodeId) -> Shape {
    let range = |node: NodeId| {
        let span = sources.span(tree.cursor(node));
        (span.start, span.end)
    };
    match tree.children(node) {
        [child] if tree.is_expression(*child) => {
            let (inner, outer) = (range(*child), range(node));
            // `va_arg (…)` is hidden too, but reaches further than its operand.
            if inner == outer || is_macro(tree, node) { Shape::Hidden(*child) } else { Shape::Plain }
        }
        // The operand before `?:` appears as itself, as the condition and as the value if it is true.
        [common, condition, value, other]
            if range(*common) == range(*condition) && range(*common) == range(*value) =>
        {
            Shape::Elvis(*common, *other)
        }
        [condition, yes, no] if is_choose(tree, sources, node) => {
            let value = tree.cursor(*condition).evaluate().flatten();
            Shape::Choice(value.map(|value| if value != 0 { *yes } else { *no }))
        }
        _ => Shape::Plain,
    }
}

fn is_macro(tree: &Tree<'_>, node: NodeId) -> bool {
    tree.cursor(node).extent().0.is_macro()
}

/// Whether a hidden node with three operands is `__builtin_choose_expr`. In a macro there is no text to see, so
/// there we go by the constant first operand.
fn is_choose(tree: &Tree<'_>, sources: &Sources<'_>, node: NodeId) -> bool {
    let span = sources.span(tree.cursor(node));
    match span.file {
        Some(file) if !span.begins_in_macro => {
            sources.scan(file, span.start).word() == Some("__builtin_choose_expr")
        }
        _ => tree.cursor(tree.children(node)[0]).evaluate().flatten().is_some(),
    }
}

/// The association that `_Generic` chose: the one whose type is that of the whole; among several, the one whose
/// written type is that of the operand.
fn generic_choice(tree: &Tree<'_>, sources: &Sources<'_>, node: NodeId) -> Option<NodeId> {
    let (operand, associations) = tree.children(node).split_first()?;
    let type_of = |cursor: Cursor<'_>| cursor.value_type().canonical().identity();
    let whole = type_of(tree.cursor(node));
    let fitting: Vec<NodeId> = associations
        .iter()
        .copied()
        .filter(|association| type_of(tree.cursor(*association)) == whole)
        .collect();
    if let [only] = fitting[..] {
        return Some(only);
    }
    let operand_type = tree.cursor(*operand).value_type();
    let is_operand_type = |label: &str| {
        [operand_type.spelling(), operand_type.canonical().spelling()].iter().any(|spelling| {
            let words = |text: &str| text.split_whitespace().collect::<String>();
            words(spelling.trim_start_matches("const ").trim_start_matches("volatile ")) == words(label)
        })
    };
    let labels = generic_labels(sources, tree.cursor(node));
    let chosen = labels
        .iter()
        .position(|label| is_operand_type(label))
        .or_else(|| labels.iter().position(|label| label == "default"));
    chosen.and_then(|index| associations.get(index).copied()).filter(|node| fitting.contains(node))
}

/// The written types of `_Generic (operand, type: …, default: …)`; none inside a macro.
fn generic_labels(sources: &Sources<'_>, cursor: Cursor<'_>) -> Vec<String> {
    let span = sources.span(cursor);
    let mut labels = Vec::new();
    let Some(file) = span.file.filter(|_| !span.begins_in_macro) else { return labels };
    let mut scanner = sources.scan(file, span.start);
    let (mut depth, mut label) = (0usize, None::<String>);
    while scanner.offset < span.end
        && let Some(token) = scanner.token()
    {
        match token {
            b"(" | b"[" | b"{" => depth += 1,
            b")" | b"]" | b"}" => depth -= 1,
            b"," if depth == 1 => {
                label = Some(String::new());
                continue;
            }
            b":" if depth == 1 => {
                labels.extend(label.take());
                continue;
            }
            _ => {}
        }
        if let Some(label) = &mut label {
            label.push(' ');
            label.push_str(&String::from_utf8_lossy(token));
        }
    }
    labels.iter().map(|label| label.trim().to_owned()).collect()
}
