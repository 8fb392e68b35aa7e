//! One function with its facts and its code side by side.

use super::{types, variables::GlobalNames};
use crate::{
    ir::{CodeOperand, CodeType, Definition, FunctionCode, IrFunction, IrModule, ModuleCode, Opcode},
    mapping::FactsRef,
};
use cairn_model::{
    SiteId,
    facts::{
        ExpressionFact, ExpressionKind, FieldFact, FunctionFacts, Named, Place, TypeClass, VariableFact,
    },
    mutants::ValueType,
};
use std::collections::HashMap;

/// An expression of the function, by its number in the facts.
pub type Expression = u32;

/// A place as debug information has it.
pub type PlaceKey = (u32, u32, u32);

/// A function to be searched.
pub struct Subject<'a> {
    functions: &'a [IrFunction],
    /// The module.
    pub module: &'a ModuleCode,
    /// Its globals by name.
    pub globals: &'a GlobalNames<'a>,
    /// The function's code.
    pub code: &'a FunctionCode,
    /// Its blocks and places.
    pub ir: &'a IrFunction,
    /// What the front end knows.
    pub facts: &'a FactsRef<'a>,
    /// The site of expression 0.
    pub first_site: u32,
    children: Vec<Vec<Expression>>,
    at_place: HashMap<PlaceKey, Vec<Definition>>,
    uses: HashMap<Definition, Vec<(Definition, u32)>>,
    in_constant: Vec<bool>,
}

/// How an expression that names an object is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// Its value is read.
    Read,
    /// It is the left side of `=`.
    Assigned,
    /// It is changed by `op=`, `++` or `--`.
    Modified,
    /// Only its address is wanted.
    Address,
}

impl<'a> Subject<'a> {
    /// Puts a function together.
    pub fn new(
        ir_module: &'a IrModule,
        module: &'a ModuleCode,
        globals: &'a GlobalNames<'a>,
        index: usize,
        facts: &'a FactsRef<'a>,
        first_site: u32,
    ) -> Self {
        let (ir, code) = (&ir_module.functions[index], &module.functions[index]);
        let expressions = &facts.function.expressions;
        let mut children = vec![Vec::new(); expressions.len()];
        let mut in_constant = vec![false; expressions.len()];
        for (index, expression) in expressions.iter().enumerate() {
            if let Some(parent) = expression.parent {
                children[parent as usize].push(index as Expression);
                let around = &expressions[parent as usize];
                in_constant[index] = in_constant[parent as usize] || around.constant.is_some();
            }
        }
        let mut at_place: HashMap<PlaceKey, Vec<Definition>> = HashMap::new();
        let mut uses: HashMap<Definition, Vec<(Definition, u32)>> = HashMap::new();
        for (block, instructions) in code.blocks.iter().enumerate() {
            for (instruction, code) in instructions.iter().enumerate() {
                let at = Definition { block, instruction };
                if let Some(place) = ir.blocks[block].instructions[instruction].place {
                    at_place.entry((place.file, place.line, place.column)).or_default().push(at);
                }
                for (number, operand) in code.operands.iter().enumerate() {
                    if let CodeOperand::Result(used) = operand {
                        uses.entry(*used).or_default().push((at, number as u32));
                    }
                }
            }
        }
        Self {
            functions: &ir_module.functions,
            module,
            globals,
            code,
            ir,
            facts,
            first_site,
            children,
            at_place,
            uses,
            in_constant,
        }
    }

