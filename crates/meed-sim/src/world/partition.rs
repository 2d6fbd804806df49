//! The static partition: one driver per tenant over its share, in one virtual time.
//!
//! It is what rho and speed-up compare with: each tenant alone on its share, nothing lent. Its
//! driver has one node as large as its share, in smallest units. A task larger than the share could
//! never run there, though its tenant could run the same work more slowly: it is given the whole
//! share and runs longer by the ratio (an assumption of ours, docs/simulator.md). Only where the
//! share of a resource is nothing is the job refused.

use std::borrow::Cow;

use meed::{
    Config, Infeasible, MAX_KINDS, NodeSpec, QueueId, QueueSpec, Rejected, Resources, Span, Start,
    Time, View,
};
use meed_driver::{Books, CountedSpan, Driver, Failed, QueueTally, Totals};
use meed_journal::{Fact, QueueMark};
use meed_scenario::changes::Change;
use meed_scenario::plan::NewPlacement;
use meed_workload::{Durations, Job, JobGroup};

use super::desk::{Desk, Fitted, OneDriver, change_one, each_running, told};
use super::error::RunError;
use crate::accounts::InUse;
use crate::log::SharedLog;

/// A driver of the whole tree, which only shares out, and one driver for each leaf.
pub(crate) struct Partition<'a> {
    master: OneDriver<'a>,
    tenants: Vec<Tenant<'a>>,
    /// Tenant of each queue of the tree; `None` for parents.
    route: Vec<Option<u32>>,
    /// Tenants of which something has happened, in order.
    touched: Vec<u32>,
    /// Tasks wait for a share that can hold them.
    waits: bool,
}

/// A leaf queue that is alone on its share.
struct Tenant<'a> {
    driver: OneDriver<'a>,
    /// What it is in the tree.
    leaf: QueueId,
    /// What it is in its own driver: the only queue.
    own: QueueId,
    touched: bool,
    /// Whether its queue is to go when its last job has ended.
    draining: bool,
}

