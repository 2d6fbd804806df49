//! Jobs are held and released.
//!
//! A job that has not begun is taken back from the scheduler, and comes back under another key. Of
//! one that has begun those tasks are taken back that wait; what runs goes on, and what fails or is
//! lost meanwhile waits with the others. When it is released they come as a part of their own
//! ([`crate::books::JobPart`]).
//!
//! The books know it durably before the scheduler is told. Should the server die in between, tasks
//! that were to be taken back are when the scheduler starts them: none begins.

use std::collections::{BTreeMap, BTreeSet};

use meed_journal::{Fact, JobKey, TaskKey};

use super::submit::{Checked, checked};
use super::{World, WorldError};
use crate::books::{JobPart, JobRow, Phase};
use crate::protocol::{JobQuery, NotDone, RefusalKind};
use crate::user::LocalUser;

fn refuse(why: String) -> Checked<u64> {
    Ok(Err(NotDone::new(RefusalKind::Wrong, why)))
}

/// A task of a job that is held waits for its release.
pub(super) fn kept_back(job: JobKey, task: u32) -> Fact {
    Fact::task_withdrawn(job, task, Some("it is held"))
}

impl World {
    pub(super) fn hold(
        &mut self,
        user: &LocalUser,
        query: &JobQuery,
        facts: &mut Vec<Fact>,
    ) -> Checked<u64> {
        let row = checked!(self.own(user, query)?);
        let id = row.id;
        match row.phase {
            Phase::Ended => return refuse(format!("job {id} has ended")),
            Phase::Told if self.has_begun(&row)? => {
                let rest = self.waiting_tasks(&row)?;
                if rest.is_empty() {
                    return refuse(format!(
                        "job {id} has begun, and none of its tasks waits that could be held"
                    ));
                }
                self.hold_rest(&row, &rest, facts)?;
            }
            Phase::Told => {
                facts.push(Fact::job_cancelled(row.key()));
                if let Some(kept) = self.row_mut(id) {
                    kept.holds += 1;
                    (kept.phase, kept.told) = (Phase::Held, 0);
                }
            }
            Phase::New | Phase::Held => {
                self.row_mut(id).into_iter().for_each(|kept| kept.phase = Phase::Held);
            }
        }
        Ok(Ok(id))
    }

    fn has_begun(&self, row: &JobRow) -> Result<bool, WorldError> {
        let runs = self.running.get(&row.id).is_some_and(|tasks| !tasks.is_empty());
        // Starts that came to no end are in no book.
        let was_lost = || self.live.job(&row.key()).is_some_and(|job| job.has_started_again());
        let has_ended = || Ok::<_, WorldError>(!self.books.tasks(row.id, 0, 1)?.is_empty());
        Ok(runs || !row.parts.is_empty() || was_lost() || has_ended()?)
    }

    /// Tasks that neither run nor are over.
    fn waiting_tasks(&self, row: &JobRow) -> Result<Vec<u32>, WorldError> {
        let ended = self.books.tasks(row.id, 0, usize::MAX)?;
        let over = ended.into_iter().filter(|(_, task)| task.is_over).map(|(number, _)| number);
        let running = self.running.get(&row.id).into_iter().flatten();
        let running = running.map(|task| row.number_of(&task.job, task.task));
        let begun: BTreeSet<u32> = over.chain(running).collect();
        Ok((0..row.tasks).filter(|number| !begun.contains(number)).collect())
    }

    fn hold_rest(
        &mut self,
        row: &JobRow,
        rest: &[u32],
        facts: &mut Vec<Fact>,
    ) -> Result<(), WorldError> {
        let mut begun = BTreeMap::new();
        for &number in rest {
            let (part, task) = row.place_of(number);
            // Of the latest part the scheduler may not know all yet.
            if part != row.holds || task < row.told_here() {
                facts.push(kept_back(row.key_of(part), task));
            }
            // Attempts are counted on, those too that were lost.
            let here = self.live.job(&row.key_of(part)).map_or(0, |job| job.starts_before(task));
            if here > 0 {
                let before = row.attempts_before.get(&number).copied().unwrap_or(0);
                begun.insert(number, before + here);
            }
        }
        if let Some(kept) = self.row_mut(row.id) {
            kept.attempts_before.extend(begun);
            kept.holds += 1;
            kept.parts.insert(kept.holds, JobPart::of(rest));
            kept.phase = Phase::Held;
            (kept.told, kept.told_of_part) = (kept.tasks - rest.len() as u32, 0);
        }
        Ok(())
    }

    /// What waits again of a job that is held waits with the others.
    pub(super) fn stays_held(&mut self, fact: &Fact) -> Option<Fact> {
        let (Fact::TaskFailed(task) | Fact::TaskLost(task) | Fact::StartFailed(task)) = fact else {
            return None;
        };
        let row = self.rows.get(&JobRow::id_of(&task.job)?)?;
        if !row.holds_rest_of(&task.job, task.task) {
            return None;
        }
        self.joins_held(&task.job.clone(), task.task, task.attempt + 1);
        Some(kept_back(task.job.clone(), task.task))
    }

    /// A task joins the part that is held, after so many attempts in its own.
    pub(super) fn joins_held(&mut self, key: &JobKey, task: u32, attempts: u32) {
        let Some(row) = JobRow::id_of(key).and_then(|id| self.row_mut(id)) else { return };
        if row.holds_rest_of(key, task) {
            let (number, holds) = (row.number_of(key, task), row.holds);
            // Once it has joined, the part that it was in has it no more.
            row.parts.entry(holds).or_default().push(number);
            row.told -= 1;
            if attempts > 0 {
                *row.attempts_before.entry(number).or_default() += attempts;
            }
        }
    }

    pub(super) fn release(
        &mut self,
        user: &LocalUser,
        query: &JobQuery,
        facts: &mut Vec<Fact>,
    ) -> Checked<u64> {
        let row = checked!(self.own(user, query)?);
        if row.phase != Phase::Held {
            return refuse(format!("job {} is not held", row.id));
        }
        if let Some(kept) = self.row_mut(row.id) {
            kept.phase = Phase::New;
        }
        self.await_others(row.id);
        self.arrive_if_ready(row.id, None, facts)?;
        Ok(Ok(row.id))
    }

    /// The job's number of a task.
    pub(super) fn number(&self, task: &TaskKey) -> Result<u32, WorldError> {
        let row = self.row_of_part(task)?;
        Ok(row.map_or(task.task, |row| row.number_of(&task.job, task.task)))
    }

    /// Which attempt it is, over all parts.
    pub(super) fn attempt(&self, task: &TaskKey) -> Result<u32, WorldError> {
        let row = self.row_of_part(task)?;
        let before = row
            .and_then(|row| row.attempts_before.get(&row.number_of(&task.job, task.task)).copied());
        Ok(before.unwrap_or(0) + task.attempt)
    }

    /// The job, where the task is of a part that came after the first: only there do numbers and
    /// attempts differ from the scheduler's.
    fn row_of_part(&self, task: &TaskKey) -> Result<Option<JobRow>, WorldError> {
        match JobRow::id_of(&task.job) {
            Some(id) if JobRow::part_of(&task.job) > 0 => self.row_of(id),
            _ => Ok(None),
        }
    }
}
