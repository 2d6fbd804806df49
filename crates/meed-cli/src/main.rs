//! The `meed` program.
fn main() {}
