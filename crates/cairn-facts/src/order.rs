//! The order in which clang emits expressions.

use crate::{
    conditions::for_parts,
    shapes::{self, Shape},
    source::Sources,
    tree::{NodeId, Tree},
    types,
};
use cairn_model::facts::TypeClass;
use clang_sys::*;

/// The nodes of `tree` that are expressions, operands before what uses them.
pub fn emission_order<'u>(tree: &Tree<'u>, sources: &Sources<'u>) -> Vec<NodeId> {
    let mut walk = Walk { tree, sources, nodes: Vec::new() };
    for root in tree.roots() {
        walk.visit(root);
    }
    walk.nodes
}

struct Walk<'c, 'u> {
    tree: &'c Tree<'u>,
    sources: &'c Sources<'u>,
    nodes: Vec<NodeId>,
}

impl Walk<'_, '_> {
    fn visit(&mut self, node: NodeId) {
        let tree = self.tree;
        match tree.kind(node) {
            CXCursor_ForStmt => {
                let parts = for_parts(tree, self.sources, node);
                let parts = [parts.init, parts.variable, parts.condition, parts.body, parts.increment];
                parts.into_iter().flatten().for_each(|part| self.visit(part));
            }
            CXCursor_LambdaExpr | CXCursor_StructDecl | CXCursor_ClassDecl | CXCursor_UnionDecl => {}
            _ if self.goes_backwards(node) => {
                tree.children(node).iter().rev().for_each(|child| self.visit(*child));
            }
            CXCursor_UnexposedExpr => match shapes::shape(tree, self.sources, node) {
                Shape::Elvis(common, other) => {
                    self.visit(common);
                    self.visit(other);
                }
                _ => tree.children(node).iter().for_each(|child| self.visit(*child)),
            },
            _ => tree.children(node).iter().for_each(|child| self.visit(*child)),
        }
        if tree.is_expression(node) {
            self.nodes.push(node);
        }
    }

    /// clang emits the right side of a scalar assignment first.
    fn goes_backwards(&self, node: NodeId) -> bool {
        match self.tree.binary_operator(node) {
            Some(CXBinaryOperator_Assign) => {
                types::class(self.tree.cursor(node).value_type()) != TypeClass::Record
            }
            Some(CXBinaryOperator_MulAssign..=CXBinaryOperator_OrAssign) => true,
            _ => false,
        }
    }
}
