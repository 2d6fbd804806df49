//! Jobs arrive, get more tasks, are changed and cancelled.
//!
//! Waiting tasks are counters: a job of a million equal tasks costs what a job of one does. Tasks
//! of one job that ask for different amounts are different groups; each waiting group stands in its
//! leaf's bucket of its shape.

use smallvec::SmallVec;

use super::queues::Bucket;
use super::rules::check_possible;
use super::{Engine, NO_PLACE};
use crate::cluster::check_dimensions;
use crate::error::Rejected;
use crate::event::Effect;
use crate::order::heap::Heap;
use crate::order::key::Key;
use crate::order::{Minimum, Standing, Terms};
use crate::place::Taken;
use crate::policy::Measure;
use crate::quantum::JobQuantum;
use crate::shapes::ShapeId;
use crate::spec::{AllocationId, JobId, JobSpec, MAX_WEIGHT, QueueId, TaskGroup};
use crate::time::Time;

/// A job that is alive.
pub(super) struct Job {
    pub(super) queue: QueueId,
    pub(super) arrival: u64,
    pub(super) weight: u64,
    pub(super) open: bool,
    pub(super) max_attempts: u16,
    pub(super) groups: SmallVec<[u32; 2]>,
    /// Tasks handed out numbers so far.
    tasks: u32,
    pub(super) waiting: u64,
    pub(super) running: u32,
    /// Nodes that tasks hold which want a node of their own.
    pub(super) taken: Taken,
    pub(super) standing: Standing,
    pub(super) quantum: JobQuantum,
}

/// Equal tasks of one job.
pub(super) struct Group {
    pub(super) job: JobId,
    /// Position among the job's groups.
    pub(super) number: u32,
    pub(super) shape: ShapeId,
    first_task: u32,
    count: u32,
    /// Tasks from here on have never been started.
    next: u32,
    /// Tasks to be tried again, with the number of their failures, the largest number first.
    retries: Vec<(u32, u16)>,
}

impl Group {
    pub(super) fn waiting(&self) -> u64 {
        u64::from(self.count - self.next) + self.retries.len() as u64
    }

    /// Takes the next task: its number in the job, and how often it has failed.
    pub(super) fn take(&mut self) -> (u32, u16) {
        if let Some(retry) = self.retries.pop() {
            return retry;
        }
        self.next += 1;
        (self.first_task + self.next - 1, 0)
    }

    /// Whether task number `task` of the job may be next: a retry, or the first that has never been
    /// started.
    pub(super) fn may_take(&self, task: u32) -> bool {
        self.retries.iter().any(|&(waiting, _)| waiting == task)
            || self.next < self.count && self.first_task + self.next == task
    }

    /// Takes a task that may be next; how often it has failed.
    pub(super) fn take_task(&mut self, task: u32) -> u16 {
        match self.retries.iter().position(|&(waiting, _)| waiting == task) {
            Some(place) => self.retries.remove(place).1,
            None => {
                self.next += 1;
                0
            }
        }
    }

    pub(super) fn put_back(&mut self, task: u32, failures: u16) {
        // The smallest number last: it is tried first.
        let place = self.retries.partition_point(|&(waiting, _)| waiting > task);
        self.retries.insert(place, (task, failures));
    }
}

impl Engine {
    pub(super) fn job_arrived(&mut self, spec: &JobSpec<'_>) -> Result<JobId, Rejected> {
        self.leaf_for_job(spec.queue)?;
        if spec.groups.is_empty() && !spec.open {
            return Err(Rejected::NoTasks);
        }
        check_job_weight(spec.weight)?;
        self.check_groups(spec.queue, 0, spec.groups)?;
        let path = self.path(spec.queue);
        let quantum = match &mut self.quanta {
            Some(quanta) => quanta.job_arrives(&path),
            None => JobQuantum::default(),
        };
        let id = self.jobs.insert(Job {
            queue: spec.queue,
            arrival: self.arrivals,
            weight: spec.weight,
            open: spec.open,
            max_attempts: spec.max_attempts,
            groups: SmallVec::new(),
            tasks: 0,
            waiting: 0,
            running: 0,
            taken: Taken::new(),
            standing: Standing::default(),
            quantum,
        });
        self.arrivals += 1;
        self.queues[spec.queue.index()].jobs += 1;
        self.add_groups(id, &path, spec.groups);
        Ok(id)
    }

