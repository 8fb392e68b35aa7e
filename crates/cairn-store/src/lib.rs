//! What was found out about a program, kept on disk.
//!
//! A [`Store`] is one SQLite file beside the build record. It remembers what running mutants showed, so that a score
//! that was interrupted goes on where it stopped and one that is asked for again answers at once.
//!
//! Results belong to [`Circumstances`], the mutant view, the oracle and the limits they were made with, and to a
//! [`ResultKey`], an input and what the original does with it. Whoever looks something up states both, so results made
//! otherwise are never taken for these. Mutants go by stable id, inputs by address: a result outlives a rebuild that
//! does not change the view.
//!
//! The same file holds what a campaign did: the inputs it keeps with where they came from, the ways the program fails, the
//! work that was done. The inputs themselves lie in [`CorpusFolder`]s beside it, named by their content.
//!
//! Several processes may use one store. What [`Store::remember`] was given is there as a whole or not at all, also
//! after the process or the machine was killed; at worst the last few calls are missing after a power cut.
//!
//! Only this crate writes SQL, and nothing here knows how results are made.

mod campaign;
mod corpus_folder;
mod error;
pub mod input_file;
mod kills;
mod migrations;
mod results;
mod room;
mod store;
mod verdict_code;

pub use crate::{
    campaign::{Beyond, CampaignHead, Moment},
    corpus_folder::CorpusFolder,
    error::StoreError,
    kills::StoredKill,
    results::{Circumstances, CircumstancesId, ExaminedInput, InputResults, ResultKey},
    room::is_disk_full,
    store::Store,
};
