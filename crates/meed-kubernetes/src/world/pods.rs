//! Pods: what the watch shows of one, against how far it is here.
//!
//! [`World::pod_seen`] may be told the same twice, and late: it compares. A pod that somebody else
//! placed is adopted where it names a queue that it may use, and a stranger where not; so nobody
//! computes for nothing by going round the queue.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use meed::{Constraints, JobId, JobSpec, QueueId, Resources, TaskGroup, Time};
use meed_driver::{Failed, NewJob};
use meed_journal::JobKey;

use super::neighbours::{avoid_label, wish_label};
use super::stop;
use super::{Asks, Order, Placed, PodJob, PodRow, RuleRow, Stand, World, must};
use crate::crd::PlacedBy;
use crate::error::KubernetesError;
use crate::keys;
use crate::pod::near::Near;
use crate::pod::refuse::Refusal;
use crate::pod::{PodEnd, PodName, PodSeen};

impl Asks {
    pub(super) fn constraints(&self) -> Constraints {
        let mut require = BTreeMap::from([(self.rule.clone(), Vec::new())]);
        require.extend(self.wish.iter().map(|text| (wish_label(text), Vec::new())));
        let forbid = self.avoids.iter().map(|text| (avoid_label(text), Vec::new())).collect();
        Constraints { require, forbid, ..Constraints::default() }
    }
}

/// Rules that no pod has are kept, up to so many.
const IDLE_RULES: usize = 64;

impl World {
    /// A pod is there, in this form.
    pub(crate) fn pod_seen(&mut self, seen: PodSeen, now: Time) -> Result<(), KubernetesError> {
        if seen.end.is_some() {
            return self.pod_gone(seen, now);
        }
        let seen = self.with_volumes(seen);
        let uid = seen.name.uid.clone();
        let row = self.pods.entry(uid.clone()).or_insert_with(|| PodRow::new(&seen));
        (row.priority, row.applied) = (seen.priority, seen.applied);
        let before = std::mem::replace(&mut row.near, Arc::clone(&seen.near));
        let mut stand = row.stand.clone();
        self.marks.seen(&uid, seen.unschedulable);
        let is_let_go = seen.node.is_none() && !seen.ours && !seen.held;
        self.gaps.tells(&uid, is_let_go && seen.unschedulable);
        self.keep_claims(&seen);
        if self.keep_gang(&seen)
            && let Stand::Waits(job) = stand
        {
            self.leave_job(&uid, job, now)?;
            self.stands(&uid, Stand::Outside);
            stand = Stand::Outside;
        }
        self.pod_stands(stand, seen, &before, now)?;
        self.keep_place(&uid);
        Ok(())
    }

    fn pod_stands(
        &mut self,
        stand: Stand,
        seen: PodSeen,
        before: &Near,
        now: Time,
    ) -> Result<(), KubernetesError> {
        let uid = seen.name.uid.clone();
        match (stand, seen.node.clone()) {
            (Stand::Waits(job), None) => self.still_waits(job, seen, before, now),
            (Stand::Waits(job), Some(node)) => match self.adopt_of_gang(&seen, job, &node, now)? {
                Some(placed) => {
                    self.stands(&uid, Stand::Bound(placed));
                    self.drop_near(&uid);
                    Ok(())
                }
                None => {
                    self.leave_job(&uid, job, now)?;
                    self.admit(seen, now)
                }
            },
            (Stand::Sent(placed), None) => {
                if !seen.held && !seen.ours {
                    self.is_let_go(&uid, placed, seen.started);
                }
                Ok(())
            }
            (Stand::Lifted(_) | Stand::Unplaced { .. }, None) => Ok(()),
            (Stand::Sent(placed) | Stand::Lifted(placed) | Stand::Bound(placed), Some(node)) => {
                self.confirm(placed, &node, &seen, now)
            }
            (Stand::Bound(_), None) => Ok(()),
            (Stand::Stranger { node, amounts }, _) => {
                let other = seen.amounts(&self.kinds);
                if other != amounts {
                    self.stranger_goes(&node, &amounts);
                    self.stranger_comes(&node, &other);
                    self.stands(&uid, Stand::Stranger { node, amounts: other });
                }
                Ok(())
            }
            (Stand::Outside | Stand::Refused(_) | Stand::Homeless(_), _)
            | (Stand::Unplaced { .. }, Some(_)) => self.admit(seen, now),
            (Stand::Over, node) => match node {
                Some(node) if self.nodes.contains_key(&node) => self.admit(seen, now),
                Some(node) => {
                    self.homeless.entry(node).or_default().insert(uid.clone());
                    self.stands(&uid, Stand::Homeless(Box::new(seen)));
                    Ok(())
                }
                None => Ok(()),
            },
        }
    }

