//! What applications still ask for, and how they end.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use meed::Resources;
use meed_driver::Failed;
use meed_driver::live::Batch;
use meed_journal::{Amounts, Fact, Group};

use super::apps::App;
use super::{Names, UNITS};
use crate::message::Pending;

impl App {
    /// Tasks of that size wait.
    pub(super) fn push_waiting(&mut self, size: (u64, u64), tasks: Range<u32>) {
        let ranges = self.waiting.entry(size).or_default();
        match ranges.last_mut().filter(|last| last.end == tasks.start) {
            Some(last) => last.end = tasks.end,
            None => ranges.push(tasks),
        }
    }

    /// The first one of that size.
    pub(super) fn pop_waiting(&mut self, size: (u64, u64)) -> Option<u32> {
        let ranges = self.waiting.get_mut(&size)?;
        let first = ranges.first_mut()?;
        let task = first.start;
        first.start += 1;
        if first.start >= first.end {
            ranges.remove(0);
        }
        Some(task)
    }

    /// The last one of that size.
    fn pop_last(&mut self, size: (u64, u64)) -> Option<u32> {
        let ranges = self.waiting.get_mut(&size)?;
        let last = ranges.last_mut()?;
        last.end -= 1;
        let task = last.end;
        if last.start >= last.end {
            ranges.pop();
        }
        Some(task)
    }

    fn waits(&self, size: (u64, u64)) -> u32 {
        let ranges = self.waiting.get(&size).into_iter().flatten();
        ranges.map(|range| range.end - range.start).sum()
    }
}

impl Names {
    /// What applications ask for is brought to what is told.
    pub(super) fn ask(
        &mut self,
        batch: &mut Batch<'_, ()>,
        pending: &[Pending],
    ) -> Result<(), Failed> {
        for told in pending {
            let Some((app, _)) = self.job_for(batch, &told.app, &told.queue)? else { continue };
            let mut wanted: BTreeMap<(u64, u64), u32> = BTreeMap::new();
            for &(memory, cores, count) in &told.asks {
                *wanted.entry((memory, cores)).or_default() += count;
            }
            let known = self.apps.at(app).map(|app| app.waiting.keys().copied());
            let sizes: BTreeSet<_> =
                known.into_iter().flatten().chain(wanted.keys().copied()).collect();
            for size in sizes {
                let wanted = wanted.get(&size).copied().unwrap_or(0);
                self.bring_to(batch, app, size, wanted)?;
            }
        }
        Ok(())
    }

    fn bring_to(
        &mut self,
        batch: &mut Batch<'_, ()>,
        app: usize,
        size: (u64, u64),
        wanted: u32,
    ) -> Result<(), Failed> {
        let waits = self.apps.at(app).map_or(0, |app| app.waits(size));
        if wanted > waits {
            if let Some(tasks) = self.add_tasks(batch, app, size, wanted - waits)?
                && let Some(row) = self.apps.at_mut(app)
            {
                row.push_waiting(size, tasks);
            }
            return Ok(());
        }
        if wanted == waits {
            return Ok(());
        }
        let Some(row) = self.touch(app) else { return Ok(()) };
        let less: Vec<u32> = (wanted..waits).map_while(|_| row.pop_last(size)).collect();
        let Some(job) = row.job.clone() else { return Ok(()) };
        for task in less {
            let told = batch.apply(&Fact::task_withdrawn(job.clone(), task, None));
            self.note_of(app, told)?;
        }
        Ok(())
    }

    /// Applications that are over.
    pub(super) fn end_apps(
        &mut self,
        batch: &mut Batch<'_, ()>,
        gone: &[String],
    ) -> Result<(), Failed> {
        for app in gone {
            let Some(app) = self.apps.place(app) else { continue };
            for id in self.containers_of(app) {
                self.oddities.missed += 1;
                self.ended(batch, &id)?;
            }
            self.close(batch, app)?;
            self.forget(app);
        }
        Ok(())
    }

    /// The job of an application is done: nothing of it runs or waits any more.
    pub(super) fn close(&mut self, batch: &mut Batch<'_, ()>, app: usize) -> Result<(), Failed> {
        let sizes: Vec<_> = match self.apps.at(app) {
            Some(row) => row.waiting.keys().copied().collect(),
            None => return Ok(()),
        };
        for size in sizes {
            self.bring_to(batch, app, size, 0)?;
        }
        let Some(row) = self.touch(app) else { return Ok(()) };
        let (Some(job), last) = (row.job.take(), row.tasks) else { return Ok(()) };
        // An open job ends with its last task: one that is added closed, and withdrawn at once.
        let demand = Amounts::of(&Resources::new(&[UNITS[0], 0]), &self.kinds);
        let groups = vec![Group { tasks: 1, demand, ..Group::default() }];
        let closed = Fact::tasks_added(job.clone(), groups, false);
        let told = batch.apply_all(&[closed, Fact::task_withdrawn(job, last, None)]);
        self.note_of(app, told).map(drop)
    }

    /// As [`Names::note`], of the application in that place.
    pub(super) fn note_of<T>(
        &mut self,
        app: usize,
        told: Result<T, Failed>,
    ) -> Result<Option<T>, Failed> {
        match told {
            Ok(answer) => Ok(Some(answer)),
            Err(why) => {
                let name = self.apps.at(app).map_or("", |app| &app.name);
                self.note(format!("application {name}"), Err(why))
            }
        }
    }
}
