//! Answers the comparisons that a run makes.
//!
//! A run of the symbolic view tells for every condition what was compared with what, and which bytes of the input that
//! depended on. Where the other way of a condition was never taken, an input is asked for that takes it: by undoing
//! operations and by search, never for long ([`cairn_concolic::flip`] without SMT). That writes the other operand in the
//! right place and in the right encoding, be it big-endian, shifted or a checksum, and keeps the way to the condition.
//! The values next to the other operand are written, too, because that is where mistakes are.

use crate::{
    dictionary::{Dictionary, LONGEST_TOKEN},
    region::{self, RegionKind},
};
use cairn_concolic::{Event, Flip, Limits, Path, Recording, Regions, flip};
use cairn_executor::{ExecutorError, SymbolicConfig, SymbolicRun, environment};
use cairn_expr::{Dag, ExprId, Op, evaluate, is_comparison, mask, simplify};
use cairn_model::{Input, ProgramMap, map::Branch};
use cairn_solver::{Budget, Checked, Config, InputToState, Model, Query, Solver, standard};
use std::{collections::BTreeMap, time::Duration};

/// Which comparisons were answered how often.
#[derive(Default)]
pub(crate) struct Comparisons {
    n_asked: BTreeMap<Branch, u32>,
}

/// What answers are for.
pub(crate) struct Asked<'a> {
    pub map: &'a ProgramMap,
    /// For each counter what was seen; 0 for nothing.
    pub seen: &'a [u8],
    /// The kinds of regions that may be changed.
    pub regions: &'a [RegionKind],
    pub max_size: usize,
}

/// An input made to decide a comparison otherwise.
#[derive(Debug)]
pub(crate) struct Answer {
    pub input: Input,
    /// For people.
    pub how: String,
}

/// How much a symbolic run may write: long runs compare the same things again and again.
pub(crate) fn config() -> SymbolicConfig {
    SymbolicConfig {
        trace_size: 1 << 20,
        n_nodes: 1 << 17,
        tables_size: 1 << 20,
        ..SymbolicConfig::default()
    }
}

/// Questions about one run.
const MOST_QUESTIONS: usize = 48;

/// Questions about one branch, in all runs.
const MOST_PER_BRANCH: u32 = 12;

/// Steps before all questions about one run: a question is the dearer the more was decided before it.
const MOST_STEPS: usize = 200_000;

/// What one question may cost. Work decides; the time is for what work does not foresee.
const BUDGET: Budget = Budget { evaluations: 8_000, rlimit: 0, timeout: Duration::from_millis(100) };

impl Comparisons {
    /// Inputs that decide comparisons of a run otherwise. What they are made of is added to the dictionary.
    pub(crate) fn answers(
        &mut self,
        input: &Input,
        run: &SymbolicRun,
        asked: &Asked<'_>,
        dictionary: &mut Dictionary,
    ) -> Result<Vec<Answer>, ExecutorError> {
        let limits = Limits { max_size: asked.max_size as u64, ..Limits::default() };
        let regions = Regions::new(input.clone(), environment(input)?, limits);
        let recording = Recording { records: &run.records, nodes: &run.nodes, tables: &run.tables };
        let path = Path::new(recording, regions);
        let quick = Budget { evaluations: 2_000, ..BUDGET };
        let mut solver = standard(Config { smt: false, quick, search: BUDGET, ..Config::default() });
        let mut answers: Vec<Answer> = Vec::new();
        for (branch, step) in self.questions(&path, asked) {
            *self.n_asked.entry(branch).or_default() += 1;
            let text = &asked.map.conditions[branch.condition.index()].text;
            let mut offer = |new: Input, how: String| {
                let is_known = new == *input || answers.iter().any(|answer| answer.input == new);
                let fits = region::size(&new) <= asked.max_size;
                if !is_known && fits && region::differ_only_in(asked.regions, input, &new) {
                    answers.push(Answer { input: new, how });
                }
            };
            if let Flip::Solved(solved) = flip(&path, step, &mut solver, BUDGET) {
                words(&solved.model, dictionary);
                offer(solved.input, format!("comparison `{text}` answered"));
            }
            for model in neighbours(&path, step) {
                if let Ok(new) = path.regions().apply(model.iter()) {
                    offer(new, format!("value next to that of `{text}`"));
                }
            }
        }
        Ok(answers)
    }

