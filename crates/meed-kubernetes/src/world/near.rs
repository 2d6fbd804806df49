//! Pods that keep others away, or want them near: what the engine is told of it.
//!
//! The engine knows labels of nodes, and what a job asks of labels. So each term of a pod on a node
//! that keeps others away is a label of all nodes of its place, which jobs of the pods that it
//! selects forbid; and each wish of a pod that Meed is to place is a label of the nodes where it
//! holds now, which its job requires. Labels follow the pods before every decision.
//!
//! One decision may start several pods, and the first may keep the others away. So every start is
//! held against the pods that are there *and* those that the same decision has started; one that
//! must not be is taken back, charged nothing, and it is decided again at once.
//!
//! A job's constraints do not change: a term that nobody had before makes the pods that it selects
//! ask anew, and those behind them in their queues, so that all keep their order. What was held for
//! them, and for how long they were passed over, begins anew too.
//!
//! Invariant: no pod is ordered to a node where, as far as was heard, a required term of anybody
//! forbids it. Cost: O(nodes x (terms avoided + wishes)) where a count changed; O(pods that wait)
//! for a term that is new.

use std::collections::BTreeMap;

use meed::{AllocationId, QueueId, Span, Time};

use super::neighbours::{avoid_label, wish_label};
use super::{Placed, PodRow, Stand, World, must};
use crate::error::KubernetesError;
use crate::pod::PodSeen;
use crate::pod::near::{Labels, Near};

/// Said of a pod that no node is left for, because of other pods.
const KEPT_AWAY: &str = "KeptAway";

/// What a pod's job asks of nodes: its rule, its wish, what it avoids.
type Asked<'r> = (Option<&'r String>, Option<&'r String>, &'r [String]);

/// After so many decisions of which nothing was left it is not decided again at once.
const FRUITLESS: u32 = 3;

/// The next instant.
pub(super) fn after(time: Time) -> Time {
    Span::from_micros(1).map_or(time, |one| time.saturating_add(one))
}

impl World {
    /// The neighbours hear where a pod is, as far as its row tells: of one that was let go, when
    /// kube-scheduler has bound it.
    pub(super) fn keep_place(&mut self, uid: &str) {
        let Some(row) = self.pods.get(uid) else { return };
        let driver = &self.driver;
        let node_of = |placed: &Placed| {
            let task = driver.running(placed.task);
            task.map(|task| driver.engine().node(task.node).0.name.as_str())
        };
        let node = match &row.stand {
            Stand::Stranger { node, .. } => Some(node.as_str()),
            Stand::Bound(placed) => node_of(placed),
            Stand::Sent(placed) => {
                let job = driver.job(placed.job).filter(|job| job.detail.is_placed());
                job.and_then(|_| node_of(placed))
            }
            Stand::Lifted(placed) => {
                let job = driver.job(placed.job).filter(|job| job.detail.pins);
                job.and_then(|_| node_of(placed))
            }
            _ => None,
        };
        match node {
            Some(node) => self.neighbours.place(uid, node, &row.near, &self.namespaces),
            None => self.neighbours.take(uid, &self.namespaces),
        }
    }

    /// What the job of a pod that Meed is to place asks of other pods; nothing of any other pod.
    pub(super) fn keep_near(&mut self, seen: &PodSeen) -> (Option<String>, Vec<String>) {
        let uid = &seen.name.uid;
        self.drop_near(uid);
        if !seen.is_placed() || seen.node.is_some() {
            return (None, Vec::new());
        }
        let wish = seen.near.wish(&self.namespaces);
        if let Some(text) = &wish {
            self.neighbours.wish(text, &seen.near, &self.namespaces);
        }
        let avoids = self.neighbours.against(&seen.near, &self.namespaces);
        self.neighbours.avoid(&avoids);
        self.looked = false;
        if let Some(row) = self.pods.get_mut(uid) {
            (row.wish, row.avoids) = (wish.clone(), avoids.clone());
        }
        (wish, avoids)
    }

    /// The wish of a pod of the checkpoint that is not bound yet, as the pod tells it. One that
    /// differs from its job's is told anew when the pod is looked at.
    pub(super) fn keep_wish(&mut self, seen: &PodSeen) {
        let Some(row) = self.pods.get_mut(&seen.name.uid) else { return };
        let job = match row.stand {
            Stand::Waits(job) | Stand::Sent(Placed { job, .. }) if seen.node.is_none() => job,
            _ => return,
        };
        let asks = self.driver.job(job).map(|job| job.detail.asks_of_pod(&seen.name.uid));
        let told = asks.and_then(|asks| asks.wish.as_ref());
        if let Some(text) = told
            && seen.near.wish(&self.namespaces).as_ref() == Some(text)
        {
            self.neighbours.wish(text, &seen.near, &self.namespaces);
            row.wish = Some(text.clone());
        }
    }

