//! What the driver is told, and what follows from it for the books.

use meed::{JobState, Policy, QueueChange, QueueSpec, Resources, Time};
use meed_driver::Failed;
use meed_driver::live::Batch;
use meed_journal::{Arrival, Group, JobKey, Keys, TaskKey};

use super::{World, WorldError};
use crate::books::{Fate, JobRow, Phase};
use crate::clock::wall_us;

/// One thing to tell. It holds all that it needs.
#[derive(Debug)]
pub(super) enum Verb {
    Queue(Box<QueueSpec>, Keys),
    QueueChanged(String, QueueChange),
    QueueRemoved(String),
    /// The root orders so, and these queues so.
    Policies(Option<Box<Policy>>, Vec<(String, Policy)>),
    Capacity(String, Resources),
    Cordon(String),
    Uncordon(String),
    Arrive(Box<Arrival>),
    More {
        job: JobKey,
        group: Box<Group>,
        open: bool,
    },
    End(TaskKey),
    Fail(TaskKey),
    Lost(TaskKey, String),
    Undone(TaskKey, String),
    Again(TaskKey),
    Cancel(JobKey),
    /// The task of that number in the job of that key.
    Withdraw(JobKey, u32),
    /// Nothing has happened: it is decided.
    Look,
}

impl Verb {
    /// Within an instant: ends, then changes, then arrivals.
    fn rank(&self) -> u8 {
        match self {
            Verb::End(_) | Verb::Fail(_) | Verb::Lost(..) | Verb::Undone(..) | Verb::Again(_) => 0,
            Verb::Arrive(_) | Verb::More { .. } => 2,
            _ => 1,
        }
    }

    fn tell(&self, batch: &mut Batch<'_, ()>) -> Result<Option<JobState>, Failed> {
        match self {
            Verb::Queue(spec, own) => batch.queue_added((**spec).clone(), own.clone())?,
            Verb::QueueChanged(queue, change) => batch.queue_changed(queue, change.clone())?,
            Verb::QueueRemoved(queue) => batch.queue_removed(queue)?,
            Verb::Policies(root, others) => {
                let others: Vec<(&str, Policy)> =
                    others.iter().map(|(name, own)| (name.as_str(), own.clone())).collect();
                batch.policies_changed(root.as_deref().cloned(), &others)?;
            }
            Verb::Capacity(node, capacity) => batch.node_changed(node, *capacity)?,
            Verb::Cordon(node) => batch.node_cordoned(node, Some("the server comes back"))?,
            Verb::Uncordon(node) => batch.node_uncordoned(node, None)?,
            Verb::Arrive(arrival) => batch.job_arrived((**arrival).clone())?,
            Verb::More { job, group, open } => {
                batch.tasks_added(job, std::slice::from_ref(group), *open)?;
            }
            Verb::End(task) => return batch.task_ended(task).map(Some),
            Verb::Fail(task) => return batch.task_failed(task).map(Some),
            Verb::Lost(task, why) => batch.task_lost(task, Some(why))?,
            Verb::Undone(task, why) => batch.start_failed(task, Some(why))?,
            Verb::Again(task) => batch.start_again(task)?,
            Verb::Cancel(job) => batch.job_cancelled(job)?,
            Verb::Withdraw(job, task) => {
                return batch.task_withdrawn(job, *task, Some("it is held")).map(Some);
            }
            Verb::Look => batch.passes()?,
        }
        Ok(None)
    }
}

impl World {
    /// Tells all of it at `now`, and what follows from it at instants after that.
    pub(super) fn tell(&mut self, now: Time, verbs: Vec<Verb>) -> Result<(), WorldError> {
        let (mut now, mut verbs) = (now, verbs);
        while !verbs.is_empty() {
            verbs = self.tell_once(now, verbs)?;
            now = self.live.instant(self.meta.clock.now().max(now));
        }
        Ok(())
    }

    /// Tells all of it at `now`, where there is anything; what follows is to be told later.
    pub(super) fn tell_once(
        &mut self,
        now: Time,
        mut verbs: Vec<Verb>,
    ) -> Result<Vec<Verb>, WorldError> {
        if verbs.is_empty() {
            return Ok(verbs);
        }
        let held: Vec<Verb> = verbs.iter().filter_map(|verb| self.stays_held(verb)).collect();
        verbs.extend(held);
        verbs.sort_by_key(Verb::rank);
        let told = self.live.at(now, |batch| {
            let mut tell = |verb: Verb| match verb.tell(batch) {
                Err(Failed::Journal(why)) => Err(Failed::Journal(why)),
                done => Ok((verb, done)),
            };
            verbs.into_iter().map(&mut tell).collect::<Result<Vec<_>, Failed>>()
        })?;
        let mut next = Vec::new();
        for (verb, done) in told {
            next.extend(self.follows(verb, done)?);
        }
        Ok(next)
    }

