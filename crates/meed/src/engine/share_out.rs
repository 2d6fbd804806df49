//! Sharing out: each queue's share, level by level, after the cluster or the tree has changed.
//!
//! A change only makes sharing out due ([`Core::shares_change`]); it is done once, before the
//! next decision or before time moves on, whatever came at that instant. So 1,000 nodes that join
//! at one instant cost one pass over the queues.
//!
//! Why that is the same: all that shares go into are sums over time (charges with a discount,
//! lending, what a leaf is entitled to), and no time passes in between; keys are read when
//! decisions are made, and all are put in order anew by the pass. What reads a share at once is
//! given it first ([`Reads`]). Two changes are shared out at once: where newcomers' terms are parts
//! of the pool, for they are rounded at each change of it, and queues below rescaled parents.
//!
//! Views between a change and the pass see what it will make ([`Core::seen`]), so nobody outside
//! can tell when it was done. They cost a copy of the books, once for each event after which
//! somebody looks: who looks often calls [`Engine::advance`] first.

use super::books::Books;
use super::core::Core;
use super::guard::Guard;
use super::seen::Seen;
use super::tree::Tree;
use crate::ids::QueueRow;

/// What reads shares, weights or the pool as soon as something happens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// Work comes: a newcomer may be topped up.
    TopUps,
    /// What a task was charged since its start is added or taken back.
    Charges,
    /// Both.
    All,
}

impl Core {
    /// The capacity, or (`of_queues`) the tree, has changed: shares are given out before anybody
    /// reads them.
    pub(super) fn shares_change(&mut self, of_queues: bool) {
        self.shares_due = true;
        // What newcomers were topped up with is rounded at each change of the pool. Where parents
        // are rescaled, each queue has a row of its own from the start.
        if self.books.reads_shares().parts || of_queues && self.rescales {
            self.share_out();
        }
    }

    pub(super) fn queues_changed(&mut self) {
        self.shares_change(true);
    }

    /// Gives shares out if that is due.
    #[inline]
    pub(super) fn share_out_if_due(&mut self) {
        if self.shares_due {
            self.share_out();
        }
    }

    /// The same, where some policy reads them now.
    #[inline]
    pub(super) fn share_out_for(&mut self, what: Reads) {
        if !self.shares_due {
            return;
        }
        let reads = self.books.reads_shares();
        let (top_ups, charges) = (what != Reads::Charges, what != Reads::TopUps);
        if top_ups && reads.top_ups || charges && reads.discounts {
            self.share_out();
        }
    }

    /// Computes all shares anew (`tree`), tells ledgers and meters (`books`, `guard`), and puts all
    /// heaps in order anew: keys may have fallen. O(queues).
    pub(super) fn share_out(&mut self) {
        self.shares_due = false;
        self.sweeps += 1;
        self.seen.take();
        let total = *self.room.total();
        self.tree.share_out(&total);
        self.books.set_servers(|| self.room.alone());
        self.books.share_out(self.now, &self.tree, &total);
        if let Some(guard) = &mut self.guard {
            guard.share_out(self.now, &self.tree, &total);
        }
        match self.rescales {
            true => self.rebuild_rescaled(),
            false => (1..self.tree.len() as u32).for_each(|queue| self.rekey(QueueRow(queue))),
        }
        // Shares of jobs are parts of the pool as well.
        if self.books.any_dominant() {
            for id in self.work.job_ids().collect::<Vec<_>>() {
                self.rekey_job(id);
            }
        }
    }

    /// The tree, the books and the guard as they are once shares have been given out: copies where
    /// that is due, made once.
    #[inline]
    pub(super) fn seen(&self) -> (&Tree, &Books, Option<&Guard>) {
        if !self.shares_due {
            return (&self.tree, &self.books, self.guard.as_ref());
        }
        let seen = self.seen.get_or_init(|| {
            let total = self.room.total();
            let (mut tree, mut books) = (self.tree.clone(), self.books.clone());
            let mut guard = self.guard.clone();
            tree.share_out(total);
            books.set_servers(|| self.room.alone());
            books.share_out(self.now, &tree, total);
            if let Some(guard) = &mut guard {
                guard.share_out(self.now, &tree, total);
            }
            Box::new(Seen { tree, books, guard })
        });
        (&seen.tree, &seen.books, seen.guard.as_ref())
    }
}
