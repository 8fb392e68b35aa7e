//! How many steps a mutant may take.

/// So many times those of the original on the same input.
pub const FUEL_MARGIN: u64 = 10;

/// The least: originals that do little may have mutants that do more and end all the same. On a line of input as many of 4,945
/// mutants of `sort` came to their end within 20,000 steps as within 14 ms.
pub const LEAST_FUEL: u64 = 50_000;

/// The steps that a mutant may take where the original takes so many, counted in examined bodies: they take steps in every
/// loop, as mutated ones do, and the original's do not.
pub fn fuel_for(steps: u64) -> u64 {
    steps.saturating_mul(FUEL_MARGIN).max(LEAST_FUEL)
}
