//! Accounts as plain data, and back. Rates of ledgers, amounts held and slopes of integrals follow
//! from what runs and waits, which is told task by task.

use std::num::NonZeroI64;

use super::{Account, Books, JobAccount, Used};
use crate::engine::tree::Tree;
use crate::fairness::{Entitled, Leaf, Lending, Meter};
use crate::ids::{JobId, QueueRow};
use crate::order::{Domain, Minimum, Standing, Terms};
use crate::policy::Quantum;
use crate::quantum::{JobQuantum, QuantumUpdater};
use crate::resources::{ResourceKinds, Resources};
use crate::spec::MAX_WEIGHT;
use crate::state::{
    JobQuantumState, LiveJobState, MeterState, OrderState, Place, QuantaState, StandingState,
    State, StateError, ensure,
};
use crate::time::{Span, Time};

/// Most ended tasks that a state may tell of: counters go on from there.
const MAX_COUNT: u64 = 1 << 53;

impl Books {
    pub(in crate::engine) fn order_states(&self) -> Vec<OrderState> {
        self.domains.iter().map(Domain::state).collect()
    }

    pub(in crate::engine) fn order_of(&self, queue: QueueRow) -> usize {
        self.accounts[queue.index()].domain
    }

    pub(in crate::engine) fn queue_state(
        &self,
        now: Time,
        queue: QueueRow,
    ) -> (StandingState, MeterState) {
        let account = &self.accounts[queue.index()];
        let share = account.terms.share;
        let standing = account.standing.state(now, self.domain_above(queue), share);
        (standing, self.meter.state(queue.index()))
    }

    /// Weight, arrival number, standing and quantum of a job.
    pub(in crate::engine) fn job_state(
        &self,
        now: Time,
        id: JobId,
    ) -> (u64, u64, StandingState, JobQuantumState) {
        let job = self.jobs[id.slot()].as_ref().expect("the job is alive");
        let standing = job.standing.state(now, self.domain(job.queue), u64::MAX);
        (job.weight, job.arrival, standing, job.quantum.state())
    }

    pub(in crate::engine) fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// How many tasks have started so far.
    pub(in crate::engine) fn starts(&self) -> u64 {
        self.starts
    }

    /// The number of the task that started last.
    #[inline]
    pub(in crate::engine) fn last_start(&self) -> NonZeroI64 {
        let number = i64::try_from(self.starts).ok().and_then(NonZeroI64::new);
        number.expect("a task has started, and fewer than 2^63 have")
    }

    /// The number of the last service of `queue`.
    pub(in crate::engine) fn served(&self, queue: QueueRow) -> u64 {
        self.accounts[queue.index()].terms.tie.0
    }

    pub(in crate::engine) fn lending_state(&self) -> (u128, Time) {
        self.meter.lending_state()
    }

    pub(in crate::engine) fn forgotten(&self) -> (Lending, u64) {
        self.meter.forgotten()
    }

    pub(in crate::engine) fn lending_beyond(&self) -> u128 {
        self.meter.lending_beyond()
    }

    pub(in crate::engine) fn quanta_state(&self) -> Option<QuantaState> {
        self.quanta.as_ref().map(QuantumUpdater::state)
    }

