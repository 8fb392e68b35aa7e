//! `cairn record` keeps what a real test suite gives to a program, and leaves suite and program as they were.

mod record {
    pub mod calls;
    pub mod place;
    pub mod suites;
    pub mod support;
}
