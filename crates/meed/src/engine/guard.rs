//! The starvation guard of H-LTRF (TSC'18 Algorithm 2).
//!
//! Among all demanding leaves, whatever their parents, the one that has used least of what it is
//! entitled to is served out of turn once it has waited t_wait since its last service or since its
//! demand began.
//!
//! > key = u_i / e_i,  u_i by the root's rules (Algorithm 1, Eq. 6), e_i the leaf's part of the
//! > root (`entitled`)
//!
//! A leaf's weight alone means something among its siblings only. So t_wait = 0 is single-level
//! LTRF over the leaves, each with its entitlement as its weight (S_i of Eq. 2, what it
//! contributed), and t_wait = infinity the naive walk (Theorem 1). Who stands exactly at its
//! entitlement is never starved for good: the guard and the walk agree on who has had how much.
//!
//! The guard keeps a ledger of its own for each leaf, by the root's memory, discount and quantum,
//! since a parent's may differ. It also keeps when the tasks that run were started: a start that is
//! undone was no service, and the leaf waits since it did before. Cost: one more heap, ledger and
//! look-up for each start and end, only where t_wait is set.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use num_bigint::BigUint;

use super::books::{Used, rated};
use super::entitled::Entitlements;
use super::key_parts::KeyParts;
use super::tree::Tree;
use crate::ids::QueueRow;
use crate::order::heap::{ABSENT, Heap, Item};
use crate::order::key::Key;
use crate::order::{Domain, Minimum, Pool, Requantified, Standing, Terms};
use crate::policy::Policy;
use crate::resources::Resources;
use crate::state::{GuardState, OrderState, Place, StateError, ensure};
use crate::time::{Span, Time};

#[derive(Clone)]
pub(super) struct Guard {
    t_wait: Span,
    domain: Domain,
    standings: Vec<Standing>,
    terms: Vec<Terms>,
    /// What leaves are entitled to: by it the keys in the heap are compared.
    entitled: Entitlements,
    demanding: Heap,
    places: Vec<u32>,
    /// By queue: since when a leaf waits.
    waits: Vec<Waits>,
}

/// Since when a leaf waits: the later of its last service and the beginning of its demand.
#[derive(Clone, Default)]
struct Waits {
    /// The same without the tasks that run.
    before: Time,
    /// How many of those were started when.
    starts: BTreeMap<Time, u32>,
}

impl Waits {
    fn since(&self) -> Time {
        self.starts.last_key_value().map_or(self.before, |(&last, _)| last.max(self.before))
    }

    fn start(&mut self, at: Time) {
        *self.starts.entry(at).or_default() += 1;
    }

    /// A task that was started then runs no more; where its start was undone, it was no service.
    fn end(&mut self, started: Time, undone: bool) {
        match self.starts.get_mut(&started) {
            Some(1) => drop(self.starts.remove(&started)),
            Some(more) => *more -= 1,
            None => {}
        }
        if !undone {
            self.before = self.before.max(started);
        }
    }

    /// What `before` is where nothing else is known than since when the leaf waits.
    fn known_before(&self, since: Time) -> Time {
        match self.starts.last_key_value() {
            Some((&last, _)) if last >= since => Time::ZERO,
            _ => since,
        }
    }
}

impl Guard {
    pub(super) fn new(t_wait: Span, root: &Policy) -> Guard {
        let mut guard = Guard {
            t_wait,
            domain: Domain::new(root),
            standings: Vec::new(),
            terms: Vec::new(),
            entitled: Entitlements::default(),
            demanding: Heap::default(),
            places: Vec::new(),
            waits: Vec::new(),
        };
        guard.add_queue();
        guard
    }

    pub(super) fn t_wait(&self) -> Span {
        self.t_wait
    }

    pub(super) fn add_queue(&mut self) {
        self.entitled.add_queue();
        let tie = (0, self.standings.len() as u32);
        self.standings.push(Standing::default());
        // Keys are what was used; they are compared by entitlement.
        self.terms.push(Terms { weight: 1, min: Minimum::NONE, share: 0, tie });
        self.places.push(ABSENT);
        self.waits.push(Waits::default());
    }

    /// The demand of `leaf` begins.
    pub(super) fn begins(&mut self, now: Time, leaf: QueueRow) {
        self.waits[leaf.index()].before = now;
    }

