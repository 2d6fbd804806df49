//! When: the run left alone from here on, until what waits has started.

use meed::QueueId;
use meed_driver::Books;
use meed_sim::world::RunError;

use super::Forecast;
use super::worlds::Explained;

/// Goes on without arrivals and changes until all that waits now (of `job`, or of the leaf `queue`)
/// has started, or nothing happens any more. Cost: that of the run until then.
pub(super) fn forecast<'a, W: Explained<'a>>(
    world: &mut W,
    queue: QueueId,
    job: Option<W::Job>,
) -> Result<Forecast, RunError> {
    let mut forecast = Forecast { first_start_s: None, all_started_s: None };
    world.leave_alone();
    let started = |world: &W| world.books().tally(queue).waits;
    let waiting = |world: &W| match job {
        // A job that is gone waits no more, but it was not served either.
        Some(job) => world.waiting(job),
        None => world.books().leaf(queue).map(|(engine, leaf)| engine.queue(leaf).waiting),
    };
    let (before, mut left) = (started(world), waiting(world).unwrap_or(0));
    while let Some(at) = world.step()? {
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
