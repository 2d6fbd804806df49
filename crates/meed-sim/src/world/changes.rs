//! Changes of the cluster and of the queue tree while work runs.
//!
//! Under the static partition the master shares out anew and each part's node follows its tenant's share.

use meed::{AllocationId, Effect, Event, NodeId, NodeSpec, QueueChange, QueueId, Resources, Time};

use super::{LiveTask, RunError, World};
use crate::log::Record;

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
        self.log.write(at, || Record::Change(&timed.change))?;
        self.capacity.pass(at, self.parts.tree().capacity());
        if let Change::JobCancelled(label) = &timed.change {
            return self.cancel_labelled(label);
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
            Change::NodeResized(name, capacity) => Event::NodeChanged(self.node_named(&name)?, capacity),
            Change::Queue(name, change) => Event::QueueChanged(self.queue_named(&name)?, change),
            Change::QueueRemoved(name) => Event::QueueRemoved(self.queue_named(&name)?),
            Change::JobCancelled(_) => unreachable!("jobs are found by their label"),
        })
    }

    fn node_named(&self, name: &str) -> Result<NodeId, meed::Rejected> {
        let tree = self.parts.tree();
        // The latest of that name: a node may leave and come back.
        tree.node_ids().rev().find(|&id| tree.node(id).0.name == name).ok_or(meed::Rejected::UnknownNode)
    }

    fn queue_named(&self, name: &str) -> Result<QueueId, meed::Rejected> {
        self.parts.tree().find_queue(name).ok_or(meed::Rejected::UnknownQueue)
    }

    fn cancel_labelled(&mut self, label: &str) -> Result<(), RunError> {
        let found = self.jobs.iter().enumerate().find_map(|(part, jobs)| {
            let slot =
                jobs.iter().position(|job| job.as_ref().is_some_and(|job| job.label.to_string() == label))?;
            Some((part as u32, jobs[slot].as_ref()?.id))
        });
        match found {
            Some((part, id)) => self.cancel(part, id),
            None => Ok(()),
        }
    }

    /// Tasks that run no more wait again from now on. O(running tasks): nodes seldom leave.
    fn lose(&mut self, part: u32, lost: &[AllocationId]) -> Result<(), RunError> {
        let now = self.now;
        let lost: std::collections::BTreeSet<AllocationId> = lost.iter().copied().collect();
        for slot in 0..self.tasks.len() {
            let here = |task: &mut LiveTask| task.part == part && lost.contains(&task.allocation);
            let Some(task) = self.tasks[slot].take_if(here) else { continue };
            self.live_mut(part, task.job).again.get_or_insert_default().insert(task.task, now);
            self.log_task(&task, "lost")?;
        }
        Ok(())
    }

    /// Gives each tenant's node its share anew.
    fn follow_shares(&mut self) -> Result<(), RunError> {
        for id in self.parts.tree().queue_ids() {
            let Some((part, _)) = self.parts.route(id) else { continue };
            let share = *self.parts.tree().queue(id).share;
            let engine = &self.parts.engines[part as usize];
            let node = engine.node_ids().next();
            let event = match node {
                Some(node) if share == engine.node(node).0.capacity => continue,
                Some(node) if !share.is_zero() => Event::NodeChanged(node, share),
                Some(_) | None => continue,
            };
            let at = self.now;
            match self.apply(part, event).map_err(|why| RunError::Change { at, why })? {
                Effect::Lost(lost) => self.lose(part, &lost)?,
                _ => continue,
            }
        }
        Ok(())
    }
}
