//! Queues come, change and go.

use meed::{Effect, Event, Policy, QueueChange, QueueId, QueueSpec, Rejected, ResourceKinds, Time};
use meed_config::policy::PolicySpec;
use meed_journal::{
    Amounts, Fact, Keys, PoliciesChanged, QueueChanged, QueueEntry, QueueMark, QueuePolicy,
};
use serde::Deserialize;

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
        let form = self.tells.then(|| self.form_of(&spec, own));
        let Effect::Queue(id) = self.apply(now, Event::QueueAdded(spec))? else {
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

    fn form_of(&self, spec: &QueueSpec, own: Keys) -> QueueEntry {
        let own_policy = spec.policy != *self.engine.view().policy(QueueId::ROOT);
        let kinds = self.engine.view().kinds();
        let policy = own_policy.then(|| keys_of(&spec.policy, kinds));
        queue_form(spec, policy, own, kinds)
    }

    /// The queue that a record declares.
    pub(super) fn read_queue(&self, form: &QueueEntry) -> Result<QueueSpec, Failed> {
        let kinds = self.engine.view().kinds();
        let wrong = |what: &str, why: String| {
            Failed::Record(format!("queue `{}`, {what}: {why}", form.queue))
        };
        let min = form.min.as_ref().map(|min| min.read(kinds)).transpose();
        let max = form.max.as_ref().map(|max| max.read_maximum(kinds)).transpose();
        let policy = match &form.policy {
            None => self.engine.view().policy(QueueId::ROOT).clone(),
            Some(keys) => policy_of(keys, kinds).map_err(|why| wrong("policy", why))?,
        };
        Ok(QueueSpec {
            name: form.queue.to_string(),
            weight: form.weight,
            min: min.map_err(|why| wrong("min", why))?,
            max: max.map_err(|why| wrong("max", why))?,
            policy,
        })
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
        self.apply(now, Event::PoliciesChanged(&changes))?;
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

    /// Whether [`Driver::policies_changed`] would be taken now, without changing anything.
    pub fn check_policies(
        &self,
        root: Option<Policy>,
        others: Vec<(QueueId, Policy)>,
    ) -> Result<(), Rejected> {
        let change = self.policy_change(root, others);
        match change.changes.is_empty() {
            true => Ok(()),
            false => self.engine.check_policies(&change.changes),
        }
    }

    /// The same by handles.
    pub(crate) fn known_policies(
        &self,
        named: &[(&str, Policy)],
    ) -> Result<Vec<(QueueId, Policy)>, Failed> {
        let known = |(name, own): &(&str, Policy)| Ok((self.known_queue(name)?, own.clone()));
        named.iter().map(known).collect()
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

    /// What a record says that policies become.
    pub(super) fn play_policies(&mut self, at: Time, told: &PoliciesChanged) -> Result<(), Failed> {
        let kinds = self.engine.view().kinds();
        let read = |keys: &Keys, queue: &str| {
            let wrong = |why| Failed::Record(format!("policy of queue `{queue}`: {why}"));
            policy_of(keys, kinds).map_err(wrong)
        };
        let root = told.root.as_ref().map(|keys| read(keys, "root")).transpose()?;
        let own =
            |row: &QueuePolicy| Ok((self.known_queue(&row.name)?, read(&row.policy, &row.name)?));
        let others = told.queues.iter().map(own).collect::<Result<Vec<_>, Failed>>()?;
        self.policies_changed(at, root, others).map(|_| ())
    }

    /// A queue takes no more jobs and goes when its last has ended.
    pub fn queue_removed(&mut self, now: Time, queue: QueueId) -> Result<(), Failed> {
        self.apply(now, Event::QueueRemoved(queue))?;
        self.tell(now, |told| Fact::QueueRemoved(QueueMark { name: told.queue(queue) }))
    }
}

/// A change of policies: what is told, and what it means for each queue.
struct Change {
    root: Option<Policy>,
    others: Vec<(QueueId, Policy)>,
    changes: Vec<(QueueId, Policy)>,
}

/// A policy in full, as records hold it.
pub(crate) fn keys_of(policy: &Policy, kinds: &ResourceKinds) -> Keys {
    keys_line(&PolicySpec::of(policy, kinds))
}

/// Keys of a policy as records hold them.
pub fn keys_line(keys: &PolicySpec) -> Keys {
    match serde_json::to_value(keys) {
        Ok(serde_json::Value::Object(keys)) => keys,
        _ => unreachable!("keys are an object of plain values"),
    }
}

/// The policy that a record holds in full; in words what is wrong with it.
pub(crate) fn policy_of(keys: &Keys, kinds: &ResourceKinds) -> Result<Policy, String> {
    let spec = PolicySpec::deserialize(keys).map_err(|why| why.to_string())?;
    spec.policy(kinds).map_err(|why| why.to_string())
}

/// A queue as records hold it.
pub(crate) fn queue_form(
    spec: &QueueSpec,
    policy: Option<Keys>,
    own: Keys,
    kinds: &ResourceKinds,
) -> QueueEntry {
    QueueEntry {
        queue: spec.name.as_str().into(),
        weight: spec.weight,
        min: spec.min.as_ref().map(|min| Amounts::of(min, kinds)),
        max: spec.max.as_ref().map(|max| Amounts::of_maximum(max, kinds)),
        policy,
        own,
    }
}
