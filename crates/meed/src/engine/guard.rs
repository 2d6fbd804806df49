//! The starvation guard of H-LTRF (TSC'18 Algorithm 2).
//!
//! Among all demanding leaves, whatever their parents, the one that has used least (u_i / w_i, as
//! in Algorithm 1, by the root's rules) is served out of turn once it has waited t_wait since its
//! last service or since its demand began. So t_wait = 0 is single-level LTRF over the leaves, and
//! t_wait = infinity the naive walk (Theorem 1).
//!
//! The guard keeps a ledger of its own for each leaf, by the root's memory, discount and quantum,
//! since a parent's may differ. Cost: one more heap and ledger update for each start and end, only
//! where t_wait is set.

use super::queues::Queue;
use super::{Engine, NO_PLACE};
use crate::order::heap::Heap;
use crate::order::key::Key;
use crate::order::{Domain, Minimum, Standing, Terms};
use crate::policy::Policy;
use crate::spec::QueueId;
use crate::time::{Span, Time};

pub(super) struct Guard {
    t_wait: Span,
    pub(super) domain: Domain,
    pub(super) standings: Vec<Standing>,
    pub(super) terms: Vec<Terms>,
    demanding: Heap,
    places: Vec<u32>,
}

impl Guard {
    pub(super) fn new(t_wait: Span, root: &Policy) -> Guard {
        let mut guard = Guard {
            t_wait,
            domain: Domain::new(root),
            standings: Vec::new(),
            terms: Vec::new(),
            demanding: Heap::default(),
            places: Vec::new(),
        };
        guard.add_queue();
        guard
    }

    pub(super) fn t_wait(&self) -> Span {
        self.t_wait
    }

    pub(super) fn add_queue(&mut self) {
        let tie = (self.standings.len() as u64, 0);
        self.standings.push(Standing::default());
        self.terms.push(Terms { weight: 1000, min: Minimum::NONE, share: 0, tie });
        self.places.push(NO_PLACE);
    }

    pub(super) fn share_out(&mut self, now: Time, queues: &[Queue]) {
        for (index, queue) in queues.iter().enumerate() {
            let terms = &mut self.terms[index];
            terms.weight = queue.terms.weight;
            terms.share =
                self.standings[index].set_share(now, &self.domain, terms.share, &queue.rest.share);
        }
    }

    pub(super) fn key(&mut self, now: Time, leaf: QueueId) -> Key {
        self.standings[leaf.index()].key(now, &self.domain, &self.terms[leaf.index()])
    }

    pub(super) fn add(&mut self, now: Time, leaf: QueueId) {
        if self.places[leaf.index()] == NO_PLACE {
            let key = self.key(now, leaf);
            self.demanding.push(key, leaf.0, &mut self.places);
        }
    }

    pub(super) fn remove(&mut self, leaf: QueueId) {
        if self.places[leaf.index()] != NO_PLACE {
            self.demanding.remove(leaf.0, &mut self.places);
        }
    }

    pub(super) fn rekey(&mut self, now: Time, leaf: QueueId) {
        if self.places[leaf.index()] != NO_PLACE {
            let key = self.key(now, leaf);
            self.demanding.update(key, leaf.0, &mut self.places);
        }
    }

    /// The demanding leaf with the smallest key.
    fn least(&mut self, now: Time) -> Option<QueueId> {
        loop {
            let (_, id) = self.demanding.peek()?;
            let key = self.key(now, QueueId(id));
            if self.demanding.certifies(&key) {
                return Some(QueueId(id));
            }
            self.demanding.update(key, id, &mut self.places);
        }
    }
}

impl Engine {
    /// The leaf to be served out of turn, and how long it has waited.
    #[inline]
    pub(super) fn starved(&mut self) -> Option<(QueueId, Span)> {
        loop {
            let guard = self.guard.as_mut()?;
            let (leaf, t_wait) = (guard.least(self.now)?, guard.t_wait);
            if !self.can_start(leaf) {
                // It can be served neither in turn nor out of it, and stands in nobody's way.
                self.park(leaf);
                continue;
            }
            let waited = self.now.saturating_since(self.queues[leaf.index()].waits_since);
            // ">=": Theorem 1 at t_wait = 0 needs it; Algorithm 2 prints ">".
            return (waited >= t_wait).then_some((leaf, waited));
        }
    }

    /// Whether something of `leaf` fits somewhere: looked for, as one that merely may would keep
    /// others from their turn.
    fn can_start(&mut self, leaf: QueueId) -> bool {
        if self.waits {
            return self.may_start(leaf);
        }
        for i in 0..self.queues[leaf.index()].buckets.len() {
            if self
                .startable_shape(leaf, i)
                .is_some_and(|shape| self.find_or_block(shape).is_some())
            {
                return true;
            }
        }
        false
    }

    pub(super) fn rekey_guard(&mut self) {
        let Some(guard) = &mut self.guard else { return };
        for id in guard.demanding.iter().map(|(_, id)| *id).collect::<Vec<_>>() {
            guard.rekey(self.now, QueueId(id));
        }
    }
}
