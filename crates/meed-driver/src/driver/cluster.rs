//! Nodes come, change and go.

use meed::{
    Effect, Event, Infeasible, Labels, NodeId, NodeSpec, QueueId, Rejected, Resources, Time,
};
use meed_journal::{
    Amounts, Fact, NodeAmounts, NodeEntry, NodeMark, Relabelled, Unplaceable, UsedByOthers,
};

use super::{Driver, Telling};
use crate::journal::{Failed, Journal};
use crate::rows::Task;

impl<J, K: Journal> Driver<J, K> {
    /// A node joins.
    pub fn node_joined(&mut self, now: Time, spec: NodeSpec) -> Result<NodeId, Failed> {
        self.pass(now);
        let Effect::Node(id) = self.event(now, Event::NodeJoined(spec))? else {
            unreachable!("a node's joining has the effect `Node`")
        };
        self.tell(now, |told| {
            let form = NodeEntry::of(told.engine.node(id).0, told.engine.kinds());
            Fact::NodeJoined(Box::new(NodeEntry { of_share: told.of_share(), ..form }))
        })?;
        Ok(id)
    }

    /// A node leaves: its tasks wait again.
    pub fn node_left(&mut self, now: Time, node: NodeId) -> Result<Vec<Task>, Failed> {
        self.lose(now, Event::NodeLeft(node), |told| Fact::NodeLeft(told.mark(node, None)))
    }

    /// A node's capacity changes: tasks that no longer fit wait again
    /// ([`meed::Event::NodeChanged`]).
    pub fn node_changed(
        &mut self,
        now: Time,
        node: NodeId,
        capacity: Resources,
    ) -> Result<Vec<Task>, Failed> {
        self.shrunk = self.losses_told.then_some(node);
        let event = match self.losses_told {
            true => Event::NodeResized(node, capacity),
            false => Event::NodeChanged(node, capacity),
        };
        self.lose(now, event, |told| {
            Fact::NodeResized(NodeAmounts {
                name: told.names.node(told.engine, node),
                capacity: Amounts::of(&capacity, told.engine.kinds()),
                keeps_tasks: false,
                of_share: told.of_share(),
            })
        })
    }

    /// From now on, whether records behind the one of a node that shrinks are played, which tell
    /// the tasks that were lost with it: then [`Driver::node_changed`] loses none, for an earlier
    /// version may have chosen others than this one would. Until they are played the node may be
    /// over-full.
    pub fn losses_are_told(&mut self, told: bool) {
        self.losses_told = told;
        if !told {
            self.shrunk = None;
        }
    }

    /// The same as [`Driver::node_changed`], but what runs there goes on: where less is left than
    /// it holds, nothing starts until enough has ended.
    pub fn node_resized(
        &mut self,
        now: Time,
        node: NodeId,
        capacity: Resources,
    ) -> Result<(), Failed> {
        self.pass(now);
        self.shrunk = None;
        self.event(now, Event::NodeResized(node, capacity))?;
        self.tell(now, |told| {
            Fact::NodeResized(NodeAmounts {
                name: told.names.node(told.engine, node),
                capacity: Amounts::of(&capacity, told.engine.kinds()),
                keeps_tasks: true,
                of_share: told.of_share(),
            })
        })
    }

    /// Nothing new starts on a node; what runs there goes on. `why`: for readers of the record.
    pub fn node_cordoned(
        &mut self,
        now: Time,
        node: NodeId,
        why: Option<&str>,
    ) -> Result<(), Failed> {
        self.event(now, Event::NodeCordoned(node))?;
        self.tell(now, |told| Fact::NodeCordoned(told.mark(node, why)))
    }

    /// Tasks may start there again.
    pub fn node_uncordoned(
        &mut self,
        now: Time,
        node: NodeId,
        why: Option<&str>,
    ) -> Result<(), Failed> {
        self.event(now, Event::NodeUncordoned(node))?;
        self.tell(now, |told| Fact::NodeUncordoned(told.mark(node, why)))
    }

    /// A node has other labels; what runs there goes on.
    pub fn node_relabelled(
        &mut self,
        now: Time,
        node: NodeId,
        labels: Labels,
    ) -> Result<(), Failed> {
        self.event(now, Event::NodeRelabelled(node, labels))?;
        self.tell(now, |told| {
            let name = told.names.node(told.engine, node);
            let labels = told.engine.node(node).0.labels.clone();
            Fact::NodeRelabelled(Relabelled { name, labels })
        })
    }

    /// Work that is not this scheduler's uses so much of a node, in all.
    pub fn node_used_by_others(
        &mut self,
        now: Time,
        node: NodeId,
        used: Resources,
    ) -> Result<(), Failed> {
        self.shrunk = None;
        self.event(now, Event::NodeUsedByOthers(node, used))?;
        self.tell(now, |told| {
            let name = told.names.node(told.engine, node);
            let used = Amounts::of(&used, told.engine.kinds());
            Fact::NodeUsedByOthers(UsedByOthers { name, used })
        })
    }

    /// What becomes, from now on, of tasks that no node could hold: their jobs are refused, as at
    /// first, or they wait for a node that can.
    pub fn set_infeasible(&mut self, now: Time, infeasible: Infeasible) -> Result<(), Failed> {
        self.engine.advance(now)?;
        self.engine.set_infeasible(infeasible);
        self.happened();
        let waits = infeasible == Infeasible::Wait;
        self.tell(now, |_| Fact::Infeasible(Unplaceable { waits }))
    }

    /// The node of that name that joined last: a node may leave and come back.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.engine.view().find_node(name).or_else(|| {
            self.engine
                .view()
                .node_ids()
                .rev()
                .find(|&id| self.engine.view().node(id).0.name == name)
        })
    }

    /// The live queue of that full name.
    pub fn queue_named(&self, name: &str) -> Option<QueueId> {
        self.engine.view().find_queue(name)
    }

    /// Tasks that run no more wait again from now on.
    fn lose(
        &mut self,
        now: Time,
        event: Event<'_>,
        tell: impl FnOnce(&mut Telling<'_, J>) -> Fact,
    ) -> Result<Vec<Task>, Failed> {
        self.pass(now);
        let lost = match self.event(now, event)? {
            Effect::Lost(lost) => lost,
            _ => Vec::new(),
        };
        self.tell(now, tell)?;
        let lost = self.take_tasks(&lost);
        for task in &lost {
            self.live_mut(task.job).waits_again(task.task, now);
        }
        self.tell_tasks(now, &lost, Fact::TaskLost)?;
        Ok(lost)
    }

    /// The capacity of now was there until now.
    fn pass(&mut self, now: Time) {
        self.capacity.pass(now.max(self.engine.view().now()), self.engine.view().capacity());
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

    fn mark(&mut self, node: NodeId, why: Option<&str>) -> NodeMark {
        let name = self.names.node(self.engine, node);
        NodeMark { name, of_share: self.of_share(), why: why.map(str::to_owned) }
    }
}
