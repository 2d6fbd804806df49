//! Policies and queues as records hold them.

use meed::{Policy, QueueSpec, ResourceKinds};

use crate::{Amounts, Keys, PoliciesChanged, QueueEntry, QueuePolicy, keys_of, policy_of};

impl PoliciesChanged {
    /// The root orders by `root`, where that is given, with all queues that ordered as it did;
    /// others by their own.
    pub fn of<'p>(
        root: Option<&Policy>,
        others: impl IntoIterator<Item = (&'p str, &'p Policy)>,
        kinds: &ResourceKinds,
    ) -> PoliciesChanged {
        let own = |(name, policy): (&str, &Policy)| QueuePolicy {
            name: name.into(),
            policy: keys_of(policy, kinds),
        };
        let root = root.map(|root| keys_of(root, kinds));
        PoliciesChanged { root, queues: others.into_iter().map(own).collect() }
    }
}

impl QueueEntry {
    /// The form of `queue`, whose policy is left out where it is that of `root`. `own`: the keys of
    /// its policy that it has under every policy, as its configuration has them.
    pub fn of(
        queue: &QueueSpec,
        own: Keys,
        root: Option<&Policy>,
        kinds: &ResourceKinds,
    ) -> QueueEntry {
        QueueEntry {
            queue: queue.name.as_str().into(),
            weight: queue.weight,
            min: queue.min.as_ref().map(|min| Amounts::of(min, kinds)),
            max: queue.max.as_ref().map(|max| Amounts::of_maximum(max, kinds)),
            policy: (Some(&queue.policy) != root).then(|| keys_of(&queue.policy, kinds)),
            own,
        }
    }

    /// The queue; `root` is the policy of one that names none. In words what is wrong with it.
    pub fn read(&self, root: &Policy, kinds: &ResourceKinds) -> Result<QueueSpec, String> {
        let wrong = |what: &str, why: String| format!("queue `{}`, {what}: {why}", self.queue);
        let min = self.min.as_ref().map(|min| min.read(kinds)).transpose();
        let max = self.max.as_ref().map(|max| max.read_maximum(kinds)).transpose();
        let policy = self.policy.as_ref().map_or_else(
            || Ok(root.clone()),
            |keys| policy_of(keys, kinds).map_err(|why| wrong("policy", why)),
        );
        Ok(QueueSpec {
            name: self.queue.to_string(),
            weight: self.weight,
            min: min.map_err(|why| wrong("min", why))?,
            max: max.map_err(|why| wrong("max", why))?,
            policy: policy?,
        })
    }
}
