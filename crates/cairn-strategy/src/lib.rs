//! What a technique that proposes inputs sees, and what it gives back.
//!
//! A [`Strategy`] is given a [`CampaignView`] and a [`Budget`] and returns [`Candidate`]s. The campaign judges them, and
//! tells every strategy what became of them ([`Finding`]).
//!
//! ```text
//!   CampaignView ──► Strategy::step ──► Candidates ──► campaign: judge, store, announce ──► Strategy::observe
//! ```
//!
//! The view holds everything a strategy may use: the map, the [`Corpus`], what was [`Seen`], the [`Kills`], runners for the
//! views of the target, a random generator and a sign to stop. A strategy never writes to a store and never prints; with a budget of
//! work rather than time and a seeded generator it decides the same every time.
//!
//! Where the campaign looks more closely at what it keeps, a strategy also hands over [`Sample`]s of what it does not propose.

mod candidate;
mod corpus;
mod failing_runs;
mod finding;
mod kills;
mod sample;
mod seen;
mod strategy;
mod target;
mod view;

pub use crate::{
    candidate::Candidate,
    corpus::Corpus,
    failing_runs::{FailingRuns, likeness},
    finding::{Finding, FindingKind},
    kills::Kills,
    sample::{Chosen, Sample},
    seen::{Seen, Unstable},
    strategy::{Strategy, StrategyError},
    target::{CountedMutants, TargetViews},
    view::{CampaignView, Stop},
};
pub use cairn_model::{Budget, Entry, EntryId, Kill, Provenance, Spent};
