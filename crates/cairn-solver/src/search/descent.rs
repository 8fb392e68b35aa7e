//! Alternating variables: one number is moved while that helps, then the next.
//!
//! Moves are powers of two in both directions; one that helps is repeated with twice the step, which follows a slope in
//! few evaluations. See Korel, "Automated software test data generation".

use super::{
    constants::Constants,
    problem::Problem,
    variable::{Kind, Variable},
};

/// Moves variables until nothing helps any more. Whether everything holds then.
pub fn descend(problem: &mut Problem<'_>, variables: &[Variable], constants: &Constants) -> bool {
    loop {
        let mut improved = false;
        for variable in variables {
            if problem.is_spent() {
                return problem.is_solved();
            }
            if problem.matters(&variable.touch) {
                improved |= settle(problem, variable, constants);
                if problem.is_solved() {
                    return true;
                }
            }
        }
        if !improved {
            return false;
        }
    }
}

/// Moves one variable to where no move of it helps. Whether it moved.
fn settle(problem: &mut Problem<'_>, variable: &Variable, constants: &Constants) -> bool {
    let mut line = Line::new(problem, variable);
    match variable.kind {
        Kind::Byte if problem.domain(variable.touch.slots[0]).values().len() <= 16 => {
            for value in problem.domain(variable.touch.slots[0]).values().to_vec() {
                line.probe(problem, value.into());
            }
        }
        Kind::Byte | Kind::Word => line.exponential(problem),
        Kind::Float => {
            line.special_numbers(problem, constants);
            line.exponential(problem);
            line.scaled_numbers(problem);
        }
    }
    if variable.kind != Kind::Float && !line.has_moved {
        for constant in constants.integers() {
            line.probe(problem, *constant);
        }
    }
    line.finish(problem);
    line.has_moved
}

/// The best place found on the line of values of one variable.
struct Line<'a> {
    variable: &'a Variable,
    bits: u64,
    distance: f64,
    has_moved: bool,
    /// What the candidate holds now.
    shown: u64,
}

impl<'a> Line<'a> {
    fn new(problem: &Problem<'_>, variable: &'a Variable) -> Self {
        let bits = variable.bits(problem);
        Self { variable, bits, distance: problem.total(), has_moved: false, shown: bits }
    }

    /// Tries a value; keeps it if it is better.
    fn probe(&mut self, problem: &mut Problem<'_>, bits: u64) -> bool {
        if bits == self.shown || self.distance == 0.0 || problem.is_spent() {
            return false;
        }
        self.shown = bits;
        let distance = self.variable.try_bits(problem, bits);
        let is_better = distance < self.distance;
        if is_better {
            (self.bits, self.distance, self.has_moved) = (bits, distance, true);
        }
        is_better
    }

    /// Steps of all powers of two, doubled while they help, until none does.
    fn exponential(&mut self, problem: &mut Problem<'_>) {
        let reach = self.variable.reach(problem);
        loop {
            let before = self.distance;
            for power in 0..=reach {
                for sign in [1, -1] {
                    let mut step = sign * (1i64 << power.min(62));
                    while self.probe(problem, self.variable.moved(problem, self.bits, step)) {
                        step = step.saturating_mul(2);
                    }
                }
            }
            if self.distance >= before || self.distance == 0.0 || problem.is_spent() {
                return;
            }
        }
    }

    /// Numbers that are special to the query or to everyone.
    fn special_numbers(&mut self, problem: &mut Problem<'_>, constants: &Constants) {
        for number in constants.numbers() {
            self.probe(problem, self.variable.bits_of(*number));
        }
    }

    /// Steps in the value instead of its place among numbers: sums need these.
    fn scaled_numbers(&mut self, problem: &mut Problem<'_>) {
        loop {
            let before = self.distance;
            for power in (-40..=40).rev() {
                for sign in [1.0, -1.0] {
                    let mut step = sign * f64::powi(2.0, power);
                    while self.probe(problem, {
                        let number = self.variable.number(self.bits);
                        self.variable.bits_of(number + step)
                    }) {
                        step *= 2.0;
                    }
                }
            }
            if self.distance >= before || self.distance == 0.0 || problem.is_spent() {
                return;
            }
        }
    }

    /// Leaves the best value in place.
    fn finish(&mut self, problem: &mut Problem<'_>) {
        if self.shown != self.bits {
            self.variable.try_bits(problem, self.bits);
        }
    }
}
