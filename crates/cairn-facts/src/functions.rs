//! The functions of a unit.

use crate::{
    clang::{Cursor, Unit},
    conditions,
    expansions::Expansions,
    expressions::{Expressions, Surroundings},
    macros::Macros,
    records::Records,
    skips::Requests,
    source::Sources,
    tree::{NodeId, Tree},
    types::Types,
    variables::{Globals, Locals},
};
use cairn_model::facts::{CommentFact, FunctionFacts, InstanceFacts, UnitFacts};
use clang_sys::*;
use std::path::Path;

/// Facts of every function defined outside system headers.
pub fn of_unit(unit: &Unit, directory: &Path) -> UnitFacts {
    let (macros, mut declarations): (Vec<_>, Vec<_>) =
        unit.cursor().children().into_iter().partition(|child| child.kind() == CXCursor_MacroDefinition);
    declarations.retain(|child| !child.location().is_in_system_header());
    let mut reader = Reader {
        sources: Sources::new(unit, directory),
        types: Types::default(),
        globals: Globals::default(),
        records: Records::default(),
        macros: Macros::of(macros),
        functions: Vec::new(),
        instances: Vec::new(),
        is_in_template: false,
        instance_symbols: Vec::new(),
        expansions: Expansions::default(),
        comments: Vec::new(),
    };
    // Most instances come last, when the parser has seen everything; some come before what they are instances of.
    let (instances, declarations): (Vec<_>, Vec<_>) =
        declarations.into_iter().partition(|declaration| reader.is_instance(*declaration));
    for declaration in declarations {
        reader.declaration(declaration);
    }
    for instance in instances {
        reader.instance_symbols =
            instance.symbols().iter().map(|symbol| InstanceFacts::key(symbol)).collect();
        reader.declaration(instance);
    }
    UnitFacts {
        functions: reader.functions,
        instances: reader.instances,
        files: reader.sources.into_names(),
        variables: reader.globals.facts,
        records: reader.records.facts,
        comments_not_understood: reader.comments,
    }
}

struct Reader<'u> {
    sources: Sources<'u>,
    types: Types,
    globals: Globals<'u>,
    records: Records<'u>,
    macros: Macros<'u>,
    functions: Vec<FunctionFacts>,
    instances: Vec<InstanceFacts>,
    /// Whether what is read is part of a template.
    is_in_template: bool,
    /// The symbols of the instance that is read, if it is one.
    instance_symbols: Vec<String>,
    /// Where templates expand parameter packs.
    expansions: Expansions,
    comments: Vec<CommentFact>,
}

impl<'u> Reader<'u> {
    fn declaration(&mut self, cursor: Cursor<'u>) {
        match cursor.kind() {
            _ if is_function(cursor) && cursor.is_definition() => self.function(cursor),
            CXCursor_Namespace
            | CXCursor_LinkageSpec
            | CXCursor_UnexposedDecl
            | CXCursor_StructDecl
            | CXCursor_ClassDecl
            | CXCursor_UnionDecl
            | CXCursor_FriendDecl => self.members(cursor),
            CXCursor_ClassTemplate | CXCursor_ClassTemplatePartialSpecialization => {
                self.inside_template(true, |reader| reader.members(cursor));
            }
            // Lambdas that initialise variables of the program and members of classes.
            CXCursor_VarDecl | CXCursor_FieldDecl => {
                if is_file_scope(cursor) {
                    let n_functions = self.functions.len() as u32;
                    self.globals.number(cursor, n_functions, &self.sources, &self.types);
                }
                let expressions: Vec<_> =
                    cursor.children().into_iter().filter(|child| child.is_expression()).collect();
                if !expressions.is_empty() {
                    self.inner_functions(&Tree::new(&expressions));
                }
            }
            _ => {}
        }
    }

    fn members(&mut self, cursor: Cursor<'u>) {
        for child in cursor.children() {
            self.declaration(child);
        }
    }

    /// Does something as part of a template, or as part of what is read already.
    fn inside_template(&mut self, is_template: bool, read: impl FnOnce(&mut Self)) {
        let around = self.is_in_template;
        self.is_in_template |= is_template;
        read(self);
        self.is_in_template = around;
    }

    /// Whether a declaration is what the compiler made of a template; a specialisation has a text of its own.
    fn is_instance(&self, cursor: Cursor<'u>) -> bool {
        if !is_function(cursor) || cursor.template().is_none() {
            return false;
        }
        let span = self.sources.span(cursor);
        span.file.is_none_or(|file| self.sources.scan(file, span.start).word() != Some("template"))
    }

