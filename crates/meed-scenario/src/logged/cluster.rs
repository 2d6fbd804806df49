//! Nodes and queues of a run of a log: what is there at its start, and what changes later.
//!
//! Of a simulated run all is as it was. Of a live one:
//!
//! | told | here |
//! |---|---|
//! | a node that joins, leaves, is resized before the first job comes | it is so from the start |
//! | the same later | a change of the scenario |
//! | what strangers use of a node | taken off what it has while it is there: as at the start |
//! | a node of which they use all | it joins when it is larger |
//! | labels | all that a node ever had ([`LabelHistory`]) |
//! | a node that leaves and joins at one instant | it stays; resized, where its size differs |
//! | a queue that came later | it is there from the start |
//! | a queue's weight, minimum, maximum | a change of the scenario |
//! | cordons, ranks of queues, queues that went, policies that changed, jobs cancelled | left out |
//!
//! What is left out is counted, and said.

use std::collections::BTreeMap;

use meed::{NodeSpec, QueueChange, ResourceKinds, Resources, Time};
use meed_journal::{Fact, Keys, QueueEntry};

use super::labels::LabelHistory;
use super::run::{Logged, shifted};
use crate::changes::{Change, TimedChange};
use crate::log::forms::change_of;
use crate::log::read::LogError;

/// See the module.
pub(crate) struct LoggedCluster {
    pub(crate) nodes: Vec<NodeSpec>,
    /// Parents before their children.
    pub(crate) queues: Vec<QueueEntry>,
    pub(crate) changes: Vec<TimedChange>,
    /// Whether tasks that no node could hold waited for one that can, as told last.
    pub(crate) waits_for_nodes: bool,
    /// What is left out, and what is otherwise than it was.
    pub(crate) remarks: Vec<String>,
}

/// What is counted.
#[derive(Default)]
struct LeftOut {
    strangers: u64,
    cordons: u64,
    repriced: u64,
    later: u64,
    removed: u64,
    policies: u64,
    ranks: u64,
    empty: u64,
}

struct Reading<'l> {
    kinds: &'l ResourceKinds,
    root: &'l Keys,
    begin: Time,
    nodes: Vec<NodeSpec>,
    /// What strangers use of nodes at the start.
    strangers: BTreeMap<String, Resources>,
    queues: Vec<QueueEntry>,
    changes: Vec<TimedChange>,
    labels: LabelHistory,
    left_out: LeftOut,
    /// No job has come yet.
    is_start: bool,
    waits_for_nodes: bool,
}

impl LoggedCluster {
    /// Reads it, in the resources of the log.
    pub(crate) fn read(logged: &Logged, kinds: &ResourceKinds) -> Result<LoggedCluster, LogError> {
        let (log, run) = (&logged.log, &logged.run);
        let wrong = |what| logged.wrong_header(what);
        let nodes = run.header.nodes.iter().map(|node| node.read(kinds).map_err(wrong));
        let mut reading = Reading {
            kinds,
            root: &run.header.root,
            begin: run.begin,
            nodes: nodes.collect::<Result<_, _>>()?,
            strangers: logged.strangers(),
            queues: run.header.queues.clone(),
            changes: Vec::new(),
            labels: LabelHistory::of(&run.header),
            left_out: LeftOut::default(),
            waits_for_nodes: logged.waited_for_nodes()?,
            is_start: logged.head.as_ref().is_none_or(|head| head.engine().live_jobs() == 0),
        };
        let mut reader = log.read(run)?;
        while let Some((line, record)) = reader.next_any()? {
            let told = match logged.is_live() {
                true => reading.live(record.t, &record.fact),
                false => reading.simulated(record.t, &record.fact),
            };
            told.map_err(|what| reader.wrong(line, what))?;
        }
        Ok(reading.settled(logged.is_live()))
    }
}

