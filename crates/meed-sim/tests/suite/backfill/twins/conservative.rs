//! Conservative backfilling: every job that waits has a reservation.
//!
//! A job is given, on arrival, the earliest instant at which it fits for its whole estimated length
//! among what runs (by estimates) and all reservations made before. *Compression*: the waiting
//! jobs, in order of arrival, one after the other: the job's reservation is taken out, and it is put
//! at the earliest instant at which it fits among what runs and all other reservations, earlier
//! jobs' as already moved, later ones' where they are. So none moves to a later instant.
//!
//! One pass may leave a job where nothing holds it any more, because a later job moved out of its
//! way after it. Its instant then comes without an end or an arrival.

use std::collections::BTreeMap;

use super::{Job, Pool, Rule, play};

/// When the schedule is compressed: once at such an instant, before its arrivals have reservations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compression {
    /// When a job has ended before its estimate said.
    EarlyEnds,
    /// When a job has ended.
    EveryEnd,
    /// Whenever anything is decided.
    EveryInstant,
}

/// When each job starts, and what it was promised on arrival.
pub(crate) struct Conservative {
    pub(crate) starts: Vec<u64>,
    pub(crate) promised: Vec<u64>,
    /// How many instants came only because of a reservation: nothing ended, and nothing arrived.
    pub(crate) lone_instants: usize,
}

pub(crate) fn conservative(
    processors: u64,
    jobs: &[Job],
    compression: Compression,
) -> Conservative {
    let (reserved, promised) = (BTreeMap::new(), Vec::new());
    let mut rule = Decides { compression, reserved, promised, lone_instants: 0 };
    let starts = play(processors, jobs, &mut rule);
    Conservative { starts, promised: rule.promised, lone_instants: rule.lone_instants }
}

struct Decides {
    compression: Compression,
    /// When each job that waits will start.
    reserved: BTreeMap<usize, u64>,
    promised: Vec<u64>,
    lone_instants: usize,
}

impl Rule for Decides {
    fn starts(&mut self, pool: &Pool<'_>) -> Vec<usize> {
        if match self.compression {
            Compression::EarlyEnds => pool.ended_early,
            Compression::EveryEnd => pool.ended,
            Compression::EveryInstant => true,
        } {
            self.compress(pool);
        }
        // Numbers follow arrivals, and every job has its promise on arrival.
        let new = self.promised.len();
        for &job in pool.waiting.iter().filter(|job| **job >= new) {
            self.reserve(pool, job);
            self.promised.push(self.reserved[&job]);
        }
        self.lone_instants += usize::from(!pool.ended && self.promised.len() == new);
        let due = self.reserved.iter().filter(|(_, at)| **at == pool.now);
        let starts: Vec<usize> = due.map(|(job, _)| *job).collect();
        self.reserved.retain(|_, at| *at != pool.now);
        starts
    }

    fn wakes(&self) -> Option<u64> {
        self.reserved.values().min().copied()
    }
}

impl Decides {
    fn compress(&mut self, pool: &Pool<'_>) {
        for job in self.reserved.keys().copied().collect::<Vec<_>>() {
            let before = self.reserved.remove(&job);
            self.reserve(pool, job);
            assert!(before.is_some_and(|before| self.reserved[&job] <= before), "moved later");
        }
    }

    /// Puts the job where it fits first.
    fn reserve(&mut self, pool: &Pool<'_>, job: usize) {
        let Job { processors, estimate, .. } = pool.jobs[job];
        let at = earliest(&self.profile(pool), processors, estimate);
        self.reserved.insert(job, at);
    }

    /// Free processors from now on: from each time, until the next, so many.
    fn profile(&self, pool: &Pool<'_>) -> Vec<(u64, i64)> {
        let mut changes = vec![(pool.now, pool.processors as i64)];
        let mut hold = |from: u64, to: u64, processors: u64| {
            changes.push((from, -(processors as i64)));
            changes.push((to, processors as i64));
        };
        for job in &pool.running {
            hold(pool.now, job.estimated_end, job.processors);
        }
        for (&job, &at) in &self.reserved {
            hold(at, at + pool.jobs[job].estimate, pool.jobs[job].processors);
        }
        changes.sort_unstable();
        let mut free = 0;
        let steps = changes.chunk_by(|one, next| one.0 == next.0).map(|at_once| {
            free += at_once.iter().map(|(_, change)| change).sum::<i64>();
            assert!(free >= 0, "more is promised than there is");
            (at_once[0].0, free)
        });
        steps.collect()
    }
}

/// The first time from which on so many processors are free for so long.
fn earliest(profile: &[(u64, i64)], processors: u64, length: u64) -> u64 {
    let mut start = profile[0].0;
    for (step, &(time, free)) in profile.iter().enumerate() {
        if time >= start + length {
            break;
        }
        if free < processors as i64 {
            start = profile.get(step + 1).expect("at last all are free").0;
        }
    }
    start
}
