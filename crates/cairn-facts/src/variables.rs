//! The variables of a unit and of its functions.

use crate::{
    clang::{Cursor, Type},
    source::Sources,
    tree::{NodeId, Tree},
    types::{self, Types},
};
use cairn_model::facts::{Extent, Named, TypeClass, TypeFact, VariableFact, VariableScope, VariableShape};
use clang_sys::*;
use std::collections::HashMap;

/// Variables outside functions, numbered as they are met.
#[derive(Default)]
pub struct Globals<'u> {
    /// The facts.
    pub facts: Vec<VariableFact>,
    numbers: Numbers<'u>,
}

/// Declarations by where they stand; a macro may declare several at one location.
type Numbers<'u> = HashMap<u32, Vec<(Cursor<'u>, u32)>>;

impl<'u> Globals<'u> {
    /// The number of a variable that is declared outside functions, which is added if it is new.
    pub fn number(
        &mut self,
        declaration: Cursor<'u>,
        n_functions_before: u32,
        sources: &Sources<'u>,
        types: &Types,
    ) -> u32 {
        let canonical = declaration.canonical();
        if let Some(number) = find(&self.numbers, canonical) {
            return number;
        }
        let is_system = canonical.location().is_in_system_header();
        let scope = VariableScope::Unit { n_functions_before, is_system };
        let number = self.facts.len() as u32;
        self.facts.push(describe(declaration, scope, sources, types));
        insert(&mut self.numbers, canonical, number);
        number
    }
}

/// The parameters and variables of one function.
#[derive(Default)]
pub struct Locals<'u> {
    /// The facts.
    pub facts: Vec<VariableFact>,
    numbers: Numbers<'u>,
}

impl<'u> Locals<'u> {
    /// Of a function with these parameters and this body.
    pub fn collect(
        parameters: &[Cursor<'u>],
        tree: &Tree<'u>,
        sources: &Sources<'u>,
        types: &Types,
    ) -> Locals<'u> {
        let mut locals = Locals::default();
        let Some(body) = tree.roots().next_back() else { return locals };
        let whole = sources.span(tree.cursor(body)).extent;
        for parameter in parameters.iter().filter(|parameter| !parameter.spelling().is_empty()) {
            locals.add(*parameter, VariableScope::Block(whole), sources, types);
        }
        for root in tree.roots() {
            locals.walk(tree, root, whole, sources, types);
        }
        locals
    }

    /// The number of a declaration, if it is one of this function's.
    pub fn number(&self, declaration: Cursor<'u>) -> Option<u32> {
        find(&self.numbers, declaration)
    }

    fn walk(&mut self, tree: &Tree<'u>, node: NodeId, around: Extent, sources: &Sources<'u>, types: &Types) {
        let cursor = tree.cursor(node);
        let mut around = around;
        match cursor.kind() {
            CXCursor_VarDecl => {
                let mut visible = sources.span(cursor).extent;
                visible.start = visible.end;
                visible.end = around.end;
                self.add(cursor, VariableScope::Block(visible), sources, types);
            }
            CXCursor_CompoundStmt
            | CXCursor_ForStmt
            | CXCursor_CXXForRangeStmt
            | CXCursor_IfStmt
            | CXCursor_WhileStmt
            | CXCursor_SwitchStmt
            | CXCursor_CXXCatchStmt => around = sources.span(cursor).extent,
            CXCursor_LambdaExpr => return,
            _ => {}
        }
        for child in tree.children(node) {
            self.walk(tree, *child, around, sources, types);
        }
    }

    fn add(&mut self, declaration: Cursor<'u>, scope: VariableScope, sources: &Sources<'u>, types: &Types) {
        let number = self.facts.len() as u32;
        self.facts.push(describe(declaration, scope, sources, types));
        insert(&mut self.numbers, declaration, number);
    }
}

/// What the variable that `cursor` refers to is called here.
pub fn named<'u>(
    cursor: Cursor<'u>,
    locals: &Locals<'u>,
    global: impl FnOnce(Cursor<'u>) -> u32,
) -> Option<Named> {
    let declaration = cursor.referenced()?;
    match declaration.kind() {
        CXCursor_ParmDecl => locals.number(declaration).map(Named::Local),
        CXCursor_VarDecl => match locals.number(declaration) {
            Some(number) => Some(Named::Local(number)),
            None => (!declaration.is_local()).then(|| Named::Global(global(declaration))),
        },
        _ => None,
    }
}