    /// Queues whose shares the tree has; jobs, tasks and [`Books::restored`] come next.
    pub(in crate::engine) fn from_state(
        state: &State,
        tree: &Tree,
        kinds: &ResourceKinds,
    ) -> Result<Books, StateError> {
        let (now, kinds) = (state.now, kinds.len());
        let mut books = Books::new(state.measured, kinds, None);
        books.arrivals = state.arrivals;
        books.starts = state.starts;
        ensure!(state.arrivals <= MAX_COUNT, "arrivals", "more than 2^53");
        ensure!(state.starts <= MAX_COUNT, "starts", "more than 2^53");
        for (index, order) in state.orders.iter().enumerate() {
            let domain = Domain::from_state(order, now, kinds, format_args!("orders[{index}]"))?;
            books.push_domain(domain);
        }
        for ((queue, row), of) in tree.iter().zip(&state.queues) {
            let place = format_args!("queues[{}].standing", queue.index());
            let ordered_by = row.parent().map_or(of.order, |above| books.order_of(above));
            let domain = &books.domains[ordered_by];
            let mut standing = Standing::from_state(&of.standing, domain, now, kinds, place)?;
            let share = match row.parent() {
                Some(_) => standing.restore_share(domain, row.share()),
                None => 0,
            };
            let min = row.min().map_or(Minimum::NONE, |min| domain.minimum(&min));
            let at = || format!("queues[{}].served", queue.index());
            ensure!(of.served <= state.starts, at(), "more than there were starts");
            books.note_order(row.parent().is_some(), ordered_by);
            books.accounts.push(Account {
                standing,
                terms: Terms { weight: row.weight(), min, share, tie: (of.served, queue.0) },
                held: Resources::zero(kinds),
                active_tasks: 0,
                domain: of.order,
                ordered_by,
            });
        }
        Ok(books)
    }

    /// The next job.
    pub(in crate::engine) fn restore_job(
        &mut self,
        now: Time,
        id: JobId,
        state: &LiveJobState,
        place: Place<'_>,
    ) -> Result<(), StateError> {
        let at = |field: &str| format!("{place}.{field}");
        ensure!((1..=MAX_WEIGHT).contains(&state.weight), at("weight"), "out of range");
        ensure!(state.arrival < self.arrivals, at("arrival"), "it has not arrived yet");
        ensure!(state.quantum.ended <= MAX_COUNT, at("quantum.ended"), "more than 2^53");
        let queue = QueueRow(state.queue);
        let (domain, place) = (self.domain(queue), format_args!("{place}.standing"));
        let standing = Standing::from_state(&state.standing, domain, now, self.kinds, place)?;
        if id.slot() >= self.jobs.len() {
            self.jobs.resize_with(id.slot() + 1, || None);
        }
        self.jobs[id.slot()] = Some(JobAccount {
            id,
            queue,
            weight: state.weight,
            arrival: state.arrival,
            standing,
            quantum: JobQuantum::from_state(&state.quantum),
            active_tasks: 0,
        });
        if state.quantum.dirty {
            self.learners.push(id);
        }
        Ok(())
    }

    /// `tasks` of a job wait.
    pub(in crate::engine) fn restore_waiting(&mut self, tree: &Tree, id: JobId, tasks: u64) {
        let job = self.jobs[id.slot()].as_mut().expect("it has just been restored");
        job.active_tasks += tasks;
        for (queue, _) in tree.up(job.queue) {
            self.accounts[queue.index()].active_tasks += tasks;
        }
        if tasks > 0 {
            self.update_arrivals(tree, id, true);
        }
    }

    /// A task runs.
    pub(in crate::engine) fn restore_running(
        &mut self,
        tree: &Tree,
        used: &Used<'_>,
        started: (Time, Span),
        place: Place<'_>,
    ) -> Result<(), StateError> {
        let domain = &self.domains[self.accounts[used.queue.index()].domain];
        let rate = domain.rate(used.demand, used.node_weight);
        let job = self.jobs[used.job.slot()].as_mut().expect("it has been restored");
        job.active_tasks += 1;
        let mut booked = job.standing.restore_task(&rate, started, domain);
        for (at, _) in tree.up(used.queue) {
            let account = &mut self.accounts[at.index()];
            let domain = &self.domains[account.ordered_by];
            let rate = domain.rate(used.demand, used.node_weight);
            booked &= account.standing.restore_task(&rate, started, domain);
            account.held.add(used.demand);
            account.active_tasks += 1;
        }
        self.accounts[QueueRow::ROOT.index()].held.add(used.demand);
        ensure!(booked, place, "its job, or a queue above it, has no ledger that it is charged to");
        Ok(())
    }

