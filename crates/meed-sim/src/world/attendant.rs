//! Somebody looks at a run as time passes, and may tell queues where they stand (`told`).
//!
//! What he says holds from the next instant at which something happens. Nothing is lost by that
//! where orders are work conserving: between two instants nothing changes that could let a task
//! start, whatever the ranks.

use std::ops::ControlFlow;

use meed::{QueueId, Rank, Time, View};

/// Whoever looks on while a run goes on. A run that is split among its tenants has no order among
/// them, and is not attended.
///
/// ```
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// use std::ops::ControlFlow;
/// use meed::{QueueId, Rank, Time, View};
/// use meed_sim::world::{Attendant, WorldSetup};
/// use meed_sim::{Unwatched, run_one, setup};
///
/// /// The instants of a run.
/// struct Instants(Vec<Time>);
/// impl Attendant for Instants {
///     fn passes(
///         &mut self,
///         at: Time,
///         _: View<'_>,
///         _: &mut dyn FnMut(QueueId, Rank),
///     ) -> ControlFlow<()> {
///         self.0.push(at);
///         ControlFlow::Continue(())
///     }
/// }
/// let mut seen = Instants(Vec::new());
/// let attended = WorldSetup { attendant: Some(&mut seen), ..setup(&scenario, "fair", 1)? };
/// run_one("fair", attended, &mut Unwatched)?;
/// assert_eq!(seen.0.last(), Time::from_secs(10).as_ref());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
