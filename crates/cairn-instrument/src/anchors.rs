//! Finds expressions of the source in the bitcode.
//!
//! clang gives every instruction the place of the expression it computes. An expression is *anchored* where exactly
//! one instruction of the right kind stands at its place, or, in macros, where as many stand there as expressions
//! want, in order. What does not fit is left out and counted, never guessed.

mod bodies;
mod spots;
mod subject;
mod tests_of;
mod types;
mod values;
mod variables;

use crate::{
    ir::{Definition, IrModule, ModuleCode, normalise},
    mapping::{self, FactsRef, Options},
};
use cairn_model::{FunctionId, ProgramMap, mutants::UnmutatedReason};
use cairn_mutants::site::MutableFunction;
use std::collections::HashMap;
use subject::Subject;
use tests_of::Tests;
use variables::{GlobalNames, Offered, Storages};

/// The anchored expressions of a module.
#[derive(Debug, Default)]
pub struct Anchors {
    /// Functions in scope with at least one anchored expression, by function id: one for each way in which a function
    /// was compiled.
    pub functions: Vec<AnchoredFunction>,
    /// Functions in scope without.
    pub unmutated: Vec<Unanchored>,
    /// Expressions that share their text with others, in the expansion of a parameter pack.
    pub n_expanded: u32,
    /// Expressions with code that could not be told apart from others at their place.
    pub n_ambiguous: u32,
}

/// A function in scope without an anchored expression.
#[derive(Debug)]
pub struct Unanchored {
    /// The function.
    pub function: FunctionId,
    /// Why.
    pub reason: UnmutatedReason,
    /// Where its name stands in the source, if that is known: what other functions come from there.
    pub defined_at: Option<(String, u32, u32)>,
}

/// One function: what the catalogue is told, and where that is in the code.
#[derive(Debug)]
pub struct AnchoredFunction {
    /// Where its name stands in the source: file, line and column.
    pub defined_at: (String, u32, u32),
    /// Its copies in the module, by index; all have the same positions.
    pub members: Vec<usize>,
    /// What the catalogue is told.
    pub mutable: MutableFunction,
    /// Where each of its spots is, in the same order.
    pub anchors: Vec<Anchor>,
    /// Where each of its variables is, in the same order.
    pub variables: Vec<VariableAt>,
}

impl AnchoredFunction {
    /// Which of the spots of its expression a spot is, a position in [`MutableFunction::spots`].
    pub fn number_at_site(&self, spot: usize) -> u16 {
        let spots = &self.mutable.spots;
        // They are in the order of their sites.
        let first = spots.partition_point(|other| other.site < spots[spot].site);
        (spot - first) as u16
    }
}

/// Where a spot is. Positions are those of the unchanged function.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchor {
    /// What is replaced.
    pub at: At,
    /// Where each operand of the spot is found.
    pub operands: Vec<OperandAt>,
}

/// What a patch replaces.
#[derive(Debug, Clone, PartialEq)]
pub enum At {
    /// The result of an instruction, wherever it is used.
    Result(Definition),
    /// One operand of an instruction, only there: an instruction, an operand number.
    Operand(Definition, u32),
    /// Such operands of several instructions, which are one constant of the source.
    Operands(Vec<(Definition, u32)>),
    /// The negative of an operand, which the code has in its place.
    Negated(Definition, u32),
    /// What a store writes, there and wherever else that value is used: as the value of the assignment.
    Stored(Definition),
    /// `&&` or `||`.
    Logical(LogicalAt),
}

/// Where a logical operator is.
///
/// ```text
///   a && b:   every way out of `a` when true leads to `right`, when false past it
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LogicalAt {
    /// Whether it is `&&`.
    pub is_and: bool,
    /// The edges on which the left side leaves, as (block, successor number), when it is true.
    pub left_true: Vec<(usize, u32)>,
    /// The edges on which the left side leaves when it is false.
    pub left_false: Vec<(usize, u32)>,
    /// The block in which evaluation of the right side begins.
    pub right: usize,
    /// How the result leaves.
    pub result: LogicalResult,
}

/// How the result of a logical operator leaves it.
#[derive(Debug, Clone, PartialEq)]
pub enum LogicalResult {
    /// By branches: the edges on which the right side leaves when true, and when false.
    Branches {
        /// When true.
        right_true: Vec<(usize, u32)>,
        /// When false.
        right_false: Vec<(usize, u32)>,
        /// Where the whole goes when true.
        when_true: usize,
        /// Where the whole goes when false.
        when_false: usize,
    },
    /// By a phi of truth values; the right side arrives from the block `from`.
    Phi {
        /// The phi.
        phi: Definition,
        /// Where the right side arrives from.
        from: usize,
        /// The `zext` that is its only use, if there is one: then the value is used as a number.
        extended: Option<Definition>,
    },
}

