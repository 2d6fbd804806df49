//! What keys are made of, as integers: for worlds where another scheduler serves, and compares.
//!
//! > key = (amount + what was started since) / weight
//!
//! Such a world asks now and then, and counts itself what starts in between: each unit that starts
//! is charged the quantum at once, as the engine charges it. Nothing here decides; nothing is
//! rounded. Cost: O(kinds) for each child.
//!
//! Who asks again and again need not ask of all. Charges are kept in memory time (`ledger::clock`),
//! in which what is past fades for nobody, and in which each is a line until a task of the child
//! outruns its quantum:
//!
//! > amount = amount when it was read + rate * (memory time now - memory time then)
//!
//! to the unit, with a half-life and with a discount too. So the parts of a child are known until
//! something is told of it, or until [`KeyParts::turns`]. What else may change without a word,
//! [`View::refreshes`], [`View::recharged`], [`View::key_quantum`] and [`View::sweeps`]
//! tell, for less than the parts cost.

use super::core::Core;
use super::view::View;
use crate::ledger::{Charge, Clock};
use crate::policy::{Measure, Permille};
use crate::resources::{MAX_KINDS, Resources};
use crate::spec::{JobId, QueueId};
use crate::time::{Span, Time};

/// What one child's key is made of at this instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyParts {
    /// What is measured. Of [`Measure::Arrival`], [`Measure::Told`], [`Measure::TaskShare`] and
    /// [`Measure::Commitment`] nothing below is told.
    pub measure: Measure,
    /// In thousandths.
    pub weight: u64,
    /// Of a queue the number of its last service, 0 where there was none: of equal keys the
    /// smaller number comes first, then who was declared first. Of a job 0.
    pub served: u64,
    /// What is charged (or held) by now: a scalar in the first place, or, where dominant shares are
    /// compared, an amount of each kind.
    pub amounts: [Charge; MAX_KINDS],
    /// Pseudo-accumulated resources, in parts of the pool of which there are `parts`. Where a
    /// scalar is compared they are in the amount already.
    pub pseudo: Charge,
    /// How many parts the pool has.
    pub parts: u64,
    /// The quantum of what starts here now, whose memory time ([`MemoryClock::ahead`]) is charged;
    /// zero where nothing is charged ahead.
    pub quantum: Span,
    /// What was used before is forgotten: the start of the round, or zero.
    pub since: Time,
    /// What use above the share counts, in thousandths.
    pub discount: Permille,
    /// S of each kind (or of the scalar), above which the discount counts.
    pub shares: [u64; MAX_KINDS],
    /// What is held of each (or of the scalar) by tasks within their quantum: to that a start adds.
    pub within: [u64; MAX_KINDS],
    /// The memory time in which each amount grows by its rate.
    pub clock: MemoryClock,
    /// By how much each amount grows with each microsecond of memory time.
    pub rates: [Charge; MAX_KINDS],
    /// Until then, and not beyond.
    pub turns: Time,
}

/// The clock that the children of a queue share: the machine's own, or, under a half-life, one that
/// runs faster and faster. Its landmarks move with [`View::sweeps`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MemoryClock(pub(crate) Clock);

impl MemoryClock {
    /// Microseconds of memory time at `now`.
    pub fn reading(&self, now: Time) -> u64 {
        self.0.reading(now)
    }

    /// The memory time of so long a quantum that begins at `now`, in microseconds: what one
    /// smallest unit is charged, in thousandths of a unit x microsecond, is a thousand times that.
    /// With a half-life it rises with time, for all children alike.
    pub fn ahead(&self, now: Time, quantum: Span) -> u64 {
        self.0.between(now, now.saturating_add(quantum))
    }

    /// Whether it is the machine's own: then a quantum's memory time is the quantum.
    pub fn is_plain(&self) -> bool {
        self.0 == Clock::new(None)
    }
}

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