    /// The facts of the function.
    pub fn function(&self) -> &'a FunctionFacts {
        self.facts.function
    }

    /// How many expressions there are.
    pub fn n_expressions(&self) -> usize {
        self.children.len()
    }

    /// The facts of an expression.
    pub fn fact(&self, expression: Expression) -> &'a ExpressionFact {
        &self.facts.function.expressions[expression as usize]
    }

    /// Its operands.
    pub fn children(&self, expression: Expression) -> &[Expression] {
        &self.children[expression as usize]
    }

    /// Its only operand.
    pub fn only_child(&self, expression: Expression) -> Option<Expression> {
        match self.children(expression) {
            [child] => Some(*child),
            _ => None,
        }
    }

    /// Both operands.
    pub fn operands(&self, expression: Expression) -> Option<(Expression, Expression)> {
        match self.children(expression) {
            [left, right] => Some((*left, *right)),
            _ => None,
        }
    }

    /// Its site.
    pub fn site(&self, expression: Expression) -> SiteId {
        SiteId(self.first_site + expression)
    }

    /// Whether it is part of a larger constant, which is computed by nobody.
    pub fn is_in_constant(&self, expression: Expression) -> bool {
        self.in_constant[expression as usize]
    }

    /// Whether mutants may change it.
    pub fn is_open(&self, expression: Expression) -> bool {
        let fact = self.fact(expression);
        !fact.is_foreign && !fact.is_expanded && !fact.is_volatile && !self.is_on_skipped_line(expression)
    }

    /// Whether the function has expressions, and all of them stand on lines to skip.
    pub fn is_skipped(&self) -> bool {
        let mut expressions = 0..self.n_expressions() as Expression;
        !expressions.is_empty() && expressions.all(|expression| self.is_on_skipped_line(expression))
    }

    fn is_on_skipped_line(&self, expression: Expression) -> bool {
        let fact = self.fact(expression);
        let is_skipped = |place: Place| {
            place.file == self.function().place.file
                && self.function().skipped_lines.binary_search(&place.line).is_ok()
        };
        is_skipped(fact.extent.start) || is_skipped(fact.place)
    }

    /// Whether evaluating it does nothing else.
    pub fn is_pure(&self, expression: Expression) -> bool {
        use ExpressionKind as Kind;
        let fact = self.fact(expression);
        if fact.constant.is_some() || self.is_in_constant(expression) {
            return true;
        }
        let is_pure = !matches!(
            fact.kind,
            Kind::Assign | Kind::CompoundAssign | Kind::IncrementDecrement | Kind::Call | Kind::Other
        );
        is_pure && !fact.is_volatile && self.children(expression).iter().all(|child| self.is_pure(*child))
    }

    /// The member an expression accesses.
    pub fn field(&self, expression: Expression) -> Option<(&'a FieldFact, bool)> {
        let Some(Named::Member { record, field }) = self.fact(expression).names else { return None };
        let record = self.facts.unit.records.get(record as usize)?;
        record.fields.get(field as usize).map(|field| (field, record.is_union))
    }

    /// The variable an expression names.
    pub fn variable(&self, expression: Expression) -> Option<&'a VariableFact> {
        match self.fact(expression).names? {
            Named::Local(number) => self.function().variables.get(number as usize),
            Named::Global(number) => self.facts.unit.variables.get(number as usize),
            Named::Member { .. } => None,
        }
    }

    /// The type in which an expression enters arithmetic, before promotion.
    pub fn scalar(&self, expression: Expression) -> Option<ValueType> {
        let fact = self.fact(expression);
        if fact.is_array {
            return Some(ValueType::Pointer);
        }
        let scalar = types::scalar(&fact.value_type)?;
        // A narrow bit-field's values fit into `int`, so that is what it becomes.
        match (self.field(expression).and_then(|(field, _)| field.bit_width), scalar) {
            (Some(width), ValueType::Int { bits: 32, .. }) if width < 32 => Some(types::INT),
            (Some(_), ValueType::Int { bits: 64, .. }) => None,
            _ => Some(scalar),
        }
    }

    /// How an object that is named is used.
    pub fn usage(&self, expression: Expression) -> Usage {
        let fact = self.fact(expression);
        if fact.is_array
            || matches!(fact.value_type.class, TypeClass::Record | TypeClass::Other | TypeClass::Void)
        {
            return Usage::Address;
        }
        let Some(parent) = fact.parent else { return Usage::Read };
        let is_first = self.children(parent).first() == Some(&expression);
        let around = self.fact(parent);
        match around.kind {
            ExpressionKind::Assign if is_first => Usage::Assigned,
            ExpressionKind::CompoundAssign if is_first => Usage::Modified,
            ExpressionKind::IncrementDecrement => Usage::Modified,
            ExpressionKind::Unary if around.operator == "&" => Usage::Address,
            _ => Usage::Read,
        }
    }

    /// The key of a place of the facts, if the bitcode has its file.
    pub fn key(&self, place: Place) -> Option<PlaceKey> {
        let file = self.facts.ir_files.get(place.file as usize).copied().flatten()?;
        Some((file, place.line, place.column))
    }

    /// The instructions at a place, in order.
    pub fn at_place(&self, place: Place) -> &[Definition] {
        self.key(place).and_then(|key| self.at_place.get(&key)).map_or(&[], Vec::as_slice)
    }

    /// Where the result of an instruction is used: by which, as which operand.
    pub fn uses(&self, at: Definition) -> &[(Definition, u32)] {
        self.uses.get(&at).map_or(&[], Vec::as_slice)
    }

    /// The type of an operand.
    pub fn operand_type(&self, operand: CodeOperand) -> Option<CodeType> {
        Some(match operand {
            CodeOperand::Result(at) => self.code.at(at).result,
            CodeOperand::Integer { bits, .. } => CodeType::Int(bits),
            CodeOperand::Float { bits, .. } => CodeType::Float(bits),
            CodeOperand::Null | CodeOperand::Global { .. } => CodeType::Pointer,
            CodeOperand::Argument(_) | CodeOperand::Other => return None,
        })
    }

    /// What an operand is before conversions.
    pub fn unconverted(&self, operand: CodeOperand) -> CodeOperand {
        let mut operand = operand;
        while let CodeOperand::Result(at) = operand {
            let code = self.code.at(at);
            match code.opcode {
                Opcode::Convert { .. } => operand = code.operands[0],
                _ => break,
            }
        }
        operand
    }

    /// Whether the code of `at` stands within the text of `expression`.
    pub fn stands_in(&self, at: Definition, expression: Expression) -> bool {
        let Some(place) = self.ir.blocks[at.block].instructions[at.instruction].place else { return false };
        let extent = self.fact(expression).extent;
        let (Some(start), Some(end)) = (self.key(extent.start), self.key(extent.end)) else { return false };
        let key = (place.file, place.line, place.column);
        start.0 == place.file && start <= key && key < end
    }

    /// The name of a function of the module in the source.
    pub fn function_name(&self, index: usize) -> &'a str {
        self.functions[index].source.as_ref().map_or("", |source| source.name.as_str())
    }

    /// The last instruction of a block.
    pub fn end_of(&self, block: usize) -> Definition {
        Definition { block, instruction: self.code.blocks[block].len() - 1 }
    }
}
