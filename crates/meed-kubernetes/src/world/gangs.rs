//! Gangs: pods that start together or not at all.
//!
//! A pod names its gang by label, and with it how many start together (or a PodGroup does,
//! `spec.minMember`, or `minCount` of the gang in `spec.schedulingPolicy` where the pod has a
//! `schedulingGroup`). Pods gather, on nobody's account, until so many are there: then they are one
//! job of the engine, with a task for each, which starts them at one instant. What gathers longer
//! than that comes after it: once a pod of a gang runs, the others start as they fit.
//!
//! | the pods of a gang | then |
//! |---|---|
//! | are fewer than its count | they wait: `GangIncomplete` |
//! | give different counts | refused: `GangInvalid` |
//! | ask for different things | of those that came first its count, in groups of alike ones |
//! | name a PodGroup that is not known | they wait: `GangUnknown` |
//! | wait for their turn, and one more comes | it waits until they have started: `GangWaits` |
//! | lose one while none has started | the others gather again |
//!
//! A gang that started and of which one pod could not be bound goes on: that pod is tried again by
//! itself. One that breaks what other pods ask of its nodes is taken back whole.
//!
//! Invariant: the pods of a job of several pods wait together ([`Stand::Waits`]) until one begins.
//! Cost: O(pods of the gang) for each that comes.

use std::collections::BTreeSet;

use meed::{Gang, JobId, QueueId, Resources, TaskGroup, Time};

use super::{Asks, Order, Placed, PodJob, PodRow, Stand, World, must};
use crate::error::KubernetesError;
use crate::pod::gang::{GangLabel, GangName, GroupSeen};
use crate::pod::refuse::Refusal;
use crate::pod::{PodName, PodSeen};

impl PodJob {
    /// Its pods, by the numbers of their tasks; one that has ended has no name any more.
    fn places(&self) -> impl Iterator<Item = &PodName> {
        std::iter::once(&self.pod).chain(&self.more)
    }

    /// Its pods that wait or run.
    pub(super) fn pods(&self) -> impl Iterator<Item = &PodName> {
        self.places().filter(|pod| !pod.uid.is_empty())
    }

    /// The pod of a task has ended.
    fn forget(&mut self, task: u32) {
        match usize::try_from(task).unwrap_or(usize::MAX) {
            0 => self.pod = PodName::default(),
            place => {
                if let Some(pod) = self.more.get_mut(place - 1) {
                    *pod = PodName::default();
                }
            }
        }
    }

    /// The pod of a task.
    pub(super) fn pod_of(&self, task: u32) -> Option<&PodName> {
        self.places().nth(usize::try_from(task).ok()?)
    }

    /// The task of a pod.
    pub(super) fn task_of(&self, uid: &str) -> u32 {
        let place = self.places().position(|pod| pod.uid == uid);
        place.and_then(|place| u32::try_from(place).ok()).unwrap_or(0)
    }

    /// What the pod of a task asks for.
    fn asks_of(&self, task: u32) -> &Asks {
        let unlike = self.unlike.iter().rev().find(|(from, _)| *from <= task);
        unlike.map_or(&self.asks, |(_, asks)| asks)
    }

    /// What this pod of it asks for.
    pub(super) fn asks_of_pod(&self, uid: &str) -> &Asks {
        match self.unlike.is_empty() {
            true => &self.asks,
            false => self.asks_of(self.task_of(uid)),
        }
    }

    /// Its pods that wait or run, each with what it asks for.
    pub(super) fn asking(&self) -> impl Iterator<Item = (&PodName, &Asks)> {
        let all = self.places().zip(0..).map(|(pod, task)| (pod, self.asks_of(task)));
        all.filter(|(pod, _)| !pod.uid.is_empty())
    }

    /// Whether Meed chooses its nodes.
    pub(super) fn is_placed(&self) -> bool {
        self.binds || self.pins
    }

    /// Whether its pods start together.
    pub(super) fn is_gang(&self) -> bool {
        !self.more.is_empty()
    }
}

/// Who is of which gang.
impl World {
    /// A pod says which gang it is of. Whether it was of another before.
    pub(super) fn keep_gang(&mut self, seen: &PodSeen) -> bool {
        let uid = &seen.name.uid;
        let gang = seen.gang.clone().and_then(Result::ok);
        let Some(row) = self.pods.get_mut(uid) else { return false };
        if row.gang == gang {
            return false;
        }
        let before = std::mem::replace(&mut row.gang, gang.clone());
        let (namespace, is_other) = (&seen.name.namespace, before.is_some());
        if let Some(before) = before {
            self.gangs.leave(namespace, before.name, uid);
        }
        if let Some(gang) = gang {
            let members = self.gangs.members.entry((namespace.clone(), gang.name)).or_default();
            members.insert(uid.clone());
        }
        is_other
    }

