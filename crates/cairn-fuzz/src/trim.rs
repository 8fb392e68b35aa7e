//! Makes an input smaller that does the same.
//!
//! What chance adds along with what matters makes everything after it harder to find: of a hundred bytes, the one that
//! has to change is hit a hundred times more rarely than of one.

use crate::{
    queue::{Seed, way},
    region::{RegionKind, Scope, raw_bytes_mut},
};
use cairn_executor::{ExecutorError, Session, WantedCounters, Wants};
use cairn_model::{Input, input::FileKind};

/// Cuts words and bytes out of a seed as long as its run hits the same counters in the same classes and does not fail.
/// Returns what is left and how many runs were made, at most `most`.
///
/// Cuts of one size are tried together, each alone, in one batch; then all that changed nothing are made at once.
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
        scope,
        session,
        n_left: most,
    };
    if scope.has(RegionKind::Arguments) {
        let words = (0..seed.input().args.len()).rev();
        trimming.attempt(words.map(Cut::Word).collect())?;
    }
    for part in 0..parts(&mut trimming.input, scope).len() {
        let mut length = parts(&mut trimming.input, scope)[part].len().div_ceil(2);
        while length > 0 && trimming.n_left > 0 {
            let size = parts(&mut trimming.input, scope)[part].len();
            let ends = (0..size.div_ceil(length)).map(|n| size - n * length);
            let cuts = ends.map(|end| Cut::Bytes { part, start: end.saturating_sub(length), end });
            trimming.attempt(cuts.collect())?;
            length /= 2;
        }
    }
    let Trimming { input, fuel, n_left, .. } = trimming;
    Ok((Seed::new(input, seed.hits().to_vec(), fuel, seed.id()), most - n_left))
}

/// Something to cut.
#[derive(Clone, Copy)]
enum Cut {
    /// An argument.
    Word(usize),
    /// Bytes of one of the [`parts`].
    Bytes { part: usize, start: usize, end: usize },
}

impl Cut {
    fn make(self, input: &mut Input, scope: Scope<'_>) {
        match self {
            Self::Word(index) => drop(input.args.remove(index)),
            Self::Bytes { part, start, end } => drop(parts(input, scope)[part].drain(start..end)),
        }
    }
}

struct Trimming<'a> {
    /// The way that stays the same.
    wanted: u64,
    input: Input,
    fuel: u64,
    scope: Scope<'a>,
    session: &'a mut Session,
    /// Runs that may still be made.
    n_left: usize,
}

const COUNTED: Wants = Wants { counters: WantedCounters::Always, output: false };

impl Trimming<'_> {
    /// Makes those of the cuts, named from the end to the beginning, that do not change the way of the run.
    fn attempt(&mut self, mut cuts: Vec<Cut>) -> Result<(), ExecutorError> {
        cuts.truncate(self.n_left);
        if cuts.is_empty() {
            return Ok(());
        }
        let alone: Vec<Input> = cuts.iter().map(|cut| self.without(&[*cut])).collect();
        let fuels = self.run(&alone)?;
        let (good, fuels): (Vec<Cut>, Vec<u64>) =
            cuts.into_iter().zip(fuels).filter_map(|(cut, fuel)| Some((cut, fuel?))).unzip();
        let (Some(first), Some(fuel)) = (good.first(), fuels.first()) else { return Ok(()) };
        let (mut input, mut fuel) = (self.without(&[*first]), *fuel);
        if good.len() > 1 && self.n_left > 0 {
            let together = self.without(&good);
            if let Some(Some(used)) = self.run(std::slice::from_ref(&together))?.pop() {
                (input, fuel) = (together, used);
            }
        }
        (self.input, self.fuel) = (input, fuel);
        Ok(())
    }

    fn without(&self, cuts: &[Cut]) -> Input {
        let mut input = self.input.clone();
        cuts.iter().for_each(|cut| cut.make(&mut input, self.scope));
        input
    }

    /// The fuel of each run that goes the wanted way.
    fn run(&mut self, inputs: &[Input]) -> Result<Vec<Option<u64>>, ExecutorError> {
        self.n_left -= inputs.len();
        let runs = self.session.run_batch(inputs, COUNTED)?;
        let fuels = runs.into_iter().map(|run| {
            let is_same =
                way(&run.execution.counters) == self.wanted && !run.execution.outcome.ending.is_failure();
            is_same.then_some(run.execution.fuel_used)
        });
        Ok(fuels.collect())
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