impl<'a> Partition<'a> {
    /// The master, and one driver for each leaf.
    pub(crate) fn new(
        config: Config,
        (place, seed): (NewPlacement, u64),
        (infeasible, counted): (Infeasible, CountedSpan),
        log: &SharedLog<'a>,
    ) -> Result<Partition<'a>, RunError> {
        let policies: Vec<_> = config.queues.iter().map(|queue| queue.policy.clone()).collect();
        let master =
            OneDriver::new(config.clone(), place(config.kinds.len(), seed), SharedLog::clone(log))?;
        let master = told(master, infeasible)?;
        let (mut tenants, mut route) = (Vec::new(), Vec::new());
        for leaf in master.engine().queue_ids() {
            let view = master.engine().queue(leaf);
            if !view.is_leaf {
                route.push(None);
                continue;
            }
            let policy = policies[leaf.index() - 1].clone();
            let (weight, share) = (view.weight, *view.share);
            let node = share_node(view.name, share);
            // Its full name would ask for its parents, which are not here.
            let name = "tenant".to_owned();
            let mut root = meed::Policy::new(meed::Measure::Arrival);
            root.quantum = policy.quantum;
            let alone = Config {
                kinds: config.kinds.clone(),
                measured: config.measured,
                root,
                queues: vec![QueueSpec { name, weight, min: None, max: None, policy }],
                nodes: if share.is_zero() { Vec::new() } else { vec![node] },
            };
            let name = view.name.to_owned();
            let place = place(config.kinds.len(), seed);
            let driver = OneDriver::new(alone, place, SharedLog::clone(log))?.alone(&name);
            let driver = told(driver.counting(counted), infeasible)?;
            let own = driver.engine().queue_ids().nth(1).expect("the only queue");
            route.push(Some(tenants.len() as u32));
            tenants.push(Tenant { driver, leaf, own, touched: false, draining: false });
        }
        let waits = infeasible == Infeasible::Wait;
        Ok(Partition { master, tenants, route, touched: Vec::new(), waits })
    }

    fn tenant(&self, queue: QueueId) -> Option<&Tenant<'a>> {
        self.route[queue.index()].map(|tenant| &self.tenants[tenant as usize])
    }

    /// A tenant will have something to decide at this instant.
    fn touch(&mut self, tenant: u32) {
        if !std::mem::replace(&mut self.tenants[tenant as usize].touched, true) {
            self.touched.push(tenant);
        }
    }

    /// Removes a tenant's queue: at once, or when its last job has ended.
    fn remove(&mut self, now: Time, name: &str) -> Result<(), Failed> {
        let queue = self.master.queue_named(name).ok_or(Rejected::UnknownQueue)?;
        let Some(tenant) = self.route[queue.index()] else {
            return Err(Rejected::HasChildren { queue: name.to_owned() }.into());
        };
        self.master.note(now, || Fact::QueueRemoved(QueueMark { name: name.into() }))?;
        self.tenants[tenant as usize].draining = true;
        self.job_gone(now, tenant)
    }

    /// Gives each tenant's node its share anew.
    fn follow_shares(&mut self, now: Time) -> Result<(), Failed> {
        // Once for all tenants.
        Books::advance(&mut self.master, now)?;
        for at in 0..self.tenants.len() as u32 {
            let Some(change) = self.change_of_share(at) else { continue };
            self.touch(at);
            change_one(&mut self.tenants[at as usize].driver, now, change)?;
        }
        Ok(())
    }

    /// How a tenant's only node changes where its share has: it leaves with its last unit, and a
    /// new one joins when there is a share again.
    fn change_of_share(&self, at: u32) -> Option<Change> {
        let tenant = &self.tenants[at as usize];
        let (view, engine) = (self.master.engine().queue(tenant.leaf), tenant.driver.engine());
        let share = if view.removed { Resources::zero(view.share.kinds()) } else { *view.share };
        let spec = share_node(view.name, share);
        match (share == *engine.capacity(), engine.capacity().is_zero(), share.is_zero()) {
            (true, ..) => None,
            (false, true, _) => Some(Change::NodeJoins(spec)),
            (false, false, true) => Some(Change::NodeLeaves(spec.name)),
            (false, false, false) => Some(Change::NodeResized(spec.name, share)),
        }
    }
}

impl Books for Partition<'_> {
    fn tree(&self) -> View<'_> {
        self.master.engine()
    }

    fn leaf(&self, queue: QueueId) -> Option<(View<'_>, QueueId)> {
        self.tenant(queue).map(|tenant| (tenant.driver.engine(), tenant.own))
    }

    fn lends(&self) -> bool {
        false
    }

    fn advance(&mut self, now: Time) -> Result<(), Rejected> {
        let tenants = self.tenants.iter_mut().map(|tenant| &mut tenant.driver);
        std::iter::once(&mut self.master).chain(tenants).try_for_each(|one| one.advance(now))
    }

    fn tally(&self, leaf: QueueId) -> &QueueTally {
        match self.tenant(leaf) {
            Some(tenant) => tenant.driver.tally(tenant.own),
            None => self.master.tally(leaf),
        }
    }

    fn totals(&self) -> Cow<'_, Totals> {
        let mut all = self.master.totals().into_owned();
        self.tenants.iter().for_each(|tenant| all.add(&tenant.driver.totals()));
        Cow::Owned(all)
    }

    fn capacity_time(&self, now: Time) -> [u128; MAX_KINDS] {
        self.master.capacity_time(now)
    }
}

impl InUse for Partition<'_> {
    fn each_running(&self, see: &mut dyn FnMut(QueueId, u32, &Resources)) {
        for tenant in &self.tenants {
            // Alone on its share a tenant is the only queue.
            each_running(&tenant.driver, |_| tenant.leaf, see);
        }
    }
}

