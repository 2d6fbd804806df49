//! What the measurements share: [`common`], a cluster under load, and [`random`], numbers.
//!
//! Each program says what it measures, and docs/performance.md what came out. They are programs of
//! a crate of their own, for examples of the engine would be built, and optimized, by every `cargo
//! test`.

pub mod common;
pub mod random;