    /// The job of a pod is gone, or holds room.
    pub(super) fn drop_near(&mut self, uid: &str) {
        let Some(row) = self.pods.get_mut(uid) else { return };
        if let Some(text) = row.wish.take() {
            self.neighbours.unwish(&text);
        }
        self.neighbours.unavoid(&std::mem::take(&mut row.avoids));
    }

    /// Whether the job of a pod that waits asks of other pods what the pod says now; `before` is
    /// what it said, where that was heard. What it avoids may be gone meanwhile, and come back.
    pub(super) fn is_told_where(&self, seen: &PodSeen, before: &Near) -> bool {
        let Some(row) = self.pods.get(&seen.name.uid) else { return false };
        let against = self.neighbours.against(&seen.near, &self.namespaces);
        let was_heard = !before.namespace.is_empty();
        let is_other = was_heard && before.labels != seen.near.labels;
        row.wish == seen.near.wish(&self.namespaces)
            && against.iter().all(|text| row.avoids.contains(text))
            && (!is_other || against.len() == row.avoids.len())
    }

    /// Labels of namespaces have changed.
    pub(super) fn namespaces_changed(&mut self, now: Time) -> Result<(), KubernetesError> {
        self.neighbours.recount(&self.namespaces);
        let waits = |row: &PodRow| matches!(row.stand, Stand::Waits(_)) && row.near.is_choosy();
        let differs = |row: &PodRow| row.wish != row.near.wish(&self.namespaces);
        let all = self.pods.iter().filter(|(_, row)| waits(row) && self.binds(row));
        let others: Vec<String> =
            all.filter(|(_, row)| differs(row)).map(|(uid, _)| uid.clone()).collect();
        self.ask_anew(others, now)
    }

    fn binds(&self, row: &PodRow) -> bool {
        match row.stand {
            Stand::Waits(job) => self.driver.job(job).is_some_and(|job| job.detail.is_placed()),
            _ => false,
        }
    }

    /// Jobs and nodes are brought to what pods say of each other now.
    pub(super) fn settle_near(&mut self, now: Time) -> Result<(), KubernetesError> {
        let fresh = self.neighbours.take_fresh();
        if !fresh.is_empty() {
            // A term may select a pod that did not avoid it, or select it no more: a namespace
            // has other labels.
            let is_other = |row: &PodRow, text: &String| {
                let selects = self.neighbours.selects(text, &row.near, &self.namespaces);
                row.avoids.contains(text) != selects
            };
            let is_new = |row: &PodRow| fresh.iter().any(|text| is_other(row, text));
            let all = self.pods.iter().filter(|(_, row)| self.binds(row) && is_new(row));
            let others: Vec<String> = all.map(|(uid, _)| uid.clone()).collect();
            self.ask_anew(others, now)?;
        }
        if !self.neighbours.take_changed() {
            return Ok(());
        }
        self.looked = false;
        let view = self.neighbours.view(&self.nodes);
        let wanted = self.nodes.iter().map(|(name, row)| {
            let near: Vec<String> = view.labels(name, &row.facts.labels).collect();
            (name, row, near)
        });
        let others = wanted.filter(|(_, row, near)| row.near != *near);
        let others: Vec<_> = others.map(|(name, _, near)| (name.clone(), near)).collect();
        for (name, near) in others {
            if let Some(row) = self.nodes.get_mut(&name) {
                row.near = near;
            }
            self.relabel(&name, now)?;
        }
        Ok(())
    }

    /// Pods that wait get jobs that ask for what the pods say now, in the order in which they came;
    /// and so do those behind them in their queues, for a new job stands last. Cost: all pods are
    /// looked at once.
    fn ask_anew(&mut self, pods: Vec<String>, now: Time) -> Result<(), KubernetesError> {
        if pods.is_empty() {
            return Ok(());
        }
        let place = |row: &PodRow| match row.stand {
            Stand::Waits(job) => self.driver.job(job).map(|at| (at.queue(), row.place)),
            _ => None,
        };
        let mut first: BTreeMap<QueueId, u64> = BTreeMap::new();
        for (leaf, at) in pods.iter().filter_map(|uid| place(self.pods.get(uid)?)) {
            first.entry(leaf).and_modify(|least| *least = at.min(*least)).or_insert(at);
        }
        let is_behind = |(leaf, at)| first.get(&leaf).is_some_and(|first| *first <= at);
        let behind = self.pods.iter().filter_map(|(uid, row)| {
            let (_, at) = place(row).filter(|place| is_behind(*place))?;
            Some((at, uid.clone()))
        });
        // By their places.
        let pods: BTreeMap<u64, String> = behind.collect();
        let pods: Vec<_> = pods.values().filter_map(|uid| self.as_it_waits(uid)).collect();
        for (job, seen) in pods {
            // A gang leaves as a whole, with its first pod.
            if matches!(self.pods.get(&seen.name.uid), Some(row) if row.stand == Stand::Waits(job))
            {
                self.leave_job(&seen.name.uid, job, now)?;
            }
            self.stands(&seen.name.uid.clone(), Stand::Outside);
            self.admit(seen, now)?;
        }
        Ok(())
    }

