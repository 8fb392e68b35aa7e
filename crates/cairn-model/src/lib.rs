//! The nouns of Cairn, shared by every crate above it.
//!
//! [`ProgramMap`] is what the instrumenter knows about a target; [`Input`] is what one run consumes;
//! [`Outcome`] is what the run did, and [`Coverage`] which parts of the map it reached. [`MutantTable`] holds small
//! changes of the program, as data, and [`SiteTable`] the spots where values can be observed. [`BasicPaths`] numbers the ways
//! through the functions of a map.
//! An [`Entry`] is an input a campaign keeps, a [`ProgramFailure`] one on which the program fails; [`Budget`] and [`Spent`]
//! measure work.
//! [`facts`] is what the front end tells about one translation unit before it is joined to the bitcode.
//!
//! Nothing here runs, builds or prints: the types carry data between crates and to disk.
//! Everything written to disk carries a version, checked when it is read.

pub mod basic_paths;
pub mod coverage;
pub mod distance;
pub mod entry;
pub mod facts;
pub mod failure;
pub mod guidepost;
pub mod ids;
pub mod input;
pub mod map;
mod mutant_set;
pub mod mutants;
pub mod outcome;
pub mod sites;
pub mod template;
pub mod verdict;
pub mod versioned;
pub mod work;

pub use crate::{
    basic_paths::BasicPaths,
    coverage::Coverage,
    entry::{Entry, EntryId, Provenance},
    failure::{Frame, ProgramFailure},
    guidepost::{Guidepost, SiteValue},
    ids::{
        BasicPathId, BlockId, ConditionId, CounterId, DecisionId, FunctionId, MutantId, PatchId, ProbeId,
        SiteId, StableId,
    },
    input::Input,
    map::ProgramMap,
    mutant_set::MutantSet,
    mutants::MutantTable,
    outcome::{Ending, Outcome},
    sites::SiteTable,
    template::Template,
    verdict::{Kill, KillReason, Verdict},
    work::{Budget, Spent},
};
