//! Who is served next: the walk from the root, until nothing more can start.
//!
//! At each level the demanding child with the smallest key is chosen; in the leaf, the best job of
//! which a task fits. A leaf of which nothing fits is parked until a place or its share has room
//! again, and the walk goes on with the next: whatever can start does (work conservation), unless
//! the root's policy says to wait, or to hold room for who is first (`holds`).

use std::ops::Range;

use super::Engine;
use super::chosen::{Candidate, Chosen, capped_by};
use super::core::Core;
use super::ready::{AT_ONCE, Bucket};
use super::room::ShapeId;
use crate::decision::{Choice, KeyValue, Reason, Start};
use crate::ids::{JobId, NodeId, NodeRow, QueueId, QueueRow};
use crate::order::Tier;
use crate::order::key::Key;
use crate::resources::Resources;
use crate::stop::{Stop, TakeBack};

impl Engine {
    /// Starts tasks while any can start, in order; `on` is told each. With `explain`, each comes
    /// with its reason, which costs a second look at every heap on the way.
    pub fn decide(&mut self, explain: bool, mut on: impl FnMut(Start)) {
        self.core.share_out_if_due();
        self.sift_fresh();
        while let Some(start) = self.next(explain) {
            on(start);
        }
        self.core.room.forget_fresh();
    }

    /// Starts the next task that [`Engine::decide`] would start; `None` when none can start. A
    /// world that carries out one start before it asks for the next calls this; called until it
    /// says `None`, it decides what `decide` decides. Events may come in between: what comes next
    /// is decided with them. Those in the middle of a gang are refused: its starts, of which
    /// [`Reason::gang`] tells the number, are one decision.
    pub fn next_start(&mut self, explain: bool) -> Option<Start> {
        self.core.share_out_if_due();
        self.sift_fresh();
        let start = self.next(explain);
        if start.is_none() {
            self.core.room.forget_fresh();
        }
        start
    }

    /// The next running task that is to stop. A world asks after each decision, until it is told
    /// `None`, and carries them out within [`Stop::grace`]; then it tells
    /// [`crate::Event::TaskLost`].
    #[inline]
    pub fn next_stop(&mut self) -> Option<Stop> {
        self.reservations.next_stop()
    }

    /// Whom to stop for a leaf that has waited, where another scheduler places what starts and so
    /// nobody has a reservation: the rules are those of reclaim, and nothing changes here. In order
    /// of decision. O(running tasks) and more: a world asks seldom.
    pub fn take_back(&mut self, wanted: &TakeBack<'_>) -> Vec<Stop> {
        self.core.share_out_if_due();
        self.core.take_back(wanted)
    }

    /// Starts at most one task on `node`: of the waiting groups whose tasks fit there now and for
    /// which `rank` (job, number of the group in the job) gives a number, one of the lowest rank,
    /// and among those the one that the policies put first. `None` when there is none, or when the
    /// node has left. It happens at the last instant the engine was told of: call
    /// [`Engine::advance`] where no event came before.
    pub fn offer(
        &mut self,
        node: NodeId,
        explain: bool,
        rank: &mut dyn FnMut(JobId, u32) -> Option<u32>,
    ) -> Option<Start> {
        self.offer_if(node, explain, rank, &mut |_, _| true)
    }

    /// As [`Engine::offer`]; the one whose turn it is may be passed over by `accept` (job, number
    /// of the group): then it is the next one's turn, of the same rank first. Delay scheduling
    /// waits in this way.
    pub fn offer_if(
        &mut self,
        node: NodeId,
        explain: bool,
        rank: &mut dyn FnMut(JobId, u32) -> Option<u32>,
        accept: &mut dyn FnMut(JobId, u32) -> bool,
    ) -> Option<Start> {
        let chosen = self.core.choose_for(node, explain, rank, accept)?;
        Some(self.start_chosen(chosen))
    }

    /// Fresh nodes that help nobody are forgotten. With reservations once it is known what of them
    /// is held ([`Engine::next_with_holds`]).
    fn sift_fresh(&mut self) {
        if !self.reservations.are_made() {
            self.core.room.sift_fresh();
        }
    }