fn describe<'u>(
    declaration: Cursor<'u>,
    scope: VariableScope,
    sources: &Sources<'u>,
    types: &Types,
) -> VariableFact {
    let whole = declaration.value_type();
    if is_decayed(declaration) {
        return decayed_parameter(declaration, scope, sources);
    }
    let is_array = matches!(whole.canonical().kind(), CXType_ConstantArray | CXType_IncompleteArray);
    let held = if is_array { whole.canonical().element() } else { whole };
    let canonical = held.canonical();
    let shape = match canonical.kind() {
        _ if is_array => VariableShape::Array,
        CXType_LValueReference | CXType_RValueReference | CXType_VariableArray => VariableShape::Other,
        _ if is_scalar(canonical) => VariableShape::Scalar,
        _ => VariableShape::Other,
    };
    VariableFact {
        name: declaration.spelling(),
        place: sources.place(declaration.location()),
        shape,
        value_type: types.describe(held),
        canonical: without_qualifiers(&canonical.spelling()),
        is_const: canonical.is_const() || whole.canonical().is_const(),
        is_volatile: canonical.is_volatile() || whole.canonical().is_volatile(),
        is_static: declaration.has_static_storage(),
        is_external: declaration.is_external(),
        scope,
    }
}

/// Whether it is a parameter written as an array, which is a pointer.
pub fn is_decayed(declaration: Cursor<'_>) -> bool {
    declaration.kind() == CXCursor_ParmDecl
        && matches!(
            declaration.value_type().canonical().kind(),
            CXType_ConstantArray | CXType_IncompleteArray | CXType_VariableArray
        )
}

fn decayed_parameter<'u>(
    declaration: Cursor<'u>,
    scope: VariableScope,
    sources: &Sources<'u>,
) -> VariableFact {
    let spelling = format!("{} *", declaration.value_type().canonical().element().spelling());
    VariableFact {
        name: declaration.spelling(),
        place: sources.place(declaration.location()),
        shape: VariableShape::Scalar,
        value_type: TypeFact { spelling: spelling.clone(), class: TypeClass::Pointer, bits: 64 },
        canonical: spelling,
        is_const: false,
        is_volatile: false,
        is_static: false,
        is_external: false,
        scope,
    }
}

fn is_scalar(value_type: Type<'_>) -> bool {
    matches!(
        types::class(value_type),
        TypeClass::Bool | TypeClass::Signed | TypeClass::Unsigned | TypeClass::Float | TypeClass::Pointer
    )
}

/// A type's text without what is said of the object itself.
pub fn without_qualifiers(text: &str) -> String {
    let mut text = text;
    // Of a pointer the qualifiers of the object come last, of anything else first.
    if text.contains('*') {
        while let Some(rest) =
            ["const", "volatile", "restrict"].iter().find_map(|word| text.strip_suffix(word))
        {
            text = rest.trim_end();
        }
    } else {
        while let Some(rest) = ["const ", "volatile "].iter().find_map(|word| text.strip_prefix(word)) {
            text = rest;
        }
    }
    text.to_owned()
}

fn find<'u>(numbers: &Numbers<'u>, declaration: Cursor<'u>) -> Option<u32> {
    let here = numbers.get(&declaration.location().identity())?;
    here.iter().find(|(other, _)| *other == declaration).map(|(_, number)| *number)
}

fn insert<'u>(numbers: &mut Numbers<'u>, declaration: Cursor<'u>, number: u32) {
    numbers.entry(declaration.location().identity()).or_default().push((declaration, number));
}

#[cfg(test)]
mod tests {
    use super::without_qualifiers;

    #[test]
    fn qualifiers_of_the_object_itself_go() {
        assert_eq!(without_qualifiers("const volatile int"), "int");
        assert_eq!(without_qualifiers("const char *const"), "const char *");
        assert_eq!(without_qualifiers("const char *"), "const char *");
    }
}
