//! Expressions run as C would, with or without a mutant.

use super::{
    parser::{Kind, Tree},
    scene::{Scene, Statement, operand_types},
};
use crate::{
    Proposal,
    formula::{BinaryOperator, Builder, Trap, Value, VariableValue, evaluate, types},
    site::{Role, Spot},
};
use cairn_model::{
    SiteId,
    mutants::{Change, LogicalChange, ValueType},
};
use std::collections::BTreeMap;

/// Values of variables.
pub type Store = BTreeMap<String, Value>;

/// What a run leaves: the result, the variables, and the arguments of calls.
pub type Outcome = Result<(Value, Store, Vec<Value>), Trap>;

/// Runs a statement, perhaps with a mutant.
pub fn run(scene: &Scene, tree: &Tree, store: &Store, mutant: Option<(&Spot, &Proposal)>) -> Outcome {
    let mut machine = Machine { scene, mutant, store: store.clone(), calls: Vec::new(), next_site: 0 };
    let mut value = machine.value(tree)?;
    let site = SiteId(0);
    if scene.statement == Statement::If {
        value = Value::truth(value.is_true());
        value = machine.mutate(site, Role::Decision, value, &[])?;
    }
    if scene.statement == Statement::Return {
        value = convert(value, scene.tree.value_type());
        value = machine.mutate(site, Role::Returned, value, &[])?;
    }
    if scene.statement == Statement::Expression {
        // Nobody looks at it.
        value = Value::truth(false);
    }
    Ok((value, machine.store, machine.calls))
}

struct Machine<'a> {
    scene: &'a Scene,
    mutant: Option<(&'a Spot, &'a Proposal)>,
    store: Store,
    calls: Vec<Value>,
    /// Sites are numbered as they are met from the outside in.
    next_site: u32,
}

fn convert(value: Value, to: ValueType) -> Value {
    let mut builder = Builder::new();
    let original = builder.original(value.value_type());
    let formula = builder.finish(original, to).expect("numbers convert");
    let converted = evaluate(&formula, value, &[], &[]).expect("conversions do not trap");
    Value::from_bits(to, converted.bits())
}

fn binary(operator: BinaryOperator, left: Value, right: Value) -> Result<Value, Trap> {
    let mut builder = Builder::new();
    let (a, b) = (builder.operand(0, left.value_type()), builder.operand(1, right.value_type()));
    let result = builder.binary(operator, a, b).expect("it was checked");
    let formula = builder.finish(result, result.value_type).expect("it has this type");
    let computed = evaluate(&formula, left, &[left, right], &[])?;
    Ok(Value::from_bits(result.value_type, computed.bits()))
}

