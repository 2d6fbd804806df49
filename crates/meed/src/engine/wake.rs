//! Whom room that has come free helps.
//!
//! Of the parked leaves that fresh nodes help (`room::fresh`) the one whose turn it is is woken,
//! before each walk (`ready::parked`): the others would come after it. Cost of a walk in a deep
//! backlog: a question to the tree of parked leaves, and one to the list of blocked demands.

use smallvec::SmallVec;

use super::books::Books;
use super::chosen::capped_by;
use super::core::Core;
use super::ready::{AT_ONCE, Bucket, Ready, Wide, bound};
use super::reserved::Reserved;
use super::room::Room;
use super::tree::Tree;
use crate::ids::{NodeRow, QueueRow};
use crate::order::key::Key;
use crate::resources::{MAX_KINDS, Resources};

/// What room does for a parked leaf.
enum Helped {
    Starts,
    /// Something fits, but not below a maximum share.
    Capped,
    Not,
}

/// What is asked whether room helps a leaf.
struct Parts<'a> {
    tree: &'a Tree,
    room: &'a Room,
    books: &'a Books,
    ready: &'a Ready,
    reserved: &'a Reserved,
}

impl Core {
    /// `node` has got room: what was found to fit nowhere may fit there.
    #[inline]
    pub(super) fn unblock(&mut self, node: NodeRow) {
        if !self.room.freshen(node) {
            while let Some(leaf) = self.first_helped(&[node], None) {
                self.wake_leaf(leaf);
            }
            self.room.open_shapes(node);
        }
    }

    /// Before a walk: wakes the parked leaf whose turn it is among those that fresh nodes help,
    /// unless somebody in the walk comes before it. With `all` it wakes all that they help, for
    /// runners-up are told as well.
    pub(super) fn wake_next(&mut self, all: bool) {
        // Where parents are rescaled, nobody waits for his turn out of the walk.
        if self.room.fresh().is_empty() || self.rescales || !self.ready.any_parked() {
            return;
        }
        let nodes: SmallVec<[NodeRow; 8]> = self.room.fresh().into();
        let below = if all { None } else { self.least_child(QueueRow::ROOT).map(|(key, _)| key) };
        while let Some(leaf) = self.first_helped(&nodes, below) {
            self.wake_leaf(leaf);
            if !all {
                break;
            }
        }
    }

    /// While it is looked for who is first in turn, whether it fits or not: wakes the parked leaf
    /// that comes before all in the walk, if one does; those whose key does not tell, all. With
    /// `two` the first two of the parked ones, for runners-up are told as well.
    pub(super) fn wake_first(&mut self, two: bool) {
        if self.rescales {
            return;
        }
        if two {
            self.wake_least_parked(None);
            self.wake_least_parked(None);
        } else if self.ready.any_parked() {
            let below = self.least_child(QueueRow::ROOT).map(|(key, _)| key);
            self.wake_least_parked(below);
        }
    }

    /// Wakes the parked leaf with the smallest key, if that is below `below`, whether it fits or
    /// not.
    fn wake_least_parked(&mut self, below: Option<Key>) {
        // More than anybody can ask for.
        let everything = Resources::new(&[u64::MAX - 1; MAX_KINDS][..self.kinds.len()]);
        let found = self.least_parked(&[everything], below, |parts, leaf| {
            let mut buckets = parts.ready.buckets(leaf).iter().filter(|bucket| !bucket.is_empty());
            let eligible = |bucket: &Bucket| {
                !parts.reserved.is_hopeless(bucket.shape())
                    && parts.capped_by(leaf, bucket).is_none()
            };
            match buckets.any(eligible) {
                true => Helped::Starts,
                false => Helped::Not,
            }
        });
        if let Some(leaf) = found {
            self.wake_leaf(leaf);
        }
    }

    /// Whether a parked leaf is woken whenever it can start something: where its own key does not
    /// tell its turn.
    fn wakes_at_once(&self, leaf: QueueRow) -> bool {
        self.tree[leaf].parent() != Some(QueueRow::ROOT) || self.guard.is_some()
    }

    /// What a parked leaf's key is told by.
    pub(super) fn bound_of(&mut self, leaf: QueueRow) -> f64 {
        match self.wakes_at_once(leaf) {
            true => AT_ONCE,
            false => bound(&self.queue_key(leaf)),
        }
    }

