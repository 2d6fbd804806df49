//! Nodes come, change and go; what strangers use of them.
//!
//! A node that cannot be read, or has nothing for pods, joins when it can be. When a node is
//! deleted its pods are charged until then; should it join again under its name while they are
//! still bound to it, they are charged from then on.

use k8s_openapi::api::core::v1::Node;
use meed::{Labels, NodeId, NodeSpec, Resources, Time};

use super::node_row::NodeRow;
use super::{Stand, World, must};
use crate::error::KubernetesError;
use crate::pod::demand;
use crate::pod::rule::NodeFacts;

impl World {
    /// A node is there, in this form.
    pub(crate) fn node_seen(&mut self, node: &Node, now: Time) -> Result<(), KubernetesError> {
        let facts = NodeFacts::of(node);
        let status = node.status.as_ref();
        let allocatable = status.and_then(|status| status.allocatable.clone()).unwrap_or_default();
        let capacity = match demand::of_node(&allocatable, &self.kinds) {
            Ok(capacity) => capacity,
            Err(why) => {
                self.remarks.push(format!("node {}: {why}", facts.name));
                Resources::zero(self.kinds.len())
            }
        };
        match self.nodes.get(&facts.name) {
            Some(_) if capacity.is_zero() => self.node_gone(&facts.name, now),
            None if capacity.is_zero() => Ok(()),
            Some(_) => self.node_changes(facts, capacity, now),
            None => self.node_joins(facts, capacity, now),
        }
    }

    fn node_joins(
        &mut self,
        facts: NodeFacts,
        told: Resources,
        now: Time,
    ) -> Result<(), KubernetesError> {
        self.told = true;
        let capacity = self.with_devices(&facts.name, told);
        let name = facts.name.clone();
        let labels = self.labels(&facts, &[]);
        self.neighbours.nodes_changed();
        let weight = self.price_of(&facts);
        let spec = NodeSpec { labels, weight, ..NodeSpec::new(name.clone(), capacity) };
        let id = match self.driver.node_joined(now, spec) {
            Ok(id) => id,
            Err(why) => {
                self.remarks.push(format!("node {name} is left out: {why}"));
                return Ok(());
            }
        };
        let strangers = Resources::zero(self.kinds.len());
        self.nodes.insert(name.clone(), NodeRow { id, facts, near: Vec::new(), told, strangers });
        for uid in self.homeless.remove(&name).unwrap_or_default() {
            let row = self.pods.get_mut(&uid);
            let seen = row.and_then(|row| match &row.stand {
                Stand::Homeless(seen) => Some(seen.clone()),
                _ => None,
            });
            if let Some(seen) = seen {
                self.pod_seen(*seen, now)?;
            }
        }
        Ok(())
    }

    fn node_changes(
        &mut self,
        facts: NodeFacts,
        told: Resources,
        now: Time,
    ) -> Result<(), KubernetesError> {
        let capacity = self.with_devices(&facts.name, told);
        let weight = self.price_of(&facts);
        let Some(row) = self.nodes.get(&facts.name) else { return Ok(()) };
        let labels = self.labels(&facts, &row.near);
        let Some(row) = self.nodes.get_mut(&facts.name) else { return Ok(()) };
        let id = row.id;
        if row.facts != facts {
            self.neighbours.nodes_changed();
        }
        (row.facts, row.told) = (facts, told);
        let spec = self.driver.engine().node(id).0.clone();
        self.node_has(&spec.name, id, capacity, now);
        if spec.labels != labels {
            self.told = true;
            must(self.driver.node_relabelled(now, id, labels))?;
        }
        match spec.weight == weight {
            true => Ok(()),
            false => self.reprice(&spec.name, weight, now),
        }
    }

    /// The engine hears what a node has, where that has changed.
    pub(super) fn node_has(&mut self, name: &str, id: NodeId, capacity: Resources, now: Time) {
        if self.driver.engine().node(id).0.capacity == capacity {
            return;
        }
        self.told = true;
        self.gaps.crowds(name);
        if let Err(why) = self.driver.node_resized(now, id, capacity) {
            self.remarks.push(format!("node {name} keeps its size: {why}"));
        }
    }

    /// What an hour on a node counts; who runs Meed hears once of a class that has no price.
    fn price_of(&mut self, facts: &NodeFacts) -> u32 {
        if let Some(class) = self.prices.unpriced(&facts.labels)
            && !self.unpriced.contains(class)
        {
            let name = &facts.name;
            self.unpriced.insert(class.to_owned());
            self.remarks
                .push(format!("node {name}: its class `{class}` has no price: it counts 1"));
        }
        self.prices.weight(&facts.labels)
    }

