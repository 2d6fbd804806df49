//! The slow twin's jobs and tasks: they come, start, end, fail, are lost and wait again.

use super::model::{Group, Model, Task};
use super::reserve::NEVER;
use meed::*;

impl Model {
    pub(crate) fn add_groups(&mut self, job: usize, groups: &[TaskGroup]) {
        if groups.is_empty() {
            return;
        }
        let leaf = self.jobs[job].queue;
        self.refresh_counts();
        for &q in &self.path(leaf)[1..] {
            if !self.queues[q].counts.known {
                self.queues[q].counts.known = true;
                self.queues[q].counts.since = Some(self.now);
                self.top_up_queue(q);
            }
        }
        if !self.jobs[job].counts.known {
            self.jobs[job].counts.known = true;
            self.jobs[job].counts.since = Some(self.now);
            self.top_up_job(job);
        }
        self.begin_to_wait(leaf);
        let joint = groups.iter().all(|it| it.gang.as_ref().is_some_and(|gang| gang.joint));
        let joint = (joint && groups.len() > 1).then_some(self.jobs[job].groups.len());
        for group in groups {
            let first = self.jobs[job].groups.iter().map(|g| g.count).sum();
            let (retries, constraints) =
                (Vec::new(), group.constraints.as_deref().cloned().unwrap_or_default());
            let group = Group {
                demand: group.demand,
                constraints,
                limit: self.expected_run(leaf, group.limit),
                count: group.count,
                fresh: (first..first + group.count).collect(),
                retries,
                gang: group.gang.as_deref().cloned(),
                joint,
                begun: 0,
                within: None,
                wanted: None,
            };
            self.jobs[job].groups.push(group);
        }
    }

    /// How long a task of `leaf` is expected to run: what its last two tasks that ended well took
    /// on average is the smallest number that has four bits, and zeros, and is no less.
    fn expected_run(&self, leaf: usize, limit: Option<Span>) -> Option<u64> {
        let limit = limit.map(Span::as_micros);
        let ran = self.runs.iter().rev().filter(|(queue, _)| *queue == leaf).take(2);
        let ran: Vec<u64> = ran.map(|(_, ran)| *ran).collect();
        let mean = |ran: &[u64]| ran.iter().sum::<u64>() / ran.len() as u64;
        let like = |mean: u64| {
            let fine = (0..64).flat_map(|zeros| (1..=16u128).map(move |bits| bits << zeros));
            fine.filter(|&like| like >= u128::from(mean)).min().expect("some are large")
        };
        let learned = || (!ran.is_empty()).then(|| like(mean(&ran)).min(u128::from(NEVER)) as u64);
        match self.queues[0].spec.policy.estimates {
            Estimates::Limits => limit,
            Estimates::Learned => limit.or_else(learned),
        }
    }

    fn begin_to_wait(&mut self, leaf: usize) {
        if self.waiting(leaf) == 0 {
            self.queues[leaf].began = self.now;
        }
    }

    /// A task starts as the engine says; `check_order` has looked at it if it should.
    pub(crate) fn started(&mut self, start: &Start) {
        let job = self.job(start.job);
        let leaf = start.queue.index();
        self.count_since_now(job);
        self.passed.remove(&(job, start.group as usize));
        let with_gang = self.starting.is_some();
        self.gang_starts(job, start.group as usize);
        let group = &mut self.jobs[job].groups[start.group as usize];
        // Of the tasks that wait again the one with the smallest number goes first.
        let again = (0..group.retries.len()).min_by_key(|&i| group.retries[i].0);
        let taken = again.map(|first| group.retries.remove(first)).unwrap_or_else(|| {
            assert!(!group.fresh.is_empty(), "a task too many was started");
            (group.fresh.remove(0), 0)
        });
        assert_eq!(taken, (start.task, start.failures), "task number and failures");
        let demand = group.demand;
        let node = start.node.index();
        assert!(
            self.nodes[node].up && demand.fits_in(&self.free(node)),
            "{start:?} overloads its node"
        );
        assert!(self.is_allowed(job, start.group as usize, node), "{start:?} breaks a constraint");
        for &q in &self.path(leaf) {
            let mut held = self.held(q);
            held.add(&demand);
            let max = self.queues[q].spec.max;
            assert!(max.is_none_or(|max| held.fits_in(&max)), "{start:?} exceeds a maximum share");
        }
        self.tasks.push(Task {
            allocation: start.allocation,
            queue: leaf,
            job,
            group: start.group as usize,
            number: start.task,
            failures: start.failures,
            node,
            demand,
            start: self.now,
            seen: self.now,
            end: None,
            undone: false,
            was_stopped: false,
        });
        self.gang_begins(job, start.group as usize, node);
        self.regroup();
        if with_gang && self.starting.is_none() {
            self.settle_idle();
        }
    }

    /// Who does not count yet in this round counts from its first start in it.
    fn count_since_now(&mut self, job: usize) {
        let leaf = self.jobs[job].queue;
        self.refresh_counts();
        for &q in self.path(leaf)[1..].iter().rev() {
            if self.queues[q].counts.since.is_none() {
                self.queues[q].counts.since = Some(self.now);
                self.top_up_queue(q);
            }
            self.queues[q].counts.starts(self.now);
        }
        if self.jobs[job].counts.since.is_none() {
            self.jobs[job].counts.since = Some(self.now);
            self.top_up_job(job);
        }
        self.jobs[job].counts.starts(self.now);
    }

