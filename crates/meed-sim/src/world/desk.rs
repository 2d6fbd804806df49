//! Who serves the jobs of a virtual-time run: one driver over the whole cluster, or (static
//! partition) one for each tenant. All that differs between them is here.

use meed::{QueueId, Rejected, Start, Time};
use meed_driver::explain::{Standing, Subject, standing};
use meed_driver::{Books, Driver, Task};
use meed_workload::Job;

use super::{Change, Planned};

/// The driver of this world.
pub(crate) type OneDriver = Driver<Planned>;

/// One driver, or several.
pub(crate) trait Desk: Books {
    /// Which driver; nothing where there is only one.
    type At: Copy;

    /// The driver that serves a leaf of the tree, and what the leaf is there.
    fn route(&self, queue: QueueId) -> Option<(Self::At, QueueId)>;

    /// One of the drivers.
    fn driver(&self, at: Self::At) -> &OneDriver;

    /// The same.
    fn driver_mut(&mut self, at: Self::At) -> &mut OneDriver;

    /// All that serve jobs.
    fn drivers(&self) -> impl Iterator<Item = (Self::At, &OneDriver)>;

    /// A queue of that driver in the tree.
    fn in_tree(&self, at: Self::At, queue: QueueId) -> QueueId;

    /// Full name of a queue of that driver.
    fn queue_name(&self, at: Self::At, queue: QueueId) -> &str {
        self.tree().queue(self.in_tree(at, queue)).name
    }

    /// The job as it can run there, and as it was submitted where that differs; or why it cannot.
    fn fit(&self, at: Self::At, queue: QueueId, job: Job) -> Result<Fitted, (Job, Rejected)>;

    /// What starts now is added to `starts`.
    fn decide(&mut self, explain: bool, starts: &mut Vec<(Self::At, Start)>);

    /// Decisions of this instant were taken elsewhere.
    fn decided_elsewhere(&mut self);

    /// Cluster or tree change; what follows from it, in order.
    fn change(&mut self, now: Time, change: Change) -> Result<Vec<Step<Self::At>>, Rejected>;

    /// A job of that driver is gone; what follows from it, in order.
    fn job_gone(&mut self, now: Time, at: Self::At) -> Result<Vec<Step<Self::At>>, Rejected>;

    /// A job is refused.
    fn refused(&mut self);

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

/// One consequence of a change.
pub(crate) struct Step<At> {
    /// What else changes.
    pub(crate) follows: Option<Change>,
    /// Where.
    pub(crate) at: At,
    /// Tasks that are lost by it.
    pub(crate) lost: Vec<Task>,
}

impl Desk for OneDriver {
    type At = ();

    #[inline]
    fn route(&self, queue: QueueId) -> Option<((), QueueId)> {
        self.leaf(queue).map(|(_, queue)| ((), queue))
    }

    #[inline]
    fn driver(&self, (): ()) -> &OneDriver {
        self
    }

    #[inline]
    fn driver_mut(&mut self, (): ()) -> &mut OneDriver {
        self
    }

    fn drivers(&self) -> impl Iterator<Item = ((), &OneDriver)> {
        std::iter::once(((), self))
    }

    fn in_tree(&self, (): (), queue: QueueId) -> QueueId {
        queue
    }

    fn fit(&self, (): (), _: QueueId, job: Job) -> Result<Fitted, (Job, Rejected)> {
        Ok(Fitted { job, submitted: None })
    }

    fn decide(&mut self, explain: bool, starts: &mut Vec<((), Start)>) {
        Driver::decide(self, explain, |start| starts.push(((), start)));
    }

    fn decided_elsewhere(&mut self) {
        Driver::decided_elsewhere(self);
    }

    fn change(&mut self, now: Time, change: Change) -> Result<Vec<Step<()>>, Rejected> {
        let lost = change_one(self, now, change)?;
        Ok(vec![Step { follows: None, at: (), lost }])
    }

    fn job_gone(&mut self, _: Time, (): ()) -> Result<Vec<Step<()>>, Rejected> {
        Ok(Vec::new())
    }

    fn refused(&mut self) {
        self.job_refused();
    }

    fn finish(&mut self, end: Time) {
        Driver::finish(self, end);
    }
}

/// Makes a change by its verb; the tasks that are lost by it.
pub(super) fn change_one(
    driver: &mut OneDriver,
    now: Time,
    change: Change,
) -> Result<Vec<Task>, Rejected> {
    let node =
        |driver: &OneDriver, name: &str| driver.node_named(name).ok_or(Rejected::UnknownNode);
    let queue = |driver: &OneDriver, name: &str| {
        driver.engine().find_queue(name).ok_or(Rejected::UnknownQueue)
    };
    match change {
        Change::NodeJoins(spec) => driver.node_joined(now, spec).map(|_| Vec::new()),
        Change::NodeLeaves(name) => driver.node_left(now, node(driver, &name)?),
        Change::NodeResized(name, capacity) => {
            driver.node_changed(now, node(driver, &name)?, capacity)
        }
        Change::Queue(name, change) => {
            driver.queue_changed(now, queue(driver, &name)?, change).map(|()| Vec::new())
        }
        Change::QueueRemoved(name) => {
            driver.queue_removed(now, queue(driver, &name)?).map(|()| Vec::new())
        }
        Change::JobCancelled(_) => unreachable!("jobs are found by their label"),
    }
}
