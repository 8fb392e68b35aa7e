//! Repository tasks: runtime archive, tests, tidy, bless.
fn main() {}
