//! Which page cache a node uses, and what phases of tasks do with it (`page_cache`).
//!
//! > capacity = memory - sum over the nodes that use it of slots x `task_memory`
//!
//! The cache of a node is its own, or its host's where the host has memory: what virtual machines
//! read goes through the host, and its memory is larger. What a phase reads or writes counts from
//! the phase's beginning on.
//!
//! | reads | of the file |
//! |---|---|
//! | a map its block | on the node that it is read from; nothing is kept where it is read |
//! | a reduce, from each node (`parallel_copies`) | what maps of its job have written there |
//! | a reduce what it merges | on its own node, which it wrote just before |
//!
//! Outputs of reduces are kept as well, wherever they are written, though no job here reads them.
//! What a job keeps for itself alone is deleted with it, what a reduce merges with that reduce.
//! A disk's work is what does not come from memory, and memory takes no time.

use meed_driver::record::mapreduce::PageCacheUse;

use super::cluster::Cluster;
use super::flows::Round;
use super::machines::Place;
use super::pages::{Cache, File, What};
use super::tasks::{Pages, Task, Work};

/// See the module.
pub(super) struct Caches {
    all: Vec<Cache>,
    /// The cache of each node.
    of: Vec<u32>,
    pub(super) used: PageCacheUse,
}

impl Caches {
    pub(super) fn new(cluster: &Cluster) -> Option<Caches> {
        if !cluster.as_hadoop.page_cache {
            return None;
        }
        // What each has, and what tasks hold of it.
        let hosts = cluster.hosts.iter().map(|host| (host.memory_bytes.unwrap_or(0), 0));
        let mut memory: Vec<(u64, u64)> = hosts.collect();
        let mut of = Vec::with_capacity(cluster.machines.len());
        for machine in &cluster.machines {
            let at = machine.hosts.memory.map_or(memory.len(), |host| host as usize);
            if at == memory.len() {
                memory.push((machine.memory_bytes.unwrap_or(0), 0));
            }
            memory[at].1 = memory[at].1.saturating_add(machine.task_bytes);
            of.push(at as u32);
        }
        let all = memory.into_iter().map(|(all, held)| Cache::new(all.saturating_sub(held)));
        Some(Caches { all: all.collect(), of, used: PageCacheUse::default() })
    }

    fn at(&mut self, node: u32) -> &mut Cache {
        &mut self.all[self.of[node as usize] as usize]
    }

    /// Of `bytes` that are read, so many come from the disk.
    fn count(&mut self, bytes: u64, from_disk: u64) -> u64 {
        let used = &mut self.used;
        used.read_bytes = used.read_bytes.saturating_add(bytes);
        used.memory_bytes = used.memory_bytes.saturating_add(bytes - from_disk);
        from_disk
    }

    /// What a phase has to do at the disk of `node`.
    pub(super) fn disk_work(&mut self, job: u32, node: u32, work: u64, pages: Pages) -> u64 {
        let file = |what| File { job, what, node };
        match pages {
            Pages::No => work,
            Pages::Write(what) => {
                self.at(node).write(file(what), work);
                work
            }
            Pages::Read(what) => {
                let from_disk = self.at(node).read(file(what), work);
                self.count(work, from_disk)
            }
        }
    }

    /// The shuffle of a reduce: less of what lies in memory.
    pub(super) fn fetched(&mut self, job: u32, rounds: &mut [Round]) {
        for (place, work) in rounds.iter_mut().flat_map(|round| &mut round.chains).flatten() {
            let Place::Disk(node) = *place else { continue };
            let file = File { job, what: What::Spills, node: node as u32 };
            let from_disk = self.at(file.node).read_part(file, *work);
            *work = self.count(*work, from_disk);
        }
    }

    /// The output of a reduce goes to several nodes.
    pub(super) fn written(&mut self, job: u32, task: u32, rounds: &[Round]) {
        for (place, work) in rounds.iter().flat_map(|round| &round.chains).flatten() {
            let Place::Disk(node) = *place else { continue };
            let file = File { job, what: What::Output(task), node: node as u32 };
            self.at(file.node).write(file, *work);
        }
    }

    /// An attempt has ended or was stopped: what it merged is deleted.
    pub(super) fn attempt_left(&mut self, task: &Task) {
        if matches!(task.work, Work::Reduce(_)) {
            let what = What::Merge(task.number);
            self.at(task.node).delete(File { job: task.job, what, node: task.node });
        }
    }

    /// A job has ended: what it left for itself alone is deleted.
    pub(super) fn job_left(&mut self, job: u32) {
        self.all.iter_mut().for_each(|cache| cache.job_ended(job));
    }
}
