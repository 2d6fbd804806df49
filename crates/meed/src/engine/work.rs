//! Jobs, their groups of equal tasks, and the tasks that run: what there is to do, and what is
//! being done.
//!
//! Waiting tasks are counters: a job of a million equal tasks costs what a job of one does. Tasks
//! of one job that ask for different amounts are different groups. It knows no order, no ledger and
//! no node's room.

use std::num::NonZeroI64;

use smallvec::SmallVec;

use super::by_node::{ByNode, Links, NOBODY};
use super::room::rules::RulesId;
use super::room::shapes::ShapeId;
use crate::ids::{AllocationId, AllocationMark, JobId, JobTag, NodeRow, QueueRow};
use crate::memory::expect;
use crate::node_rows::Moves;
use crate::slab::Slab;
use crate::state::{GangState, GroupState, Place, RunningState};
use crate::state::{SlotsState, State, StateError, ensure};
use crate::time::{Span, Time};

/// A job that is alive.
pub(super) struct Job {
    pub(super) queue: QueueRow,
    pub(super) open: bool,
    pub(super) max_attempts: u16,
    groups: SmallVec<[u32; 2]>,
    /// The first of its running tasks.
    first: u32,
    /// Tasks handed out numbers so far.
    tasks: u32,
    waiting: u64,
    running: u32,
    /// One of its groups is a gang's: an end looks at its group.
    has_gang: bool,
}

impl Job {
    pub(super) fn new(queue: QueueRow, open: bool, max_attempts: u16) -> Job {
        let groups = SmallVec::new();
        let first = NOBODY;
        let (tasks, waiting, running, has_gang) = (0, 0, 0, false);
        Job { queue, open, max_attempts, groups, first, tasks, waiting, running, has_gang }
    }

    /// Slots of its groups.
    pub(super) fn groups(&self) -> &[u32] {
        &self.groups
    }

    pub(super) fn tasks(&self) -> u32 {
        self.tasks
    }

    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    pub(super) fn running(&self) -> u32 {
        self.running
    }
}

/// Equal tasks of one job.
pub(super) struct Group {
    pub(super) job: JobId,
    /// Position among the job's groups.
    pub(super) number: u32,
    pub(super) shape: ShapeId,
    first_task: u32,
    count: u32,
    /// Tasks from here on have never been started, but for those that are skipped.
    next: u32,
    /// What else there is to say of its tasks. Boxed away: of most groups there is nothing.
    apart: Option<Box<Apart>>,
}

/// Tasks of a group that do not wait in turn.
#[derive(Default)]
struct Apart {
    /// Tasks after `next` that wait no more, though those before them do: withdrawn, or started out
    /// of turn. Positions in the group, in order.
    skipped: Vec<u32>,
    /// Tasks to be tried again, with the number of their failures, the largest number first.
    retries: Vec<(u32, u16)>,
    gang: Option<GangRow>,
}

/// What makes a group a gang's.
#[derive(Clone, Copy)]
pub(super) struct GangRow {
    /// So many of its tasks run together at least.
    pub(super) least: u32,
    /// The label that keeps them together, by number; 0 for none.
    pub(super) same: u32,
    /// Tasks that run or have ended well.
    pub(super) begun: u32,
    running: u32,
    /// Where its tasks may be, by `same`, while some run.
    pub(super) within: Option<RulesId>,
    /// What its waiting tasks wait for.
    turn: ShapeId,
    /// Where the gang is of several groups: the number of the first of them in the job. They stand
    /// one after the other.
    pub(super) joint: Option<u32>,
}

impl GangRow {
    fn state(&self) -> GangState {
        let GangRow { least, same, begun, within, joint, .. } = *self;
        GangState { least, same, begun, within, turn: self.turn.number(), joint }
    }
}

/// Slots of the groups of a gang.
pub(super) type Members = SmallVec<[u32; 4]>;