    /// Steps at which a branch begins that was never taken: the first and the last for each, those first that were asked
    /// for least.
    fn questions(&self, path: &Path, asked: &Asked<'_>) -> Vec<(Branch, usize)> {
        let mut steps: BTreeMap<Branch, (usize, usize)> = BTreeMap::new();
        for (index, step) in path.decisions() {
            let Event::Conditional { condition: Some(condition), direction, .. } = step.event else {
                continue;
            };
            let branch = Branch { condition, direction: !direction };
            if asked.is_seen(branch) {
                continue;
            }
            steps.entry(branch).and_modify(|(_, last)| *last = index).or_insert((index, index));
        }
        let n_asked = |branch: &Branch| self.n_asked.get(branch).copied().unwrap_or(0);
        let mut questions: Vec<(u32, usize, Branch)> = Vec::new();
        for (branch, (first, last)) in steps {
            let n_asked = n_asked(&branch);
            if n_asked >= MOST_PER_BRANCH {
                continue;
            }
            questions.push((n_asked, first, branch));
            if last != first {
                questions.push((n_asked + 1, last, branch));
            }
        }
        questions.sort_unstable();
        questions.truncate(MOST_QUESTIONS);
        let mut n_steps = 0;
        let is_cheap = |(_, step, _): &(u32, usize, Branch)| {
            n_steps += step;
            n_steps <= MOST_STEPS
        };
        questions.into_iter().take_while(is_cheap).map(|(_, step, branch)| (branch, step)).collect()
    }
}

impl Asked<'_> {
    /// Whether a branch was taken; one of another program counts as taken.
    fn is_seen(&self, branch: Branch) -> bool {
        let Some(condition) = self.map.conditions.get(branch.condition.index()) else { return true };
        let counters = if branch.direction { &condition.when_true } else { &condition.when_false };
        counters.iter().any(|counter| self.seen.get(counter.index()).is_some_and(|classes| *classes != 0))
    }
}

/// Changes that give one operand of a comparison the value of the other, or one next to it.
fn neighbours(path: &Path, step: usize) -> Vec<Model> {
    let Some(mut expression) = path.steps()[step].event.expression() else { return Vec::new() };
    let all = path.dag();
    while all.op(expression) == Op::Not {
        expression = all.node(expression).operand(0);
    }
    if !is_comparison(all.op(expression)) {
        return Vec::new();
    }
    let is_float = matches!(all.op(expression), Op::FEq | Op::FLt | Op::FLe);
    let mut dag = Dag::new();
    let [mut a, mut b] = [0, 1].map(|n| simplify(all, all.node(expression).operand(n), &mut dag));
    if dag.is_fixed(a) {
        std::mem::swap(&mut a, &mut b);
    }
    let other = evaluate(&dag, b, path.regions());
    let mut solver = Checked::new(InputToState);
    let mut models = Vec::new();
    for value in next_to(other, dag.width(a), is_float) {
        let wanted = dag.constant(dag.width(a), value);
        let goal = dag.compare(if is_float { Op::FEq } else { Op::Eq }, a, wanted);
        models.extend(solved(&mut solver, &dag, goal, path));
    }
    models
}

fn solved(solver: &mut dyn Solver, dag: &Dag, goal: ExprId, path: &Path) -> Option<Model> {
    let query = Query { dag, constraints: &[], n_always: 0, goal, seed: path.regions() };
    Some(solver.solve(&query, BUDGET).model()?.changes(path.regions()))
}

/// A value and those before and after it.
fn next_to(value: u128, width: u32, is_float: bool) -> [u128; 3] {
    match (is_float, width) {
        (true, 32) => {
            let float = f32::from_bits(value as u32);
            [float, float.next_up(), float.next_down()].map(|float| float.to_bits().into())
        }
        (true, 64) => {
            let float = f64::from_bits(value as u64);
            [float, float.next_up(), float.next_down()].map(|float| float.to_bits().into())
        }
        _ => [value, value.wrapping_add(1), value.wrapping_sub(1)].map(|value| value & mask(width)),
    }
}

/// Adjacent bytes of an answer are a word of the target's language.
fn words(model: &Model, dictionary: &mut Dictionary) {
    let mut word: Vec<u8> = Vec::new();
    let mut next = None;
    for (region, offset, value) in model.iter() {
        if next != Some((region, offset)) {
            keep(std::mem::take(&mut word), dictionary);
        }
        word.push(value);
        next = offset.checked_add(1).map(|offset| (region, offset));
    }
    keep(word, dictionary);
}

fn keep(word: Vec<u8>, dictionary: &mut Dictionary) {
    if (2..=LONGEST_TOKEN).contains(&word.len()) {
        dictionary.add(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_expr::RegionId;

    #[test]
    fn values_next_to_another_wrap_at_the_width() {
        assert_eq!(next_to(0, 8, false), [0, 1, 255]);
        assert_eq!(next_to(1f64.to_bits().into(), 64, true)[1], u128::from(1f64.next_up().to_bits()));
    }

    #[test]
    fn adjacent_bytes_make_a_word() {
        let model: Model =
            [(0, 4, b'E'), (0, 5, b'L'), (0, 6, b'F'), (0, 9, b'x'), (1, 7, b'a'), (1, 8, b'b')]
                .into_iter()
                .map(|(region, offset, value)| (RegionId(region), offset, value))
                .collect();
        let mut dictionary = Dictionary::default();
        words(&model, &mut dictionary);
        assert_eq!(dictionary.tokens(), [b"ELF".to_vec(), b"ab".to_vec()]);
    }
}
