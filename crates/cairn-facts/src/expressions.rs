//! Every expression of a function, with its place as debug information has it.

use crate::{
    clang::Cursor,
    constants,
    macros::{Macros, Operator},
    order,
    records::Records,
    shapes::{self, Shape},
    source::{Sources, Span},
    tree::{NodeId, Tree},
    types::Types,
    variables::{self, Globals, Locals},
};
use cairn_model::facts::{ExpressionFact, ExpressionKind, Named, Place, UsedBy};
use clang_sys::*;

/// What expressions of a function refer to.
pub struct Surroundings<'c, 'u> {
    /// The files.
    pub sources: &'c Sources<'u>,
    /// The types.
    pub types: &'c Types,
    /// The function's own variables.
    pub locals: &'c Locals<'u>,
    /// The unit's.
    pub globals: &'c mut Globals<'u>,
    /// Structures.
    pub records: &'c mut Records<'u>,
    /// The macros.
    pub macros: &'c Macros<'u>,
    /// How many functions come before this one.
    pub n_functions_before: u32,
}

/// The expressions of one function, and which node became which.
pub struct Expressions {
    /// The facts, parents before children.
    pub facts: Vec<ExpressionFact>,
    numbers: Vec<Option<u32>>,
}

impl Expressions {
    /// Lists the expressions of `tree`.
    pub fn collect<'u>(tree: &Tree<'u>, around: &mut Surroundings<'_, 'u>) -> Expressions {
        let (sources, types) = (around.sources, around.types);
        let mut collector = Collector {
            tree,
            sources,
            types,
            around,
            facts: Vec::new(),
            textless: Vec::new(),
            numbers: Vec::new(),
            parents: parents(tree),
        };
        collector.numbers.resize(tree.len(), None);
        for root in tree.roots() {
            collector.visit(root, None, false);
        }
        // What is made of parts that have no text has none that could be changed.
        for number in collector.textless {
            let parent = collector.facts[number as usize].parent;
            for number in parent.into_iter().chain([number]) {
                collector.facts[number as usize].is_foreign = true;
            }
        }
        let mut expressions = Expressions { facts: collector.facts, numbers: collector.numbers };
        for (rank, node) in order::emission_order(tree, sources).into_iter().enumerate() {
            if let Some(number) = expressions.number(node) {
                // Hidden nodes around an expression come after it and change nothing.
                let order = &mut expressions.facts[number as usize].order;
                *order = (*order).min(rank as u32);
            }
        }
        expressions
    }

    /// The number of the expression that `node` is or wraps.
    pub fn number(&self, node: NodeId) -> Option<u32> {
        self.numbers[node as usize]
    }
}

struct Collector<'c, 's, 'u> {
    tree: &'c Tree<'u>,
    sources: &'c Sources<'u>,
    types: &'c Types,
    around: &'c mut Surroundings<'s, 'u>,
    facts: Vec<ExpressionFact>,
    /// Those that hold a part of a macro's use.
    textless: Vec<u32>,
    numbers: Vec<Option<u32>>,
    /// What each node is directly below.
    parents: Vec<Option<NodeId>>,
}

impl<'u> Collector<'_, '_, 'u> {
    /// `in_constant` inside an expression that is a constant as a whole.
    fn visit(&mut self, node: NodeId, parent: Option<u32>, in_constant: bool) {
        let tree = self.tree;
        if !tree.is_expression(node) {
            for child in statement_parts(tree, node) {
                self.visit(*child, parent, false);
            }
            self.note_use(node);
            return;
        }
        let shape = shapes::shape(tree, self.sources, node);
        if let Shape::Hidden(child) = shape {
            self.visit(child, parent, in_constant);
            self.numbers[node as usize] = self.numbers[child as usize];
            return;
        }
        let number = self.facts.len() as u32;
        self.numbers[node as usize] = Some(number);
        let mut fact = self.describe(node, parent, shape);
        let is_constant = in_constant || constants::is_constant(tree, node);
        if is_constant && !in_constant {
            fact.constant = constants::value(tree.cursor(node));
        }
        self.facts.push(fact);
        match shape {
            Shape::Hidden(_) | Shape::Lambda => {}
            Shape::Elvis(common, other) => {
                self.visit(common, Some(number), is_constant);
                self.visit(other, Some(number), is_constant);
            }
            Shape::Choice(chosen) => {
                if let Some(chosen) = chosen {
                    self.visit(chosen, Some(number), is_constant);
                }
            }
            Shape::Conditional(..) | Shape::Plain => {
                for child in tree.children(node) {
                    self.visit(*child, Some(number), is_constant);
                }
            }
        }
    }