impl Group {
    #[inline]
    pub(super) fn waiting(&self) -> u64 {
        let in_turn = u64::from(self.count - self.next);
        match &self.apart {
            None => in_turn,
            Some(apart) => in_turn - apart.skipped.len() as u64 + apart.retries.len() as u64,
        }
    }

    /// The shape under which its tasks wait.
    #[inline]
    pub(super) fn turn(&self) -> ShapeId {
        match &self.apart {
            None => self.shape,
            Some(apart) => apart.gang.as_ref().map_or(self.shape, |gang| gang.turn),
        }
    }

    /// What makes it a gang's.
    #[inline]
    pub(super) fn gang(&self) -> Option<&GangRow> {
        self.apart.as_ref()?.gang.as_ref()
    }

    fn skipped(&self) -> &[u32] {
        self.apart.as_ref().map_or(&[], |apart| &apart.skipped)
    }

    fn retries(&self) -> &[(u32, u16)] {
        self.apart.as_ref().map_or(&[], |apart| &apart.retries)
    }

    /// Takes the next task: its number in the job, and how often it has failed.
    #[inline]
    fn take(&mut self) -> (u32, u16) {
        if let Some(apart) = &mut self.apart
            && let Some(retry) = apart.retries.pop()
        {
            return retry;
        }
        let task = self.first_task + self.next;
        self.pass_next();
        (task, 0)
    }

    /// The next task waits no more.
    fn pass_next(&mut self) {
        self.next += 1;
        let Some(apart) = &mut self.apart else { return };
        while apart.skipped.first() == Some(&self.next) {
            apart.skipped.remove(0);
            self.next += 1;
        }
    }

    /// Whether task number `task` of the job may be next: a retry, or the first that has never been
    /// started.
    pub(super) fn may_take(&self, task: u32) -> bool {
        self.retries().iter().any(|&(waiting, _)| waiting == task)
            || self.next < self.count && self.first_task + self.next == task
    }

    /// The numbers of its tasks in the job.
    pub(super) fn numbers(&self) -> std::ops::Range<u32> {
        self.first_task..self.first_task + self.count
    }

    /// Whether task number `task` of the job waits.
    pub(super) fn waits(&self, task: u32) -> bool {
        let place = task.wrapping_sub(self.first_task);
        let never_started = place >= self.next && place < self.count;
        never_started && self.skipped().binary_search(&place).is_err()
            || self.retries().iter().any(|&(waiting, _)| waiting == task)
    }

    /// Takes a task that waits; how often it has failed.
    fn take_task(&mut self, task: u32) -> u16 {
        let again = self.retries().iter().position(|&(waiting, _)| waiting == task);
        if let (Some(place), Some(apart)) = (again, &mut self.apart) {
            return apart.retries.remove(place).1;
        }
        match task - self.first_task {
            place if place == self.next => self.pass_next(),
            place => {
                let skipped = &mut self.apart.get_or_insert_default().skipped;
                let before = skipped.partition_point(|&skipped| skipped < place);
                skipped.insert(before, place);
            }
        }
        0
    }

    fn put_back(&mut self, task: u32, failures: u16) {
        // The smallest number last: it is tried first.
        let retries = &mut self.apart.get_or_insert_default().retries;
        let place = retries.partition_point(|&(waiting, _)| waiting > task);
        retries.insert(place, (task, failures));
    }
}

/// A task that runs.
#[derive(Clone, Copy)]
pub(super) struct Running {
    pub(super) job: JobId,
    pub(super) queue: QueueRow,
    /// Slot of its group.
    pub(super) group: u32,
    pub(super) task: u32,
    pub(super) failures: u16,
    pub(super) node: NodeRow,
    pub(super) shape: ShapeId,
    pub(super) started: Time,
    /// Its number in the order of starts, which the log has too: it orders tasks that started at
    /// one instant.
    pub(super) order: NonZeroI64,
    /// Its job's quantum, by which it is charged.
    pub(super) quantum: Span,
}

/// With its slot's generation a task is one line of memory.
const _: () = assert!(size_of::<Option<Running>>() + size_of::<u32>() <= 64);

