//! How large and how small the numbers of a problem may be.

/// Amounts, weights and the like are zero or between this and [`LARGEST`]: ratios then stay far
/// from the ends of `f64`.
pub const SMALLEST: f64 = 1e-12;
/// See [`SMALLEST`].
pub const LARGEST: f64 = 1e18;
/// Most resources: the cost of more than two grows with their square.
pub const MAX_RESOURCES: usize = 16;
/// Most credits: beyond, their rounding would show in shares. Only differences count.
pub const MOST_CREDITS: f64 = 1e4;
/// Slots of the largest server where nothing else is asked for: the best of DRFH Table 2.
pub const SLOTS_PER_SERVER: f64 = 14.0;
