//! Random pairs of an input and a branch that it takes.

use super::subject::{Subject, Tracer};
use crate::random::Random;
use anyhow::{Context, Result};
use cairn_concolic::{Event, Path};
use cairn_executor::SymbolicConfig;
use cairn_model::Input;
use cairn_targets::Cache;
use std::{collections::BTreeMap, time::Duration};

/// Pairs for each program, unless `CAIRN_BENCH_PAIRS` says otherwise.
const N_PAIRS: usize = 500;

/// How many pairs are wanted.
pub fn n_pairs() -> Result<usize> {
    match std::env::var("CAIRN_BENCH_PAIRS") {
        Ok(number) => number.parse().with_context(|| format!("`CAIRN_BENCH_PAIRS` is `{number}`, no number")),
        Err(_) => Ok(N_PAIRS),
    }
}

/// What was traced on the way.
#[derive(Default)]
pub struct Walked {
    /// Inputs.
    pub n_inputs: usize,
    /// Pairs.
    pub n_pairs: usize,
    /// Runs whose trace ended before them.
    pub n_cut: usize,
    /// Expressions that had another value than their run.
    pub n_mistakes: usize,
    /// How long runs took, those of `visit` included.
    pub running: Duration,
    /// How long it took to read their paths.
    pub reading: Duration,
}

/// Calls `visit` with the path of an input and the steps to decide otherwise there, until there are `n_pairs` or no more. The
/// same seed and inputs give the same pairs.
pub fn walk(
    cache: &Cache,
    subject: &Subject,
    n_pairs: usize,
    seed: u64,
    mut visit: impl FnMut(&mut Tracer, &Path, &[usize]) -> Result<()>,
) -> Result<Walked> {
    let mut inputs: Vec<Input> = subject.inputs(cache)?;
    let mut random = Random(seed);
    random.shuffle(&mut inputs);
    let mut tracer = subject.tracer(SymbolicConfig::default())?;
    let mut walked = Walked::default();
    let quota = n_pairs.div_ceil(inputs.len());
    // Inputs with fewer decisions leave more to the next.
    let mut owed = 0;
    for input in &inputs {
        let wanted = (owed + quota).min(n_pairs - walked.n_pairs);
        if wanted == 0 {
            break;
        }
        let (run, path) = tracer.trace(input)?;
        walked.n_inputs += 1;
        walked.n_cut += usize::from(!run.is_whole());
        walked.n_mistakes += path.n_mistakes();
        let steps = choose(&path, wanted, &mut random);
        owed = wanted - steps.len();
        walked.n_pairs += steps.len();
        if !steps.is_empty() {
            visit(&mut tracer, &path, &steps)?;
        }
    }
    (walked.running, walked.reading) = (tracer.running, tracer.reading);
    Ok(walked)
}

/// Up to `n` different steps: a branch first, then one of the times that it was taken, because loops would get them all.
fn choose(path: &Path, n: usize, random: &mut Random) -> Vec<usize> {
    let mut branches: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, step) in path.decisions() {
        if let Event::Conditional { condition: Some(condition), direction, .. } = step.event {
            branches.entry((condition, direction)).or_default().push(index);
        }
    }
    let mut branches: Vec<Vec<usize>> = branches.into_values().collect();
    let mut steps = Vec::new();
    while steps.len() < n && !branches.is_empty() {
        let branch = random.below(branches.len());
        let at = random.below(branches[branch].len());
        steps.push(branches[branch].swap_remove(at));
        if branches[branch].is_empty() {
            branches.swap_remove(branch);
        }
    }
    steps.sort_unstable();
    steps
}