/// See the module.
pub(super) struct Work {
    jobs: Slab<JobTag, Job>,
    groups: Vec<Group>,
    unused_groups: Vec<u32>,
    running: Slab<AllocationMark, Running>,
    /// The running tasks of each job.
    of_jobs: Links,
    by_node: ByNode,
}

impl Work {
    pub(super) fn new() -> Work {
        Work {
            jobs: Slab::new(),
            groups: Vec::new(),
            unused_groups: Vec::new(),
            running: Slab::new(),
            of_jobs: Links::default(),
            by_node: ByNode::default(),
        }
    }

    pub(super) fn job(&self, id: JobId) -> Option<&Job> {
        self.jobs.get(id)
    }

    #[inline]
    pub(super) fn group(&self, slot: u32) -> &Group {
        &self.groups[slot as usize]
    }

    /// See `ahead`.
    #[inline]
    pub(super) fn expect_task(&self, id: AllocationId) {
        self.running.expect(id.slot());
    }

    /// See `ahead`: rows of a running task's job and group, and where it stands among those of its
    /// job and of its node.
    #[inline]
    pub(super) fn expect_rows(&self, id: AllocationId, task: &Running) {
        self.jobs.expect(task.job.slot());
        let group = &self.groups[task.group as usize];
        expect(&group.job);
        expect(&group.next);
        self.of_jobs.expect(id.slot());
        self.by_node.expect(id.slot(), task.node);
    }

    /// The task that runs in that slot.
    pub(super) fn running_in(&self, slot: u32) -> Option<AllocationId> {
        self.running.handle(slot).filter(|&id| self.running.get(id).is_some())
    }

    pub(super) fn running(&self, id: AllocationId) -> Option<&Running> {
        self.running.get(id)
    }