    /// A pod is known no more.
    pub(super) fn drop_gang(&mut self, uid: &str) {
        let Some(row) = self.pods.get_mut(uid) else { return };
        if let Some(gang) = row.gang.take() {
            let namespace = row.name.namespace.clone();
            self.gangs.leave(&namespace, gang.name, uid);
        }
    }

    /// So many pods of a PodGroup start together.
    pub(crate) fn pod_group_seen(&mut self, group: GroupSeen) {
        let (key, least) = (group.key(), group.least);
        if self.gangs.groups.get(&key) != Some(&least) {
            self.gangs.look_at(key.clone());
            self.gangs.groups.insert(key, least);
        }
    }

    /// A PodGroup is gone.
    pub(crate) fn pod_group_gone(&mut self, key: &(String, GangName)) {
        if self.gangs.groups.remove(key).is_some() {
            self.gangs.look_at(key.clone());
        }
    }

    /// PodGroups that are known.
    pub(crate) fn pod_group_names(&self) -> impl Iterator<Item = &(String, GangName)> {
        self.gangs.groups.keys()
    }

    /// Pods of gangs that have changed are looked at again.
    pub(super) fn settle_gangs(&mut self, now: Time) -> Result<(), KubernetesError> {
        for key in std::mem::take(&mut self.gangs.lost) {
            let members = self.gangs.members.get(&key).into_iter().flatten();
            let mut gathering = members.filter(|uid| {
                let row = self.pods.get(*uid);
                let is_refused = |row: &PodRow| matches!(row.stand, Stand::Refused(_));
                row.is_some_and(|row| {
                    is_refused(row) && row.said.is_some_and(|said| said.starts_with("Gang"))
                })
            });
            let one = gathering.next().cloned();
            self.gangs.again.extend(one);
        }
        while let Some(uid) = self.gangs.again.pop_first() {
            if let Some(Stand::Refused(seen)) = self.pods.get(&uid).map(|row| &row.stand) {
                let seen = (**seen).clone();
                self.admit(seen, now)?;
            }
        }
        Ok(())
    }
}

/// How a gang stands to a pod that comes.
struct Gathered {
    /// One of it has started.
    begun: bool,
    /// One of it is in the engine, and waits.
    waits: bool,
    /// How many gather, this one included.
    there: u32,
    /// These, in order, where they may be enough.
    pods: Vec<PodSeen>,
}

/// A group of a gang: what each of it asks for, and who is of it.
type Group<'a> = (&'a Asks, Vec<&'a PodSeen>);

/// Pods by what they ask for, and in that order all of them: those that came first are the first
/// group, and in each they are in the order in which they came.
fn by_group<'a>(pods: &'a [PodSeen], asks: &'a [Asks]) -> (Vec<&'a PodSeen>, Vec<Group<'a>>) {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (pod, asks) in pods.iter().zip(asks) {
        match groups.iter_mut().find(|(of, _)| *of == asks) {
            Some((_, members)) => members.push(pod),
            None => groups.push((asks, vec![pod])),
        }
    }
    (groups.iter().flat_map(|(_, members)| members).copied().collect(), groups)
}

fn count_of(pods: usize) -> u32 {
    u32::try_from(pods).unwrap_or(u32::MAX)
}

/// The groups of a gang: all tasks of several start together, and of one `size`.
fn task_groups(groups: &[Group<'_>], size: u32) -> Vec<TaskGroup> {
    let one = |(asks, members): &Group<'_>| {
        let count = count_of(members.len());
        let gang = if groups.len() > 1 { Gang::part(count) } else { Gang::of(size) };
        let constraints = Some(Box::new(asks.constraints()));
        let demand = Resources::new(&asks.amounts);
        TaskGroup { constraints, gang: Some(Box::new(gang)), ..TaskGroup::new(count, demand) }
    };
    groups.iter().map(one).collect()
}

fn waits_note(name: &GangName) -> String {
    format!("the pods of its {name} that came before wait for their turn")
}

/// Why a pod cannot start together with others.
fn why_not_together(pod: &PodSeen) -> Refusal {
    let name = &pod.name.name;
    match &pod.demand {
        Err(why) => ("InvalidRequests", format!("pod {name} of its gang: {why}")),
        Ok(_) => {
            let why = format!(
                "pod {name} of its gang has host ports, requires other pods near or away, or \
                 volumes of which a node attaches a bounded number: Meed does not place such \
                 gangs; use a Queue with mode Gates"
            );
            ("NotSupported", why)
        }
    }
}

