//! What those who explain a run may see of it between two instants.

use meed::{JobId, Time};
use meed_workload::JobLabel;

use super::{LiveJob, Parts, RunError, Tally, World};

/// Tasks of a job that wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waiting {
    pub(crate) tasks: u64,
    /// Since when the first of them has waited.
    pub(crate) since: Time,
}

impl World<'_> {
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Lets time pass to `now` without anything happening.
    pub(crate) fn rest_until(&mut self, now: Time) -> Result<(), RunError> {
        for engine in &mut self.parts.engines {
            engine.advance(now).map_err(|why| RunError::Change { at: now, why })?;
        }
        Ok(())
    }

    /// The live job that arrived as number `number`.
    pub(crate) fn find_job(&self, number: u64) -> Option<(u32, JobId)> {
        let live = (0..).zip(&self.jobs).flat_map(|(part, jobs)| {
            jobs.iter().flatten().map(move |live| (part, live.number, live.id))
        });
        let mut live = live;
        live.find(|(_, other, _)| *other == number).map(|(part, _, id)| (part, id))
    }

    fn live(&self, part: u32, id: JobId) -> Option<&LiveJob> {
        self.jobs[part as usize].get(id.slot())?.as_ref().filter(|live| live.id == id)
    }

    /// The label of a live job.
    pub(crate) fn label(&self, part: u32, id: JobId) -> Option<&JobLabel> {
        self.live(part, id).map(|live| &live.label)
    }

    /// What waits of a job; `None` when it is no more.
    pub(crate) fn waiting(&self, part: u32, id: JobId) -> Option<Option<Waiting>> {
        let live = self.live(part, id)?;
        let again = live.again.iter().flat_map(|again| again.values().copied());
        let tasks = live.unstarted + live.again.as_ref().map_or(0, |again| again.len() as u64);
        let since = (live.unstarted > 0).then_some(live.ready).into_iter().chain(again).min();
        Some(since.map(|since| Waiting { tasks, since }))
    }
}