    pub(super) fn tasks_added(
        &mut self,
        id: JobId,
        groups: &[TaskGroup],
        open: bool,
    ) -> Result<Effect, Rejected> {
        let job = self.jobs.get(id).ok_or(Rejected::UnknownJob)?;
        let queue = job.queue;
        if groups.is_empty() && job.waiting == 0 && job.running == 0 && !open {
            return Err(Rejected::NoTasks);
        }
        self.check_groups(queue, job.tasks, groups)?;
        self.jobs[id].open = open;
        let path = self.path(queue);
        self.add_groups(id, &path, groups);
        Ok(Effect::None)
    }

    pub(super) fn job_changed(&mut self, id: JobId, weight: u64) -> Result<Effect, Rejected> {
        check_job_weight(weight)?;
        let job = self.jobs.get_mut(id).ok_or(Rejected::UnknownJob)?;
        job.weight = weight;
        self.rekey_job(id);
        Ok(Effect::None)
    }

    pub(super) fn job_cancelled(&mut self, id: JobId) -> Result<Effect, Rejected> {
        if self.jobs.get(id).is_none() {
            return Err(Rejected::UnknownJob);
        }
        Ok(Effect::Lost(self.drop_job(id)))
    }

    /// Ends a job whatever it still has; its running tasks are stopped and returned.
    pub(super) fn drop_job(&mut self, id: JobId) -> Vec<AllocationId> {
        let ours: Vec<AllocationId> = self
            .running
            .iter()
            .filter(|(_, task)| task.job == id)
            .map(|(allocation, _)| allocation)
            .collect();
        for group in self.jobs[id].groups.clone() {
            self.forget_waiting(id, group);
        }
        for &allocation in &ours {
            self.release(allocation);
        }
        self.remove_job(id);
        ours
    }

    /// A group's waiting tasks are asked for no more.
    fn forget_waiting(&mut self, id: JobId, slot: u32) {
        let group = &mut self.groups[slot as usize];
        let (tasks, shape) = (group.waiting(), group.shape);
        (group.next, group.retries) = (group.count, Vec::new());
        if tasks == 0 {
            return;
        }
        let leaf = self.jobs[id].queue;
        self.jobs[id].waiting -= tasks;
        self.shapes.sub_waiting(shape, tasks);
        let demand = self.shapes[shape].demand;
        self.meter.unask(self.now, leaf.index(), &demand, tasks);
        for queue in self.path(leaf) {
            self.queues[queue.index()].active_tasks -= tasks;
        }
        self.unlist_group(leaf, slot);
        self.sub_leaf_waiting(leaf, tasks);
        self.update_arrivals(id);
    }

    /// Removes a job without waiting or running tasks.
    pub(super) fn remove_job(&mut self, id: JobId) {
        let job = self.jobs.remove(id).expect("a job is removed once");
        assert!(job.waiting == 0 && job.running == 0, "a job that ends has no tasks left");
        for slot in job.groups {
            self.shapes.release(self.groups[slot as usize].shape);
            self.unused_groups.push(slot);
        }
        if let Some(quanta) = &mut self.quanta {
            quanta.job_leaves(self.now, job.queue, &job.quantum);
            self.next_chore = self.next_chore.min(quanta.next_refresh());
        }
        let queue = &mut self.queues[job.queue.index()];
        queue.jobs -= 1;
        if queue.draining && queue.jobs == 0 {
            self.remove_now(job.queue);
            self.share_out();
        }
    }

    /// Whether tasks like these could ever run in `queue`: what [`crate::Event::JobArrived`] would
    /// refuse them for.
    pub fn check_tasks(&self, queue: QueueId, groups: &[TaskGroup]) -> Result<(), Rejected> {
        self.check_groups(queue, 0, groups)
    }

