//! Campaigns, as the command line knows them.

mod face;
pub mod history;
mod lines;
mod live;
mod minimal;
pub mod mutant_history;
pub mod mutant_plan;
pub mod plan;
mod presence;
pub mod seeds_plan;
mod start;
mod strategies;
pub mod trouble;
mod views;

pub use self::{
    lines::ways_to_fail,
    presence::holds_campaign,
    seeds_plan::MOST_CANDIDATES,
    start::{Told, start},
    views::{CampaignMutants, CampaignViews},
};
