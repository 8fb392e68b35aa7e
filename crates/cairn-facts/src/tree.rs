//! A function's body as plain nodes.
//!
//! libclang gives children through callbacks, one cursor at a time. We copy a body once, leave out what has no
//! code (types, names of members, operands that are not evaluated) and ask questions of the copy.

use crate::clang::Cursor;
use clang_sys::*;
use std::ops::Range;

/// A node's number in its [`Tree`].
pub type NodeId = u32;

/// The nodes of one function body, parents before children.
pub struct Tree<'u> {
    nodes: Vec<Node<'u>>,
    n_roots: usize,
}

struct Node<'u> {
    cursor: Cursor<'u>,
    children: Vec<NodeId>,
}

impl<'u> Tree<'u> {
    /// Copies what is below `roots` (a body, and a constructor's initialisers before it).
    pub fn new(roots: &[Cursor<'u>]) -> Tree<'u> {
        let mut tree = Tree { nodes: Vec::new(), n_roots: roots.len() };
        for root in roots {
            tree.nodes.push(Node { cursor: *root, children: Vec::new() });
        }
        let mut next = 0;
        while next < tree.nodes.len() {
            let children = kept_children(tree.nodes[next].cursor);
            let first = tree.nodes.len() as NodeId;
            tree.nodes[next].children = (first..first + children.len() as NodeId).collect();
            tree.nodes.extend(children.into_iter().map(|cursor| Node { cursor, children: Vec::new() }));
            next += 1;
        }
        tree
    }

    /// How many nodes there are; they are numbered from 0.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What it was copied from, in order.
    pub fn roots(&self) -> Range<NodeId> {
        0..self.n_roots as NodeId
    }

    /// The cursor a node was copied from.
    pub fn cursor(&self, node: NodeId) -> Cursor<'u> {
        self.nodes[node as usize].cursor
    }

    /// Its kind.
    pub fn kind(&self, node: NodeId) -> CXCursorKind {
        self.cursor(node).kind()
    }

    /// Its children.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        &self.nodes[node as usize].children
    }

    /// Its only child.
    pub fn only_child(&self, node: NodeId) -> Option<NodeId> {
        match self.children(node) {
            [child] => Some(*child),
            _ => None,
        }
    }

    /// Both operands of a binary expression.
    pub fn operands(&self, node: NodeId) -> Option<(NodeId, NodeId)> {
        match self.children(node) {
            [left, right] => Some((*left, *right)),
            _ => None,
        }
    }

    /// Whether it is an expression.
    pub fn is_expression(&self, node: NodeId) -> bool {
        self.cursor(node).is_expression()
    }

    /// The operator if it is a binary expression or an assignment.
    pub fn binary_operator(&self, node: NodeId) -> Option<CXBinaryOperatorKind> {
        matches!(self.kind(node), CXCursor_BinaryOperator | CXCursor_CompoundAssignOperator)
            .then(|| self.cursor(node).binary_operator())
    }

    /// The operator if it is a unary expression.
    pub fn unary_operator(&self, node: NodeId) -> Option<CXUnaryOperatorKind> {
        (self.kind(node) == CXCursor_UnaryOperator).then(|| self.cursor(node).unary_operator())
    }

    /// Whether it is `&&` or `||`, not overloaded.
    pub fn is_logical(&self, node: NodeId) -> bool {
        matches!(self.binary_operator(node), Some(CXBinaryOperator_LAnd | CXBinaryOperator_LOr))
    }

    /// What is inside parentheses and `__extension__`.
    pub fn without_parens(&self, mut node: NodeId) -> NodeId {
        while let Some(child) = self.only_child(node) {
            let is_paren = self.kind(node) == CXCursor_ParenExpr
                || self.unary_operator(node) == Some(CXUnaryOperator_Extension);
            if !is_paren {
                break;
            }
            node = child;
        }
        node
    }

