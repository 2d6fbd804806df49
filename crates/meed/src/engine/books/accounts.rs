//! Accounts at work: jobs and tasks come, start, end and go; newcomers are topped up.

use super::{Books, JobAccount, Used};
use crate::ids::{JobId, QueueRow};
use crate::order::{Domain, Rate, Standing, pseudo_accumulated};
use crate::policy::{Measure, Newcomer};
use crate::quantum::JobQuantum;
use crate::resources::Resources;
use crate::time::{Span, Time};

use super::super::tree::Tree;

impl Books {
    /// Opens the account of a job that arrives in `queue`.
    pub(in crate::engine) fn job_arrives(
        &mut self,
        tree: &Tree,
        id: JobId,
        queue: QueueRow,
        weight: u64,
    ) {
        let quantum = match &mut self.quanta {
            Some(quanta) => quanta.job_arrives(&tree.path(queue)),
            None => JobQuantum::default(),
        };
        if id.slot() >= self.jobs.len() {
            self.jobs.resize_with(id.slot() + 1, || None);
        }
        self.jobs[id.slot()] = Some(JobAccount {
            id,
            queue,
            weight,
            arrival: self.arrivals,
            standing: Standing::default(),
            quantum,
            active_tasks: 0,
        });
        self.arrivals += 1;
    }

    /// Closes the account of a job.
    pub(in crate::engine) fn job_leaves(&mut self, now: Time, id: JobId) {
        let row = &mut self.jobs[id.slot()];
        let job = row.as_ref().expect("a job leaves once");
        if let Some(quanta) = &mut self.quanta {
            quanta.job_leaves(now, job.queue, &job.quantum);
            self.next_chore = self.next_chore.min(quanta.next_refresh());
        }
        // Where it stands: a row is two lines to copy.
        *row = None;
    }

    pub(in crate::engine) fn set_job_weight(&mut self, id: JobId, weight: u64) {
        self.job_mut(id).weight = weight;
    }

    #[inline]
    fn job_mut(&mut self, id: JobId) -> &mut JobAccount {
        self.jobs[id.slot()].as_mut().expect("the job is alive")
    }

    /// A job gets `tasks` more: each queue on its path that was idle becomes active. A queue, or a
    /// job, that never had work arrives now.
    pub(in crate::engine) fn get_work(&mut self, now: Time, tree: &Tree, id: JobId, tasks: u64) {
        let leaf = self.job_mut(id).queue;
        let mut all_known = true;
        for (at, _) in tree.up(leaf) {
            let account = &mut self.accounts[at.index()];
            account.active_tasks += tasks;
            all_known &= account.standing.known;
        }
        if !all_known {
            self.queues_arrive(now, tree, leaf);
        }
        let job = self.job_mut(id);
        job.active_tasks += tasks;
        if !job.standing.known {
            job.standing.known = true;
            job.standing.since = Some(now);
            self.top_up_job(now, id);
        }
    }

    /// Those on the path of `leaf` that never had work arrive now, from above.
    #[cold]
    fn queues_arrive(&mut self, now: Time, tree: &Tree, leaf: QueueRow) {
        let mut parent = QueueRow::ROOT;
        for at in tree.path(leaf) {
            let standing = &mut self.accounts[at.index()].standing;
            if !standing.known {
                standing.known = true;
                standing.since = Some(now);
                self.top_up_queue(now, tree, at, parent);
            }
            parent = at;
        }
    }

    /// `tasks` of `demand` each are asked for in `leaf`.
    pub(in crate::engine) fn ask(
        &mut self,
        now: Time,
        leaf: QueueRow,
        demand: &Resources,
        tasks: u64,
    ) {
        self.meter.ask(now, leaf.index(), demand, tasks);
    }

    /// A task that ran is asked for again.
    pub(in crate::engine) fn ask_again(
        &mut self,
        now: Time,
        tree: &Tree,
        id: JobId,
        demand: &Resources,
    ) {
        let job = self.job_mut(id);
        job.active_tasks += 1;
        let leaf = job.queue;
        self.meter.ask(now, leaf.index(), demand, 1);
        for (queue, _) in tree.up(leaf) {
            self.accounts[queue.index()].active_tasks += 1;
        }
    }

    /// `tasks` of the job that waited are asked for no more.
    pub(in crate::engine) fn unask(
        &mut self,
        now: Time,
        tree: &Tree,
        id: JobId,
        demand: &Resources,
        tasks: u64,
    ) {
        let job = self.job_mut(id);
        job.active_tasks -= tasks;
        let leaf = job.queue;
        self.meter.unask(now, leaf.index(), demand, tasks);
        for (queue, _) in tree.up(leaf) {
            self.accounts[queue.index()].active_tasks -= tasks;
        }
    }

