//! Runs a target on an input inside a sandbox and reports the outcome.
//!
//! An [`Executor`] serves one [`Target`]. For each [`cairn_model::Input`] it lays out the files in a scratch folder,
//! starts a fresh process, waits within limits, ends the whole process tree, and returns an [`Execution`]: the
//! [`cairn_model::Outcome`] plus what the target left in its [`Channel`].
//!
//! ```text
//!   Executor (this process)          keeper (one per executor)             target (one per run)
//!   files into scratch        ──►    enters the namespaces once
//!   descriptors, arguments    ──►    limits, credentials, filters    ──►   exec
//!   reads outputs, files      ◄──    waits, answers refused calls    ◄──   exits, or is ended
//! ```
//!
//! A [`Session`] does the same for many inputs in one live process, tens of thousands of times a second, and falls back
//! to an executor where a run is in doubt.
//!
//! [`mutants::MutantSession`] runs the mutants of a mutant view, and [`oracle`] says what gives a mutant away.
//!
//! [`SymbolicExecutor`] runs a symbolic view and returns what its values are made of.
//!
//! A [`FailureExplainer`] tells what kind of failure an ending is, where the program was, and which failures are one.
//!
//! What a target does is data: a crash, a hang and a refused system call are outcomes. An [`ExecutorError`] means
//! that the run could not be carried out, and says which part was missing.
//!
//! The keeper is a fork of this process that never allocates, because this process may have threads. It is the
//! first process of its pid namespace, so killing everything a target left behind is one call; the target itself
//! is an ordinary process there, so signals act on it as they do anywhere. Where there is no pid namespace the
//! keeper adopts orphans and ends them one by one.
//!
//! This crate knows nothing of instrumentation beyond the channel, and never prints.

mod capture;
mod channel;
mod compare;
mod config;
mod cpu;
mod error;
mod executor;
mod failure;
mod judge;
mod keeper;
mod pin;
mod program;
mod request;
mod scratch;
mod session;
mod stability;
mod symbolic;

pub mod mutants;
pub mod oracle;
pub mod sandbox;

pub use crate::{
    channel::{Channel, ChannelLayout, MutantLayout, SessionLayout, SymbolicLayout},
    compare::{CompareCommand, CompareFailure, CompareFunction, Compared},
    config::{RunConfig, SandboxLevel, Target},
    cpu::tree_time,
    error::ExecutorError,
    executor::{Execution, Executor},
    failure::{Explained, FailureConfig, FailureExplainer, is_sanitizer_report},
    pin::pin_to_core,
    request::environment,
    scratch::DEFAULT_TIME,
    session::{
        BufferBatch, BufferEnd, BufferRun, BufferRuns, Calibration, Change, ChangeBatch, ChangeFailure,
        Changer, Changers, Ran, Session, SessionConfig, SessionCounts, SessionMode, SessionRun, Verification,
        WantedCounters, Wants, WhyFresh, fuel_limit,
    },
    stability::Stability,
    symbolic::{
        ArmedGuidepost, Asked, BadTrace, SymbolicConfig, SymbolicExecutor, SymbolicPlace, SymbolicRun,
    },
};
