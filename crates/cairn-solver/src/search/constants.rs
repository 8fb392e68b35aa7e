//! Values worth trying because the query mentions them.

use super::problem::Problem;
use cairn_expr::{Op, signed};
use std::collections::BTreeSet;

/// More than these are not tried for every variable.
const MAX_CONSTANTS: usize = 48;

/// Numbers everyone should try.
const NUMBERS: [f64; 14] =
    [0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 10.0, 100.0, 1e3, 1e6, 1e-3, 1e-9, 1e15, f64::INFINITY];

/// Constants of a query and their neighbours.
pub struct Constants {
    integers: Vec<u64>,
    numbers: Vec<f64>,
}

impl Constants {
    /// Collects them from what the conditions compute.
    pub fn of(problem: &Problem<'_>) -> Self {
        let dag = problem.dag;
        let mut integers = BTreeSet::new();
        let mut numbers: Vec<f64> = Vec::new();
        for part in dag.evaluated(problem.conditions) {
            if dag.op(part) != Op::Constant {
                continue;
            }
            let (Some(value), width) = (dag.constant_value(part), dag.width(part)) else { continue };
            if width >= 8 {
                let value = value as u64;
                integers.extend([value, value.wrapping_add(1), value.wrapping_sub(1)]);
                numbers.push(signed(value.into(), width.min(64)) as f64);
            }
            match width {
                32 => numbers.push(f32::from_bits(value as u32).into()),
                64 => numbers.push(f64::from_bits(value as u64)),
                _ => {}
            }
        }
        integers.extend([0, u64::MAX]);
        numbers.retain(|number| number.is_finite() && number.abs() > 1e-200 && number.abs() < 1e200);
        let halves: Vec<f64> = numbers.iter().flat_map(|number| [number / 2.0, -number]).collect();
        numbers.extend(halves);
        numbers.truncate(MAX_CONSTANTS);
        numbers.extend(NUMBERS);
        Self { integers: integers.into_iter().take(MAX_CONSTANTS).collect(), numbers }
    }

    /// Integers; of a narrower variable, the lowest bits are meant.
    pub fn integers(&self) -> &[u64] {
        &self.integers
    }

    /// Floating-point numbers.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }
}