    /// Of the parked leaves that `nodes` help the one with the smallest key, if that is below
    /// `below`; those that wake at once are woken.
    fn first_helped(&mut self, nodes: &[NodeRow], below: Option<Key>) -> Option<QueueRow> {
        let rooms: SmallVec<[Resources; 1]> =
            nodes.iter().map(|&node| self.room.free(node)).collect();
        self.least_parked(&rooms, below, |parts, leaf| parts.starts_on(leaf, nodes))
    }

    /// Of the parked leaves that ask for no more than one of `rooms` and that `helped` picks, the
    /// one with the smallest key, if that is below `below`; those that wake at once are woken.
    #[inline]
    fn least_parked(
        &mut self,
        rooms: &[Resources],
        below: Option<Key>,
        helped: impl Fn(&Parts<'_>, QueueRow) -> Helped,
    ) -> Option<QueueRow> {
        let mut looked_at: SmallVec<[(QueueRow, f64); 8]> = SmallVec::new();
        let (mut at_once, mut capped) = (Vec::new(), Vec::new());
        let (now, all_at_once) = (self.now, self.guard.is_some());
        let (tree, room, books, ready) = (&self.tree, &self.room, &mut self.books, &self.ready);
        let reserved = &self.reserved;
        let found = ready.first_helped(rooms, below, |leaf| {
            match helped(&Parts { tree, room, books, ready, reserved }, leaf) {
                Helped::Starts => {}
                Helped::Not => return None,
                Helped::Capped => {
                    capped.push(leaf);
                    return None;
                }
            }
            if all_at_once || tree[leaf].parent() != Some(QueueRow::ROOT) {
                at_once.push(leaf);
                return None;
            }
            // Its own: where parents are rescaled nobody is parked here.
            let key = books.key(now, leaf);
            looked_at.push((leaf, bound(&key)));
            Some(key)
        });
        // Keys that rise with time have risen.
        looked_at.iter().for_each(|&(leaf, bound)| self.ready.set_bound(leaf, bound));
        // It waits for its maximum share now.
        capped.into_iter().for_each(|leaf| self.park(leaf));
        at_once.into_iter().for_each(|leaf| self.wake_leaf(leaf));
        found.map(|(_, leaf)| leaf)
    }
}

impl Parts<'_> {
    fn capped_by(&self, leaf: QueueRow, bucket: &Bucket) -> Option<QueueRow> {
        capped_by(self.tree, self.books, self.room, leaf, bucket)
    }

    /// Whether something of `leaf` fits on one of `nodes`, and may start.
    fn starts_on(&self, leaf: QueueRow, nodes: &[NodeRow]) -> Helped {
        if let Some(wide) = self.ready.wide(leaf) {
            return self.one_of_many_starts_on(leaf, wide, nodes);
        }
        let mut helped = Helped::Not;
        for bucket in self.ready.buckets(leaf).iter().filter(|bucket| !bucket.is_empty()) {
            match self.bucket_starts_on(leaf, bucket, nodes) {
                Helped::Starts => return Helped::Starts,
                Helped::Capped => helped = Helped::Capped,
                Helped::Not => {}
            }
        }
        helped
    }

    fn bucket_starts_on(&self, leaf: QueueRow, bucket: &Bucket, nodes: &[NodeRow]) -> Helped {
        if !nodes.iter().any(|&node| self.room.fits(bucket.shape(), bucket.demand(), node)) {
            return Helped::Not;
        }
        match self.capped_by(leaf, bucket) {
            None => Helped::Starts,
            Some(_) => Helped::Capped,
        }
    }

    /// The same of a leaf with many shapes: only those are looked at that may fit by what they ask
    /// for.
    fn one_of_many_starts_on(&self, leaf: QueueRow, wide: &Wide, nodes: &[NodeRow]) -> Helped {
        let rooms = self.room.offers_of(nodes);
        let mut capped = false;
        for tree in [&wide.open, &wide.shut] {
            let found = tree.first_helped(&rooms, None, |at| {
                let bucket = &self.ready.buckets(leaf)[at.index()];
                match self.bucket_starts_on(leaf, bucket, nodes) {
                    Helped::Starts => {
                        return self.ready.first_group(leaf, at.index()).map(|it| it.0);
                    }
                    Helped::Capped => capped = true,
                    Helped::Not => {}
                }
                None
            });
            if found.is_some() {
                return Helped::Starts;
            }
        }
        if capped { Helped::Capped } else { Helped::Not }
    }
}
