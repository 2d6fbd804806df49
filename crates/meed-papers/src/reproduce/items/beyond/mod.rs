//! What the papers leave open, measured: long-term against memoryless DRFH, and greedy placement
//! against the optimum.

mod gap;
mod long_term;
#[cfg(test)]
mod tests;

pub(super) use gap::gap;
pub(super) use long_term::{google, wagap};
