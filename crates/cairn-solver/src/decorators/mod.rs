//! Solvers around solvers.

mod budgeted;
mod cached;
mod checked;
mod counted;
mod optimistic;
mod portfolio;
mod shared;
mod sliced;

pub use self::{
    budgeted::Budgeted,
    cached::Cached,
    checked::Checked,
    counted::Counted,
    optimistic::Optimistic,
    portfolio::Portfolio,
    shared::{Answers, Shared},
    sliced::Sliced,
};
