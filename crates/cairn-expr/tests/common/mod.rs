//! Random expressions of all operations and widths.

#![allow(dead_code, reason = "not every test uses everything")]

use cairn_expr::{
    Dag, ExprId, ExprNode, MathFunction, Op, RegionId, RegionKind, TableId, arity, is_comparison, mask,
};
use proptest::prelude::*;

/// Regions that random expressions read, each this many bytes.
pub const REGIONS: [RegionId; 2] =
    [RegionId::new(RegionKind::Stdin, 0), RegionId::new(RegionKind::Argument, 1)];
pub const REGION_SIZE: u32 = 8;

/// One node to be added; what its numbers mean depends on the operation, and every combination means something.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub op: Op,
    pub width: u32,
    pub operands: [usize; 3],
    pub number: u32,
    pub value: u128,
}

/// Recipes for up to `most` nodes.
pub fn recipes(most: usize) -> impl Strategy<Value = Vec<Recipe>> {
    proptest::collection::vec(recipe(), 1..most)
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let operand = || prop_oneof![3 => 0usize..4, 1 => 0usize..40];
    (
        proptest::sample::select(weighted_ops()),
        prop_oneof![
            4 => proptest::sample::select(vec![1u32, 8, 16, 32, 64]),
            1 => 1u32..=64,
            1 => 65u32..=128,
        ],
        [operand(), operand(), operand()],
        any::<u32>(),
        value(),
    )
        .prop_map(|(op, width, operands, number, value)| Recipe { op, width, operands, number, value })
}

/// Leaves more often than each operation.
fn weighted_ops() -> Vec<Op> {
    let mut ops = Op::ALL.to_vec();
    ops.extend([Op::Constant; 12]);
    ops.extend([Op::Input; 8]);
    ops.extend([Op::ZExt, Op::SExt, Op::Extract, Op::Concat, Op::Eq, Op::Ite, Op::And, Op::Shl, Op::Add]);
    ops
}

fn value() -> impl Strategy<Value = u128> {
    prop_oneof![
        3 => 0u128..4,
        2 => any::<u8>().prop_map(u128::from),
        1 => any::<u128>(),
        2 => (0u32..128).prop_map(|n| 1 << n),
        2 => (0u32..128).prop_map(|n| (1 << n) - 1),
        1 => (0u32..128).prop_map(|n| !((1u128 << n) - 1)),
        1 => any::<f64>().prop_map(|number| number.to_bits().into()),
        1 => any::<f32>().prop_map(|number| number.to_bits().into()),
    ]
}

/// An input: every byte of both regions.
pub fn input() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![any::<u8>(), Just(0u8), Just(0xff), Just(0x80), Just(b'0')];
    proptest::collection::vec(byte, 2 * REGION_SIZE as usize)
}

/// Reads an input made by [`input`].
pub fn bytes(input: &[u8]) -> impl Fn(RegionId, u32) -> u8 {
    move |region, offset| {
        let index = REGIONS.iter().position(|other| *other == region).expect("only these are read");
        input[index * REGION_SIZE as usize + offset as usize]
    }
}

/// Follows recipes without simplifying. Returns all nodes that were asked for, in order.
pub fn cook(dag: &mut Dag, recipes: &[Recipe]) -> Vec<ExprId> {
    let tables = [
        dag.add_table(&(0..=255).map(|n: u8| n.wrapping_mul(37)).collect::<Vec<u8>>()),
        dag.add_table(&[1, 2, 3]),
    ];
    let mut made = Vec::new();
    for recipe in recipes {
        let id = cook_one(dag, &made, &tables, recipe);
        made.push(id);
    }
    made
}

