//! Selectors made of others.

mod after;
mod interleaved;
mod until;

pub use self::{
    after::After,
    interleaved::Interleaved,
    until::{Moment, Until},
};
