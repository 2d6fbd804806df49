//! The world: what the API server tells becomes the engine's events, and decisions become orders.
//!
//! It is pure: no clock, no network. Whoever runs it tells what was heard at an instant, asks
//! [`World::decide`], and carries out the [`Order`]s; answers come back as events
//! ([`answers`]). All that it keeps of its own is what the engine does not know: how far the
//! write of each pod is, what strangers use, and the texts of rules.
//!
//! A pod is a job of one task, a gang one with a task for each pod; its key is the first pod's uid,
//! so a pod that is made anew under its name is another job. States of a pod ([`Stand`]):
//!
//! > Waits -> Sent -> (Lifted -> (Unplaced ->)) Bound -> gone
//!
//! *Sent* is what kube-scheduler calls assumed: the engine holds room and charges from the decision
//! on; the API has not confirmed it. Only the API ends it: the watch, or a read after a refusal. No
//! time limit.
//!
//! Invariant: a pod holds room in the engine exactly while it is Sent, Lifted or Bound, or stands
//! among the strangers of its node.

mod answer;
mod answers;
mod claims;
mod devices;
mod gangs;
mod gaps;
mod late;
mod listed;
mod marked;
mod marks;
mod members;
mod near;
mod neighbours;
mod node_row;
mod nodes;
mod pods;
mod promised;
mod queue_row;
mod queues;
mod reclaim;
mod recover;
mod reprice;
mod rings;
mod samples;
mod shown;
mod slices;
mod stamps;
mod status;
mod stop;
#[cfg(test)]
mod tests;
mod unplaced;
mod volumes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::NodeSelectorTerm;
use meed::{AllocationId, Config, JobId, QueueId, ResourceKinds, Span, Start, Time};
use meed_config::policy::PolicySpec;
use meed_driver::{Driver, Failed, Journal as _, finish_of};
use meed_pods::Resizes;
use serde::{Deserialize, Serialize};

use crate::clock::LedgerClock;
use crate::crd::PlacedBy;
use crate::error::KubernetesError;
use crate::pod::demand::Counts;
use crate::pod::gang::GangLabel;
use crate::pod::near::Near;
use crate::pod::rule::Rule;
use crate::pod::{PodName, PodSeen};
use crate::prices::Prices;
use crate::record::{self, DecisionLog};
pub(crate) use answer::{Answer, Found};
use claims::Volumes;
pub(crate) use claims::claim_key;
use gaps::Gaps;
use late::LetGo;
pub(crate) use listed::Listed;
use marked::Marks;
pub(crate) use marked::{Mark, UNSCHEDULABLE};
use members::Gangs;
use neighbours::Neighbours;
use node_row::NodeRow;
use queue_row::QueueRow;
use rings::Samples;
use slices::Devices;

/// What is kept of a pod in the driver, and so in checkpoints.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PodJob {
    pub(crate) pod: PodName,
    /// The other pods of its gang, by the numbers of their tasks, from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) more: Vec<PodName>,
    /// The name of its queue's object.
    pub(crate) queue: String,
    /// Who places it.
    pub(crate) binds: bool,
    /// It is let go, and held to the node that was chosen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pins: bool,
    /// What it asks for.
    #[serde(flatten)]
    pub(crate) asks: Asks,
    /// What the others of its gang ask for that are unlike it: from which task on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unlike: Vec<(u32, Asks)>,
    /// Until when its tasks are charged by another price of their node than now, in microseconds
    /// of the ledger.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) priced: BTreeMap<u32, u64>,
}

/// What a pod asks for, and of nodes: those of one group of a job ask for the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Asks {
    /// In the order of the cluster's kinds.
    pub(crate) amounts: Vec<u64>,
    /// The text of its rule.
    pub(crate) rule: String,
    /// What its place asks of other pods, where it waits for Meed to place it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wish: Option<String>,
    /// Terms of other pods that keep it away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) avoids: Vec<String>,
}

/// What is to be written to the API.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Order {
    /// A pod starts.
    Start(StartOrder),
    /// Somebody is told something of a pod.
    Say(Saying),
    /// Whoever adds nodes is told of a pod.
    Mark(Mark),
    /// A pod stops for another.
    Evict(EvictOrder),
    /// It is to be looked what became of a pod.
    Look(PodName),
}

/// A pod starts on a node.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct StartOrder {
    pub(crate) pod: PodName,
    pub(crate) queue: String,
    pub(crate) node: String,
    /// Bound by Meed, or let go for kube-scheduler.
    pub(crate) binds: bool,
    /// Where it is let go and held to the node: the terms of its node affinity.
    pub(crate) pin: Option<Vec<NodeSelectorTerm>>,
    /// Somebody applies it: the record of who owns which field stays.
    pub(crate) applied: bool,
    /// Since when it is charged: microseconds since 1970.
    pub(crate) started: i64,
}

