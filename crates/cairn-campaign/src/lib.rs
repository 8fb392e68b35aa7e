//! One long run of strategies against one target.
//!
//! [`run`] starts workers, each with a core, a live target and strategies of its own. A worker lets a strategy work for a
//! while and judges what it proposes; whatever is new goes into the [`Ledger`], which all workers share: stored first, then
//! written to the journal, then told to whoever watches. A process that is killed at any moment has therefore stored
//! everything it told of, and a campaign in the same folder goes on from there.
//!
//! ```text
//!   worker: Strategy::step ──► Candidate ──► Judge ──► Ledger ──► campaign.db, corpus/ ──► events.jsonl ──► observer
//!                 ▲                                       │
//!                 └───────────── Corpus, Seen ◄───────────┘
//! ```
//!
//! Judging is done in one place ([`judge`]): a candidate is run again, a failure counts when the bare build fails in a fresh
//! process, counters that differ between two runs of one input tell nothing, a mutant is killed when the bare build does
//! something else. With a [`SanitizedBuild`] every input that is kept is run on it once, too, and so are samples of the others, as
//! far as their share of the work allows.
//!
//! With one worker and a budget of work a campaign decides the same every time.
//!
//! [`minimize`] finds the fewest inputs that are together as good as all, [`reduce`] makes one input smaller and easier to read
//! while it stays good for what it is kept for. Neither runs anything: what inputs are good for is handed in.

mod clock;
mod config;
mod cores;
mod error;
mod event;
mod failures;
mod folder;
mod haste;
mod journal;
mod judge;
mod killing;
mod kills;
mod ledger;
mod limits;
mod reached;
mod run;
mod sampling;
mod sanitizers;
mod second_look;
mod seeds;
mod small;
mod triage;
mod turns;
mod worker;

pub mod minimize;
pub mod reduce;

pub use crate::{
    config::CampaignConfig,
    error::{CampaignError, chain},
    event::{Event, EventKind, Why},
    folder::CampaignFolder,
    journal::worked,
    ledger::{KillSummary, Summary},
    run::{Parts, SanitizedRunner, run},
    sanitizers::SanitizedBuild,
};