    /// All jobs that are alive, in order of slot.
    pub(super) fn job_ids(&self) -> impl Iterator<Item = JobId> + '_ {
        self.jobs.iter().map(|(id, _)| id)
    }

    pub(super) fn live_jobs(&self) -> usize {
        self.jobs.len()
    }

    /// All tasks that run, in order of slot.
    pub(super) fn all_running(&self) -> impl Iterator<Item = (AllocationId, &Running)> {
        self.running.iter()
    }

    pub(super) fn running_tasks(&self) -> usize {
        self.running.len()
    }

    pub(super) fn add_job(&mut self, job: Job) -> JobId {
        self.jobs.insert(job)
    }

    pub(super) fn set_open(&mut self, id: JobId, open: bool) {
        self.jobs[id].open = open;
    }

    /// Removes a job without waiting or running tasks. Its groups can be read until
    /// [`Work::free_groups`] gives their slots to others.
    pub(super) fn remove_job(&mut self, id: JobId) -> Job {
        let job = self.jobs.remove(id).expect("a job is removed once");
        assert!(job.waiting == 0 && job.running == 0, "a job that ends has no tasks left");
        job
    }

    pub(super) fn free_groups(&mut self, job: &Job) {
        job.groups.iter().for_each(|&slot| self.unused_groups.push(slot));
    }

    /// `count` tasks more of the job wait, as a group of their own; its slot.
    pub(super) fn add_group(&mut self, id: JobId, shape: ShapeId, count: u32) -> u32 {
        let job = &mut self.jobs[id];
        let group = Group {
            job: id,
            number: job.groups.len() as u32,
            shape,
            first_task: job.tasks,
            count,
            next: 0,
            apart: None,
        };
        job.tasks += count;
        job.waiting += u64::from(count);
        let slot = match self.unused_groups.pop() {
            Some(slot) => {
                self.groups[slot as usize] = group;
                slot
            }
            None => {
                self.groups.push(group);
                self.groups.len() as u32 - 1
            }
        };
        job.groups.push(slot);
        slot
    }

    /// A task of the group is to start: the next, or `task` where one is asked for that may be. Its
    /// number, and how often it has failed.
    #[inline]
    pub(super) fn take(&mut self, slot: u32, task: Option<u32>) -> (u32, u16) {
        let group = &mut self.groups[slot as usize];
        let job = &mut self.jobs[group.job];
        (job.waiting, job.running) = (job.waiting - 1, job.running + 1);
        match task {
            Some(task) => (task, group.take_task(task)),
            None => group.take(),
        }
    }

    pub(super) fn start(&mut self, task: Running) -> AllocationId {
        let id = self.running.insert(task);
        self.of_jobs.link(&mut self.jobs[task.job].first, id.slot() as u32);
        self.by_node.link(id.slot() as u32, task.node);
        id
    }

    /// The task runs no more.
    pub(super) fn end(&mut self, id: AllocationId) -> Running {
        let task = self.running.remove(id).expect("checked by the caller");
        let (job, slot) = (&mut self.jobs[task.job], id.slot() as u32);
        job.running -= 1;
        self.of_jobs.unlink(&mut job.first, slot);
        self.by_node.unlink(slot, task.node);
        task
    }

    /// The task runs on another node.
    pub(super) fn set_node(&mut self, id: AllocationId, node: NodeRow) {
        let before = std::mem::replace(&mut self.running[id].node, node);
        self.by_node.unlink(id.slot() as u32, before);
        self.by_node.link(id.slot() as u32, node);
    }

    /// The task is charged by another quantum.
    pub(super) fn set_quantum(&mut self, id: AllocationId, quantum: Span) {
        self.running[id].quantum = quantum;
    }

    /// Rows of nodes have moved; none on which a task runs is forgotten.
    pub(super) fn move_rows(&mut self, moves: &Moves) {
        self.by_node.move_rows(moves);
        for task in self.running.iter_mut() {
            task.node = moves.to(task.node).expect("nothing runs on a node that has left");
        }
    }

    /// The running tasks of a job, in order of slot. O(these), besides sorting.
    pub(super) fn running_of(&self, id: JobId) -> Vec<AllocationId> {
        self.handles(self.of_jobs.iter(self.jobs[id].first))
    }

    /// The tasks that run on a node, in the order in which they started: by time, and those of one
    /// instant in the order of the log. O(these), besides sorting.
    pub(super) fn running_on(&self, node: NodeRow) -> Vec<AllocationId> {
        let mut found = self.handles(self.slots_on(node));
        found.sort_by_key(|&id| (self.running[id].started, self.running[id].order));
        found
    }

    /// The same, in no order that means anything.
    pub(super) fn on_node(&self, node: NodeRow) -> impl Iterator<Item = &Running> + '_ {
        self.slots_on(node).filter_map(|slot| self.running.get(self.running.handle(slot)?))
    }

    fn slots_on(&self, node: NodeRow) -> impl Iterator<Item = u32> + '_ {
        let running = || self.running.iter().map(|(id, task)| (id.slot() as u32, task.node));
        self.by_node.on(node, running)
    }

    fn handles(&self, slots: impl Iterator<Item = u32>) -> Vec<AllocationId> {
        let handle = |slot| self.running.handle(slot).expect("it runs");
        let mut found: Vec<AllocationId> = slots.map(handle).collect();
        found.sort_unstable();
        found
    }

    /// A task that ran waits again.
    pub(super) fn put_back(&mut self, task: &Running, failures: u16) {
        self.groups[task.group as usize].put_back(task.task, failures);
        if let Some(gang) = self.gang_mut(task.group) {
            gang.begun -= 1;
        }
        self.jobs[task.job].waiting += 1;
    }

    /// A task that waits is wanted no more.
    pub(super) fn withdraw(&mut self, slot: u32, task: u32) {
        let group = &mut self.groups[slot as usize];
        group.take_task(task);
        self.jobs[group.job].waiting -= 1;
    }

    /// The group's waiting tasks are wanted no more; how many they were.
    pub(super) fn forget_waiting(&mut self, slot: u32) -> u64 {
        let group = &mut self.groups[slot as usize];
        let tasks = group.waiting();
        group.next = group.count;
        let gang = group.apart.take().and_then(|apart| apart.gang);
        group.apart = gang.map(|gang| Box::new(Apart { gang: Some(gang), ..Apart::default() }));
        self.jobs[group.job].waiting -= tasks;
        tasks
    }
}

