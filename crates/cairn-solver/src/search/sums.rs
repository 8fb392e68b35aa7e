//! Equations whose sides are sums of bytes, each times a constant, solved by choosing bytes from the heaviest to the
//! lightest.
//!
//! Additive checksums, both halves of Adler's, decimal numbers and multiplicative hashes are of this kind as long as
//! nothing else wraps. The weights are measured by changing each byte twice; with the range of every byte known, a byte is
//! only given values that leave the rest within reach of the others.

use super::{
    equations::{Equation, slots},
    problem::{Problem, Touch},
    random::Random,
};

/// Choices looked at for one start and total.
const MAX_CHOICES: usize = 40_000;

/// Choices that may be looked at for each evaluation that is left. They cost none: small problems have more totals than these are worth.
const CHOICES_PER_EVALUATION: usize = 8;

/// Starts: the candidate as it is, then with the bytes that are not weighed changed at random.
const MAX_STARTS: usize = 4;

/// How often the sums are balanced to see what each byte should add.
const SHARING_ROUNDS: usize = 24;

/// Solutions that are tried against the other conditions.
const MAX_SOLUTIONS: usize = 24;

/// How often the sum may wrap around the width, in each direction.
const MAX_WRAPS: i128 = 3;

/// Solves the equations if they are of this kind. Whether everything holds then.
pub fn solve_sums(problem: &mut Problem<'_>, equations: &[Equation], random: &mut Random) -> bool {
    if equations.is_empty() {
        return false;
    }
    let start = problem.bytes().to_vec();
    let chosen = slots(problem, equations);
    if chosen.is_empty() {
        return false;
    }
    for attempt in 0..MAX_STARTS {
        if problem.left() < 4 * chosen.len() as u64 {
            break;
        }
        if attempt > 0 {
            for slot in &chosen {
                let value = *random.choose(problem.domain(*slot).values());
                problem.set(*slot, value);
            }
            let bytes = problem.bytes().to_vec();
            problem.restore(&bytes);
        }
        let mut weights = weigh(problem, equations, &chosen);
        if weights.is_empty() {
            break;
        }
        let sums = sums(problem, equations, &mut weights);
        if solve_weighed(problem, &sums, &weights, random) {
            return true;
        }
    }
    problem.restore(&start);
    false
}

/// What the bytes have to add, modulo two to the power of a width.
struct Sum {
    wanted: i128,
    width: u32,
}

/// A byte and what a step of it adds to each sum.
struct Weight {
    touch: Touch,
    per_step: Vec<i128>,
    /// The values it can have, as steps from where it is.
    steps: Vec<i64>,
}

impl Weight {
    /// How far the byte can move.
    fn span(&self) -> i128 {
        i128::from(self.steps[self.steps.len() - 1] - self.steps[0])
    }
}

/// The bytes whose effect is a multiple of their value.
fn weigh(problem: &mut Problem<'_>, equations: &[Equation], chosen: &[usize]) -> Vec<Weight> {
    let before: Vec<u64> = equations.iter().map(|equation| equation.difference(problem)).collect();
    let mut weights = Vec::new();
    for slot in chosen {
        let values = problem.domain(*slot).values().to_vec();
        let now = problem.domain(*slot).nearest(problem.bytes()[*slot]);
        let (first, last) = (values[0], values[values.len() - 1]);
        let far = if now.abs_diff(first) > now.abs_diff(last) { first } else { last };
        let near =
            values.iter().copied().filter(|value| *value != now).min_by_key(|value| value.abs_diff(now));
        let Some(near) = near else { continue };
        let touch = problem.touch(vec![*slot]);
        let own = problem.bytes()[*slot];
        let effect = |problem: &mut Problem<'_>, value: u8| -> Vec<i128> {
            problem.set(*slot, value);
            problem.evaluate(&touch);
            let differences = equations.iter().zip(&before);
            differences
                .map(|(equation, before)| {
                    wrapped(equation.difference(problem).wrapping_sub(*before), equation.width)
                })
                .collect()
        };
        let step = i128::from(near) - i128::from(own);
        let long = i128::from(far) - i128::from(own);
        let by_near = effect(problem, near);
        let by_far = effect(problem, far);
        problem.set(*slot, own);
        problem.evaluate(&touch);
        let is_linear = step != 0
            && by_near.iter().zip(&by_far).zip(equations).all(|((near, far), equation)| {
                near % step == 0 && wrapped(((near / step * long) - far) as u64, equation.width) == 0
            });
        if is_linear && by_near.iter().any(|effect| *effect != 0) {
            let per_step = by_near.iter().map(|effect| effect / step).collect();
            let steps = values.iter().map(|value| i64::from(*value) - i64::from(own)).collect();
            weights.push(Weight { touch, per_step, steps });
        }
    }
    weights.sort_by_key(|weight| {
        std::cmp::Reverse(weight.per_step.iter().map(|per_step| per_step.unsigned_abs()).max())
    });
    weights
}

