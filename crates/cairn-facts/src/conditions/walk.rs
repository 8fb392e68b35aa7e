//! Expressions in emission order.
//!
//! This mirrors three functions of clang's code generation, which decide what a condition looks like:
//! `EmitBranchOnBoolExpr` (*jump*: every operand of `&&` and `||` gets its branch, `!` swaps the targets),
//! `EvaluateExprAsBool` (*compute*: the last operand enters a phi), and the constant-armed `?:` (a select).

use crate::{
    expressions::Expressions,
    folding,
    shapes::{self, Shape},
    source::Sources,
    switches,
    traits::Traits,
    tree::{NodeId, Tree},
    types,
};
use cairn_model::facts::{
    ArmFact, ConditionFact, DecisionFact, DecisionKind, Emission, ExpressionFact, ExpressionKind, Extent,
    Place, SwitchFact, TypeClass, TypeFact, UsedBy,
};
use clang_sys::*;

/// What was found in a function.
#[derive(Default)]
pub struct Found {
    /// In emission order.
    pub conditions: Vec<ConditionFact>,
    /// In the order in which they begin.
    pub decisions: Vec<DecisionFact>,
    /// In emission order.
    pub switches: Vec<SwitchFact>,
}

/// Walks a function.
pub fn find<'u>(tree: &Tree<'u>, sources: &Sources<'u>, expressions: &mut Expressions) -> Found {
    let mut walker = Walker { tree, sources, expressions, found: Found::default(), is_dead: false };
    for root in tree.roots() {
        walker.statement(root);
    }
    walker.found
}

/// How clang arrives at the truth of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// By branching on it.
    Jump,
    /// By computing it, for this use, which stands here.
    Compute(Use, Place),
    /// By computing it as the last operand of the logical operator here.
    Operand(Place),
}

/// What a computed truth value is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A branch: loops.
    Branch,
    /// A select: `?:` with constant arms.
    Select,
    /// Itself.
    Value,
}

pub(super) struct Walker<'c, 'u> {
    pub(super) tree: &'c Tree<'u>,
    pub(super) sources: &'c Sources<'u>,
    pub(super) expressions: &'c mut Expressions,
    pub(super) found: Found,
    /// Inside an arm that a folded condition never takes.
    pub(super) is_dead: bool,
}

