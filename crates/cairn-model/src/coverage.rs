//! coverage.