    /// Tells the expression that a statement returns, or that initialises a variable.
    fn note_use(&mut self, node: NodeId) {
        let cursor = self.tree.cursor(node);
        let Some(child) = self.tree.children(node).last().copied() else { return };
        let Some(number) = self.numbers[child as usize] else { return };
        let used_by = match cursor.kind() {
            CXCursor_ReturnStmt => UsedBy::Return(self.sources.span(cursor).extent.start),
            CXCursor_VarDecl if cursor.initializer() == Some(self.tree.cursor(child)) => {
                match self.around.locals.number(cursor) {
                    Some(variable) => UsedBy::Variable(variable),
                    None => return,
                }
            }
            _ => return,
        };
        self.facts[number as usize].used_by = used_by;
    }

    fn describe(&mut self, node: NodeId, parent: Option<u32>, shape: Shape) -> ExpressionFact {
        let cursor = self.tree.cursor(node);
        let span = self.sources.span(cursor);
        let macro_name = self.sources.macro_name(&span);
        let (kind, operator) = self.kind(node, shape);
        let place = match macro_name {
            // Everything in a macro stands at its use.
            Some(_) => span.extent.start,
            None => self.place(node, kind, &operator, &span),
        };
        if macro_name.is_none() && !self.has_own_text(node, kind, &operator, &span) {
            self.textless.push(self.facts.len() as u32);
        }
        let value_type = cursor.value_type();
        let canonical = value_type.canonical();
        let text = self.sources.excerpt(&span);
        let is_of_system_macro =
            macro_name.as_ref().is_some_and(|name| self.is_of_system_macro(cursor, name, &text));
        let is_macro_use = is_of_system_macro && self.is_whole_use(node, parent, &span);
        let is_decayed =
            kind == ExpressionKind::Reference && cursor.referenced().is_some_and(variables::is_decayed);
        ExpressionFact {
            parent,
            kind,
            operator,
            value_type: self.types.describe(value_type),
            extent: span.extent,
            place,
            is_foreign: is_of_system_macro && !is_macro_use,
            is_macro_use,
            macro_name,
            text,
            names: self.named(cursor, kind),
            constant: None,
            is_array: matches!(
                canonical.kind(),
                CXType_ConstantArray | CXType_IncompleteArray | CXType_VariableArray
            ) && !is_decayed,
            is_volatile: canonical.is_volatile(),
            is_expanded: false,
            order: u32::MAX,
            used_by: UsedBy::Other,
        }
    }

    /// Whether the text is that of a system header's macro. A name that stands for all of the expression is the word the
    /// program uses.
    fn is_of_system_macro(&self, cursor: Cursor<'u>, macro_name: &str, text: &str) -> bool {
        let (start, end) = cursor.extent();
        !self.around.macros.is_own(macro_name)
            && text != macro_name
            && (start.is_macro_text() || end.is_macro_text())
    }