impl<'u> Walker<'_, 'u> {
    /// An expression for its value.
    pub(super) fn expression(&mut self, node: NodeId) {
        let tree = self.tree;
        match shapes::shape(tree, self.sources, node) {
            Shape::Hidden(child) => self.expression(child),
            Shape::Lambda => {}
            Shape::Choice(chosen) => {
                if let Some(chosen) = chosen {
                    self.expression(chosen);
                }
            }
            Shape::Elvis(common, other) => {
                let decision = self.decide(DecisionKind::Conditional, common);
                self.leaf(common, decision, Mode::Jump);
                self.expression(other);
            }
            Shape::Conditional(condition, yes, no) => self.conditional(node, condition, yes, no),
            Shape::Plain if tree.is_logical(node) => {
                let decision = self.decide(DecisionKind::Value, node);
                self.logical(node, decision, Mode::Compute(Use::Value, self.expression_place(node)));
            }
            Shape::Plain if tree.kind(node) == CXCursor_StmtExpr => {
                for child in tree.children(node) {
                    self.statement(*child);
                }
            }
            Shape::Plain if self.goes_backwards(node) => {
                for child in tree.children(node).iter().rev() {
                    self.part(*child);
                }
            }
            Shape::Plain => {
                for child in tree.children(node) {
                    self.part(*child);
                }
            }
        }
    }

    /// The condition that governs an `if`, a loop or a `?:`.
    pub(super) fn control(&mut self, node: NodeId, kind: DecisionKind, mode: Mode) {
        let (root, _) = self.tree.without_not(node);
        if self.tree.is_logical(root) {
            let decision = self.decide(kind, root);
            self.logical(root, decision, mode);
        } else {
            let decision = self.decide(kind, node);
            self.leaf(node, decision, mode);
        }
    }

    /// Walks what a condition folded to `constant` governs; a dead arm without labels has no code.
    pub(super) fn arm(&mut self, node: NodeId, is_taken: bool, walk: impl FnOnce(&mut Self)) {
        let was_dead = self.is_dead;
        self.is_dead |= !is_taken && !self.tree.contains_label(node);
        walk(self);
        self.is_dead = was_dead;
    }

    /// A condition that is not written, such as the end of a range.
    pub(super) fn unwritten_leaf(&mut self, kind: DecisionKind, extent: Extent, text: String) {
        let expression = self.expressions.facts.len() as u32;
        let decision = self.push_decision(kind, extent, Some(expression));
        self.expressions.facts.push(ExpressionFact {
            parent: None,
            kind: ExpressionKind::Other,
            operator: String::new(),
            value_type: TypeFact { spelling: "bool".to_owned(), class: TypeClass::Bool, bits: 8 },
            extent,
            place: extent.start,
            macro_name: None,
            text,
            names: None,
            constant: None,
            is_array: false,
            is_volatile: false,
            is_foreign: true,
            is_macro_use: false,
            is_expanded: false,
            order: u32::MAX,
            used_by: UsedBy::Other,
        });
        let emission = if self.is_dead { Emission::Absent } else { Emission::Branch };
        let traits = Traits { reads_pointer: true, reads_local: true, ..Traits::default() };
        self.push(traits.condition(expression, decision, extent, emission));
    }

    /// A switch, at the moment its value is known.
    pub(super) fn switch(&mut self, node: NodeId, value: Option<NodeId>, body: &[NodeId]) {
        self.found.switches.push(switches::describe(self.tree, self.sources, node, value, body));
    }

    /// An expression or, in a statement expression or a constructor, something else.
    fn part(&mut self, node: NodeId) {
        if self.tree.is_expression(node) { self.expression(node) } else { self.statement(node) }
    }

    /// clang emits the right side of a scalar assignment first, and so C++ wants it for overloaded ones.
    fn goes_backwards(&self, node: NodeId) -> bool {
        let cursor = self.tree.cursor(node);
        match self.tree.binary_operator(node) {
            Some(CXBinaryOperator_Assign) => types::class(cursor.value_type()) != TypeClass::Record,
            Some(CXBinaryOperator_MulAssign..=CXBinaryOperator_OrAssign) => true,
            _ => cursor.kind() == CXCursor_CallExpr && is_assignment_operator(&cursor.spelling()),
        }
    }

    fn conditional(&mut self, node: NodeId, condition: NodeId, yes: NodeId, no: NodeId) {
        let constant = folding::constant(self.tree, condition);
        let class = types::class(self.tree.cursor(node).value_type());
        let is_select = constant.is_none()
            && !matches!(class, TypeClass::Void | TypeClass::Record)
            && folding::is_evaluatable(self.tree, yes)
            && folding::is_evaluatable(self.tree, no);
        let mode = if is_select { Mode::Compute(Use::Select, self.extent(node).start) } else { Mode::Jump };
        self.control(condition, DecisionKind::Conditional, mode);
        self.arm(yes, constant != Some(false), |walker| walker.expression(yes));
        self.arm(no, constant != Some(true), |walker| walker.expression(no));
    }

    fn logical(&mut self, node: NodeId, decision: u32, mode: Mode) {
        let tree = self.tree;
        let Some((left, right)) = tree.operands(node) else { return };
        let is_and = tree.cursor(node).binary_operator() == CXBinaryOperator_LAnd;
        match folding::constant(tree, left) {
            // `1 && x` is `x`.
            Some(value) if value == is_and => {
                self.operand(left, decision, Mode::Jump);
                let mode = match mode {
                    Mode::Compute(wanted, _) => Mode::Compute(wanted, self.expression_place(node)),
                    _ => mode,
                };
                self.operand(right, decision, mode);
            }
            // `0 && x` is 0.
            Some(_) => {
                self.operand(left, decision, Mode::Jump);
                self.arm(right, false, |walker| walker.operand(right, decision, mode));
            }
            None => {
                self.operand(left, decision, Mode::Jump);
                if mode == Mode::Jump {
                    self.operand(right, decision, Mode::Jump);
                    return;
                }
                self.operand(right, decision, Mode::Operand(self.expression_place(node)));
                let is_tested = matches!(mode, Mode::Compute(Use::Branch | Use::Select, _));
                self.found.decisions[decision as usize].is_tested_whole |= is_tested;
            }
        }
    }

    fn operand(&mut self, node: NodeId, decision: u32, mode: Mode) {
        let (inner, _) = self.tree.without_not(node);
        if self.tree.is_logical(inner) {
            self.logical(inner, decision, mode);
        } else {
            self.leaf(node, decision, mode);
        }
    }

    fn leaf(&mut self, node: NodeId, decision: u32, mode: Mode) {
        let tree = self.tree;
        let (inner, n_nots) = tree.without_not(node);
        let is_negated = n_nots % 2 == 1;
        let constant = folding::constant(tree, node);
        let is_split = mode == Mode::Jump && tree.kind(inner) == CXCursor_ConditionalOperator;
        let mut arms = Vec::new();
        if is_split {
            self.split(inner, &mut arms);
        } else {
            self.expression(inner);
        }
        let Some(expression) = self.expressions.number(node) else { return };
        let emission = match mode {
            _ if constant.is_some() || self.is_dead => Emission::Absent,
            // clang looks through a chosen operand and tests what is inside; we do not follow it there.
            _ if matches!(shapes::shape(tree, self.sources, inner), Shape::Choice(_)) => Emission::Plain,
            Mode::Jump if is_split => Emission::Split,
            Mode::Jump | Mode::Compute(Use::Branch, _) => Emission::Branch,
            Mode::Compute(Use::Select, _) => Emission::Select,
            Mode::Compute(Use::Value, _) => Emission::Plain,
            Mode::Operand(_) => Emission::Phi,
        };
        let fact = Traits::of(tree, inner).condition(expression, decision, self.extent(node), emission);
        self.push(ConditionFact {
            place: self.tested_place(node, mode),
            is_negated,
            is_value: matches!(mode, Mode::Operand(_) | Mode::Compute(Use::Value, _)),
            is_inverted: is_negated && mode == Mode::Jump,
            arms,
            constant,
            ..fact
        });
    }

    /// Where the tested bit is computed. What is a truth value already stands where it stands; C converts the rest
    /// where it is wanted, C++ by a cast that libclang hides.
    fn tested_place(&self, node: NodeId, mode: Mode) -> Place {
        let (wanted_at, node) = match mode {
            Mode::Jump => (None, self.tree.without_not(node).0),
            Mode::Compute(_, place) | Mode::Operand(place) => (Some(place), node),
        };
        match (self.truth(node), wanted_at) {
            (Some(truth), _) => self.converted_place(truth),
            (None, Some(place)) => place,
            (None, None) => self.converted_place(node),
        }
    }

    /// The part of `node` that computes it as a truth value, if it is one.
    fn truth(&self, node: NodeId) -> Option<NodeId> {
        let tree = self.tree;
        let node = tree.without_parens(node);
        // A type that depends on a template's arguments is converted as C++ does it.
        let class = types::class(tree.cursor(node).value_type());
        let is_bool = matches!(class, TypeClass::Bool | TypeClass::Other);
        let inner = tree.without_hidden(node);
        if inner != node && self.is_truth(inner) {
            // C promotes operands of `?:` and `&&`, which LLVM's builder undoes.
            return if is_bool { Some(inner) } else { self.truth(inner) };
        }
        match (tree.binary_operator(node), tree.operands(node)) {
            (Some(CXBinaryOperator_Comma), Some((_, right))) => self.truth(right),
            // In C it has the value of its right side; in C++ it is loaded again, by a hidden node.
            (Some(CXBinaryOperator_Assign), Some((_, right))) if is_bool => self.truth(right),
            _ => (is_bool || self.is_truth(node)).then_some(node),
        }
    }

    /// Whether it computes a truth value of whatever type.
    fn is_truth(&self, node: NodeId) -> bool {
        let tree = self.tree;
        types::class(tree.cursor(node).value_type()) == TypeClass::Bool
            || tree.unary_operator(node) == Some(CXUnaryOperator_LNot)
            || matches!(
                tree.binary_operator(node),
                Some(
                    CXBinaryOperator_LT..=CXBinaryOperator_NE | CXBinaryOperator_LAnd | CXBinaryOperator_LOr
                )
            )
    }

    /// The place of an expression, or the start of the implicit cast around it unless that only loads a `bool`.
    fn converted_place(&self, node: NodeId) -> Place {
        let class = |node: NodeId| types::class(self.tree.cursor(node).value_type());
        // Of an explicit cast to `bool` C++ makes a hidden one, too.
        if let (
            CXCursor_CXXStaticCastExpr | CXCursor_CStyleCastExpr | CXCursor_CXXFunctionalCastExpr,
            Some(child),
        ) = (self.tree.kind(node), self.tree.only_child(node))
            && class(child) == TypeClass::Bool
        {
            return self.converted_place(child);
        }
        let is_hidden = self.tree.kind(node) == CXCursor_UnexposedExpr;
        if is_hidden && class(self.tree.without_hidden(node)) != TypeClass::Bool {
            return self.extent(node).start;
        }
        self.expression_place(node)
    }

    fn expression_place(&self, node: NodeId) -> Place {
        match self.expressions.number(node) {
            Some(number) => self.expressions.facts[number as usize].place,
            None => self.extent(node).start,
        }
    }

    /// `if (a ? b : c)` branches on `a`, then on `b` or `c`.
    fn split(&mut self, node: NodeId, found: &mut Vec<ArmFact>) {
        let [condition, arms @ ..] = self.tree.children(node) else { return };
        self.control(*condition, DecisionKind::Conditional, Mode::Jump);
        let is_single = !self.tree.is_logical(self.tree.without_not(*condition).0);
        let tested = (self.found.conditions.len() as u32).checked_sub(1).filter(|_| is_single);
        for (number, arm) in arms.iter().enumerate() {
            let (inner, n_nots) = self.tree.without_not(*arm);
            if self.tree.kind(inner) == CXCursor_ConditionalOperator {
                self.split(inner, found);
                continue;
            }
            let decision = self.tree.is_logical(inner).then(|| {
                let decision = self.decide(DecisionKind::Value, inner);
                self.logical(inner, decision, Mode::Jump);
                decision
            });
            if decision.is_none() {
                self.expression(inner);
            }
            found.push(ArmFact {
                extent: self.extent(*arm),
                place: self.tested_place(*arm, Mode::Jump),
                is_inverted: n_nots % 2 == 1,
                constant: folding::constant(self.tree, *arm),
                behind: tested.map(|tested| (tested, number == 0)),
                decision,
            });
        }
    }

    fn decide(&mut self, kind: DecisionKind, node: NodeId) -> u32 {
        self.push_decision(kind, self.extent(node), self.expressions.number(node))
    }

    fn push_decision(&mut self, kind: DecisionKind, extent: Extent, expression: Option<u32>) -> u32 {
        self.found.decisions.push(DecisionFact {
            kind,
            extent,
            expression,
            conditions: Vec::new(),
            is_tested_whole: false,
        });
        self.found.decisions.len() as u32 - 1
    }

    fn push(&mut self, condition: ConditionFact) {
        let number = self.found.conditions.len() as u32;
        self.found.decisions[condition.decision as usize].conditions.push(number);
        self.found.conditions.push(condition);
    }

    fn extent(&self, node: NodeId) -> Extent {
        self.sources.span(self.tree.cursor(node)).extent
    }
}

fn is_assignment_operator(name: &str) -> bool {
    name.strip_prefix("operator")
        .is_some_and(|operator| operator.ends_with('=') && !matches!(operator, "==" | "!=" | "<=" | ">="))
}
