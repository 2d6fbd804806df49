//! What was seen, as facts of the journal.
//!
//! A record is a job of the engine under the key `NUMBER@SECOND`: the second in which it was told,
//! since Slurm uses numbers again. It is a new job whenever its leaf or its demand becomes another.
//! A run that goes on after a suspension is `NUMBER@SECOND+CHARGED`, so that the journal knows for
//! how many seconds it is charged already.

use meed_driver::Failed;
use meed_driver::live::Batch;
use meed_journal::{Amounts, Arrival, Fact, Group, JobKey};

use super::events::{Began, How, Seen, What};
use super::names::{Charge, Known, Names, POOL, Run};

type Tell<'a, 'l> = &'a mut Batch<'l, ()>;

impl Names {
    /// All that happened in one second.
    pub(super) fn play(
        &mut self,
        batch: Tell<'_, '_>,
        second: i64,
        facts: &[Seen],
    ) -> Result<(), Failed> {
        facts.iter().try_for_each(|fact| match fact {
            &Seen::End { id, how } => self.end(batch, second, id, how),
            &Seen::Gone { id } => self.gone(batch, id),
            &Seen::Anew { id } => self.cancel(batch, id),
            Seen::Start { id, began, what } => self.start(batch, second, *id, *began, what),
            Seen::Wants { id, tasks, what } => self.bring_to(batch, second, *id, *tasks, what),
        })
    }

    fn end(&mut self, batch: Tell<'_, '_>, second: i64, id: u32, how: How) -> Result<(), Failed> {
        let Some(known) = self.known.get_mut(&id) else { return Ok(()) };
        let Some(run) = known.run.take() else { return Ok(()) };
        let told = match how {
            How::PutBack => {
                (known.charged, known.waits) = (0, 1);
                batch.apply(&Fact::task_lost(run.task, Some("Slurm put it back")))
            }
            How::Over | How::Paused => {
                known.charged += (second - run.since).max(0);
                known.key = None;
                batch.apply(&Fact::task_ended(run.task))
            }
        };
        let what = known.what.clone();
        self.note(|| format!("the end of job {id}"), told)?;
        match how {
            // What goes on waits under a key that says what is charged already.
            How::Paused => self.bring_to(batch, second, id, 1, &what),
            How::Over | How::PutBack => {
                let (is_exact, seen) = (run.start.is_some(), self.looked);
                let charge = Charge { end: second, seen, is_exact, paused_after: None };
                self.close(id, run.start.unwrap_or(run.since), charge);
                Ok(())
            }
        }
    }

    fn gone(&mut self, batch: Tell<'_, '_>, id: u32) -> Result<(), Failed> {
        self.lose_sight(id);
        self.cancel(batch, id)?;
        self.known.remove(&id);
        Ok(())
    }

    /// Nothing of the record waits any more; one that runs goes on.
    fn cancel(&mut self, batch: Tell<'_, '_>, id: u32) -> Result<(), Failed> {
        let Some(known) = self.known.get_mut(&id).filter(|known| known.run.is_none()) else {
            return Ok(());
        };
        known.waits = 0;
        let Some(key) = known.key.take() else { return Ok(()) };
        let told = batch.apply(&Fact::job_cancelled(key));
        self.note(|| format!("job {id}, which is gone"), told).map(drop)
    }

    fn start(
        &mut self,
        batch: Tell<'_, '_>,
        second: i64,
        id: u32,
        began: Began,
        what: &What,
    ) -> Result<(), Failed> {
        let is_so =
            self.known.get(&id).is_some_and(|known| known.waits == 1 && known.what.is_alike(what));
        if !is_so {
            self.bring_to(batch, second, id, 0, what)?;
            self.bring_to(batch, second, id, 1, what)?;
        }
        let Some(key) = self.known.get(&id).and_then(|known| known.key.clone()) else {
            return Ok(());
        };
        let since_time = self.time(began.since).min(batch.now());
        let by = began.by().as_str().into();
        let adopted = Fact::task_adopted(key, 0, POOL, since_time, Some(by));
        let adopted = self.note(|| format!("the start of job {id}"), batch.apply(&adopted))?;
        let adopted = adopted.and_then(|applied| applied.adopted);
        if let (Some(task), Some(known)) = (adopted, self.known.get_mut(&id)) {
            known.waits = 0;
            known.what.name.clone_from(&what.name);
            let since = began.since.max(self.epoch);
            known.run = Some(Run { task, start: Some(began.start), since });
        }
        Ok(())
    }

    /// So many tasks of the record wait from now on, of that leaf and demand.
    fn bring_to(
        &mut self,
        batch: Tell<'_, '_>,
        second: i64,
        id: u32,
        tasks: u32,
        what: &What,
    ) -> Result<(), Failed> {
        let known = self.known.entry(id).or_insert_with(|| Known::new(what));
        let is_same = known.what.is_alike(what);
        if is_same && tasks > 0 && known.waits >= tasks {
            return self.withdraw(batch, id, tasks);
        }
        self.cancel(batch, id)?;
        let Some(known) = self.known.get_mut(&id) else { return Ok(()) };
        known.what.clone_from(what);
        if tasks == 0 {
            return Ok(());
        }
        let charged = match known.charged {
            0 => String::new(),
            seconds => format!("+{seconds}"),
        };
        let key: JobKey = format!("{id}@{second}{charged}").as_str().into();
        let demand = Amounts::of(&what.tres, &self.kinds);
        let group = Group { tasks, demand, ..Group::default() };
        let mut arrival = Arrival::new(what.queue.as_str().into(), key.clone(), vec![group]);
        arrival.name = Some(what.name.as_str().into());
        let told = batch.apply(&Fact::job_arrived(arrival));
        let came = self.note(|| format!("job {}", what.name), told)?.is_some();
        if let (true, Some(known)) = (came, self.known.get_mut(&id)) {
            (known.key, known.waits) = (Some(key), tasks);
        }
        Ok(())
    }

    /// The last of them wait no more, until so many are left.
    fn withdraw(&mut self, batch: Tell<'_, '_>, id: u32, left: u32) -> Result<(), Failed> {
        let Some(known) = self.known.get_mut(&id) else { return Ok(()) };
        let (from, Some(key)) = (known.waits, known.key.clone()) else { return Ok(()) };
        known.waits = left;
        for task in (left..from).rev() {
            let told = batch.apply(&Fact::task_withdrawn(key.clone(), task, None));
            self.note(|| format!("an element of job {id}"), told)?;
        }
        Ok(())
    }
}

/// For how many seconds the run of a key was charged before it was suspended.
pub(super) fn charged_of(key: &str) -> i64 {
    key.split_once('+').and_then(|(_, seconds)| seconds.parse().ok()).unwrap_or(0)
}

/// The second in which a record was told under this key: of a run that is suspended, when it was.
pub(super) fn told_of(key: &str) -> Option<i64> {
    key.split_once('@')?.1.split('+').next()?.parse().ok()
}
