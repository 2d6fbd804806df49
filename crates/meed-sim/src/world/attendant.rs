//! Somebody looks at a run as time passes, and may tell queues where they stand (`told`).
//!
//! What he says holds from the next instant at which something happens. Nothing is lost by that
//! where orders are work conserving: between two instants nothing changes that could let a task
//! start, whatever the ranks.

use std::ops::ControlFlow;

use meed::{QueueId, Rank, Time, View};

/// Whoever looks on while a run goes on. A run that is split among its tenants has no order among
/// them, and is not attended.
pub trait Attendant {
    /// Nothing has happened since the last instant, and something will at `at`, or the run ends
    /// there. `engine` is as it was left: its integrals can be read at any time up to `at`. `say`
    /// tells where a queue stands; of one that is gone nobody hears. To break stops the run there.
    fn passes(
        &mut self,
        at: Time,
        engine: View<'_>,
        say: &mut dyn FnMut(QueueId, Rank),
    ) -> ControlFlow<()>;

    /// The run ends at `at`; what is said of ranks then would be heard by nobody.
    fn ends(&mut self, at: Time, engine: View<'_>) -> ControlFlow<()> {
        self.passes(at, engine, &mut |_, _| ())
    }
}
