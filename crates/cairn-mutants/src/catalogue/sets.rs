//! Which operators to use, as people say it.

use super::{
    operator::{Operator, Set},
    operators,
};
use std::str::FromStr;

/// Operators chosen for a build.
#[derive(Clone, Debug)]
pub struct OperatorSet {
    /// As it was asked for: `compact`, `deminer,VTWD`.
    pub name: String,
    operators: Vec<&'static Operator>,
}

/// A name that is neither a set nor an operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is neither an operator nor a set of operators{}", hint(.nearest))]
pub struct UnknownOperator {
    /// What was asked for.
    pub name: String,
    /// The name most like it.
    pub nearest: Option<&'static str>,
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

impl OperatorSet {
    /// The operators of a named set.
    pub fn named(set: Set) -> Self {
        Self {
            name: set.name().to_owned(),
            operators: operators().filter(|operator| operator.is_in(set)).collect(),
        }
    }

    /// Its operators, in the order of the catalogue.
    pub fn operators(&self) -> &[&'static Operator] {
        &self.operators
    }

    /// Whether an operator is in it.
    pub fn contains(&self, name: &str) -> bool {
        self.operators.iter().any(|operator| operator.name == name)
    }
}

impl Default for OperatorSet {
    fn default() -> Self {
        Self::named(Set::Compact)
    }
}

/// Reads sets, operator names and codes with commas between them; a `-` before one takes it out again.
impl FromStr for OperatorSet {
    type Err = UnknownOperator;

    fn from_str(text: &str) -> Result<Self, UnknownOperator> {
        let mut is_chosen: Vec<(&'static Operator, bool)> =
            operators().map(|operator| (operator, false)).collect();
        for name in text.split(',').map(str::trim) {
            let (name, choose) = match name.strip_prefix('-') {
                Some(name) => (name, false),
                None => (name, true),
            };
            let named = named(name).ok_or_else(|| unknown(name))?;
            for (operator, is_chosen) in &mut is_chosen {
                if named(operator) {
                    *is_chosen = choose;
                }
            }
        }
        let operators = is_chosen.into_iter().filter(|(_, chosen)| *chosen).map(|(operator, _)| operator);
        Ok(Self { name: text.to_owned(), operators: operators.collect() })
    }
}

/// Which operators a name means.
fn named(name: &str) -> Option<impl Fn(&Operator) -> bool> {
    let set = Set::EACH.into_iter().find(|set| set.name() == name);
    let operator = super::find(name);
    (set.is_some() || operator.is_some()).then_some(move |candidate: &Operator| match set {
        Some(set) => candidate.is_in(set),
        None => operator.is_some_and(|operator| operator.name == candidate.name),
    })
}

fn unknown(name: &str) -> UnknownOperator {
    let names = Set::EACH.iter().map(|set| set.name());
    let names = names.chain(operators().flat_map(|operator| [operator.name, operator.code]));
    let wanted = name.to_lowercase();
    let nearest = names
        .map(|candidate| (distance(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= name.len() / 3)
        .min();
    UnknownOperator { name: name.to_owned(), nearest: nearest.map(|(_, name)| name) }
}

/// How many letters must be inserted, removed or changed.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        let set: OperatorSet = text.parse().unwrap();
        set.operators().iter().map(|operator| operator.code).collect()
    }

    #[test]
    fn sets_names_and_codes_are_added_and_taken_out() {
        assert_eq!(names("OAAN,logical-op-swap"), ["OAAN", "OLLN"]);
        let without: OperatorSet = "deminer,-OCOR".parse().unwrap();
        assert!(!without.contains("cast-replace"));
        assert_eq!(without.operators().len() + 1, names("deminer").len());
        assert_eq!(names("all").len(), operators().count());
    }

    #[test]
    fn a_misspelt_name_is_answered_with_the_nearest() {
        let problem = "arith-op-replce".parse::<OperatorSet>().unwrap_err();
        assert_eq!(
            problem.to_string(),
            "`arith-op-replce` is neither an operator nor a set of operators; did you mean `arith-op-replace`?"
        );
        assert_eq!("zzzzzzzz".parse::<OperatorSet>().unwrap_err().nearest, None);
        assert!("".parse::<OperatorSet>().is_err());
    }
}