    /// A task that runs since `since` starts: charges the leaf and all queues above it, each by its
    /// parent's policy, and the job by its leaf's. It is the last service of all these queues. The
    /// job's quantum now.
    #[inline]
    pub(in crate::engine) fn start(
        &mut self,
        now: Time,
        since: Time,
        tree: &Tree,
        used: &Used<'_>,
    ) -> Span {
        self.meter.start(now, used.queue.index(), used.demand);
        let quantum = self.job_mut(used.job).quantum.quantum;
        self.starts += 1;
        for (at, parent) in tree.up(used.queue) {
            self.first_start_of_round(now, tree, at, parent);
            let account = &mut self.accounts[at.index()];
            let domain = &self.domains[account.ordered_by];
            let rate = domain.rate(used.demand, used.node_weight);
            let share = account.terms.share;
            account.standing.start(now, &rate, (since, quantum), domain, share);
            account.terms.tie.0 = self.starts;
            account.held.add(used.demand);
        }
        // The walks over a path stop below the root; what it holds is for those who look.
        self.accounts[QueueRow::ROOT.index()].held.add(used.demand);
        let job = self.job_mut(used.job);
        if job.standing.since.is_none() {
            job.standing.since = Some(now);
            self.top_up_job(now, used.job);
        } else {
            job.standing.counts_by_start(now);
        }
        let domain = &self.domains[self.accounts[used.queue.index()].domain];
        let rate = domain.rate(used.demand, used.node_weight);
        let job = self.jobs[used.job.slot()].as_mut().expect("the job is alive");
        job.standing.start(now, &rate, (since, quantum), domain, u64::MAX);
        quantum
    }

    /// A task that was started at `started`, with its job's quantum then, runs no more, and is
    /// asked for no more: its charge becomes what it used, at every level, or nothing where the
    /// start is undone. `last`: no other of the job runs.
    #[inline]
    pub(in crate::engine) fn end(
        &mut self,
        now: Time,
        tree: &Tree,
        used: &Used<'_>,
        started: (Time, Span),
        (undone, last): (bool, bool),
    ) {
        // Both written out: neither is a call through a pointer.
        let end = |standing: &mut Standing, rate: &Rate, domain: &Domain, share| match undone {
            true => standing.undo(now, rate, started, domain, share),
            false => standing.end(now, rate, started, domain, share),
        };
        self.meter.end(now, used.queue.index(), used.demand);
        self.meter.unask(now, used.queue.index(), used.demand, 1);
        let domain = &self.domains[self.accounts[used.queue.index()].domain];
        let rate = domain.rate(used.demand, used.node_weight);
        let job = self.jobs[used.job.slot()].as_mut().expect("the job is alive");
        job.active_tasks -= 1;
        end(&mut job.standing, &rate, domain, u64::MAX);
        if last {
            job.standing.runs_nothing(now);
        }
        for (at, _) in tree.up(used.queue) {
            let account = &mut self.accounts[at.index()];
            let domain = &self.domains[account.ordered_by];
            let rate = domain.rate(used.demand, used.node_weight);
            end(&mut account.standing, &rate, domain, account.terms.share);
            account.held.sub(used.demand);
            if account.held.is_zero() {
                account.standing.runs_nothing(now);
            }
            account.active_tasks -= 1;
        }
        self.accounts[QueueRow::ROOT.index()].held.sub(used.demand);
    }

    /// A running task turns out to run on a node of another weight: it is charged by that one since
    /// it started.
    pub(in crate::engine) fn reweigh(
        &mut self,
        now: Time,
        tree: &Tree,
        used: &Used<'_>,
        started: (Time, Span),
        node_weight: u32,
    ) {
        let change = |standing: &mut Standing, domain: &Domain, share: u64| {
            let [before, after] =
                [used.node_weight, node_weight].map(|weight| domain.rate(used.demand, weight));
            standing.uncharge(now, &before, started, domain, share);
            standing.charge_since(now, &after, started, domain, share);
        };
        let domain = &self.domains[self.accounts[used.queue.index()].domain];
        let job = self.jobs[used.job.slot()].as_mut().expect("the job is alive");
        change(&mut job.standing, domain, u64::MAX);
        for (at, _) in tree.up(used.queue) {
            let account = &mut self.accounts[at.index()];
            let domain = &self.domains[account.ordered_by];
            change(&mut account.standing, domain, account.terms.share);
        }
    }

