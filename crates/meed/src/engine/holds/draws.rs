//! Numbers for unit tests, the same in every run.

/// The state of a linear congruential generator.
pub(super) struct Draws(pub(super) u64);

impl Draws {
    pub(super) fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % below
    }
}