    /// Whether nobody can start, as a quick look tells: so it is at most instants.
    #[inline]
    fn is_at_rest(&self) -> bool {
        let plain =
            self.untold.is_empty() && self.core.servers.is_none() && !self.reservations.are_made();
        plain && !self.core.room.any_startable()
    }

    /// The next start; when there is none, tasks may be told to stop.
    #[inline]
    fn next(&mut self, explain: bool) -> Option<Start> {
        if self.is_at_rest() { None } else { self.look_for_next(explain) }
    }

    fn look_for_next(&mut self, explain: bool) -> Option<Start> {
        loop {
            let start = self.next_now(explain);
            if start.is_some() || !self.reservations.reclaim(&mut self.core) {
                return start;
            }
        }
    }

    fn next_now(&mut self, explain: bool) -> Option<Start> {
        if let Some(start) = self.untold.pop_front() {
            return Some(start);
        }
        if self.core.servers.is_some() {
            return self.core.next_by_server(explain).map(|chosen| self.start_chosen(chosen));
        }
        if self.reservations.are_made()
            && let Some(start) = self.next_with_holds(explain)
        {
            return Some(start);
        }
        while self.core.room.any_startable() {
            self.core.wake_next(explain);
            self.core.settle();
            let mut reason = explain.then(|| Box::new(Reason::of(self.core.room.why())));
            let leaf = self.core.choose_leaf(reason.as_deref_mut())?;
            let (slot, node) = match self.core.choose_group(leaf) {
                Candidate::Group(slot, node) => (slot, node),
                // The policy is to wait: with reservations only who fits is looked at here.
                Candidate::Wait(_) => return None,
                Candidate::Nothing => {
                    self.core.park(leaf);
                    continue;
                }
            };
            let start = self.place_group(slot, node, reason);
            if start.is_some() {
                return start;
            }
        }
        None
    }

    /// Starts the next task of the group that was chosen.
    fn start_chosen(&mut self, chosen: Chosen) -> Start {
        self.start(chosen.slot, None, chosen.node, chosen.reason)
    }

    /// Starts a task of the group, a candidate, on the node that was found for it if one was looked
    /// for already, or marks its shape blocked when it fits on no node.
    pub(super) fn place_group(
        &mut self,
        slot: u32,
        node: Option<NodeRow>,
        reason: Option<Box<Reason>>,
    ) -> Option<Start> {
        let shape = self.core.work.group(slot).turn();
        if self.core.room.turn_of(shape) > 1 {
            return self.place_gang(slot, reason);
        }
        let node = node.or_else(|| self.core.room.find_open_or_block(shape))?;
        let start = self.start(slot, None, node, reason);
        self.core.room.sift(node);
        self.core.room.block_if_full(shape);
        Some(start)
    }
}

impl Core {
    /// The shape of a bucket of the leaf, if tasks of it wait, are not known to fit nowhere (or the
    /// policy is to wait for them) and stay within the maximum shares.
    #[inline(always)]
    pub(super) fn startable_shape(&self, leaf: QueueRow, bucket: usize) -> Option<ShapeId> {
        let bucket = &self.ready.buckets(leaf)[bucket];
        let (shape, demand) = (bucket.shape(), bucket.demand());
        let waits = self.waits && !self.reserved.is_hopeless(shape);
        let open = !bucket.is_empty() && (waits || self.room.is_open_for(shape, demand));
        (open && self.capped_by(leaf, bucket).is_none()).then_some(shape)
    }

    /// The queue on the path whose maximum share the next turn of a bucket would exceed.
    #[inline]
    pub(super) fn capped_by(&self, leaf: QueueRow, bucket: &Bucket) -> Option<QueueRow> {
        capped_by(&self.tree, &self.books, &self.room, leaf, bucket)
    }

