//! Makes an input smaller that does the same.
//!
//! What chance adds along with what matters makes everything after it harder to find: of a hundred bytes, the one that
//! has to change is hit a hundred times more rarely than of one.

use crate::{
    queue::{Seed, signature},
    region::{RegionKind, Scope, raw_bytes_mut},
};
use cairn_abi::session::class;
use cairn_executor::{ExecutorError, Session, WantedCounters, Wants};
use cairn_model::{Input, input::FileKind};

/// Cuts words and bytes out of a seed as long as its run hits the same counters in the same classes and does not fail.
/// Returns what is left and how many runs were made, at most `most`.
pub(crate) fn trim(
    seed: Seed,
    scope: Scope<'_>,
    session: &mut Session,
    most: usize,
) -> Result<(Seed, usize), ExecutorError> {
    let mut trimming = Trimming {
        wanted: seed.signature(),
        input: seed.input().clone(),
        fuel: seed.fuel(),
        session,
        most,
        n_runs: 0,
    };
    if scope.has(RegionKind::Arguments) {
        for word in (0..seed.input().args.len()).rev() {
            trimming.attempt(|input| drop(input.args.remove(word)))?;
        }
    }
    for part in 0..parts(&mut trimming.input, scope).len() {
        let mut length = parts(&mut trimming.input, scope)[part].len().div_ceil(2);
        while length > 0 {
            let mut end = parts(&mut trimming.input, scope)[part].len();
            while end > 0 {
                let start = end.saturating_sub(length);
                trimming.attempt(|input| drop(parts(input, scope)[part].drain(start..end)))?;
                end = start;
            }
            length /= 2;
        }
    }
    let Trimming { input, fuel, n_runs, .. } = trimming;
    Ok((Seed::new(input, seed.hits().to_vec(), fuel, seed.id()), n_runs))
}

struct Trimming<'a> {
    /// The way that stays the same.
    wanted: u64,
    input: Input,
    fuel: u64,
    session: &'a mut Session,
    most: usize,
    n_runs: usize,
}

const COUNTED: Wants = Wants { counters: WantedCounters::Always, output: false };

impl Trimming<'_> {
    /// Cuts something, unless that changes the way of the run or there were runs enough.
    fn attempt(&mut self, cut: impl FnOnce(&mut Input)) -> Result<(), ExecutorError> {
        if self.n_runs >= self.most {
            return Ok(());
        }
        let mut shorter = self.input.clone();
        cut(&mut shorter);
        self.n_runs += 1;
        let runs = self.session.run_batch(std::slice::from_ref(&shorter), COUNTED)?;
        for run in runs {
            let counted = run.execution.counters.iter().enumerate().filter(|(_, count)| **count != 0);
            let found = signature(counted.map(|(counter, count)| (counter as u32, class(*count))));
            if found == self.wanted && !run.execution.outcome.ending.is_failure() {
                self.input = shorter.clone();
                self.fuel = run.execution.fuel_used;
            }
        }
        Ok(())
    }
}

/// The bytes that can be cut.
fn parts<'a>(input: &'a mut Input, scope: Scope<'_>) -> Vec<&'a mut Vec<u8>> {
    if let Scope::Raw(carrier) = scope {
        return raw_bytes_mut(carrier, input).into_iter().collect();
    }
    let Input { args, stdin, files, environment, buffer, .. } = input;
    let is_cut = |kind| scope.has(kind);
    let mut parts: Vec<&mut Vec<u8>> = Vec::new();
    if is_cut(RegionKind::Arguments) {
        parts.extend(args.iter_mut().map(|word| &mut word.0));
    }
    if is_cut(RegionKind::Stdin) {
        parts.push(&mut stdin.0);
    }
    if is_cut(RegionKind::Files) {
        parts.extend(files.iter_mut().filter_map(|file| match &mut file.kind {
            FileKind::Regular(content) => Some(&mut content.0),
            _ => None,
        }));
    }
    if is_cut(RegionKind::Environment) {
        parts.extend(environment.iter_mut().map(|(_, value)| &mut value.0));
    }
    if is_cut(RegionKind::Buffer) {
        parts.extend(buffer.iter_mut().map(|buffer| &mut buffer.0));
    }
    parts
}
