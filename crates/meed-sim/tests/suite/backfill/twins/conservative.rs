//! Conservative backfilling: every job that waits has a reservation.
//!
//! A job is given, on arrival, the earliest instant at which it fits for its whole estimated length
//! among what runs (by estimates) and all reservations made before. *Compression*: the waiting
//! jobs, in order of arrival, one after the other: the job's reservation is taken out, and it is
//! put at the earliest instant at which it fits among what runs and all other reservations, earlier
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
        let mut profile = Profile::of(pool, &self.reserved);
        if match self.compression {
            Compression::EarlyEnds => pool.ended_early,
            Compression::EveryEnd => pool.ended,
            Compression::EveryInstant => true,
        } {
            for (&job, at) in &mut self.reserved {
                let before = *at;
                profile.take_out(&pool.jobs[job], before);
                *at = profile.put(&pool.jobs[job]);
                assert!(*at <= before, "job {job} moves later");
            }
        }
        // Numbers follow arrivals, and every job has its promise on arrival.
        let new = self.promised.len();
        for &job in pool.waiting.iter().filter(|job| **job >= new) {
            let at = profile.put(&pool.jobs[job]);
            self.reserved.insert(job, at);
            self.promised.push(at);
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

/// Free processors from now on: the changes of their number, each with its time, in order of time.
/// Before now there are none.
struct Profile(Vec<(u64, i64)>);

impl Profile {
    fn of(pool: &Pool<'_>, reserved: &BTreeMap<usize, u64>) -> Profile {
        let mut changes = vec![(pool.now, pool.free() as i64)];
        for job in &pool.running {
            changes.push((job.estimated_end, job.processors as i64));
        }
        for (&job, &at) in reserved {
            changes.extend(room(&pool.jobs[job], at));
        }
        changes.sort_unstable();
        Profile(changes)
    }

    /// Puts the job where it fits first.
    fn put(&mut self, job: &Job) -> u64 {
        let at = self.earliest(job.processors as i64, job.estimate);
        for change in room(job, at) {
            self.0.insert(self.0.partition_point(|other| *other < change), change);
        }
        at
    }

    fn take_out(&mut self, job: &Job, at: u64) {
        for change in room(job, at) {
            self.0.remove(self.0.binary_search(&change).expect("it was put in"));
        }
    }

    /// The first time from which on so many processors are free for so long.
    fn earliest(&self, processors: i64, length: u64) -> u64 {
        let mut start = self.0[0].0;
        let mut free = 0;
        for (number, &(time, change)) in self.0.iter().enumerate() {
            if time >= start + length {
                break;
            }
            free += change;
            let next = self.0.get(number + 1).map(|next| next.0);
            // Several changes may have one time: only all of them say what is free from then on.
            if next == Some(time) {
                continue;
            }
            assert!(free >= 0, "more is promised than there is");
            if free < processors {
                start = next.expect("at last all are free");
            }
        }
        start
    }
}

/// What a job changes that starts then.
fn room(job: &Job, at: u64) -> [(u64, i64); 2] {
    let processors = job.processors as i64;
    [(at, -processors), (at + job.estimate, processors)]
}
