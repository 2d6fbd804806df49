//! Which leaf is served out of turn, where the starvation guard (`guard`) says so.

use super::core::Core;
use crate::ids::QueueRow;
use crate::time::Span;

impl Core {
    /// The leaf to be served out of turn, and how long it has waited.
    #[inline]
    pub(super) fn starved(&mut self) -> Option<(QueueRow, Span)> {
        loop {
            let guard = self.guard.as_mut()?;
            let (leaf, t_wait) = (guard.least(self.now)?, guard.t_wait());
            if !self.can_start(leaf) {
                // It can be served neither in turn nor out of it, and stands in nobody's way.
                self.park(leaf);
                continue;
            }
            let waited = self.now.saturating_since(self.ready.waits_since(leaf));
            // ">=": Theorem 1 at t_wait = 0 needs it; Algorithm 2 prints ">".
            return (waited >= t_wait).then_some((leaf, waited));
        }
    }

    /// Whether something of `leaf` fits somewhere: looked for, as one that merely may would keep
    /// others from their turn.
    fn can_start(&mut self, leaf: QueueRow) -> bool {
        for i in 0..self.ready.buckets(leaf).len() {
            let Some(shape) = self.startable_shape(leaf, i) else { continue };
            // What is waited for, or gets a reservation, need not fit.
            let waited_for = self.waits && !self.reserved.is_hopeless(shape);
            if waited_for || self.room.find_or_block(shape).is_some() {
                return true;
            }
        }
        false
    }

    pub(super) fn rekey_guard(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.rekey_all(self.now);
        }
    }
}