    /// Since when `leaf` waits, and would wait without the tasks that run.
    pub(super) fn waits_since(&self, leaf: QueueRow) -> (Time, Time) {
        let waits = &self.waits[leaf.index()];
        (waits.since(), waits.before)
    }

    /// The demand of `leaf` has not ceased after all: it would wait since `before` without the
    /// tasks that run. Since when it waits.
    pub(super) fn goes_on(&mut self, leaf: QueueRow, before: Time) -> Time {
        let waits = &mut self.waits[leaf.index()];
        waits.before = before;
        waits.since()
    }

    /// What a state must tell besides since when `leaf` waits.
    pub(super) fn waited_before(&self, leaf: QueueRow) -> Option<Time> {
        let waits = &self.waits[leaf.index()];
        Some(waits.before).filter(|&before| before != waits.known_before(waits.since()))
    }

    /// And back, after all tasks that run.
    pub(super) fn restore_waits(&mut self, leaf: QueueRow, since: Time, before: Option<Time>) {
        let waits = &mut self.waits[leaf.index()];
        waits.before = before.unwrap_or(waits.known_before(since));
    }

    /// Shares have changed: of the cluster, or of queues among each other. O(queues).
    pub(super) fn share_out(&mut self, now: Time, tree: &Tree, total: &Resources) {
        if self.domain.is_dominant() && !total.is_zero() {
            self.domain.pool = Pool::new(total);
        }
        for (queue, row) in tree.iter() {
            let terms = &mut self.terms[queue.index()];
            let standing = &mut self.standings[queue.index()];
            terms.share = standing.set_share(now, &self.domain, terms.share, row.share());
        }
        // Keys are compared by the new entitlements from here on: none stays where it was.
        let leaves = self.demanding.drain(&mut self.places);
        self.entitled.share_out(tree);
        leaves.into_iter().for_each(|leaf| self.add(now, QueueRow(leaf)));
    }

    /// A task that runs since a given instant starts, with its job's quantum.
    pub(super) fn start(&mut self, now: Time, used: &Used<'_>, started: (Time, Span)) {
        let rate = self.domain.rate(used.demand, used.node_weight);
        let (leaf, share) = (used.queue.index(), self.terms[used.queue.index()].share);
        self.standings[leaf].start(now, &rate, started, &self.domain, share);
        self.waits[leaf].start(started.0);
    }

    /// The tie of `leaf` is that of its books from now on: of leaves that have used as much, the
    /// one served longest ago comes first (`order`).
    pub(super) fn set_tie(&mut self, leaf: QueueRow, tie: (u64, u32)) {
        self.terms[leaf.index()].tie = tie;
    }

    /// A task turns out to run on a node of another weight, as in `books`.
    pub(super) fn reweigh(
        &mut self,
        now: Time,
        used: &Used<'_>,
        started: (Time, Span),
        node_weight: u32,
    ) {
        let [before, after] =
            [used.node_weight, node_weight].map(|weight| self.domain.rate(used.demand, weight));
        let (leaf, share) = (used.queue.index(), self.terms[used.queue.index()].share);
        self.standings[leaf].uncharge(now, &before, started, &self.domain, share);
        self.standings[leaf].charge_since(now, &after, started, &self.domain, share);
        self.rekey(now, used.queue);
    }

    /// A task that was started at `started` ends, or is undone.
    pub(super) fn end(&mut self, now: Time, used: &Used<'_>, started: (Time, Span), undone: bool) {
        let rate = self.domain.rate(used.demand, used.node_weight);
        let (leaf, share) = (used.queue.index(), self.terms[used.queue.index()].share);
        let end = if undone { Standing::undo } else { Standing::end };
        end(&mut self.standings[leaf], now, &rate, started, &self.domain, share);
        self.waits[leaf].end(started.0, undone);
        self.rekey(now, used.queue);
    }