    pub(super) fn stands(&mut self, uid: &str, stand: Stand) {
        let is_refused = matches!(stand, Stand::Refused(_));
        let late_of = match &stand {
            Stand::Unplaced { queue } => Some(queue.as_str()),
            _ => None,
        };
        self.let_go.stands(uid, late_of);
        if let Some(row) = self.pods.get_mut(uid) {
            row.stand = stand;
            match is_refused {
                true => _ = self.refused.insert(uid.to_owned()),
                false => _ = self.refused.remove(uid),
            }
        }
        self.keep_place(uid);
    }

    /// In its queue, and on no node: is it still what it was?
    pub(super) fn still_waits(
        &mut self,
        job: JobId,
        seen: PodSeen,
        before: &Near,
        now: Time,
    ) -> Result<(), KubernetesError> {
        let uid = seen.name.uid.clone();
        let rule = self.pods.get(&uid).and_then(|row| row.rule.clone());
        let detail = self.driver.job(job).map(|job| &job.detail);
        let binds = detail.is_some_and(|detail| detail.binds);
        let is_placed = detail.is_some_and(PodJob::is_placed);
        let is_same = rule == Some(seen.rule.to_string())
            && !seen.deleting
            && (binds || (seen.held && !seen.held_by_others))
            && (!is_placed || seen.unbound.is_none())
            && (!is_placed || self.is_told_where(&seen, before))
            && self.amounts_of(job, &uid) == Some(seen.amounts(&self.kinds));
        if is_same {
            return Ok(());
        }
        self.leave_job(&uid, job, now)?;
        self.stands(&uid, Stand::Outside);
        // It is another now, and stands last.
        if let Some(row) = self.pods.get_mut(&uid) {
            row.place = 0;
        }
        self.admit(seen, now)
    }

    /// What the job of a pod was told that it asks for.
    fn amounts_of(&self, job: JobId, uid: &str) -> Option<Resources> {
        let detail = &self.driver.job(job)?.detail;
        Some(Resources::new(&detail.asks_of_pod(uid).amounts))
    }

    /// A pod that holds room turns out to be bound.
    fn confirm(
        &mut self,
        placed: Placed,
        node: &str,
        seen: &PodSeen,
        now: Time,
    ) -> Result<(), KubernetesError> {
        let uid = seen.name.uid.as_str();
        let Some(row) = self.nodes.get(node) else {
            // The node is heard of later; until then the room is held where it was chosen.
            self.homeless.entry(node.to_owned()).or_default().insert(uid.to_owned());
            self.stands(uid, Stand::Homeless(Box::new(seen.clone())));
            return self.end_placed(uid, placed, None, now);
        };
        let id = row.id;
        let assumed = self.driver.running(placed.task).map(|task| task.node);
        if assumed.is_some_and(|from| from != id) {
            self.told = true;
            must(self.driver.task_moved(now, placed.task, id))?;
            self.gaps.crowds(node);
        }
        let was_bound = self.pods.get(uid).is_some_and(|row| matches!(row.stand, Stand::Bound(_)));
        let placed = match was_bound {
            true => placed,
            false => self.begins_as_written(placed, seen, now)?,
        };
        self.stands(uid, Stand::Bound(placed));
        // What it asks of others matters no more; its terms keep them away as before.
        self.drop_near(uid);
        let demand = seen.amounts(&self.kinds);
        if self.amounts_of(placed.job, uid).is_some_and(|held| held != demand) {
            // Resized in place: the charge ends, and begins anew.
            self.end_placed(uid, placed, None, now)?;
            self.stands(uid, Stand::Outside);
            return self.admit(seen.clone(), now);
        }
        Ok(())
    }