    /// The leaf whose turn it is.
    pub(super) fn choose_leaf(&mut self, mut reason: Option<&mut Reason>) -> Option<QueueRow> {
        if let Some((leaf, waited)) = self.starved() {
            if let Some(reason) = reason {
                reason.starved_for = Some(waited);
            }
            return Some(leaf);
        }
        let mut at = QueueRow::ROOT;
        loop {
            let (key, child) = self.least_child(at)?;
            if let Some(reason) = reason.as_deref_mut() {
                let runner_up = self.runner_up(at);
                reason.levels.push(Choice {
                    among: self.tree.id(at),
                    chosen: self.tree.id(child),
                    key: self.shown(at, &key),
                    runner_up,
                });
            }
            if !self.tree.is_parent(child) {
                return Some(child);
            }
            at = child;
        }
    }

    /// The demanding child with the smallest key, certified at this instant (see `order::heap`).
    #[inline]
    pub(super) fn least_child(&mut self, parent: QueueRow) -> Option<(Key, QueueRow)> {
        if self.holds_true_keys(parent) {
            return self.first_child(parent);
        }
        loop {
            let (_, child) = self.ready.first(parent)?;
            let key = self.queue_key(child);
            if self.ready.certifies(parent, &key) {
                return Some((key, child));
            }
            self.ready.update(parent, child, key);
        }
    }

    /// Whether nobody in the walk is looked at for a reason alone: a placement that draws would
    /// draw less often later; and while it is looked for who waits or gets a reservation, whom that
    /// would mark as hopeless, or park, would change who counts.
    fn tells_all(&self) -> bool {
        self.waits || self.room.draws()
    }

    /// Of the other children the first of which something would start; see [`Core::tells_all`].
    fn runner_up(&mut self, parent: QueueRow) -> Option<(QueueId, KeyValue)> {
        if self.holds_true_keys(parent) {
            let (key, child) = self.second_child(parent)?;
            return Some((self.tree.id(child), self.shown(parent, &key)));
        }
        loop {
            let (stored, child) = self.ready.second(parent)?;
            let key = self.queue_key(child);
            if key != stored {
                self.ready.update(parent, child, key);
            } else if self.tells_all() || self.any_is_served(child) {
                return Some((self.tree.id(child), self.shown(parent, &key)));
            }
        }
    }

    /// Whether something below `queue` would start, were it chosen. A leaf of which nothing fits is
    /// parked, as the walk does when it comes to it: how far earlier walks came is nobody's reason.
    fn any_is_served(&mut self, queue: QueueRow) -> bool {
        loop {
            let mut leaf = queue;
            while self.tree.is_parent(leaf) {
                let Some((_, child)) = self.least_child(leaf) else { return false };
                leaf = child;
            }
            if self.is_served(leaf) {
                return true;
            }
            self.park(leaf);
            if leaf == queue {
                return false;
            }
        }
    }

    /// Whether something of the leaf would start, were it chosen.
    fn is_served(&mut self, leaf: QueueRow) -> bool {
        if self.ready.is_wide(leaf) {
            return !matches!(self.choose_of_many(leaf), Candidate::Nothing);
        }
        (0..self.ready.buckets(leaf).len()).any(|i| {
            let shape = self.startable_shape(leaf, i);
            shape.is_some_and(|shape| self.room.find_or_block(shape).is_some())
        })
    }

    #[inline]
    pub(super) fn queue_key(&mut self, child: QueueRow) -> Key {
        if let Some(key) = self.rescaled_key(child) {
            return key;
        }
        self.books.key(self.now, child)
    }

    /// The best waiting group of the leaf among those whose shape is not known to be blocked and
    /// that stay within the maximum shares.
    pub(super) fn choose_group(&mut self, leaf: QueueRow) -> Candidate {
        // A placement that draws draws for each shape that is looked at: in their order.
        if self.ready.is_wide(leaf) && !self.room.draws() {
            return self.choose_of_many(leaf);
        }
        let mut best: Option<(Key, u32)> = None;
        let mut node = None;
        // With many shapes, those that fit nowhere are found on the way: one walk for each would be
        // quadratic.
        let probes = !self.waits && self.ready.buckets(leaf).len() > 1;
        for i in self.buckets_to_look_at(leaf) {
            let Some(shape) = self.startable_shape(leaf, i) else { continue };
            let Some(candidate) = self.least_group(leaf, i) else { continue };
            if best.is_none_or(|(key, _)| candidate.0 < key) {
                if probes {
                    let Some(found) = self.room.find_or_block(shape) else { continue };
                    node = Some(found);
                }
                best = Some(candidate);
            }
        }
        match best {
            // Without that only shapes that are open were looked at.
            Some((_, slot)) if self.waits && !self.room.is_open(self.work.group(slot).turn()) => {
                Candidate::Wait(slot)
            }
            Some((_, slot)) => Candidate::Group(slot, node),
            None => Candidate::Nothing,
        }
    }

