//! A run of the MapReduce world, from its setup to its record.

use std::ops::ControlFlow;

use meed_driver::record::RunRecord;
use meed_driver::{Ending, Journal, Progress, outcome};

use super::error::MapReduceError;
use super::setup::MapReduceSetup;
use super::world::{Finished, MapReduceWorld};

/// Runs one setup to its end. `policy` names the run in its record; records go to `log`, which the
/// caller flushes; `progress` is told now and then how far the run is, and may stop it.
pub fn run(
    policy: &str,
    setup: MapReduceSetup,
    log: Box<dyn Journal + '_>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunRecord, MapReduceError> {
    let world = MapReduceWorld::new(setup, log)?;
    let Finished { mut driver, end, sampler, record: mapreduce } = world.run(progress)?;
    let mut record =
        outcome(policy, &mut driver, Ending { end, sampler, jobs: Vec::new(), counting: None })
            .map_err(|why| MapReduceError::Change { at: end, why })?;
    record.mapreduce = Some(Box::new(mapreduce));
    Ok(record)
}
