//! Jobs arrive, get more tasks, are changed and cancelled.
//!
//! What a job waits for stands in four places, which change here together: its counters (`work`),
//! the shapes that are waited for (`room`), what is asked for (`books`), and its groups in the
//! leaf's buckets (`ready`).

use super::Engine;
use super::core::Core;
use super::gangs::joint;
use super::room::ShapeId;
use super::share_out::Reads;
use super::view::View;
use super::work::Job;
use crate::cluster::{check_dimensions, exceeded, in_words};
use crate::error::{ConfigError, Rejected};
use crate::event::Effect;
use crate::ids::{AllocationId, JobId, QueueId, QueueRow};
use crate::resources::Resources;
use crate::spec::{JobSpec, MAX_WEIGHT, TaskGroup};
use crate::time::Span;

impl Engine {
    pub(super) fn job_arrived(&mut self, spec: &JobSpec<'_>) -> Result<JobId, Rejected> {
        let core = &mut self.core;
        let leaf = core.leaf_for_job(spec.queue)?;
        if spec.groups.is_empty() && !spec.open {
            return Err(Rejected::NoTasks);
        }
        check_job_weight(spec.weight)?;
        core.expect_arrival(leaf);
        core.check_groups(leaf, 0, spec.groups)?;
        let id = core.work.add_job(Job::new(leaf, spec.open, spec.max_attempts));
        core.tree.add_job(leaf);
        core.books.job_arrives(&core.tree, id, leaf, spec.weight);
        self.add_groups(id, spec.groups);
        Ok(id)
    }

    pub(super) fn tasks_added(
        &mut self,
        id: JobId,
        groups: &[TaskGroup],
        open: bool,
    ) -> Result<Effect, Rejected> {
        let job = self.core.work.job(id).ok_or(Rejected::UnknownJob)?;
        if groups.is_empty() && job.waiting() == 0 && job.running() == 0 && !open {
            return Err(Rejected::NoTasks);
        }
        self.core.check_groups(job.queue, job.tasks(), groups)?;
        self.core.work.set_open(id, open);
        self.add_groups(id, groups);
        Ok(Effect::None)
    }

    pub(super) fn job_cancelled(&mut self, id: JobId) -> Result<Effect, Rejected> {
        self.core.work.job(id).ok_or(Rejected::UnknownJob)?;
        Ok(Effect::Lost(self.drop_job(id)))
    }

    /// Ends a job whatever it still has; its running tasks are stopped and returned.
    pub(super) fn drop_job(&mut self, id: JobId) -> Vec<AllocationId> {
        let ours = self.core.work.running_of(id);
        let groups = self.core.work.job(id).map_or(Vec::new(), |job| job.groups().to_vec());
        for group in groups {
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
        let Engine { core, reservations, .. } = self;
        let (tasks, shape) = (core.work.forget_waiting(slot), core.work.group(slot).turn());
        if tasks == 0 {
            return;
        }
        reservations.drop_surplus(core, slot);
        let leaf = core.work.job(id).expect("its group has just been asked").queue;
        core.room.sub_waiting(shape, tasks);
        let demand = core.room.demand(core.work.group(slot).shape);
        core.books.unask(core.now, &core.tree, id, demand, tasks);
        core.fewer_in_walk(leaf, slot);
        core.sub_leaf_waiting(leaf, tasks);
        core.park_if_all_held(leaf);
    }

    /// Removes a job without waiting or running tasks.
    pub(super) fn remove_job(&mut self, id: JobId) {
        let Engine { core, reservations, .. } = self;
        reservations.forget_idle_of(core, id);
        reservations.forget_stops_of_job(id);
        let job = core.work.remove_job(id);
        for &slot in job.groups() {
            let group = core.work.group(slot);
            if group.gang().is_some() {
                core.room.release_shape(group.turn());
            }
            core.room.release_shape(group.shape);
        }
        core.work.free_groups(&job);
        core.books.job_leaves(core.now, id);
        if core.tree.remove_job(job.queue) {
            core.remove_now(job.queue);
        }
    }

    fn add_groups(&mut self, id: JobId, groups: &[TaskGroup]) {
        let leaf = self.core.work.job(id).expect("it has just been added or found").queue;
        let sum: u64 = groups.iter().map(|group| u64::from(group.count)).sum();
        if sum == 0 {
            return;
        }
        self.core.reserved.forget_hopeless();
        self.core.share_out_for(Reads::TopUps);
        self.core.books.get_work(self.core.now, &self.core.tree, id, sum);
        let number = self.core.work.job(id).map_or(0, |job| job.groups().len() as u32);
        let first = joint(groups).filter(|_| groups.len() > 1).map(|_| number);
        let mut last = None;
        for group in groups {
            let expected = self.expected_run(leaf, group);
            let shape = self.core.room.hold_shape(group, id, expected);
            let count = u64::from(group.count);
            let slot = self.core.work.add_group(id, shape, group.count);
            if let Some(gang) = group.gang.as_deref() {
                self.core.begin_gang(slot, gang, first);
            }
            last = Some(slot);
            self.core.room.add_waiting(self.core.work.group(slot).turn(), count);
            self.core.books.ask(self.core.now, leaf, &group.demand, count);
            self.core.list_group(leaf, slot);
        }
        if let Some(slot) = last.filter(|_| first.is_some()) {
            self.regroup(slot);
        }
        self.core.update_arrivals(id, true);
        self.core.add_leaf_waiting(leaf, sum);
    }

    /// How long a task of the group is expected to run at most.
    fn expected_run(&self, leaf: QueueRow, group: &TaskGroup) -> Option<Span> {
        group.limit.or_else(|| self.learned.as_ref()?.estimate(leaf))
    }
}

impl<'a> View<'a> {
    /// Whether tasks like these could ever run in `queue`: what [`crate::Event::JobArrived`] would
    /// refuse them for.
    pub fn check_tasks(self, queue: QueueId, groups: &[TaskGroup]) -> Result<(), Rejected> {
        let queue = self.core.tree.row(queue).ok_or(Rejected::UnknownQueue)?;
        self.core.check_groups(queue, 0, groups)
    }
}

impl Core {
    /// The queue of a group.
    pub(super) fn leaf_of(&self, slot: u32) -> QueueRow {
        let job = self.work.group(slot).job;
        self.work.job(job).expect("a group's job is alive").queue
    }

