//! Ends of supervisors: what they mean for a task, its job and the driver.

use meed_journal::{Fact, TaskKey};

use super::{World, WorldError, now};
use crate::books::{JobRow, TaskRow};
use crate::clock::boot_id;
use crate::group::ControlGroup;
use crate::run::{EndCause, FolderState, How, TaskEnd, kill_leftovers};

/// A task whose supervisors die before they begin, so often in a row, fails.
const MOST_DEATHS: u32 = 20;

impl World {
    /// A supervisor is gone.
    pub(super) fn gone(&mut self, token: u64) -> Result<Vec<Fact>, WorldError> {
        match self.tokens.remove(&token) {
            Some(task) => self.look_at(&task),
            None => Ok(Vec::new()),
        }
    }

    /// What became of a task, as its folder tells.
    pub(super) fn look_at(&mut self, task: &TaskKey) -> Result<Vec<Fact>, WorldError> {
        loop {
            if let Some(facts) = self.look_once(task)? {
                return Ok(facts);
            }
            // A supervisor that was killed is not gone as long as a child that it was just
            // starting has its claim.
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// `None`: it is changing.
    fn look_once(&mut self, task: &TaskKey) -> Result<Option<Vec<Fact>>, WorldError> {
        let Some(run) = self.runs.get(task) else { return Ok(Some(Vec::new())) };
        let (folder, stops) = (run.folder.clone(), run.stops);
        let shown = folder.path().display().to_string();
        match folder.look().map_err(WorldError::system(shown.clone()))? {
            FolderState::Ended(ended) => self.has_ended(task, ended).map(Some),
            // It is another one than the one that has gone: that one came too late.
            FolderState::Runs(supervisor) => {
                Ok(self.watch_process(task, supervisor).then(Vec::new))
            }
            FolderState::Orphaned => {
                self.kill_orphans(task);
                match stops {
                    true => self.has_ended(task, killed()?).map(Some),
                    false => {
                        let why = "its supervisor is gone".to_owned();
                        Ok(Some(self.let_go(task, Fact::task_lost(task.clone(), Some(&why)))))
                    }
                }
            }
            FolderState::Waits | FolderState::Nothing => {
                let forbidden = folder.forbid().or_else(|error| match error.kind() {
                    std::io::ErrorKind::NotFound => Ok(true),
                    _ => Err(error),
                });
                if !forbidden.map_err(WorldError::system(shown))? {
                    return Ok(None);
                }
                self.never_began(task, stops).map(Some)
            }
        }
    }

    /// It is seen to that the attempt never begins.
    fn never_began(&mut self, task: &TaskKey, stops: bool) -> Result<Vec<Fact>, WorldError> {
        let why = "its supervisor ended before it began".to_owned();
        match (stops, self.deaths(task)? < MOST_DEATHS) {
            (true, _) => {
                self.free(task);
                Ok(Vec::new())
            }
            (false, true) => Ok(self.let_go(task, Fact::start_failed(task.clone(), Some(&why)))),
            (false, false) => self.has_ended(task, never(why)?),
        }
    }

    /// Kills what a killed supervisor has left.
    pub(super) fn kill_orphans(&mut self, task: &TaskKey) {
        // Who has wiped its environment and left its parents is in the group still.
        self.groups.of(self.places.run(task).path()).iter().for_each(ControlGroup::kill);
        let killed = kill_leftovers(&self.cookie(task));
        if killed > 0 {
            let remark = format!("{task}: its supervisor was killed; {killed} processes of it too");
            self.remarks.push(remark);
        }
    }

    /// Attempts that came to no end: neither failed nor stopped for others.
    fn deaths(&self, task: &TaskKey) -> Result<u32, WorldError> {
        let number = self.number(task)?;
        let row = JobRow::id_of(&task.job).map(|id| self.books.task(id, number)).transpose()?;
        let row = row.flatten().unwrap_or_default();
        Ok(task.attempt.saturating_sub(u32::from(row.failures) + row.stops))
    }

    fn let_go(&mut self, task: &TaskKey, fact: Fact) -> Vec<Fact> {
        self.free(task);
        vec![fact]
    }

    /// A task has ended, and how. The driver is told, unless it has dropped the task itself.
    pub(super) fn has_ended(
        &mut self,
        task: &TaskKey,
        ended: TaskEnd,
    ) -> Result<Vec<Fact>, WorldError> {
        let stops = self.runs.get(task).is_none_or(|run| run.stops);
        self.free(task);
        let Some(id) = JobRow::id_of(&task.job) else { return Ok(Vec::new()) };
        if !stops && ended.cause == EndCause::Reclaimed {
            self.count_stop(task, ended)?;
            let why = "its room was taken back".to_owned();
            return Ok(vec![Fact::task_lost(task.clone(), Some(&why))]);
        }
        if !stops && ended.cause == EndCause::Stopped {
            // Not by us: the machine goes down, or somebody meant the supervisor.
            let why = "its supervisor was asked to end".to_owned();
            return Ok(vec![Fact::task_lost(task.clone(), Some(&why))]);
        }
        // Who was cancelled while his room was taken back does not wait again.
        let ended = match (stops, ended.cause) {
            (true, EndCause::Reclaimed) => {
                TaskEnd { cause: EndCause::Stopped, stopped_for: None, ..ended }
            }
            _ => ended,
        };
        if stops && self.is_past(id, task)? {
            return Ok(Vec::new());
        }
        let is_last = self.count(id, task, Some(ended), stops)?;
        Ok(match (stops, is_last) {
            (true, _) => Vec::new(),
            (false, true) => vec![Fact::task_ended(task.clone())],
            (false, false) => vec![Fact::task_failed(task.clone())],
        })
    }

    /// Whether the books know more of the task than this attempt tells: it is what a crash left of
    /// one that is over, and that was counted, or was lost and waits or runs again.
    fn is_past(&self, id: u64, task: &TaskKey) -> Result<bool, WorldError> {
        if self.live.job(&task.job).is_some() {
            return Ok(true);
        }
        let (number, attempt) = (self.number(task)?, self.attempt(task)?);
        let known = self.books.task(id, number)?;
        Ok(known.is_some_and(|row| row.ended.is_some() && row.attempt >= attempt))
    }

    /// Takes the end of an attempt into the books: whether nothing is tried again.
    fn count(
        &mut self,
        id: u64,
        task: &TaskKey,
        ended: Option<TaskEnd>,
        stops: bool,
    ) -> Result<bool, WorldError> {
        let number = self.number(task)?;
        let before = self.books.task(id, number)?.unwrap_or_default();
        let is_well = ended.as_ref().is_none_or(TaskEnd::is_well);
        let retries = self.rows.get(&id).map_or(0, |row| row.retries);
        let failures = before.failures.saturating_add(u16::from(!is_well && !stops));
        let is_last = is_well || stops || failures > retries;
        if let Some(row) = self.row_mut(id).filter(|_| is_last && !stops) {
            match is_well {
                true => row.done += 1,
                false => row.failed += 1,
            }
        }
        let attempt = self.attempt(task)?;
        let row = TaskRow { failures, is_over: is_last, attempt, ended, ..before };
        self.writes.task(id, number, &row);
        Ok(is_last)
    }

    /// The journal holds an end that the books do not have yet.
    pub(super) fn count_again(&mut self, task: &TaskKey) -> Result<(), WorldError> {
        let Some(id) = JobRow::id_of(&task.job) else { return Ok(()) };
        let folder = self.places.run(task);
        let ended =
            folder.ended().map_err(WorldError::system(folder.path().display().to_string()))?;
        // Rows that were written but not durable are as old as the cursor: none is counted twice.
        self.count(id, task, ended, false)?;
        self.write(false)?;
        self.over.push(folder);
        Ok(())
    }

    /// Processors and GPUs are free, the folder will go.
    pub(super) fn free(&mut self, task: &TaskKey) {
        if let Some(run) = self.runs.remove(task) {
            self.devices.give(run.held);
            self.over.push(run.folder);
        }
        if let Some(id) = JobRow::id_of(&task.job)
            && let Some(tasks) = self.running.get_mut(&id)
        {
            self.watched.touch(id);
            tasks.remove(task);
            if tasks.is_empty() {
                self.running.remove(&id);
            }
        }
        self.deferred.retain(|other| other != task);
        self.has_room = true;
    }

    /// What the processes of a task are found by.
    pub(super) fn cookie(&self, task: &TaskKey) -> String {
        format!("{}/{}-{}-{}", self.name, task.job, task.task, task.attempt)
    }
}

fn killed() -> Result<TaskEnd, WorldError> {
    let ended = never("its supervisor was killed".to_owned())?;
    Ok(TaskEnd { how: How::Signal(9), cause: EndCause::Stopped, ..ended })
}

/// The end of a task that never began.
pub(super) fn never(problem: String) -> Result<TaskEnd, WorldError> {
    Ok(TaskEnd {
        began: None,
        at: now(),
        boot: boot_id().map_err(WorldError::system("boot_id"))?,
        how: How::Never,
        cause: EndCause::Itself,
        stopped_for: None,
        problem: Some(problem),
        cpu_us: 0,
        peak_bytes: 0,
    })
}