/// Gangs.
impl Work {
    fn gang_mut(&mut self, slot: u32) -> Option<&mut GangRow> {
        self.groups[slot as usize].apart.as_mut()?.gang.as_mut()
    }

    /// At least so many tasks of the group start together; see [`GangRow`].
    pub(super) fn set_gang(&mut self, slot: u32, least: u32, same: u32, joint: Option<u32>) {
        let turn = self.groups[slot as usize].shape;
        let (begun, running, within) = (0, 0, None);
        self.make_gang(slot, GangRow { least, same, begun, running, within, turn, joint });
    }

    /// The same of a restored group. Its running tasks come next.
    pub(super) fn restore_gang(&mut self, slot: u32, state: &GangState, turn: ShapeId) {
        let GangState { least, same, begun, within, joint, .. } = *state;
        self.make_gang(slot, GangRow { least, same, begun, running: 0, within, turn, joint });
    }

    fn make_gang(&mut self, slot: u32, gang: GangRow) {
        let group = &mut self.groups[slot as usize];
        group.apart.get_or_insert_default().gang = Some(gang);
        self.jobs[group.job].has_gang = true;
    }

    /// The groups that are of one gang with this one, itself too, in order; itself alone where it
    /// is of none with others.
    pub(super) fn members(&self, slot: u32) -> Members {
        let joint = |slot: u32| self.group(slot).gang().and_then(|gang| gang.joint);
        let Some(first) = joint(slot) else { return Members::from_slice(&[slot]) };
        let groups = &self.jobs[self.group(slot).job].groups[first as usize..];
        groups.iter().copied().take_while(|&other| joint(other) == Some(first)).collect()
    }

    /// Of these, those of which tasks wait.
    pub(super) fn waiting_members(&self, slot: u32) -> impl Iterator<Item = u32> + '_ {
        self.members(slot).into_iter().filter(|&slot| self.group(slot).waiting() > 0)
    }

    /// Whether the group stands in the walk for all of its gang's that wait: the first of them.
    #[inline]
    pub(super) fn leads(&self, slot: u32) -> bool {
        self.group(slot).gang().is_none_or(|gang| gang.joint.is_none())
            || self.waiting_members(slot).next() == Some(slot)
    }

    /// The group's tasks wait under another shape from now on.
    pub(super) fn set_turn(&mut self, slot: u32, turn: ShapeId) {
        self.gang_mut(slot).expect("the caller has looked").turn = turn;
    }

    /// A task of the gang has begun.
    pub(super) fn gang_begins(&mut self, slot: u32) {
        let gang = self.gang_mut(slot).expect("the caller has looked");
        (gang.begun, gang.running) = (gang.begun + 1, gang.running + 1);
    }

    /// The tasks of the gang's group are to be where `within` says.
    pub(super) fn set_within(&mut self, slot: u32, within: Option<RulesId>) {
        self.gang_mut(slot).expect("the caller has looked").within = within;
    }

    /// A task of the group runs no more; whether it is a gang's.
    #[inline]
    pub(super) fn gang_leaves(&mut self, job: JobId, slot: u32) -> bool {
        if !self.jobs[job].has_gang {
            return false;
        }
        let Some(gang) = self.gang_mut(slot) else { return false };
        gang.running -= 1;
        if gang.running == 0 {
            let members = self.members(slot);
            let runs = |&slot: &u32| self.group(slot).gang().is_some_and(|gang| gang.running > 0);
            if !members.iter().any(runs) {
                members.into_iter().for_each(|slot| self.set_within(slot, None));
            }
        }
        true
    }
}

/// As plain data, and back.
impl Work {
    /// Generations of all slots of jobs and of running tasks, and the free ones.
    pub(super) fn slots(&self) -> [(Vec<u32>, Vec<u32>); 2] {
        [self.jobs.slots(), self.running.slots()]
    }