/// Where an operand of a spot is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OperandAt {
    /// The operand of an instruction.
    Operand(Definition, u32),
    /// The negative of the operand of an instruction.
    Negated(Definition, u32),
    /// The result of an instruction.
    Result(Definition),
    /// What lies where the pointer operand of a store points, before it stores.
    Target(Definition),
}

/// Where a variable is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableAt {
    /// The result of an `alloca`.
    Local(Definition),
    /// A global, by its symbol.
    Global(String),
}

/// The program's own oracle, by its symbol: it judges mutants and is not judged by them.
const COMPARISON: &str = "cairn_compare";

/// Finds the expressions of a program. `code` was read from the same module as `module`, from which
/// [`mapping::build`] made `map` with the same options.
pub fn find(module: &IrModule, code: &ModuleCode, map: &ProgramMap, options: &Options) -> Anchors {
    let mut first_sites: HashMap<FunctionId, u32> = HashMap::new();
    for (index, site) in map.sites.iter().enumerate() {
        first_sites.entry(site.function).or_insert(index as u32);
    }
    let globals = GlobalNames::of(code);
    let mut anchors = Anchors::default();
    for (index, source) in mapping::sources(module, options).into_iter().enumerate() {
        let id = FunctionId(index as u32);
        let ir = &module.functions[source.members[0]];
        let name = ir.source.as_ref().map_or("", |source| source.name.as_str());
        // What the compiler makes to run constructors has no name and nobody wrote it.
        if name.is_empty() || !options.scope.includes(&source.path, name) {
            continue;
        }
        let function_code = &code.functions[source.members[0]];
        let first_site = first_sites.get(&id).copied();
        let checked = match (&source.facts[0], first_site) {
            _ if ir.symbol == COMPARISON => Err(UnmutatedReason::Comparison),
            _ if ir.is_naked => Err(UnmutatedReason::Naked),
            _ if function_code.has_label_values => Err(UnmutatedReason::ComputedGoto),
            (Some(facts), _) if facts.function.is_skipped => Err(UnmutatedReason::Skipped),
            (Some(facts), _) if facts.function.is_template => Err(UnmutatedReason::UnknownInstance),
            (Some(_), Some(first_site)) => Ok(first_site),
            (Some(_), None) => Err(UnmutatedReason::NothingToMutate),
            (None, _) => Err(UnmutatedReason::NoFacts),
        };
        let found = checked.and_then(|first_site| {
            let mut bodies = Vec::new();
            for (facts, members) in bodies::by_code(code, &source).ok_or(UnmutatedReason::CopiesDiffer)? {
                let subject = Subject::new(module, code, &globals, members[0], facts, first_site);
                let Search { body, n_ambiguous, n_expanded } = search(&subject, id, &members);
                anchors.n_ambiguous += n_ambiguous;
                anchors.n_expanded += n_expanded;
                if body.anchors.is_empty() {
                    return Err(match subject.is_skipped() {
                        true => UnmutatedReason::Skipped,
                        false => UnmutatedReason::NothingToMutate,
                    });
                }
                bodies.push(body);
            }
            match bodies::have_same_spots(&bodies) {
                true => Ok(bodies),
                false => Err(UnmutatedReason::CopiesDiffer),
            }
        });
        match found {
            Ok(bodies) => anchors.functions.extend(bodies),
            Err(reason) => {
                let defined_at = source.facts[0].as_ref().map(defined_at);
                anchors.unmutated.push(Unanchored { function: id, reason, defined_at });
            }
        }
    }
    anchors
}

/// What was found in one body, and how much was not.
struct Search {
    body: AnchoredFunction,
    n_ambiguous: u32,
    n_expanded: u32,
}

fn search(subject: &Subject, id: FunctionId, members: &[usize]) -> Search {
    let storages = Storages::of(subject);
    let tests = Tests::of(subject);
    let values = values::find(subject, &storages, &tests);
    let offered = Offered::of(subject, &storages);
    let (spots, anchors) = spots::of(subject, &offered, &values, &tests).into_iter().unzip();
    let is_expanded = |expression: &u32| {
        let fact = subject.fact(*expression);
        fact.is_expanded && !subject.is_in_constant(*expression) && types::scalar(&fact.value_type).is_some()
    };
    let n_expanded = (0..subject.n_expressions() as u32).filter(is_expanded).count() as u32;
    let body = AnchoredFunction {
        defined_at: defined_at(subject.facts),
        members: members.to_vec(),
        mutable: MutableFunction { function: id, spots, variables: offered.variables },
        anchors,
        variables: offered.at,
    };
    Search { body, n_ambiguous: values.n_ambiguous, n_expanded }
}

fn defined_at(facts: &FactsRef) -> (String, u32, u32) {
    let place = facts.function.place;
    let file = facts.files.get(place.file as usize).map(|file| normalise(file)).unwrap_or_default();
    (file, place.line, place.column)
}
