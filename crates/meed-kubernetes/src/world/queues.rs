//! Queues: the objects that are wanted, and the engine's tree brought there.
//!
//! The tree follows the objects as a whole, whatever order they came in: children before parents,
//! a hundred at once. A queue whose object is gone takes no more pods: those that wait are refused,
//! those that run go on and are charged to it, and it leaves the engine with the last of them. An
//! object of its name, whenever it comes, finds the queue as it was, with all that it owes.
//!
//! Pods of one queue stand by their arrival. Where some are to go before others they are in queues
//! of their own below it, by `minPriority`, and the one that goes first has a `min`: in the engine
//! that is an order of children like any other, and what is charged goes to the queue above.

use std::collections::{BTreeMap, BTreeSet};

use meed::{QueueChange, QueueId, QueueSpec, ResourceKinds, Time, View};

use super::queue_row::{QueueRow, object_in};
use super::{Stand, World, must};
use crate::crd::QueueObject;
use crate::error::KubernetesError;
use crate::pod::refuse::Refusal;

impl World {
    /// A queue's object is there, in this form.
    pub(crate) fn queue_seen(&mut self, object: &QueueObject) {
        let name = object.metadata.name.clone().unwrap_or_default();
        if object.metadata.deletion_timestamp.is_some() {
            return self.queue_gone(&name);
        }
        let (spec, told) = (object.spec.clone(), None);
        match self.queues.get_mut(&name) {
            // Only its status was written.
            Some(row) if row.spec == spec => return,
            Some(row) => row.spec = spec,
            None => {
                let row = QueueRow { spec, full: None, told, problem: None, unkept: None };
                self.queues.insert(name, row);
            }
        }
        self.changed = true;
    }

    /// A queue's object is gone.
    pub(crate) fn queue_gone(&mut self, name: &str) {
        self.changed |= self.queues.remove(name).is_some();
    }

    /// A namespace is there, with these labels.
    pub(crate) fn namespace_seen(&mut self, name: String, labels: BTreeMap<String, String>) {
        if self.namespaces.get(&name) != Some(&labels) {
            self.namespaces.insert(name, labels);
            self.changed = true;
        }
    }

    /// A namespace is gone.
    pub(crate) fn namespace_gone(&mut self, name: &str) {
        self.changed |= self.namespaces.remove(name).is_some();
    }

    /// The leaf that a pod of this namespace may use by that name; else the reason and a sentence.
    pub(super) fn resolve(&self, queue: &str, namespace: &str) -> Result<QueueId, Refusal> {
        let Some(row) = self.queues.get(queue) else {
            return Err(("QueueNotFound", format!("there is no Queue `{queue}`")));
        };
        let nothing = BTreeMap::new();
        let labels = self.namespaces.get(namespace).unwrap_or(&nothing);
        if !row.spec.namespace_selector.as_ref().is_some_and(|selector| selector.allows(labels)) {
            let why = format!(
                "Queue `{queue}` is not for pods of namespace `{namespace}`: its \
                 namespaceSelector does not choose it"
            );
            return Err(("QueueNotAllowed", why));
        }
        let full = row.full.as_deref().filter(|_| row.told.is_some());
        let id = full.and_then(|full| self.driver.queue_named(full));
        id.ok_or_else(|| {
            let why = row.problem.clone().unwrap_or_else(|| "it is not declared yet".to_owned());
            ("QueueNotReady", format!("Queue `{queue}`: {why}"))
        })
    }

    /// The leaf of a pod that names this queue: where Queues below it are for priorities, the one
    /// for the highest that is not above the pod's.
    pub(super) fn leaf_of(
        &self,
        queue: &str,
        priority: i32,
        namespace: &str,
    ) -> Result<QueueId, Refusal> {
        let id = self.resolve(queue, namespace)?;
        let Some(below) = self.by_priority.get(queue) else { return Ok(id) };
        if let Some((_, child)) = below.range(..=priority).next_back() {
            return self.leaf_of(child, priority, namespace);
        }
        let least = below.keys().next().copied().unwrap_or_default();
        let why = format!(
            "no Queue below `{queue}` is for its priority {priority}: the least minPriority there \
             is {least}"
        );
        Err(("PriorityTooLow", why))
    }

    /// The name of the object that a queue of the engine is for.
    pub(super) fn object_of(&self, leaf: QueueId) -> String {
        object_in(self.driver.engine().queue_name(leaf)).to_owned()
    }

    /// Which Queues below others are for priorities. Of two for the same the first by name counts.
    fn keep_priorities(&mut self) {
        self.by_priority.clear();
        for (name, row) in self.queues.iter().rev().filter(|(_, row)| row.full.is_some()) {
            if let (Some(parent), Some(least)) = (&row.spec.parent, row.spec.min_priority) {
                let below = self.by_priority.entry(parent.clone()).or_default();
                below.insert(least, name.clone());
            }
        }
    }

    /// Brings the engine's tree to where the objects want it.
    pub(super) fn settle_queues(&mut self, now: Time) -> Result<(), KubernetesError> {
        let wanted = self.name_queues();
        let names: BTreeSet<&str> = wanted.iter().map(|(full, _)| full.as_str()).collect();
        let doomed: Vec<(String, QueueId)> =
            live_queues(self).filter(|(full, _)| !names.contains(full.as_str())).collect();
        // Children stand behind their parents, and go first.
        for (full, id) in doomed.into_iter().rev() {
            self.remove_queue(&full, id, now)?;
        }
        for (full, object) in wanted {
            self.declare(&full, &object, now);
        }
        self.settle_stopped(now)
    }

