//! Who serves the jobs of a virtual-time run: one driver over the whole cluster, or (static
//! partition) one for each tenant. All that differs between them is here.

use crate::world::RunError;
use meed::{Infeasible, QueueId, Rejected, ResourceKinds, Resources, Start, Stop, Time};
use meed_driver::explain::{Standing, Subject, standing};
use meed_driver::{Books, Driver, Failed};
use meed_journal::{Arrival, Fact};
use meed_scenario::changes::Change;
use meed_workload::Job;

use super::planned::Planned;
use crate::accounts::InUse;
use crate::log::SharedLog;

/// The driver of this world.
pub(crate) type OneDriver<'a> = Driver<Planned, SharedLog<'a>>;

/// One driver, or several.
pub(crate) trait Desk<'a>: Books + InUse {
    /// Which driver; nothing where there is only one.
    type At: Copy;

    /// The driver that serves a leaf of the tree, and what the leaf is there.
    fn route(&self, queue: QueueId) -> Option<(Self::At, QueueId)>;

    /// One of the drivers.
    fn driver(&self, at: Self::At) -> &OneDriver<'a>;

    /// The same.
    fn driver_mut(&mut self, at: Self::At) -> &mut OneDriver<'a>;

    /// All that serve jobs.
    fn drivers<'s>(&'s self) -> impl Iterator<Item = (Self::At, &'s OneDriver<'a>)>
    where
        'a: 's;

    /// A queue of that driver in the tree.
    fn in_tree(&self, at: Self::At, queue: QueueId) -> QueueId;

    /// Full name of a queue of that driver.
    fn queue_name(&self, at: Self::At, queue: QueueId) -> &str {
        self.tree().queue(self.in_tree(at, queue)).name
    }

    /// The job as it can run there, and as it was submitted where that differs; or why it cannot.
    fn fit(&self, at: Self::At, queue: QueueId, job: Job) -> Result<Fitted, Box<(Job, Rejected)>>;

    /// Whether so much runs that it pays to ask ahead for the rows of tasks that end.
    fn expects_ends(&self) -> bool {
        false
    }

    /// What starts now is added to `starts`.
    fn decide(&mut self, starts: &mut Vec<(Self::At, Start)>) -> Result<(), Failed>;

    /// When to ask for decisions next though nothing happens; a tenant that is alone on its share
    /// has nobody to take anything back from.
    fn next_look(&self) -> Option<Time> {
        None
    }

    /// The same as [`Desk::decide`] at such an instant.
    fn look(&mut self, _: Time, _: &mut Vec<(Self::At, Start)>) -> Result<(), Failed> {
        Ok(())
    }

    /// Who was told to stop by the last decisions.
    fn take_stops(&mut self) -> Vec<(Self::At, Stop)> {
        Vec::new()
    }

    /// Decisions of this instant were taken elsewhere.
    fn decided_elsewhere(&mut self);

    /// Who is lost with a node that shrinks is told apart from now on.
    fn losses_are_told(&mut self);

    /// Cluster or tree change, with all that follows.
    fn change(&mut self, now: Time, change: Change) -> Result<(), Failed>;

    /// A job of that driver is gone, with all that follows.
    fn job_gone(&mut self, now: Time, at: Self::At) -> Result<(), Failed>;

    /// The driver for what belongs to none or to all.
    fn any(&mut self) -> &mut OneDriver<'a>;

    /// A job is refused.
    fn refused(
        &mut self,
        now: Time,
        why: &Rejected,
        arrival: impl FnOnce(&ResourceKinds) -> Arrival,
    ) -> Result<(), Failed> {
        self.any().job_refused(now, why, arrival)
    }

    /// A record of the world's own.
    fn note(&mut self, now: Time, fact: impl FnOnce() -> Fact) -> Result<(), Failed> {
        self.any().note(now, fact)
    }

    /// Counts what is there at the end.
    fn finish(&mut self, end: Time);

    /// How the leaf `queue` of the tree, or a job of it, stands now.
    fn standing(&self, queue: QueueId, subject: Subject) -> Option<Standing>
    where
        Self: Sized,
    {
        let (at, own) = self.route(queue)?;
        Some(standing(self, self.driver(at), (queue, own), subject))
    }
}

/// A job as it runs, and as it was submitted where that differs.
pub(crate) struct Fitted {
    pub(crate) job: Job,
    pub(crate) submitted: Option<Job>,
}

