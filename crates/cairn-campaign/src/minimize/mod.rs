//! The fewest inputs that are together as good as all.
//!
//! ```text
//!   inputs, each with the elements it covers
//!     ──► forced inputs, superfluous inputs and elements taken out, until nothing changes   (problem)
//!     ──► parts that have nothing to do with each other, each by itself:
//!           a good cover quickly                                                            (greedy)
//!           the best one, by branch and bound, as long as the caller lets it go on          (search)
//!     ──► cheaper inputs in the place of dearer ones                                        (cover)
//! ```
//! Elements are numbers; what they stand for (branches, lines, killed mutants, ways to fail) is the caller's matter.

mod bit_set;
mod cover;
mod greedy;
mod problem;
mod search;

pub use self::{
    bit_set::BitSet,
    cover::{Cover, Coverer, Proof, smallest_cover},
};