/// A difference as the signed number of its width.
fn wrapped(difference: u64, width: u32) -> i128 {
    let unused = 64 - width;
    i128::from(((difference << unused) as i64) >> unused)
}

/// The sums the equations ask for, and those of their lowest bits where these do not wrap.
///
/// The latter follow from the former, but tell much earlier that a choice is wrong: the halves of a checksum that is
/// compared as one word are sums of their own.
fn sums(problem: &Problem<'_>, equations: &[Equation], weights: &mut [Weight]) -> Vec<Sum> {
    let (mut sums, mut lower) = (Vec::new(), Vec::new());
    for (index, equation) in equations.iter().enumerate() {
        let difference = equation.difference(problem);
        sums.push(Sum { wanted: -wrapped(difference, equation.width), width: equation.width });
        for width in [8, 16, 32].into_iter().filter(|width| *width < equation.width) {
            let lowest = |weight: &Weight| wrapped(weight.per_step[index] as u64, width);
            let span: i128 = weights.iter().map(|weight| lowest(weight).abs() * weight.span()).sum();
            if span >> width != 0 || span == 0 {
                continue;
            }
            lower.push(Sum { wanted: -wrapped(difference, width), width });
            for weight in weights.iter_mut() {
                let lowest = wrapped(weight.per_step[index] as u64, width);
                weight.per_step.push(lowest);
            }
        }
    }
    sums.append(&mut lower);
    sums
}

fn solve_weighed(problem: &mut Problem<'_>, sums: &[Sum], weights: &[Weight], random: &mut Random) -> bool {
    let reach = reaches(weights, sums.len());
    let everything = problem.touch(weights.iter().map(|weight| weight.touch.slots[0]).collect());
    let start = problem.bytes().to_vec();
    for wanted in totals(sums, &reach[0]) {
        let most = MAX_CHOICES.min(
            usize::try_from(problem.left()).unwrap_or(usize::MAX).saturating_mul(CHOICES_PER_EVALUATION),
        );
        let mut choice = Choice {
            weights,
            reach: &reach,
            wanted,
            most,
            n_choices: 0,
            steps: Vec::new(),
            cursors: Vec::new(),
        };
        for _ in 0..MAX_SOLUTIONS {
            if problem.is_spent() || !choice.next(random) {
                break;
            }
            for (weight, step) in weights.iter().zip(&choice.steps) {
                let slot = weight.touch.slots[0];
                problem.set(slot, (i64::from(start[slot]) + step) as u8);
            }
            problem.evaluate(&everything);
            if problem.is_solved() {
                return true;
            }
        }
        problem.look_at_clock();
    }
    problem.restore(&start);
    false
}

/// What to aim at: the sums as they are, and with whole turns around their width, where they are within reach.
fn totals(sums: &[Sum], reach: &[(i128, i128)]) -> Vec<Vec<i128>> {
    let mut totals: Vec<Vec<i128>> = vec![Vec::new()];
    for (sum, (low, high)) in sums.iter().zip(reach) {
        let mut options: Vec<i128> = (-MAX_WRAPS..=MAX_WRAPS)
            .map(|turns| sum.wanted + (turns << sum.width))
            .filter(|total| (low..=high).contains(&total))
            .collect();
        options.sort_by_key(|total| total.unsigned_abs());
        totals = totals
            .iter()
            .flat_map(|so_far| {
                options.iter().map(move |option| so_far.iter().copied().chain([*option]).collect())
            })
            .take(16)
            .collect();
    }
    totals
}

/// For every place in the order, the least and the most that the bytes from there on can add to each sum.
fn reaches(weights: &[Weight], n_sums: usize) -> Vec<Vec<(i128, i128)>> {
    let mut reach = vec![vec![(0, 0); n_sums]; weights.len() + 1];
    for (place, weight) in weights.iter().enumerate().rev() {
        let (first, last) = (weight.steps[0], weight.steps[weight.steps.len() - 1]);
        for (sum, per_step) in weight.per_step.iter().enumerate() {
            let ends = [i128::from(first) * per_step, i128::from(last) * per_step];
            let (low, high) = reach[place + 1][sum];
            reach[place][sum] = (low + ends[0].min(ends[1]), high + ends[0].max(ends[1]));
        }
    }
    reach
}

/// A walk over all ways to choose steps that add up.
struct Choice<'a> {
    weights: &'a [Weight],
    reach: &'a [Vec<(i128, i128)>],
    wanted: Vec<i128>,
    /// How many choices may be looked at.
    most: usize,
    n_choices: usize,
    steps: Vec<i64>,
    /// For every byte chosen, the steps not tried yet, best last.
    cursors: Vec<Vec<i64>>,
}

