//! First come, first served: who does not fit lets nobody pass.

use super::{Job, Pool, Rule, play};

/// When each job starts.
pub(crate) fn fcfs(processors: u64, jobs: &[Job]) -> Vec<u64> {
    play(processors, jobs, &mut Fcfs)
}

struct Fcfs;

impl Rule for Fcfs {
    fn starts(&mut self, pool: &Pool<'_>) -> Vec<usize> {
        let mut free = pool.free();
        let fits = |job: &&usize| match free.checked_sub(pool.jobs[**job].processors) {
            Some(left) => {
                free = left;
                true
            }
            None => false,
        };
        pool.waiting.iter().take_while(fits).copied().collect()
    }
}