    /// A pod that is not in the engine: where does it belong?
    pub(super) fn admit(&mut self, seen: PodSeen, now: Time) -> Result<(), KubernetesError> {
        let uid = seen.name.uid.clone();
        match seen.node.clone() {
            Some(node) if self.nodes.contains_key(&node) => self.admit_bound(seen, &node, now),
            Some(node) => {
                self.homeless.entry(node).or_default().insert(uid.clone());
                self.stands(&uid, Stand::Homeless(Box::new(seen)));
                Ok(())
            }
            None => self.admit_unbound(seen, now),
        }
    }

    fn admit_bound(&mut self, seen: PodSeen, node: &str, now: Time) -> Result<(), KubernetesError> {
        let uid = seen.name.uid.clone();
        let queue = seen.queue.as_deref();
        let namespace = &seen.name.namespace;
        let leaf = queue.and_then(|queue| self.leaf_of(queue, seen.priority, namespace).ok());
        if let Some(leaf) = leaf
            && let Some(placed) = self.adopt(&seen, leaf, node, now)?
        {
            self.stands(&uid, Stand::Bound(placed));
            return Ok(());
        }
        let amounts = seen.amounts(&self.kinds);
        if let Err(why) = &seen.demand {
            let (namespace, name) = (&seen.name.namespace, &seen.name.name);
            self.remarks.push(format!("pod {namespace}/{name} counts as nothing: {why}"));
        }
        self.stranger_comes(node, &amounts);
        self.stands(&uid, Stand::Stranger { node: node.to_owned(), amounts });
        Ok(())
    }

    fn admit_unbound(&mut self, seen: PodSeen, now: Time) -> Result<(), KubernetesError> {
        let uid = seen.name.uid.clone();
        if seen.deleting {
            self.stands(&uid, Stand::Outside);
            return Ok(());
        }
        let wants = self.wants(&seen);
        let leaf = wants.as_ref().ok().and_then(|wants| wants.as_ref());
        let mode = leaf.map(|(leaf, _)| self.mode(&self.object_of(*leaf)));
        let seen = PodSeen { pins: mode == Some(PlacedBy::Pins), ..seen };
        match wants {
            Ok(None) => {
                self.stands(&uid, Stand::Outside);
                Ok(())
            }
            Ok(Some((leaf, true))) => self.admit_lifted(seen, leaf, now),
            Ok(Some((leaf, false))) => match seen.gang.clone() {
                Some(Ok(gang)) => self.admit_to_gang(seen, &gang, leaf, now),
                Some(Err(why)) => {
                    self.refuse(seen, "GangInvalid", why);
                    Ok(())
                }
                None => self.come(seen, leaf, now),
            },
            Err((reason, note)) => {
                self.refuse(seen, reason, note);
                Ok(())
            }
        }
    }

    /// A pod comes to its queue, by itself.
    pub(super) fn come(
        &mut self,
        seen: PodSeen,
        leaf: QueueId,
        now: Time,
    ) -> Result<(), KubernetesError> {
        match self.arrive(&seen, leaf, now)? {
            Ok(job) => self.waits_in(&seen.name.uid, job),
            Err((reason, note)) => self.refuse(seen, reason, note),
        }
        Ok(())
    }

