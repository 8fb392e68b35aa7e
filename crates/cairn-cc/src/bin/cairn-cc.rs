//! Stands in for clang.
fn main() {}
