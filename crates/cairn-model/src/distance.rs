//! distance.
