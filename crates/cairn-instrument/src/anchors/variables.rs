//! Where variables are, and which a mutant may use.

use super::{
    VariableAt,
    subject::{Expression, Subject},
    types,
};
use crate::ir::{CodeOperand, FunctionCode, GlobalVariable, ModuleCode};
use cairn_model::facts::{FunctionFacts, Named, Place, VariableFact, VariableScope, VariableShape};
use cairn_mutants::site::Variable;
use std::collections::{HashMap, HashSet};

/// The globals of a module by their names in the source.
pub struct GlobalNames<'a> {
    by_name: HashMap<&'a str, Vec<u32>>,
}

impl<'a> GlobalNames<'a> {
    /// Of a module.
    pub fn of(module: &'a ModuleCode) -> Self {
        let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
        for (index, global) in module.globals.iter().enumerate() {
            let names = [Some(base_name(&global.symbol)), global.name.as_deref()];
            let (symbol, name) = (names[0], names[1].filter(|name| names[0] != Some(*name)));
            for name in [symbol, name].into_iter().flatten() {
                by_name.entry(name).or_default().push(index as u32);
            }
        }
        Self { by_name }
    }

    fn named(&self, name: &str) -> &[u32] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }
}

/// Where the variables of a function and of its unit are.
pub struct Storages {
    locals: Vec<Option<CodeOperand>>,
    globals: Vec<Option<CodeOperand>>,
    /// Whether it is the same in every copy of the function.
    is_shared_local: Vec<bool>,
    is_shared_global: Vec<bool>,
}

impl Storages {
    /// Finds them.
    pub fn of(subject: &Subject) -> Self {
        let used = used_globals(subject.code);
        let mut storages = Self {
            locals: Vec::new(),
            globals: Vec::new(),
            is_shared_local: Vec::new(),
            is_shared_global: Vec::new(),
        };
        for variable in &subject.function().variables {
            let (storage, is_shared) = if variable.is_static {
                let symbol = |global: &GlobalVariable| {
                    global.line.is_some_and(|(_, line)| line == variable.place.line)
                        && base_name(&global.symbol).rsplit('.').next() == Some(variable.name.as_str())
                };
                global(subject, variable, &used, symbol)
            } else {
                (local(subject, variable), true)
            };
            storages.locals.push(storage);
            storages.is_shared_local.push(is_shared);
        }
        for variable in &subject.facts.unit.variables {
            let symbol = |global: &GlobalVariable| base_name(&global.symbol) == variable.name;
            let (storage, is_shared) = global(subject, variable, &used, symbol);
            storages.globals.push(storage);
            storages.is_shared_global.push(is_shared);
        }
        storages
    }

    /// Where the variable that an expression names is.
    pub fn named(&self, subject: &Subject, expression: Expression) -> Option<CodeOperand> {
        match subject.fact(expression).names? {
            Named::Local(number) => self.locals.get(number as usize).copied().flatten(),
            Named::Global(number) => self.globals.get(number as usize).copied().flatten(),
            Named::Member { .. } => None,
        }
    }

    /// Where a variable of the function is.
    pub fn local(&self, number: u32) -> Option<CodeOperand> {
        self.locals.get(number as usize).copied().flatten()
    }
}

/// The variables that mutants of a function may use, and from where to where.
pub struct Offered {
    /// What the catalogue is told.
    pub variables: Vec<Variable>,
    /// Where they are.
    pub at: Vec<VariableAt>,
    scopes: Vec<VariableScope>,
}

impl Offered {
    /// Of a function.
    pub fn of(subject: &Subject, storages: &Storages) -> Self {
        let mut offered = Self { variables: Vec::new(), at: Vec::new(), scopes: Vec::new() };
        let number = number_in_unit(subject);
        for (index, variable) in subject.function().variables.iter().enumerate() {
            if storages.is_shared_local[index] {
                offered.add(subject, variable, storages.locals[index], true);
            }
        }
        for (index, variable) in subject.facts.unit.variables.iter().enumerate() {
            let VariableScope::Unit { n_functions_before, is_system } = variable.scope else { continue };
            if !is_system && n_functions_before <= number && storages.is_shared_global[index] {
                offered.add(subject, variable, storages.globals[index], false);
            }
        }
        offered
    }