    /// A pod waits in its queue.
    pub(super) fn waits_in(&mut self, uid: &str, job: JobId) {
        self.stands(uid, Stand::Waits(job));
        if let Some(row) = self.pods.get_mut(uid) {
            row.said = None;
            if row.place == 0 {
                self.places += 1;
                row.place = self.places;
            }
        }
    }

    pub(super) fn refuse(&mut self, seen: PodSeen, reason: &'static str, note: String) {
        let uid = seen.name.uid.clone();
        self.stands(&uid, Stand::Refused(Box::new(seen)));
        self.say(&uid, reason, note);
    }

    /// What an unbound pod wants of us: nothing, or its leaf, and whether it was let go before.
    pub(super) fn wants(&self, seen: &PodSeen) -> Result<Option<(QueueId, bool)>, Refusal> {
        let Some(queue) = &seen.queue else {
            return match seen.ours || seen.held {
                false => Ok(None),
                true => Err((
                    "NoQueue",
                    "it names no queue: give it the label meed.dev/queue, or its namespace".into(),
                )),
            };
        };
        let leaf = self.leaf_of(queue, seen.priority, &seen.name.namespace)?;
        let queue = &self.object_of(leaf);
        let wrong = |why: &str| Err(("WrongMode", format!("Queue `{queue}` {why}")));
        match (self.mode(queue), seen.ours) {
            (PlacedBy::Gates | PlacedBy::Pins, true) => {
                wrong("does not bind pods: leave schedulerName out, or use a Queue that binds")
            }
            (PlacedBy::Binds, false) if seen.held => {
                wrong("has the mode Binds: its pods say schedulerName: meed")
            }
            (PlacedBy::Binds, false) => Ok(None),
            // It could not start: it comes to its queue when the gates of others are gone.
            (PlacedBy::Gates | PlacedBy::Pins, false) if seen.held && seen.held_by_others => {
                Ok(None)
            }
            (PlacedBy::Gates, false) if seen.held => self.may_wait(seen, leaf),
            (PlacedBy::Pins, false) if seen.held => match unplaceable(seen) {
                Some(refusal) => Err(refusal),
                None => self.may_wait(seen, leaf),
            },
            // Let go by a leader before, or never held: then it is charged once it is bound.
            (PlacedBy::Gates | PlacedBy::Pins, false) => {
                Ok((seen.started.is_some() && seen.chosen.is_some()).then_some((leaf, true)))
            }
            (PlacedBy::Binds, true) if seen.held || seen.held_by_others => Ok(None),
            (PlacedBy::Binds, true) => match unplaceable(seen) {
                Some(refusal) => Err(refusal),
                None => self.may_wait(seen, leaf),
            },
        }
    }

    /// A pod waits in its queue; not in one that is stopped.
    fn may_wait(&self, seen: &PodSeen, leaf: QueueId) -> Result<Option<(QueueId, bool)>, Refusal> {
        match self.stopped_above(leaf) {
            Some(queue) => Err(stop::refusal(queue)),
            None => match self.devices.refuses(seen, &self.kinds) {
                Some(refusal) => Err(refusal),
                None => Ok(Some((leaf, false))),
            },
        }
    }

    /// The job of a pod; or why the engine does not take it.
    fn arrive(
        &mut self,
        seen: &PodSeen,
        leaf: QueueId,
        now: Time,
    ) -> Result<Result<JobId, Refusal>, KubernetesError> {
        let demand = match &seen.demand {
            Ok(demand) => demand.amounts,
            Err(why) => return Ok(Err(("InvalidRequests", why.clone()))),
        };
        let asks = self.keep_asks(seen, demand, now)?;
        let group = TaskGroup {
            constraints: Some(Box::new(asks.constraints())),
            ..TaskGroup::new(1, demand)
        };
        let detail = self.detail_of(seen, asks, leaf);
        let taken = self.job_of(detail, std::slice::from_ref(&group), leaf, now)?;
        if taken.is_err() {
            self.drop_rule(&seen.name.uid);
        }
        Ok(taken)
    }

