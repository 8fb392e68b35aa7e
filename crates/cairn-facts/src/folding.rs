//! Which expressions clang folds.
//!
//! libclang's evaluator is clang's own, but disregards side effects: it says that `f() && 0` is 0. Clang folds a
//! condition only if nothing is lost by that, so we look for what would be.

use crate::{
    addresses,
    tree::{NodeId, Tree},
    types,
};
use cairn_model::facts::TypeClass;
use clang_sys::*;

/// The truth value of a condition that clang folds. As in clang only integers fold: `if (1.0)` is tested.
pub fn constant(tree: &Tree<'_>, node: NodeId) -> Option<bool> {
    let class = types::class(tree.cursor(node).value_type());
    if !matches!(class, TypeClass::Bool | TypeClass::Signed | TypeClass::Unsigned) {
        return None;
    }
    let value = tree.cursor(node).evaluate()??;
    is_pure(tree, node).then_some(value != 0)
}

/// Whether clang evaluates `node` without condition because it is a constant of any kind.
pub fn is_evaluatable(tree: &Tree<'_>, node: NodeId) -> bool {
    tree.cursor(node).evaluate().is_some() && is_pure(tree, node) || addresses::is_constant(tree, node)
}

fn is_pure(tree: &Tree<'_>, node: NodeId) -> bool {
    if let Some(operator) = tree.binary_operator(node) {
        match operator {
            CXBinaryOperator_LAnd | CXBinaryOperator_LOr => {
                let Some((left, right)) = tree.operands(node) else { return false };
                let Some(value) = constant(tree, left) else { return false };
                return value == (operator == CXBinaryOperator_LOr) || is_pure(tree, right);
            }
            CXBinaryOperator_Assign..=CXBinaryOperator_OrAssign => return false,
            CXBinaryOperator_Comma => {
                let operands = tree.operands(node);
                return operands
                    .is_some_and(|(left, right)| is_evaluatable(tree, left) && is_pure(tree, right));
            }
            _ => {}
        }
    }
    match tree.kind(node) {
        // A call that is evaluated at all has been evaluated completely.
        CXCursor_CallExpr | CXCursor_StmtExpr => tree.cursor(node).evaluate().is_some(),
        CXCursor_LambdaExpr | CXCursor_CXXNewExpr | CXCursor_CXXDeleteExpr | CXCursor_CXXThrowExpr => false,
        CXCursor_ConditionalOperator => match tree.children(node) {
            [condition, yes, no] => {
                constant(tree, *condition).is_some_and(|value| is_pure(tree, if value { *yes } else { *no }))
            }
            _ => false,
        },
        CXCursor_UnaryOperator
            if matches!(
                tree.cursor(node).unary_operator(),
                CXUnaryOperator_PostInc
                    | CXUnaryOperator_PostDec
                    | CXUnaryOperator_PreInc
                    | CXUnaryOperator_PreDec
            ) =>
        {
            false
        }
        _ => tree.children(node).iter().all(|child| is_pure(tree, *child)),
    }
}
