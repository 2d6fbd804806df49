//! When: the run left alone from here on, until what waits has started.

use std::ops::ControlFlow;

use meed::{JobId, QueueId};

use super::Forecast;
use crate::world::{Desk, RunError, World};

/// Goes on without arrivals and changes until all that waits now (of `job`, or of the leaf `queue`)
/// has started, or nothing happens any more. Cost: that of the run until then.
pub(super) fn forecast<'a, D: Desk<'a>>(
    world: &mut World<'a, D>,
    queue: QueueId,
    job: Option<(D::At, JobId)>,
) -> Result<Forecast, RunError> {
    let mut forecast = Forecast { first_start_s: None, all_started_s: None };
    world.leave_alone();
    let started = |world: &World<'a, D>| world.desk().tally(queue).waits;
    let waiting = |world: &World<'a, D>| match job {
        // A job that is gone waits no more, but it was not served either.
        Some((at, id)) => {
            let live = world.desk().driver(at).job(id)?;
            Some(live.waiting().map_or(0, |waits| waits.tasks))
        }
        None => {
            let (engine, leaf) = world.desk().leaf(queue)?;
            Some(engine.queue(leaf).waiting)
        }
    };
    let (before, mut left) = (started(world), waiting(world).unwrap_or(0));
    while let Some(at) = world.next_instant()? {
        world.run_to(at, &mut |_| ControlFlow::Continue(()))?;
        let Some(now) = waiting(world) else { break };
        let serves = match job {
            Some(_) => now < left,
            None => started(world) > before,
        };
        if serves && forecast.first_start_s.is_none() {
            forecast.first_start_s = Some(at.as_secs_f64());
        }
        // What fails meanwhile waits again, and counts.
        left = now;
        if now == 0 {
            forecast.all_started_s = Some(at.as_secs_f64());
            break;
        }
    }
    Ok(forecast)
}
