//! A node's class has another price: what runs there is charged by the old one until now, and by
//! the new one from now on.
//!
//! To the engine the node leaves and joins again at one instant, and its tasks are adopted where
//! they were: what they used stays charged by the weight that the node had. So it is in the
//! decision log, in events that are there anyway, and replays. A start that is not confirmed yet
//! is undone first, and charged by the new price from its beginning: should it fail, nothing of it
//! stays. What was held for somebody on that node is planned anew, and a task that was told to stop
//! ends as any other.
//!
//! Until when a pod is charged already is kept in its job, so that no leader charges it twice.
//!
//! Invariant: the sum over pods of demand x price x time. Cost: O(tasks of the node), and O(pods)
//! for those that are unconfirmed.

use meed::{JobId, NodeId, NodeSpec, Time};

use super::{Placed, Stand, World, must};
use crate::error::KubernetesError;

/// Said in the decision log.
const WHY: &str = "the class of its node has another price";

impl World {
    /// A node counts by that weight from now on.
    pub(super) fn reprice(
        &mut self,
        name: &str,
        weight: u32,
        now: Time,
    ) -> Result<(), KubernetesError> {
        let Some(before) = self.nodes.get(name).map(|row| row.id) else { return Ok(()) };
        self.told = true;
        let spec = NodeSpec { weight, ..self.driver.engine().node(before).0.clone() };
        let mut again = self.undo_the_unconfirmed(before, now)?;
        for task in must(self.driver.node_left(now, before))? {
            again.push((task.job, task.task, now));
        }
        let id = must(self.driver.node_joined(now, spec))?;
        if let Some(row) = self.nodes.get_mut(name) {
            row.id = id;
            self.dirty.insert(name.to_owned());
        }
        for (job, number, since) in again {
            let adopted = self.driver.task_adopted(now, (job, number), id, since, None);
            let task = must(adopted)?;
            self.goes_on_as(Placed { job, task }, number, (since == now).then_some(now));
        }
        Ok(())
    }

    /// Starts on the node of which it is not known whether they were carried out: jobs, tasks, and
    /// when they began. A leader that begins knows of none: its first list says who runs.
    fn undo_the_unconfirmed(
        &mut self,
        node: NodeId,
        now: Time,
    ) -> Result<Vec<(JobId, u32, Time)>, KubernetesError> {
        if self.decisions == 0 {
            return Ok(Vec::new());
        }
        let engine = self.driver.engine();
        let unconfirmed = self.pods.values().filter_map(|row| {
            let Stand::Sent(placed) = &row.stand else { return None };
            let here = self.driver.running(placed.task).is_some_and(|task| task.node == node);
            here.then_some((placed.task, engine.started(placed.task)?))
        });
        let unconfirmed: Vec<_> = unconfirmed.collect();
        let mut undone = Vec::new();
        for (task, since) in unconfirmed {
            let row = must(self.driver.start_failed(now, task, Some(WHY)))?;
            undone.push((row.job, row.task, since));
        }
        Ok(undone)
    }

    /// The pod of a task stands as before, by another number of its task.
    fn goes_on_as(&mut self, placed: Placed, number: u32, charged: Option<Time>) {
        let Some(job) = self.driver.job_mut(placed.job) else { return };
        if let Some(charged) = charged {
            job.detail.priced.insert(number, charged.as_micros());
        }
        let uid = job.detail.pod_of(number).map(|pod| pod.uid.clone());
        let Some(row) = uid.and_then(|uid| self.pods.get_mut(&uid)) else { return };
        match &mut row.stand {
            Stand::Sent(at) | Stand::Lifted(at) | Stand::Bound(at) => *at = placed,
            _ => return,
        }
        row.charged_until = charged.or(row.charged_until);
    }
}
