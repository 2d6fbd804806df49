//! Who has used what: the standing of each queue and job, their ledgers, the fairness integrals,
//! and the quanta that ledgers charge ahead.
//!
//! It knows the tree and what tasks hold, on nodes of what weight; it knows no heap, no placement
//! and not what waits where. It tells the key of a child; who is asked for it is `ready`'s.
//!
//! Invariant: what a start charges ([`Books::start`]), the end of the same task takes back, at
//! every level ([`Books::end`]); `held` of a queue is the sum over its running tasks.

mod accounts;
mod ahead;
mod chores;
mod idle;
mod policies;
mod read;
mod state;

use std::cell::LazyCell;

use crate::fairness::{Entitled, Meter};
use crate::ids::{JobId, QueueRow};
use crate::order::key::Key;
use crate::order::{Alone, Domain, Minimum, Pool, Standing, Terms};
use crate::policy::{Measure, Newcomer, Policy, Quantum};
use crate::quantum::{JobQuantum, QuantumUpdater};
use crate::resources::Resources;
use crate::spec::Rank;
use crate::time::Time;

use super::tree::Tree;
pub(super) use ahead::Ran;
pub(super) use chores::rated;

/// One queue's account: three whole lines of memory, for with thousands of queues each event finds
/// its own far away.
#[derive(Clone)]
#[repr(align(64))]
struct Account {
    /// Its position among its siblings.
    standing: Standing,
    terms: Terms,
    held: Resources,
    /// Waiting and running tasks in the subtree.
    active_tasks: u64,
    /// How it orders its children, and how its parent does: indices of the domains.
    domain: usize,
    ordered_by: usize,
}

/// One job's account: two whole lines of memory.
#[derive(Clone)]
#[repr(align(64))]
struct JobAccount {
    id: JobId,
    queue: QueueRow,
    weight: u64,
    arrival: u64,
    /// Its position among the jobs of its leaf.
    standing: Standing,
    quantum: JobQuantum,
    /// Waiting and running tasks.
    active_tasks: u64,
}

// Where words have less than 64 bits they are smaller.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Account>() == 192 && size_of::<JobAccount>() == 128);

/// What a running task counts by.
pub(super) struct Used<'a> {
    pub(super) job: JobId,
    pub(super) queue: QueueRow,
    pub(super) demand: &'a Resources,
    /// delta of Eq. 9, in thousandths.
    pub(super) node_weight: u32,
}

/// See the module.
#[derive(Clone)]
pub(super) struct Books {
    kinds: usize,
    /// How queues order their children; one for all queues of equal policies.
    domains: Vec<Domain>,
    /// By number of the queue.
    accounts: Vec<Account>,
    /// By slot of the job.
    jobs: Vec<Option<JobAccount>>,
    /// Arrival number of the next job.
    arrivals: u64,
    /// How many tasks have started so far: by these numbers ties are settled (`order`).
    starts: u64,
    meter: Meter,
    quanta: Option<QuantumUpdater>,
    /// Live jobs of which a task has ended since the last refresh of the quanta.
    learners: Vec<JobId>,
    /// When the clock alone next changes something.
    next_chore: Time,
    /// Whether any queue is ordered by arrival (jobs are by theirs): what nobody has costs nothing.
    orders_by_arrival: bool,
    /// What reads shares between two sharings out.
    reads: ReadsShares,
}

/// Which policies read shares, weights or the pool where keys are not asked for.
#[derive(Clone, Copy, Default)]
pub(super) struct ReadsShares {
    /// A newcomer is topped up by the charges of others.
    pub(super) top_ups: bool,
    /// What it was topped up with is told in parts of the pool.
    pub(super) parts: bool,
    /// Use above the share counts less, or alone.
    pub(super) discounts: bool,
}

impl Books {
    /// Without queues.
    pub(super) fn new(measured: usize, kinds: usize, quanta: Option<QuantumUpdater>) -> Books {
        Books {
            kinds,
            domains: Vec::new(),
            accounts: Vec::new(),
            jobs: Vec::new(),
            arrivals: 0,
            starts: 0,
            meter: Meter::new(measured, kinds),
            quanta,
            learners: Vec::new(),
            next_chore: Time::MAX,
            orders_by_arrival: false,
            reads: ReadsShares::default(),
        }
    }

    /// Opens the account of the next queue, below `parent`; of the root first.
    pub(super) fn add_queue(
        &mut self,
        now: Time,
        parent: Option<QueueRow>,
        policy: &Policy,
        weight: u64,
        pool: &Resources,
    ) {
        let domain = self.domain_for(now, policy, pool);
        let ordered_by = parent.map_or(domain, |parent| self.accounts[parent.index()].domain);
        // It was never served.
        let tie = (0, self.accounts.len() as u32);
        self.note_order(parent.is_some(), ordered_by);
        self.accounts.push(Account {
            standing: Standing::default(),
            terms: Terms { weight, min: Minimum::NONE, share: 0, tie },
            held: Resources::zero(self.kinds),
            active_tasks: 0,
            domain,
            ordered_by,
        });
        self.meter.add_queue();
        if let (Some(quanta), Some(_)) = (&mut self.quanta, parent) {
            quanta.add_queue();
        }
    }

