//! Parts of keys ([`KeyParts`]), and what may change them without a word.

use super::core::Core;
use super::key_parts::KeyParts;
use super::view::View;
use crate::ids::{JobId, QueueId};
use crate::resources::Resources;
use crate::time::Span;

impl Core {
    /// See [`Engine::key_parts`](crate::Engine::key_parts).
    pub(super) fn key_parts(&mut self, queue: QueueId) -> Option<KeyParts> {
        let queue = self.row(queue);
        self.tree[queue].parent()?;
        Some(self.books.parts(self.now, queue))
    }

    /// See [`Engine::job_key_parts`](crate::Engine::job_key_parts).
    pub(super) fn job_key_parts(&mut self, job: JobId) -> Option<KeyParts> {
        self.work.job(job)?;
        Some(self.books.parts_of_job(self.now, job))
    }

    /// See [`Engine::guard_parts`](crate::Engine::guard_parts).
    pub(super) fn guard_parts(&mut self, leaf: QueueId) -> Option<KeyParts> {
        let leaf = self.row(leaf);
        let quantum = self.books.quantum(leaf).unwrap_or(Span::ZERO);
        Some(self.guard.as_mut()?.parts(self.now, leaf, quantum))
    }
}

impl<'a> View<'a> {
    /// What the starvation guard holds a leaf entitled to, as a fraction in lowest terms (a part,
    /// and what it is a part of): the product over the path of w over the sum of w of the queue and
    /// its siblings, but for the sum below the root, which all leaves share. Integers of any
    /// length, big-endian; it changes with [`View::sweeps`]. `None` where there is no guard.
    pub fn entitlement(self, leaf: QueueId) -> Option<(Vec<u8>, Vec<u8>)> {
        let (part, whole) = self.core.guard.as_ref()?.entitlement(self.core.row(leaf));
        Some((part.to_bytes_be(), whole.to_bytes_be()))
    }

    /// How often all keys may have changed at once: a round has begun, a landmark of the half-life
    /// has moved, shares were given out (weights, queues, nodes). It counts from when the engine
    /// was made or restored.
    pub fn sweeps(self) -> u64 {
        self.core.sweeps
    }

    /// How often quanta that learn may have changed by themselves: averages were taken. It
    /// counts from when the engine was made or restored.
    pub fn refreshes(self) -> u64 {
        self.core.refreshes
    }

    /// The count of [`View::refreshes`] at which what runs below a queue was last charged by
    /// other quanta than before; 0 where that has not happened since the engine was made.
    pub fn recharged(self, queue: QueueId) -> u64 {
        self.core.recharged.get(self.core.row(queue).index()).copied().unwrap_or(0)
    }

    /// [`KeyParts::quantum`] of `queue`. Where it is as it was, nothing was told of the queue,
    /// nothing of it has outrun its quantum ([`KeyParts::turns`]), and [`View::recharged`] and
    /// [`View::sweeps`] are as they were, its [`KeyParts`] are as they were, but for the amounts,
    /// which are on their line.
    pub fn key_quantum(self, queue: QueueId) -> Span {
        self.core.books.key_quantum(self.core.now, self.core.row(queue))
    }

    /// The same of a job; `None` where it is no more.
    pub fn job_key_quantum(self, job: JobId) -> Option<Span> {
        self.core.work.job(job)?;
        Some(self.core.books.job_key_quantum(self.core.now, job))
    }

    /// The same of what the guard compares of a leaf; `None` where there is no guard.
    pub fn guard_quantum(self, leaf: QueueId) -> Option<Span> {
        let leaf = self.core.row(leaf);
        let quantum = self.core.books.quantum(leaf).unwrap_or(Span::ZERO);
        Some(self.core.guard.as_ref()?.quantum(self.core.now, quantum))
    }

    /// How long a leaf waits until the guard serves it, where there is one.
    pub fn t_wait(self) -> Option<Span> {
        self.core.guard.as_ref().map(super::guard::Guard::t_wait)
    }
}

/// What such a world must know of a job after it was opened again.
impl<'a> View<'a> {
    /// How many tasks a job has been given so far: the next is numbered so; 0 where it is no more.
    pub fn tasks_of(self, job: JobId) -> u32 {
        self.core.work.job(job).map_or(0, super::work::Job::tasks)
    }

    /// The numbers of a job's waiting tasks, with what each holds while it runs. O(tasks).
    pub fn waiting_of(self, job: JobId) -> Vec<(u32, Resources)> {
        let Some(found) = self.core.work.job(job) else { return Vec::new() };
        let mut all = Vec::new();
        for &slot in found.groups() {
            let group = self.core.work.group(slot);
            let demand = *self.core.room.demand(group.shape);
            all.extend(
                group.numbers().filter(|&task| group.waits(task)).map(|task| (task, demand)),
            );
        }
        all.sort_unstable_by_key(|&(task, _)| task);
        all
    }
}