    /// What is kept of the job of a pod, alone so far.
    pub(super) fn detail_of(&self, pod: &PodSeen, asks: Asks, leaf: QueueId) -> PodJob {
        PodJob {
            pod: pod.name.clone(),
            more: Vec::new(),
            queue: self.object_of(leaf),
            binds: pod.ours,
            pins: pod.pins,
            asks,
            unlike: Vec::new(),
            priced: BTreeMap::new(),
        }
    }

    /// The job of pods whose rules are kept; or why the engine does not take it.
    pub(super) fn job_of(
        &mut self,
        detail: PodJob,
        groups: &[TaskGroup],
        leaf: QueueId,
        now: Time,
    ) -> Result<Result<JobId, Refusal>, KubernetesError> {
        // Of a gang who fails is withdrawn: the others go on.
        let max_attempts = if detail.is_gang() { 0 } else { 1 };
        let spec = JobSpec { queue: leaf, weight: 1000, groups, open: false, max_attempts };
        let name = format!("{}/{}", detail.pod.namespace, detail.pod.name);
        let uid = &detail.pod.uid;
        let key = self.pods.get_mut(uid).map_or_else(|| uid.clone(), |row| row.next_key(now));
        let new = || NewJob {
            key: JobKey::from(key.as_str()),
            name: Some(JobKey::from(name.as_str())),
            detail,
        };
        self.told = true;
        match self.driver.job_arrived(now, spec, new, |_, _, _| {}) {
            Ok(job) => Ok(Ok(job)),
            Err(Failed::Rejected(why)) => Ok(Err(("Rejected", why.to_string()))),
            Err(why) => Err(KubernetesError::Engine(why.to_string())),
        }
    }

    /// What a pod asks for, kept in its row as far as it is asked of nodes.
    pub(super) fn keep_asks(
        &mut self,
        pod: &PodSeen,
        demand: Resources,
        now: Time,
    ) -> Result<Asks, KubernetesError> {
        let rule = self.keep_rule(pod, now)?;
        let (wish, avoids) = self.keep_near(pod);
        Ok(Asks { amounts: demand.as_slice().to_vec(), rule, wish, avoids })
    }

    /// The job of a pod that runs, or is to, on a node: charged since its start, and never twice.
    pub(super) fn adopt(
        &mut self,
        seen: &PodSeen,
        leaf: QueueId,
        node: &str,
        now: Time,
    ) -> Result<Option<Placed>, KubernetesError> {
        let Some(id) = self.nodes.get(node).map(|row| row.id) else { return Ok(None) };
        let job = match self.arrive(seen, leaf, now)? {
            Ok(job) => job,
            Err((reason, note)) => {
                self.say(&seen.name.uid.clone(), reason, note);
                return Ok(None);
            }
        };
        let since = self.runs_since(seen, now);
        self.gaps.crowds(node);
        let task = must(self.driver.task_adopted(now, (job, 0), id, since, None))?;
        Ok(Some(Placed { job, task }))
    }

    /// The task of a pod that waits in a gang's job and is bound, by a leader before.
    fn adopt_of_gang(
        &mut self,
        seen: &PodSeen,
        job: JobId,
        node: &str,
        now: Time,
    ) -> Result<Option<Placed>, KubernetesError> {
        let gang = self.driver.job(job).map(|job| &job.detail).filter(|job| job.is_gang());
        let number = gang.map(|detail| detail.task_of(&seen.name.uid));
        let id = self.nodes.get(node).map(|row| row.id);
        let own = self.amounts_of(job, &seen.name.uid);
        let is_same = own == Some(seen.amounts(&self.kinds));
        let (Some(number), Some(id), true, true) = (number, id, is_same, seen.started.is_some())
        else {
            return Ok(None);
        };
        self.told = true;
        let since = self.runs_since(seen, now);
        self.gaps.crowds(node);
        let task = must(self.driver.task_adopted(now, (job, number), id, since, None))?;
        Ok(Some(Placed { job, task }))
    }