    /// What is inside parentheses and `!`, and how many `!` there were. Like clang, this stops at hidden nodes:
    /// a condition with temporaries to destroy is not the `&&` inside it.
    pub fn without_not(&self, node: NodeId) -> (NodeId, u32) {
        let mut node = self.without_parens(node);
        let mut n_nots = 0;
        while self.unary_operator(node) == Some(CXUnaryOperator_LNot) {
            let Some(child) = self.only_child(node) else { break };
            node = self.without_parens(child);
            n_nots += 1;
        }
        (node, n_nots)
    }

    /// What is inside parentheses and everything libclang does not name, such as implicit casts.
    pub fn without_hidden(&self, mut node: NodeId) -> NodeId {
        loop {
            node = self.without_parens(node);
            match self.only_child(node) {
                Some(child) if self.kind(node) == CXCursor_UnexposedExpr && self.is_expression(child) => {
                    node = child
                }
                Some(child) if self.template_argument(node).is_some() => node = child,
                _ => return node,
            }
        }
    }

    /// What an instance of a template has for the parameter `node` names: libclang shows it below a name that is empty.
    pub fn template_argument(&self, node: NodeId) -> Option<NodeId> {
        let child = self.only_child(node).filter(|_| self.kind(node) == CXCursor_DeclRefExpr)?;
        self.cursor(node).spelling().is_empty().then_some(child)
    }

    /// Whether a jump from outside may lead into `node`.
    pub fn contains_label(&self, node: NodeId) -> bool {
        let mut todo = vec![(node, true)];
        while let Some((node, counts_cases)) = todo.pop() {
            let kind = self.kind(node);
            if kind == CXCursor_LabelStmt
                || (counts_cases && matches!(kind, CXCursor_CaseStmt | CXCursor_DefaultStmt))
            {
                return true;
            }
            let counts_cases = counts_cases && kind != CXCursor_SwitchStmt;
            if kind != CXCursor_LambdaExpr {
                todo.extend(self.children(node).iter().map(|child| (*child, counts_cases)));
            }
        }
        false
    }
}

/// The children of a cursor that have code.
fn kept_children(cursor: Cursor<'_>) -> Vec<Cursor<'_>> {
    match cursor.kind() {
        // Not evaluated, or constant.
        CXCursor_UnaryExpr | CXCursor_CXXTypeidExpr | CXCursor_SizeOfPackExpr => Vec::new(),
        CXCursor_StructDecl | CXCursor_ClassDecl | CXCursor_UnionDecl => Vec::new(),
        CXCursor_VarDecl => variable_parts(cursor),
        // What comes before the operand belongs to the type.
        CXCursor_CStyleCastExpr
        | CXCursor_CompoundLiteralExpr
        | CXCursor_CXXStaticCastExpr
        | CXCursor_CXXDynamicCastExpr
        | CXCursor_CXXReinterpretCastExpr
        | CXCursor_CXXConstCastExpr
        | CXCursor_CXXFunctionalCastExpr => {
            cursor.children().into_iter().rfind(|child| child.is_expression()).into_iter().collect()
        }
        _ => cursor.children().into_iter().filter(|child| is_kept(*child)).collect(),
    }
}

fn is_kept(cursor: Cursor<'_>) -> bool {
    cursor.is_expression()
        || cursor.is_statement()
        || matches!(
            cursor.kind(),
            CXCursor_VarDecl | CXCursor_StructDecl | CXCursor_ClassDecl | CXCursor_UnionDecl
        )
}

/// The sizes of a variable-length array, and the initialiser.
fn variable_parts(cursor: Cursor<'_>) -> Vec<Cursor<'_>> {
    let initializer = cursor.initializer();
    let has_sizes = cursor.value_type().canonical().kind() == CXType_VariableArray;
    cursor
        .children()
        .into_iter()
        .filter(|child| child.is_expression() && (has_sizes || initializer == Some(*child)))
        .collect()
}
