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
    /// Basic paths, then values of conditions: a function that is left in a call, by `exit` for instance, has no path.
    Paths(Box<BasicPaths>, Vec<Outcome>),
}

impl Elements {
    /// Those of a program.
    pub fn new(map: &ProgramMap, criterion: Criterion) -> Self {
        let kind = match criterion {
            Criterion::None => Kind::Nothing,
            Criterion::Decision | Criterion::DecisionKills => Kind::Outcomes(decisions::of_decisions(map)),
            Criterion::Condition => Kind::Outcomes(decisions::of_conditions(map)),
            Criterion::Path => Kind::Paths(Box::new(BasicPaths::of(map)), decisions::of_conditions(map)),
        };
        Self { kind }
    }

    /// Those that a run covers which left these counters of the plain view, and `taken` of the basic-path view where paths count.
    pub fn of(&self, counters: &[u8], taken: &[u8]) -> Vec<u32> {
        let of_outcomes = |first: u32, outcomes: &[Outcome]| -> Vec<u32> {
            let is_in = |(number, outcome): (u32, &Outcome)| outcome.is_in(counters).then_some(number);
            (first..).zip(outcomes).filter_map(is_in).collect()
        };
        match &self.kind {
            Kind::Nothing => Vec::new(),
            Kind::Outcomes(outcomes) => of_outcomes(0, outcomes),
            Kind::Paths(paths, outcomes) => {
                let mut elements = hit(taken);
                elements.extend(of_outcomes(paths.n_paths(), outcomes));
                elements
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
            Kind::Paths(paths, outcomes) => Described::Text(match element.checked_sub(paths.n_paths()) {
                Some(number) => outcomes[number as usize].describe(map),
                None => paths.describe(map, BasicPathId(element)),
            }),
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

/// The numbers of counters that are not zero. Most are, so many are passed over at once.
fn hit(counters: &[u8]) -> Vec<u32> {
    const AT_ONCE: usize = 64;
    let mut numbers = Vec::new();
    for (part, counts) in counters.chunks(AT_ONCE).enumerate() {
        if counts.iter().fold(0, |all, count| all | count) != 0 {
            let first = (part * AT_ONCE) as u32;
            numbers.extend((first..).zip(counts).filter(|(_, count)| **count != 0).map(|(number, _)| number));
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_are_not_zero_are_found_wherever_they_are() {
        let mut counters = vec![0; 200];
        for number in [0, 63, 64, 130, 199] {
            counters[number] = 1 + number as u8;
        }
        assert_eq!(hit(&counters), [0, 63, 64, 130, 199]);
        assert_eq!(hit(&counters[..1]), [0]);
        assert_eq!(hit(&[]), [0; 0]);
    }
}
