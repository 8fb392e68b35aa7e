//! Which mutants inputs kill.

use crate::{
    commands::score::{self, Memory, Setup, Worker, engine},
    failure::Failure,
    inputs::NamedInput,
    mutants::Mutants,
    report::score::Test,
    screen::Screen,
    signals::Signals,
    target::Subject,
};
use cairn_executor::RunConfig;
use cairn_model::{Input, MutantId, Verdict};
use cairn_mutants::analysis::{InputNumber, MutantSet};
use std::thread;

/// Runs mutants of a program.
pub struct Killer<'a> {
    subject: &'a Subject,
    mutants: &'a Mutants,
    selected: MutantSet,
    /// How many times the usual time runs have.
    patience: u32,
}

impl<'a> Killer<'a> {
    /// All mutants of a subject that was opened with them.
    pub fn new(subject: &'a Subject, mutants: &'a Mutants) -> Self {
        let selected = mutants.table.mutants_with_ids().map(|(id, _)| id).collect();
        Self { subject, mutants, selected, patience: 1 }
    }

    /// Some of them, whose runs have so many times the usual time.
    pub fn of(subject: &'a Subject, mutants: &'a Mutants, selected: MutantSet, patience: u32) -> Self {
        Self { subject, mutants, selected, patience }
    }

    /// The mutants that each input kills, and for inputs that have no say why; as far as it came when a signal came.
    pub fn matrix(
        &self,
        inputs: &[NamedInput],
        signals: &Signals,
        screen: &Screen,
    ) -> Result<Matrix, Failure> {
        let plan = self.plan(inputs.to_vec())?;
        let setup = plan.setup.hash();
        let mut memory = Memory::open(&self.subject.record.folder, self.mutants, setup, false)?;
        let scored = engine::score(plan, &mut memory, signals, screen)?;
        let left_out = |test: &Test| Some((test.name.clone(), test.left_out.clone()?));
        Ok(Matrix {
            killed: (0..inputs.len())
                .map(|index| scored.killed_by(InputNumber(index as u32)).collect())
                .collect(),
            left_out: scored.tests.iter().filter_map(left_out).collect(),
        })
    }

    /// Something that tells quickly whether an input kills given mutants, on `core`.
    pub fn questioner(&self, core: Option<usize>) -> Result<Questioner, Failure> {
        Ok(Questioner { worker: Worker::new(&self.plan(Vec::new())?, core)?, shared: engine::Shared::new() })
    }

    fn plan(&self, inputs: Vec<NamedInput>) -> Result<engine::Plan<'a>, Failure> {
        let usual = self.subject.run_config.clone();
        let wall_limit = usual.wall_limit.saturating_mul(self.patience);
        let limits = RunConfig { wall_limit, ..usual };
        Ok(engine::Plan {
            subject: self.subject,
            mutants: self.mutants,
            selected: self.selected.clone(),
            inputs,
            setup: Setup::new(&self.subject.config, limits)?,
            n_jobs: thread::available_parallelism().map_or(1, usize::from),
            is_full: true,
            budget: None,
        })
    }
}

/// Which mutants inputs kill.
pub struct Matrix {
    /// For each input the mutants it kills.
    pub killed: Vec<Vec<MutantId>>,
    /// Inputs that kill nothing because the original itself goes wrong, with the reason.
    pub left_out: Vec<(String, String)>,
}

/// Runs mutants on one input after the other.
pub struct Questioner {
    worker: Worker,
    shared: engine::Shared,
}

impl Questioner {
    /// Whether `input` kills all of `mutants`.
    pub fn kills_all(&mut self, input: &Input, mutants: &[MutantId]) -> Result<bool, Failure> {
        if mutants.is_empty() {
            return Ok(true);
        }
        let score::Prepared::Ready(ready) = self.worker.prepare(input)? else { return Ok(false) };
        if !mutants.iter().all(|mutant| ready.examined.infected.contains(*mutant)) {
            return Ok(false);
        }
        let mut n_killed = 0;
        self.worker.run_mutants(input, &ready, mutants, &self.shared, &mut |batch| {
            let killed = batch.verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Killed(_)));
            n_killed += killed.count();
        })?;
        Ok(n_killed == mutants.len())
    }
}
