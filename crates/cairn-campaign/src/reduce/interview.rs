//! Questions to the caller: which candidates are still good.

use cairn_model::{Input, input::FileKind};
use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

/// How much is asked, and about what.
#[derive(Clone, Copy)]
pub struct ReduceConfig<'a> {
    /// The most inputs the caller is asked about. Default: 10,000.
    pub max_questions: u64,
    /// The most inputs in one question. Default: 16.
    pub at_once: usize,
    /// Whether parts and what is unusual about files are only left out, and bytes and numbers that are left keep their values.
    /// Default: no.
    pub keeps_values: bool,
    /// Inputs that are no candidates, whatever the answer would be. Default: none.
    pub allows: &'a dyn Fn(&Input) -> bool,
    /// Whether nothing more is to be asked, because time or work is used up. Default: never.
    pub is_enough: &'a dyn Fn() -> bool,
}

impl Default for ReduceConfig<'_> {
    fn default() -> Self {
        Self {
            max_questions: 10_000,
            at_once: 16,
            keeps_values: false,
            allows: &|_| true,
            is_enough: &|| false,
        }
    }
}

/// Answers, for each input of a list, whether it is still good.
pub type Keeps<'a, E> = dyn FnMut(&[Input]) -> Result<Vec<bool>, E> + 'a;

/// Asks, and counts what it asks.
pub(super) struct Interview<'a, E> {
    config: ReduceConfig<'a>,
    keeps: &'a mut Keeps<'a, E>,
    /// Hashes of inputs that were asked about and are not good.
    refused: HashSet<u64>,
    /// Inputs in the next question: one where the last answer was yes, more after each no.
    at_once: usize,
    pub(super) n_questions: u64,
    /// Whether something was not asked because the questions, or what they may take, were used up.
    pub(super) is_over: bool,
}

impl<'a, E> Interview<'a, E> {
    pub(super) fn new(config: ReduceConfig<'a>, keeps: &'a mut Keeps<'a, E>) -> Self {
        Self { config, keeps, refused: HashSet::new(), at_once: 1, n_questions: 0, is_over: false }
    }

    /// The first candidate that is still good, with what it is called. Candidates are made as they are needed.
    pub(super) fn first<K>(
        &mut self,
        candidates: impl IntoIterator<Item = (K, Input)>,
    ) -> Result<Option<(K, Input)>, E> {
        let mut candidates = candidates.into_iter();
        loop {
            // Without a look at candidates: to make thousands of large ones takes long, too.
            self.is_over |= (self.config.is_enough)();
            if self.is_over {
                return Ok(None);
            }
            let left = self.config.max_questions - self.n_questions;
            let n_wanted = (self.at_once as u64).min(left) as usize;
            let mut names = Vec::new();
            let mut inputs = Vec::new();
            let mut hashes = Vec::new();
            for (name, input) in candidates.by_ref() {
                if !is_whole(&input) || !(self.config.allows)(&input) {
                    continue;
                }
                let hash = hash(&input);
                if self.refused.contains(&hash) {
                    continue;
                }
                if n_wanted == 0 {
                    self.is_over = true;
                    return Ok(None);
                }
                names.push(name);
                inputs.push(input);
                hashes.push(hash);
                if inputs.len() == n_wanted {
                    break;
                }
            }
            if inputs.is_empty() {
                return Ok(None);
            }
            self.n_questions += inputs.len() as u64;
            let answers = (self.keeps)(&inputs)?;
            if let Some(index) = answers.iter().position(|is_good| *is_good) {
                self.at_once = (self.at_once / 2).max(1);
                return Ok(Some((names.swap_remove(index), inputs.swap_remove(index))));
            }
            self.refused.extend(hashes);
            self.at_once = (self.at_once * 2).min(self.config.at_once.max(1));
        }
    }
}

/// Tells inputs apart without writing them down, which would take longer than most runs.
fn hash(input: &Input) -> u64 {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    hasher.finish()
}

/// Whether an input can be laid out: hard links need what they are another name for.
fn is_whole(input: &Input) -> bool {
    input.files.iter().enumerate().all(|(index, file)| match &file.kind {
        FileKind::Hardlink(other) => input.files[..index].iter().any(|earlier| earlier.path == *other),
        _ => true,
    })
}
