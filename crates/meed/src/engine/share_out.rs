//! Sharing out: each queue's share, level by level, after the cluster or the tree has changed.

use super::Engine;
use crate::spec::QueueId;

impl Engine {
    /// Computes all shares anew (`tree`), tells ledgers and meters (`books`, `guard`), and puts all
    /// heaps in order anew: keys may have fallen. O(queues); clusters and trees change rarely.
    pub(super) fn share_out(&mut self) {
        let total = *self.room.total();
        self.tree.share_out(&total);
        self.books.share_out(self.now, &self.tree, &total);
        if let Some(guard) = &mut self.guard {
            guard.share_out(self.now, &self.tree, &total);
        }
        match self.rescales {
            true => self.rebuild_rescaled(),
            false => (1..self.tree.len() as u32).for_each(|queue| self.rekey(QueueId(queue))),
        }
        // Shares of jobs are parts of the pool as well.
        if self.books.any_dominant() {
            for id in self.work.job_ids().collect::<Vec<_>>() {
                self.rekey_job(id);
            }
        }
        self.rekey_guard();
    }
}
