//! Containers start and end.

use std::collections::BTreeMap;
use std::ops::Range;

use meed::Resources;
use meed_driver::Failed;
use meed_driver::live::Batch;
use meed_journal::{Amounts, Arrival, Fact, Group, JobKey};

use super::{App, Core, CoreError, Names, Runs, UNITS};
use crate::message::{ContainerEvent, ContainerStarted};
use crate::settings::engine_name;

impl ContainerEvent {
    fn at(&self) -> u64 {
        match self {
            ContainerEvent::Start(started) => started.since,
            ContainerEvent::End { at, .. } => *at,
        }
    }
}

impl Core {
    /// What happened to containers. Those of one millisecond are told at one instant, ends first.
    pub(super) fn events(&mut self, events: &[ContainerEvent]) -> Result<(), CoreError> {
        let mut events: Vec<&ContainerEvent> = events.iter().collect();
        events.sort_by_key(|event| event.at());
        for same in events.chunk_by(|one, other| one.at() == other.at()) {
            // One that ended in the millisecond in which it began has held nothing.
            let (ends, starts): (Vec<&ContainerEvent>, Vec<&ContainerEvent>) =
                same.iter().partition(|event| matches!(event, ContainerEvent::End { .. }));
            self.at(same[0].at(), |names, batch| {
                ends.iter().chain(&starts).chain(&ends).try_for_each(|event| match event {
                    ContainerEvent::Start(started) => names.started(batch, started),
                    ContainerEvent::End { id, .. } => names.ended(batch, id),
                })
            })?;
        }
        Ok(())
    }
}

impl Names {
    /// A container that runs.
    fn started(
        &mut self,
        batch: &mut Batch<'_, ()>,
        started: &ContainerStarted,
    ) -> Result<(), Failed> {
        let size = (started.memory, started.cores);
        let mut since = self.time(started.since);
        if let Some(known) = self.containers.get(&started.id) {
            // Told twice, as after a reservation; or its size was changed while it ran.
            if (known.memory, known.cores) == size {
                return Ok(());
            }
            self.ended(batch, &started.id)?;
            // What it held until now is charged.
            since = batch.now();
        }
        // What ran before this ledger was opened is charged from where the last one ended.
        let since = since.max(self.through).min(batch.now());
        let Some((app, job)) = self.job_for(batch, &started.app, &started.queue)? else {
            return Ok(());
        };
        let Some(task) = self.take_waiting(batch, app, size)? else { return Ok(()) };
        let node = started.node.as_str();
        let adopted = Fact::task_adopted(job, task, node, since, Some(self.by.clone()));
        let adopted = batch.apply(&adopted);
        let adopted = self.note(format_args!("container {}", started.id), adopted)?;
        let Some(task) = adopted.and_then(|applied| applied.adopted) else { return Ok(()) };
        if let Some(row) = self.touch(app) {
            row.held = [row.held[0] + size.0, row.held[1] + size.1];
        }
        let node = started.node.clone();
        let runs = Runs { app, task, memory: size.0, cores: size.1, node };
        self.containers.insert(&started.id, runs);
        Ok(())
    }

    /// Of one that is not known nothing was charged: a reservation, or it began and ended while
    /// nobody looked.
    pub(super) fn ended(&mut self, batch: &mut Batch<'_, ()>, id: &str) -> Result<(), Failed> {
        let Some(runs) = self.containers.remove(id) else { return Ok(()) };
        if let Some(row) = self.touch(runs.app) {
            row.held = [row.held[0] - runs.memory, row.held[1] - runs.cores];
        }
        let ended = batch.apply(&Fact::task_ended(runs.task));
        self.note(format_args!("container {id}"), ended).map(drop)
    }

