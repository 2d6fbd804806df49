//! Live jobs and running tasks by their keys, for worlds that hear of them by name.
//!
//! A table holds a handle and half a hash of its key; the key itself stands in the row that the
//! handle leads to, and whoever looks for it reads that row anyway. Nothing is ever read in the
//! order of a table, and its hashes are the same in every run.
//!
//! Invariant: a job is in it as long as it lives, a task as long as it runs. Cost: a line of memory
//! or two for each look, where a tree by key is five.

use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::HashTable;
use meed::{AllocationId, JobId};
use meed_journal::JobKey;

use crate::rows::{LiveJob, Rows, Task};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    jobs: HashTable<Entry<JobId>>,
    tasks: HashTable<Entry<AllocationId>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry<H> {
    hash: u32,
    handle: H,
}

impl Index {
    /// Of nothing yet, with room for so many.
    pub(crate) fn with_room_for(jobs: usize, tasks: usize) -> Index {
        Index { jobs: HashTable::with_capacity(jobs), tasks: HashTable::with_capacity(tasks) }
    }

    pub(crate) fn add_job(&mut self, key: &JobKey, job: JobId) {
        add(&mut self.jobs, hash_of_job(key), job);
    }

    pub(crate) fn drop_job(&mut self, key: &JobKey, job: JobId) {
        drop_from(&mut self.jobs, hash_of_job(key), job);
    }

    /// The live job of that key; `jobs` are the rows of all.
    pub(crate) fn job<J>(&self, key: &JobKey, jobs: &Rows<LiveJob<J>>) -> Option<JobId> {
        let is_it = |job: JobId| jobs.get(job.slot()).is_some_and(|row| row.key == *key);
        find(&self.jobs, hash_of_job(key), is_it)
    }

    pub(crate) fn add_task(&mut self, key: &JobKey, number: u32, task: AllocationId) {
        add(&mut self.tasks, hash_of_task(key, number), task);
    }

    pub(crate) fn drop_task(&mut self, key: &JobKey, number: u32, task: AllocationId) {
        drop_from(&mut self.tasks, hash_of_task(key, number), task);
    }

    /// The running task of that job and number; `jobs` and `tasks` are the rows of all.
    pub(crate) fn task<J>(
        &self,
        (key, number): (&JobKey, u32),
        jobs: &Rows<LiveJob<J>>,
        tasks: &Rows<Task>,
    ) -> Option<AllocationId> {
        let of_job = |job: JobId| jobs.get(job.slot()).is_some_and(|row| row.key == *key);
        let is_it = |task: AllocationId| {
            tasks.get(task.slot()).is_some_and(|row| row.task == number && of_job(row.job))
        };
        find(&self.tasks, hash_of_task(key, number), is_it)
    }
}

fn hash_of_job(key: &JobKey) -> u32 {
    // Its keys are fixed, unlike those that a map of std draws for itself.
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish() as u32
}

fn hash_of_task(key: &JobKey, number: u32) -> u32 {
    let mut hasher = DefaultHasher::new();
    (key, number).hash(&mut hasher);
    hasher.finish() as u32
}

/// The table goes by the first and the last bits of 64.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn add<H>(table: &mut HashTable<Entry<H>>, hash: u32, handle: H) {
    table.insert_unique(spread(hash), Entry { hash, handle }, |entry| spread(entry.hash));
}

fn drop_from<H: PartialEq>(table: &mut HashTable<Entry<H>>, hash: u32, handle: H) {
    if let Ok(found) = table.find_entry(spread(hash), |entry| entry.handle == handle) {
        found.remove();
    }
}

fn find<H: Copy>(table: &HashTable<Entry<H>>, hash: u32, is_it: impl Fn(H) -> bool) -> Option<H> {
    let found = table.find(spread(hash), |entry| entry.hash == hash && is_it(entry.handle));
    found.map(|entry| entry.handle)
}