    /// Room is held idle for a job, and charged if that is so. Whether there is a ledger for it.
    #[must_use]
    pub(in crate::engine) fn restore_idle(
        &mut self,
        now: Time,
        tree: &Tree,
        used: &Used<'_>,
        charges: bool,
    ) -> bool {
        self.meter.turn_idle(Time::ZERO, used.queue.index(), used.demand, true);
        let mut booked = true;
        if charges {
            self.for_each_charged(tree, used, |standing, (_, domain), _| {
                let rate = domain.rate(used.demand, used.node_weight);
                booked &= standing.restore_charge(&rate, now);
            });
        }
        booked
    }

    /// All jobs and tasks have been told; `waiting` are the amounts that are waited for in each
    /// queue, kind by kind.
    pub(in crate::engine) fn restored(
        &mut self,
        state: &State,
        tree: &Tree,
        total: &Resources,
        mut waiting: Vec<u128>,
    ) -> Result<(), StateError> {
        let now = state.now;
        let accounts = self.accounts.iter_mut().map(|account| &mut account.standing);
        let jobs = self.jobs.iter_mut().flatten().map(|job| &mut job.standing);
        accounts.chain(jobs).for_each(Standing::restored);
        let price = (state.lending_price, state.lending_at, state.lending_beyond);
        let (lent, borrowed) = (state.forgotten_lent, state.forgotten_borrowed);
        let forgotten = (Lending { lent, borrowed }, state.forgotten_fraction);
        let idle = self.meter.take_idle();
        self.meter = Meter::from_state(state.measured, total, now, price, forgotten)?;
        self.meter.set_idle(idle);
        for ((queue, row), of) in tree.iter().zip(&state.queues) {
            let asked = &mut waiting[queue.index() * self.kinds..][..self.kinds];
            let leaf = row.is_leaf() && !row.is_removed();
            let nothing = Resources::zero(self.kinds);
            // A parent holds what its children hold; the meter knows leaves only.
            let held = if leaf { &self.accounts[queue.index()].held } else { &nothing };
            for (asked, &held) in asked.iter_mut().zip(held.as_slice()) {
                *asked += u128::from(held);
            }
            let entitled = match leaf {
                true => row.entitled(self.meter.kind(), total),
                false => Entitled::NOTHING,
            };
            let leaf = Leaf { held, demand: asked, entitled };
            let place = format_args!("queues[{}].meter", queue.index());
            self.meter.restore(&of.meter, now, &leaf, place)?;
        }
        self.meter.check_restored(now)?;
        self.restore_quanta(state, tree)
    }

    fn restore_quanta(&mut self, state: &State, tree: &Tree) -> Result<(), StateError> {
        let learns = |domain: &Domain| matches!(domain.policy().quantum, Quantum::Adaptive { .. });
        let learns = self.domains.iter().any(learns);
        ensure!(learns == state.quanta.is_some(), "quanta", "kept where, and only where, learnt");
        let Some(quanta) = &state.quanta else { return Ok(()) };
        let given = quanta.queues.len();
        ensure!(given == tree.len(), "quanta.queues", "{given} rows of {} queues", tree.len());
        for ((queue, row), of) in tree.iter().zip(&quanta.queues) {
            let at = || format!("quanta.queues[{}]", queue.index());
            ensure!(of.departed.1 <= MAX_COUNT, at(), "more than 2^53 jobs");
            let blank = !of.known && !of.dirty && of.departed.1 == 0;
            ensure!(!row.is_removed() || blank, at(), "the queue is gone");
            let mut above = row.parent();
            while let Some(parent) = above.filter(|_| of.known) {
                let known = quanta.queues[parent.index()].known;
                ensure!(known, at(), "its parent was handed no quantum");
                above = tree[parent].parent();
            }
        }
        let parent_of = |queue: QueueRow| tree[queue].parent();
        let jobs = self.jobs.iter().flatten().map(|job| (job.queue, &job.quantum));
        self.quanta = Some(QuantumUpdater::from_state(quanta, state.now, parent_of, jobs)?);
        Ok(())
    }
}