    fn check_groups(
        &self,
        queue: QueueId,
        already: u32,
        groups: &[TaskGroup],
    ) -> Result<(), Rejected> {
        let mut tasks = u64::from(already);
        for group in groups {
            check_dimensions("a task", &group.demand, &self.kinds)?;
            if group.count == 0 {
                return Err(Rejected::NoTasks);
            }
            if group.demand.is_zero() {
                return Err(Rejected::EmptyDemand);
            }
            tasks += u64::from(group.count);
            if tasks > u64::from(u32::MAX) {
                return Err(Rejected::TooManyTasks);
            }
            self.check_maximum(queue, &group.demand)?;
            // Most tasks are like others before them.
            if group.constraints.is_some() || !self.shapes.known_possible(&group.demand) {
                check_possible(group, &self.cluster, &self.kinds)?;
            }
        }
        Ok(())
    }

    fn add_groups(&mut self, id: JobId, path: &[QueueId], groups: &[TaskGroup]) {
        let leaf = self.jobs[id].queue;
        let sum: u64 = groups.iter().map(|group| u64::from(group.count)).sum();
        if sum == 0 {
            return;
        }
        self.queue_gets_work(path, sum);
        self.job_gets_known(id);
        for group in groups {
            let shape = self.shapes.hold(&self.rules.key(group, id, &self.cluster));
            let slot = self.new_group(id, shape, group.count);
            self.shapes.add_waiting(shape, u64::from(group.count));
            self.meter.ask(self.now, leaf.index(), &group.demand, u64::from(group.count));
            let job = &mut self.jobs[id];
            job.waiting += u64::from(group.count);
            self.list_group(leaf, slot);
        }
        self.update_arrivals(id);
        self.add_leaf_waiting(leaf, sum);
    }

    fn new_group(&mut self, id: JobId, shape: ShapeId, count: u32) -> u32 {
        let job = &mut self.jobs[id];
        let number = job.groups.len() as u32;
        let group = Group {
            job: id,
            number,
            shape,
            first_task: job.tasks,
            count,
            next: 0,
            retries: Vec::new(),
        };
        job.tasks += count;
        let slot = match self.unused_groups.pop() {
            Some(slot) => {
                self.groups[slot as usize] = group;
                slot
            }
            None => {
                self.groups.push(group);
                self.group_places.push(NO_PLACE);
                self.groups.len() as u32 - 1
            }
        };
        job.groups.push(slot);
        slot
    }

    /// Puts a waiting group into its leaf's bucket, or brings its key up to date there.
    pub(super) fn list_group(&mut self, leaf: QueueId, slot: u32) {
        if self.group_places[slot as usize] != NO_PLACE {
            return;
        }
        let key = self.group_key(slot);
        let shape = self.groups[slot as usize].shape;
        let demand = self.shapes[shape].demand;
        let buckets = &mut self.queues[leaf.index()].buckets;
        let bucket = match buckets.iter().position(|bucket| bucket.shape == shape) {
            Some(found) => found,
            None => {
                buckets.push(Bucket { shape, demand, groups: Heap::default() });
                buckets.len() - 1
            }
        };
        // An empty bucket may be of a shape that is gone, whose number another has now.
        buckets[bucket].demand = demand;
        let begins = buckets[bucket].groups.is_empty();
        buckets[bucket].groups.push(key, slot, &mut self.group_places);
        if begins {
            self.note_waiting(leaf, shape, true);
        }
    }

    /// Takes a group that no longer waits out of its bucket; empty buckets go when there are many.
    pub(super) fn unlist_group(&mut self, leaf: QueueId, slot: u32) {
        const KEPT: usize = 4;
        let shape = self.groups[slot as usize].shape;
        let buckets = &mut self.queues[leaf.index()].buckets;
        let found = buckets
            .iter()
            .position(|bucket| bucket.shape == shape)
            .expect("a waiting group is listed");
        buckets[found].groups.remove(slot, &mut self.group_places);
        let ceases = buckets[found].groups.is_empty();
        if ceases && buckets.len() > KEPT {
            buckets.swap_remove(found);
        }
        if ceases {
            self.note_waiting(leaf, shape, false);
        }
    }

