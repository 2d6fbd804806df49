//! Queues order what is below them otherwise from an instant on, while work runs.
//!
//! What nobody's order decides stays: jobs, running tasks, handles, shares, integrals. Ledgers are
//! taken over where they mean the same in both orders (`order::carry`), and begin anew where not.
//! Reservations are given up; who is first under the new order gets them at the next decision.
//! Which tasks fit nowhere is found out again.
//!
//! It is done by the engine's own state: the orders in it are replaced, what depends on them is
//! told anew, and an engine is made of it. So a change is as good as a restart with another policy
//! that forgets nothing, and there is no third way to come by a heap. Cost: O(queues + nodes + jobs
//! + running tasks), once for each change.
//!
//! Two things it cannot know. How long tasks run at most that came under an order without
//! reservations: for reservations they have no limit. And since when a ledger that begins anew has
//! charged a task: where a start from before the change is undone after it, or its task turns out
//! to run on a node of another weight, all since its start is taken back, as far as there is so
//! much.

use std::collections::BTreeSet;

use super::Engine;
use super::core::Core;
use super::guard::Guard;
use crate::error::{ConfigError, Rejected};
use crate::event::Effect;
use crate::ids::{JobId, QueueId, QueueRow};
use crate::order::Domain;
use crate::place::Unasked;
use crate::policy::{Blocked, Policy, Quantum, Untried};
use crate::state::{
    HoldsState, JobQuantumState, OrderState, QuantaState, QueueQuantumState, QueueState, State,
    StateError,
};
use crate::time::{Span, Time};

/// Members of orders that have changed.
#[derive(Default)]
struct Moved {
    queues: Vec<QueueRow>,
    jobs: Vec<JobId>,
    guard: bool,
}

impl Engine {
    pub(super) fn policies_changed(
        &mut self,
        changes: &[(QueueId, Policy)],
    ) -> Result<Effect, Rejected> {
        let policies = self.core.policies_after(changes)?;
        self.core.share_out_if_due();
        // What is held idle is measured up to now; no time passes until it is held anew.
        let idle = self.reservations.forget_all_idle(&mut self.core);
        let (state, moved) = match self.tried_under(&policies) {
            Ok(tried) => tried,
            Err(why) => {
                // At the same instant, so nothing has changed.
                self.reservations.hold_all_idle(&mut self.core, idle);
                return Err(refused(why));
            }
        };
        self.made_of(&state).map_err(refused)?;
        self.core.books.prepay(&moved.queues, &moved.jobs);
        if let Some(guard) = self.core.guard.as_mut().filter(|_| moved.guard) {
            guard.prepay();
        }
        Ok(Effect::None)
    }

    /// Whether the change would be taken ([`Event::PoliciesChanged`](crate::Event)), without making
    /// it.
    pub fn check_policies(&self, changes: &[(QueueId, Policy)]) -> Result<(), Rejected> {
        let mut copy = Engine::from_state(&self.state(), Box::new(Unasked)).map_err(refused)?;
        copy.policies_changed(changes).map(drop)
    }

    /// The same after a dry run, so that nothing is lost where it fails.
    fn tried_under(&self, policies: &[Policy]) -> Result<(State, Moved), StateError> {
        let (state, moved) = self.under(policies)?;
        Engine::from_state(&state, Box::new(Unasked))?;
        Ok((state, moved))
    }

    /// The state with these policies, and whose order they change.
    fn under(&self, policies: &[Policy]) -> Result<(State, Moved), StateError> {
        let mut state = self.state();
        state.orders.clear();
        for (row, policy) in state.queues.iter_mut().zip(policies) {
            let known = state.orders.iter().position(|order| order.policy == *policy);
            row.order = known.unwrap_or_else(|| {
                state.orders.push(self.core.books.order_of_policy(policy, self.core.room.total()));
                state.orders.len() - 1
            });
        }
        let moved = self.core.take_over(&mut state)?;
        self.core.take_over_root(&mut state, &policies[0]);
        self.core.list_all(&mut state);
        self.core.take_over_quanta(&mut state, policies);
        self.core.take_over_charges(&mut state);
        for queue in &mut state.queues {
            (queue.parked, queue.least) = (false, None);
            queue.capped.clear();
        }
        for shape in state.shapes.iter_mut().flatten() {
            shape.blocked = false;
            shape.turn.iter_mut().for_each(|turn| turn.tried = false);
        }
        state.fresh.clear();
        state.rescales = false;
        Ok((state, moved))
    }
}