impl Reading<'_> {
    fn simulated(&mut self, at: Time, fact: &Fact) -> Result<(), String> {
        let change = change_of(fact, self.kinds)?;
        self.changes_later(at, change);
        Ok(())
    }

    /// A scenario knows no ranks: a change that tells nothing else is left out.
    fn changes_later(&mut self, at: Time, change: Option<Change>) {
        if let Some(Change::Queue(_, told)) = &change {
            self.left_out.ranks += u64::from(told.rank.is_some());
        }
        let change = change.filter(says_something);
        self.changes.extend(change.map(|change| TimedChange { at, change }));
    }

    fn live(&mut self, t: Time, fact: &Fact) -> Result<(), String> {
        self.labels.hears(fact);
        let at = shifted(self.begin, t);
        let is_start = self.is_start || at == Time::ZERO;
        match fact {
            Fact::JobArrived(_) | Fact::JobRefused(_) => self.is_start = false,
            Fact::Infeasible(told) => self.waits_for_nodes = told.waits,
            Fact::NodeJoined(_) | Fact::NodeLeft(_) | Fact::NodeResized(_) => {
                let Some(change) = change_of(fact, self.kinds)? else { return Ok(()) };
                match is_start {
                    true => self.at_start(change),
                    false => self.changes.push(TimedChange { at, change }),
                }
            }
            Fact::NodeUsedByOthers(told) => {
                let used = told.used.read(self.kinds).map_err(|why| format!("used: {why}"))?;
                match is_start {
                    true => drop(self.strangers.insert(told.name.to_string(), used)),
                    false => self.left_out.strangers += 1,
                }
            }
            Fact::NodeCordoned(_) | Fact::NodeUncordoned(_) => self.left_out.cordons += 1,
            Fact::QueueAdded(entry) => self.queue_comes(at, is_start, entry)?,
            Fact::QueueChanged(told) => {
                let change = Change::Queue(told.name.to_string(), told.read(self.kinds)?);
                self.changes_later(at, Some(change));
            }
            Fact::QueueRemoved(_) => self.left_out.removed += 1,
            Fact::PoliciesChanged(_) => self.left_out.policies += 1,
            _ => {}
        }
        Ok(())
    }

    fn at_start(&mut self, change: Change) {
        match change {
            Change::NodeJoins(node) => {
                self.strangers.remove(&node.name);
                self.nodes.push(node);
            }
            Change::NodeLeaves(name) => {
                self.strangers.remove(&name);
                self.nodes.retain(|node| node.name != name);
            }
            Change::NodeResized(name, capacity) => {
                let found = self.nodes.iter_mut().find(|node| node.name == name);
                found.into_iter().for_each(|node| node.capacity = capacity);
            }
            _ => {}
        }
    }

    fn queue_comes(&mut self, at: Time, is_start: bool, entry: &QueueEntry) -> Result<(), String> {
        let Some(known) = self.queues.iter().find(|known| known.queue == entry.queue) else {
            self.left_out.later += u64::from(!is_start);
            self.queues.push(entry.clone());
            return Ok(());
        };
        let policy = |entry: &QueueEntry| entry.policy.as_ref().unwrap_or(self.root).clone();
        self.left_out.policies += u64::from(policy(known) != policy(entry));
        let is_same = |known: &QueueEntry| {
            known.weight == entry.weight && known.min == entry.min && known.max == entry.max
        };
        if is_same(known) {
            return Ok(());
        }
        let min = entry.min.as_ref().map(|min| min.read(self.kinds)).transpose()?;
        let max = entry.max.as_ref().map(|max| max.read_maximum(self.kinds)).transpose()?;
        let change =
            QueueChange { weight: Some(entry.weight), min: Some(min), max: Some(max), rank: None };
        let change = Change::Queue(entry.queue.to_string(), change);
        self.changes.push(TimedChange { at, change });
        Ok(())
    }

    fn settled(mut self, is_live: bool) -> LoggedCluster {
        let mut changes = std::mem::take(&mut self.changes);
        if is_live {
            let label = |node: &mut NodeSpec| node.labels = self.labels.of_node(&node.name);
            self.nodes.iter_mut().for_each(label);
            for change in &mut changes {
                if let Change::NodeJoins(node) = &mut change.change {
                    label(node);
                }
            }
            let strangers = std::mem::take(&mut self.strangers);
            let mut there = There { strangers, ..There::default() };
            there.begins(std::mem::take(&mut self.nodes));
            changes.into_iter().for_each(|change| there.changes(change));
            (self.left_out.repriced, self.left_out.empty) = (there.repriced, there.without);
            (self.nodes, changes) = (there.at_start, there.kept);
            self.queues.iter_mut().for_each(|entry| tell_own(entry, self.root));
        }
        let remarks = self.remarks();
        let Reading { nodes, queues, waits_for_nodes, .. } = self;
        LoggedCluster { nodes, queues, changes, waits_for_nodes, remarks }
    }

    fn remarks(&self) -> Vec<String> {
        let LeftOut { strangers, cordons, repriced, later, removed, policies, ranks, empty } =
            self.left_out;
        let table = [
            (self.labels.changes, "changes of labels of nodes: each has all that it ever had"),
            (
                strangers,
                "changes of what strangers use of nodes are left out: taken off is what they used \
                 at the start",
            ),
            (cordons, "cordons of nodes are left out"),
            (repriced, "nodes that were made anew, as with another price, stay as they were"),
            (later, "queues that came later are there from the start"),
            (removed, "removals of queues are left out"),
            (policies, "changes of policies are left out"),
            (ranks, "ranks of queues, told from outside, are left out"),
            (
                empty,
                "times a node had nothing but what strangers used, or nothing at all: it is left \
                 out then",
            ),
        ];
        let said = table.into_iter().filter(|(count, _)| *count > 0);
        said.map(|(count, words)| format!("log: {count} {words}")).collect()
    }
}

/// The nodes of a live run, while its changes are gone through in order.
#[derive(Default)]
struct There {
    /// What strangers use of nodes.
    strangers: BTreeMap<String, Resources>,
    at_start: Vec<NodeSpec>,
    kept: Vec<TimedChange>,
    /// Nodes that are there, without what strangers use.
    there: BTreeMap<String, NodeSpec>,
    /// Nodes of which nothing is left.
    empty: BTreeMap<String, NodeSpec>,
    /// The last instant at which nodes left, and they as they were.
    left: (Time, BTreeMap<String, NodeSpec>),
    repriced: u64,
    without: u64,
}