impl Machine<'_> {
    fn value(&mut self, tree: &Tree) -> Result<Value, Trap> {
        let site = SiteId(self.next_site);
        self.next_site += 1;
        let wanted = operand_types(tree);
        match tree.kind {
            Kind::Integer => {
                let own = Value::integer(tree.value_type(), tree.number.into());
                self.mutate_constant(site, own)
            }
            Kind::Float => self.mutate_constant(site, Value::float(tree.value_type(), tree.float)),
            Kind::Reference => {
                let value = self.store[&tree.operator];
                self.mutate(site, Role::Value, value, &[])
            }
            Kind::Logical => self.logical(tree, site),
            Kind::Binary => {
                let left = self.value(&tree.children[0])?;
                let right = self.value(&tree.children[1])?;
                let sides = [convert(left, wanted[0]), convert(right, wanted[1])];
                let operator = tree.binary_operator().expect("it is binary");
                let result = self.mutate_result(site, sides, |sides| binary(operator, sides[0], sides[1]))?;
                Ok(convert(result, tree.value_type()))
            }
            Kind::Unary => {
                let of = self.value(&tree.children[0])?;
                let of = convert(of, wanted[0]);
                let result = match tree.operator.as_str() {
                    "!" => Value::truth(!of.is_true()),
                    "-" if matches!(of.value_type(), ValueType::Float { .. }) => {
                        Value::float(of.value_type(), -of.as_float())
                    }
                    "-" => Value::integer(of.value_type(), of.as_signed().wrapping_neg()),
                    _ => Value::from_bits(of.value_type(), !of.bits()),
                };
                let result = self.mutate(site, Role::Value, result, &[of])?;
                Ok(convert(result, tree.value_type()))
            }
            Kind::Cast => {
                let of = self.value(&tree.children[0])?;
                let result = convert(of, tree.value_type());
                self.mutate(site, Role::Value, result, &[of])
            }
            Kind::Call => {
                self.next_site += 1;
                let argument = self.value(&tree.children[1])?;
                let argument = convert(argument, types::INT);
                self.calls.push(argument);
                Ok(Value::integer(types::INT, argument.as_signed().wrapping_mul(7) + 3))
            }
            Kind::Assign | Kind::CompoundAssign | Kind::IncrementDecrement => self.write(tree, site, &wanted),
            Kind::Other => {
                self.value(&tree.children[0])?;
                self.value(&tree.children[1])
            }
            other => panic!("{other:?} is not run"),
        }
    }

    fn write(&mut self, tree: &Tree, site: SiteId, wanted: &[ValueType]) -> Result<Value, Trap> {
        let target_site = SiteId(self.next_site);
        self.next_site += 1;
        let mut target = tree.children[0].operator.clone();
        let target_type = tree.value_type();
        let old = self.store[&target];
        let new = match tree.kind {
            Kind::Assign => {
                let right = self.value(&tree.children[1])?;
                // The right side may have changed it.
                let old = self.store[&target];
                let new = convert(right, target_type);
                let new = self.mutate(site, Role::Stored, new, &[old, right])?;
                if let Some(name) = self.assigned_instead(target_site) {
                    target = name;
                }
                new
            }
            Kind::CompoundAssign => {
                let right = self.value(&tree.children[1])?;
                let old = self.store[&target];
                let sides = [convert(old, wanted[0]), convert(right, wanted[1])];
                let operator = tree.binary_operator().expect("it is one");
                self.mutate_result(site, sides, |sides| binary(operator, sides[0], sides[1]))?
            }
            _ => {
                let operator =
                    if tree.operator == "++" { BinaryOperator::Add } else { BinaryOperator::Subtract };
                let stepped = binary(operator, old, Value::integer(types::INT, 1))?;
                self.mutate(site, Role::Value, convert(stepped, target_type), &[old])?
            }
        };
        let new = convert(new, target_type);
        self.store.insert(target, new);
        let is_postfix = tree.kind == Kind::IncrementDecrement && tree.number == 1;
        Ok(if is_postfix { old } else { new })
    }

    fn logical(&mut self, tree: &Tree, site: SiteId) -> Result<Value, Trap> {
        let change = match self.mutant {
            Some((spot, Proposal { change: Change::Logical(change), .. })) if spot.site == site => {
                Some((change.clone(), spot.value_type))
            }
            _ => None,
        };
        let mut is_and = tree.operator == "&&";
        if let Some((LogicalChange::Swap, _)) = change {
            is_and = !is_and;
        }
        let drops_left = matches!(change, Some((LogicalChange::Right, _)));
        let drops_right = matches!(change, Some((LogicalChange::Left, _)));
        let is_both = matches!(change, Some((LogicalChange::Both(_), _)));
        let mut sides = [None, None];
        for (number, child) in tree.children.iter().enumerate() {
            let decides_alone = sides[0].is_some_and(|left: Value| left.is_true() != is_and);
            let is_skipped = match number {
                0 => drops_left,
                _ => drops_right || (!is_both && decides_alone),
            };
            if is_skipped {
                self.next_site += n_sites(child);
            } else {
                let wanted = operand_types(tree)[number];
                sides[number] = Some(convert(self.value(child)?, wanted));
            }
        }
        let truth = sides[1].or(sides[0]).expect("a side was evaluated").is_true();
        Ok(convert(
            match change {
                Some((LogicalChange::Negate, _)) => Value::truth(!truth),
                Some((LogicalChange::Both(formula), value_type)) => {
                    let sides = sides.map(|side| side.expect("both were evaluated"));
                    let value = evaluate(&formula, Value::truth(false), &sides, &[])?;
                    Value::from_bits(value_type, value.bits())
                }
                _ => Value::truth(truth),
            },
            types::INT,
        ))
    }

    fn assigned_instead(&self, site: SiteId) -> Option<String> {
        let (spot, proposal) =
            self.mutant.filter(|(spot, _)| spot.site == site && spot.role == Role::Assigned)?;
        let Change::Value(formula) = &proposal.change else { return None };
        let address = evaluate(formula, Value::from_bits(ValueType::Pointer, 0), &[], &self.variables());
        assert_eq!(spot.value_type, ValueType::Pointer);
        let number = address.expect("addresses do not trap").bits() as usize;
        Some(self.scene.function.variables[number].name.clone())
    }

    /// Addresses are the numbers of variables.
    fn variables(&self) -> Vec<VariableValue> {
        let variables = self.scene.function.variables.iter().enumerate();
        variables
            .map(|(number, variable)| VariableValue {
                value: self.store.get(&variable.name).copied(),
                address: number as u64,
            })
            .collect()
    }

    fn mutate_constant(&self, site: SiteId, own: Value) -> Result<Value, Trap> {
        let Some((spot, _)) = self.mutant.filter(|(spot, _)| spot.site == site) else { return Ok(own) };
        if !matches!(spot.role, Role::Constant { .. }) {
            return Ok(own);
        }
        self.mutate(site, spot.role, convert(own, spot.value_type), &[])
    }

    /// The original may trap where the mutant does not: it is computed only if the mutant uses it.
    fn mutate_result(
        &self,
        site: SiteId,
        sides: [Value; 2],
        compute: impl Fn([Value; 2]) -> Result<Value, Trap>,
    ) -> Result<Value, Trap> {
        match self.mutant {
            Some((spot, proposal)) if spot.site == site && spot.role == Role::Value => {
                let uses_original =
                    matches!(&proposal.change, Change::Value(formula) if formula.uses_original());
                let zero = Value::from_bits(spot.value_type, 0);
                let original = if uses_original { compute(sides)? } else { zero };
                self.apply(spot, proposal, original, &sides)
            }
            _ => compute(sides),
        }
    }

    fn mutate(&self, site: SiteId, role: Role, value: Value, operands: &[Value]) -> Result<Value, Trap> {
        match self.mutant {
            Some((spot, proposal)) if spot.site == site && spot.role == role => {
                self.apply(spot, proposal, convert(value, spot.value_type), operands)
            }
            _ => Ok(value),
        }
    }

    fn apply(
        &self,
        spot: &Spot,
        proposal: &Proposal,
        original: Value,
        operands: &[Value],
    ) -> Result<Value, Trap> {
        let Change::Value(formula) = &proposal.change else {
            panic!("only `&&` and `||` have other changes")
        };
        let value = evaluate(formula, original, operands, &self.variables())?;
        let width = |value_type| match value_type {
            ValueType::Int { bits, .. } => ValueType::Int { bits, is_signed: false },
            other => other,
        };
        assert_eq!(width(value.value_type()), width(spot.value_type), "{proposal:?} has another type");
        Ok(Value::from_bits(spot.value_type, value.bits()))
    }
}

fn n_sites(tree: &Tree) -> u32 {
    1 + tree.children.iter().map(n_sites).sum::<u32>()
}