    /// Since when a pod that is bound is charged: since its start, and never twice.
    fn runs_since(&self, seen: &PodSeen, now: Time) -> Time {
        let since = self.begins(seen).unwrap_or(now);
        let row = self.pods.get(&seen.name.uid);
        let charged = row.and_then(|row| row.charged_until).unwrap_or(self.opened);
        since.max(charged).min(now)
    }

    /// A pod is gone, or has ended.
    pub(crate) fn pod_gone(&mut self, seen: PodSeen, now: Time) -> Result<(), KubernetesError> {
        let uid = seen.name.uid.as_str();
        let Some(row) = self.pods.get(uid) else { return Ok(()) };
        match row.stand.clone() {
            Stand::Waits(job) => {
                let queue = self.driver.job(job).map(|job| job.queue());
                self.leave_job(uid, job, now)?;
                queue.into_iter().for_each(|queue| self.reap_queue(queue));
            }
            // It never began: nothing is charged.
            Stand::Sent(placed) if seen.node.is_none() && (seen.ours || seen.held) => {
                self.never_began(placed, now)?;
            }
            Stand::Sent(placed) | Stand::Lifted(placed) => {
                let placed = self.begins_as_written(placed, &seen, now)?;
                self.end_placed(uid, placed, seen.end, now)?;
            }
            Stand::Bound(placed) => self.end_placed(uid, placed, seen.end, now)?,
            Stand::Stranger { node, amounts } => self.stranger_goes(&node, &amounts),
            Stand::Outside
            | Stand::Homeless(_)
            | Stand::Refused(_)
            | Stand::Unplaced { .. }
            | Stand::Over => {}
        }
        self.drop_rule(uid);
        if let Some(node) = &seen.node
            && let Some(here) = self.homeless.get_mut(node)
        {
            here.remove(uid);
        }
        self.drop_gang(uid);
        self.let_go.stands(uid, None);
        self.gaps.tells(uid, false);
        self.drop_claims(uid);
        self.refused.remove(uid);
        self.neighbours.take(uid, &self.namespaces);
        self.marks.gone(uid);
        self.pods.remove(uid);
        Ok(())
    }

    /// A list does not show a pod: a watch was cut. Where it holds room it is looked what became
    /// of it, for it may have ended a while ago.
    pub(crate) fn pod_not_listed(&mut self, uid: &str, now: Time) -> Result<(), KubernetesError> {
        match self.pods.get(uid) {
            Some(PodRow {
                stand: Stand::Sent(_) | Stand::Lifted(_) | Stand::Bound(_),
                name,
                ..
            }) => {
                self.orders.push(Order::Look(name.clone()));
                Ok(())
            }
            _ => self.pod_vanished(uid, now),
        }
    }

    /// What became of a pod that a list did not show.
    pub(crate) fn looked(
        &mut self,
        pod: &PodName,
        found: Option<&Pod>,
        now: Time,
    ) -> Result<(), KubernetesError> {
        match found {
            _ if !self.pods.contains_key(&pod.uid) => Ok(()),
            Some(found) => self.pod_seen(PodSeen::of(found, self.counts()), now),
            None => self.pod_vanished(&pod.uid, now),
        }
    }

    /// A pod is gone, and nobody saw how.
    fn pod_vanished(&mut self, uid: &str, now: Time) -> Result<(), KubernetesError> {
        let Some(row) = self.pods.get(uid) else { return Ok(()) };
        let (queue, zero) = (String::new(), Resources::zero(self.kinds.len()));
        let demand = crate::pod::demand::Demand { amounts: zero, unknown: Vec::new() };
        let rules = (Default::default(), Arc::clone(&row.near));
        let gone = PodSeen::waiting(row.name.clone(), queue, false, demand, rules);
        // Whether it was bound is not known: what it held is charged until now.
        self.pod_gone(PodSeen { held: false, ..gone }, now)
    }