    /// Whether an expression is all that the macro's use at `span` stands for, but for brackets and conversions.
    fn is_whole_use(&self, node: NodeId, parent: Option<u32>, span: &Span) -> bool {
        let begins_there = |other: NodeId| {
            let other = self.sources.span(self.tree.cursor(other));
            (other.begins_in_macro && other.file == span.file && other.start == span.start).then_some(other)
        };
        let mut top = node;
        let around = loop {
            let Some(around) = self.parents[top as usize] else { return false };
            match (begins_there(around), shapes::shape(self.tree, self.sources, around)) {
                (Some(other), Shape::Hidden(_)) if other.end <= span.end => top = around,
                (Some(other), _) if other.end <= span.end => return false,
                // A loop or the like whose head is in the macro and whose body is not.
                (Some(_), _) if !self.tree.is_expression(around) => return false,
                _ => break around,
            }
        };
        // What is around may hold only a part of the use, or several.
        let is_in_textless =
            self.tree.is_expression(around) && parent.is_some_and(|parent| self.textless.contains(&parent));
        let mut beside = self.tree.children(around).iter().filter(|other| **other != top);
        !is_in_textless && beside.all(|other| begins_there(*other).is_none())
    }

    /// Whether an expression at whose ends macros stand holds their uses as wholes.
    fn has_own_text(&self, node: NodeId, kind: ExpressionKind, operator: &str, span: &Span) -> bool {
        let Some(file) = span.file else { return true };
        let last_macro = self.last_macro(node, kind, span);
        if !span.begins_in_macro && last_macro.is_none() {
            return true;
        }
        let (macros, sources) = (self.around.macros, self.sources);
        let (left, right) = self.operators_beside(node, kind, operator);
        let is_whole_left = !span.begins_in_macro
            || left.is_some_and(|operator| macros.holds_on_the_left(sources, (file, span.start), operator));
        let is_whole_right = last_macro.is_none_or(|start| {
            right.is_some_and(|operator| macros.holds_on_the_right(sources, (file, start), operator))
        });
        is_whole_left && is_whole_right
    }

    /// Where the use of the macro begins that an expression ends in.
    fn last_macro(&self, node: NodeId, kind: ExpressionKind, span: &Span) -> Option<usize> {
        if span.last_macro.is_some() {
            return span.last_macro;
        }
        let file = span.file?;
        let name = self.tree.cursor(node).location();
        if kind == ExpressionKind::Member && name.is_macro() {
            return name.offset().filter(|(of, _)| *of == file).map(|(_, offset)| offset);
        }
        // libclang moves what ends in the text of a macro to the end of its use; the last part tells.
        let mut last = node;
        loop {
            last = *self.tree.children(last).last()?;
            let part = self.sources.span(self.tree.cursor(last));
            if part.file != span.file || part.end != span.end {
                return None;
            }
            let is_use = || self.sources.scan(file, part.start).end_of_macro_use() == span.end;
            if part.begins_in_macro && is_use() {
                return Some(part.start);
            }
        }
    }

    /// The operators by which an expression holds its first and its last part, as far as they stand in no macro.
    fn operators_beside(
        &self,
        node: NodeId,
        kind: ExpressionKind,
        operator: &str,
    ) -> (Option<Operator>, Option<Operator>) {
        use ExpressionKind as Kind;
        let binary = |spelling: &str| {
            let (left, _) = self.tree.operands(node)?;
            let is_written = self.next_token(left)?.0.starts_with(spelling.as_bytes().get(..1)?);
            Operator::binary(spelling).filter(|_| is_written)
        };
        match kind {
            Kind::Binary | Kind::Logical | Kind::Assign | Kind::CompoundAssign => {
                (binary(operator), binary(operator))
            }
            Kind::Conditional => (Some(Operator::CONDITIONAL), Some(Operator::CONDITIONAL)),
            Kind::Call if operator.starts_with("operator") => {
                let operator = binary(operator.trim_start_matches("operator"));
                (operator, operator)
            }
            Kind::Call | Kind::Member | Kind::Index => (Some(Operator::POSTFIX), Some(Operator::POSTFIX)),
            Kind::IncrementDecrement
                if matches!(
                    self.tree.cursor(node).unary_operator(),
                    CXUnaryOperator_PostInc | CXUnaryOperator_PostDec
                ) =>
            {
                (Some(Operator::POSTFIX), None)
            }
            _ => (None, Some(Operator::PREFIX)),
        }
    }