/// Gangs come to the engine.
impl World {
    /// A pod of a gang that may come to its queue.
    pub(super) fn admit_to_gang(
        &mut self,
        seen: PodSeen,
        gang: &GangLabel,
        leaf: QueueId,
        now: Time,
    ) -> Result<(), KubernetesError> {
        let (size, gathered) = match self.gathered(&seen, gang, leaf) {
            Ok(found) => found,
            Err((reason, note)) => {
                self.refuse(seen, reason, note);
                return Ok(());
            }
        };
        let name = &gang.name;
        if gathered.begun || size <= 1 {
            return self.come(seen, leaf, now);
        }
        if gathered.waits {
            self.refuse(seen, "GangWaits", waits_note(name));
            return Ok(());
        }
        if gathered.there < size {
            let note = format!("{} of {size} pods of its {name} are there", gathered.there);
            self.refuse(seen, "GangIncomplete", note);
            return Ok(());
        }
        let mut pods = gathered.pods;
        match self.arrive_together(&pods, size, leaf, now)? {
            Ok((job, taken)) => {
                let later = pods.split_off(taken);
                pods.iter().for_each(|pod| self.waits_in(&pod.name.uid, job));
                for pod in later {
                    self.refuse(pod, "GangWaits", waits_note(name));
                }
            }
            Err((reason, note)) => {
                for pod in pods {
                    self.refuse(pod, reason, note.clone());
                }
            }
        }
        Ok(())
    }

