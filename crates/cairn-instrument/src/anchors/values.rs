//! Finds the code of each expression.
//!
//! Expressions are looked at in the order in which clang emits them, operands first. For each, the instructions at
//! its place that compute the right thing from what its operands were found to be are its *candidates*. Reads of
//! the same variable at one place, as in macros, have the same candidates: they are told apart by order, if there
//! are exactly as many of them. Otherwise they are given up, and whatever was built on them is looked at again.

use super::{
    LogicalAt, LogicalResult,
    subject::{Expression, Subject, Usage},
    tests_of::Tests,
    types,
    variables::Storages,
};
use crate::ir::{Arithmetic, Callee, CodeOperand, CodeType, Definition, IrKind, Opcode, Predicate};
use cairn_model::{
    facts::{ConstantValue, ExpressionKind, Place, TypeClass, UsedBy},
    mutants::ValueType,
};
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

    /// A variable, a member, an element or `*p`: its address, and the load if it is read.
    fn object(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let address = match fact.kind {
            ExpressionKind::Reference => self.variable_address(expression),
            ExpressionKind::Member => self.member_address(expression),
            ExpressionKind::Index => self.element_address(expression),
            _ => subject.only_child(expression).and_then(|child| self.pointer(child)),
        };
        let Some(address) = address else { return };
        self.address[expression as usize] = Some(address);
        let is_bit_field = subject.field(expression).is_some_and(|(field, _)| field.bit_width.is_some());
        if subject.usage(expression) != Usage::Read || is_bit_field {
            return;
        }
        let Some(value_type) = types::scalar(&fact.value_type) else { return };
        let memory_type = types::memory_type(value_type);
        let load = self.take(expression, fact.place, |finder, at| {
            matches!(finder.opcode(at), Opcode::Load { .. })
                && finder.operand(at, 0) == address
                && subject.code.at(at).result == memory_type
        });
        if let Some(load) = load {
            self.computed(expression, load);
        }
    }

    /// Where a variable is; of a reference, what it refers to.
    fn variable_address(&mut self, expression: Expression) -> Option<CodeOperand> {
        let subject = self.subject;
        let storage = self.storages.named(subject, expression)?;
        if !subject.variable(expression)?.value_type.spelling.ends_with('&') {
            return Some(storage);
        }
        let at = self.take(expression, subject.fact(expression).place, |finder, at| {
            matches!(finder.opcode(at), Opcode::Load { .. })
                && finder.operand(at, 0) == storage
                && subject.code.at(at).result == CodeType::Pointer
        })?;
        Some(CodeOperand::Result(at))
    }

    fn member_address(&mut self, expression: Expression) -> Option<CodeOperand> {
        let subject = self.subject;
        let (field, is_union) = subject.field(expression)?;
        // Without an operand it is a member of `*this`.
        let base = match subject.only_child(expression) {
            Some(base) if subject.fact(base).value_type.class == TypeClass::Pointer => {
                Some(self.pointer(base)?)
            }
            Some(base) => Some(self.address[base as usize]?),
            None => None,
        };
        if field.bit_width.is_some() {
            return None;
        }
        if is_union {
            return base;
        }
        let distance = field.offset_bits.filter(|bits| bits % 8 == 0)? / 8;
        if let Some(CodeOperand::Global { global, offset }) = base {
            return Some(CodeOperand::Global { global, offset: offset + distance });
        }
        let place = subject.fact(expression).place;
        let at = self.take(expression, place, |finder, at| {
            *finder.opcode(at) == Opcode::ElementPointer { offset: Some(distance) }
                && base.is_none_or(|base| finder.is_same_pointer(finder.operand(at, 0), base))
                && subject.code.at(at).operands.len() == 3
        })?;
        Some(CodeOperand::Result(at))
    }

    fn element_address(&mut self, expression: Expression) -> Option<CodeOperand> {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let (base, index) = self.base_and_index(expression)?;
        let base = self.pointer(base)?;
        if let (CodeOperand::Global { global, offset }, Some(ConstantValue::Integer(index))) =
            (base, subject.fact(index).constant)
        {
            let size = i64::from(fact.value_type.bits / 8);
            let offset = offset.checked_add(index.checked_mul(size)?)?;
            return (size > 0).then_some(CodeOperand::Global { global, offset });
        }
        let at = self.take(expression, fact.place, |finder, at| {
            let n_operands = subject.code.at(at).operands.len();
            matches!(finder.opcode(at), Opcode::ElementPointer { .. })
                && finder.is_same_pointer(finder.operand(at, 0), base)
                && (n_operands == 2
                    || n_operands == 3
                        && finder.operand(at, 1) == CodeOperand::Integer { bits: 64, value: 0 })
                && finder.matches(finder.operand(at, n_operands - 1), index)
        })?;
        Some(CodeOperand::Result(at))
    }

    /// The pointer and the number of `a[i]`, which C also lets one write `i[a]`.
    fn base_and_index(&self, expression: Expression) -> Option<(Expression, Expression)> {
        let (left, right) = self.subject.operands(expression)?;
        let is_pointer = |side: Expression| self.subject.scalar(side) == Some(ValueType::Pointer);
        match (is_pointer(left), is_pointer(right)) {
            (true, false) => Some((left, right)),
            (false, true) => Some((right, left)),
            _ => None,
        }
    }

    /// The value of a pointer; of an array its address.
    fn pointer(&self, expression: Expression) -> Option<CodeOperand> {
        match self.subject.fact(expression).is_array {
            true => self.address[expression as usize],
            false => self.value[expression as usize],
        }
    }

    /// Whether a pointer in the code is this one, an array's address perhaps taken by a `getelementptr` to its start.
    fn is_same_pointer(&self, operand: CodeOperand, pointer: CodeOperand) -> bool {
        if operand == pointer {
            return true;
        }
        match operand {
            CodeOperand::Result(at) => {
                *self.opcode(at) == Opcode::ElementPointer { offset: Some(0) }
                    && self.operand(at, 0) == pointer
            }
            _ => false,
        }
    }

    /// Whether an operand in the code is the value of an expression, converted perhaps.
    fn matches(&self, operand: CodeOperand, expression: Expression) -> bool {
        let subject = self.subject;
        let fact = subject.fact(expression);
        if let Some(constant) = fact.constant {
            return is_constant(operand, constant);
        }
        if fact.kind == ExpressionKind::String {
            return self.is_text(operand);
        }
        if fact.is_array {
            return self.address[expression as usize]
                .is_some_and(|address| self.is_same_pointer(operand, address));
        }
        if self.is_null(expression) {
            return operand == CodeOperand::Null;
        }
        if self.value[expression as usize].is_none()
            && let Some(source) = self.handed_on(expression)
        {
            return self.matches(operand, source);
        }
        let operand = subject.unconverted(operand);
        match (self.value[expression as usize], operand) {
            (Some(value), _) if value == operand => true,
            // C++ reads what was assigned once more.
            (Some(_), CodeOperand::Result(at)) => self.reads_again(at, expression),
            (Some(_), _) => false,
            (None, CodeOperand::Result(at)) => {
                fact.macro_name.is_none()
                    && !self.given_up.contains(&expression)
                    && subject.stands_in(at, expression)
                    && !self.is_leaf(expression)
            }
            (None, _) => false,
        }
    }

    /// The operand whose value an expression has, conversions aside.
    fn handed_on(&self, expression: Expression) -> Option<Expression> {
        let fact = self.subject.fact(expression);
        match fact.kind {
            ExpressionKind::Assign if fact.value_type.class != TypeClass::Bool => {
                self.subject.operands(expression).map(|(_, right)| right)
            }
            ExpressionKind::Cast if fact.value_type.class != TypeClass::Bool => {
                self.subject.only_child(expression)
            }
            ExpressionKind::Binary if fact.operator == "," => {
                self.subject.operands(expression).map(|(_, right)| right)
            }
            _ => None,
        }
    }

    /// Whether it is the address of a string.
    fn is_text(&self, operand: CodeOperand) -> bool {
        let CodeOperand::Global { global, offset: 0 } = operand else { return false };
        let global = &self.subject.module.globals[global as usize];
        global.name.is_none() && !global.is_external
    }

    /// Whether it should have been found if it were there.
    fn is_leaf(&self, expression: Expression) -> bool {
        self.subject.children(expression).is_empty()
    }

    fn reads_again(&self, at: Definition, expression: Expression) -> bool {
        use ExpressionKind as Kind;
        let fact = self.subject.fact(expression);
        let changes = matches!(fact.kind, Kind::Assign | Kind::CompoundAssign | Kind::IncrementDecrement);
        let target = self.subject.children(expression).first().filter(|_| changes);
        matches!(self.opcode(at), Opcode::Load { .. })
            && target.is_some_and(|target| self.address[*target as usize] == Some(self.operand(at, 0)))
            && self.subject.stands_in(at, expression)
    }

    /// Whether it is a null pointer written as a constant.
    fn is_null(&self, expression: Expression) -> bool {
        let fact = self.subject.fact(expression);
        let is_zero = |child: Expression| {
            let fact = self.subject.fact(child);
            fact.kind == ExpressionKind::Integer
                && fact.constant.is_none_or(|value| value == ConstantValue::Integer(0))
                || self.is_null(child)
        };
        fact.value_type.class == TypeClass::Pointer
            && fact.kind == ExpressionKind::Cast
            && self.subject.only_child(expression).is_some_and(is_zero)
    }

    fn unary(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some(child) = subject.only_child(expression) else { return };
        let place = fact.place;
        let is_constant = |operand: CodeOperand, value: i64| matches!(operand, CodeOperand::Integer { value: found, .. } if found == value);
        let at = match fact.operator.as_str() {
            "*" => return self.object(expression),
            "&" => {
                self.value[expression as usize] = self.address[child as usize];
                return;
            }
            "+" => {
                self.value[expression as usize] = self.value[child as usize];
                return;
            }
            "-" => self.take(expression, place, |finder, at| match finder.opcode(at) {
                Opcode::Arithmetic(Arithmetic::FNeg) => finder.matches(finder.operand(at, 0), child),
                Opcode::Arithmetic(Arithmetic::Sub) => {
                    is_constant(finder.operand(at, 0), 0) && finder.matches(finder.operand(at, 1), child)
                }
                _ => false,
            }),
            "~" => self.take(expression, place, |finder, at| {
                *finder.opcode(at) == Opcode::Arithmetic(Arithmetic::Xor)
                    && subject.code.at(at).result != CodeType::Int(1)
                    && is_constant(finder.operand(at, 1), -1)
                    && finder.matches(finder.operand(at, 0), child)
            }),
            "!" => self.take(expression, place, |finder, at| {
                *finder.opcode(at) == Opcode::Arithmetic(Arithmetic::Xor)
                    && subject.code.at(at).result == CodeType::Int(1)
                    && is_constant(finder.operand(at, 1), -1)
                    && finder.is_truth(finder.operand(at, 0), child)
            }),
            _ => None,
        };
        if let Some(at) = at {
            self.computed(expression, at);
        }
    }

    /// Whether an operand is the truth of an expression: the expression itself, or its comparison with 0.
    fn is_truth(&self, operand: CodeOperand, expression: Expression) -> bool {
        if self.matches(operand, expression) {
            return true;
        }
        let CodeOperand::Result(at) = operand else { return false };
        let is_zero = match self.operand(at, 1) {
            CodeOperand::Integer { value, .. } => value == 0,
            CodeOperand::Float { value, .. } => value == 0,
            CodeOperand::Null => true,
            _ => false,
        };
        is_zero
            && matches!(self.opcode(at), Opcode::Compare(Predicate::Ne | Predicate::Une))
            && self.matches(self.operand(at, 0), expression)
    }

    fn binary(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some((left, right)) = subject.operands(expression) else { return };
        if fact.operator == "," {
            self.value[expression as usize] = self.value[right as usize];
            self.address[expression as usize] = self.address[right as usize];
            return;
        }
        let (Some(left_type), Some(right_type)) = (subject.scalar(left), subject.scalar(right)) else {
            return;
        };
        let at = if let Some(comparison) = comparison(&fact.operator, left_type, right_type) {
            let (predicate, operand_type) = comparison;
            self.take(expression, fact.place, |finder, at| {
                *finder.opcode(at) == Opcode::Compare(predicate)
                    && subject.operand_type(finder.operand(at, 0)).is_none_or(|found| found == operand_type)
                    && finder.matches(finder.operand(at, 0), left)
                    && finder.matches(finder.operand(at, 1), right)
            })
        } else if left_type == ValueType::Pointer || right_type == ValueType::Pointer {
            self.pointer_arithmetic(expression, (left, left_type), (right, right_type))
        } else if let Some((arithmetic, result)) = arithmetic(&fact.operator, left_type, right_type) {
            self.take(expression, fact.place, |finder, at| {
                *finder.opcode(at) == Opcode::Arithmetic(arithmetic)
                    && subject.code.at(at).result == types::code_type(result)
                    && finder.matches(finder.operand(at, 0), left)
                    && finder.matches(finder.operand(at, 1), right)
            })
        } else {
            None
        };
        if let Some(at) = at {
            self.computed(expression, at);
        }
    }

    fn pointer_arithmetic(
        &mut self,
        expression: Expression,
        (left, left_type): (Expression, ValueType),
        (right, right_type): (Expression, ValueType),
    ) -> Option<Definition> {
        let place = self.subject.fact(expression).place;
        let operator = self.subject.fact(expression).operator.as_str();
        let (base, number) = match (operator, left_type, right_type) {
            ("+", ValueType::Pointer, ValueType::Int { .. } | ValueType::Bool) => (left, right),
            ("+", ValueType::Int { .. } | ValueType::Bool, ValueType::Pointer) => (right, left),
            ("-", ValueType::Pointer, ValueType::Int { .. } | ValueType::Bool) => (left, right),
            ("-", ValueType::Pointer, ValueType::Pointer) => return self.difference(expression, left, right),
            _ => return None,
        };
        let is_minus = operator == "-";
        self.take(expression, place, |finder, at| {
            matches!(finder.opcode(at), Opcode::ElementPointer { .. })
                && finder.subject.code.at(at).operands.len() == 2
                && finder.matches(finder.operand(at, 0), base)
                && finder.is_distance(finder.operand(at, 1), number, is_minus)
        })
    }

    /// Whether an operand is the number that a pointer is moved by, negated perhaps.
    fn is_distance(&self, operand: CodeOperand, number: Expression, is_minus: bool) -> bool {
        if !is_minus {
            return self.matches(operand, number);
        }
        match operand {
            CodeOperand::Integer { bits, value } => {
                self.matches(CodeOperand::Integer { bits, value: value.wrapping_neg() }, number)
            }
            CodeOperand::Result(at) => {
                *self.opcode(at) == Opcode::Arithmetic(Arithmetic::Sub)
                    && self.operand(at, 0) == CodeOperand::Integer { bits: 64, value: 0 }
                    && self.matches(self.operand(at, 1), number)
            }
            _ => false,
        }
    }

    /// `p - q`: a subtraction of addresses, divided by the size of what they point to unless that is a byte.
    fn difference(
        &mut self,
        expression: Expression,
        left: Expression,
        right: Expression,
    ) -> Option<Definition> {
        let place = self.subject.fact(expression).place;
        let is_subtraction = |finder: &Self, at: Definition| {
            *finder.opcode(at) == Opcode::Arithmetic(Arithmetic::Sub)
                && finder.matches_address(finder.operand(at, 0), left)
                && finder.matches_address(finder.operand(at, 1), right)
        };
        self.take(expression, place, |finder, at| match finder.opcode(at) {
            Opcode::Arithmetic(Arithmetic::SDiv) => {
                matches!(finder.operand(at, 0), CodeOperand::Result(from) if is_subtraction(finder, from))
            }
            Opcode::Arithmetic(Arithmetic::Sub) => {
                let is_divided = finder.subject.uses(at).iter().any(|(user, _)| {
                    *finder.opcode(*user) == Opcode::Arithmetic(Arithmetic::SDiv)
                        && finder.subject.at_place(place).contains(user)
                });
                !is_divided && is_subtraction(finder, at)
            }
            _ => false,
        })
    }

    /// Whether an operand is the address that a pointer holds, as a number.
    fn matches_address(&self, operand: CodeOperand, pointer: Expression) -> bool {
        match operand {
            CodeOperand::Result(at) => {
                let code = self.subject.code.at(at);
                matches!(code.opcode, Opcode::Convert { .. })
                    && self.subject.operand_type(code.operands[0]) == Some(CodeType::Pointer)
                    && self.matches(code.operands[0], pointer)
            }
            _ => false,
        }
    }

    /// `a op= b`: an operation between a load and a store of `a`, all at the operator.
    fn compound(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some((left, right)) = subject.operands(expression) else { return };
        let Some(address) = self.address[left as usize] else { return };
        let (Some(left_type), Some(right_type)) = (subject.scalar(left), subject.scalar(right)) else {
            return;
        };
        let operator = fact.operator.trim_end_matches('=');
        let at = if left_type == ValueType::Pointer {
            self.take(expression, fact.place, |finder, at| {
                matches!(finder.opcode(at), Opcode::ElementPointer { .. })
                    && subject.code.at(at).operands.len() == 2
                    && finder.is_old_value(finder.operand(at, 0), address, fact.place)
                    && finder.is_distance(finder.operand(at, 1), right, operator == "-")
                    && finder.written(at, address).is_some()
            })
        } else {
            let Some((arithmetic, result)) = arithmetic(operator, left_type, right_type) else { return };
            self.take(expression, fact.place, |finder, at| {
                *finder.opcode(at) == Opcode::Arithmetic(arithmetic)
                    && subject.code.at(at).result == types::code_type(result)
                    && finder.is_old_value(finder.operand(at, 0), address, fact.place)
                    && finder.matches(finder.operand(at, 1), right)
                    && finder.written(at, address).is_some()
            })
        };
        self.changed(expression, at, address, fact.place);
    }

    /// `++a` and `a--`: likewise, by one.
    fn step(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some(child) = subject.only_child(expression) else { return };
        let Some(address) = self.address[child as usize] else { return };
        let one = if fact.operator == "++" { 1 } else { -1 };
        let at = self.take(expression, fact.place, |finder, at| {
            let is_step = match finder.opcode(at) {
                Opcode::ElementPointer { .. } if subject.code.at(at).operands.len() == 2 => true,
                Opcode::Arithmetic(Arithmetic::Add | Arithmetic::FAdd) => true,
                _ => false,
            };
            is_step
                && is_constant(finder.operand(at, 1), ConstantValue::Integer(one))
                && finder.is_old_value(finder.operand(at, 0), address, fact.place)
                && finder.written(at, address).is_some()
        });
        self.changed(expression, at, address, fact.place);
        // What `a++` hands on is the old value.
        let is_postfix = !fact.text.starts_with(fact.operator.as_str());
        if let (Some(at), true) = (at, is_postfix) {
            self.value[expression as usize] = Some(subject.unconverted(self.operand(at, 0)));
        }
    }

    /// The load of a variable that is changed counts among the reads at its place.
    fn changed(
        &mut self,
        expression: Expression,
        at: Option<Definition>,
        address: CodeOperand,
        place: Place,
    ) {
        let Some(at) = at else { return };
        let old = self.subject.unconverted(self.operand(at, 0));
        let load = self.take(expression, place, |finder, at| {
            matches!(finder.opcode(at), Opcode::Load { .. }) && finder.operand(at, 0) == address
        });
        if load.map(CodeOperand::Result) == Some(old) {
            self.computed(expression, at);
            self.stored[expression as usize] = self.written(at, address);
        }
    }

    fn is_old_value(&self, operand: CodeOperand, address: CodeOperand, place: Place) -> bool {
        match self.subject.unconverted(operand) {
            CodeOperand::Result(at) => {
                matches!(self.opcode(at), Opcode::Load { .. })
                    && self.operand(at, 0) == address
                    && self.subject.at_place(place).contains(&at)
            }
            _ => false,
        }
    }

    /// The store of a value to an address, with nothing but conversions between.
    fn written(&self, at: Definition, address: CodeOperand) -> Option<Definition> {
        self.subject.uses(at).iter().find_map(|(user, number)| match self.opcode(*user) {
            Opcode::Store { .. } if *number == 0 && self.operand(*user, 1) == address => Some(*user),
            Opcode::Convert { .. } => self.written(*user, address),
            // A number becomes a `bool`.
            Opcode::Compare(Predicate::Ne)
                if matches!(self.operand(*user, 1), CodeOperand::Integer { value: 0, .. })
                    && self.subject.code.at(at).result != CodeType::Int(1) =>
            {
                self.written(*user, address)
            }
            _ => None,
        })
    }

    fn assign(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some((left, right)) = subject.operands(expression) else { return };
        self.value[expression as usize] = self.value[right as usize];
        let is_bit_field = subject.field(left).is_some_and(|(field, _)| field.bit_width.is_some());
        let Some(address) = self.address[left as usize].filter(|_| !is_bit_field) else { return };
        let Some(value_type) = types::scalar(&subject.fact(left).value_type) else { return };
        let memory_type = types::memory_type(value_type);
        self.stored[expression as usize] = self.take(expression, fact.place, |finder, at| {
            matches!(finder.opcode(at), Opcode::Store { .. })
                && finder.operand(at, 1) == address
                && subject.operand_type(finder.operand(at, 0)).is_none_or(|found| found == memory_type)
                && finder.is_truth_or_value(finder.operand(at, 0), right, value_type)
        });
    }

    /// Whether an operand is the value of an expression converted to a type, which may be `bool`.
    fn is_truth_or_value(&self, operand: CodeOperand, expression: Expression, value_type: ValueType) -> bool {
        match value_type {
            ValueType::Bool => self.is_truth(self.subject.unconverted(operand), expression),
            _ => self.matches(operand, expression),
        }
    }

    fn cast(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some(child) = subject.only_child(expression) else { return };
        // Conversions are looked through, but a comparison with 0 is not one.
        if fact.value_type.class == TypeClass::Bool && subject.fact(child).value_type.class != TypeClass::Bool
        {
            return;
        }
        self.value[expression as usize] = match subject.fact(child).is_array {
            true => self.address[child as usize],
            false => self.value[child as usize],
        };
        let (Some(from), Some(to)) = (subject.scalar(child), types::scalar(&fact.value_type)) else { return };
        let (from, to) = (types::code_type(from), types::code_type(to));
        if from == to
            || from == CodeType::Int(1)
            || to == CodeType::Int(1)
            || subject.fact(child).constant.is_some()
        {
            return;
        }
        let at = self.take(expression, fact.place, |finder, at| {
            let operand = finder.operand(at, 0);
            matches!(finder.opcode(at), Opcode::Convert { .. })
                && subject.code.at(at).result == to
                && subject.operand_type(operand) == Some(from)
                && finder.matches(operand, child)
        });
        self.instruction[expression as usize] = at;
    }

    fn call(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let at = self.take(expression, fact.place, |_, at| {
            let IrKind::Call(callee) = &subject.ir.blocks[at.block].instructions[at.instruction].kind else {
                return false;
            };
            match callee {
                Callee::Intrinsic => false,
                Callee::Indirect(_) => fact.operator.is_empty(),
                Callee::External { name, .. } => *name == fact.operator,
                Callee::Defined(index) => subject.function_name(*index) == fact.operator,
            }
        });
        if let Some(at) = at {
            self.computed(expression, at);
        }
    }

    fn conditional(&mut self, expression: Expression) {
        let [_, yes, no] = *self.subject.children(expression) else { return };
        let subject = self.subject;
        let at =
            self.take(expression, subject.fact(expression).place, |finder, at| match finder.opcode(at) {
                Opcode::Select => {
                    finder.matches(finder.operand(at, 1), yes) && finder.matches(finder.operand(at, 2), no)
                }
                Opcode::Phi(blocks) => {
                    blocks.len() == 2
                        && finder.matches(finder.operand(at, 0), yes)
                        && finder.matches(finder.operand(at, 1), no)
                }
                _ => false,
            });
        if let Some(at) = at {
            self.computed(expression, at);
        }
    }

    /// What initialises a variable, and what is returned.
    fn used_by_statement(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        match fact.used_by {
            UsedBy::Other => {}
            UsedBy::Variable(number) => {
                let variable = &subject.function().variables[number as usize];
                let Some(storage) = self.storages.local(number).filter(|_| !variable.is_static) else {
                    return;
                };
                let Some(value_type) = types::scalar(&variable.value_type) else { return };
                self.stored[expression as usize] = self.take(expression, variable.place, |finder, at| {
                    matches!(finder.opcode(at), Opcode::Store { .. })
                        && finder.operand(at, 1) == storage
                        && finder.is_truth_or_value(finder.operand(at, 0), expression, value_type)
                });
            }
            UsedBy::Return(place) => {
                let result = subject.function().result.as_ref().and_then(types::scalar);
                let Some(value_type) = result else { return };
                self.stored[expression as usize] = self.take(expression, place, |finder, at| {
                    let is_return = match finder.opcode(at) {
                        Opcode::Return => true,
                        Opcode::Store { .. } => finder.is_result_slot(finder.operand(at, 1)),
                        _ => false,
                    };
                    let operand = finder.operand(at, 0);
                    is_return
                        && subject.operand_type(operand) == Some(types::code_type(value_type))
                        && finder.is_truth_or_value(operand, expression, value_type)
                });
            }
        }
    }

    /// Whether it is an `alloca` that is no variable of the source.
    fn is_result_slot(&self, operand: CodeOperand) -> bool {
        let CodeOperand::Result(at) = operand else { return false };
        *self.opcode(at) == Opcode::Alloca && self.subject.code.locals.iter().all(|local| local.storage != at)
    }
}