    /// A start that was not carried out, of a pod that is not wanted any more.
    pub(super) fn never_began(&mut self, placed: Placed, now: Time) -> Result<(), KubernetesError> {
        self.told = true;
        let job = self.driver.job(placed.job);
        let (queue, is_gang) = (job.map(|job| job.queue()), self.is_gang(placed.job));
        let (number, why) = (self.number_of(placed), Some("the pod is gone"));
        must(self.driver.start_failed(now, placed.task, why))?;
        match is_gang {
            true => _ = must(self.driver.task_withdrawn(now, placed.job, number, why))?,
            false => _ = must(self.driver.job_cancelled(now, placed.job))?,
        }
        self.forget_task(placed.job, number);
        queue.into_iter().for_each(|queue| self.reap_queue(queue));
        Ok(())
    }

    /// A pod that holds room ends: its job with it.
    pub(super) fn end_placed(
        &mut self,
        uid: &str,
        placed: Placed,
        end: Option<PodEnd>,
        now: Time,
    ) -> Result<(), KubernetesError> {
        self.told = true;
        let is_stopping = self.is_stopping(placed);
        let placed = self.ends_as_stamped(placed, end, now)?;
        let queue = self.driver.job(placed.job).map(|job| job.queue());
        let (number, is_gang) = (self.number_of(placed), self.is_gang(placed.job));
        match end {
            Some(PodEnd { well: true, .. }) => {
                must(self.driver.task_ended(now, placed.task))?;
            }
            _ if is_stopping => self.has_stopped(placed, now)?,
            Some(PodEnd { well: false, .. }) if is_gang => {
                let why = Some("the pod has failed");
                must(self.driver.task_withdrawn(now, placed.job, number, why))?;
            }
            Some(PodEnd { well: false, .. }) => {
                must(self.driver.task_failed(now, placed.task))?;
            }
            None => {
                let why = Some("the pod is gone");
                must(self.driver.task_withdrawn(now, placed.job, number, why))?;
            }
        }
        self.forget_task(placed.job, number);
        if let Some(row) = self.pods.get_mut(uid) {
            row.charged_until = Some(now);
        }
        self.drop_rule(uid);
        queue.into_iter().for_each(|queue| self.reap_queue(queue));
        Ok(())
    }

    /// A pod that waits loses its queue.
    pub(super) fn send_back(&mut self, uid: &str, now: Time) -> Result<(), KubernetesError> {
        let Some((job, seen)) = self.as_it_waits(uid) else { return Ok(()) };
        self.leave_job(uid, job, now)?;
        let queue = seen.queue.clone().unwrap_or_default();
        self.refuse(seen, "QueueNotFound", format!("there is no Queue `{queue}` any more"));
        Ok(())
    }

    /// A pod that waits, as its job tells.
    pub(super) fn as_it_waits(&self, uid: &str) -> Option<(JobId, PodSeen)> {
        let PodRow { stand: Stand::Waits(job), name, rule, near, .. } = self.pods.get(uid)? else {
            return None;
        };
        let PodJob { queue, binds, pins, .. } = self.driver.job(*job)?.detail.clone();
        let amounts = self.amounts_of(*job, uid).unwrap_or_default();
        let demand = crate::pod::demand::Demand { amounts, unknown: Vec::new() };
        let rule = rule.as_ref().and_then(|text| self.rules.get(text));
        let rule = rule.map(|row| row.rule.clone()).unwrap_or_default();
        let rules = (rule, Arc::clone(near));
        let row = self.pods.get(uid)?;
        // As it names it, not where it is by its priority.
        let queue = near.labels.get(keys::QUEUE).cloned().unwrap_or(queue);
        let priority = row.priority;
        let (gang, claims) = (row.gang.clone().map(Ok), row.claims.clone());
        let seen = PodSeen::waiting(name.clone(), queue, binds, demand, rules);
        Some((*job, PodSeen { gang, claims, priority, pins, ..seen }))
    }