/// A pod is to stop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct EvictOrder {
    pub(crate) pod: PodName,
}

/// An event on a pod.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Saying {
    pub(crate) pod: PodName,
    /// In a word.
    pub(crate) reason: &'static str,
    /// In a sentence.
    pub(crate) note: String,
}

/// How far a pod is.
#[derive(Clone, PartialEq, Debug)]
enum Stand {
    /// Nothing of ours, and on no node.
    Outside,
    /// On a node, and nobody's of ours: what it uses is counted as strangers'.
    Stranger { node: String, amounts: meed::Resources },
    /// Bound to a node that is not known, or no more: looked at again when it joins.
    Homeless(Box<PodSeen>),
    /// It wants a queue and is not taken: looked at again when queues or namespaces change.
    Refused(Box<PodSeen>),
    /// In its queue.
    Waits(JobId),
    /// It starts: assumed, unconfirmed.
    Sent(Placed),
    /// Our gate is gone, and it is not bound yet.
    Lifted(Placed),
    /// On its node.
    Bound(Placed),
    /// It was let go, and nobody has placed it in time: it holds no room.
    Unplaced { queue: String },
    /// The engine has done with it; the object is still there.
    Over,
}

/// A pod that holds room in the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Placed {
    job: JobId,
    task: AllocationId,
}

/// What is kept of a pod.
#[derive(Clone, Debug)]
struct PodRow {
    name: PodName,
    /// The text of its rule, where its job has one.
    rule: Option<String>,
    /// Likewise its wish, and what it avoids.
    wish: Option<String>,
    avoids: Vec<String>,
    /// What it says of other pods; nothing yet where it stands in the checkpoint only.
    near: Arc<Near>,
    /// The gang that it is of.
    gang: Option<GangLabel>,
    /// Somebody applies it.
    applied: bool,
    /// Its priority; of a pod that stands in the checkpoint only none yet.
    priority: i32,
    /// The claims that it uses, while it is to be placed.
    claims: Vec<String>,
    /// It had a job before: the next one needs another key.
    came: bool,
    /// Its place among all pods in the order in which they began to wait, from 1; 0: none yet. A
    /// pod that must ask anew keeps it: numbers of jobs are used again, and tell nothing.
    place: u64,
    /// The instant of the last such key, and how many more it has had there.
    keyed: Option<(Time, u32)>,
    stand: Stand,
    /// It was charged until then, and is not charged twice.
    charged_until: Option<Time>,
    /// The last that was said of it.
    said: Option<&'static str>,
}

struct RuleRow {
    rule: Rule,
    /// Pods whose jobs have it.
    pods: usize,
}

/// What who installs Meed has chosen.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    /// The policy of the whole cluster.
    pub(crate) root: PolicySpec,
    /// What an hour on a node counts.
    pub(crate) prices: Prices,
    /// How long room is kept for a pod that was let go and is not bound.
    pub(crate) patience: Span,
    /// How kube-scheduler counts a resize.
    pub(crate) resizes: Resizes,
}

#[cfg(test)]
impl From<PolicySpec> for Choices {
    fn from(root: PolicySpec) -> Choices {
        let patience = Span::from_secs(60).unwrap_or(Span::MAX);
        Choices { root, prices: Prices::default(), patience, resizes: Resizes::default() }
    }
}

/// See the module.
pub(crate) struct World {
    driver: Driver<PodJob, DecisionLog>,
    kinds: ResourceKinds,
    resizes: Resizes,
    /// The policy of the whole cluster.
    root: PolicySpec,
    prices: Prices,
    /// How long room is kept for a pod that was let go and is not bound.
    patience: Span,
    /// Classes of nodes without a price, of which it was said.
    unpriced: BTreeSet<String>,
    clock: LedgerClock,
    /// Nothing is charged from before: the last checkpoint, or the ledger's beginning.
    opened: Time,
    nodes: BTreeMap<String, NodeRow>,
    rules: BTreeMap<String, RuleRow>,
    pods: BTreeMap<String, PodRow>,
    /// Pods by the node that they wait for.
    homeless: BTreeMap<String, BTreeSet<String>>,
    refused: BTreeSet<String>,
    gangs: Gangs,
    volumes: Volumes,
    devices: Devices,
    let_go: LetGo,
    gaps: Gaps,
    queues: BTreeMap<String, QueueRow>,
    /// Below a queue, those that are for priorities, by the least.
    by_priority: BTreeMap<String, BTreeMap<i32, String>>,
    namespaces: BTreeMap<String, BTreeMap<String, String>>,
    /// Who is where, as far as other pods care.
    neighbours: Neighbours,
    /// Starts were taken back, for pods that started before them keep them away: it is to be
    /// decided again.
    unsettled: bool,
    /// Decisions in a row of which all starts were taken back.
    fruitless: u32,
    /// Who waits for room, as far as it was written.
    marks: Marks,
    /// Pods that others keep away have been told.
    looked: bool,
    /// The last instant of a decision.
    decided: Time,
    /// Decisions of this process.
    decisions: u64,
    /// The instant of what is heard until the next decision.
    turn: Option<Time>,
    /// Nodes whose strangers have changed.
    dirty: BTreeSet<String>,
    /// Queues or namespaces have changed.
    changed: bool,
    orders: Vec<Order>,
    /// Lines for the operator.
    remarks: Vec<String>,
    /// Places that were given to pods that wait.
    places: u64,
    /// Something was told since the last checkpoint.
    told: bool,
    /// The engine was to look before it was asked for its books.
    overdue: bool,
    /// Who held what, for the dashboard.
    samples: Samples,
}