    pub(super) fn group_states(&self, id: JobId) -> Vec<GroupState> {
        let state = |&slot: &u32| {
            let group = self.group(slot);
            let (shape, count, next) = (group.shape.number(), group.count, group.next);
            let (retries, skipped) = (group.retries().to_vec(), group.skipped().to_vec());
            let gang = group.gang().map(GangRow::state);
            GroupState { shape, count, next, skipped, retries, gang }
        };
        self.jobs[id].groups.iter().map(state).collect()
    }

    /// Without what lives in the slots.
    pub(super) fn from_state(state: &State) -> Result<Work, StateError> {
        check_slots("jobs", &state.jobs)?;
        check_slots("running", &state.running)?;
        Ok(Work {
            jobs: Slab::of_slots(&state.jobs.generations, &state.jobs.free),
            running: Slab::of_slots(&state.running.generations, &state.running.free),
            ..Work::new()
        })
    }

    /// The handle of the job that lives, or is to live, in a slot.
    pub(super) fn job_in(&self, slot: u32) -> Option<JobId> {
        self.jobs.handle(slot)
    }

    /// The next job, without groups.
    pub(super) fn restore_job(&mut self, slot: u32, job: Job) -> Option<JobId> {
        self.jobs.fill(slot, job)
    }

    /// The next group of a job, whose shape is `shape`.
    pub(super) fn restore_group(
        &mut self,
        id: JobId,
        shape: ShapeId,
        state: &GroupState,
        place: Place<'_>,
    ) -> Result<u32, StateError> {
        let at = |field: &str| format!("{place}.{field}");
        let tasks = self.jobs[id].tasks;
        let fits = state.count > 0 && tasks.checked_add(state.count).is_some();
        ensure!(fits, at("count"), "a group has tasks, and a job at most 2^32 - 1");
        ensure!(state.next <= state.count, at("next"), "more were started than there are");
        let beyond = |&skipped: &u32| skipped > state.next && skipped < state.count;
        let in_order = state.skipped.is_sorted_by(|a, b| a < b);
        ensure!(in_order && state.skipped.iter().all(beyond), at("skipped"), "not in order");
        let started = |task: &u32| {
            task.checked_sub(tasks)
                .is_some_and(|place| place < state.next || state.skipped.contains(&place))
        };
        let known = state.retries.iter().all(|(task, _)| started(task));
        ensure!(known, at("retries"), "a task that was never started is tried again");
        let sorted = state.retries.is_sorted_by(|a, b| a.0 > b.0);
        ensure!(sorted, at("retries"), "not the largest number first, each once");
        let attempts = self.jobs[id].max_attempts;
        let left = |&(_, failures): &(u32, u16)| attempts == 0 || failures < attempts;
        ensure!(state.retries.iter().all(left), at("retries"), "its attempts are used up");
        let slot = self.add_group(id, shape, state.count);
        let group = &mut self.groups[slot as usize];
        group.next = state.next;
        if !state.skipped.is_empty() || !state.retries.is_empty() {
            let (skipped, retries) = (state.skipped.clone(), state.retries.clone());
            group.apart = Some(Box::new(Apart { skipped, retries, gang: None }));
        }
        let waiting = group.waiting();
        let job = &mut self.jobs[id];
        job.waiting = job.waiting - u64::from(state.count) + waiting;
        Ok(slot)
    }

    /// The numbers of running tasks in the order of starts: below zero, before all that start from
    /// now on. States of earlier versions do not tell who of one instant started first: then it is
    /// the one with the smaller slot, as those versions decided.
    pub(super) fn restore_order(
        &self,
        running: &[(u32, RunningState)],
    ) -> Result<Vec<NonZeroI64>, StateError> {
        let key = |&at: &usize| (running[at].1.started, running[at].1.nth, running[at].0);
        let mut sorted: Vec<usize> = (0..running.len()).collect();
        sorted.sort_unstable_by_key(key);
        let mut numbers = vec![NonZeroI64::MIN; running.len()];
        let mut first = 0;
        for (place, &at) in sorted.iter().enumerate() {
            let (slot, state) = &running[at];
            if state.started != running[sorted[first]].1.started {
                first = place;
            }
            let fine = state.nth == 0 || state.nth as usize == place - first;
            ensure!(fine, format!("running[{slot}].nth"), "not the number of those before it");
            let number = place as i64 - running.len() as i64;
            numbers[at] = NonZeroI64::new(number).expect("a place is below the length");
        }
        Ok(numbers)
    }