impl<'a> Desk<'a> for Partition<'a> {
    type At = u32;

    fn route(&self, queue: QueueId) -> Option<(u32, QueueId)> {
        let tenant = self.route[queue.index()]?;
        Some((tenant, self.tenants[tenant as usize].own))
    }

    fn driver(&self, at: u32) -> &OneDriver<'a> {
        &self.tenants[at as usize].driver
    }

    fn driver_mut(&mut self, at: u32) -> &mut OneDriver<'a> {
        self.touch(at);
        &mut self.tenants[at as usize].driver
    }

    fn drivers<'s>(&'s self) -> impl Iterator<Item = (u32, &'s OneDriver<'a>)>
    where
        'a: 's,
    {
        (0..).zip(self.tenants.iter().map(|tenant| &tenant.driver))
    }

    /// Alone on its share a tenant is the only queue.
    fn in_tree(&self, at: u32, _: QueueId) -> QueueId {
        self.tenants[at as usize].leaf
    }

    fn fit(&self, at: u32, queue: QueueId, job: Job) -> Result<Fitted, Box<(Job, Rejected)>> {
        let tenant = &self.tenants[at as usize];
        if tenant.draining {
            let queue = self.queue_name(at, queue).to_owned();
            return Err(Box::new((job, Rejected::Draining { queue })));
        }
        match fit_to_share(job.clone(), tenant.driver.engine().capacity()) {
            Some(cut) if cut == job => Ok(Fitted { job, submitted: None }),
            Some(cut) => Ok(Fitted { job: cut, submitted: Some(job) }),
            None if self.waits => Ok(Fitted { job: at_large(job.clone()), submitted: Some(job) }),
            None => {
                let (demand, largest) = ("some of a resource", "nothing of it");
                let (demand, largest) = (demand.to_owned(), largest.to_owned());
                Err(Box::new((job, Rejected::FitsNoNode { demand, largest })))
            }
        }
    }

    fn decide(&mut self, starts: &mut Vec<(u32, Start)>) -> Result<(), Failed> {
        for at in self.touched.drain(..) {
            let tenant = &mut self.tenants[at as usize];
            tenant.touched = false;
            Driver::decide(&mut tenant.driver, |start| starts.push((at, start)))?;
        }
        Ok(())
    }

    fn decided_elsewhere(&mut self) {
        for at in self.touched.drain(..) {
            let tenant = &mut self.tenants[at as usize];
            tenant.touched = false;
            tenant.driver.decided_elsewhere();
        }
    }

    fn losses_are_told(&mut self) {
        self.tenants.iter_mut().for_each(|tenant| tenant.driver.losses_are_told(true));
    }

    fn change(&mut self, now: Time, change: Change) -> Result<(), Failed> {
        if let Change::QueueRemoved(name) = &change {
            return self.remove(now, name);
        }
        (0..self.tenants.len() as u32).for_each(|at| self.touch(at));
        change_one(&mut self.master, now, change)?;
        self.follow_shares(now)
    }

    /// Where the tenant's queue is to go and has no job left, its share goes to the others.
    fn job_gone(&mut self, now: Time, at: u32) -> Result<(), Failed> {
        let Tenant { driver, leaf, draining, .. } = &self.tenants[at as usize];
        if !draining || driver.engine().live_jobs() > 0 || self.master.engine().queue(*leaf).removed
        {
            return Ok(());
        }
        let leaf = *leaf;
        // Told when it was asked for.
        self.master.untold(|master| master.queue_removed(now, leaf))?;
        self.follow_shares(now)
    }

    fn any(&mut self) -> &mut OneDriver<'a> {
        &mut self.master
    }

    fn finish(&mut self, end: Time) {
        self.tenants.iter_mut().for_each(|tenant| tenant.driver.finish(end));
    }
}

/// The only node of a tenant that is alone on its share.
fn share_node(queue: &str, share: Resources) -> NodeSpec {
    NodeSpec::new(format!("share of {queue}"), share)
}

/// A job that waits for a share with some of each resource that it needs: as it is, but for what
/// means nothing on a share.
fn at_large(mut job: Job) -> Job {
    for group in &mut job.groups {
        (group.constraints, group.gang) = (None, None);
    }
    job
}

