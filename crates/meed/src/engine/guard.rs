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

use super::books::Used;
use super::tree::Tree;
use super::{Engine, NO_PLACE};
use crate::order::heap::Heap;
use crate::order::key::Key;
use crate::order::{Domain, Minimum, Pool, Standing, Terms};
use crate::policy::Policy;
use crate::resources::Resources;
use crate::spec::QueueId;
use crate::state::{GuardState, OrderState, StateError, ensure};
use crate::time::{Span, Time};

pub(super) struct Guard {
    t_wait: Span,
    domain: Domain,
    standings: Vec<Standing>,
    terms: Vec<Terms>,
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

    pub(super) fn share_out(&mut self, now: Time, tree: &Tree, total: &Resources) {
        if self.domain.is_dominant() && !total.is_zero() {
            self.domain.pool = Pool::new(total);
        }
        for (queue, row) in tree.iter() {
            let terms = &mut self.terms[queue.index()];
            terms.weight = row.weight();
            let standing = &mut self.standings[queue.index()];
            terms.share = standing.set_share(now, &self.domain, terms.share, row.share());
        }
    }

    /// A task that runs since a given instant starts, with its job's quantum.
    pub(super) fn start(&mut self, now: Time, used: &Used<'_>, started: (Time, Span)) {
        let rate = self.domain.rate(used.demand, used.node_weight);
        let (leaf, share) = (used.queue.index(), self.terms[used.queue.index()].share);
        self.standings[leaf].start(now, &rate, started, &self.domain, share);
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
        self.rekey(now, used.queue);
    }

    /// When the clock alone next changes something.
    pub(super) fn next_chore(&self) -> Option<Time> {
        self.domain.rule.next_chore().filter(|_| self.domain.rule.keeps_usage())
    }

    /// Rounds begin, landmarks move, as in `books::chores`; [`Engine::rekey_guard`] comes next.
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

    /// The key of `leaf`, read in a copy.
    pub(super) fn key_seen(&self, now: Time, leaf: QueueId) -> Key {
        let (standing, terms) = (&self.standings[leaf.index()], &self.terms[leaf.index()]);
        standing.clone().key(now, &self.domain, terms)
    }

    pub(super) fn state(&self, now: Time) -> GuardState {
        let rows = self.standings.iter().zip(&self.terms);
        let standings = rows.map(|(row, terms)| row.state(now, &self.domain, terms.share));
        GuardState { pool: self.domain.state().pool, standings: standings.collect() }
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
        let kinds = tree[QueueId::ROOT].share().kinds();
        let order = OrderState { policy: root.clone(), pool: state.pool.clone() };
        let mut guard = Guard::new(t_wait, root);
        guard.domain = Domain::from_state(&order, now, kinds, "guard")?;
        guard.standings.clear();
        for ((queue, row), of) in tree.iter().zip(&state.standings) {
            let place = format!("guard.standings[{}]", queue.index());
            let mut standing = Standing::from_state(of, &guard.domain, now, kinds, &place)?;
            let share = standing.restore_share(&guard.domain, row.share());
            guard.standings.push(standing);
            if queue != QueueId::ROOT {
                guard.terms.push(Terms { tie: (u64::from(queue.0), 0), ..guard.terms[0] });
                guard.places.push(NO_PLACE);
            }
            let terms = &mut guard.terms[queue.index()];
            (terms.weight, terms.share) = (row.weight(), share);
        }
        Ok(Some(guard))
    }

    /// A task runs.
    pub(super) fn restore_running(
        &mut self,
        used: &Used<'_>,
        started: (Time, Span),
        place: &str,
    ) -> Result<(), StateError> {
        let rate = self.domain.rate(used.demand, used.node_weight);
        let standing = &mut self.standings[used.queue.index()];
        let booked = standing.restore_task(&rate, started, &self.domain);
        ensure!(booked, place, "the guard has no ledger that it is charged to");
        Ok(())
    }

    pub(super) fn restored(&mut self) {
        self.standings.iter_mut().for_each(Standing::restored);
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
            let waited = self.now.saturating_since(self.ready.waits_since(leaf));
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
        for i in 0..self.ready.buckets(leaf).len() {
            if self
                .startable_shape(leaf, i)
                .is_some_and(|shape| self.room.find_or_block(shape).is_some())
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
