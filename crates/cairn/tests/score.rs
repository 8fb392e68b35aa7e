//! `cairn score` and `cairn mutants` on small programs.

mod score {
    pub mod belief;
    pub mod choices;
    pub mod inputs;
    pub mod memory;
    pub mod schema;
    pub mod suites;
    pub mod support;
}
