//! What runs cover, as numbers.

use crate::{
    criterion::Criterion,
    decisions::{self, Outcome},
};
use cairn_model::{BasicPathId, BasicPaths, MutantId, ProgramMap};

/// The elements of a program under a criterion, by number.
#[derive(Debug)]
pub struct Elements {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// None at all.
    Nothing,
    /// Outcomes of decisions or conditions, then mutants.
    Outcomes(Vec<Outcome>),
    Paths(Box<BasicPaths>),
}

impl Elements {
    /// Those of a program.
    pub fn new(map: &ProgramMap, criterion: Criterion) -> Self {
        let kind = match criterion {
            Criterion::None => Kind::Nothing,
            Criterion::Decision | Criterion::DecisionKills => Kind::Outcomes(decisions::of_decisions(map)),
            Criterion::Condition => Kind::Outcomes(decisions::of_conditions(map)),
            Criterion::Path => Kind::Paths(Box::new(BasicPaths::of(map))),
        };
        Self { kind }
    }

    /// Those that a run covers which left these counters: of the basic-path view for paths, else of the plain view.
    pub fn of(&self, counters: &[u8]) -> Vec<u32> {
        match &self.kind {
            Kind::Nothing => Vec::new(),
            Kind::Outcomes(outcomes) => {
                let is_in = |(number, outcome): (u32, &Outcome)| outcome.is_in(counters).then_some(number);
                (0..).zip(outcomes).filter_map(is_in).collect()
            }
            Kind::Paths(_) => {
                let taken = counters.iter().enumerate().filter(|(_, count)| **count != 0);
                taken.map(|(number, _)| number as u32).collect()
            }
        }
    }

    /// The element of a killed mutant, where these count.
    pub fn kill(&self, mutant: MutantId) -> u32 {
        match &self.kind {
            Kind::Outcomes(outcomes) => outcomes.len() as u32 + mutant.0,
            _ => mutant.0,
        }
    }

    /// What an element is.
    pub fn describe(&self, map: &ProgramMap, element: u32) -> Described {
        match &self.kind {
            Kind::Nothing => Described::Text("itself".into()),
            Kind::Outcomes(outcomes) => match outcomes.get(element as usize) {
                Some(outcome) => Described::Text(outcome.describe(map)),
                None => Described::Kill(MutantId(element - outcomes.len() as u32)),
            },
            Kind::Paths(paths) => Described::Text(paths.describe(map, BasicPathId(element))),
        }
    }
}

/// What an element is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Described {
    /// In words.
    Text(String),
    /// A mutant that is killed.
    Kill(MutantId),
}

impl Described {
    /// The words, if it is described by them.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Kill(_) => None,
        }
    }

    /// The mutant that is killed, if that is what it is.
    pub fn kill(&self) -> Option<MutantId> {
        match self {
            Self::Text(_) => None,
            Self::Kill(mutant) => Some(*mutant),
        }
    }
}
