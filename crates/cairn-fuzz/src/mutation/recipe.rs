//! What was done to an input.

use super::name;
use crate::region::RegionKind;
use std::fmt;

/// The most changes made at once.
pub(super) const MOST_STEPS: usize = 8;

/// The changes that made an input, in order. Small, because one is written for every run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recipe {
    amount: u8,
    n_steps: u8,
    kinds: [u8; MOST_STEPS],
    ways: [u8; MOST_STEPS],
}

impl Recipe {
    /// Nothing done yet of an amount that is known by its place among all amounts.
    pub(super) fn new(amount: usize) -> Self {
        Self { amount: amount as u8, ..Self::default() }
    }

    #[inline]
    pub(super) fn push(&mut self, kind: RegionKind, way: usize) {
        let at = usize::from(self.n_steps);
        if at < MOST_STEPS {
            self.kinds[at] = kind as u8;
            self.ways[at] = way as u8;
            self.n_steps += 1;
        }
    }

    pub(super) fn amount(&self) -> usize {
        usize::from(self.amount)
    }

    /// Whether nothing was done.
    pub(crate) fn is_empty(&self) -> bool {
        self.n_steps == 0
    }

    pub(super) fn steps(&self) -> impl Iterator<Item = (RegionKind, usize)> {
        let n = usize::from(self.n_steps);
        let kinds = self.kinds[..n].iter().map(|kind| RegionKind::ALL[usize::from(*kind)]);
        kinds.zip(self.ways[..n].iter().map(|way| usize::from(*way)))
    }
}

/// How many changes are told to people; the rest is a number.
const TOLD: usize = 5;

/// The changes by name, with the kind of region where it changes: `stdin: bit flip, insert a token; arguments: swap words`.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = None;
        for (kind, way) in self.steps().take(TOLD) {
            match last {
                Some(before) if before == kind => f.write_str(", ")?,
                Some(_) => write!(f, "; {kind}: ")?,
                None => write!(f, "{kind}: ")?,
            }
            last = Some(kind);
            f.write_str(name(kind, way))?;
        }
        let n_more = usize::from(self.n_steps).saturating_sub(TOLD);
        if n_more > 0 { write!(f, " and {n_more} more") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_reads_like_a_list() {
        let mut recipe = Recipe::new(0);
        recipe.push(RegionKind::Stdin, 0);
        recipe.push(RegionKind::Stdin, 22);
        recipe.push(RegionKind::Arguments, 8);
        assert_eq!(recipe.to_string(), "stdin: bit flip, append bytes; arguments: swap words");
        for _ in 0..20 {
            recipe.push(RegionKind::Files, 0);
        }
        assert!(recipe.to_string().ends_with("files: other mode, other mode and 3 more"), "{recipe}");
    }
}