    /// A task that waits runs already.
    pub(crate) fn adopted(
        &mut self,
        job: JobId,
        number: u32,
        node: usize,
        since: u64,
        allocation: AllocationId,
    ) {
        let job = self.job(job);
        self.count_since_now(job);
        let of = |group: &Group| {
            let again = group.retries.iter().find(|retry| retry.0 == number).map(|retry| retry.1);
            again.or_else(|| group.fresh.contains(&number).then_some(0))
        };
        let groups = self.jobs[job].groups.iter().enumerate();
        let (group, failures) =
            groups.filter_map(|(at, group)| Some((at, of(group)?))).next().expect("it waits");
        self.passed.remove(&(job, group));
        let row = &mut self.jobs[job].groups[group];
        row.fresh.retain(|&waiting| waiting != number);
        row.retries.retain(|&(waiting, _)| waiting != number);
        let (demand, queue) = (row.demand, self.jobs[job].queue);
        self.tasks.push(Task {
            allocation,
            queue,
            job,
            group,
            number,
            failures,
            node,
            demand,
            start: since,
            seen: self.now,
            end: None,
            undone: false,
            was_stopped: false,
        });
        self.gang_begins(job, group, node);
    }

    /// A running task.
    pub(crate) fn task(&self, allocation: AllocationId) -> usize {
        let runs = |task: &Task| task.allocation == allocation && task.end.is_none();
        self.tasks.iter().position(runs).expect("a running task")
    }

    /// One task of a job is wanted no more; itself, where it ran.
    pub(crate) fn withdraw(&mut self, job: JobId, number: u32) -> Vec<AllocationId> {
        let job = self.job(job);
        let mine = |task: &&Task| task.job == job && task.number == number;
        let running = self.running().find(mine).map(|task| task.allocation);
        if let Some(allocation) = running {
            self.stop(allocation);
            return vec![allocation];
        }
        for group in &mut self.jobs[job].groups {
            group.fresh.retain(|&waiting| waiting != number);
            group.retries.retain(|&(waiting, _)| waiting != number);
        }
        vec![]
    }

    fn stop(&mut self, allocation: AllocationId) -> usize {
        let index = self.task(allocation);
        self.tasks[index].end = Some(self.now);
        let (leaf, job, now) = (self.tasks[index].queue, self.tasks[index].job, self.now);
        for q in self.path(leaf).split_off(1) {
            if !self.running().any(|task| self.is_below(task.queue, q)) {
                self.queues[q].counts.runs_nothing(now);
            }
        }
        if !self.running().any(|task| task.job == job) {
            self.jobs[job].counts.runs_nothing(now);
        }
        index
    }

    pub(crate) fn lose(&mut self, lost: &[AllocationId]) {
        for &allocation in lost {
            let task = self.stop(allocation);
            self.wait_again(task, self.tasks[task].failures);
        }
    }

    fn wait_again(&mut self, task: usize, failures: u16) {
        let (job, group, number) =
            (self.tasks[task].job, self.tasks[task].group, self.tasks[task].number);
        if !self.tasks[task].undone {
            self.begin_to_wait(self.jobs[job].queue);
        }
        self.jobs[job].groups[group].retries.push((number, failures));
        self.jobs[job].groups[group].begun -= 1;
    }

    pub(crate) fn end(&mut self, allocation: AllocationId) {
        self.stop(allocation);
    }

    pub(crate) fn failed(&mut self, allocation: AllocationId) {
        let task = self.stop(allocation);
        let (job, failures) = (self.tasks[task].job, self.tasks[task].failures + 1);
        let attempts = self.jobs[job].max_attempts;
        if attempts == 0 || failures < attempts {
            self.wait_again(task, failures);
        }
    }

    pub(crate) fn drop_job(&mut self, job: usize, stopped: &[AllocationId]) {
        let mut ours: Vec<AllocationId> =
            self.running().filter(|task| task.job == job).map(|task| task.allocation).collect();
        let mut stopped = stopped.to_vec();
        ours.sort();
        stopped.sort();
        assert_eq!(ours, stopped, "all tasks of a dropped job are stopped");
        ours.into_iter().for_each(|allocation| self.end(allocation));
        for group in &mut self.jobs[job].groups {
            (group.fresh, group.retries) = (Vec::new(), Vec::new());
        }
        self.jobs[job].alive = false;
        self.job_left(job);
    }

    /// What became of a job after one of its tasks ended.
    pub(crate) fn check_state(&mut self, id: JobId, state: JobState, stopped: &[AllocationId]) {
        let job = self.job(id);
        let running = self.running().filter(|task| task.job == job).count();
        let idle = self.job_waiting(job) == 0 && running == 0;
        if state == JobState::Failed {
            return self.drop_job(job, stopped);
        }
        let expected = match (idle, self.jobs[job].open) {
            (false, _) => JobState::Active,
            (true, true) => JobState::Drained,
            (true, false) => JobState::Done,
        };
        assert_eq!((state, stopped.len()), (expected, 0));
        self.jobs[job].alive = expected != JobState::Done;
        if expected == JobState::Done {
            self.job_left(job);
        }
    }
}