    /// The engine's name of each object, parents before children; what is wrong with the others.
    fn name_queues(&mut self) -> Vec<(String, String)> {
        let mut wanted = Vec::new();
        let names: Vec<String> = self.queues.keys().cloned().collect();
        for name in names {
            let path = self.path(&name);
            let Some(row) = self.queues.get_mut(&name) else { continue };
            match path {
                Ok(full) => {
                    row.problem = None;
                    row.full = Some(full.clone());
                    wanted.push((full, name));
                }
                Err(why) => (row.full, row.told, row.problem) = (None, None, Some(why)),
            }
        }
        wanted.sort();
        self.keep_priorities();
        wanted
    }

    fn path(&self, name: &str) -> Result<String, String> {
        let mut path = vec![name.to_owned()];
        let mut at = name;
        while let Some(parent) = self.queues.get(at).and_then(|row| row.spec.parent.as_deref()) {
            if path.iter().any(|seen| seen == parent) {
                return Err(format!("its parents go round in a circle, by `{parent}`"));
            }
            if !self.queues.contains_key(parent) {
                return Err(format!("there is no Queue `{parent}`, which is to be its parent"));
            }
            path.push(parent.to_owned());
            at = parent;
        }
        path.reverse();
        let full = path.join(".");
        meed_config::queues::check_name(&full).map(|()| full)
    }

    /// A queue without an object: what waits is refused, and it goes when nothing runs.
    fn remove_queue(&mut self, full: &str, id: QueueId, now: Time) -> Result<(), KubernetesError> {
        let waits = |stand: &Stand| match stand {
            Stand::Waits(job) => self.driver.job(*job).is_some_and(|job| job.queue() == id),
            _ => false,
        };
        let waiting: Vec<String> = self
            .pods
            .iter()
            .filter(|(_, row)| waits(&row.stand))
            .map(|(uid, _)| uid.clone())
            .collect();
        for uid in waiting {
            self.send_back(&uid, now)?;
        }
        let view = self.driver.engine().queue(id);
        let has_children = live_queues(self)
            .any(|(name, _)| name.strip_prefix(full).is_some_and(|rest| rest.starts_with('.')));
        if view.jobs == 0 && !has_children {
            self.told = true;
            must(self.driver.queue_removed(now, id))?;
        }
        Ok(())
    }

    fn declare(&mut self, full: &str, object: &str, now: Time) {
        let Some(row) = self.queues.get(object) else { return };
        let told = row.told.clone();
        let done = match row.spec.engine_spec(full, &self.root, &self.kinds) {
            Err(why) => Err(why),
            Ok(spec) if told.as_ref() == Some(&spec) => {
                // It was told so before a restart.
                let unkept = unkept_minimum(self.driver.engine(), full, &spec, &self.kinds);
                self.queues.entry(object.to_owned()).and_modify(|row| row.unkept = unkept);
                return;
            }
            Ok(spec) => self.tell_queue(full, spec, now),
        };
        let Some(row) = self.queues.get_mut(object) else { return };
        match done {
            Ok((spec, remark)) => {
                row.unkept = unkept_minimum(self.driver.engine(), full, &spec, &self.kinds);
                (row.told, row.problem) = (Some(spec), remark);
            }
            Err(why) => row.problem = Some(why),
        }
    }

    /// The queue as the engine has it now, and what it could not take of it.
    fn tell_queue(
        &mut self,
        full: &str,
        spec: QueueSpec,
        now: Time,
    ) -> Result<(QueueSpec, Option<String>), String> {
        self.told = true;
        let Some(id) = self.driver.queue_named(full) else {
            let added = self.driver.queue_added(now, spec.clone(), Default::default());
            return added.map(|_| (spec, None)).map_err(|why| why.to_string());
        };
        let change = QueueChange {
            weight: Some(spec.weight),
            min: Some(spec.min),
            max: Some(spec.max),
            rank: None,
        };
        self.driver.queue_changed(now, id, change).map_err(|why| why.to_string())?;
        let is_other = *self.driver.engine().policy(id) != spec.policy;
        let remark = is_other.then(|| {
            "it was deleted and made anew with another policy while pods of it ran: it keeps the \
             old policy; delete it, wait until they have ended, and make it again"
                .to_owned()
        });
        Ok((spec, remark))
    }

    /// A queue without an object may go now.
    pub(super) fn reap_queue(&mut self, queue: QueueId) {
        let engine = self.driver.engine();
        let is_doomed = engine.knows_queue(queue) && !engine.is_removed(queue) && {
            let view = engine.queue(queue);
            view.jobs == 0
                && !self.queues.values().any(|row| row.full.as_deref() == Some(view.name))
        };
        self.changed |= is_doomed;
    }
}

/// The engine's live queues but the root, parents before children.
fn live_queues(world: &World) -> impl Iterator<Item = (String, QueueId)> + use<> {
    let engine = world.driver.engine();
    let mut all: Vec<(String, QueueId)> = engine
        .queue_ids()
        .filter(|&id| id != QueueId::ROOT && !engine.is_removed(id))
        .map(|id| (engine.queue_name(id).to_owned(), id))
        .collect();
    all.sort();
    all.into_iter()
}

/// What of a queue's minimum share is not kept, for its parent does not count that resource.
fn unkept_minimum(
    engine: View<'_>,
    full: &str,
    spec: &QueueSpec,
    kinds: &ResourceKinds,
) -> Option<String> {
    let parent = match full.rsplit_once('.') {
        Some((parent, _)) => engine.find_queue(parent)?,
        None => QueueId::ROOT,
    };
    let above = engine.policy(parent);
    meed_config::queues::check_minimum(full, spec.min.as_ref(), above, kinds).err()
}