    pub(super) fn job_changed(&mut self, id: JobId, weight: u64) -> Result<Effect, Rejected> {
        check_job_weight(weight)?;
        self.work.job(id).ok_or(Rejected::UnknownJob)?;
        self.books.set_job_weight(id, weight);
        self.rekey_job(id);
        Ok(Effect::None)
    }

    fn check_groups(
        &self,
        queue: QueueRow,
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
            if group.limit == Some(Span::ZERO) {
                return Err(Rejected::ZeroLimit);
            }
            tasks += u64::from(group.count);
            if tasks > u64::from(u32::MAX) {
                return Err(Rejected::TooManyTasks);
            }
            self.check_maximum(queue, group)?;
            self.check_gang(group)?;
            self.room.check_possible(group, &self.kinds)?;
        }
        if joint(groups).is_some() {
            self.check_joint(groups)?;
            let whole = groups.iter().map(|group| group.demand.times(group.count));
            let whole = whole.reduce(|all, more| all.plus(&more)).unwrap_or_default();
            self.check_maximum_of(queue, &whole)?;
        }
        Ok(())
    }

    /// Refuses a demand above the maximum share of `leaf` or one of its parents.
    fn check_maximum(&self, leaf: QueueRow, group: &TaskGroup) -> Result<(), Rejected> {
        if !self.tree.has_maximums() {
            return Ok(());
        }
        if let Some((queue, maximum)) = self.maximum_below(leaf, &group.demand) {
            let demand = in_words(&group.demand, &self.kinds);
            return Err(Rejected::AboveMaximum { demand, queue, maximum });
        }
        match group.gang.as_deref() {
            Some(gang) => self.check_maximum_of(leaf, &group.demand.times(gang.least)),
            None => Ok(()),
        }
    }

    /// The same of all tasks of a gang.
    fn check_maximum_of(&self, leaf: QueueRow, whole: &Resources) -> Result<(), Rejected> {
        let Some((queue, maximum)) = self.maximum_below(leaf, whole) else { return Ok(()) };
        let (demand, bound) =
            (in_words(whole, &self.kinds), format!("queue `{queue}` ({maximum})"));
        Err(Rejected::GangAboveMaximum { demand, bound })
    }

    /// The queue, and its maximum share, below which so much does not fit: `leaf` or the next above
    /// it.
    fn maximum_below(&self, leaf: QueueRow, demand: &Resources) -> Option<(String, String)> {
        let mut at = Some(leaf);
        while let Some(id) = at {
            let queue = &self.tree[id];
            if let Some(max) = queue.max().filter(|max| !demand.fits_in(max)) {
                return Some((queue.name().to_owned(), exceeded(demand, max, &self.kinds)));
            }
            at = queue.parent();
        }
        None
    }

    /// Puts a waiting group into its leaf's bucket, if it is not there; of a gang of several groups
    /// only the first that waits.
    pub(super) fn list_group(&mut self, leaf: QueueRow, slot: u32) {
        if !self.ready.is_listed(slot) && self.work.leads(slot) {
            let key = self.group_key(slot);
            let shape = self.work.group(slot).turn();
            let (room, demand) = (&self.room, self.room.demand(shape));
            if self.ready.list(leaf, slot, shape, demand, key, |shape| room.asks(shape)) {
                self.note_asking(leaf, shape, true);
            }
        }
    }

    /// Takes a group that no longer waits out of its leaf's bucket.
    #[inline]
    pub(super) fn unlist_group(&mut self, leaf: QueueRow, slot: u32) {
        let shape = self.work.group(slot).turn();
        // One whose tasks all have reservations is not there.
        if self.ready.is_listed(slot) && self.ready.unlist(leaf, slot, shape) {
            self.note_asking(leaf, shape, false);
        }
    }

    /// `leaf` has begun, or ceased, to wait with tasks of a shape.
    fn note_asking(&mut self, leaf: QueueRow, shape: ShapeId, waits: bool) {
        self.note_waiting(leaf, shape, waits);
        if let (Some(servers), Some(parent)) = (&mut self.servers, self.tree[leaf].parent()) {
            servers.note_waiting((leaf, parent), shape, waits);
        }
    }
}

fn check_job_weight(weight: u64) -> Result<(), Rejected> {
    match weight {
        1..=MAX_WEIGHT => Ok(()),
        _ => Err(ConfigError::Weight { queue: "of the job".to_owned() }.into()),
    }
}