fn cook_one(dag: &mut Dag, made: &[ExprId], tables: &[TableId], recipe: &Recipe) -> ExprId {
    let Recipe { op, width, operands, number, value } = recipe.clone();
    let bytes = width.div_ceil(8).min(REGION_SIZE);
    let float = if number % 2 == 0 { 32 } else { 64 };
    if op == Op::Constant {
        return dag.constant(width, value);
    }
    if op == Op::Input || made.is_empty() {
        let region = REGIONS[number as usize % REGIONS.len()];
        let offset = number / 2 % (REGION_SIZE - bytes + 1);
        return dag.raw(ExprNode::input(region, offset, bytes * 8));
    }
    // Recent nodes are used more often, so that rules meet what they are for.
    let any = |n: usize| made[made.len() - 1 - operands[n] % made.len()];
    match op {
        Op::Opaque => {
            let dependencies: Vec<ExprId> = (0..number as usize % 3).map(any).collect();
            dag.opaque(width, value, &dependencies)
        }
        Op::Extract => {
            let of = dag.width(any(0));
            let width = 1 + (width - 1) % of;
            dag.raw(ExprNode::extract(any(0), number % (of - width + 1), width))
        }
        Op::Table => {
            let offset = fit(dag, any(0), 64, number);
            let table = tables[number as usize / 2 % tables.len()];
            dag.raw(ExprNode::table(table, offset, width.div_ceil(8) * 8))
        }
        Op::Math => {
            let function = MathFunction::ALL[number as usize / 2 % MathFunction::ALL.len()];
            let operands: Vec<ExprId> =
                (0..function.arity()).map(|n| fit(dag, any(n), float, number)).collect();
            dag.raw(ExprNode::math(function, float, &operands))
        }
        Op::ZExt | Op::SExt => {
            let of = dag.width(any(0));
            if of == 128 {
                return any(0);
            }
            dag.raw(ExprNode::operation(op, of + 1 + width % (128 - of), &[any(0)]))
        }
        Op::Concat => {
            let low = fit(dag, any(1), dag.width(any(1)).min(64), number);
            let high = fit(dag, any(0), dag.width(any(0)).min(64), number);
            dag.raw(ExprNode::operation(op, dag.width(high) + dag.width(low), &[high, low]))
        }
        Op::Ite => {
            let condition = fit(dag, any(0), 1, number);
            let then = any(1);
            let otherwise = fit(dag, any(2), dag.width(then), number);
            dag.raw(ExprNode::operation(op, dag.width(then), &[condition, then, otherwise]))
        }
        Op::FToSigned | Op::FToUnsigned => {
            let a = fit(dag, any(0), float, number);
            dag.raw(ExprNode::operation(op, width, &[a]))
        }
        Op::SignedToF | Op::UnsignedToF => dag.raw(ExprNode::operation(op, float, &[any(0)])),
        Op::FToF => {
            let a = fit(dag, any(0), 96 - float, number);
            dag.raw(ExprNode::operation(op, float, &[a]))
        }
        _ => {
            let is_float = op >= Op::FAdd;
            let of = if is_float { float } else { dag.width(any(0)) };
            let n = arity(op).expect("all others have a fixed number of operands");
            let operands: Vec<ExprId> = (0..n).map(|at| fit(dag, any(at), of, number)).collect();
            dag.raw(ExprNode::operation(op, if is_comparison(op) { 1 } else { of }, &operands))
        }
    }
}

/// An expression brought to a width.
fn fit(dag: &mut Dag, id: ExprId, width: u32, number: u32) -> ExprId {
    let of = dag.width(id);
    if let Some(value) = dag.constant_value(id) {
        return dag.constant(width, value & mask(width));
    }
    match of.cmp(&width) {
        std::cmp::Ordering::Equal => id,
        std::cmp::Ordering::Greater => {
            let low = if (number / 4).is_multiple_of(2) { 0 } else { number % (of - width + 1) };
            dag.raw(ExprNode::extract(id, low, width))
        }
        std::cmp::Ordering::Less => {
            let op = if (number / 8).is_multiple_of(2) { Op::ZExt } else { Op::SExt };
            dag.raw(ExprNode::operation(op, width, &[id]))
        }
    }
}
