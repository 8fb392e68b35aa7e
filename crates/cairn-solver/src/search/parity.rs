//! Equations whose sides are exclusive ors of input bits, solved by elimination.
//!
//! Cyclic redundancy checks, parities and permutations of bits are of this kind, however they are computed: with a table, by
//! shifting, or byte by byte. No descent finds its way through them, because every bit of the input changes half the bits
//! of the result; but flipping each bit once tells everything.

use super::{
    equations::{Equation, slots},
    problem::{Problem, Touch},
    random::Random,
};

/// Bits of all equations that fit one row.
const MAX_ROWS: u32 = 128;

/// Bytes whose bits are flipped.
const MAX_SLOTS: usize = 128;

/// Solutions that are tried against the other conditions.
const MAX_SOLUTIONS: usize = 64;

/// Solves the equations if they are of this kind. Whether everything holds then.
pub fn solve_parities(problem: &mut Problem<'_>, equations: &[Equation], random: &mut Random) -> bool {
    let equations = fitting(equations);
    if equations.is_empty() {
        return false;
    }
    let start = problem.bytes().to_vec();
    let all = slots(problem, &equations);
    // Bytes that may have any value cannot break the conditions on them alone.
    let free: Vec<usize> = all.iter().copied().filter(|slot| problem.domain(*slot).is_full()).collect();
    let mut choices = vec![free];
    if choices[0].len() < all.len() {
        choices.push(all);
    }
    for mut chosen in choices {
        // The last bytes are the likeliest to be a check of the others.
        chosen.reverse();
        chosen.truncate(MAX_SLOTS);
        if chosen.is_empty() || problem.left() < 8 * chosen.len() as u64 {
            continue;
        }
        if solve_with(problem, &equations, &chosen, random) {
            return true;
        }
        problem.restore(&start);
    }
    false
}

fn fitting(equations: &[Equation]) -> Vec<Equation> {
    let mut n_rows = 0;
    let fits = |equation: &&Equation| {
        n_rows += equation.width;
        n_rows <= MAX_ROWS
    };
    equations.iter().take_while(fits).copied().collect()
}

fn solve_with(
    problem: &mut Problem<'_>,
    equations: &[Equation],
    chosen: &[usize],
    random: &mut Random,
) -> bool {
    let touches: Vec<Touch> = chosen.iter().map(|slot| problem.touch(vec![*slot])).collect();
    let wanted = residue(problem, equations);
    let mut system = System::default();
    for (column, bit) in bits(&touches) {
        let touch = &touches[column];
        let slot = touch.slots[0];
        let value = problem.bytes()[slot];
        problem.set(slot, value ^ 1 << bit);
        problem.evaluate(touch);
        system.add(residue(problem, equations) ^ wanted, 8 * column + bit);
        problem.set(slot, value);
        problem.evaluate(touch);
    }
    let Some(mut solution) = system.solve(wanted, 8 * chosen.len()) else { return false };
    let everything = problem.touch(chosen.to_vec());
    let start: Vec<u8> = chosen.iter().map(|slot| problem.bytes()[*slot]).collect();
    for _ in 0..MAX_SOLUTIONS {
        for (column, slot) in chosen.iter().enumerate() {
            let flips =
                (0..8).filter(|bit| solution.has(8 * column + bit)).fold(0, |flips, bit| flips | 1 << bit);
            problem.set(*slot, start[column] ^ flips);
        }
        problem.evaluate(&everything);
        if problem.is_solved() {
            return true;
        }
        // If the equations do not hold, their sides are not exclusive ors of bits.
        if residue(problem, equations) != 0 || system.free.is_empty() || problem.is_spent() {
            return false;
        }
        for free in &system.free {
            if random.next() & 1 == 1 {
                solution.toggle_all(free);
            }
        }
    }
    false
}

fn bits(touches: &[Touch]) -> Vec<(usize, usize)> {
    (0..touches.len()).flat_map(|column| (0..8).map(move |bit| (column, bit))).collect()
}

/// The bits in which the sides of all equations differ, one after the other.
fn residue(problem: &Problem<'_>, equations: &[Equation]) -> u128 {
    let mut residue = 0;
    let mut shift = 0;
    for equation in equations {
        residue |= u128::from(equation.differing_bits(problem)) << shift;
        shift += equation.width;
    }
    residue
}

/// A set of columns.
#[derive(Clone, Debug, Default)]
struct Columns(Vec<u64>);

impl Columns {
    fn has(&self, column: usize) -> bool {
        self.0.get(column / 64).is_some_and(|word| word >> (column % 64) & 1 == 1)
    }

    fn toggle(&mut self, column: usize) {
        if self.0.len() <= column / 64 {
            self.0.resize(column / 64 + 1, 0);
        }
        self.0[column / 64] ^= 1 << (column % 64);
    }

    fn toggle_all(&mut self, others: &Self) {
        if self.0.len() < others.0.len() {
            self.0.resize(others.0.len(), 0);
        }
        for (word, other) in self.0.iter_mut().zip(&others.0) {
            *word ^= other;
        }
    }
}

/// Columns of a linear system over bits, reduced as they are added.
#[derive(Default)]
struct System {
    /// Values with a highest bit of their own, and the columns they are the exclusive or of.
    basis: Vec<(u128, Columns)>,
    /// Sets of columns that change nothing together.
    free: Vec<Columns>,
}

impl System {
    fn add(&mut self, value: u128, column: usize) {
        let mut columns = Columns::default();
        columns.toggle(column);
        let rest = self.reduce(value, &mut columns);
        if rest == 0 {
            self.free.push(columns);
        } else {
            self.basis.push((rest, columns));
            // Highest first, so that one pass reduces.
            self.basis.sort_by_key(|(value, _)| std::cmp::Reverse(*value));
        }
    }

    fn reduce(&self, mut value: u128, columns: &mut Columns) -> u128 {
        for (base, combined) in &self.basis {
            if value >> (127 - base.leading_zeros()) & 1 == 1 {
                value ^= base;
                columns.toggle_all(combined);
            }
        }
        value
    }

    /// Columns whose exclusive or is `wanted`.
    fn solve(&self, wanted: u128, n_columns: usize) -> Option<Columns> {
        let mut columns = Columns(vec![0; n_columns.div_ceil(64)]);
        (self.reduce(wanted, &mut columns) == 0).then_some(columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_over_bits_is_solved() {
        let values = [0b0110, 0b0101, 0b0011, 0b1000, 0b1110];
        let mut system = System::default();
        for (column, value) in values.into_iter().enumerate() {
            system.add(value, column);
        }
        assert_eq!((system.basis.len(), system.free.len()), (3, 2));
        let columns = system.solve(0b1101, values.len()).unwrap();
        let sum = (0..values.len()).filter(|n| columns.has(*n)).fold(0, |sum, n| sum ^ values[n]);
        assert_eq!(sum, 0b1101);
        assert!(system.solve(0b0001, values.len()).is_none());
        for free in &system.free {
            assert_eq!((0..values.len()).filter(|n| free.has(*n)).fold(0, |sum, n| sum ^ values[n]), 0);
        }
    }
}
