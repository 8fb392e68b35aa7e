//! Linked into the target: counters, channel, typed variables, harness entry.
#![cfg_attr(not(test), no_std)]
