//! Sharing out: each queue's share, level by level, after the cluster or the tree has changed.

use super::Engine;
use crate::shares::apportion;
use crate::spec::QueueId;

impl Engine {
    /// Computes all shares anew and tells ledgers and meters. O(queues); clusters and trees change rarely.
    pub(super) fn share_out(&mut self) {
        let now = self.now;
        self.queues[0].rest.share = self.cluster.total;
        for parent in 0..self.queues.len() {
            let queue = &self.queues[parent];
            if queue.removed || queue.children.is_empty() {
                continue;
            }
            let (children, total) = (queue.children.clone(), queue.rest.share);
            let (rule, scalar) = (self.domains[queue.domain].rule, self.domains[queue.domain].scalar.clone());
            let weights: Vec<u64> =
                children.iter().map(|child| self.queues[child.index()].terms.weight).collect();
            for kind in 0..self.kinds.len() {
                for (child, part) in children.iter().zip(apportion(total.get(kind), &weights)) {
                    self.queues[child.index()].rest.share.as_mut_slice()[kind] = part;
                }
            }
            for child in &children {
                let queue = &mut self.queues[child.index()];
                // The use so far was counted by the old share.
                if rule.keeps_usage() {
                    queue.standing.ledger().settle(now, rule.ledger_rules(queue.terms.share));
                }
                queue.terms.share = scalar.amount(&queue.rest.share, 1000);
            }
        }
        self.measure_shares();
        self.rebuild_heaps();
    }

    fn measure_shares(&mut self) {
        let measured = self.meter_kind();
        for index in 1..self.queues.len() {
            let queue = &self.queues[index];
            let share = if queue.is_leaf() && !queue.removed { queue.rest.share.get(measured) } else { 0 };
            self.meter.set_share(self.now, index, share);
        }
        if let Some(guard) = &mut self.guard {
            guard.share_out(self.now, &self.queues);
        }
    }

    /// Keys may have fallen: all heaps are put in order anew.
    pub(super) fn rebuild_heaps(&mut self) {
        for index in 0..self.queues.len() {
            let children: Vec<u32> = self.queues[index].demanding.iter().map(|(_, id)| *id).collect();
            for child in children {
                self.rekey(QueueId(child));
            }
        }
        self.rekey_guard();
    }
}