/// A gang of which all fits into the share at once is one there; of another each task, cut to the
/// share if need be, runs as it fits: its tenant alone could run it in no other way.
fn keep_gang_in(group: &mut JobGroup, share: &Resources) {
    let fit = group.demand.copies_in(share);
    let gang = group.gang.take().filter(|gang| gang.least > 1 && u64::from(gang.least) <= fit);
    group.gang = gang.map(|gang| Box::new(meed::Gang::of(gang.least)));
}

/// The job as its tenant alone would run it: tasks larger than `share` are cut to it and last
/// longer by the ratio. `None` when there is nothing of a resource that it needs, or it would last
/// beyond all bounds.
fn fit_to_share(mut job: Job, share: &Resources) -> Option<Job> {
    for group in &mut job.groups {
        // A share is one node without labels: where a task may run means nothing there.
        group.constraints = None;
        keep_gang_in(group, share);
        if group.demand.fits_in(share) {
            continue;
        }
        let (mut need, mut have) = (1u64, 1u64);
        for (&amount, &room) in group.demand.as_slice().iter().zip(share.as_slice()) {
            if amount > 0 && room == 0 {
                return None;
            }
            // amount / room > need / have
            if amount > room
                && u128::from(amount) * u128::from(have) > u128::from(need) * u128::from(room)
            {
                (need, have) = (amount, room);
            }
        }
        for (amount, room) in group.demand.as_mut_slice().iter_mut().zip(share.as_slice()) {
            *amount = (*amount).min(*room);
        }
        let stretch = |span: Span| {
            let micros = u128::from(span.as_micros()) * u128::from(need) / u128::from(have);
            u64::try_from(micros).ok().and_then(Span::from_micros)
        };
        // Whoever knows how long a task takes knows how long it takes there.
        // A limit beyond all times is none.
        group.limit = group.limit.and_then(stretch);
        // What it does between two of them takes longer there, too.
        group.checkpoint = group.checkpoint.and_then(stretch).filter(|every| *every > Span::ZERO);
        group.duration = match &group.duration {
            Durations::Same(span) => Durations::Same(stretch(*span)?),
            Durations::Each(spans) => {
                Durations::Each(spans.iter().map(|&span| stretch(span)).collect::<Option<_>>()?)
            }
        };
    }
    Some(job)
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed::Time;
    use meed_workload::JobLabel;

    #[test]
    fn a_wide_task_takes_the_whole_share_for_longer() {
        let seconds = |s| Span::from_secs(s).expect("in range");
        let group = JobGroup {
            limit: Some(seconds(10)),
            ..JobGroup::new(1, Resources::new(&[300, 10]), Durations::Same(seconds(7)))
        };
        let job = Job {
            label: JobLabel::Number(1),
            queue: 0,
            submit: Time::ZERO,
            weight: 1,
            chain: None,
            groups: vec![group],
        };
        let cut = fit_to_share(job.clone(), &Resources::new(&[100, 20])).expect("it can run");
        assert_eq!(cut.groups[0].demand, Resources::new(&[100, 10]));
        assert_eq!(cut.groups[0].duration, Durations::Same(seconds(21)));
        assert_eq!(cut.groups[0].limit, Some(seconds(30)));
        assert_eq!(fit_to_share(job.clone(), &Resources::new(&[300, 10])), Some(job.clone()));
        assert_eq!(fit_to_share(job, &Resources::new(&[0, 20])), None);
    }

    #[test]
    fn a_gang_stays_one_where_the_share_holds_it() {
        let gang = |least| Some(Box::new(meed::Gang::of(least).within("rack")));
        let mut group = JobGroup {
            gang: gang(3),
            ..JobGroup::new(5, Resources::new(&[300, 10]), Durations::Same(Span::ZERO))
        };
        // Without labels there is no rack.
        keep_gang_in(&mut group, &Resources::new(&[900, 30]));
        assert_eq!(group.gang.as_deref(), Some(&meed::Gang::of(3)));
        group.gang = gang(3);
        keep_gang_in(&mut group, &Resources::new(&[899, 30]));
        assert_eq!(group.gang, None);
    }
}