    fn follows(
        &mut self,
        verb: Verb,
        done: Result<Option<JobState>, Failed>,
    ) -> Result<Vec<Verb>, WorldError> {
        match (verb, done) {
            (Verb::Arrive(arrival), Ok(_)) => {
                let told = arrival.groups.iter().map(|group| group.tasks).sum();
                self.told(&arrival.job, told);
            }
            (Verb::Arrive(arrival), Err(why)) => {
                if let Some(id) = JobRow::id_of(&arrival.job) {
                    self.refused.insert(id, why.to_string());
                    return self.job_over(id, Fate::Failed, Some(why.to_string()));
                }
            }
            (Verb::End(task) | Verb::Fail(task), Ok(Some(state))) => {
                let Some(id) = JobRow::id_of(&task.job) else { return Ok(Vec::new()) };
                return match state {
                    JobState::Done | JobState::Failed => self.all_tasks_over(id),
                    JobState::Active | JobState::Drained => self.more_of(id),
                };
            }
            (Verb::Withdraw(job, _), Ok(Some(JobState::Done | JobState::Failed))) => {
                let Some(id) = JobRow::id_of(&job) else { return Ok(Vec::new()) };
                return self.all_tasks_over(id);
            }
            (verb, Err(why)) => self.remarks.push(format!("{verb:?}: {why}")),
            (_, Ok(_)) => {}
        }
        Ok(Vec::new())
    }

    /// The scheduler knows so many more tasks of the job.
    pub(super) fn told(&mut self, key: &JobKey, tasks: u32) {
        let Some(row) = JobRow::id_of(key).and_then(|id| self.row_mut(id)) else { return };
        if row.key() == *key {
            row.told += tasks;
            row.told_of_part += tasks;
            row.phase = Phase::Told;
        }
    }

    /// The engine has done with the job.
    pub(super) fn all_tasks_over(&mut self, id: u64) -> Result<Vec<Verb>, WorldError> {
        let Some(row) = self.rows.get(&id) else { return Ok(Vec::new()) };
        if !row.parts.is_empty() && row.done + row.failed < row.tasks {
            // A part of it is over.
            return self.more_of(id);
        }
        let failed = row.failed;
        match failed {
            0 => self.job_over(id, Fate::Done, None),
            _ => self.job_over(id, Fate::Failed, None),
        }
    }

    /// The job is over; who waited for it may go on.
    pub(super) fn job_over(
        &mut self,
        id: u64,
        fate: Fate,
        why: Option<String>,
    ) -> Result<Vec<Verb>, WorldError> {
        let mut verbs = Vec::new();
        let mut over = vec![(id, fate, why)];
        while let Some((id, fate, why)) = over.pop() {
            let Some(row) = self.row_mut(id).filter(|row| !row.is_over()) else { continue };
            row.end(fate, why, wall_us());
            self.ended.push(id);
            for next in self.dependents.remove(&id).unwrap_or_default() {
                match self.may_begin(next)? {
                    Begin::Now => verbs.extend(self.arrival(next)?),
                    Begin::Later => {}
                    Begin::Never(why) => over.push((next, Fate::Failed, Some(why))),
                }
            }
        }
        Ok(verbs)
    }

    /// Whether what the job waits for is over.
    pub(super) fn may_begin(&self, id: u64) -> Result<Begin, WorldError> {
        let Some(row) = self.rows.get(&id).filter(|row| row.phase == Phase::New) else {
            return Ok(Begin::Later);
        };
        for after in &row.after {
            let before = match self.rows.get(&after.job) {
                Some(row) => row.fate,
                None => self.books.job(after.job)?.and_then(|row| row.fate),
            };
            match before {
                None => return Ok(Begin::Later),
                Some(Fate::Done) => {}
                Some(_) if after.even_if_failed => {}
                Some(_) => {
                    let why = format!("job {}, for which it waited, did not end well", after.job);
                    return Ok(Begin::Never(why));
                }
            }
        }
        Ok(Begin::Now)
    }

    /// More tasks of a job of which only some may run at once.
    fn more_of(&mut self, id: u64) -> Result<Vec<Verb>, WorldError> {
        let Some(row) = self.rows.get(&id) else { return Ok(Vec::new()) };
        if row.phase == Phase::New && !row.parts.is_empty() {
            // It was released while as many ran as may.
            let arrival = self.arrival(id)?;
            if let Some(row) = self.row_mut(id).filter(|_| arrival.is_some()) {
                row.phase = Phase::Told;
            }
            return Ok(arrival.into_iter().collect());
        }
        let (Some(at_once), Phase::Told) = (row.at_once, row.phase) else { return Ok(Vec::new()) };
        let count = at_once.saturating_sub(row.there()).min(row.tasks - row.told);
        if count == 0 {
            return Ok(Vec::new());
        }
        let (job, open) = (row.key(), row.told + count < row.tasks);
        let Some(group) = self.group(id, count)? else { return Ok(Vec::new()) };
        // More ends of the same instant see what is told here.
        if let Some(row) = self.row_mut(id) {
            row.told += count;
            row.told_of_part += count;
        }
        Ok(vec![Verb::More { job, group: Box::new(group), open }])
    }
}

/// Whether a job may begin.
pub(super) enum Begin {
    Now,
    Later,
    /// What it waits for has failed.
    Never(String),
}
