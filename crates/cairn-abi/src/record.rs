//! Trace records.
