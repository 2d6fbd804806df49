//! What the driver is told, and what follows from it for the books.

use meed::{JobState, Time};
use meed_driver::{Applied, Failed};
use meed_journal::{Fact, JobKey};

use super::{World, WorldError};
use crate::books::{Fate, JobRow, Phase};
use crate::clock::wall_us;

/// Within an instant: ends, then changes, then arrivals.
fn rank(fact: &Fact) -> u8 {
    match fact {
        Fact::TaskEnded(_) | Fact::TaskFailed(_) | Fact::TaskLost(_) | Fact::StartFailed(_) => 0,
        Fact::JobArrived(_) | Fact::TasksAdded(_) => 2,
        _ => 1,
    }
}

impl World {
    /// Tells all of it at `now`, and what follows from it at instants after that.
    pub(super) fn tell(&mut self, now: Time, facts: Vec<Fact>) -> Result<(), WorldError> {
        let (mut now, mut facts) = (now, facts);
        while !facts.is_empty() {
            facts = self.tell_once(now, facts)?;
            now = self.live.instant(self.meta.clock.now().max(now));
        }
        Ok(())
    }

    /// Tells all of it at `now`, where there is anything; what follows is to be told later.
    pub(super) fn tell_once(
        &mut self,
        now: Time,
        mut facts: Vec<Fact>,
    ) -> Result<Vec<Fact>, WorldError> {
        if facts.is_empty() {
            return Ok(facts);
        }
        let held: Vec<Fact> = facts.iter().filter_map(|fact| self.stays_held(fact)).collect();
        facts.extend(held);
        facts.sort_by_key(rank);
        let told = self.live.at(now, |batch| {
            let mut tell = |fact: Fact| match batch.apply(&fact) {
                Err(Failed::Journal(why)) => Err(Failed::Journal(why)),
                done => Ok((fact, done)),
            };
            facts.into_iter().map(&mut tell).collect::<Result<Vec<_>, Failed>>()
        })?;
        let mut next = Vec::new();
        for (fact, done) in told {
            next.extend(self.follows(fact, done)?);
        }
        Ok(next)
    }

    fn follows(
        &mut self,
        fact: Fact,
        done: Result<Applied, Failed>,
    ) -> Result<Vec<Fact>, WorldError> {
        let state = done.as_ref().ok().and_then(|applied| applied.job);
        match (fact, done) {
            (Fact::JobArrived(arrival), Ok(_)) => {
                let told = arrival.groups.iter().map(|group| group.tasks).sum();
                self.told(&arrival.job, told);
            }
            (Fact::JobArrived(arrival), Err(why)) => {
                if let Some(id) = JobRow::id_of(&arrival.job) {
                    self.refused.insert(id, why.to_string());
                    return self.job_over(id, Fate::Failed, Some(why.to_string()));
                }
            }
            (Fact::TaskEnded(task) | Fact::TaskFailed(task), Ok(_)) => {
                let Some(id) = JobRow::id_of(&task.job) else { return Ok(Vec::new()) };
                return match state {
                    Some(JobState::Done | JobState::Failed) => self.all_tasks_over(id),
                    Some(JobState::Active | JobState::Drained) | None => self.more_of(id),
                };
            }
            (Fact::TaskWithdrawn(task), Ok(_))
                if matches!(state, Some(JobState::Done | JobState::Failed)) =>
            {
                let Some(id) = JobRow::id_of(&task.job) else { return Ok(Vec::new()) };
                return self.all_tasks_over(id);
            }
            (fact, Err(why)) => {
                self.remarks.push(format!("a record `{}`: {why}", fact.kind().word()));
            }
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
    pub(super) fn all_tasks_over(&mut self, id: u64) -> Result<Vec<Fact>, WorldError> {
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
    ) -> Result<Vec<Fact>, WorldError> {
        let mut facts = Vec::new();
        let mut over = vec![(id, fate, why)];
        while let Some((id, fate, why)) = over.pop() {
            let Some(row) = self.row_mut(id).filter(|row| !row.is_over()) else { continue };
            row.end(fate, why, wall_us());
            self.ended.push(id);
            for next in self.dependents.remove(&id).unwrap_or_default() {
                match self.may_begin(next)? {
                    Begin::Now => facts.extend(self.arrival(next)?),
                    Begin::Later => {}
                    Begin::Never(why) => over.push((next, Fate::Failed, Some(why))),
                }
            }
        }
        Ok(facts)
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
    fn more_of(&mut self, id: u64) -> Result<Vec<Fact>, WorldError> {
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
        Ok(vec![Fact::tasks_added(job, vec![group], open)])
    }
}

/// Whether a job may begin.
pub(super) enum Begin {
    Now,
    Later,
    /// What it waits for has failed.
    Never(String),
}