    /// Pods that were refused are looked at again.
    pub(super) fn look_again(&mut self, now: Time) -> Result<(), KubernetesError> {
        let mut refused: Vec<(u64, String)> = Vec::new();
        for uid in &self.refused {
            refused
                .push((self.pods.get(uid).map_or(0, |row| row.place.wrapping_sub(1)), uid.clone()));
        }
        // Those that have waited before keep their order among each other.
        refused.sort();
        for (_, uid) in refused {
            let Some(PodRow { stand: Stand::Refused(seen), .. }) = self.pods.get(&uid) else {
                continue;
            };
            let seen = (**seen).clone();
            self.admit(seen, now)?;
        }
        Ok(())
    }

    /// The rule of a pod gets a text, and nodes its label.
    fn keep_rule(&mut self, seen: &PodSeen, now: Time) -> Result<String, KubernetesError> {
        let text = seen.rule.to_string();
        self.drop_rule(&seen.name.uid);
        let row = self.rules.get_mut(&text);
        let is_new = row.is_none();
        match row {
            Some(row) => row.pods += 1,
            None => {
                let idle = self.rules.values().filter(|row| row.pods == 0).count();
                if idle > IDLE_RULES {
                    self.rules.retain(|_, row| row.pods > 0);
                }
                self.rules.insert(text.clone(), RuleRow { rule: seen.rule.clone(), pods: 1 });
            }
        }
        if is_new {
            self.relabel_all(now)?;
        }
        if let Some(row) = self.pods.get_mut(&seen.name.uid) {
            row.rule = Some(text.clone());
        }
        Ok(text)
    }

    /// A pod's job is gone: its rule has a pod less.
    pub(super) fn drop_rule(&mut self, uid: &str) {
        self.drop_near(uid);
        let text = self.pods.get_mut(uid).and_then(|row| row.rule.take());
        if let Some(row) = text.and_then(|text| self.rules.get_mut(&text)) {
            row.pods = row.pods.saturating_sub(1);
        }
    }
}

/// Why Meed must not choose a node for a pod.
fn unplaceable(seen: &PodSeen) -> Option<Refusal> {
    match (&seen.not_supported, &seen.unbound, &seen.demand) {
        (Some(why), _, _) => Some(("NotSupported", why.clone())),
        (None, Some(refusal), _) => Some(refusal.clone()),
        (None, None, Ok(demand)) if !demand.unknown.is_empty() => {
            let all = demand.unknown.join(", ");
            let why = format!(
                "it asks for {all}, which this installation of Meed does not count (--resources)"
            );
            Some(("NotSupported", why))
        }
        _ => None,
    }
}

impl PodRow {
    pub(super) fn new(seen: &PodSeen) -> PodRow {
        PodRow { near: Arc::clone(&seen.near), ..PodRow::named(seen.name.clone()) }
    }

    pub(super) fn named(name: PodName) -> PodRow {
        PodRow {
            name,
            rule: None,
            wish: None,
            avoids: Vec::new(),
            near: Arc::default(),
            gang: None,
            claims: Vec::new(),
            applied: false,
            priority: 0,
            came: false,
            place: 0,
            keyed: None,
            stand: Stand::Outside,
            charged_until: None,
            said: None,
        }
    }
    /// The key of the pod's next job: one that none had before.
    pub(super) fn next_key(&mut self, now: Time) -> String {
        let uid = &self.name.uid;
        if !std::mem::replace(&mut self.came, true) {
            return uid.clone();
        }
        let more = self.keyed.filter(|(then, _)| *then == now).map_or(0, |(_, more)| more + 1);
        self.keyed = Some((now, more));
        match more {
            0 => format!("{uid}@{}", now.as_micros()),
            more => format!("{uid}@{}.{more}", now.as_micros()),
        }
    }
}
