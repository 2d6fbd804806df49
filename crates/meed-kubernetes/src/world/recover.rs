//! The beginning of a term: the last checkpoint, and what the API server lists, become the present.
//!
//! In order of time, so that all is charged to its second:
//!
//! 1. At the checkpoint's instant: queues are brought to what is wanted; pods of the checkpoint
//!    that are gone without a trace end there.
//! 2. At the instants that their containers tell: pods that have ended since. One that both
//!    started and ended since is charged from its start, which its annotation tells.
//! 3. Now: nodes; then pods that are there, in order of their creation. One that was let start
//!    after the checkpoint is adopted with the start that is written on it. One that was to start,
//!    and of which nothing is written, was never let go: it waits again.
//!
//! What is lost at worst: pods that ended and were deleted between the last checkpoint and now,
//! from the checkpoint on.

use k8s_openapi::api::core::v1::{Node, Pod};
use meed::{Config, Infeasible, QueueSpec, ResourceKinds, Resources, Time};
use meed_config::policy::PolicySpec;
use meed_driver::Driver;

use super::listed::Listed;
use super::node_row::NodeRow;
use super::{Choices, Placed, PodJob, PodRow, RuleRow, Stand, World, must};
use crate::clock::LedgerClock;
use crate::crd::QueueObject;
use crate::error::KubernetesError;
use crate::ledger::Checkpoint;
use crate::pod::rule::NodeFacts;
use crate::pod::{PodEnd, PodSeen};
use crate::record::DecisionLog;

/// A pod of a list.
pub(crate) trait ReadPod {
    /// What is needed of it.
    fn read(self, kinds: &ResourceKinds) -> PodSeen;
}

impl ReadPod for Pod {
    fn read(self, kinds: &ResourceKinds) -> PodSeen {
        PodSeen::of(&self, kinds)
    }
}

impl ReadPod for PodSeen {
    fn read(self, _: &ResourceKinds) -> PodSeen {
        self
    }
}