    /// All buckets of the leaf; where only one shape may start, as when a job has just come, that
    /// shape's, if it is there.
    #[inline]
    fn buckets_to_look_at(&self, leaf: QueueRow) -> Range<usize> {
        let all = 0..self.ready.buckets(leaf).len();
        let Some(only) = self.room.only_startable().filter(|_| !self.waits && all.len() > 1) else {
            return all;
        };
        let found = self.ready.bucket_of(leaf, only).map_or(0..0, |bucket| bucket..bucket + 1);
        debug_assert!(
            all.into_iter().all(|i| found.contains(&i) || self.startable_shape(leaf, i).is_none()),
            "another shape may start than the only one"
        );
        found
    }

    #[inline]
    pub(super) fn least_group(&mut self, leaf: QueueRow, bucket: usize) -> Option<(Key, u32)> {
        if self.books.jobs_stand_by_arrival(leaf) {
            return self.ready.first_group(leaf, bucket);
        }
        loop {
            let (_, slot) = self.ready.first_group(leaf, bucket)?;
            let key = self.group_key(slot);
            if self.ready.certifies_group(leaf, bucket, &key) {
                return Some((key, slot));
            }
            self.ready.update_in(leaf, bucket, slot, key);
        }
    }

    /// The key of a group in its leaf: that of its job, then its position in the job.
    #[inline(always)]
    pub(super) fn group_key(&mut self, slot: u32) -> Key {
        let group = self.work.group(slot);
        self.books.group_key(self.now, group.job, group.number)
    }

    /// Nothing of the leaf fits: takes it out of the walk until one of the reasons is gone.
    pub(super) fn park(&mut self, leaf: QueueRow) {
        self.note_parked(leaf);
        self.leave_heaps(leaf);
    }

    /// What a leaf that leaves the walk waits for.
    pub(super) fn note_parked(&mut self, leaf: QueueRow) {
        let mut least: Option<Resources> = None;
        let mut each = 0..self.ready.buckets(leaf).len();
        if !self.tree.has_maximums()
            && let Some(known) = self.ready.least_in(leaf)
        {
            (least, each) = (Some(Resources::new(&known.as_slice()[..self.kinds.len()])), 0..0);
        }
        for i in each {
            let bucket = &self.ready.buckets(leaf)[i];
            if bucket.is_empty() {
                continue;
            }
            match (self.capped_by(leaf, bucket), &mut least) {
                (Some(queue), _) => self.ready.wait_for_maximum(queue, leaf),
                (None, Some(least)) => least.lower(bucket.demand()),
                (None, none) => *none = Some(*bucket.demand()),
            }
        }
        match self.rescales {
            // It is looked at whenever its demands are (`rescale`).
            true => self.ready.park(leaf, None, AT_ONCE),
            false => {
                let bound = self.bound_of(leaf);
                self.ready.park(leaf, least.as_ref(), bound);
            }
        }
    }

    /// Puts the leaves below their maximum shares back into the walk.
    pub(super) fn wake(&mut self) {
        while let Some(leaf) = self.ready.next_woken() {
            self.wake_leaf(leaf);
        }
    }

    pub(super) fn wake_leaf(&mut self, leaf: QueueRow) {
        if self.rescales {
            return self.unsettle(leaf);
        }
        if self.ready.unpark(leaf) && self.ready.waiting(leaf) > 0 {
            self.join_heaps(leaf);
        }
    }