impl Core {
    /// The policy of every row, the root's first; refuses what cannot be.
    fn policies_after(&self, changes: &[(QueueId, Policy)]) -> Result<Vec<Policy>, Rejected> {
        let policy = |(row, _)| self.books.domain(row).policy().clone();
        let mut policies: Vec<Policy> = self.tree.iter().map(policy).collect();
        for (queue, policy) in changes {
            let row = self.tree.row(*queue).filter(|&row| !self.tree[row].is_removed());
            let row = row.ok_or(Rejected::UnknownQueue)?;
            policies[row.index()] = policy.clone();
        }
        let (root, others) = policies.split_first_mut().expect("there is a root");
        for ((row, _), policy) in self.tree.iter().skip(1).zip(others) {
            // Whoever comes back under that name says anew how it orders.
            if !policy.goes_below(root) && self.tree[row].is_removed() {
                *policy = root.clone();
            }
        }
        for ((row, _), policy) in self.tree.iter().zip(&policies) {
            let alone = (!policy.goes_below(&policies[0])).then(|| {
                format!(
                    "{} is how each server decides, from the root down: make it the order of all, \
                     or take drf here",
                    policy.name()
                )
            });
            if let Some(problem) = policy.problem(self.kinds.len()).or(alone) {
                let queue = if row == QueueRow::ROOT { "root" } else { self.tree[row].name() };
                return Err(ConfigError::Policy { queue: queue.to_owned(), problem }.into());
            }
        }
        // As on arrival: there tasks are started one by one.
        match policies[0].per_server && self.any_gang() {
            true => Err(Rejected::GangPerServer),
            false => Ok(policies),
        }
    }

    /// Standings of those whose parent, or leaf, orders otherwise now.
    fn take_over(&self, state: &mut State) -> Result<Moved, StateError> {
        let (now, kinds) = (self.now, self.kinds.len());
        let orders = std::mem::take(&mut state.orders);
        let domain = |(index, order): (usize, &OrderState)| {
            Domain::from_state(order, now, kinds, format_args!("orders[{index}]"))
        };
        let domains: Vec<Domain> =
            orders.iter().enumerate().map(domain).collect::<Result<_, _>>()?;
        let mut moved = Moved::default();
        let order_of: Vec<usize> = state.queues.iter().map(|queue| queue.order).collect();
        for ((queue, row), told) in self.tree.iter().zip(&mut state.queues) {
            let Some(parent) = row.parent() else { continue };
            let order = order_of[parent.index()];
            if self.books.order_above(queue).policy != orders[order].policy {
                told.standing = self.books.queue_taken_over(now, queue, &domains[order]);
                moved.queues.push(queue);
            }
        }
        for (slot, told) in &mut state.jobs.live {
            let leaf = QueueRow(told.queue);
            let order = order_of[leaf.index()];
            if *self.books.domain(leaf).policy() != orders[order].policy {
                let id = self.work.job_in(*slot).expect("it is one of the live ones");
                told.standing = self.books.job_taken_over(now, id, &domains[order]);
                moved.jobs.push(id);
            }
        }
        let before = self.books.domain(QueueRow::ROOT).policy();
        let root = &domains[order_of[0]];
        moved.guard = before != root.policy();
        if moved.guard {
            state.guard = root.policy().t_wait.map(|_| match &self.guard {
                Some(guard) => guard.taken_over(now, root, kinds),
                None => Guard::begun(root, self.tree.len(), kinds),
            });
        }
        state.orders = orders;
        Ok(moved)
    }

