//! What a set of inputs or tests is worth, for people and programs.

pub mod destination;
pub mod elements;
pub mod json;
pub mod share;
pub mod text;

use crate::mutants::Mutants;
use cairn_campaign::minimize::{Cover, Coverer, smallest_cover};
use cairn_model::MutantId;
use cairn_mutants::analysis::{InputNumber, KillMatrix, MutantSet, Score};
use serde::Serialize;
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

/// How long the smallest subset is searched for.
const COVER_TIME: Duration = Duration::from_secs(10);

/// Everything a score is told from.
pub struct Scored<'a> {
    /// The program as the user named it.
    pub program: String,
    /// Its mutants.
    pub mutants: &'a Mutants,
    /// Those that were asked about.
    pub selected: MutantSet,
    /// What they were asked of.
    pub kind: Kind,
    /// Inputs or tests, by number.
    pub tests: Vec<Test>,
    /// What they did.
    pub matrix: KillMatrix,
    /// Whether every infected mutant was run on every input, or each only until it was killed.
    pub is_full: bool,
    /// Runs of mutants, and those that were remembered instead.
    pub runs: Runs,
    /// Why it ended before everything was run.
    pub stopped: Option<Stopped>,
    /// How long it took.
    pub elapsed: Duration,
    /// What `run.wall_limit_ms` says, where that bounds mutants.
    pub wall_limit: Option<Duration>,
}

/// What is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Inputs.
    Inputs,
    /// Tests of a suite.
    Tests,
}

impl Kind {
    /// What one of them is called.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Inputs => "input",
            Self::Tests => "test",
        }
    }
}

/// One input, or one test of a suite.
#[derive(Clone, Debug, Default)]
pub struct Test {
    /// What the user calls it.
    pub name: String,
    /// Why it has no say, if it has none.
    pub left_out: Option<String>,
    /// Parts of its outcome that differ from run to run and were not looked at.
    pub masked: Vec<String>,
    /// Branches it takes, as numbers; empty for tests of a suite.
    pub branches: BTreeSet<u32>,
}

/// How mutants were run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Runs {
    /// Runs of mutants.
    pub made: u64,
    /// Verdicts that were known already.
    pub remembered: u64,
    /// Kills that a second run confirmed: of an input in a fresh process, of a test again.
    pub confirmed: u64,
    /// Kills that it did not.
    pub not_confirmed: u64,
    /// Runs that decide nothing, because the user's comparison failed.
    pub compare_failed: u64,
}

/// Why a score ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// The budget was used up.
    Budget,
    /// A signal came.
    Signal,
}

impl Scored<'_> {
    /// The numbers.
    pub fn score(&self) -> Score {
        Score::new(&self.mutants.table, &self.selected, &self.matrix)
    }

    /// Inputs with a say.
    pub fn n_usable(&self) -> usize {
        self.tests.iter().filter(|test| test.left_out.is_none()).count()
    }

    /// What an input or test is called.
    pub fn name(&self, number: InputNumber) -> &str {
        &self.tests[number.index()].name
    }

    /// The fewest inputs that keep all known kills and all branches.
    pub fn subset(&self) -> Cover {
        // Mutants above all branches.
        let last_branch = self.tests.iter().filter_map(|test| test.branches.last()).max();
        let first_mutant = last_branch.map_or(0, |branch| *branch as usize + 1);
        let coverer = |(index, test): (usize, &Test)| {
            let branches = test.branches.iter().map(|branch| *branch as usize);
            let killed = self.killed_by(InputNumber(index as u32));
            Coverer {
                elements: branches.chain(killed.map(|mutant| first_mutant + mutant.index())).collect(),
                cost: 0,
            }
        };
        let coverers: Vec<Coverer> = self.tests.iter().enumerate().map(coverer).collect();
        let start = Instant::now();
        smallest_cover(&coverers, &mut || start.elapsed() < COVER_TIME)
    }

    /// The selected mutants that an input is known to kill, in order.
    pub fn killed_by(&self, input: InputNumber) -> impl Iterator<Item = MutantId> + '_ {
        let verdicts = self.matrix.row(input).into_iter().flat_map(|row| &row.verdicts);
        verdicts
            .filter(|(mutant, verdict)| verdict.kill_reason().is_some() && self.selected.contains(**mutant))
            .map(|(mutant, _)| *mutant)
    }
}