    /// A start that pods on its node, or pods that started a moment before, do not allow is taken
    /// back.
    pub(super) fn is_taken_back(
        &mut self,
        uid: &str,
        task: AllocationId,
        node: &str,
    ) -> Result<bool, KubernetesError> {
        let Some(row) = self.pods.get(uid) else { return Ok(false) };
        let pod = (&*row.near, row.wish.as_deref());
        let Some(why) = self.neighbours.why_not(pod, node, &self.nodes, &self.namespaces) else {
            return Ok(false);
        };
        self.take_back(task, &why)?;
        Ok(true)
    }

    /// A start is undone, and it is decided again at once.
    pub(super) fn take_back(
        &mut self,
        task: AllocationId,
        why: &str,
    ) -> Result<(), KubernetesError> {
        // The record of a decision stands alone in its instant: what follows has the next one.
        must(self.driver.start_failed(after(self.decided), task, Some(why)))?;
        self.unsettled = true;
        Ok(())
    }

    /// The first start of a decision is never taken back, for the labels of nodes are those of the
    /// pods there. Should that be wrong one day, the loop must not run hot.
    pub(super) fn ensure_fruit(&mut self, ordered: bool) {
        self.fruitless = if self.unsettled && !ordered { self.fruitless + 1 } else { 0 };
        if self.fruitless >= FRUITLESS {
            (self.unsettled, self.fruitless) = (false, 0);
            let remark = "labels of nodes do not say what the pods there ask; decided again with \
                          the next news: please report this with the decision log";
            self.remarks.push(remark.to_owned());
        }
    }

    /// Pods that wait, and for which other pods leave no node, are told.
    pub(super) fn say_who_is_kept_away(&mut self) {
        if self.unsettled || std::mem::replace(&mut self.looked, true) {
            return;
        }
        // All pods are looked at, and most clusters have none that asks.
        if !self.neighbours.matter() {
            return;
        }
        let mut known: BTreeMap<Asked<'_>, Option<String>> = BTreeMap::new();
        let mut say = Vec::new();
        for (uid, row) in self.pods.iter().filter(|(_, row)| self.binds(row)) {
            if row.wish.is_none() && row.avoids.is_empty() {
                continue;
            }
            let key = (row.rule.as_ref(), row.wish.as_ref(), &row.avoids[..]);
            let note = known.entry(key).or_insert_with(|| self.kept_away(row));
            say.push((uid.clone(), note.clone()));
        }
        for (uid, note) in say {
            match (note, self.pods.get_mut(&uid)) {
                (Some(note), _) => self.say(&uid, KEPT_AWAY, note),
                (None, Some(row)) if row.said == Some(KEPT_AWAY) => row.said = None,
                _ => {}
            }
        }
    }

    /// Why other pods leave no node for a pod that waits, where that is so.
    fn kept_away(&self, row: &PodRow) -> Option<String> {
        let rule = row.rule.as_ref()?;
        let labels = |node: &super::node_row::NodeRow| -> &Labels {
            &self.driver.engine().node(node.id).0.labels
        };
        let allowed = self.nodes.values().map(labels).filter(|labels| labels.contains_key(rule));
        let allowed: Vec<&Labels> = allowed.collect();
        let blocked = |labels: &&&Labels, text: &String| labels.contains_key(&avoid_label(text));
        let is_wrong = |labels: &&&Labels| {
            row.wish.iter().any(|text| !labels.contains_key(&wish_label(text)))
                || row.avoids.iter().any(|text| blocked(labels, text))
        };
        if allowed.is_empty() || !allowed.iter().all(|labels| is_wrong(&labels)) {
            return None;
        }
        let wish = row.wish.iter().map(|text| format!("it asks for a place {text}"));
        let here = |text: &&String| allowed.iter().any(|labels| blocked(&labels, text));
        let avoids = row.avoids.iter().filter(here);
        let avoids = avoids.map(|text| format!("pods keep away {text}"));
        let why: Vec<String> = wish.chain(avoids).collect();
        Some(format!(
            "of {} nodes that its own rules allow none is left by the pods there: {}",
            allowed.len(),
            why.join("; ")
        ))
    }
}
