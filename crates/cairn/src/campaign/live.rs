//! The live screen of a campaign.
//!
//! Events change a [`Model`]; [`draw`] makes a picture of a model for any size of terminal and knows nothing else, so tests
//! look at pictures without a terminal. [`Terminal`] is the real one, given back however the campaign ends.

pub mod draw;
pub mod model;
pub mod terminal;

pub use self::{
    draw::{Colours, draw},
    model::{Model, Phase, Title},
    terminal::{Asked, Terminal},
};
