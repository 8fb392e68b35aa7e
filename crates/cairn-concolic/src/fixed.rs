//! What is demanded of an input because we follow only what happened.
//!
//! A program decides its branches, and a path through it is what it decided. Besides that we demand things of our own: that an
//! address be the one that was used, that a library function take the same way inside itself, that a value we cannot
//! express be the one it was. An input that breaks these may still take the program's way, so that nothing is impossible
//! because of them.

use std::fmt;

/// Who asks that something hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The program: it is a branch of its own.
    Program,
    /// Nobody decides it, but what the program did cannot work without.
    Given,
    /// A library function inside itself, or what we know of one.
    Library,
    /// We, because an address was taken as it was.
    Address,
}

impl Origin {
    /// Whether every input that takes the program's way does what was asked.
    pub fn is_of_the_way(self) -> bool {
        matches!(self, Self::Program | Self::Given)
    }
}

/// Values that were fixed on the way to a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fixed {
    /// Addresses that were taken as they were.
    pub n_addresses: usize,
    /// Decisions inside library functions.
    pub n_library: usize,
    /// Conditions with values that are not followed.
    pub n_opaque: usize,
    /// Files whose kind is one of those we make of them.
    pub n_kinds: usize,
}

impl Fixed {
    /// Whether nothing was.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (self.n_addresses, "address", "addresses"),
            (self.n_library, "decision of library functions", "decisions of library functions"),
            (
                self.n_opaque,
                "condition with a value that is not followed",
                "conditions with values that are not followed",
            ),
            (self.n_kinds, "kind of a file", "kinds of files"),
        ];
        let mut separator = "";
        for (count, one, many) in kinds.into_iter().filter(|(count, ..)| *count > 0) {
            write!(f, "{separator}{count} {}", if count == 1 { one } else { many })?;
            separator = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fixed_is_told() {
        let fixed = Fixed { n_addresses: 1, n_library: 3, ..Fixed::default() };
        assert_eq!(fixed.to_string(), "1 address, 3 decisions of library functions");
        assert!(Fixed::default().is_nothing() && !fixed.is_nothing());
    }
}