    /// The job of pods of which `size` start together, and how many of them it has: all, but of
    /// unlike ones the first `size`, which start all together.
    fn arrive_together(
        &mut self,
        pods: &[PodSeen],
        size: u32,
        leaf: QueueId,
        now: Time,
    ) -> Result<Result<(JobId, usize), Refusal>, KubernetesError> {
        let mut asks = Vec::new();
        for pod in pods {
            let demand = match (&pod.demand, pod.is_placed() && pod.near.is_choosy()) {
                (Ok(demand), false) => demand.amounts,
                _ => {
                    pods.iter().for_each(|pod| self.drop_rule(&pod.name.uid));
                    return Ok(Err(why_not_together(pod)));
                }
            };
            asks.push(self.keep_asks(pod, demand, now)?);
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let taken = if asks.iter().all(|own| *own == asks[0]) { pods.len() } else { size };
        pods[taken..].iter().for_each(|pod| self.drop_rule(&pod.name.uid));
        let (pods, groups) = by_group(&pods[..taken], &asks[..taken]);
        let mut detail = self.detail_of(pods[0], groups[0].0.clone(), leaf);
        detail.more = pods[1..].iter().map(|pod| pod.name.clone()).collect();
        let mut from = 0;
        for (asks, members) in &groups {
            detail.unlike.extend((from > 0).then(|| (from, (*asks).clone())));
            from += count_of(members.len());
        }
        let job = self.job_of(detail, &task_groups(&groups, count_of(size)), leaf, now)?;
        if job.is_err() {
            pods.iter().for_each(|pod| self.drop_rule(&pod.name.uid));
        }
        Ok(job.map(|job| (job, taken)))
    }

    /// How many start together, and who is there; or why that cannot be said.
    fn gathered(
        &self,
        seen: &PodSeen,
        gang: &GangLabel,
        leaf: QueueId,
    ) -> Result<(u32, Gathered), Refusal> {
        let namespace = &seen.name.namespace;
        let size = self.size_of(namespace, gang)?;
        let key = (namespace.clone(), gang.name.clone());
        let mut all = Gathered { begun: false, waits: false, there: 1, pods: vec![seen.clone()] };
        let members = self.gangs.members.get(&key);
        // As long as it is not complete nobody is read: whoever comes costs one look at each.
        let may_be_whole = members.map_or(0, BTreeSet::len) >= usize::try_from(size).unwrap_or(0);
        for row in members.into_iter().flatten().filter_map(|uid| self.pods.get(uid)) {
            if let Some(other) = row.gang.as_ref().filter(|other| other.size != gang.size) {
                let count = |size: Option<u32>| size.map_or_else(String::new, |n| n.to_string());
                let (own, theirs) = (count(gang.size), count(other.size));
                let (name, pod) = (&gang.name, &row.name.name);
                return Err((
                    "GangInvalid",
                    format!(
                        "by its own label {own} pods of its {name} start together, by that of pod \
                         {pod} {theirs}: give all of them one number"
                    ),
                ));
            }
            match &row.stand {
                Stand::Sent(_) | Stand::Lifted(_) | Stand::Bound(_) => all.begun = true,
                Stand::Waits(_) if row.name.uid != seen.name.uid => all.waits = true,
                Stand::Refused(_) if row.name.uid == seen.name.uid => {}
                Stand::Refused(_) if !may_be_whole => all.there += 1,
                Stand::Refused(other)
                    if self.wants(other).is_ok_and(|it| it == Some((leaf, false))) =>
                {
                    all.there += 1;
                    all.pods.push((**other).clone());
                }
                _ => {}
            }
        }
        all.pods.sort_by(|a, b| (a.created, &a.name).cmp(&(b.created, &b.name)));
        Ok((size, all))
    }

    fn size_of(&self, namespace: &str, gang: &GangLabel) -> Result<u32, Refusal> {
        let (name, kind) = match (gang.size, &gang.name) {
            (Some(size), _) => return Ok(size),
            (None, GangName::Label(_)) => return Ok(1),
            (None, GangName::PodGroup(name)) => (name, "scheduling.x-k8s.io/v1alpha1"),
            (None, GangName::SchedulingGroup(name)) => (name, "scheduling.k8s.io"),
        };
        let known = self.gangs.groups.get(&(namespace.to_owned(), gang.name.clone()));
        known.copied().ok_or_else(|| {
            let note = format!(
                "there is no PodGroup `{name}` in its namespace, or this cluster does not have the \
                 kind PodGroup of {kind}"
            );
            ("GangUnknown", note)
        })
    }

    /// A pod that waits leaves its job. Where that is a gang of which none has begun, the others
    /// gather again.
    pub(super) fn leave_job(
        &mut self,
        uid: &str,
        job: JobId,
        now: Time,
    ) -> Result<(), KubernetesError> {
        self.told = true;
        let Some(detail) = self.driver.job(job).map(|job| job.detail.clone()) else {
            return Ok(());
        };
        if self.driver.engine().running_of(job) > 0 && detail.is_gang() {
            let task = detail.task_of(uid);
            let why = Some("the pod is not wanted any more");
            must(self.driver.task_withdrawn(now, job, task, why))?;
            self.forget_task(job, task);
            self.drop_rule(uid);
            return Ok(());
        }
        let others: Vec<PodSeen> = detail
            .pods()
            .filter(|pod| pod.uid != uid)
            .filter_map(|pod| self.as_it_waits(&pod.uid))
            .filter(|(at, _)| *at == job)
            .map(|(_, seen)| seen)
            .collect();
        must(self.driver.job_cancelled(now, job))?;
        self.drop_rule(uid);
        for other in others {
            let uid = other.name.uid.clone();
            self.drop_rule(&uid);
            self.stands(&uid, Stand::Refused(Box::new(other)));
            self.gangs.again.insert(uid);
        }
        Ok(())
    }

    /// A gang has begun: what gathers beside it follows.
    pub(super) fn gang_begins_with(&mut self, job: JobId) {
        let first = self.driver.job(job).and_then(|job| job.detail.pods().next());
        let uid = first.map(|pod| pod.uid.clone());
        let row = uid.and_then(|uid| self.pods.get(&uid));
        let key = row.and_then(|row| Some((row.name.namespace.clone(), row.gang.clone()?.name)));
        if let Some(key) = key {
            self.gangs.look_at(key);
        }
    }

    /// What this decision has ordered of a gang so far is taken back.
    pub(super) fn take_back_gang(
        &mut self,
        job: JobId,
        from: usize,
    ) -> Result<(), KubernetesError> {
        let ordered = self.orders.split_off(from);
        for order in ordered {
            let placed = match &order {
                Order::Start(start) => {
                    self.pods.get(&start.pod.uid).and_then(|row| match row.stand {
                        Stand::Sent(placed) if placed.job == job => {
                            Some((start.pod.uid.clone(), placed))
                        }
                        _ => None,
                    })
                }
                _ => None,
            };
            match placed {
                Some((uid, placed)) => {
                    self.take_back(placed.task, "its gang is taken back")?;
                    self.stands(&uid, Stand::Waits(job));
                }
                None => self.orders.push(order),
            }
        }
        Ok(())
    }

    /// A pod of a gang has ended; where its job goes on, it knows.
    pub(super) fn forget_task(&mut self, job: JobId, task: u32) {
        if let Some(live) = self.driver.job_mut(job).filter(|live| live.detail.is_gang()) {
            live.detail.forget(task);
        }
    }

    /// Whether several pods are one job.
    pub(super) fn is_gang(&self, job: JobId) -> bool {
        self.driver.job(job).is_some_and(|job| job.detail.is_gang())
    }

    /// The number of a running task in its job.
    pub(super) fn number_of(&self, placed: Placed) -> u32 {
        self.driver.running(placed.task).map_or(0, |task| task.task)
    }
}