    /// What the root's policy says of reservations, servers and estimates.
    fn take_over_root(&self, state: &mut State, root: &Policy) {
        let holds = std::mem::take(&mut state.holds);
        if matches!(root.blocked, Blocked::Reserve(_)) && root.reclaim.is_some() {
            // They were told, and will stop.
            let HoldsState { stopping, stopped_before, .. } = holds;
            state.holds = HoldsState { stopping, stopped_before, ..HoldsState::default() };
        }
        if root.estimates != crate::policy::Estimates::Learned {
            state.last_runs.clear();
        }
        if root.t_wait.is_none() {
            state.queues.iter_mut().for_each(|queue| queue.waited_before = None);
        }
        state.turn = None;
    }

    /// Nothing is held, so all that waits is listed: also groups for which all was held, whose leaf
    /// may have done without their buckets meanwhile.
    fn list_all(&self, state: &mut State) {
        let listed = |queue: &QueueState| queue.buckets.iter().copied().collect();
        let mut listed: Vec<BTreeSet<u32>> = state.queues.iter().map(listed).collect();
        for id in self.work.job_ids() {
            let job = self.work.job(id).expect("it is one of the live ones");
            let leaf = job.queue.index();
            for group in job.groups().iter().map(|&slot| self.work.group(slot)) {
                let shape = group.turn().number();
                if group.waiting() > 0 && listed[leaf].insert(shape) {
                    state.queues[leaf].buckets.push(shape);
                }
            }
        }
    }

    /// Quanta are learned on where some order learns them, and from their beginning where none did.
    fn take_over_quanta(&self, state: &mut State, policies: &[Policy]) {
        let learns = policies.iter().find_map(|policy| match policy.quantum {
            Quantum::Adaptive { initial, interval, untried } => Some((initial, interval, untried)),
            Quantum::Fixed(_) => None,
        });
        match (learns, &mut state.quanta) {
            (None, quanta) => {
                *quanta = None;
                state.jobs.live.iter_mut().for_each(|(_, job)| job.quantum.dirty = false);
            }
            (Some((_, interval, untried)), Some(quanta)) => {
                quanta.interval = interval;
                if std::mem::replace(&mut quanta.untried, untried) != untried {
                    // Means of jobs and run times of tasks are not the same.
                    quanta.queues.iter_mut().for_each(|queue| queue.departed = (0, 0));
                }
            }
            (Some((initial, interval, untried)), none) => {
                *none = Some(QuantaState { untried, ..self.quanta_begun(initial, interval) });
                for (_, job) in &mut state.jobs.live {
                    job.quantum = JobQuantumState { quantum: initial, ..Default::default() };
                }
            }
        }
    }

    /// What runs is charged by its job's quantum, whenever it started. Where no order read quanta
    /// so far, refreshes have passed over it.
    fn take_over_charges(&self, state: &mut State) {
        let State { jobs, running, .. } = state;
        for (_, task) in &mut running.live {
            let job = jobs.live.binary_search_by_key(&task.job, |&(slot, _)| slot);
            let Ok(job) = job.map(|place| &jobs.live[place].1) else { continue };
            if !self.books.charges_learnt(&self.tree, QueueRow(job.queue)) {
                task.quantum = job.quantum.quantum;
            }
        }
    }

    /// As handed down to the jobs that live.
    fn quanta_begun(&self, initial: Span, interval: Span) -> QuantaState {
        let mut queues = vec![QueueQuantumState::default(); self.tree.len()];
        let handed = QueueQuantumState { quantum: initial, known: true, ..Default::default() };
        queues[0] = handed;
        for id in self.work.job_ids() {
            let leaf = self.work.job(id).expect("it is one of the live ones").queue;
            self.tree.up(leaf).for_each(|(queue, _)| queues[queue.index()] = handed);
        }
        QuantaState { interval, untried: Untried::Handed, next_refresh: Time::MAX, queues }
    }
}

fn refused(why: StateError) -> Rejected {
    ConfigError::Policy { queue: "root".to_owned(), problem: why.to_string() }.into()
}