    /// A task of a job has ended well after `ran`: its quantum learns.
    pub(in crate::engine) fn learn(&mut self, now: Time, id: JobId, ran: Span) {
        let Some(quanta) = &mut self.quanta else { return };
        let job = self.jobs[id.slot()].as_mut().expect("the job is alive");
        if quanta.task_ends(now, job.queue, &mut job.quantum, ran) {
            self.learners.push(id);
        }
        self.next_chore = self.next_chore.min(quanta.next_refresh());
    }

    /// Case three of Eq. 14: a queue that is older than the round and had no task straddling its
    /// start counts from its first task in it.
    #[inline]
    fn first_start_of_round(&mut self, now: Time, tree: &Tree, queue: QueueRow, parent: QueueRow) {
        let standing = &mut self.accounts[queue.index()].standing;
        if standing.since.is_none() {
            standing.since = Some(now);
            self.top_up_queue(now, tree, queue, parent);
        } else {
            standing.counts_by_start(now);
        }
    }

    fn top_up_queue(&mut self, now: Time, tree: &Tree, queue: QueueRow, parent: QueueRow) {
        let domain = &self.domains[self.accounts[parent.index()].domain];
        let rule = domain.rule;
        if !rule.keeps_usage() || rule.newcomer == Newcomer::Zero {
            return;
        }
        let since = self.accounts[queue.index()].standing.since;
        let mut earlier = Vec::new();
        for &sibling in tree[parent].children() {
            let other = &mut self.accounts[sibling.index()];
            if sibling != queue
                && other.active_tasks > 0
                && other.standing.since.is_some_and(|at| Some(at) < since)
            {
                let charge = other.standing.charge(now, domain, other.terms.share);
                earlier.push((charge, other.terms.weight));
            }
        }
        let newcomer = &mut self.accounts[queue.index()];
        let weight = newcomer.terms.weight;
        let pseudo = pseudo_accumulated(rule.newcomer, weight, earlier.into_iter());
        newcomer.standing.top_up(pseudo, domain, self.kinds);
    }

    /// The same for a job among those of its leaf, where it counts from `now` on. O(jobs), and only
    /// where the policy asks for it.
    fn top_up_job(&mut self, now: Time, id: JobId) {
        let (leaf, weight) = {
            let job = self.job_mut(id);
            (job.queue, job.weight)
        };
        let domain = &self.domains[self.accounts[leaf.index()].domain];
        let rule = domain.rule;
        if !rule.keeps_usage() || rule.newcomer == Newcomer::Zero {
            return;
        }
        let mut earlier = Vec::new();
        for other in self.jobs.iter_mut().flatten().filter(|job| job.queue == leaf && job.id != id)
        {
            if other.active_tasks > 0 && other.standing.since.is_some_and(|at| at < now) {
                earlier.push((other.standing.charge(now, domain, u64::MAX), other.weight));
            }
        }
        let pseudo = pseudo_accumulated(rule.newcomer, weight, earlier.into_iter());
        let job = self.jobs[id.slot()].as_mut().expect("the job is alive");
        job.standing.top_up(pseudo, domain, self.kinds);
    }

    /// Whether some queue is ordered by arrival.
    pub(in crate::engine) fn orders_by_arrival(&self) -> bool {
        self.orders_by_arrival
    }

    /// Where a queue is ordered by arrival, keeps the arrival numbers of its waiting jobs; the
    /// queues whose keys this changes.
    #[inline]
    pub(in crate::engine) fn update_arrivals(
        &mut self,
        tree: &Tree,
        id: JobId,
        waits: bool,
    ) -> Vec<QueueRow> {
        match self.orders_by_arrival {
            true => self.move_arrival(tree, id, waits),
            false => Vec::new(),
        }
    }

    fn move_arrival(&mut self, tree: &Tree, id: JobId, waits: bool) -> Vec<QueueRow> {
        let mut changed = Vec::new();
        let (leaf, arrival) = {
            let job = self.job_mut(id);
            (job.queue, job.arrival)
        };
        for (at, _) in tree.up(leaf) {
            let account = &mut self.accounts[at.index()];
            if self.domains[account.ordered_by].rule.measure != Measure::Arrival {
                continue;
            }
            if account.standing.move_arrival(arrival, waits) {
                changed.push(at);
            }
        }
        changed
    }
}
