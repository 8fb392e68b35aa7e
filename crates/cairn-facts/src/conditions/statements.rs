//! Statements in emission order.

use super::{
    header,
    walk::{Mode, Use, Walker},
};
use crate::{
    folding,
    source::{Scanner, Span},
    tree::NodeId,
};
use cairn_model::facts::{DecisionKind, Extent, Place};
use clang_sys::*;

impl Walker<'_, '_> {
    /// A statement, a declaration of a variable, or an expression for its effect.
    pub(super) fn statement(&mut self, node: NodeId) {
        let tree = self.tree;
        if tree.is_expression(node) {
            return self.expression(node);
        }
        match tree.kind(node) {
            CXCursor_IfStmt => self.if_statement(node),
            CXCursor_WhileStmt => {
                let header = header::header(tree, self.sources, node);
                self.all(header.variable.as_slice());
                if let Some(condition) = header.condition {
                    self.control(
                        condition,
                        DecisionKind::While,
                        Mode::Compute(Use::Branch, self.start(node)),
                    );
                }
                self.all(header.arms);
            }
            CXCursor_DoStmt => {
                if let [body, condition] = tree.children(node) {
                    self.statement(*body);
                    let place = self.end_of_body(*body);
                    self.control(*condition, DecisionKind::Do, Mode::Compute(Use::Branch, place));
                }
            }
            CXCursor_ForStmt => {
                let parts = header::for_parts(tree, self.sources, node);
                self.all(parts.init.as_slice());
                self.all(parts.variable.as_slice());
                if let Some(condition) = parts.condition {
                    self.control(condition, DecisionKind::For, Mode::Compute(Use::Branch, self.start(node)));
                }
                self.all(parts.body.as_slice());
                self.all(parts.increment.as_slice());
            }
            CXCursor_CXXForRangeStmt => self.range_for(node),
            CXCursor_SwitchStmt => {
                let header = header::header(tree, self.sources, node);
                self.all(header.init.as_slice());
                self.all(header.variable.as_slice());
                self.all(header.condition.as_slice());
                self.switch(node, header.condition, header.arms);
                self.all(header.arms);
            }
            // What comes before the statement is constant.
            CXCursor_CaseStmt => self.all(tree.children(node).last().map_or(&[], std::slice::from_ref)),
            // Their methods are functions of their own.
            CXCursor_StructDecl | CXCursor_ClassDecl | CXCursor_UnionDecl => {}
            _ => self.all(tree.children(node)),
        }
    }

    fn all(&mut self, nodes: &[NodeId]) {
        for node in nodes {
            self.statement(*node);
        }
    }

    fn start(&self, node: NodeId) -> Place {
        self.sources.span(self.tree.cursor(node)).extent.start
    }

    /// Where the debug location stands after the body of a `do`: at its `}`, or at its only statement.
    fn end_of_body(&self, body: NodeId) -> Place {
        let span = self.sources.span(self.tree.cursor(body));
        match self.tree.kind(body) {
            CXCursor_CompoundStmt if !span.begins_in_macro => {
                let end = span.extent.end;
                Place { column: end.column.saturating_sub(1), ..end }
            }
            _ => span.extent.start,
        }
    }

    fn if_statement(&mut self, node: NodeId) {
        let header = header::header(self.tree, self.sources, node);
        self.all(header.init.as_slice());
        self.all(header.variable.as_slice());
        let constant = header.condition.and_then(|condition| folding::constant(self.tree, condition));
        if let Some(condition) = header.condition.filter(|_| !header.is_constexpr) {
            self.control(condition, DecisionKind::If, Mode::Jump);
        }
        for (arm, taken_if) in header.arms.iter().zip([true, false]) {
            let is_taken = constant != Some(!taken_if);
            // The other arm of `if constexpr` is not even compiled.
            if is_taken || !header.is_constexpr {
                self.arm(*arm, is_taken, |walker| walker.statement(*arm));
            }
        }
    }

    /// `for (init; variable : range) body`: the hidden comparison of iterators stands at the colon.
    fn range_for(&mut self, node: NodeId) {
        let tree = self.tree;
        let Some((body, rest)) = tree.children(node).split_last() else { return };
        // Everything but the variable, whose initialiser is the hidden iterator.
        for part in rest.iter().filter(|part| tree.kind(**part) != CXCursor_VarDecl) {
            self.statement(*part);
        }
        let statement = self.sources.span(tree.cursor(node));
        let start = statement.extent.start;
        let (mut extent, mut text) = (Extent { start, end: start }, String::new());
        let range = rest.iter().rev().find(|part| tree.is_expression(**part));
        if let (Some(file), Some(range), false) = (statement.file, range, statement.begins_in_macro) {
            let range = self.sources.span(tree.cursor(*range));
            if let Some(colon) = last_colon(self.sources.scan(file, statement.start), range.start) {
                let place = |offset| self.sources.advance(file, statement.start, start, offset);
                extent = Extent { start: place(colon), end: place(colon + 1) };
            }
            let variable = rest.iter().find(|part| tree.kind(**part) == CXCursor_VarDecl);
            let variable = variable.map_or(statement, |variable| self.sources.span(tree.cursor(*variable)));
            text = self.sources.excerpt(&Span { end: range.end, ..variable });
        }
        self.unwritten_leaf(DecisionKind::For, extent, text);
        self.statement(*body);
    }
}

/// The last `:` before byte `end` that is not half of `::`.
fn last_colon(mut scanner: Scanner<'_>, end: usize) -> Option<usize> {
    let mut colon = None;
    while scanner.offset < end
        && let Some(token) = scanner.token()
    {
        match token {
            b":" if scanner.peek() == Some(b":") => {
                scanner.token();
            }
            b":" => colon = Some(scanner.offset - 1),
            _ => {}
        }
    }
    colon
}