impl World {
    /// Whether a ledger can begin with one of these queues.
    pub(crate) fn can_begin<'q>(
        kinds: &ResourceKinds,
        root: &PolicySpec,
        queues: impl Iterator<Item = &'q QueueObject>,
    ) -> bool {
        first_queue(queues, root, kinds).is_some()
    }

    /// A ledger begins. `None`: there is no queue yet that could be declared.
    pub(crate) fn begin<P: ReadPod>(
        kinds: ResourceKinds,
        choices: impl Into<Choices>,
        clock: LedgerClock,
        listed: Listed<P>,
    ) -> Result<Option<World>, KubernetesError> {
        let choices = choices.into();
        let root = &choices.root;
        let queues = listed.queues.iter();
        let Some(first) = first_queue(queues, root, &kinds) else { return Ok(None) };
        let wrong = |why: &dyn std::fmt::Display| KubernetesError::Settings(why.to_string());
        let placement = root.placement().map_err(|why| wrong(&why))?;
        let policy = root.policy(&kinds).map_err(|why| wrong(&why))?;
        let config = Config {
            kinds: kinds.clone(),
            measured: 0,
            root: policy,
            queues: vec![first],
            nodes: Vec::new(),
        };
        let place = (placement.new)(kinds.len(), 0);
        let mut driver =
            Driver::new(config, place, DecisionLog::default()).map_err(|why| wrong(&why))?;
        must(driver.set_infeasible(Time::ZERO, Infeasible::Wait))?;
        let mut world = World::around(driver, choices, clock);
        world.take_over(Listed { finished: Vec::new(), ..listed })?;
        Ok(Some(world))
    }

    /// A ledger goes on.
    pub(crate) fn restore<P: ReadPod>(
        checkpoint: &Checkpoint,
        choices: impl Into<Choices>,
        clock: LedgerClock,
        listed: Listed<P>,
    ) -> Result<World, KubernetesError> {
        let damaged = |what: String| KubernetesError::Ledger { name: "meed-ledger".into(), what };
        let choices = choices.into();
        let placement = choices.root.placement().map_err(|why| damaged(why.to_string()))?;
        let place = (placement.new)(checkpoint.about.resources.len(), 0);
        let driver = Driver::from_state(&checkpoint.state, place, DecisionLog::default())
            .map_err(damaged)?;
        let clock = clock.not_before(driver.engine().now());
        let mut world = World::around(driver, choices, clock);
        world.rows_of_jobs();
        world.take_over(listed)?;
        Ok(world)
    }

    fn around(driver: Driver<PodJob, DecisionLog>, choices: Choices, clock: LedgerClock) -> World {
        let engine = driver.engine();
        World {
            kinds: engine.kinds().clone(),
            opened: engine.now(),
            root: choices.root,
            prices: choices.prices,
            patience: choices.patience,
            resizes: choices.resizes,
            unpriced: Default::default(),
            clock,
            nodes: Default::default(),
            rules: Default::default(),
            pods: Default::default(),
            homeless: Default::default(),
            refused: Default::default(),
            gangs: Default::default(),
            devices: Default::default(),
            volumes: Default::default(),
            let_go: Default::default(),
            gaps: Default::default(),
            queues: Default::default(),
            by_priority: Default::default(),
            namespaces: Default::default(),
            neighbours: Default::default(),
            unsettled: false,
            fruitless: 0,
            looked: false,
            marks: Default::default(),
            decided: engine.now(),
            decisions: 0,
            turn: None,
            dirty: Default::default(),
            changed: true,
            orders: Vec::new(),
            remarks: Vec::new(),
            places: 0,
            told: true,
            overdue: false,
            samples: Default::default(),
            driver,
        }
    }

    /// Pods and nodes of the checkpoint get their rows.
    fn rows_of_jobs(&mut self) {
        let engine = self.driver.engine();
        // In the order in which they arrived, as far as a checkpoint tells.
        let mut jobs: Vec<_> = engine.job_ids().collect();
        jobs.sort_by_key(|id| (self.driver.job(*id).map(|job| job.submit()), *id));
        for id in jobs {
            let Some(job) = self.driver.job(id) else { continue };
            let detail = job.detail.clone();
            for (pod, asks) in detail.asking() {
                self.places += 1;
                self.neighbours.avoid(&asks.avoids);
                let row = PodRow {
                    rule: Some(asks.rule.clone()),
                    avoids: asks.avoids.clone(),
                    came: true,
                    place: self.places,
                    stand: Stand::Waits(id),
                    ..PodRow::named(pod.clone())
                };
                self.pods.insert(row.name.uid.clone(), row);
            }
        }
        for task in engine.running_ids() {
            let Some(job) = engine.running_job(task) else { continue };
            let Some(live) = self.driver.job(job) else { continue };
            let key = live.key().to_string();
            let since = engine.started(task);
            let number = self.driver.running(task).map_or(0, |task| task.task);
            let uid = live.detail.pod_of(number).map(|pod| pod.uid.clone());
            let priced = live.detail.priced.get(&number);
            let priced = priced.and_then(|&micros| Time::from_micros(micros));
            if let Some(row) = uid.and_then(|uid| self.pods.get_mut(&uid)) {
                row.was_running(&key, since);
                row.charged_until = row.charged_until.max(priced);
                row.stand = Stand::Sent(Placed { job, task });
            }
        }
        for id in engine.node_ids().filter(|&id| engine.is_up(id)) {
            let name = engine.node(id).0.name.clone();
            let facts = NodeFacts { name: name.clone(), ..NodeFacts::default() };
            let strangers = Resources::zero(self.kinds.len());
            self.dirty.insert(name.clone());
            self.nodes
                .insert(name, NodeRow { id, facts, near: Vec::new(), told: strangers, strangers });
        }
    }

    fn take_over<P: ReadPod>(&mut self, listed: Listed<P>) -> Result<(), KubernetesError> {
        listed.csi_nodes.iter().for_each(|node| self.csi_node_seen(node));
        listed.claims.iter().for_each(|claim| self.claim_seen(claim));
        listed.volumes.iter().for_each(|volume| self.volume_seen(volume));
        listed.classes.iter().for_each(|class| self.class_seen(class));
        listed.drivers.iter().for_each(|driver| self.driver_seen(driver));
        let read = |pods: Vec<P>| -> Vec<PodSeen> {
            let read = |pod: P| self.with_volumes(pod.read(&self.kinds));
            pods.into_iter().map(read).collect()
        };
        let (mut pods, finished) = (read(listed.pods), read(listed.finished));
        let checkpoint = self.driver.engine().now();
        let now = self.now();
        for class in &listed.device_classes {
            self.device_class_seen(class, now)?;
        }
        listed.slices.iter().try_for_each(|slice| self.slice_seen(slice, now))?;
        for namespace in listed.namespaces {
            let metadata = namespace.metadata;
            let labels = metadata.labels.unwrap_or_default();
            self.namespace_seen(metadata.name.unwrap_or_default(), labels);
        }
        for group in listed.pod_groups {
            self.pod_group_seen(group);
        }
        self.keep_rules(&pods);
        listed.queues.iter().for_each(|queue| self.queue_seen(queue));
        self.settle_queues(checkpoint)?;
        self.end_the_vanished(&pods, &finished, checkpoint)?;
        self.end_the_finished(finished, &listed.nodes, (checkpoint, now))?;
        // Before nodes have other prices: what never began is charged nothing.
        pods.iter().try_for_each(|seen| self.undo_what_never_began(seen, now))?;
        let names = listed.nodes.iter().filter_map(|node| node.metadata.name.as_deref());
        let names: std::collections::BTreeSet<&str> = names.collect();
        let gone: Vec<String> =
            self.nodes.keys().filter(|name| !names.contains(name.as_str())).cloned().collect();
        gone.iter().try_for_each(|name| self.node_gone(name, now))?;
        listed.nodes.iter().try_for_each(|node| self.node_seen(node, now))?;
        pods.sort_by(|a, b| (a.created, &a.name).cmp(&(b.created, &b.name)));
        pods.into_iter().try_for_each(|seen| self.pod_seen(seen, now))?;
        self.stop_again();
        Ok(())
    }

    /// Rules of the checkpoint's jobs, as their pods tell them.
    fn keep_rules(&mut self, pods: &[PodSeen]) {
        for seen in pods {
            let text = seen.rule.to_string();
            let row = self.pods.get(&seen.name.uid);
            if row.is_some_and(|row| row.rule.as_ref() == Some(&text)) {
                let new = || RuleRow { rule: seen.rule.clone(), pods: 0 };
                self.rules.entry(text).or_insert_with(new).pods += 1;
            }
            self.keep_wish(seen);
        }
    }

    fn end_the_vanished(
        &mut self,
        pods: &[PodSeen],
        finished: &[PodSeen],
        at: Time,
    ) -> Result<(), KubernetesError> {
        let there = pods.iter().chain(finished).map(|seen| seen.name.uid.as_str());
        let there: std::collections::BTreeSet<&str> = there.collect();
        let gone: Vec<(String, Stand)> = self
            .pods
            .iter()
            .filter(|(uid, _)| !there.contains(uid.as_str()))
            .map(|(uid, row)| (uid.clone(), row.stand.clone()))
            .collect();
        for (uid, stand) in gone {
            match stand {
                Stand::Sent(placed) => self.end_placed(&uid, placed, None, at)?,
                Stand::Waits(job) => self.leave_job(&uid, job, at)?,
                _ => {}
            }
            self.drop_rule(&uid);
            self.drop_gang(&uid);
            self.drop_claims(&uid);
            self.refused.remove(&uid);
            self.neighbours.take(&uid, &self.namespaces);
            self.marks.gone(&uid);
            self.pods.remove(&uid);
        }
        Ok(())
    }

    fn end_the_finished(
        &mut self,
        finished: Vec<PodSeen>,
        nodes: &[Node],
        (checkpoint, now): (Time, Time),
    ) -> Result<(), KubernetesError> {
        let mut finished: Vec<(Time, PodSeen)> = finished
            .into_iter()
            .map(|seen| (self.ended_at(&seen, now).clamp(checkpoint, now), seen))
            .collect();
        finished.sort_by_key(|(at, _)| *at);
        for (at, seen) in finished {
            self.knows_its_node(&seen, nodes, at)?;
            let uid = seen.name.uid.clone();
            let stand = self.pods.get(&uid).map(|row| row.stand.clone());
            let is_since = seen.started.is_some_and(|since| self.clock.time(since) >= checkpoint);
            let began = |seen: &PodSeen| PodSeen { end: None, deleting: false, ..seen.clone() };
            match stand {
                // It began after the checkpoint, or at its instant and behind it.
                Some(Stand::Waits(_)) if is_since => self.pod_seen(began(&seen), at)?,
                None if is_since => {
                    self.pods.insert(uid, PodRow::new(&seen));
                    self.admit(began(&seen), at)?;
                }
                None => continue,
                Some(_) => {}
            }
            let end = seen.end.or(Some(PodEnd { well: true, at: None }));
            self.pod_gone(PodSeen { end, ..seen }, at)?;
        }
        Ok(())
    }

    /// When a pod was charged last that has ended: one that nobody has placed no longer than it was
    /// waited for.
    fn ended_at(&self, seen: &PodSeen, now: Time) -> Time {
        let end = seen.end.and_then(|end| end.at).map(|end| self.clock.time(end));
        let due = seen.started.filter(|_| seen.node.is_none()).map(|since| self.due(since));
        end.unwrap_or(now).min(due.unwrap_or(Time::MAX))
    }

    /// The node of a pod that began since the checkpoint may have come since, too.
    fn knows_its_node(
        &mut self,
        seen: &PodSeen,
        nodes: &[Node],
        at: Time,
    ) -> Result<(), KubernetesError> {
        let name = seen.node.as_ref().or(seen.chosen.as_ref());
        let Some(name) = name.filter(|name| !self.nodes.contains_key(*name)) else { return Ok(()) };
        let node = nodes.iter().find(|node| node.metadata.name.as_ref() == Some(name));
        node.map_or(Ok(()), |node| self.node_seen(node, at))
    }

    /// A start of the leader before of which the API server knows nothing: its writes are refused
    /// since this one leads.
    fn undo_what_never_began(&mut self, seen: &PodSeen, now: Time) -> Result<(), KubernetesError> {
        let uid = seen.name.uid.as_str();
        if let Some(Stand::Sent(placed)) = self.pods.get(uid).map(|row| row.stand.clone())
            && seen.node.is_none()
            && (seen.ours || seen.held)
        {
            let why = Some("the leader before did not carry it out");
            must(self.driver.start_failed(now, placed.task, why))?;
            self.stands(uid, Stand::Waits(placed.job));
        }
        Ok(())
    }
}

/// A queue that can be declared before all others: at the top, and right.
fn first_queue<'q>(
    queues: impl Iterator<Item = &'q QueueObject>,
    root: &PolicySpec,
    kinds: &ResourceKinds,
) -> Option<QueueSpec> {
    let tops = queues.filter(|queue| queue.spec.parent.is_none());
    let read = |queue: &QueueObject| {
        let name = queue.metadata.name.as_deref()?;
        queue.spec.engine_spec(name, root, kinds).ok()
    };
    let mut specs: Vec<QueueSpec> = tops.filter_map(read).collect();
    specs.sort_by(|a, b| a.name.cmp(&b.name));
    specs.into_iter().next()
}
