//! A run from its setup to its record, whoever serves.

use std::ops::ControlFlow;

use meed_driver::record::RunRecord;
use meed_driver::{Ending, Progress, outcome};

use super::desk::Desk;
use super::error::RunError;
use super::notes::{Most, tell};
use super::{Finished, Script, World, WorldSetup};

/// What the caller is told while the run goes on.
type Watching<'w> = &'w mut dyn FnMut(Progress) -> ControlFlow<()>;

/// The record of a run, and messages about lines of its input that were skipped.
///
/// The example of [`Script`](super::Script) reads one.
pub struct Ran {
    /// Its figures.
    pub record: RunRecord,
    /// Messages about the first lines that were skipped.
    pub bad_lines: Vec<String>,
    /// Who was overtaken most, where that was asked for.
    pub(crate) most: Vec<Most>,
}

/// Runs to the end. With `script`, it decides.
pub fn run<'a>(
    policy: &str,
    setup: WorldSetup<'a>,
    script: Option<Script<'a>>,
    progress: Watching<'_>,
) -> Result<Ran, RunError> {
    match setup.partitioned {
        true => run_world(policy, World::partitioned(setup)?, script, progress),
        false => run_world(policy, World::whole(setup)?, script, progress),
    }
}

fn run_world<'a, D: Desk<'a>>(
    policy: &str,
    world: World<'a, D>,
    script: Option<Script<'a>>,
    progress: Watching<'_>,
) -> Result<Ran, RunError> {
    let finished = world.run(script, progress)?;
    let Finished { mut desk, end, sampler, counting, jobs, counts, .. } = finished;
    let (bad_lines, notes) = (finished.bad_lines, finished.notes);
    let (stops, accounts) = (finished.stops, finished.accounts);
    let mut record = outcome(policy, &mut desk, Ending { end, sampler, jobs, counting })
        .map_err(|why| RunError::Change { at: end, why })?;
    record.trace_lines = counts.lines;
    record.skipped_lines = counts.bad;
    record.ignored_lines = counts.ignored;
    if desk.tree().reclaims() {
        stops.tell(desk.tree(), &mut record);
    }
    if let Some(accounts) = accounts {
        let tree = desk.tree();
        let scale = tree.kinds().unit(tree.measured()).scale();
        record.accounts = Some(Box::new(accounts.statement(scale)));
    }
    let most = tell(notes, desk.tree(), end, &mut record);
    Ok(Ran { record, bad_lines, most })
}
