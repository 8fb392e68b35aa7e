//! The report of a campaign, as a browser shows it, and what is seen of a campaign on a terminal.

mod report {
    pub mod browser;
    pub mod json;
    pub mod page;
    pub mod terminal;
}
