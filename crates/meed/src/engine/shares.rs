//! Sharing out: each queue's share, level by level, after the cluster or the tree has changed.

use super::Engine;
use crate::fairness::dominant::WHOLE;
use crate::order::{Domain, Minimum, Pool};
use crate::shares::apportion;
use crate::spec::QueueId;

impl Engine {
    /// Computes all shares anew and tells ledgers and meters. O(queues); clusters and trees change
    /// rarely.
    pub(super) fn share_out(&mut self) {
        let now = self.now;
        self.queues[0].rest.share = self.cluster.total;
        self.queues[0].rest.part = WHOLE;
        self.change_pools();
        for parent in 0..self.queues.len() {
            let queue = &self.queues[parent];
            if queue.removed || queue.children.is_empty() {
                continue;
            }
            let (children, total) = (queue.children.clone(), queue.rest.share);
            let (part, domain) = (queue.rest.part, queue.domain);
            let weights: Vec<u64> =
                children.iter().map(|child| self.queues[child.index()].terms.weight).collect();
            for (child, part) in children.iter().zip(apportion(part, &weights)) {
                self.queues[child.index()].rest.part = part;
            }
            for kind in 0..self.kinds.len() {
                for (child, part) in children.iter().zip(apportion(total.get(kind), &weights)) {
                    self.queues[child.index()].rest.share.as_mut_slice()[kind] = part;
                }
            }
            for child in &children {
                let (queue, domain) = (&mut self.queues[child.index()], &self.domains[domain]);
                let (old, share) = (queue.terms.share, queue.rest.share);
                queue.terms.share = queue.standing.set_share(now, domain, old, &share);
                queue.terms.min = queue.rest.min.map_or(Minimum::NONE, |min| domain.minimum(&min));
            }
        }
        self.measure_shares();
        self.rebuild_heaps();
    }

    /// Dominant shares are parts of the cluster as it is now, and so are newcomers' terms. Of an
    /// empty cluster nothing is a part: the last pool stays.
    fn change_pools(&mut self) {
        let total = self.cluster.total;
        if total.is_zero() {
            return;
        }
        if let Some(guard) = self.guard.as_mut().filter(|guard| guard.domain.is_dominant()) {
            guard.domain.pool = Pool::new(&total);
        }
        for domain in 0..self.domains.len() {
            if !self.domains[domain].is_dominant() {
                continue;
            }
            let before = std::mem::replace(&mut self.domains[domain].pool, Pool::new(&total));
            let after = self.domains[domain].pool.count();
            let (queues, jobs) = self.members(domain);
            for id in queues {
                self.queues[id.index()].standing.change_parts(before.count(), after);
            }
            for id in jobs {
                self.jobs[id].standing.change_parts(before.count(), after);
            }
        }
    }

    fn measure_shares(&mut self) {
        let measured = self.meter_kind();
        self.meter.set_pool(&self.cluster.total);
        for index in 1..self.queues.len() {
            let queue = &self.queues[index];
            let (share, part) = match queue.is_leaf() && !queue.removed {
                true => (queue.rest.share.get(measured), queue.rest.part),
                false => (0, 0),
            };
            self.meter.set_share(self.now, index, share, part);
        }
        if let Some(guard) = &mut self.guard {
            guard.share_out(self.now, &self.queues);
        }
    }

    /// Keys may have fallen: all heaps are put in order anew.
    pub(super) fn rebuild_heaps(&mut self) {
        match self.rescales {
            true => self.rebuild_rescaled(),
            false => self.rekey_queues(),
        }
        // Shares of jobs are parts of the pool as well.
        if self.domains.iter().any(Domain::is_dominant) {
            for id in self.jobs.iter().map(|(id, _)| id).collect::<Vec<_>>() {
                self.rekey_job(id);
            }
        }
        self.rekey_guard();
    }

    fn rekey_queues(&mut self) {
        for index in 0..self.queues.len() {
            let children: Vec<u32> =
                self.queues[index].demanding.iter().map(|(_, id)| *id).collect();
            for child in children {
                self.rekey(QueueId(child));
            }
            if self.queues[index].parked {
                self.rekey(QueueId(index as u32));
            }
        }
    }
}
