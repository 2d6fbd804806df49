//! Nodes and queues come, change and go.

use meed::{
    Effect, Event, NodeId, NodeSpec, QueueChange, QueueId, QueueSpec, Rejected, Resources, Time,
};
use meed_journal::{Amounts, Fact, NodeAmounts, NodeForm, NodeMark, QueueChanged, QueueMark};

use super::{Driver, Telling};
use crate::journal::{Failed, Journal};
use crate::rows::Task;

impl<J, K: Journal> Driver<J, K> {
    /// A node joins.
    pub fn node_joined(&mut self, now: Time, spec: NodeSpec) -> Result<NodeId, Failed> {
        self.pass(now);
        let Effect::Node(id) = self.apply(now, Event::NodeJoined(spec))? else {
            unreachable!("a node's joining has the effect `Node`")
        };
        self.tell(now, |told| {
            let form = NodeForm::of(told.engine.node(id).0, told.engine.kinds());
            Fact::NodeJoins(Box::new(NodeForm { of_share: told.of_share(), ..form }))
        })?;
        Ok(id)
    }

    /// A node leaves: its tasks wait again.
    pub fn node_left(&mut self, now: Time, node: NodeId) -> Result<Vec<Task>, Failed> {
        self.lose(now, Event::NodeLeft(node), |told| {
            let name = told.names.node(told.engine, node);
            Fact::NodeLeaves(NodeMark { of_share: told.of_share(), ..NodeMark::of(name) })
        })
    }

    /// A node's capacity changes: the newest tasks that no longer fit wait again.
    pub fn node_changed(
        &mut self,
        now: Time,
        node: NodeId,
        capacity: Resources,
    ) -> Result<Vec<Task>, Failed> {
        self.lose(now, Event::NodeChanged(node, capacity), |told| {
            Fact::NodeResized(NodeAmounts {
                name: told.names.node(told.engine, node),
                capacity: Amounts::of(&capacity, told.engine.kinds()),
                of_share: told.of_share(),
            })
        })
    }

    /// A queue is added below an existing one. The record is the world's to make: a queue's policy
    /// in words is its configuration's.
    pub fn queue_added(
        &mut self,
        now: Time,
        spec: QueueSpec,
        tell: impl FnOnce() -> Fact,
    ) -> Result<QueueId, Failed> {
        let Effect::Queue(id) = self.apply(now, Event::QueueAdded(spec))? else {
            unreachable!("a queue's addition has the effect `Queue`")
        };
        self.is_leaf.push(true);
        self.tally.for_queues(self.is_leaf.len());
        if let Some(parent) = self.engine.queue(id).parent {
            self.is_leaf[parent.index()] = false;
        }
        self.tell(now, |_| tell())?;
        Ok(id)
    }

    /// A queue's weight or bounds change.
    pub fn queue_changed(
        &mut self,
        now: Time,
        queue: QueueId,
        change: QueueChange,
    ) -> Result<(), Failed> {
        self.apply(now, Event::QueueChanged(queue, change.clone()))?;
        self.tell(now, |told| {
            let changed = QueueChanged::of(told.queue(queue), &change, told.engine.kinds());
            Fact::QueueChanged(Box::new(changed))
        })
    }

    /// A queue takes no more jobs and goes when its last has ended.
    pub fn queue_removed(&mut self, now: Time, queue: QueueId) -> Result<(), Failed> {
        self.apply(now, Event::QueueRemoved(queue))?;
        self.tell(now, |told| Fact::QueueRemoved(QueueMark { name: told.queue(queue) }))
    }

    /// The node of that name that joined last: a node may leave and come back.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.engine.node_ids().rev().find(|&id| self.engine.node(id).0.name == name)
    }

    /// The live queue of that full name.
    pub fn queue_named(&self, name: &str) -> Option<QueueId> {
        self.engine.find_queue(name)
    }

    /// Tasks that run no more wait again from now on.
    fn lose(
        &mut self,
        now: Time,
        event: Event<'_>,
        tell: impl FnOnce(&mut Telling<'_, J>) -> Fact,
    ) -> Result<Vec<Task>, Failed> {
        self.pass(now);
        let Effect::Lost(lost) = self.apply(now, event)? else {
            unreachable!("a node's change has the effect `Lost`")
        };
        self.tell(now, tell)?;
        let lost = self.take_tasks(&lost);
        for task in &lost {
            self.live_mut(task.job).waits_again(task.task, now);
        }
        self.tell_tasks(now, &lost, Fact::Lost)?;
        Ok(lost)
    }

    /// The capacity of now was there until now.
    fn pass(&mut self, now: Time) {
        self.capacity.pass(now.max(self.engine.now()), self.engine.capacity());
    }

    pub(crate) fn known_node(&self, name: &str) -> Result<NodeId, Rejected> {
        self.node_named(name).ok_or(Rejected::UnknownNode)
    }

    pub(crate) fn known_queue(&self, name: &str) -> Result<QueueId, Rejected> {
        self.queue_named(name).ok_or(Rejected::UnknownQueue)
    }
}

impl<J> Telling<'_, J> {
    /// Whether changes of nodes follow from other records.
    fn of_share(&self) -> bool {
        self.names.alone.is_some()
    }
}