    /// Running tasks of a leaf are charged by another quantum, as in the books; the leaf is rekeyed
    /// by the caller.
    pub(super) fn change_quanta(
        &mut self,
        now: Time,
        leaf: QueueRow,
        tasks: &[(Used<'_>, Requantified)],
    ) {
        if self.domain.rule.charges_learnt() {
            let (standing, share) =
                (&mut self.standings[leaf.index()], self.terms[leaf.index()].share);
            standing.change_quanta(now, &rated(&self.domain, tasks), &self.domain, share);
        }
    }

    /// When the clock alone next changes something.
    pub(super) fn next_chore(&self) -> Option<Time> {
        self.domain.rule.next_chore().filter(|_| self.domain.rule.keeps_usage())
    }

    /// Rounds begin, landmarks move, as in `books::chores`; `Core::rekey_guard` comes next.
    pub(super) fn chores<'a>(
        &mut self,
        now: Time,
        running: impl Iterator<Item = (Used<'a>, (Time, Span))>,
    ) {
        if self.domain.rule.enter_round(now) {
            let rule = self.domain.rule;
            for standing in &mut self.standings {
                standing.forget(rule.round_start);
            }
            for (used, (started, quantum)) in running {
                let rate = self.domain.rate(used.demand, used.node_weight);
                let leaf = used.queue.index();
                let (end, share) = (rule.assumed_end(started, quantum), self.terms[leaf].share);
                self.standings[leaf].charge_from(rule.round_start, &rate, end, &rule, share);
            }
        }
        for step in self.domain.rule.clock.steps(now) {
            let rule = self.domain.rule;
            for (standing, terms) in self.standings.iter_mut().zip(&self.terms) {
                standing.move_landmark(&step, &rule, terms.share);
            }
            self.domain.rule.clock = rule.clock.at_landmark(step.landmark);
        }
    }

    /// Where `leaf` stands, read in a copy; see [`Guard::compare`].
    pub(super) fn seen(&self, now: Time, leaf: QueueRow) -> Item {
        let (standing, terms) = (&self.standings[leaf.index()], &self.terms[leaf.index()]);
        (standing.clone().key(now, &self.domain, terms), leaf.0)
    }

    /// Which of two leaves has used less of its entitlement; of equals the one served longest ago.
    pub(super) fn compare(&self, a: &Item, b: &Item) -> Ordering {
        self.entitled.compare(a, b)
    }

    /// The first of these leaves.
    pub(super) fn first_of(
        &mut self,
        now: Time,
        leaves: impl Iterator<Item = QueueRow>,
    ) -> Option<QueueRow> {
        let items: Vec<Item> = leaves.map(|leaf| (self.key(now, leaf), leaf.0)).collect();
        let first = items.iter().min_by(|a, b| self.entitled.compare(a, b));
        first.map(|&(_, leaf)| QueueRow(leaf))
    }

    /// What a queue is entitled to: a part, and what it is a part of.
    pub(super) fn entitlement(&self, queue: QueueRow) -> (BigUint, BigUint) {
        self.entitled.of(queue).fraction()
    }

    /// What its keys are made of, by weight 1; see `parts`.
    pub(super) fn parts(&mut self, now: Time, leaf: QueueRow, quantum: Span) -> KeyParts {
        let (standing, terms) = (&mut self.standings[leaf.index()], &self.terms[leaf.index()]);
        KeyParts { served: terms.tie.0, ..standing.parts(now, &self.domain, terms, quantum) }
    }

    /// The quantum of those; see `parts`.
    pub(super) fn quantum(&self, now: Time, quantum: Span) -> Span {
        self.domain.rule.key_quantum(now, quantum)
    }

    pub(super) fn state(&self, now: Time) -> GuardState {
        let rows = self.standings.iter().zip(&self.terms);
        let standings = rows.map(|(row, terms)| row.state(now, &self.domain, terms.share));
        GuardState { pool: self.domain.state().pool, standings: standings.collect() }
    }

    /// What its books are by the root's new order, without what runs.
    pub(super) fn taken_over(&self, now: Time, root: &Domain, kinds: usize) -> GuardState {
        let rows = self.standings.iter().zip(&self.terms);
        let taken = |(row, terms): (&Standing, &Terms)| {
            row.taken_over(now, (&self.domain, terms.share), root, kinds)
        };
        GuardState { pool: root.state().pool, standings: rows.map(taken).collect() }
    }

    /// The books of a guard that comes, with nothing in them.
    pub(super) fn begun(root: &Domain, queues: usize, kinds: usize) -> GuardState {
        let nothing = Standing::default();
        let row = nothing.taken_over(Time::ZERO, (root, 0), root, kinds);
        GuardState { pool: root.state().pool, standings: vec![row; queues] }
    }

    /// Running tasks are charged ahead from now on.
    pub(super) fn prepay(&mut self) {
        for (standing, terms) in self.standings.iter_mut().zip(&self.terms) {
            standing.prepay(&self.domain, terms.share);
        }
    }

    /// The guard of a root's policy, where it has one; tasks and [`Guard::restored`] come next.
    pub(super) fn from_state(
        state: Option<&GuardState>,
        root: &Policy,
        tree: &Tree,
        now: Time,
    ) -> Result<Option<Guard>, StateError> {
        let fine = root.t_wait.is_some() == state.is_some();
        ensure!(fine, "guard", "kept where, and only where, the root's policy has t_wait");
        let (Some(t_wait), Some(state)) = (root.t_wait, state) else { return Ok(None) };
        let given = state.standings.len();
        ensure!(given == tree.len(), "guard.standings", "{given} of {} queues", tree.len());
        let kinds = tree[QueueRow::ROOT].share().kinds();
        let order = OrderState { policy: root.clone(), pool: state.pool.clone() };
        let mut guard = Guard::new(t_wait, root);
        guard.domain = Domain::from_state(&order, now, kinds, format_args!("guard"))?;
        (1..tree.len()).for_each(|_| guard.add_queue());
        guard.entitled.share_out(tree);
        for ((queue, row), of) in tree.iter().zip(&state.standings) {
            let place = format_args!("guard.standings[{}]", queue.index());
            let mut standing = Standing::from_state(of, &guard.domain, now, kinds, place)?;
            let share = standing.restore_share(&guard.domain, row.share());
            guard.standings[queue.index()] = standing;
            guard.terms[queue.index()].share = share;
        }
        Ok(Some(guard))
    }

    /// A task runs.
    pub(super) fn restore_running(
        &mut self,
        used: &Used<'_>,
        started: (Time, Span),
        place: Place<'_>,
    ) -> Result<(), StateError> {
        let rate = self.domain.rate(used.demand, used.node_weight);
        let standing = &mut self.standings[used.queue.index()];
        let booked = standing.restore_task(&rate, started, &self.domain);
        ensure!(booked, place, "the guard has no ledger that it is charged to");
        self.waits[used.queue.index()].start(started.0);
        Ok(())
    }

    pub(super) fn restored(&mut self) {
        self.standings.iter_mut().for_each(Standing::restored);
    }

    /// What `leaf` has used, as a key of weight 1.
    fn key(&mut self, now: Time, leaf: QueueRow) -> Key {
        self.standings[leaf.index()].key(now, &self.domain, &self.terms[leaf.index()])
    }

    pub(super) fn add(&mut self, now: Time, leaf: QueueRow) {
        if self.places[leaf.index()] == ABSENT {
            let (key, entitled) = (self.key(now, leaf), &self.entitled);
            let order = |a: &Item, b: &Item| entitled.compare(a, b);
            self.demanding.push_by(key, leaf.0, &mut self.places, order);
        }
    }

    pub(super) fn remove(&mut self, leaf: QueueRow) {
        if self.places[leaf.index()] != ABSENT {
            let order = |a: &Item, b: &Item| self.entitled.compare(a, b);
            self.demanding.remove_by(leaf.0, &mut self.places, order);
        }
    }

    pub(super) fn rekey(&mut self, now: Time, leaf: QueueRow) {
        if self.places[leaf.index()] != ABSENT {
            let key = self.key(now, leaf);
            self.update(key, leaf);
        }
    }

    fn update(&mut self, key: Key, leaf: QueueRow) {
        let order = |a: &Item, b: &Item| self.entitled.compare(a, b);
        self.demanding.update_by(key, leaf.0, &mut self.places, order);
    }

    /// The demanding leaf with the smallest key.
    pub(super) fn least(&mut self, now: Time) -> Option<QueueRow> {
        loop {
            let (_, id) = self.demanding.peek()?;
            let key = self.key(now, QueueRow(id));
            if self.demanding.certifies(&key) {
                return Some(QueueRow(id));
            }
            self.update(key, QueueRow(id));
        }
    }

    /// Brings the keys of all demanding leaves up to date.
    pub(super) fn rekey_all(&mut self, now: Time) {
        for id in self.demanding.iter().map(|(_, id)| *id).collect::<Vec<_>>() {
            self.rekey(now, QueueRow(id));
        }
    }
}