    /// The domain of queues with this policy; made when it is the first.
    fn domain_for(&mut self, now: Time, policy: &Policy, pool: &Resources) -> usize {
        if let Some(known) = self.domains.iter().position(|domain| domain.is_of(policy)) {
            return known;
        }
        let mut domain = Domain::new(policy);
        if domain.is_dominant() {
            domain.pool = Pool::new(pool);
        }
        // What it remembers is a function of time: one that comes later is brought up to now.
        domain.bring_up_to(now);
        self.push_domain(domain);
        self.domains.len() - 1
    }

    fn push_domain(&mut self, domain: Domain) {
        let rule = &domain.rule;
        let top_ups = rule.keeps_usage() && rule.newcomer != Newcomer::Zero;
        self.reads.top_ups |= top_ups;
        self.reads.parts |= top_ups && domain.is_dominant();
        self.reads.discounts |= rule.reads_share();
        self.domains.push(domain);
    }

    /// A queue is ordered so by its parent, where it has one.
    fn note_order(&mut self, has_parent: bool, ordered_by: usize) {
        let measure = self.domains[ordered_by].rule.measure;
        self.orders_by_arrival |= has_parent && measure == Measure::Arrival;
    }

    pub(super) fn reads_shares(&self) -> ReadsShares {
        self.reads
    }

    /// The removed `queue` comes back below `parent`. Its account is as it was, but for what is
    /// told in units of another policy.
    pub(super) fn revive_queue(
        &mut self,
        now: Time,
        queue: QueueRow,
        parent: QueueRow,
        policy: &Policy,
        weight: u64,
        pool: &Resources,
    ) {
        let domain = self.domain_for(now, policy, pool);
        let ordered_by = self.accounts[parent.index()].domain;
        self.note_order(true, ordered_by);
        let account = &mut self.accounts[queue.index()];
        if account.ordered_by != ordered_by {
            account.standing = Standing::default();
            account.terms.share = 0;
        }
        (account.domain, account.ordered_by) = (domain, ordered_by);
        account.terms.weight = weight;
    }

    /// How `queue` orders its children.
    #[inline]
    pub(super) fn domain(&self, queue: QueueRow) -> &Domain {
        &self.domains[self.accounts[queue.index()].domain]
    }

    /// How the parent of `queue` orders it.
    #[inline]
    fn domain_above(&self, queue: QueueRow) -> &Domain {
        &self.domains[self.accounts[queue.index()].ordered_by]
    }

    /// What queues hold now. The root's is for those who look.
    #[inline]
    pub(super) fn held(&self, queue: QueueRow) -> &Resources {
        &self.accounts[queue.index()].held
    }

    /// What of a queue its key depends on besides its standing.
    #[inline]
    pub(super) fn terms(&self, queue: QueueRow) -> &Terms {
        &self.accounts[queue.index()].terms
    }

    /// The key of `queue` among its siblings, by its own ledger.
    #[inline]
    pub(super) fn key(&mut self, now: Time, queue: QueueRow) -> Key {
        let account = &mut self.accounts[queue.index()];
        account.standing.key(now, &self.domains[account.ordered_by], &account.terms)
    }

    /// Where `queue` stands, told from outside.
    pub(super) fn set_rank(&mut self, queue: QueueRow, rank: Rank) {
        self.accounts[queue.index()].standing.set_rank(rank);
    }

    /// The key of `queue` where it holds less than its minimum, as a dominant share.
    pub(super) fn key_below_minimum(&self, queue: QueueRow) -> Option<Key> {
        let account = &self.accounts[queue.index()];
        account.standing.key_below_minimum(self.domain_above(queue), &account.terms)
    }

    /// The key of a group of tasks in its leaf: that of its job, then its number in the job.
    #[inline(always)]
    pub(super) fn group_key(&mut self, now: Time, job: JobId, number: u32) -> Key {
        let account = self.jobs[job.slot()].as_mut().expect("the job is alive");
        let domain = &self.domains[self.accounts[account.queue.index()].domain];
        let terms = account.terms(number);
        match domain.rule.measure {
            Measure::Arrival | Measure::Told => account.arrival_key(&terms),
            _ => account.standing.key(now, domain, &terms),
        }
    }

    /// Whether the jobs of `leaf` stand by their arrival alone: then keys that are stored are true.
    #[inline]
    pub(super) fn jobs_stand_by_arrival(&self, leaf: QueueRow) -> bool {
        matches!(self.domain(leaf).rule.measure, Measure::Arrival | Measure::Told)
    }