impl World {
    /// Now, by the clock; within a turn always the same.
    pub(crate) fn now(&self) -> Time {
        let clock = || self.clock.now().max(near::after(self.decided));
        self.turn.unwrap_or_else(clock).max(self.driver.engine().now())
    }

    /// The same, and until the next decision: what is heard between two decisions happens at one
    /// instant, so that who reads the log knows when it was decided.
    pub(crate) fn turn(&mut self) -> Time {
        let now = self.now();
        *self.turn.insert(now)
    }

    /// By what it counts pods.
    pub(crate) fn counts(&self) -> Counts<'_> {
        Counts { kinds: &self.kinds, resizes: self.resizes }
    }

    /// What the cluster counts.
    #[cfg(test)]
    pub(crate) fn kinds(&self) -> &ResourceKinds {
        &self.kinds
    }

    /// Nodes that are known.
    pub(crate) fn node_names(&self) -> impl Iterator<Item = &String> {
        self.nodes.keys()
    }

    /// Pods that are known.
    pub(crate) fn pod_uids(&self) -> impl Iterator<Item = &String> {
        self.pods.keys()
    }

    /// Queues that are known.
    pub(crate) fn queue_names(&self) -> impl Iterator<Item = &String> {
        self.queues.keys()
    }

    /// Namespaces that are known.
    pub(crate) fn namespace_names(&self) -> impl Iterator<Item = &String> {
        self.namespaces.keys()
    }

    /// What changed since the last time is settled.
    fn settle(&mut self, now: Time) -> Result<(), KubernetesError> {
        self.settle_volumes(now)?;
        if std::mem::take(&mut self.changed) {
            self.settle_queues(now)?;
            self.look_again(now)?;
            self.namespaces_changed(now)?;
        }
        self.give_up_unplaced(now)?;
        self.settle_promised(now)?;
        self.settle_strangers(now)?;
        self.settle_gangs(now)?;
        self.settle_near(now)
    }

    /// Who starts now: what changed since the last time is settled first.
    pub(crate) fn decide(&mut self, now: Time) -> Result<Vec<Order>, KubernetesError> {
        let is_due = std::mem::take(&mut self.overdue) || self.is_due(now);
        self.settle(now)?;
        let mut starts = Vec::new();
        let mut on = |start| starts.push(start);
        // What is in the log has its decision, whether the engine would have looked or not.
        must(match self.driver.journal_mut().take_told() {
            true => self.driver.decide_at(self.driver.engine().now(), &mut on),
            false if is_due => self.driver.decide_at(now, &mut on),
            false => self.driver.decide(&mut on),
        })?;
        self.driver.journal_mut().take_told();
        (self.decided, self.turn) = (self.driver.engine().now(), None);
        let started = self.clock.unix(self.decided);
        self.decisions += 1;
        self.unsettled = false;
        let ordered = self.order_starts(starts, started)?;
        self.order_stops();
        self.ensure_fruit(ordered);
        self.say_who_is_kept_away();
        if self.unsettled {
            // What was taken back is decided again at the instant at which it was.
            self.turn = Some(self.driver.engine().now());
        }
        self.remarks.extend(self.driver.journal_mut().flush());
        Ok(std::mem::take(&mut self.orders))
    }

    /// Starts become orders, but for those that are taken back: of a gang all or none. Whether
    /// there is one.
    fn order_starts(&mut self, starts: Vec<Start>, started: i64) -> Result<bool, KubernetesError> {
        let before = self.orders.len();
        let mut undone = BTreeSet::new();
        for start in starts {
            self.told = true;
            let node = self.driver.engine().node(start.node).0.name.clone();
            let Some(job) = self.driver.job(start.job) else { continue };
            let detail = &job.detail;
            let (queue, binds, is_gang) = (detail.queue.clone(), detail.binds, detail.is_gang());
            let (places, pins) = (detail.is_placed(), detail.pins);
            let Some(pod) = detail.pod_of(start.task).cloned() else { continue };
            if undone.contains(&start.job) {
                self.take_back(start.allocation, "its gang is taken back")?;
                continue;
            }
            if places && self.is_taken_back(&pod.uid, start.allocation, &node)? {
                if is_gang {
                    undone.insert(start.job);
                    self.take_back_gang(start.job, before)?;
                }
                continue;
            }
            let placed = Placed { job: start.job, task: start.allocation };
            self.stands(&pod.uid, Stand::Sent(placed));
            let pin = if pins { Some(self.pin_of(&pod.uid, &node)) } else { None };
            let applied = self.pods.get(&pod.uid).is_some_and(|row| row.applied);
            let order = StartOrder { pod, queue, node, binds, pin, applied, started };
            self.orders.push(Order::Start(order));
            if is_gang {
                self.gang_begins_with(start.job);
            }
        }
        Ok(self.orders.len() > before)
    }

    /// What holds a pod to a node, beside its own affinity.
    fn pin_of(&self, uid: &str, node: &str) -> Vec<NodeSelectorTerm> {
        let text = self.pods.get(uid).and_then(|row| row.rule.as_ref());
        let rule = text.and_then(|text| self.rules.get(text)).map(|row| &row.rule);
        rule.map_or_else(|| Rule::default().pinned_to(node), |rule| rule.pinned_to(node))
    }

    /// From now on what happens is recorded in `log`.
    pub(crate) fn record_to(
        mut self,
        log: DecisionLog,
        policy: &str,
        epoch: i32,
    ) -> Result<World, KubernetesError> {
        if !log.is_on() {
            return Ok(self);
        }
        let now = self.turn();
        self.settle(now)?;
        let engine = self.driver.engine();
        let mut queues: Vec<_> = self.queues.values().filter_map(QueueRow::told).collect();
        queues.sort_by(|a, b| a.name.cmp(&b.name));
        let nodes = engine.node_ids().filter(|&id| engine.is_up(id));
        let config = Config {
            kinds: self.kinds.clone(),
            measured: 0,
            root: engine.policy(QueueId::ROOT).clone(),
            queues,
            nodes: nodes.map(|id| engine.node(id).0.clone()).collect(),
        };
        let placement = self.root.placement();
        let placement = placement.map_err(|why| KubernetesError::Settings(why.to_string()))?;
        let run = (epoch, self.clock.origin());
        let header = record::header(&config, (policy, placement.name), run);
        self.turn = Some(self.driver.engine().now());
        Ok(World { driver: must(record::begin(self.driver, log, header))?, ..self })
    }

    /// The record ends here, in good order; as one that was cut, where something happened of which
    /// nobody decides any more.
    pub(crate) fn end_record(&mut self) -> Result<(), KubernetesError> {
        if self.driver.journal_mut().take_told() {
            self.remarks.extend(self.driver.journal_mut().flush());
            return Ok(());
        }
        let end = self.now();
        let last = finish_of(&self.driver.counted().totals);
        must(self.driver.note(end, || last))?;
        self.remarks.extend(self.driver.journal_mut().flush());
        Ok(())
    }

    /// Whether it is to be decided again, though nothing more was heard.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.unsettled
    }

    /// Lines for the operator since the last time.
    pub(crate) fn remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    /// The state to be kept, where something has happened since the last time.
    pub(crate) fn checkpoint(&mut self, now: Time) -> Result<Option<Vec<u8>>, KubernetesError> {
        if !std::mem::take(&mut self.told) {
            return Ok(None);
        }
        // The queues are looked at to bring the ledgers to this instant.
        self.books(now)?;
        Ok(Some(self.driver.state()))
    }

    /// A checkpoint could not be written: the next one is due.
    pub(crate) fn checkpoint_failed(&mut self) {
        self.told = true;
    }

    /// An event on a pod, where something else was said last.
    fn say(&mut self, uid: &str, reason: &'static str, note: String) {
        let Some(row) = self.pods.get_mut(uid) else { return };
        if row.said.replace(reason) != Some(reason) {
            self.orders.push(Order::Say(Saying { pod: row.name.clone(), reason, note }));
        }
    }

    /// Who places the pods of a queue.
    fn mode(&self, queue: &str) -> PlacedBy {
        self.queues.get(queue).map_or(PlacedBy::Gates, |row| row.spec.mode)
    }
}

/// What the engine must take: a refusal would be a mistake of this world.
fn must<T>(done: Result<T, Failed>) -> Result<T, KubernetesError> {
    done.map_err(|why| KubernetesError::Engine(why.to_string()))
}