    /// Of each running task, in order of slot, how many that run started before it at its instant.
    pub(super) fn places_at_their_instants(&self) -> Vec<u32> {
        let tasks: Vec<&Running> = self.running.iter().map(|(_, task)| task).collect();
        let mut sorted: Vec<usize> = (0..tasks.len()).collect();
        sorted.sort_unstable_by_key(|&at| (tasks[at].started, tasks[at].order));
        let mut places = vec![0; tasks.len()];
        for pair in sorted.windows(2) {
            if tasks[pair[0]].started == tasks[pair[1]].started {
                places[pair[1]] = places[pair[0]] + 1;
            }
        }
        places
    }

    /// The next running task.
    pub(super) fn restore_running(
        &mut self,
        (slot, state, order): (u32, &RunningState, NonZeroI64),
        now: Time,
    ) -> Result<Running, StateError> {
        let at = |field: &str| format!("running[{slot}].{field}");
        let id = self.job_in(state.job).filter(|&id| self.jobs.get(id).is_some());
        let id = id.ok_or_else(|| StateError::new(at("job"), "there is no such job"))?;
        let job = &self.jobs[id];
        let group = job.groups.get(state.group as usize);
        let &group = group.ok_or_else(|| StateError::new(at("group"), "its job has fewer"))?;
        let row = &self.groups[group as usize];
        let tasks = row.first_task..row.first_task + row.count;
        let runs = tasks.contains(&state.task) && !row.waits(state.task);
        ensure!(runs, at("task"), "task {} of its job waits, or is of another group", state.task);
        let left = job.max_attempts == 0 || state.failures < job.max_attempts;
        ensure!(left, at("failures"), "its attempts are used up");
        ensure!(state.started <= now, at("started"), "it starts after the present");
        let task = Running {
            job: id,
            queue: job.queue,
            group,
            task: state.task,
            failures: state.failures,
            node: NodeRow(state.node),
            shape: row.shape,
            started: state.started,
            order,
            quantum: state.quantum,
        };
        if self.running.fill(slot, task).is_some() {
            self.of_jobs.link(&mut self.jobs[id].first, slot);
            self.by_node.link(slot, task.node);
        }
        self.jobs[id].running += 1;
        if let Some(gang) = self.gang_mut(group) {
            gang.running += 1;
            let counted = gang.running <= gang.begun;
            ensure!(counted, at("group"), "more of its gang run than have begun");
        }
        Ok(task)
    }
}

/// Every slot is free or has something in it.
fn check_slots<T>(of: &str, slots: &SlotsState<T>) -> Result<(), StateError> {
    let mut used = vec![false; slots.generations.len()];
    let mut mark = |slot: u32, place: Place<'_>| {
        let taken = used.get_mut(slot as usize).map(|used| std::mem::replace(used, true));
        ensure!(taken == Some(false), place, "slot {slot} is not there, or taken twice");
        Ok(())
    };
    for &slot in &slots.free {
        mark(slot, format_args!("{of}.free"))?;
    }
    for (place, (slot, _)) in slots.live.iter().enumerate() {
        mark(*slot, format_args!("{of}.live[{place}]"))?;
    }
    let sorted = slots.live.is_sorted_by_key(|(slot, _)| *slot);
    ensure!(sorted, format!("{of}.live"), "not in order of slot");
    let lost = used.iter().position(|used| !used);
    ensure!(lost.is_none(), format!("{of}.free"), "slot {} is lost", lost.unwrap_or_default());
    Ok(())
}
