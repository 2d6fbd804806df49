//! EASY backfilling: only the first job that does not fit has a reservation.
//!
//! Its *shadow time* is the earliest instant at which enough processors will be free, going by
//! estimates; those that will be free then beyond what it needs are the *extra* processors. A later
//! job may start if it fits now, and either ends by its estimate no later than the shadow time, or
//! uses no more than the extra processors, which it then uses up.

use super::{Job, Pool, Rule, Running, play};

/// When each job starts, and the first shadow time of those that were ever first and did not fit.
pub(crate) struct Easy {
    pub(crate) starts: Vec<u64>,
    pub(crate) promised: Vec<Option<u64>>,
}

pub(crate) fn easy(processors: u64, jobs: &[Job]) -> Easy {
    let mut rule = Decides { promised: vec![None; jobs.len()] };
    let starts = play(processors, jobs, &mut rule);
    Easy { starts, promised: rule.promised }
}

struct Decides {
    promised: Vec<Option<u64>>,
}

impl Rule for Decides {
    fn starts(&mut self, pool: &Pool<'_>) -> Vec<usize> {
        let mut starts = Vec::new();
        let mut free = pool.free();
        let mut running = pool.running.clone();
        let mut queue = pool.waiting.iter().copied().peekable();
        while let Some(job) = queue.next_if(|&job| pool.jobs[job].processors <= free) {
            free -= pool.jobs[job].processors;
            running.push(pool.started(job));
            starts.push(job);
        }
        let Some(head) = queue.next() else { return starts };
        let (shadow, mut extra) = shadow(pool.jobs[head].processors, free, running);
        self.promised[head].get_or_insert(shadow);
        for job in queue {
            let Job { processors, estimate, .. } = pool.jobs[job];
            if processors > free {
                continue;
            }
            if pool.now + estimate > shadow {
                if processors > extra {
                    continue;
                }
                extra -= processors;
            }
            free -= processors;
            starts.push(job);
        }
        starts
    }
}

/// The shadow time of a job that needs so many processors, and the extra processors.
fn shadow(needed: u64, free: u64, mut running: Vec<Running>) -> (u64, u64) {
    running.sort_by_key(|job| job.estimated_end);
    let free_at = |at: u64| -> u64 {
        let gone = running.iter().filter(|job| job.estimated_end <= at);
        free + gone.map(|job| job.processors).sum::<u64>()
    };
    let ends = running.iter().map(|job| job.estimated_end);
    let enough = ends.map(|at| (at, free_at(at))).find(|(_, free)| *free >= needed);
    let (at, free) = enough.expect("it fits when all have ended");
    (at, free - needed)
}
