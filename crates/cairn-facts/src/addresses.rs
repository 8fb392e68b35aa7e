//! Which pointers are constant.
//!
//! clang selects between two addresses as it does between two numbers, but libclang's evaluator only tells of
//! numbers and strings.

use crate::{
    clang::Cursor,
    folding,
    tree::{NodeId, Tree},
};
use clang_sys::*;

/// Whether `node` is an address known when the program is linked, or a null pointer.
pub fn is_constant(tree: &Tree<'_>, node: NodeId) -> bool {
    let node = tree.without_hidden(node);
    let cursor = tree.cursor(node);
    match cursor.kind() {
        CXCursor_StringLiteral
        | CXCursor_AddrLabelExpr
        | CXCursor_GNUNullExpr
        | CXCursor_CXXNullPtrLiteralExpr => true,
        CXCursor_CStyleCastExpr | CXCursor_CXXStaticCastExpr | CXCursor_CXXReinterpretCastExpr => {
            tree.only_child(node).is_some_and(|child| is_constant(tree, child))
        }
        CXCursor_IntegerLiteral => true,
        CXCursor_UnaryOperator if cursor.unary_operator() == CXUnaryOperator_AddrOf => {
            tree.only_child(node).is_some_and(|child| is_constant_object(tree, child))
        }
        CXCursor_BinaryOperator
            if matches!(cursor.binary_operator(), CXBinaryOperator_Add | CXBinaryOperator_Sub) =>
        {
            tree.operands(node).is_some_and(|(left, right)| {
                is_constant(tree, left) && folding::constant(tree, right).is_some()
                    || folding::constant(tree, left).is_some() && is_constant(tree, right)
            })
        }
        // What decays to a pointer.
        CXCursor_DeclRefExpr | CXCursor_MemberRefExpr | CXCursor_ArraySubscriptExpr => {
            is_array_or_function(cursor) && is_constant_object(tree, node)
        }
        _ => false,
    }
}

/// Whether the address of what `node` names is constant.
fn is_constant_object(tree: &Tree<'_>, node: NodeId) -> bool {
    let node = tree.without_hidden(node);
    let cursor = tree.cursor(node);
    match cursor.kind() {
        CXCursor_StringLiteral => true,
        CXCursor_DeclRefExpr => cursor.referenced().is_some_and(|declaration| match declaration.kind() {
            CXCursor_FunctionDecl => true,
            CXCursor_VarDecl => declaration.has_static_storage() && !is_reference(declaration),
            _ => false,
        }),
        CXCursor_MemberRefExpr => tree.only_child(node).is_some_and(|base| {
            let is_arrow = tree.cursor(base).value_type().canonical().kind() == CXType_Pointer;
            if is_arrow { is_constant(tree, base) } else { is_constant_object(tree, base) }
        }),
        CXCursor_ArraySubscriptExpr => tree
            .operands(node)
            .is_some_and(|(base, index)| is_constant(tree, base) && folding::constant(tree, index).is_some()),
        CXCursor_UnaryOperator if cursor.unary_operator() == CXUnaryOperator_Deref => {
            tree.only_child(node).is_some_and(|child| is_constant(tree, child))
        }
        _ => false,
    }
}

fn is_array_or_function(cursor: Cursor<'_>) -> bool {
    matches!(
        cursor.value_type().canonical().kind(),
        CXType_ConstantArray | CXType_IncompleteArray | CXType_FunctionProto | CXType_FunctionNoProto
    )
}

fn is_reference(cursor: Cursor<'_>) -> bool {
    matches!(cursor.value_type().canonical().kind(), CXType_LValueReference | CXType_RValueReference)
}