    /// Puts right what differs from these, which are all that run.
    pub(super) fn compare(
        &mut self,
        batch: &mut Batch<'_, ()>,
        running: &[ContainerStarted],
    ) -> Result<(), Failed> {
        let there: BTreeMap<&str, &ContainerStarted> =
            running.iter().map(|started| (started.id.as_str(), started)).collect();
        for id in self.containers.names(|id, _| !there.contains_key(id)) {
            self.oddities.missed += 1;
            self.ended(batch, &id)?;
        }
        for started in running {
            let known = self.containers.get(&started.id);
            let size = (started.memory, started.cores);
            if known.is_none_or(|known| (known.memory, known.cores) != size) {
                self.oddities.missed += 1;
                self.started(batch, started)?;
            }
        }
        Ok(())
    }

    /// Containers on a node that is no more have ended.
    pub(super) fn forget_on(
        &mut self,
        batch: &mut Batch<'_, ()>,
        node: &str,
    ) -> Result<(), Failed> {
        let ids = self.containers.names(|_, runs| runs.node == node);
        ids.iter().try_for_each(|id| self.ended(batch, id))
    }

    pub(super) fn containers_of(&self, app: usize) -> Vec<String> {
        self.containers.names(|_, runs| runs.app == app)
    }

    /// The place of an application, and its job. It arrives when it is first heard of, and again
    /// when it has moved to another queue: what it used stays with the queue where it used it.
    pub(super) fn job_for(
        &mut self,
        batch: &mut Batch<'_, ()>,
        app: &str,
        queue: &str,
    ) -> Result<Option<(usize, JobKey)>, Failed> {
        let queue = engine_name(queue);
        let place = self.apps.place(app);
        if let Some(place) = place
            && let Some(known) = self.apps.at(place)
            && known.queue == queue
        {
            return Ok(known.job.clone().map(|job| (place, job)));
        }
        let mut key: JobKey = app.into();
        if let Some(place) = place {
            for id in self.containers_of(place) {
                self.ended(batch, &id)?;
            }
            self.close(batch, place)?;
            key = format!("{app}/{}", batch.now().as_micros()).as_str().into();
        }
        let mut arrival = Arrival::new(queue.into(), key.clone(), Vec::new());
        arrival.open = true;
        let told = batch.apply(&Fact::job_arrived(arrival));
        if self.note(format_args!("application {app}"), told)?.is_none() {
            return Ok(None);
        }
        self.leave(place);
        let row = App {
            name: app.to_owned(),
            job: Some(key.clone()),
            queue: queue.to_owned(),
            leaf: batch.find_queue(queue),
            ..App::default()
        };
        let place = self.apps.put(row);
        self.touch(place);
        Ok(Some((place, key)))
    }

    /// A task that waits of that size; one is added where none does.
    fn take_waiting(
        &mut self,
        batch: &mut Batch<'_, ()>,
        app: usize,
        size: (u64, u64),
    ) -> Result<Option<u32>, Failed> {
        if let Some(task) = self.apps.at_mut(app).and_then(|app| app.pop_waiting(size)) {
            return Ok(Some(task));
        }
        let added = self.add_tasks(batch, app, size, 1)?;
        Ok(added.map(|tasks| tasks.start))
    }

    /// An application asks for so many more of that size.
    pub(super) fn add_tasks(
        &mut self,
        batch: &mut Batch<'_, ()>,
        app: usize,
        size: (u64, u64),
        count: u32,
    ) -> Result<Option<Range<u32>>, Failed> {
        let known = self.apps.at(app).and_then(|app| Some((app.job.clone()?, app.tasks)));
        let Some((job, first)) = known else { return Ok(None) };
        let demand = Resources::new(&[size.0 * UNITS[0], size.1 * UNITS[1]]);
        let demand = Amounts::of(&demand, &self.kinds);
        let groups = vec![Group { tasks: count, demand, ..Group::default() }];
        let told = batch.apply(&Fact::tasks_added(job, groups, true));
        if self.note_of(app, told)?.is_none() {
            return Ok(None);
        }
        if let Some(app) = self.touch(app) {
            app.tasks += count;
        }
        Ok(Some(first..first + count))
    }
}
