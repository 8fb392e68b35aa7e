//! Helpers for tests that need an instrumented program.
