//! Queues, weights and nodes, as they are configured now.
//!
//! A queue that is deleted keeps its ledger: it stays in the engine without work, and when it comes
//! back it is the same one. Policies cannot change under a ledger: that is refused, and the old one
//! stays.

use std::collections::BTreeSet;

use meed::{NodeSpec, QueueChange, QueueSpec, Resources};
use meed_driver::Failed;
use meed_driver::live::Batch;
use meed_journal::{Amounts, Fact, Keys};

use super::{Core, CoreError, Names, Told, UNITS};
use crate::message::{Node, PluginSettings};
use crate::settings::{self, Checked, CheckedSettings};

impl Core {
    /// Refuses policies that differ from those of the ledger.
    pub(super) fn ensure_unchanged(&self, given: &CheckedSettings) -> Result<(), CoreError> {
        let engine = self.live.engine();
        let refuse = |name: &str| {
            Err(CoreError::Refused(format!(
                "the policy of queue `{name}` differs from that of the ledger, which cannot change \
                 while it is kept: set it back, or stop the ResourceManager, move the ledger's \
                 folder away and start again, with an empty ledger"
            )))
        };
        if *engine.policy(meed::QueueId::ROOT) != given.root {
            return refuse("root");
        }
        for queue in &given.queues {
            if let Some(id) = engine.find_queue(&queue.name)
                && *engine.policy(id) != queue.policy
            {
                return refuse(&format!("root.{}", queue.name));
            }
        }
        Ok(())
    }

    /// Queues are added, weights changed.
    pub(super) fn configure(&mut self, given: &PluginSettings, now: u64) -> Result<(), CoreError> {
        let checked = settings::check(given).map_err(CoreError::Refused)?;
        self.ensure_unchanged(&checked)?;
        let engine = self.live.engine();
        let changed = |queue: &&Checked| {
            let known = engine.find_queue(&queue.name);
            known.is_none_or(|id| engine.queue(id).weight != queue.weight)
        };
        let changed: Vec<(&Checked, bool)> = checked
            .queues
            .iter()
            .filter(changed)
            .map(|queue| (queue, engine.find_queue(&queue.name).is_some()))
            .collect();
        if !changed.is_empty() {
            self.at(now, |names, batch| {
                changed.iter().try_for_each(|&(queue, known)| names.set_queue(batch, queue, known))
            })?;
        }
        let engine = self.live.engine();
        // One that was refused has the root's place: its row says nothing.
        let found = |queue: &Checked| engine.find_queue(&queue.name).unwrap_or(meed::QueueId::ROOT);
        self.queues = checked.queues.iter().map(found).collect();
        self.told = Told::default();
        Ok(())
    }
}

impl Names {
    fn set_queue(
        &mut self,
        batch: &mut Batch<'_, ()>,
        queue: &Checked,
        known: bool,
    ) -> Result<(), Failed> {
        let (name, weight) = (queue.name.clone(), queue.weight);
        let fact = match known {
            true => {
                let change = QueueChange { weight: Some(weight), ..QueueChange::default() };
                Fact::queue_changed(name.as_str(), &change, &self.kinds)
            }
            false => {
                let policy = queue.policy.clone();
                let spec = QueueSpec { name, weight, min: None, max: None, policy };
                Fact::queue_added(&spec, Keys::new(), &self.kinds)
            }
        };
        let told = batch.apply(&fact);
        self.note(format_args!("queue `root.{}`", queue.name), told).map(drop)
    }

    /// These are all nodes.
    pub(super) fn set_nodes(
        &mut self,
        batch: &mut Batch<'_, ()>,
        nodes: &[Node],
    ) -> Result<(), Failed> {
        let there: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let gone = self.nodes.keys().filter(|name| !there.contains(name.as_str()));
        for name in gone.cloned().collect::<Vec<_>>() {
            // Its containers have ended by now, or are told when it comes back.
            self.forget_on(batch, &name)?;
            let told = batch.apply(&Fact::node_left(name.as_str()));
            self.note(format_args!("node `{name}`"), told)?;
            self.nodes.remove(&name);
        }
        nodes.iter().try_for_each(|node| self.set_node(batch, node))
    }

    fn set_node(&mut self, batch: &mut Batch<'_, ()>, node: &Node) -> Result<(), Failed> {
        let size = (node.memory, node.cores);
        let before = self.nodes.get(&node.name).copied();
        if before == Some(size) {
            return Ok(());
        }
        let capacity = Resources::new(&[node.memory * UNITS[0], node.cores * UNITS[1]]);
        let name = node.name.as_str();
        let facts = match before {
            // Nothing is lost when a node shrinks: YARN lets its containers run.
            Some(_) => {
                let capacity = Amounts::of(&capacity, &self.kinds);
                vec![Fact::node_resized(name, capacity, true)]
            }
            // YARN places: the engine starts nothing by itself.
            None => vec![
                Fact::node_joined(&NodeSpec::new(name, capacity), &self.kinds),
                Fact::node_cordoned(name, Some("YARN places")),
            ],
        };
        let told = batch.apply_all(&facts);
        if self.note(format_args!("node `{name}`"), told)?.is_some() {
            self.nodes.insert(node.name.clone(), size);
        }
        Ok(())
    }
}