    fn function(&mut self, cursor: Cursor<'u>) {
        let children = cursor.children();
        let Some(body) = children.last().copied().filter(|body| is_body(*body)) else { return };
        // A constructor's initialisers follow the names of what they initialise.
        let is_name = |cursor: Cursor<'u>| {
            matches!(cursor.kind(), CXCursor_MemberRef | CXCursor_TypeRef | CXCursor_TemplateRef)
        };
        let initializers = children
            .windows(2)
            .filter(|pair| is_name(pair[0]) && pair[1].is_expression() && is_constructor(cursor))
            .map(|pair| pair[1]);
        let roots: Vec<_> = initializers.chain([body]).collect();
        let is_template = is_template(cursor);
        self.inside_template(is_template, |reader| reader.push(cursor, name(cursor), &roots));
    }

    fn push(&mut self, cursor: Cursor<'u>, name: String, roots: &[Cursor<'u>]) {
        let tree = Tree::new(roots);
        let parameters: Vec<_> =
            cursor.children().into_iter().filter(|child| child.kind() == CXCursor_ParmDecl).collect();
        let locals = Locals::collect(&parameters, &tree, &self.sources, &self.types);
        let mut expressions = Expressions::collect(
            &tree,
            &mut Surroundings {
                sources: &self.sources,
                types: &self.types,
                locals: &locals,
                globals: &mut self.globals,
                records: &mut self.records,
                macros: &self.macros,
                n_functions_before: self.functions.len() as u32,
            },
        );
        if self.is_in_template {
            self.expansions.read(&tree, &self.sources);
        } else if !self.instance_symbols.is_empty() {
            self.expansions.mark(&mut expressions.facts);
        }
        let found = conditions::find(&tree, &self.sources, &mut expressions);
        let span = self.sources.span(cursor);
        let text = span.file.map_or(&[][..], |file| self.sources.text(file));
        let requests = Requests::of(text, &span, span.extent.start.line);
        for (offset, text) in requests.not_understood {
            let Some(file) = span.file else { continue };
            let place = self.sources.place_of_byte(file, offset, &span);
            let comment = CommentFact { place, text };
            if !self.comments.contains(&comment) {
                self.comments.push(comment);
            }
        }
        let facts = FunctionFacts {
            name,
            place: self.sources.place(cursor.location()),
            is_template: self.is_in_template,
            extent: span.extent,
            result: cursor.result_type().map(|result| self.types.describe(result)),
            variables: locals.facts,
            is_skipped: requests.is_skipped,
            skipped_lines: requests.lines,
            expressions: expressions.facts,
            conditions: found.conditions,
            decisions: found.decisions,
            switches: found.switches,
        };
        match self.instance_symbols.is_empty() {
            true => self.functions.push(facts),
            false => {
                self.instances
                    .push(InstanceFacts { symbols: self.instance_symbols.clone(), function: facts });
            }
        }
        self.inner_functions(&tree);
    }

    /// Lambdas and methods of local classes.
    fn inner_functions(&mut self, tree: &Tree<'u>) {
        let mut todo: Vec<NodeId> = tree.roots().rev().collect();
        while let Some(node) = todo.pop() {
            let cursor = tree.cursor(node);
            match cursor.kind() {
                CXCursor_LambdaExpr => {
                    let body =
                        cursor.children().into_iter().rfind(|child| child.kind() == CXCursor_CompoundStmt);
                    // A template in an instance has instances of its own.
                    let is_generic = is_generic(cursor);
                    let is_read = self.instance_symbols.is_empty() || !is_generic;
                    if let Some(body) = body.filter(|_| is_read) {
                        self.inside_template(is_generic, |reader| {
                            reader.push(cursor, "operator()".to_owned(), &[body]);
                        });
                    }
                    // Its captures may hold lambdas; its body has just been read.
                    todo.extend(tree.children(node).iter().rev().filter(|child| tree.is_expression(**child)));
                }
                // Methods in an instance are instances that come by themselves.
                CXCursor_StructDecl | CXCursor_ClassDecl | CXCursor_UnionDecl => {
                    if self.instance_symbols.is_empty() {
                        self.declaration(cursor);
                    }
                }
                _ => todo.extend(tree.children(node).iter().rev()),
            }
        }
    }
}

fn is_function(cursor: Cursor<'_>) -> bool {
    matches!(
        cursor.kind(),
        CXCursor_FunctionDecl
            | CXCursor_CXXMethod
            | CXCursor_Constructor
            | CXCursor_Destructor
            | CXCursor_ConversionFunction
            | CXCursor_FunctionTemplate
    )
}

/// Whether it is a template or a method of one, perhaps defined outside its class.
fn is_template(cursor: Cursor<'_>) -> bool {
    let mut around = Some(cursor);
    while let Some(declaration) = around {
        match declaration.kind() {
            CXCursor_FunctionTemplate
            | CXCursor_ClassTemplate
            | CXCursor_ClassTemplatePartialSpecialization => return true,
            CXCursor_TranslationUnit | CXCursor_Namespace => return false,
            _ => around = declaration.semantic_parent(),
        }
    }
    false
}

/// Whether a lambda is a template, because it has parameters of any type.
fn is_generic(lambda: Cursor<'_>) -> bool {
    let mut parameters = lambda.children().into_iter().filter(|child| child.kind() == CXCursor_ParmDecl);
    parameters.any(|parameter| parameter.value_type().canonical().spelling().contains("type-parameter-"))
}

/// Whether a variable belongs to no function, class or namespace.
fn is_file_scope(cursor: Cursor<'_>) -> bool {
    cursor.kind() == CXCursor_VarDecl
        && cursor
            .semantic_parent()
            .is_some_and(|parent| matches!(parent.kind(), CXCursor_TranslationUnit | CXCursor_LinkageSpec))
}

fn is_body(cursor: Cursor<'_>) -> bool {
    matches!(cursor.kind(), CXCursor_CompoundStmt | CXCursor_CXXTryStmt)
}

fn is_constructor(cursor: Cursor<'_>) -> bool {
    cursor.kind() == CXCursor_Constructor || cursor.kind() == CXCursor_FunctionTemplate
}

/// The name without template arguments.
fn name(cursor: Cursor<'_>) -> String {
    let mut name = cursor.spelling();
    if !name.starts_with("operator")
        && let Some(arguments) = name.find('<')
    {
        name.truncate(arguments);
    }
    name
}