    fn add(&mut self, subject: &Subject, fact: &VariableFact, storage: Option<CodeOperand>, is_local: bool) {
        let scalar = types::scalar(&fact.value_type);
        let (Some(scalar), Some(storage), false) = (scalar, storage, fact.is_volatile) else { return };
        let is_array = match fact.shape {
            VariableShape::Scalar => false,
            VariableShape::Array => true,
            VariableShape::Other => return,
        };
        let at = match storage {
            CodeOperand::Result(at) => VariableAt::Local(at),
            CodeOperand::Global { global, .. } => {
                VariableAt::Global(subject.module.globals[global as usize].symbol.clone())
            }
            _ => return,
        };
        self.variables.push(Variable {
            name: fact.name.clone(),
            value_type: fact.value_type.clone(),
            scalar: (!is_array).then_some(scalar),
            is_array,
            is_local,
            is_const: fact.is_const,
        });
        self.at.push(at);
        self.scopes.push(fact.scope);
    }

    /// The variables that can be named at a place, by number. An inner one hides outer ones of its name.
    pub fn visible(&self, place: Place, function: &FunctionFacts) -> Vec<u32> {
        let mut visible: Vec<u32> = Vec::new();
        let mut names: HashSet<&str> = HashSet::new();
        // Other variables of the function hide globals too, whether or not they are offered.
        let is_in_scope = |scope: &VariableScope| match scope {
            VariableScope::Block(extent) => extent.contains(place),
            VariableScope::Unit { .. } => true,
        };
        let hiding: HashSet<&str> = function
            .variables
            .iter()
            .filter(|variable| is_in_scope(&variable.scope))
            .map(|variable| variable.name.as_str())
            .collect();
        // Inner ones are declared later.
        let locals = (0..self.variables.len()).rev().filter(|index| self.variables[*index].is_local);
        let globals = (0..self.variables.len()).filter(|index| !self.variables[*index].is_local);
        for index in locals.chain(globals) {
            let variable = &self.variables[index];
            let is_hidden = !variable.is_local && hiding.contains(variable.name.as_str());
            if is_in_scope(&self.scopes[index]) && !is_hidden && names.insert(&variable.name) {
                visible.push(index as u32);
            }
        }
        visible.sort_unstable();
        visible
    }
}

/// The number of the function in its unit.
fn number_in_unit(subject: &Subject) -> u32 {
    let functions = &subject.facts.unit.functions;
    // Instances stand where their template does.
    let own = subject.function();
    let position = functions
        .iter()
        .position(|other| std::ptr::eq(other, own))
        .or_else(|| functions.iter().position(|other| other.place == own.place));
    position.unwrap_or(0) as u32
}

/// The `alloca` that debug information declares at the variable's place.
fn local(subject: &Subject, variable: &VariableFact) -> Option<CodeOperand> {
    let place = subject.key(variable.place)?;
    let mut fitting = subject.code.locals.iter().filter(|local| {
        local.name == variable.name && local.place.is_some_and(|at| (at.file, at.line, at.column) == place)
    });
    match (fitting.next(), fitting.next()) {
        (Some(local), None) => Some(CodeOperand::Result(local.storage)),
        _ => None,
    }
}

/// The global that a variable is: the only one that fits, or the only one of those that the function uses; and
/// whether it is the only one.
fn global(
    subject: &Subject,
    variable: &VariableFact,
    used: &HashSet<u32>,
    symbol: impl Fn(&GlobalVariable) -> bool,
) -> (Option<CodeOperand>, bool) {
    let file = subject.key(variable.place).map(|key| key.0);
    // Linking the bitcode hides whatever no other object needs, so its linkage says nothing; but of equal names only
    // those of hidden variables are changed.
    let fits = |global: &GlobalVariable| {
        if variable.is_external {
            return global.symbol == variable.name
                && global.name.as_ref().is_none_or(|name| *name == variable.name);
        }
        global.name.as_deref() == Some(&variable.name)
            && symbol(global)
            && global.line.is_some_and(|(at, _)| Some(at) == file)
    };
    let named = subject.globals.named(&variable.name);
    let fitting: Vec<u32> =
        named.iter().copied().filter(|index| fits(&subject.module.globals[*index as usize])).collect();
    let storage = |global: u32| Some(CodeOperand::Global { global, offset: 0 });
    match fitting[..] {
        [only] => (storage(only), true),
        _ => {
            let mut mine = fitting.into_iter().filter(|global| used.contains(global));
            match (mine.next(), mine.next()) {
                (Some(only), None) => (storage(only), false),
                _ => (None, false),
            }
        }
    }
}

/// A symbol without the number that linking adds to equal names.
fn base_name(symbol: &str) -> &str {
    match symbol.rsplit_once('.') {
        Some((base, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            base
        }
        _ => symbol,
    }
}

fn used_globals(code: &FunctionCode) -> HashSet<u32> {
    let operands = code.blocks.iter().flatten().flat_map(|code| &code.operands);
    operands
        .filter_map(|operand| match operand {
            CodeOperand::Global { global, .. } => Some(*global),
            _ => None,
        })
        .collect()
}
