//! A live target that runs many inputs: the host's side of [`cairn_abi::session`].
//!
//! A [`Session`] holds two ways to run its target. The quick one is a live process: the keeper starts it once, it
//! stays before `main` as a *template*, and a *runner* forked from it works off batches of inputs ([`live`]). The sure
//! one is an [`crate::Executor`], which starts a process for every run. A run in the session that is in any doubt is
//! run again in the sure way, and the [`SessionRun`] says why; so every input gets exactly one verdict, and it is the
//! one a fresh process would have got.
//!
//! ```text
//!   inputs ──pack──► inputs region ──post──► runner ──► results region ──sort_out──► Taken ──outcome──► SessionRun
//!                                                                                      └── in doubt ──► Executor
//! ```
//!
//! Whole inputs travel through [`Session::run_batch`]; harness buffers also through [`Session::buffers`], which
//! allocates nothing per run. What a harness defines to change buffers itself is called by [`Session::changes`].

mod batch;
mod buffers;
mod calibrate;
mod changes;
mod config;
mod counts;
mod fresh;
mod futex;
mod handle;
mod job;
mod live;
mod outcome;
mod pack;
mod progress;
mod sort_out;
mod streams;
mod verify;
mod why;

pub(crate) use self::job::{Activation, Job};
pub use self::{
    buffers::{BufferBatch, BufferEnd, BufferRun, BufferRuns},
    calibrate::{Calibration, fuel_limit},
    changes::{Change, ChangeBatch, ChangeFailure, Changer, Changers},
    config::{SessionConfig, WantedCounters, Wants},
    counts::SessionCounts,
    handle::{Ran, Session, SessionMode, SessionRun},
    verify::Verification,
    why::WhyFresh,
};
