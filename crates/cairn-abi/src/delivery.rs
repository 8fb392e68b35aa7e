//! What an input delivers by name.
