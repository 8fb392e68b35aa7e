//! What a condition reads and compares with.

use crate::{
    tree::{NodeId, Tree},
    types,
};
use cairn_model::facts::{ConditionFact, ConstantKind, Emission, Extent, TypeClass};
use clang_sys::*;

/// Traits of one condition, `!` around it aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// See [`ConditionFact::compares_with`].
    pub compares_with: Option<ConstantKind>,
    /// See [`ConditionFact::reads_pointer`].
    pub reads_pointer: bool,
    /// See [`ConditionFact::reads_local`].
    pub reads_local: bool,
    /// See [`ConditionFact::uses_external_call`].
    pub uses_external_call: bool,
}

impl Traits {
    /// Reads the traits of the condition `node`.
    pub fn of(tree: &Tree<'_>, node: NodeId) -> Traits {
        let mut traits = Traits { compares_with: compared_constant(tree, node), ..Traits::default() };
        traits.read(tree, node, true);
        traits
    }

    /// A condition with these traits and nothing else to tell.
    pub fn condition(
        self,
        expression: u32,
        decision: u32,
        extent: Extent,
        emission: Emission,
    ) -> ConditionFact {
        ConditionFact {
            expression,
            extent,
            place: extent.start,
            decision,
            is_negated: false,
            is_value: false,
            emission,
            arms: Vec::new(),
            is_inverted: false,
            constant: None,
            compares_with: self.compares_with,
            reads_pointer: self.reads_pointer,
            reads_local: self.reads_local,
            uses_external_call: self.uses_external_call,
        }
    }

    /// `is_direct` as long as the value found becomes the condition's and is not a call's argument.
    fn read(&mut self, tree: &Tree<'_>, node: NodeId, is_direct: bool) {
        let cursor = tree.cursor(node);
        match cursor.kind() {
            CXCursor_LambdaExpr => return,
            CXCursor_DeclRefExpr => {
                self.reads_local |= cursor.referenced().is_some_and(|declaration| {
                    matches!(declaration.kind(), CXCursor_VarDecl | CXCursor_ParmDecl)
                        && declaration.is_local()
                });
            }
            CXCursor_ArraySubscriptExpr => self.reads_pointer |= is_direct,
            CXCursor_UnaryOperator if cursor.unary_operator() == CXUnaryOperator_Deref => {
                self.reads_pointer |= is_direct;
            }
            CXCursor_MemberRefExpr => self.reads_pointer |= is_direct && is_through_pointer(tree, node),
            CXCursor_CallExpr => {
                self.read_call(tree, node, is_direct);
                return;
            }
            _ => {}
        }
        for child in tree.children(node) {
            self.read(tree, *child, is_direct);
        }
    }

    fn read_call(&mut self, tree: &Tree<'_>, node: NodeId, is_direct: bool) {
        let callee = tree.cursor(node).referenced();
        let name = callee.map(|callee| callee.spelling()).unwrap_or_default();
        // These hand their first argument through.
        let is_transparent = name.starts_with("__builtin_expect");
        let is_function = callee.is_some_and(|callee| {
            matches!(
                callee.kind(),
                CXCursor_FunctionDecl
                    | CXCursor_CXXMethod
                    | CXCursor_ConversionFunction
                    | CXCursor_Constructor
            )
        });
        let is_external = is_function && callee.is_some_and(|callee| callee.definition().is_none());
        self.uses_external_call |= is_direct && !is_transparent && is_external;
        for child in tree.children(node) {
            self.read(tree, *child, is_direct && is_transparent);
        }
    }
}

fn is_through_pointer(tree: &Tree<'_>, node: NodeId) -> bool {
    match tree.children(node).first() {
        Some(base) => types::class(tree.cursor(*base).value_type()) == TypeClass::Pointer,
        // An unwritten `this`.
        None => tree.cursor(node).referenced().is_some_and(|member| member.kind() == CXCursor_FieldDecl),
    }
}

/// The constant that the condition compares with.
fn compared_constant(tree: &Tree<'_>, node: NodeId) -> Option<ConstantKind> {
    let node = tree.without_hidden(node);
    if let Some(CXBinaryOperator_LT..=CXBinaryOperator_NE) = tree.binary_operator(node) {
        let (left, right) = tree.operands(node)?;
        let (constant, other) = match (literal(tree, left), literal(tree, right)) {
            (_, Some(constant)) => (constant, left),
            (Some(constant), None) => (constant, right),
            (None, None) => return None,
        };
        if constant != ConstantKind::Integer {
            return Some(constant);
        }
        if has_string_argument(tree, other) {
            return Some(ConstantKind::String);
        }
        let is_pointer = types::class(tree.cursor(other).value_type()) == TypeClass::Pointer;
        return Some(if is_pointer { ConstantKind::Null } else { constant });
    }
    if tree.kind(node) != CXCursor_CallExpr {
        return None;
    }
    let name = tree.cursor(node).spelling();
    if name.starts_with("__builtin_expect") {
        return tree
            .children(node)
            .get(1)
            .and_then(|value| compared_constant(tree, tree.without_not(*value).0));
    }
    if matches!(
        name.as_str(),
        "operator==" | "operator!=" | "operator<" | "operator>" | "operator<=" | "operator>="
    ) {
        return tree.children(node).iter().find_map(|operand| literal(tree, *operand));
    }
    has_string_argument(tree, node).then_some(ConstantKind::String)
}

fn has_string_argument(tree: &Tree<'_>, node: NodeId) -> bool {
    let node = tree.without_hidden(node);
    tree.kind(node) == CXCursor_CallExpr
        && tree.children(node).iter().any(|argument| literal(tree, *argument) == Some(ConstantKind::String))
}

fn literal(tree: &Tree<'_>, node: NodeId) -> Option<ConstantKind> {
    let node = tree.without_hidden(node);
    let cursor = tree.cursor(node);
    match cursor.kind() {
        CXCursor_IntegerLiteral | CXCursor_CXXBoolLiteralExpr | CXCursor_UnaryExpr => {
            Some(ConstantKind::Integer)
        }
        CXCursor_CharacterLiteral => Some(ConstantKind::Character),
        CXCursor_StringLiteral => Some(ConstantKind::String),
        CXCursor_FloatingLiteral => Some(ConstantKind::Float),
        CXCursor_CXXNullPtrLiteralExpr | CXCursor_GNUNullExpr => Some(ConstantKind::Null),
        CXCursor_DeclRefExpr => {
            let is_enumerator = cursor
                .referenced()
                .is_some_and(|declaration| declaration.kind() == CXCursor_EnumConstantDecl);
            is_enumerator.then_some(ConstantKind::Integer)
        }
        CXCursor_UnaryOperator
            if matches!(cursor.unary_operator(), CXUnaryOperator_Minus | CXUnaryOperator_Not) =>
        {
            literal(tree, tree.only_child(node)?)
        }
        // `(void *) 0` and `(char) 'x'`.
        CXCursor_CStyleCastExpr | CXCursor_CXXStaticCastExpr | CXCursor_CXXFunctionalCastExpr => {
            let inner = literal(tree, tree.only_child(node)?)?;
            let is_pointer = types::class(cursor.value_type()) == TypeClass::Pointer;
            Some(if is_pointer && inner == ConstantKind::Integer { ConstantKind::Null } else { inner })
        }
        _ => None,
    }
}
