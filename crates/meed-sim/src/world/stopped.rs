//! Tasks stop for others in the world (`stops`).

use meed::{AllocationId, Span, Start};

use super::World;
use super::desk::Desk;
use super::error::RunError;
use super::running::{Ending, Running};

impl<'a, D: Desk<'a>> World<'a, D> {
    /// A task is told to stop: it does when its grace is over.
    pub(super) fn tell_to_stop(&mut self, at: D::At, allocation: AllocationId, grace: Span) {
        let ending = Ending::Stopped;
        self.put_end(self.now.saturating_add(grace), Running { at, allocation, ending });
    }

    /// A task has stopped: it waits again.
    pub(super) fn task_stopped(
        &mut self,
        at: D::At,
        allocation: AllocationId,
    ) -> Result<(), RunError> {
        let now = self.now;
        let driver = self.desk.driver_mut(at);
        let demand = *driver.engine().demand_of(allocation).expect("it runs");
        let started = driver.engine().started(allocation).expect("it runs");
        let why = Some("its room was taken back");
        let task = driver.task_lost(now, allocation, why).map_err(|why| RunError::of(now, why))?;
        let ran = now.saturating_since(started).as_micros();
        let live = driver.job_mut(task.job).expect("its job waits for it");
        let queue = live.queue();
        let before = live.detail.saved(task.task).as_micros();
        let own = live.detail.tasks.checkpoint(task.task);
        let saved = self.stops.saved(before + ran, own).max(before);
        live.detail.save(task.task, span(saved));
        let lost = before + ran - saved;
        let queue = self.desk.in_tree(at, queue).index();
        self.stops.lost(queue, &demand, lost);
        Ok(())
    }

    /// How long a task runs that starts now, and how it ends, unless it is lost before.
    #[inline]
    pub(super) fn attempt_of(&self, at: D::At, start: &Start) -> (Span, Ending) {
        let job = &self.desk.driver(at).job(start.job).expect("a live job starts").detail;
        let duration = job.tasks.duration(start.group, start.task);
        let left = duration.as_micros().saturating_sub(job.saved(start.task).as_micros());
        let attempt = self.failures.run(job.luck, start.task, start.failures, span(left));
        let ending = match (attempt.fails, job.tasks.is_cut()) {
            (true, _) => Ending::Fails,
            (false, true) => Ending::Cut,
            (false, false) => Ending::Done,
        };
        (attempt.lasts, ending)
    }
}

fn span(micros: u64) -> Span {
    Span::from_micros(micros).expect("no longer than another span")
}
