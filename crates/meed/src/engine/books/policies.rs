//! Accounts whose order changes: what they are in it.

use super::Books;
use crate::ids::{JobId, QueueRow};
use crate::order::Domain;
use crate::resources::Resources;
use crate::state::{OrderState, StandingState};
use crate::time::Time;

impl Books {
    /// What a queue is among its siblings, who are ordered by `into` from now on.
    pub(in crate::engine) fn queue_taken_over(
        &self,
        now: Time,
        queue: QueueRow,
        into: &Domain,
    ) -> StandingState {
        let account = &self.accounts[queue.index()];
        let from = (self.domain_above(queue), account.terms.share);
        account.standing.taken_over(now, from, into, self.kinds)
    }

    /// What a job is among those of its leaf, which orders them by `into` from now on.
    pub(in crate::engine) fn job_taken_over(
        &self,
        now: Time,
        id: JobId,
        into: &Domain,
    ) -> StandingState {
        let job = self.jobs[id.slot()].as_ref().expect("the job is alive");
        let from = (self.domain(job.queue), u64::MAX);
        job.standing.taken_over(now, from, into, self.kinds)
    }

    /// How the parent of `queue` orders it, as plain data.
    pub(in crate::engine) fn order_above(&self, queue: QueueRow) -> OrderState {
        self.domain_above(queue).state()
    }

    /// Running tasks of these queues and jobs are charged ahead by the orders that they have now.
    pub(in crate::engine) fn prepay(&mut self, queues: &[QueueRow], jobs: &[JobId]) {
        for queue in queues {
            let account = &mut self.accounts[queue.index()];
            account.standing.prepay(&self.domains[account.ordered_by], account.terms.share);
        }
        for id in jobs {
            let job = self.jobs[id.slot()].as_mut().expect("the job is alive");
            let domain = &self.domains[self.accounts[job.queue.index()].domain];
            job.standing.prepay(domain, u64::MAX);
        }
    }

    /// The order of a policy, with what dominant shares are parts of: of this pool where no queue
    /// has had it yet.
    pub(in crate::engine) fn order_of_policy(
        &self,
        policy: &crate::Policy,
        pool: &Resources,
    ) -> OrderState {
        let known = self.domains.iter().find(|domain| domain.is_of(policy));
        known.map(Domain::state).unwrap_or_else(|| {
            let dominant = policy.scalar == crate::policy::Scalar::Dominant;
            let pool = if dominant { pool.as_slice().to_vec() } else { Vec::new() };
            OrderState { policy: policy.clone(), pool }
        })
    }
}
