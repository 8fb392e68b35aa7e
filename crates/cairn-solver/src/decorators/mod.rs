//! Solvers around solvers.

mod budgeted;
mod cached;
mod checked;
mod counted;
mod optimistic;
mod portfolio;
mod sliced;

pub use self::{
    budgeted::Budgeted, cached::Cached, checked::Checked, counted::Counted, optimistic::Optimistic,
    portfolio::Portfolio, sliced::Sliced,
};