    /// The token after an operand and the brackets around it, with its offset.
    fn next_token(&self, operand: NodeId) -> Option<(&'u [u8], usize)> {
        let span = self.sources.span(self.tree.cursor(operand));
        let mut scanner = self.sources.scan(span.file?, span.end);
        while scanner.peek() == Some(b")") {
            scanner.token();
        }
        scanner.skip_blank();
        let offset = scanner.offset;
        Some((scanner.token()?, offset))
    }

    fn named(&mut self, cursor: Cursor<'u>, kind: ExpressionKind) -> Option<Named> {
        let Surroundings { sources, types, locals, globals, records, n_functions_before, .. } = self.around;
        match kind {
            ExpressionKind::Reference => variables::named(cursor, locals, |declaration| {
                globals.number(declaration, *n_functions_before, sources, types)
            }),
            ExpressionKind::Member => records.named(cursor),
            _ => None,
        }
    }

    fn kind(&self, node: NodeId, shape: Shape) -> (ExpressionKind, String) {
        use ExpressionKind as Kind;
        let cursor = self.tree.cursor(node);
        if matches!(shape, Shape::Elvis(..)) {
            return (Kind::Conditional, "?:".to_owned());
        }
        let (kind, operator) = match cursor.kind() {
            CXCursor_BinaryOperator | CXCursor_CompoundAssignOperator => {
                let operator = cursor.binary_operator();
                let kind = match operator {
                    CXBinaryOperator_LAnd | CXBinaryOperator_LOr => Kind::Logical,
                    CXBinaryOperator_Assign => Kind::Assign,
                    CXBinaryOperator_MulAssign..=CXBinaryOperator_OrAssign => Kind::CompoundAssign,
                    _ => Kind::Binary,
                };
                (kind, binary_spelling(operator))
            }
            CXCursor_UnaryOperator => match cursor.unary_operator() {
                CXUnaryOperator_PostInc | CXUnaryOperator_PreInc => (Kind::IncrementDecrement, "++"),
                CXUnaryOperator_PostDec | CXUnaryOperator_PreDec => (Kind::IncrementDecrement, "--"),
                operator => (Kind::Unary, unary_spelling(operator)),
            },
            CXCursor_ConditionalOperator => (Kind::Conditional, "?:"),
            CXCursor_CallExpr => return (Kind::Call, self.callee_name(node)),
            CXCursor_DeclRefExpr => return (Kind::Reference, cursor.spelling()),
            CXCursor_MemberRefExpr => return (Kind::Member, cursor.spelling()),
            CXCursor_ArraySubscriptExpr => (Kind::Index, "[]"),
            CXCursor_CStyleCastExpr
            | CXCursor_CXXStaticCastExpr
            | CXCursor_CXXDynamicCastExpr
            | CXCursor_CXXReinterpretCastExpr
            | CXCursor_CXXConstCastExpr
            | CXCursor_CXXFunctionalCastExpr => (Kind::Cast, ""),
            CXCursor_IntegerLiteral | CXCursor_CXXBoolLiteralExpr | CXCursor_GNUNullExpr => {
                (Kind::Integer, "")
            }
            CXCursor_FloatingLiteral | CXCursor_ImaginaryLiteral => (Kind::Float, ""),
            CXCursor_CharacterLiteral => (Kind::Character, ""),
            CXCursor_StringLiteral => (Kind::String, ""),
            CXCursor_UnaryExpr => (Kind::SizeOf, ""),
            _ => (Kind::Other, ""),
        };
        (kind, operator.to_owned())
    }

    /// The name of the function a call names, nothing for a call through a pointer.
    fn callee_name(&self, node: NodeId) -> String {
        match self.tree.cursor(node).referenced() {
            Some(callee)
                if !matches!(callee.kind(), CXCursor_VarDecl | CXCursor_ParmDecl | CXCursor_FieldDecl) =>
            {
                callee.spelling()
            }
            _ => String::new(),
        }
    }

