//! Who waits for room: told in the pod's condition `PodScheduled=False`, reason `Unschedulable`,
//! for whoever adds nodes where pods have none.
//!
//! Most pods that wait, wait for their turn: were all of them marked, nodes would be bought for the
//! whole backlog. A pod waits for room when Meed is to place it, no node has room for it now, no
//! maximum share stands in its way, and it is the first in order of its queue, or what its queue
//! holds and the marked pods before it ask for leaves its own demand within the queue's share. A
//! first one that is larger than what is left of the share takes nothing of it. So a queue asks
//! for the room that it is entitled to and cannot get, and for one pod more than that; a cluster
//! without nodes gets its first.
//!
//! A mark is written when two looks in a row agree, and taken back when one does not
//! (`WaitsForTurn`; `NotInQueue` where the pod is refused now): a pod that starts within seconds is
//! never marked. What the API shows is what counts; so a new leader writes nothing again.
//!
//! Cost: O(waiting pods x log) of queues whose pods Meed places, for each look; O(nodes) for each
//! pod that is looked at.

use std::collections::BTreeMap;

use meed::{GroupView, NodeRoom, QueueId, Time};

use super::marked::{Mark, UNSCHEDULABLE};
use super::{Order, Stand, World};
use crate::crd::PlacedBy;

/// The reason of a pod that was marked, and is not any more.
const FOR_TURN: &str = "WaitsForTurn";
/// Likewise, and that is not in its queue any more.
const NOT_IN_QUEUE: &str = "NotInQueue";

/// Most marks of one queue.
const MOST: usize = 100;

impl World {
    /// Looks who waits for room; marks that are to be written or taken back.
    pub(crate) fn marks(&mut self, now: Time) -> Vec<Order> {
        let engine = self.driver.engine();
        let leaves: Vec<QueueId> = self
            .queues
            .values()
            .filter(|row| row.spec.mode == PlacedBy::Binds)
            .filter_map(|row| self.driver.queue_named(row.full.as_deref()?))
            .filter(|&id| engine.queue(id).is_leaf && engine.queue(id).waiting > 0)
            .collect();
        let wanted: BTreeMap<String, GroupView> =
            leaves.into_iter().flat_map(|leaf| self.wait_for_room(leaf)).collect();
        let mut orders = Vec::new();
        let before = std::mem::take(&mut self.marks.found);
        for (uid, group) in &wanted {
            if !self.marks.shown.contains(uid)
                && before.contains(uid)
                && self.marks.is_due(uid, true, now)
                && let Some(row) = self.pods.get(uid)
            {
                let (pod, note) = (row.name.clone(), self.why_no_room(group));
                orders.push(Order::Mark(Mark { pod, reason: UNSCHEDULABLE, note }));
            }
        }
        for uid in self.marks.shown.clone() {
            let Some(row) = self.pods.get(&uid) else { continue };
            let (reason, note) = match &row.stand {
                Stand::Waits(_) => (FOR_TURN, "it waits for its turn"),
                Stand::Refused(seen) if seen.ours => {
                    (NOT_IN_QUEUE, "it is not in its queue: its events say why")
                }
                _ => continue,
            };
            if !wanted.contains_key(&uid) && self.marks.is_due(&uid, false, now) {
                let (pod, note) = (row.name.clone(), note.to_owned());
                orders.push(Order::Mark(Mark { pod, reason, note }));
            }
        }
        self.marks.found = wanted.into_keys().collect();
        orders
    }

    /// The pods of a queue that wait for room, and what each asks for.
    fn wait_for_room(&self, leaf: QueueId) -> Vec<(String, GroupView)> {
        let engine = self.driver.engine();
        let (view, measured) = (engine.queue(leaf), engine.measured());
        let share = view.share.as_slice()[measured];
        let mut held = view.held.as_slice()[measured];
        let mut found = Vec::new();
        for group in engine.groups_in_order(leaf) {
            if found.len() >= MOST {
                break;
            }
            let together = u64::from(group.together);
            let next = held.saturating_add(group.whole.as_slice()[measured]);
            let is_over = next > share && !found.is_empty();
            // The cheap questions first: most pods that wait are beyond the share.
            if is_over || group.capped_by.is_some() || engine.fit_at_once(&group) >= together {
                continue;
            }
            if next <= share {
                held = next;
            }
            let job = self.driver.job(group.job);
            let pods = job.into_iter().flat_map(|job| job.detail.pods());
            let here = Stand::Waits(group.job);
            let waits = |uid: &String| self.pods.get(uid).is_some_and(|row| row.stand == here);
            let waiting = pods.map(|pod| pod.uid.clone()).filter(waits);
            found.extend(waiting.map(|uid| (uid, group)));
        }
        found
    }

    /// In the words of kube-scheduler: how many nodes there are, and why none takes it.
    fn why_no_room(&self, group: &GroupView) -> String {
        let engine = self.driver.engine();
        let allowed: Vec<NodeRoom> = engine.nodes_for(group).collect();
        let others = self.nodes.len().saturating_sub(allowed.len());
        let mut why = Vec::new();
        if others > 0 {
            why.push(format!("{others} not allowed by its rules or by pods that are there"));
        }
        if !allowed.is_empty() {
            why.push(format!("{} without enough room", allowed.len()));
        }
        let why = if why.is_empty() { "there is none".to_owned() } else { why.join(", ") };
        format!("0/{} nodes are available: {why}", self.nodes.len())
    }
}
