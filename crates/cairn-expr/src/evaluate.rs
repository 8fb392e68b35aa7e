//! The value of an expression on an input.

use std::collections::{BTreeMap, HashMap};

use cairn_abi::symbolic::{Op, RegionId};

use crate::{
    dag::Dag,
    hash::BuildMix,
    inputs::InputByte,
    node::{ExprId, ExprNode},
    value::{Bits, compute, math, table_value},
};

/// The bytes of an input.
pub trait Bytes {
    /// One of them; what a region does not have is 0.
    fn byte(&self, region: RegionId, offset: u32) -> u8;
}

impl<F: Fn(RegionId, u32) -> u8> Bytes for F {
    fn byte(&self, region: RegionId, offset: u32) -> u8 {
        self(region, offset)
    }
}

impl Bytes for BTreeMap<RegionId, Vec<u8>> {
    fn byte(&self, region: RegionId, offset: u32) -> u8 {
        self.get(&region).and_then(|bytes| bytes.get(offset as usize)).copied().unwrap_or(0)
    }
}

impl Bytes for BTreeMap<InputByte, u8> {
    fn byte(&self, region: RegionId, offset: u32) -> u8 {
        self.get(&InputByte { region, offset }).copied().unwrap_or(0)
    }
}

/// The value of one expression. For many expressions on one input use an [`Evaluator`], for one expression on many inputs a
/// [`Tape`](crate::Tape).
pub fn evaluate(dag: &Dag, id: ExprId, bytes: &(impl Bytes + ?Sized)) -> u128 {
    Evaluator::new(dag, bytes).value(id)
}

/// The values of all expressions of a graph, by their index: quicker than an [`Evaluator`] where most are asked for.
pub fn evaluate_all(dag: &Dag, bytes: &(impl Bytes + ?Sized)) -> Vec<u128> {
    let mut values: Vec<u128> = Vec::with_capacity(dag.len());
    for id in (0..dag.len()).filter_map(|index| dag.id(index)) {
        // Operands come before what is made of them.
        let value = step(dag, id, bytes, |operand| values[operand.index()]);
        values.push(value);
    }
    values
}

/// Evaluates expressions on one input, and remembers the values of their parts.
pub struct Evaluator<'a, B: Bytes + ?Sized> {
    dag: &'a Dag,
    bytes: &'a B,
    values: HashMap<ExprId, u128, BuildMix>,
}

impl<'a, B: Bytes + ?Sized> Evaluator<'a, B> {
    /// Knows no value yet.
    pub fn new(dag: &'a Dag, bytes: &'a B) -> Self {
        Self { dag, bytes, values: HashMap::default() }
    }

    /// The value of an expression.
    pub fn value(&mut self, id: ExprId) -> u128 {
        let mut open = vec![id];
        while let Some(next) = open.last().copied() {
            if self.values.contains_key(&next) {
                open.pop();
                continue;
            }
            let node = self.dag.node(next);
            let n_open = open.len();
            if node.op != Op::Opaque {
                open.extend(node.operands().iter().filter(|operand| !self.values.contains_key(operand)));
            }
            if open.len() == n_open {
                let value = step(self.dag, next, self.bytes, |operand| self.values[&operand]);
                self.values.insert(next, value);
                open.pop();
            }
        }
        self.values[&id]
    }
}

/// The value of a node from those of its operands, if it is no leaf.
fn step(dag: &Dag, id: ExprId, bytes: &(impl Bytes + ?Sized), value: impl Fn(ExprId) -> u128) -> u128 {
    let node = dag.node(id);
    match node.op {
        Op::Input => {
            let (region, offset) = node.place();
            let byte = |n| u128::from(bytes.byte(region, offset + n));
            (0..node.width() / 8).rev().fold(0, |value, n| value << 8 | byte(n))
        }
        Op::Constant => dag.constant_value(id).expect("it is a constant"),
        Op::Opaque => dag.opaque_value(id).expect("it is opaque"),
        _ => dag.compute(node, value),
    }
}

impl Dag {
    /// The value of a node from those of its operands. It must not be a leaf.
    pub(crate) fn compute(&self, node: &ExprNode, value: impl Fn(ExprId) -> u128) -> u128 {
        let operands = node.operands();
        let bits = |n: usize| match operands.get(n) {
            Some(id) => Bits { value: value(*id), width: self.width(*id) },
            None => Bits::default(),
        };
        match node.op {
            Op::Table => table_value(self.table_bytes(node.table_id()), bits(0).value, node.width()),
            Op::Math => {
                math(node.function(), node.width(), bits(0).value as u64, bits(1).value as u64).into()
            }
            Op::Extract => {
                let low = Bits { value: node.low().into(), width: 32 };
                compute(node.op, node.width(), bits(0), low, Bits::default())
            }
            op => compute(op, node.width(), bits(0), bits(1), bits(2)),
        }
    }
}