    /// A node is deleted.
    pub(crate) fn node_gone(&mut self, name: &str, now: Time) -> Result<(), KubernetesError> {
        let Some(row) = self.nodes.remove(name) else { return Ok(()) };
        self.told = true;
        self.dirty.remove(name);
        self.neighbours.nodes_changed();
        for task in must(self.driver.node_left(now, row.id))? {
            let Some(job) = self.driver.job(task.job) else { continue };
            let detail = job.detail.clone();
            let Some(uid) = detail.pod_of(task.task).map(|pod| pod.uid.clone()) else { continue };
            match detail.is_gang() {
                true => _ = must(self.driver.task_withdrawn(now, task.job, task.task, None))?,
                false => _ = must(self.driver.job_cancelled(now, task.job))?,
            }
            self.forget_task(task.job, task.task);
            self.drop_rule(&uid);
            self.homeless.entry(name.to_owned()).or_default().insert(uid.clone());
            if let Some(row) = self.pods.get_mut(&uid) {
                row.stand = Stand::Over;
                row.charged_until = Some(now);
            }
            self.neighbours.take(&uid, &self.namespaces);
        }
        let here = |stand: &Stand| matches!(stand, Stand::Stranger { node, .. } if node == name);
        for (uid, row) in self.pods.iter_mut().filter(|(_, row)| here(&row.stand)) {
            row.stand = Stand::Over;
            self.neighbours.take(uid, &self.namespaces);
        }
        Ok(())
    }

    /// The labels that the engine knows of a node: one for each rule that allows it, and those for
    /// the pods that are there.
    pub(super) fn labels(&self, facts: &NodeFacts, near: &[String]) -> Labels {
        let allows = self.rules.iter().filter(|(_, row)| row.rule.allows(facts));
        let allows = allows.map(|(text, _)| text.clone());
        allows.chain(near.iter().cloned()).map(|text| (text, String::new())).collect()
    }

    /// A rule is new, or gone: the nodes that it allows have another label.
    pub(super) fn relabel_all(&mut self, now: Time) -> Result<(), KubernetesError> {
        let names: Vec<String> = self.nodes.keys().cloned().collect();
        names.iter().try_for_each(|name| self.relabel(name, now))
    }

    /// The engine hears of a node's labels, where they have changed.
    pub(super) fn relabel(&mut self, name: &str, now: Time) -> Result<(), KubernetesError> {
        let Some(row) = self.nodes.get(name) else { return Ok(()) };
        let (id, labels) = (row.id, self.labels(&row.facts, &row.near));
        if self.driver.engine().node(id).0.labels != labels {
            (self.told, self.looked) = (true, false);
            must(self.driver.node_relabelled(now, id, labels))?;
        }
        Ok(())
    }

    /// A stranger comes to a node.
    pub(super) fn stranger_comes(&mut self, node: &str, amounts: &Resources) {
        if let Some(row) = self.nodes.get_mut(node) {
            for (sum, more) in row.strangers.as_mut_slice().iter_mut().zip(amounts.as_slice()) {
                *sum = sum.saturating_add(*more);
            }
            self.gaps.crowds(node);
            self.dirty.insert(node.to_owned());
        }
    }

    /// A stranger leaves it.
    pub(super) fn stranger_goes(&mut self, node: &str, amounts: &Resources) {
        if let Some(row) = self.nodes.get_mut(node) {
            for (sum, less) in row.strangers.as_mut_slice().iter_mut().zip(amounts.as_slice()) {
                *sum = sum.saturating_sub(*less);
            }
            self.dirty.insert(node.to_owned());
        }
    }

    /// The engine hears of strangers, and of what is kept free as if there were more of them: once
    /// for each node, however many came and went.
    pub(super) fn settle_strangers(&mut self, now: Time) -> Result<(), KubernetesError> {
        for name in std::mem::take(&mut self.dirty) {
            let Some(row) = self.nodes.get(&name) else { continue };
            let (id, mut used) = (row.id, row.strangers);
            let none = Resources::zero(self.kinds.len());
            let kept = self.gaps.kept_on(&name).unwrap_or(&none);
            for (amount, kept) in used.as_mut_slice().iter_mut().zip(kept.as_slice()) {
                *amount = amount.saturating_add(*kept).min(meed::MAX_AMOUNT);
            }
            self.told = true;
            must(self.driver.node_used_by_others(now, id, used))?;
        }
        Ok(())
    }
}