    /// The queue on the path whose maximum share one more task of `demand` would exceed.
    #[inline]
    pub(super) fn capped_by(
        &self,
        tree: &Tree,
        leaf: QueueRow,
        demand: &Resources,
    ) -> Option<QueueRow> {
        if !tree.has_maximums() {
            return None;
        }
        let exceeds = |queue: QueueRow| {
            tree[queue].max().is_some_and(|max| {
                let mut with = *self.held(queue);
                with.add(demand);
                !with.fits_in(max)
            })
        };
        let mut at = Some(leaf);
        while let Some(queue) = at {
            if exceeds(queue) {
                return Some(queue);
            }
            at = tree[queue].parent();
        }
        None
    }

    /// The first queue with adaptive quanta brings the updater, if none had them at the start.
    pub(super) fn begin_to_learn(&mut self, tree: &Tree, quantum: Quantum) {
        let (None, Quantum::Adaptive { initial, interval, untried }) = (&self.quanta, quantum)
        else {
            return;
        };
        let mut quanta = QuantumUpdater::new(initial, interval, untried);
        self.accounts.iter().skip(1).for_each(|_| quanta.add_queue());
        for job in self.jobs.iter_mut().flatten() {
            job.quantum = quanta.job_arrives(&tree.path(job.queue));
        }
        self.quanta = Some(quanta);
    }

    /// A queue that holds nothing is entitled to nothing; its quantum counts in its parent's mean
    /// no more.
    pub(super) fn remove_queue(&mut self, now: Time, queue: QueueRow, parent: QueueRow) {
        let account = &mut self.accounts[queue.index()];
        let (domain, old) = (&self.domains[account.ordered_by], account.terms.share);
        let nothing = Resources::zero(self.kinds);
        account.terms.share = account.standing.set_share(now, domain, old, &nothing);
        account.terms.min = Minimum::NONE;
        if let Some(quanta) = &mut self.quanta {
            quanta.remove_queue(queue, parent);
        }
    }

    /// Shares have changed: the tree's go into terms, ledgers and meters. O(queues).
    pub(super) fn share_out(&mut self, now: Time, tree: &Tree, total: &Resources) {
        self.change_pools(total);
        for (queue, row) in tree.iter() {
            // Whose parent has children still listed; the share of a removed queue stays.
            if row.parent().is_none() || row.is_removed() {
                continue;
            }
            let account = &mut self.accounts[queue.index()];
            let domain = &self.domains[account.ordered_by];
            let old = account.terms.share;
            account.terms.weight = row.weight();
            account.terms.share = account.standing.set_share(now, domain, old, row.share());
            account.terms.min = row.min().map_or(Minimum::NONE, |min| domain.minimum(&min));
        }
        let measured = self.meter.kind();
        self.meter.set_pool(total);
        for (queue, row) in tree.iter().skip(1) {
            let entitled = match row.is_leaf() && !row.is_removed() {
                true => row.entitled(measured, total),
                false => Entitled::NOTHING,
            };
            self.meter.set_share(now, queue.index(), &entitled);
        }
    }

    /// Dominant shares are parts of the cluster as it is now, and so are newcomers' terms. Of an
    /// empty cluster nothing is a part: the last pool stays.
    fn change_pools(&mut self, total: &Resources) {
        if total.is_zero() {
            return;
        }
        for index in 0..self.domains.len() {
            if !self.domains[index].is_dominant() {
                continue;
            }
            let before = std::mem::replace(&mut self.domains[index].pool, Pool::new(total));
            let after = self.domains[index].pool.count();
            self.for_each_member(index, |standing, _| {
                standing.change_parts(before.count(), after);
            });
        }
    }

    /// Task shares, where there are any, are parts of what runs on these servers. O(queues + jobs),
    /// each with its shapes.
    pub(super) fn set_servers(&mut self, servers: impl FnOnce() -> Alone) {
        let alone = LazyCell::new(servers);
        for index in 0..self.domains.len() {
            if self.domains[index].counts_tasks() && self.domains[index].alone != *alone {
                self.domains[index].alone = alone.clone();
                self.for_each_member(index, |standing, _| standing.weigh_anew(&alone));
            }
        }
    }

    /// Whether keys of jobs depend on the pool.
    pub(super) fn any_dominant(&self) -> bool {
        self.domains.iter().any(Domain::is_dominant)
    }
}

impl JobAccount {
    fn terms(&self, number: u32) -> Terms {
        let tie = (self.arrival, number);
        Terms { weight: self.weight, min: Minimum::NONE, share: u64::MAX, tie }
    }

    #[inline(always)]
    fn arrival_key(&self, terms: &Terms) -> Key {
        Key::new(crate::order::Tier::Ordinary, u128::from(self.arrival), 1, terms.tie)
    }

    /// Whether it is the job of this handle, and not one that came after it.
    fn is(&self, id: JobId) -> bool {
        self.id == id
    }
}
