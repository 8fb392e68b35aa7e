//! Finds the code of each expression.
//!
//! Expressions are looked at in the order in which clang emits them, operands first. For each, the instructions at
//! its place that compute the right thing from what its operands were found to be are its *candidates*. Reads of
//! the same variable at one place, as in macros, have the same candidates: they are told apart by order, if there
//! are exactly as many of them. Otherwise they are given up, and whatever was built on them is looked at again.

mod changes;
mod matching;
mod objects;
mod operators;
mod pointers;

pub use matching::is_constant;

use super::{
    LogicalAt, LogicalResult,
    subject::{Expression, Subject},
    tests_of::Tests,
    variables::Storages,
};
use crate::ir::{CodeOperand, Definition, Opcode};
use cairn_model::facts::{ExpressionKind, Place};
use std::collections::{HashMap, HashSet};

/// Where expressions were found.
pub struct Values {
    /// What computes an expression: a load, an operation, a comparison, a conversion.
    pub instruction: Vec<Option<Definition>>,
    /// The address of an object that is named.
    pub address: Vec<Option<CodeOperand>>,
    /// What writes the result of an assignment, an initialiser, or a returned value.
    pub stored: Vec<Option<Definition>>,
    /// Where `&&` and `||` are.
    pub logical: Vec<Option<LogicalAt>>,
    /// Expressions that have candidates and could not be told apart.
    pub n_ambiguous: u32,
}

/// Finds them.
pub fn find(subject: &Subject, storages: &Storages, tests: &Tests) -> Values {
    let logical: Vec<Option<LogicalAt>> = (0..subject.n_expressions() as Expression)
        .map(|expression| {
            let is_logical = subject.fact(expression).kind == ExpressionKind::Logical;
            is_logical.then(|| tests.logical(subject, expression)).flatten()
        })
        .collect();
    let mut order: Vec<Expression> = (0..subject.n_expressions() as Expression).collect();
    order.sort_by_key(|expression| subject.fact(*expression).order);
    let mut given_up: HashSet<Expression> = HashSet::new();
    // Each round gives up at least one expression more.
    loop {
        let mut finder = Finder::new(subject, storages, &given_up);
        for (expression, at) in logical.iter().enumerate() {
            if let Some(LogicalAt { result: LogicalResult::Phi { phi, .. }, .. }) = at {
                finder.value[expression] = Some(CodeOperand::Result(*phi));
            }
        }
        for expression in &order {
            if !subject.is_in_constant(*expression) {
                finder.visit(*expression);
            }
        }
        let doubtful = finder.doubtful();
        if doubtful.is_empty() {
            let n_ambiguous = finder.given_up_with_candidates.len() as u32;
            let Finder { instruction, address, stored, .. } = finder;
            return Values { instruction, address, stored, logical, n_ambiguous };
        }
        given_up.extend(doubtful);
    }
}

struct Finder<'f, 'a> {
    subject: &'f Subject<'a>,
    storages: &'f Storages,
    given_up: &'f HashSet<Expression>,
    given_up_with_candidates: HashSet<Expression>,
    instruction: Vec<Option<Definition>>,
    value: Vec<Option<CodeOperand>>,
    address: Vec<Option<CodeOperand>>,
    stored: Vec<Option<Definition>>,
    /// Who wants which candidates, in order.
    wanted: HashMap<Vec<Definition>, Vec<Expression>>,
    /// Who got what.
    taken: HashMap<Definition, Vec<Expression>>,
}

impl<'f, 'a> Finder<'f, 'a> {
    fn new(subject: &'f Subject<'a>, storages: &'f Storages, given_up: &'f HashSet<Expression>) -> Self {
        let n = subject.n_expressions();
        Self {
            subject,
            storages,
            given_up,
            given_up_with_candidates: HashSet::new(),
            instruction: vec![None; n],
            value: vec![None; n],
            address: vec![None; n],
            stored: vec![None; n],
            wanted: HashMap::new(),
            taken: HashMap::new(),
        }
    }

    /// Expressions whose candidates are not as many as those who want them, or are taken by others too.
    fn doubtful(&self) -> Vec<Expression> {
        let uneven = self.wanted.iter().filter(|(candidates, wanting)| candidates.len() != wanting.len());
        let shared = self.taken.values().filter(|takers| takers.len() > 1);
        uneven.flat_map(|(_, wanting)| wanting).chain(shared.flatten()).copied().collect()
    }

    /// One of the instructions at `place` that fit: the n-th for the n-th expression that wants one of these.
    fn take(
        &mut self,
        expression: Expression,
        place: Place,
        fits: impl Fn(&Self, Definition) -> bool,
    ) -> Option<Definition> {
        let candidates: Vec<Definition> =
            self.subject.at_place(place).iter().copied().filter(|at| fits(self, *at)).collect();
        if candidates.is_empty() {
            return None;
        }
        if self.given_up.contains(&expression) {
            self.given_up_with_candidates.insert(expression);
            return None;
        }
        let wanting = self.wanted.entry(candidates.clone()).or_default();
        let number = wanting.len();
        wanting.push(expression);
        let chosen = *candidates.get(number)?;
        self.taken.entry(chosen).or_default().push(expression);
        Some(chosen)
    }

    fn visit(&mut self, expression: Expression) {
        use ExpressionKind as Kind;
        let fact = self.subject.fact(expression);
        if fact.constant.is_none() {
            match fact.kind {
                Kind::Reference | Kind::Member | Kind::Index => self.object(expression),
                Kind::Unary => self.unary(expression),
                Kind::Binary => self.binary(expression),
                Kind::CompoundAssign => self.compound(expression),
                Kind::IncrementDecrement => self.step(expression),
                Kind::Assign => self.assign(expression),
                Kind::Cast => self.cast(expression),
                Kind::Call => self.call(expression),
                Kind::Conditional => self.conditional(expression),
                _ => {}
            }
        }
        self.used_by_statement(expression);
    }

    fn opcode(&self, at: Definition) -> &'a Opcode {
        &self.subject.code.at(at).opcode
    }

    fn operand(&self, at: Definition, number: usize) -> CodeOperand {
        self.subject.code.at(at).operands.get(number).copied().unwrap_or(CodeOperand::Other)
    }

    fn computed(&mut self, expression: Expression, at: Definition) {
        self.instruction[expression as usize] = Some(at);
        self.value[expression as usize] = Some(self.subject.unconverted(CodeOperand::Result(at)));
    }
}
