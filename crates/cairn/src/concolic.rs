//! Symbolic runs, as commands use them.

pub mod describe;
pub mod explore;
pub mod goal;
pub mod patience;
mod shape;
pub mod value;

use crate::{
    failure::Failure,
    screen::{Screen, count},
    target::Subject,
};
use cairn_abi::symbolic::Cut;
use cairn_concolic::{Limits, Path, Recording, Regions};
use cairn_executor::{Asked, SymbolicConfig, SymbolicExecutor, SymbolicRun, environment};
use cairn_model::{Input, SiteTable};

/// Runs inputs in the symbolic view of a program.
pub struct Tracer<'a> {
    subject: &'a Subject,
    executor: SymbolicExecutor,
    sites: SiteTable,
}

/// A run and its path.
pub struct Traced {
    /// What the run left; its nodes and records were read into the path.
    pub run: SymbolicRun,
    /// What the run demands of its input.
    pub path: Path,
}

impl<'a> Tracer<'a> {
    /// Of a subject that was opened with its symbolic view.
    pub fn new(subject: &'a Subject, config: SymbolicConfig) -> Result<Self, Failure> {
        Ok(Self { subject, executor: subject.symbolic(config)?, sites: SiteTable::default() })
    }

    /// Of a subject that was opened with its detailed symbolic view.
    pub fn detailed(subject: &'a Subject, config: SymbolicConfig) -> Result<Self, Failure> {
        let (executor, sites) = subject.detailed(config)?;
        Ok(Self { subject, executor, sites })
    }

    /// The expressions that runs can be asked about.
    pub fn sites(&self) -> &SiteTable {
        &self.sites
    }

    /// What the next runs are asked.
    pub fn ask(&mut self, asked: Asked) -> Result<(), Failure> {
        Ok(self.executor.ask(asked)?)
    }

    /// Runs an input.
    pub fn trace(&mut self, input: &Input) -> Result<Traced, Failure> {
        let mut run = self.executor.run(input)?;
        self.subject.check_reported(&run.execution)?;
        let limits = Limits { max_size: self.subject.template.max_size, ..Limits::default() };
        let regions = Regions::new(input.clone(), environment(input)?, limits);
        let recording = Recording { records: &run.records, nodes: &run.nodes, tables: &run.tables };
        let path = Path::new(recording, regions);
        run.records = Vec::new();
        run.nodes = Vec::new();
        run.tables = Vec::new();
        Ok(Traced { run, path })
    }
}

impl Traced {
    /// Everything a person should know before believing the path.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(why) = cut_text(self.run.cut) {
            warnings.push(format!("the trace ends before the run: {why}"));
        }
        if let Some(damage) = &self.run.damage {
            warnings.push(format!("the trace ends before the run: {damage}"));
        }
        if let Some(damage) = self.path.damage() {
            warnings.push(format!("the trace ends before the run: {damage}"));
        }
        let n_wrong = self.path.n_mistakes();
        if n_wrong > 0 {
            warnings.push(format!(
                "{} of the trace have another value than the run had, which is a mistake of Cairn; they are not used",
                count(n_wrong, "expression")
            ));
        }
        if !self.run.unmodelled.is_empty() {
            let names: Vec<String> =
                self.run.unmodelled.iter().map(|(name, n)| format!("`{name}` ({n})")).collect();
            warnings.push(format!("functions that are not followed were given input: {}", names.join(", ")));
        }
        warnings
    }

    /// Tells all of them.
    pub fn warn(&self, screen: &Screen) {
        for warning in self.warnings() {
            screen.warn(&warning);
        }
    }
}

/// Why a trace was cut, if it was.
pub fn cut_text(cut: Cut) -> Option<&'static str> {
    Some(match cut {
        Cut::None => return None,
        Cut::Nodes => "there is no room for more expressions",
        Cut::Records => "there is no room for more records",
        Cut::Thread => "the program started a thread, which symbolic runs do not follow",
        Cut::Aliasing => "two parts of its memory share a place in the shadow",
        Cut::Exec => "the program replaced itself by another",
        Cut::Signal => "a signal interrupted the program, and its handler did not return",
    })
}