    /// A leaf has `tasks` more to start.
    pub(super) fn add_leaf_waiting(&mut self, leaf: QueueRow, tasks: u64) {
        if let Some(guard) = self.guard.as_mut().filter(|_| self.ready.waiting(leaf) == 0) {
            guard.begins(self.now, leaf);
            // It may have had children, whose services count as its own.
            guard.set_tie(leaf, self.books.terms(leaf).tie);
        }
        self.ready.add_waiting(self.now, leaf, tasks);
        self.ready.unpark(leaf);
        self.join_heaps(leaf);
    }

    /// A leaf has `tasks` fewer to start.
    pub(super) fn sub_leaf_waiting(&mut self, leaf: QueueRow, tasks: u64) {
        if self.ready.sub_waiting(leaf, tasks) {
            self.leave_group(leaf);
            self.ready.unpark(leaf);
            self.leave_heaps(leaf);
        }
    }

    /// The leaf wants something: it and, where they wanted nothing before, its parents join their
    /// heaps.
    pub(super) fn join_heaps(&mut self, leaf: QueueRow) {
        if self.rescales {
            // Until it is looked at.
            self.leave_group(leaf);
            self.ready.unpark(leaf);
            self.unsettle(leaf);
            self.refresh_path(leaf, true);
        }
        let mut at = leaf;
        while let Some(parent) = self.tree[at].parent() {
            if self.ready.is_in_heap(at) {
                break;
            }
            let key = self.queue_key(at);
            self.ready.insert(parent, at, key);
            self.touch(at);
            at = parent;
        }
        if let Some(guard) = &mut self.guard {
            guard.add(self.now, leaf);
        }
    }

    /// The leaf wants nothing (or nothing that fits): it and the parents that are left without
    /// leave their heaps.
    pub(super) fn leave_heaps(&mut self, leaf: QueueRow) {
        match self.rescales {
            true => {
                self.leave_group(leaf);
                self.refresh_path(leaf, false);
            }
            false => {
                self.tree.up(leaf).for_each(|(at, _)| {
                    if let Some(servers) = &mut self.servers {
                        servers.touch(at);
                    }
                });
                self.ready.remove(&self.tree, leaf);
            }
        }
        if let Some(guard) = &mut self.guard {
            guard.remove(leaf);
        }
    }

    /// A queue's key has changed, perhaps fallen.
    pub(super) fn rekey(&mut self, queue: QueueRow) {
        let Some(parent) = self.tree[queue].parent() else { return };
        if self.rescales {
            return self.refresh(queue, self.ready.is_in_heap(queue));
        }
        self.touch(queue);
        if self.ready.is_in_heap(queue) {
            let key = self.queue_key(queue);
            self.ready.update(parent, queue, key);
        } else if self.ready.is_parked(queue) {
            let bound = self.bound_of(queue);
            self.ready.set_bound(queue, bound);
        }
    }

    /// Where more than the first are looked at: the key of `queue`, or whether it wants something,
    /// may have changed.
    #[inline]
    pub(super) fn touch(&mut self, queue: QueueRow) {
        if let Some(servers) = &mut self.servers {
            servers.touch(queue);
        }
    }

    /// A job's key may have fallen: brings its groups' keys up to date.
    pub(super) fn rekey_job(&mut self, id: JobId) {
        let Some(job) = self.work.job(id) else { return };
        if self.books.jobs_stand_by_arrival(job.queue) {
            return;
        }
        for &slot in job.groups() {
            if !self.ready.is_listed(slot) {
                continue;
            }
            let group = self.work.group(slot);
            let key = self.books.group_key(self.now, id, group.number);
            self.ready.update_group(job.queue, slot, group.turn(), key);
        }
    }

    /// The job waits, or no more: brings the keys up to date of queues that are ordered by arrival.
    pub(super) fn update_arrivals(&mut self, id: JobId, waits: bool) {
        for queue in self.books.update_arrivals(&self.tree, id, waits) {
            self.rekey(queue);
        }
    }

    /// A key among the children of `parent` as decisions tell it.
    pub(super) fn shown(&self, parent: QueueRow, key: &Key) -> KeyValue {
        let unit = match key.tier() {
            Tier::Ordinary => self.seen().1.domain(parent).unit_of_key(),
            Tier::BelowMinimum => 1.0,
        };
        KeyValue { tier: key.tier(), value: key.value() * unit }
    }
}