    /// The key of a group in its leaf: that of its job, then its position in the job.
    pub(super) fn group_key(&mut self, slot: u32) -> Key {
        let group = &self.groups[slot as usize];
        let job = &mut self.jobs[group.job];
        let domain = &self.domains[self.queues[job.queue.index()].domain];
        let tie = (job.arrival, group.number);
        if domain.rule.measure == Measure::Arrival {
            return Key::new(crate::order::Tier::Ordinary, u128::from(job.arrival), 1, tie);
        }
        let terms = Terms { weight: job.weight, min: Minimum::NONE, share: u64::MAX, tie };
        job.standing.key(self.now, domain, &terms)
    }

    /// A job's key may have fallen: brings its groups' keys up to date.
    pub(super) fn rekey_job(&mut self, id: JobId) {
        let (leaf, count) = (self.jobs[id].queue, self.jobs[id].groups.len());
        for i in 0..count {
            let slot = self.jobs[id].groups[i];
            if self.group_places[slot as usize] == NO_PLACE {
                continue;
            }
            let (key, shape) = (self.group_key(slot), self.groups[slot as usize].shape);
            let buckets = &mut self.queues[leaf.index()].buckets;
            if let Some(bucket) = buckets.iter_mut().find(|bucket| bucket.shape == shape) {
                bucket.groups.update(key, slot, &mut self.group_places);
            }
        }
    }

    /// Where a queue is ordered by arrival, keeps the arrival numbers of its waiting jobs.
    pub(super) fn update_arrivals(&mut self, id: JobId) {
        if !self.orders_by_arrival {
            return;
        }
        let (mut at, arrival, waits) = {
            let job = &self.jobs[id];
            (job.queue, job.arrival, job.waiting > 0)
        };
        while let Some(parent) = self.queues[at.index()].parent {
            if self.domain(parent).rule.measure == Measure::Arrival {
                let arrivals = self.queues[at.index()].standing.arrivals.get_or_insert_default();
                let changed =
                    if waits { arrivals.insert(arrival) } else { arrivals.remove(&arrival) };
                if changed {
                    self.rekey(at);
                }
            }
            at = parent;
        }
    }

    /// When the job's own ledger began to count; see `order::newcomer`.
    fn job_gets_known(&mut self, id: JobId) {
        if self.jobs[id].standing.known {
            return;
        }
        let now = self.now;
        self.jobs[id].standing.known = true;
        self.jobs[id].standing.since = Some(now);
        self.top_up_job(id, now);
    }

    pub(super) fn top_up_job(&mut self, id: JobId, since: Time) {
        let (leaf, weight) = (self.jobs[id].queue, self.jobs[id].weight);
        let domain = &self.domains[self.queues[leaf.index()].domain];
        let rule = domain.rule;
        if !rule.keeps_usage() || rule.newcomer == crate::policy::Newcomer::Zero {
            return;
        }
        let now = self.now;
        let others: Vec<JobId> = self
            .jobs
            .iter()
            .filter(|(other, job)| job.queue == leaf && *other != id)
            .map(|(other, _)| other)
            .collect();
        let mut earlier = Vec::new();
        for other in others {
            let job = &mut self.jobs[other];
            let active = job.waiting > 0 || job.running > 0;
            if active && job.standing.since.is_some_and(|at| at < since) {
                earlier.push((job.standing.charge(now, domain, u64::MAX), job.weight));
            }
        }
        let pseudo = crate::order::pseudo_accumulated(rule.newcomer, weight, earlier.into_iter());
        self.jobs[id].standing.top_up(pseudo, domain, self.kinds.len());
    }
}

fn check_job_weight(weight: u64) -> Result<(), Rejected> {
    match weight {
        1..=MAX_WEIGHT => Ok(()),
        _ => Err(crate::error::ConfigError::Weight { queue: "of the job".to_owned() }.into()),
    }
}
