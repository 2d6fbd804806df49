//! When: the run left alone from here on, until what waits has started.

use std::ops::ControlFlow;

use meed::JobId;

use super::Forecast;
use crate::world::{RunError, World};

/// Goes on without arrivals and changes until all that waits now (of `job`, or of the queue) has
/// started, or nothing happens any more. Cost: that of the run until then.
pub(super) fn forecast(
    world: &mut World<'_>,
    queue: &str,
    job: Option<(u32, JobId)>,
) -> Result<Forecast, RunError> {
    let mut forecast = Forecast { first_start_s: None, all_started_s: None };
    let Some(tree_queue) = world.parts().tree().find_queue(queue) else { return Ok(forecast) };
    world.leave_alone();
    let started = |world: &World<'_>| world.tally().queues[tree_queue.index()].waits;
    let waiting = |world: &World<'_>| match job {
        // A job that is gone waits no more, but it was not served either.
        Some((part, id)) => {
            world.waiting(part, id).map(|waits| waits.map_or(0, |waits| waits.tasks))
        }
        None => {
            let (part, leaf) = world.parts().route(tree_queue)?;
            Some(world.parts().engines[part as usize].queue(leaf).waiting)
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
