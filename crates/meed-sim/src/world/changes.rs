//! Changes of the cluster and of the queue tree while work runs.
//!
//! Under the static partition the master shares out anew and each part's node follows its tenant's
//! share.

use meed::{AllocationId, Effect, Event, NodeId, NodeSpec, QueueChange, QueueId, Resources, Time};
use meed_journal::{Cancelled, Fact, Outcome};

use super::partition::share_node;
use super::{LiveJob, RunError, World};
use crate::log::forms::{fact_of, name_beside};

/// One change and its time.
#[derive(Clone, Debug)]
pub struct TimedChange {
    /// When.
    pub at: Time,
    /// What.
    pub change: Change,
}

/// What a scenario can change.
#[derive(Clone, Debug)]
pub enum Change {
    /// A node joins.
    NodeJoins(NodeSpec),
    /// The node of this name leaves.
    NodeLeaves(String),
    /// The node of this name has another capacity.
    NodeResized(String, Resources),
    /// The queue of this name changes.
    Queue(String, QueueChange),
    /// The queue of this name takes no more jobs and goes when it is empty.
    QueueRemoved(String),
    /// The job of this label is cancelled, if it is alive.
    JobCancelled(String),
}

impl World<'_> {
    pub(super) fn change(&mut self, timed: TimedChange) -> Result<(), RunError> {
        let at = timed.at;
        self.capacity.pass(at, self.parts.tree().capacity());
        if let Change::JobCancelled(label) = &timed.change {
            return self.cancel_labelled(label);
        }
        let kinds = self.parts.tree().kinds();
        self.log.write(at, || fact_of(&timed.change, kinds, false))?;
        if let Change::QueueRemoved(name) = &timed.change
            && self.parts.is_partitioned()
        {
            let queue = self.queue_named(name).map_err(|why| RunError::Change { at, why })?;
            return self.remove_partitioned(queue);
        }
        let event = self.event_of(timed.change).map_err(|why| RunError::Change { at, why })?;
        self.parts.touch_all();
        let effect = self.apply(0, event).map_err(|why| RunError::Change { at, why })?;
        if let Effect::Lost(lost) = effect {
            self.lose(0, &lost)?;
        }
        if self.parts.is_partitioned() { self.follow_shares() } else { Ok(()) }
    }

    fn event_of(&self, change: Change) -> Result<Event<'static>, meed::Rejected> {
        Ok(match change {
            Change::NodeJoins(spec) => Event::NodeJoined(spec),
            Change::NodeLeaves(name) => Event::NodeLeft(self.node_named(&name)?),
            Change::NodeResized(name, capacity) => {
                Event::NodeChanged(self.node_named(&name)?, capacity)
            }
            Change::Queue(name, change) => Event::QueueChanged(self.queue_named(&name)?, change),
            Change::QueueRemoved(name) => Event::QueueRemoved(self.queue_named(&name)?),
            Change::JobCancelled(_) => unreachable!("jobs are found by their label"),
        })
    }

    fn node_named(&self, name: &str) -> Result<NodeId, meed::Rejected> {
        let tree = self.parts.tree();
        // The latest of that name: a node may leave and come back.
        tree.node_ids()
            .rev()
            .find(|&id| tree.node(id).0.name == name)
            .ok_or(meed::Rejected::UnknownNode)
    }

    fn queue_named(&self, name: &str) -> Result<QueueId, meed::Rejected> {
        self.parts.tree().find_queue(name).ok_or(meed::Rejected::UnknownQueue)
    }

    fn cancel_labelled(&mut self, label: &str) -> Result<(), RunError> {
        let live = (0..)
            .zip(&self.jobs)
            .flat_map(|(part, jobs)| jobs.iter().flatten().map(move |job| (part, job)));
        let ours = live.filter(|(_, job)| job.label.to_string() == label);
        let meant = ours.min_by_key(|(_, job)| job.number);
        self.log.write(self.now, || {
            // Where it is called otherwise than by its number, or is not there.
            let beside = |(_, job): (u32, &LiveJob)| name_beside(job.number, &job.label);
            let job = meant.map(|(_, job)| job.number.into());
            let name = meant.map_or_else(|| Some(label.into()), beside);
            Fact::JobCancelled(Cancelled { job, name })
        })?;
        match meant.map(|(part, job)| (part, job.id)) {
            Some((part, id)) => self.cancel(part, id, Outcome::Cancelled),
            None => Ok(()),
        }
    }

    /// Removes a tenant that is alone on its share: at once, or when its last job has ended.
    fn remove_partitioned(&mut self, queue: QueueId) -> Result<(), RunError> {
        let Some((part, _)) = self.parts.route(queue) else {
            let why = meed::Rejected::HasChildren {
                queue: self.parts.tree().queue(queue).name.to_owned(),
            };
            return Err(RunError::Change { at: self.now, why });
        };
        self.parts.drain(part);
        self.let_removed_go(part, queue)
    }

    /// Where `queue` is to go and has no job left, its share goes to the others.
    pub(super) fn let_removed_go(&mut self, part: u32, queue: QueueId) -> Result<(), RunError> {
        if !self.parts.is_draining(part)
            || self.parts.engines[part as usize].live_jobs() > 0
            || self.parts.tree().queue(queue).removed
        {
            return Ok(());
        }
        let at = self.now;
        self.apply(0, Event::QueueRemoved(queue)).map_err(|why| RunError::Change { at, why })?;
        self.follow_shares()
    }

    /// Tasks that run no more wait again from now on.
    fn lose(&mut self, part: u32, lost: &[AllocationId]) -> Result<(), RunError> {
        let now = self.now;
        for task in self.take_tasks(part, lost) {
            self.live_mut(part, task.job).again.get_or_insert_default().insert(task.task, now);
            self.log_task(&task, Fact::Lost)?;
        }
        Ok(())
    }

    /// Gives each tenant's node its share anew.
    fn follow_shares(&mut self) -> Result<(), RunError> {
        for id in self.parts.tree().queue_ids() {
            let Some((part, _)) = self.parts.route(id) else { continue };
            let (view, engine) = (self.parts.tree().queue(id), &self.parts.engines[part as usize]);
            let share =
                if view.removed { Resources::zero(view.share.kinds()) } else { *view.share };
            if share == *engine.capacity() {
                continue;
            }
            let spec = share_node(view.name, share);
            // The part's only node: it leaves with its last unit, and a new one joins when there is
            // a share again.
            let node = engine.node_ids().next_back().filter(|_| !engine.capacity().is_zero());
            let (change, event) = match node {
                None => (Change::NodeJoins(spec.clone()), Event::NodeJoined(spec)),
                Some(node) if share.is_zero() => {
                    (Change::NodeLeaves(spec.name), Event::NodeLeft(node))
                }
                Some(node) => {
                    (Change::NodeResized(spec.name, share), Event::NodeChanged(node, share))
                }
            };
            let (at, kinds) = (self.now, self.parts.tree().kinds());
            self.log.write(at, || fact_of(&change, kinds, true))?;
            self.parts.touch(part);
            if let Effect::Lost(lost) =
                self.apply(part, event).map_err(|why| RunError::Change { at, why })?
            {
                self.lose(part, &lost)?;
            }
        }
        Ok(())
    }
}