/// Calls `see` for each running task of a driver; `in_tree` finds its queue in the tree.
pub(super) fn each_running(
    driver: &OneDriver<'_>,
    in_tree: impl Fn(QueueId) -> QueueId,
    see: &mut dyn FnMut(QueueId, u32, &Resources),
) {
    let engine = driver.engine();
    for task in engine.running_ids() {
        let row = driver.running(task).and_then(|row| Some((row, driver.job(row.job)?)));
        if let (Some((row, job)), Some(demand)) = (row, engine.demand_of(task)) {
            see(in_tree(job.queue()), engine.node(row.node).0.weight, demand);
        }
    }
}

impl InUse for OneDriver<'_> {
    fn each_running(&self, see: &mut dyn FnMut(QueueId, u32, &Resources)) {
        each_running(self, |queue| queue, see);
    }
}

impl<'a> Desk<'a> for OneDriver<'a> {
    type At = ();

    #[inline]
    fn route(&self, queue: QueueId) -> Option<((), QueueId)> {
        self.leaf(queue).map(|(_, queue)| ((), queue))
    }

    #[inline]
    fn driver(&self, (): ()) -> &OneDriver<'a> {
        self
    }

    #[inline]
    fn driver_mut(&mut self, (): ()) -> &mut OneDriver<'a> {
        self
    }

    fn drivers<'s>(&'s self) -> impl Iterator<Item = ((), &'s OneDriver<'a>)>
    where
        'a: 's,
    {
        std::iter::once(((), self))
    }

    fn in_tree(&self, (): (), queue: QueueId) -> QueueId {
        queue
    }

    fn fit(&self, (): (), _: QueueId, job: Job) -> Result<Fitted, Box<(Job, Rejected)>> {
        Ok(Fitted { job, submitted: None })
    }

    #[inline]
    fn expects_ends(&self) -> bool {
        self.engine().expects_ends()
    }

    fn decide(&mut self, starts: &mut Vec<((), Start)>) -> Result<(), Failed> {
        Driver::decide(self, |start| starts.push(((), start)))
    }

    #[inline]
    fn next_look(&self) -> Option<Time> {
        Driver::next_look(self)
    }

    fn look(&mut self, now: Time, starts: &mut Vec<((), Start)>) -> Result<(), Failed> {
        self.decide_at(now, |start| starts.push(((), start)))
    }

    #[inline]
    fn take_stops(&mut self) -> Vec<((), Stop)> {
        Driver::take_stops(self).into_iter().map(|stop| ((), stop)).collect()
    }

    fn decided_elsewhere(&mut self) {
        Driver::decided_elsewhere(self);
    }

    fn losses_are_told(&mut self) {
        Driver::losses_are_told(self, true);
    }

    fn change(&mut self, now: Time, change: Change) -> Result<(), Failed> {
        change_one(self, now, change)
    }

    fn job_gone(&mut self, _: Time, (): ()) -> Result<(), Failed> {
        Ok(())
    }

    fn any(&mut self) -> &mut OneDriver<'a> {
        self
    }

    fn finish(&mut self, end: Time) {
        Driver::finish(self, end);
    }
}

/// Makes a change by its verb.
pub(super) fn change_one(
    driver: &mut OneDriver<'_>,
    now: Time,
    change: Change,
) -> Result<(), Failed> {
    let node =
        |driver: &OneDriver<'_>, name: &str| driver.node_named(name).ok_or(Rejected::UnknownNode);
    let queue =
        |driver: &OneDriver<'_>, name: &str| driver.queue_named(name).ok_or(Rejected::UnknownQueue);
    match change {
        Change::NodeJoins(spec) => driver.node_joined(now, spec).map(|_| ()),
        Change::NodeLeaves(name) => driver.node_left(now, node(driver, &name)?).map(|_| ()),
        Change::NodeResized(name, capacity) => {
            driver.node_changed(now, node(driver, &name)?, capacity).map(|_| ())
        }
        Change::Queue(name, change) => driver.queue_changed(now, queue(driver, &name)?, change),
        Change::QueueRemoved(name) => driver.queue_removed(now, queue(driver, &name)?),
        Change::JobCancelled(_) => unreachable!("jobs are found by their label"),
    }
}

/// The driver that knows what becomes of tasks that no node could hold. Only where they wait is it
/// told: other logs stay as they are.
pub(super) fn told(
    mut driver: OneDriver<'_>,
    infeasible: Infeasible,
) -> Result<OneDriver<'_>, RunError> {
    if infeasible == Infeasible::Wait {
        let told = driver.set_infeasible(Time::ZERO, infeasible);
        told.map_err(|why| RunError::of(Time::ZERO, why))?;
    }
    Ok(driver)
}