/// Whether an operand is a constant with this value, in whatever type.
pub fn is_constant(operand: CodeOperand, constant: ConstantValue) -> bool {
    match (operand, constant) {
        (CodeOperand::Integer { bits, value }, ConstantValue::Integer(wanted)) => {
            let unused = 64 - bits.clamp(1, 64);
            // Of a truth value only whether it is 0 counts.
            if bits == 1 { (value != 0) == (wanted != 0) } else { value << unused == wanted << unused }
        }
        (CodeOperand::Float { value, .. }, ConstantValue::Integer(wanted)) => {
            f64::from_bits(value) == wanted as f64
        }
        (CodeOperand::Float { bits: 64, value }, ConstantValue::Float(wanted)) => value == wanted,
        (CodeOperand::Float { value, .. }, ConstantValue::Float(wanted)) => {
            value == f64::from(f64::from_bits(wanted) as f32).to_bits()
        }
        (CodeOperand::Integer { value, .. }, ConstantValue::Float(wanted)) => {
            value == f64::from_bits(wanted) as i64
        }
        (CodeOperand::Null, ConstantValue::Integer(0)) => true,
        _ => false,
    }
}

/// The comparison that an operator makes, and the type of what it compares.
fn comparison(operator: &str, left: ValueType, right: ValueType) -> Option<(Predicate, CodeType)> {
    use Predicate::*;
    let common = match (left, right) {
        (ValueType::Pointer, _) | (_, ValueType::Pointer) => ValueType::Pointer,
        _ => types::common(left, right)?,
    };
    let by_class = |signed, unsigned, float| match common {
        ValueType::Float { .. } => float,
        ValueType::Int { is_signed: true, .. } => signed,
        _ => unsigned,
    };
    let predicate = match operator {
        "==" => by_class(Eq, Eq, Oeq),
        "!=" => by_class(Ne, Ne, Une),
        "<" => by_class(Slt, Ult, Olt),
        "<=" => by_class(Sle, Ule, Ole),
        ">" => by_class(Sgt, Ugt, Ogt),
        ">=" => by_class(Sge, Uge, Oge),
        _ => return None,
    };
    Some((predicate, types::code_type(common)))
}

/// The operation that an operator makes on numbers, and its type.
fn arithmetic(operator: &str, left: ValueType, right: ValueType) -> Option<(Arithmetic, ValueType)> {
    use Arithmetic::*;
    let result = match operator {
        "<<" | ">>" => types::promoted(left),
        _ => types::common(left, right)?,
    };
    let (is_float, is_signed) = match result {
        ValueType::Float { .. } => (true, false),
        ValueType::Int { is_signed, .. } => (false, is_signed),
        _ => return None,
    };
    let arithmetic = match operator {
        "+" if is_float => FAdd,
        "-" if is_float => FSub,
        "*" if is_float => FMul,
        "/" if is_float => FDiv,
        _ if is_float => return None,
        "+" => Add,
        "-" => Sub,
        "*" => Mul,
        "/" if is_signed => SDiv,
        "/" => UDiv,
        "%" if is_signed => SRem,
        "%" => URem,
        "<<" => Shl,
        ">>" if is_signed => AShr,
        ">>" => LShr,
        "&" => And,
        "|" => Or,
        "^" => Xor,
        _ => return None,
    };
    Some((arithmetic, result))
}
