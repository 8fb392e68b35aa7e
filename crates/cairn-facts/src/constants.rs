//! The values of constants.

use crate::{
    clang::Cursor,
    tree::{NodeId, Tree},
    types,
};
use cairn_model::facts::{ConstantValue, TypeClass};
use clang_sys::*;

/// Whether `node` consists of literals, enumerators and operators only.
pub fn is_constant(tree: &Tree<'_>, node: NodeId) -> bool {
    let cursor = tree.cursor(node);
    let operands = || {
        let children = tree.children(node);
        !children.is_empty() && children.iter().all(|child| is_constant(tree, *child))
    };
    match cursor.kind() {
        CXCursor_IntegerLiteral
        | CXCursor_CXXBoolLiteralExpr
        | CXCursor_CharacterLiteral
        | CXCursor_FloatingLiteral
        | CXCursor_UnaryExpr => true,
        CXCursor_DeclRefExpr => match tree.template_argument(node) {
            Some(argument) => is_constant(tree, argument),
            None => is_enumerator(cursor),
        },
        CXCursor_ParenExpr
        | CXCursor_UnexposedExpr
        | CXCursor_CStyleCastExpr
        | CXCursor_CXXStaticCastExpr => tree.only_child(node).is_some_and(|child| is_constant(tree, child)),
        CXCursor_UnaryOperator => {
            matches!(
                cursor.unary_operator(),
                CXUnaryOperator_Plus
                    | CXUnaryOperator_Minus
                    | CXUnaryOperator_Not
                    | CXUnaryOperator_LNot
                    | CXUnaryOperator_Extension
            ) && operands()
        }
        CXCursor_BinaryOperator => {
            !matches!(cursor.binary_operator(), CXBinaryOperator_Assign | CXBinaryOperator_Comma)
                && operands()
        }
        CXCursor_ConditionalOperator => operands(),
        _ => false,
    }
}

/// Its value, if a double or 64 bits hold it.
pub fn value(cursor: Cursor<'_>) -> Option<ConstantValue> {
    let value_type = cursor.value_type();
    match types::class(value_type) {
        TypeClass::Bool | TypeClass::Signed | TypeClass::Unsigned => {
            let fits = value_type.n_bytes().is_some_and(|n_bytes| n_bytes <= 8);
            cursor.evaluate()?.filter(|_| fits).map(ConstantValue::Integer)
        }
        TypeClass::Float => cursor.evaluate_float().map(|value| ConstantValue::Float(value.to_bits())),
        _ => None,
    }
}

fn is_enumerator(cursor: Cursor<'_>) -> bool {
    cursor.referenced().is_some_and(|declaration| declaration.kind() == CXCursor_EnumConstantDecl)
}