impl There {
    fn begins(&mut self, nodes: Vec<NodeSpec>) {
        for mut node in nodes {
            node.capacity = self.without_strangers(&node.name, node.capacity);
            if self.comes(node.clone()) {
                self.at_start.push(node);
            }
        }
    }

    fn without_strangers(&self, name: &str, mut capacity: Resources) -> Resources {
        if let Some(used) = self.strangers.get(name) {
            let has = capacity.as_mut_slice().iter_mut();
            has.zip(used.as_slice()).for_each(|(has, used)| *has = has.saturating_sub(*used));
        }
        capacity
    }

    /// Whether a node that comes is there: one without anything is none.
    fn comes(&mut self, node: NodeSpec) -> bool {
        let is_there = !node.capacity.is_zero();
        self.without += u64::from(!is_there);
        let nodes = if is_there { &mut self.there } else { &mut self.empty };
        nodes.insert(node.name.clone(), node);
        is_there
    }

    fn changes(&mut self, TimedChange { at, change }: TimedChange) {
        match change {
            Change::NodeJoins(node) => self.joins(at, node),
            Change::NodeLeaves(name) => self.leaves(at, name),
            Change::NodeResized(name, capacity) => self.is_resized(at, name, capacity),
            change => self.kept.push(TimedChange { at, change }),
        }
    }

    fn leaves(&mut self, at: Time, name: String) {
        if self.left.0 != at {
            self.left = (at, BTreeMap::new());
        }
        if let Some(node) = self.empty.remove(&name) {
            self.left.1.insert(name, node);
            return;
        }
        if let Some(node) = self.there.remove(&name) {
            self.left.1.insert(name.clone(), node);
        }
        self.kept.push(TimedChange { at, change: Change::NodeLeaves(name) });
    }

    /// A node that leaves and joins at one instant counts otherwise and stays: so do the tasks on
    /// it. It may have got another size as well.
    fn joins(&mut self, at: Time, mut node: NodeSpec) {
        let before = self.left.1.remove(&node.name).filter(|_| self.left.0 == at);
        let Some(before) = before else {
            // What strangers used was on one that has gone.
            self.strangers.remove(&node.name);
            if self.comes(node.clone()) {
                self.kept.push(TimedChange { at, change: Change::NodeJoins(node) });
            }
            return;
        };
        node.capacity = self.without_strangers(&node.name, node.capacity);
        let (name, capacity) = (node.name.clone(), node.capacity);
        let is_there = self.comes(node.clone());
        let has_left = |of: &Change| matches!(of, Change::NodeLeaves(left) if *left == name);
        let mut now = self.kept.iter().enumerate().rev().take_while(|(_, kept)| kept.at == at);
        let place = now.find(|(_, kept)| has_left(&kept.change)).map(|(place, _)| place);
        match place {
            Some(place) if is_there && before.capacity == capacity => {
                self.kept.remove(place);
                self.repriced += 1;
            }
            Some(place) if is_there => {
                self.kept[place].change = Change::NodeResized(name, capacity);
            }
            None if is_there => {
                self.kept.push(TimedChange { at, change: Change::NodeJoins(node) });
            }
            _ => {}
        }
    }

    fn is_resized(&mut self, at: Time, name: String, capacity: Resources) {
        let capacity = self.without_strangers(&name, capacity);
        let was_empty = self.empty.remove(&name);
        let was_there = was_empty.is_none();
        let Some(before) = was_empty.or_else(|| self.there.remove(&name)) else {
            self.kept.push(TimedChange { at, change: Change::NodeResized(name, capacity) });
            return;
        };
        let node = NodeSpec { capacity, ..before };
        let change = match (was_there, self.comes(node.clone())) {
            (true, true) => Change::NodeResized(name, capacity),
            (true, false) => Change::NodeLeaves(name),
            (false, true) => Change::NodeJoins(node),
            (false, false) => return,
        };
        self.kept.push(TimedChange { at, change });
    }
}

/// Whether a scenario can say something of it: it knows no ranks.
fn says_something(change: &Change) -> bool {
    match change {
        Change::Queue(_, change) => {
            change.weight.is_some() || change.min.is_some() || change.max.is_some()
        }
        _ => true,
    }
}

/// Keys that mean something of the root alone begin so.
const OF_ROOT: [&str; 6] =
    ["t_wait", "when_blocked", "reserv", "charge_reserv", "estimates", "reclaim"];

/// Keys that a queue of a live world has of its own, where it tells its policy in full only: those
/// that are not the root's.
fn tell_own(entry: &mut QueueEntry, root: &Keys) {
    let Some(policy) = entry.policy.as_ref().filter(|_| entry.own.is_empty()) else { return };
    let is_own = |(key, value): &(&String, &serde_json::Value)| {
        root.get(*key) != Some(*value) && !OF_ROOT.iter().any(|begin| key.starts_with(begin))
    };
    let own = policy.iter().filter(is_own);
    entry.own = own.map(|(key, value)| (key.clone(), value.clone())).collect();
}