    /// clang's `getExprLoc`, which debug locations are made from.
    fn place(&self, node: NodeId, kind: ExpressionKind, operator: &str, span: &Span) -> Place {
        use ExpressionKind as Kind;
        let tree = self.tree;
        match kind {
            Kind::Binary | Kind::Logical | Kind::Assign | Kind::CompoundAssign => {
                let left = tree.operands(node).map(|(left, _)| left);
                left.and_then(|left| self.operator_place(left, operator)).unwrap_or(span.extent.start)
            }
            Kind::IncrementDecrement
                if matches!(
                    tree.cursor(node).unary_operator(),
                    CXUnaryOperator_PostInc | CXUnaryOperator_PostDec
                ) =>
            {
                let operand = tree.only_child(node);
                operand
                    .and_then(|operand| self.operator_place(operand, operator))
                    .unwrap_or(span.extent.start)
            }
            Kind::Member => self.sources.place(tree.cursor(node).location()),
            Kind::Call => self.call_place(node, operator).unwrap_or(span.extent.start),
            _ => span.extent.start,
        }
    }

    /// Overloaded operators stand at the operator, calls of methods at the method's name.
    fn call_place(&self, node: NodeId, callee: &str) -> Option<Place> {
        let tree = self.tree;
        if let Some(operator) = callee.strip_prefix("operator") {
            let is_binary = operator.starts_with(|first: char| "+-*/%^&|<>=!".contains(first))
                && !matches!(operator, "++" | "--" | "->" | "->*" | "!");
            let first = *tree.children(node).first()?;
            return if is_binary { self.operator_place(first, operator) } else { None };
        }
        let callee = tree.without_hidden(*tree.children(node).first()?);
        let is_method =
            tree.cursor(node).referenced().is_some_and(|callee| callee.kind() == CXCursor_CXXMethod);
        (is_method && tree.kind(callee) == CXCursor_MemberRefExpr)
            .then(|| self.sources.place(tree.cursor(callee).location()))
    }

    /// Where the operator after the operand `left` stands. A name there is a macro that stands for the operator.
    fn operator_place(&self, left: NodeId, operator: &str) -> Option<Place> {
        let span = self.sources.span(self.tree.cursor(left));
        let file = span.file?;
        let (token, offset) = self.next_token(left)?;
        let is_operator = operator.as_bytes().starts_with(token);
        let is_name = token[0].is_ascii_alphabetic() || token[0] == b'_';
        (is_operator || is_name).then(|| self.sources.advance(file, span.end, span.extent.end, offset))
    }
}

fn parents(tree: &Tree<'_>) -> Vec<Option<NodeId>> {
    let mut parents = vec![None; tree.len()];
    for node in 0..tree.len() as NodeId {
        for child in tree.children(node) {
            parents[*child as usize] = Some(node);
        }
    }
    parents
}

/// The children of a statement that have code; the constants of `case` do not.
fn statement_parts<'t>(tree: &'t Tree<'_>, node: NodeId) -> &'t [NodeId] {
    let children = tree.children(node);
    match tree.kind(node) {
        CXCursor_CaseStmt => &children[children.len().saturating_sub(1)..],
        _ => children,
    }
}

fn binary_spelling(operator: CXBinaryOperatorKind) -> &'static str {
    const SPELLINGS: [&str; 34] = [
        "", ".*", "->*", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=", "&",
        "^", "|", "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ",",
    ];
    SPELLINGS.get(operator as usize).copied().unwrap_or("")
}

fn unary_spelling(operator: CXUnaryOperatorKind) -> &'static str {
    const SPELLINGS: [&str; 15] = [
        "",
        "++",
        "--",
        "++",
        "--",
        "&",
        "*",
        "+",
        "-",
        "~",
        "!",
        "__real",
        "__imag",
        "__extension__",
        "co_await",
    ];
    SPELLINGS.get(operator as usize).copied().unwrap_or("")
}
