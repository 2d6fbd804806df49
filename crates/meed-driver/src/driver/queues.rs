//! Queues come, change and go.

use meed::{Effect, Event, Policy, QueueChange, QueueId, QueueSpec, Time};
use meed_journal::{
    Fact, Keys, PoliciesChanged, QueueChanged, QueueEntry, QueueMark, QueuePolicy, keys_of,
    policy_of,
};

use super::Driver;
use crate::journal::{Failed, Journal};

impl<J, K: Journal> Driver<J, K> {
    /// A queue is added below an existing one, or comes back by its name. `own`: the keys of its
    /// policy that it has under every policy, as its configuration has them; for whoever reads the
    /// record.
    pub fn queue_added(
        &mut self,
        now: Time,
        spec: QueueSpec,
        own: Keys,
    ) -> Result<QueueId, Failed> {
        let form = self.tells.then(|| {
            let view = self.engine.view();
            QueueEntry::of(&spec, own, Some(view.policy(QueueId::ROOT)), view.kinds())
        });
        let Effect::Queue(id) = self.event(now, Event::QueueAdded(spec))? else {
            unreachable!("a queue's addition has the effect `Queue`")
        };
        // One that comes back has its rows.
        self.is_leaf.add(id, true);
        self.tally.add_queue(id);
        if let Some(parent) = self.engine.view().parent(id) {
            self.is_leaf[parent] = false;
        }
        self.forget_queues();
        if let Some(form) = form {
            self.tell(now, |_| Fact::QueueAdded(Box::new(form)))?;
        }
        Ok(id)
    }

    /// Rows of queues that the engine has forgotten go.
    fn forget_queues(&mut self) {
        if self.is_leaf.len() > self.engine.view().queue_rows() {
            let known = |queue| self.engine.view().knows_queue(queue);
            self.is_leaf.retain(known);
            self.tally.forget_queues(known);
        }
    }

    /// A queue's weight or bounds change.
    pub fn queue_changed(
        &mut self,
        now: Time,
        queue: QueueId,
        change: QueueChange,
    ) -> Result<(), Failed> {
        self.event(now, Event::QueueChanged(queue, change.clone()))?;
        self.tell(now, |told| {
            let changed = QueueChanged::of(told.queue(queue), &change, told.engine.kinds());
            Fact::QueueChanged(Box::new(changed))
        })
    }

    /// Queues order otherwise from now on: the root by `root`, where that is given, with all queues
    /// that ordered as it did; `others` by their own. What ledgers hold is kept where it means the
    /// same ([`Event::PoliciesChanged`]). Whether that changes anything.
    pub fn policies_changed(
        &mut self,
        now: Time,
        root: Option<Policy>,
        others: Vec<(QueueId, Policy)>,
    ) -> Result<bool, Failed> {
        let Change { root, others, changes } = self.policy_change(root, others);
        if changes.is_empty() {
            return Ok(false);
        }
        self.event(now, Event::PoliciesChanged(&changes))?;
        self.tell(now, |told| {
            let kinds = told.engine.kinds().clone();
            let own = |(queue, policy): &(QueueId, Policy)| QueuePolicy {
                name: told.queue(*queue),
                policy: keys_of(policy, &kinds),
            };
            let queues = others.iter().map(own).collect();
            let root = root.as_ref().map(|root| keys_of(root, &kinds));
            Fact::PoliciesChanged(Box::new(PoliciesChanged { root, queues }))
        })?;
        Ok(true)
    }

    /// Whether a change of policies would be taken now, without changing anything.
    pub(crate) fn check_policies(&self, told: &PoliciesChanged) -> Result<(), Failed> {
        let (root, others) = self.policies_in(told)?;
        let change = self.policy_change(root, others);
        match change.changes.is_empty() {
            true => Ok(()),
            false => Ok(self.engine.check_policies(&change.changes)?),
        }
    }

    fn policy_change(&self, root: Option<Policy>, others: Vec<(QueueId, Policy)>) -> Change {
        let before = self.engine.view().policy(QueueId::ROOT).clone();
        let root = root.filter(|root| *root != before);
        let is_there = |queue: &QueueId| !self.engine.view().is_removed(*queue);
        let follow = |queue: &QueueId| *self.engine.view().policy(*queue) == before;
        let mut changes: Vec<(QueueId, Policy)> = Vec::new();
        if let Some(root) = &root {
            let followers = self.engine.view().queue_ids().filter(is_there).filter(follow);
            changes.extend(followers.map(|queue| (queue, root.clone())));
        }
        let after = |queue: QueueId| match &root {
            Some(root) if follow(&queue) => root,
            _ => self.engine.view().policy(queue),
        };
        let others: Vec<_> = others.into_iter().filter(|(id, own)| after(*id) != own).collect();
        changes.extend(others.iter().cloned());
        Change { root, others, changes }
    }

    /// The policies that a fact names, in full.
    fn policies_in(&self, told: &PoliciesChanged) -> Result<Named, Failed> {
        let kinds = self.engine.view().kinds();
        let read = |keys: &Keys, queue: &str| {
            let wrong = |why| Failed::Record(format!("policy of queue `{queue}`: {why}"));
            policy_of(keys, kinds).map_err(wrong)
        };
        let root = told.root.as_ref().map(|keys| read(keys, "root")).transpose()?;
        let own =
            |row: &QueuePolicy| Ok((self.known_queue(&row.name)?, read(&row.policy, &row.name)?));
        let others = told.queues.iter().map(own).collect::<Result<Vec<_>, Failed>>()?;
        Ok((root, others))
    }

    /// Queues order as the fact says from now on.
    pub(super) fn apply_policies(
        &mut self,
        now: Time,
        told: &PoliciesChanged,
    ) -> Result<(), Failed> {
        let (root, others) = self.policies_in(told)?;
        self.policies_changed(now, root, others).map(|_| ())
    }

    /// A queue takes no more jobs and goes when its last has ended.
    pub fn queue_removed(&mut self, now: Time, queue: QueueId) -> Result<(), Failed> {
        self.event(now, Event::QueueRemoved(queue))?;
        self.tell(now, |told| Fact::QueueRemoved(QueueMark { name: told.queue(queue) }))
    }
}

/// The root's policy, where it changes, and those of other queues.
type Named = (Option<Policy>, Vec<(QueueId, Policy)>);

/// A change of policies: what is told, and what it means for each queue.
struct Change {
    root: Option<Policy>,
    others: Vec<(QueueId, Policy)>,
    changes: Vec<(QueueId, Policy)>,
}
