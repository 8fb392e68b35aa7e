//! Runs a target on an input inside a sandbox and reports the outcome.
