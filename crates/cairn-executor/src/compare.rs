//! What a user says is the same: a function of the program, or a command.
//!
//! Both run in the sandbox, in a process of their own. A comparison that fails is told as that, and never takes a
//! difference for granted.

use crate::{
    config::{RunConfig, Target},
    error::ExecutorError,
    executor::Executor,
};
use cairn_abi::channel::COMPARED;
use cairn_model::{
    Ending, Input, Outcome,
    input::{Bytes, FileKind, FileRegion, Variable, VariableValue},
};
use std::{fmt, path::PathBuf};

/// What a comparison says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Both are the same.
    Same,
    /// They differ.
    Different,
    /// The comparison itself went wrong.
    Failed(CompareFailure),
}

/// How a comparison went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompareFailure {
    /// How it ended.
    pub ending: Ending,
    /// What it said on standard error, as far as that is text.
    pub message: String,
}

impl fmt::Display for CompareFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ending {
            Ending::Exited { code } => write!(f, "the comparison ended with status {code}")?,
            Ending::Signalled { signal } => write!(f, "the comparison died of signal {signal}")?,
            Ending::TimedOut => write!(f, "the comparison took too long")?,
            Ending::OutOfMemory => write!(f, "the comparison ran out of memory")?,
            Ending::Forbidden { what } => {
                write!(f, "the comparison tried `{what}`, which the sandbox forbids")?
            }
            _ => write!(f, "the comparison did not come to an end")?,
        }
        match self.message.lines().next().filter(|line| !line.is_empty()) {
            Some(line) => write!(f, ": {line}"),
            None => Ok(()),
        }
    }
}

/// Has the program's `cairn_compare` compare two outputs.
pub(crate) fn by_function(
    executor: &mut Executor,
    original: &[u8],
    mutant: &[u8],
) -> Result<Compared, ExecutorError> {
    let variable = |(name, bytes): (&str, &[u8])| Variable {
        name: name.into(),
        value: VariableValue::Bytes(Bytes(bytes.to_vec())),
    };
    let variables = COMPARED.into_iter().zip([original, mutant]).map(variable).collect();
    executor.arm(Default::default());
    let outcome = executor.compare(&Input { variables, ..Input::default() })?.outcome;
    Ok(match (&outcome.ending, outcome.harness_return) {
        (Ending::Exited { code: 0 }, Some(0)) => Compared::Same,
        (Ending::Exited { code: 0 }, Some(_)) => Compared::Different,
        _ => failed(outcome),
    })
}

/// A program's own `cairn_compare`, asked in a process that does nothing else.
#[derive(Debug)]
pub struct CompareFunction {
    executor: Executor,
}

impl CompareFunction {
    /// That of `view`; other builds cannot be asked. Whether it has one shows at the first question.
    pub fn new(view: Target, limits: RunConfig) -> Result<Self, ExecutorError> {
        Ok(Self { executor: Executor::new(view, RunConfig { fuel: 0, ..limits })? })
    }

    /// Compares two outputs.
    pub fn compare(&mut self, original: &[u8], other: &[u8]) -> Result<Compared, ExecutorError> {
        by_function(&mut self.executor, original, other)
    }
}

fn failed(outcome: Outcome) -> Compared {
    let message = String::from_utf8_lossy(&outcome.stderr.bytes.0).trim().to_string();
    Compared::Failed(CompareFailure { ending: outcome.ending, message })
}

/// A command that compares: it ends with 0 if both outputs are the same and with 1 if they differ; anything else is a
/// failure of its own.
#[derive(Debug)]
pub struct CompareCommand {
    executor: Executor,
    arguments: Vec<String>,
}

/// What arguments of the command stand for, and the files the command finds there.
const PLACES: [(&str, &str); 2] = [("{original}", "original"), ("{mutant}", "mutant")];

impl CompareCommand {
    /// Readies `program`. In its arguments `{original}` and `{mutant}` stand for files with what each wrote.
    ///
    /// `limits` bounds every comparison; the command may execute other programs.
    pub fn new(program: PathBuf, arguments: Vec<String>, limits: RunConfig) -> Result<Self, ExecutorError> {
        if let Some(place) = Self::missing_place(&arguments) {
            return Err(ExecutorError::CompareCommand { place });
        }
        let config = RunConfig { allow_exec: true, fuel: 0, ..limits };
        Ok(Self { executor: Executor::new(Target { program, n_counters: 0 }, config)?, arguments })
    }

    /// What arguments of a command leave out, without which it could compare nothing.
    pub fn missing_place(arguments: &[String]) -> Option<&'static str> {
        let is_missing = |place: &&str| !arguments.iter().any(|argument| argument.contains(*place));
        PLACES.map(|(place, _)| place).into_iter().find(is_missing)
    }

    /// Compares two outputs.
    pub fn compare(&mut self, original: &[u8], mutant: &[u8]) -> Result<Compared, ExecutorError> {
        let argument = |argument: &String| {
            PLACES
                .iter()
                .fold(argument.clone(), |text, (place, file)| text.replace(place, file))
                .as_str()
                .into()
        };
        let file = |((_, path), content): ((&str, &str), &[u8])| FileRegion {
            path: path.into(),
            kind: FileKind::Regular(Bytes(content.to_vec())),
            mode: None,
            size: None,
            modified: None,
            accessed: None,
            owner: None,
        };
        let input = Input {
            args: self.arguments.iter().map(argument).collect(),
            files: PLACES.into_iter().zip([original, mutant]).map(file).collect(),
            ..Input::default()
        };
        let outcome = self.executor.run(&input)?.outcome;
        Ok(match outcome.ending {
            Ending::Exited { code: 0 } => Compared::Same,
            Ending::Exited { code: 1 } => Compared::Different,
            _ => failed(outcome),
        })
    }
}
