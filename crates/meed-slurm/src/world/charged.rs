//! Which runs are charged, from the journal: what accounting tells later of a run that nobody saw
//! is told from what is charged already, over restarts too.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use meed_journal::{Fact, JobKey, Record, TaskKey};
use meed_store::{Seq, Store, StoreError};

use super::events::Began;
use super::names::{Charge, Charges, Names, close};
use super::pieces::{charged_of, told_of};
use super::turn::number_of;

/// Who started a run, for readers of the journal, and when, where that is not its time.
const BY: &str = "slurm";

/// So many records before the end the reading begins, and so many times as many next, until it
/// begins early enough.
const FIRST: u64 = 1024;
const MORE: u64 = 8;

impl Began {
    /// As the journal has it: `slurm`, `slurm@START` or `slurm@START-END`.
    pub(super) fn by(self) -> String {
        match (self.start == self.since, self.over) {
            (_, Some(end)) => format!("{BY}@{}-{end}", self.start),
            (false, None) => format!("{BY}@{}", self.start),
            (true, None) => BY.to_owned(),
        }
    }

    /// The same, of a run that is charged since then; `None`: the start is not known.
    fn told(by: &str, since: i64) -> Option<Began> {
        let Some(times) = by.strip_prefix(BY)?.strip_prefix('@') else {
            return Some(Began { start: since, since, over: None });
        };
        let (start, end) = match times.split_once('-') {
            Some((start, end)) => (start, Some(end.parse().ok()?)),
            None => (times, None),
        };
        Some(Began { start: start.parse().ok()?, since, over: end })
    }
}

impl Names {
    /// A record is gone, or begins anew, while its run is suspended as far as the ledger knows:
    /// accounting may tell that the run went on.
    pub(super) fn lose_sight(&mut self, id: u32) {
        let Some(known) = self.known.get(&id) else { return };
        if let Some(paused) = known.paused() {
            self.charged.insert((id, paused), self.open_since(paused, known.charged));
        }
    }

    /// A run that was suspended then, after it was charged for so many seconds.
    fn open_since(&self, paused: i64, charged: i64) -> Charge {
        Charge { end: paused, seen: self.looked, is_exact: false, paused_after: Some(charged) }
    }

    /// The runs that ended after the second `floor` and are charged.
    pub(super) fn charges(&self, store: &dyn Store, floor: i64) -> Result<Charges, StoreError> {
        let mut charges = Charges::new();
        let mut running: BTreeMap<TaskKey, Began> = BTreeMap::new();
        // Runs that went on after they were suspended, and whose end is told.
        let mut went_on: BTreeSet<JobKey> = BTreeSet::new();
        let Some(from) = self.first_after(store, floor)? else { return Ok(charges) };
        store.read(from, &mut |_, line| {
            let Ok(record) = Record::decode(line) else { return ControlFlow::Continue(()) };
            let second = self.second(record.t);
            match &record.fact {
                Fact::TaskStarted(started) => {
                    let since = started.since.map_or(second, |since| self.second(since));
                    let by = started.by.as_ref().map_or("", |by| by.as_str());
                    if let Some(began) = Began::told(by, since) {
                        running.insert(started.key(), began);
                    }
                }
                Fact::TaskEnded(task) | Fact::TaskLost(task) if second > floor => {
                    let Some(id) = number_of(&task.job.to_string()) else {
                        return ControlFlow::Continue(());
                    };
                    went_on.insert(task.job.clone());
                    // What began before these records ran in the second before them.
                    let began = running.remove(&task.key());
                    let start = began.map_or(floor, |began| began.start);
                    let end = began.and_then(|began| began.over).unwrap_or(second);
                    let (seen, is_exact) = (self.looked, began.is_some());
                    let charge = Charge { end, seen, is_exact, paused_after: None };
                    charges.remove(&(id, start));
                    close(&mut charges, id, start, charge);
                }
                Fact::JobCancelled(cancelled) => {
                    let job = cancelled.job.as_ref().filter(|job| !went_on.contains(job));
                    let key = job.map(ToString::to_string).unwrap_or_default();
                    let (told, charged) = (number_of(&key).zip(told_of(&key)), charged_of(&key));
                    if let Some((id, at)) = told.filter(|_| charged > 0) {
                        charges.insert((id, at), self.open_since(at, charged));
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        Ok(charges)
    }

    /// A record before which nothing is later than the second `floor`, near the first later one;
    /// `None`: there are no records.
    fn first_after(&self, store: &dyn Store, floor: i64) -> Result<Option<Seq>, StoreError> {
        let (first, last) = (store.first(), store.durable());
        if last < first || last == Seq::ZERO {
            return Ok(None);
        }
        let mut back = FIRST;
        loop {
            let from = Seq::new(last.get().saturating_sub(back)).max(first);
            let mut second = i64::MAX;
            store.read(from, &mut |_, line| {
                // A record of a later version may be of any time.
                let record = Record::decode(line);
                second = record.map_or(i64::MAX, |record| self.second(record.t));
                ControlFlow::Break(())
            })?;
            if second <= floor || from == first {
                return Ok(Some(from));
            }
            back = back.saturating_mul(MORE);
        }
    }
}