impl Choice<'_> {
    /// The next choice, in `steps`. False if there is none, or too many were looked at.
    fn next(&mut self, random: &mut Random) -> bool {
        if self.cursors.len() == self.weights.len() && !self.cursors.is_empty() {
            self.take_back();
        } else {
            self.open(random);
        }
        loop {
            self.n_choices += 1;
            if self.n_choices > self.most {
                return false;
            }
            let Some(cursor) = self.cursors.last_mut() else { return false };
            let Some(step) = cursor.pop() else {
                self.cursors.pop();
                if self.cursors.is_empty() {
                    return false;
                }
                self.take_back();
                continue;
            };
            let weight = &self.weights[self.cursors.len() - 1];
            self.steps.push(step);
            for (wanted, per_step) in self.wanted.iter_mut().zip(&weight.per_step) {
                *wanted -= i128::from(step) * per_step;
            }
            if self.steps.len() == self.weights.len() {
                if self.wanted.iter().all(|rest| *rest == 0) {
                    return true;
                }
                self.take_back();
                continue;
            }
            self.open(random);
        }
    }

    /// Takes the last step back.
    fn take_back(&mut self) {
        let Some(step) = self.steps.pop() else { return };
        let weight = &self.weights[self.steps.len()];
        for (wanted, per_step) in self.wanted.iter_mut().zip(&weight.per_step) {
            *wanted += i128::from(step) * per_step;
        }
    }

    /// Lists the steps of the next byte that leave the rest within reach.
    fn open(&mut self, random: &mut Random) {
        let place = self.cursors.len();
        let weight = &self.weights[place];
        let rest = &self.reach[place + 1];
        let forced = self.forced(place);
        let steps = match &forced {
            Some(step) => std::slice::from_ref(step),
            None => weight.steps.as_slice(),
        };
        self.n_choices += steps.len() / 8;
        let mut candidates: Vec<i64> = Vec::new();
        for step in steps {
            let mut sums = self.wanted.iter().zip(&weight.per_step).zip(rest);
            let is_within = sums.all(|((wanted, per_step), (low, high))| {
                (*low..=*high).contains(&(wanted - i128::from(*step) * per_step))
            });
            if is_within && weight.steps.binary_search(step).is_ok() {
                candidates.push(*step);
            }
        }
        if candidates.len() > 1 {
            // Steps near what all remaining bytes would share keep most ways open. A little chance tells solutions apart.
            let share = self.share(place) + random.below(3) as f64 - 1.0;
            candidates.sort_by(|a, b| (*b as f64 - share).abs().total_cmp(&(*a as f64 - share).abs()));
        }
        self.cursors.push(candidates);
    }

    /// The step of a byte if the remaining ones could take any fraction: from the middle of their ranges, moved to where
    /// one sum is right, then the next, over and over.
    fn share(&self, place: usize) -> f64 {
        let weights = &self.weights[place..];
        let ends = |weight: &Weight| (weight.steps[0] as f64, weight.steps[weight.steps.len() - 1] as f64);
        let mut steps: Vec<f64> =
            weights.iter().map(|weight| (ends(weight).0 + ends(weight).1) / 2.0).collect();
        for _ in 0..SHARING_ROUNDS {
            for (sum, wanted) in self.wanted.iter().enumerate() {
                let per_step = |weight: &Weight| weight.per_step[sum] as f64;
                let norm: f64 = weights.iter().map(|weight| per_step(weight).powi(2)).sum();
                if norm == 0.0 {
                    continue;
                }
                let total: f64 =
                    weights.iter().zip(&steps).map(|(weight, step)| per_step(weight) * step).sum();
                let missing = (*wanted as f64 - total) / norm;
                for (weight, step) in weights.iter().zip(&mut steps) {
                    let (first, last) = ends(weight);
                    *step = (*step + missing * per_step(weight)).clamp(first, last);
                }
            }
        }
        steps[0]
    }

    /// The only step of a byte that can work, where there are no more bytes left than sums: the last, and the last but
    /// one if two sums tell them apart. Steps that cannot be had exactly are rounded, and found wrong later.
    fn forced(&self, place: usize) -> Option<i64> {
        let weight = &self.weights[place].per_step;
        match self.weights.get(place + 1) {
            None => {
                let (wanted, per_step) =
                    self.wanted.iter().zip(weight).find(|(_, per_step)| **per_step != 0)?;
                i64::try_from(wanted / per_step).ok()
            }
            Some(last) if place + 2 == self.weights.len() => {
                let pairs = (0..weight.len()).flat_map(|p| (p + 1..weight.len()).map(move |q| (p, q)));
                for (p, q) in pairs {
                    let other = &last.per_step;
                    let cross =
                        |a: i128, b: i128, c: i128, d: i128| a.checked_mul(d)?.checked_sub(b.checked_mul(c)?);
                    let determinant = cross(weight[p], other[p], weight[q], other[q])?;
                    if determinant != 0 {
                        let numerator = cross(self.wanted[p], other[p], self.wanted[q], other[q])?;
                        return i64::try_from(numerator / determinant).ok();
                    }
                }
                None
            }
            Some(_) => None,
        }
    }
}
