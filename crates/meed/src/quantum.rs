//! The Quantum Updater: assumed execution times that tune themselves (ICS'14 Sec. 5.2.1, Fig. 3).
//!
//! Top down, when something new appears: a job starts with its leaf's quantum, a leaf with its
//! parent's, and so on up to the root, which starts with Q_0. Bottom up, once every interval in
//! which a task ended: a job's quantum becomes the mean run time of its ended tasks, a leaf's the
//! mean of its jobs', a parent's the mean of its children's, up to the root.
//!
//! A leaf's mean is over its live jobs and those that ended since the last refresh (the paper does
//! not say; so a queue of one-task jobs learns too). A queue without either keeps its quantum.
//!
//! With [`Untried::Ended`] (not in the papers) a leaf's mean is over its tasks that ended last,
//! between [`REMEMBERED`] and twice as many, of whatever jobs. A job of which none has ended has
//! its leaf's quantum of now. Where jobs of one task wait by hundreds, their first quanta would be
//! nearly all of the paper's mean. A refresh looks at all live jobs then.
//!
//! Means are rounded down to the microsecond. Cost: O(1) per task end; a refresh touches only what
//! changed.

use std::collections::BTreeSet;

use crate::ids::QueueRow;
use crate::policy::Untried;
use crate::state::{JobQuantumState, QuantaState, QueueQuantumState, StateError, ensure};
use crate::time::{Span, Time};

/// With [`Untried::Ended`], a leaf forgets half of what it has learnt at twice so many tasks.
const REMEMBERED: u64 = 64;

/// A job's own part.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JobQuantum {
    pub(crate) quantum: Span,
    ended_micros: u64,
    ended: u64,
    /// Whether a task has ended since the last refresh.
    dirty: bool,
}

#[derive(Clone, Debug, Default)]
struct QueueQuantum {
    quantum: Span,
    known: bool,
    /// Sum and number of the quanta below: of live jobs, or of known child queues.
    sum: u128,
    count: u64,
    /// The same of jobs that ended since the last refresh; with [`Untried::Ended`], of tasks that
    /// ended.
    departed_sum: u128,
    departed: u64,
}

/// Quanta of all queues.
#[derive(Clone)]
pub(crate) struct QuantumUpdater {
    interval: Span,
    untried: Untried,
    next_refresh: Time,
    queues: Vec<QueueQuantum>,
    dirty: BTreeSet<QueueRow>,
}

impl QuantumUpdater {
    pub(crate) fn new(initial: Span, interval: Span, untried: Untried) -> QuantumUpdater {
        let root = QueueQuantum { quantum: initial, known: true, ..QueueQuantum::default() };
        QuantumUpdater {
            interval,
            untried,
            next_refresh: Time::MAX,
            queues: vec![root],
            dirty: BTreeSet::new(),
        }
    }

    pub(crate) fn add_queue(&mut self) {
        self.queues.push(QueueQuantum::default());
    }

    /// A queue's quantum; its parent's is handed down when its first job arrives.
    pub(crate) fn queue(&self, queue: QueueRow) -> Span {
        self.queues[queue.index()].quantum
    }

    /// When the averages are next taken; [`Time::MAX`] while nothing has ended.
    pub(crate) fn next_refresh(&self) -> Time {
        self.next_refresh
    }

    /// A job arrives: hands quanta down along `path`, from below the root to its leaf.
    pub(crate) fn job_arrives(&mut self, path: &[QueueRow]) -> JobQuantum {
        let mut above = QueueRow::ROOT;
        for &queue in path {
            let handed = self.queues[above.index()].quantum;
            let entry = &mut self.queues[queue.index()];
            if !entry.known {
                (entry.known, entry.quantum) = (true, handed);
                let parent = &mut self.queues[above.index()];
                parent.sum += u128::from(handed.as_micros());
                parent.count += 1;
            }
            above = queue;
        }
        let leaf = &mut self.queues[above.index()];
        if self.untried == Untried::Handed {
            leaf.sum += u128::from(leaf.quantum.as_micros());
            leaf.count += 1;
        }
        JobQuantum { quantum: leaf.quantum, ..JobQuantum::default() }
    }

    /// A task has run for `ran`; whether it is the job's first since the last refresh. Averages see
    /// it at the next.
    pub(crate) fn task_ends(
        &mut self,
        now: Time,
        leaf: QueueRow,
        job: &mut JobQuantum,
        ran: Span,
    ) -> bool {
        if self.untried == Untried::Ended {
            self.leaf_learns(leaf, ran);
        }
        job.ended_micros = job.ended_micros.saturating_add(ran.as_micros());
        job.ended += 1;
        self.schedule(now);
        !std::mem::replace(&mut job.dirty, true)
    }

    fn leaf_learns(&mut self, leaf: QueueRow, ran: Span) {
        let entry = &mut self.queues[leaf.index()];
        entry.departed_sum += u128::from(ran.as_micros());
        entry.departed += 1;
        if entry.departed >= 2 * REMEMBERED {
            (entry.departed_sum, entry.departed) = (entry.departed_sum / 2, entry.departed / 2);
        }
        self.dirty.insert(leaf);
    }

    fn schedule(&mut self, now: Time) {
        if self.next_refresh == Time::MAX {
            let ticks = now.as_micros() / self.interval.as_micros() + 1;
            let micros = ticks.saturating_mul(self.interval.as_micros());
            self.next_refresh = Time::from_micros(micros).unwrap_or(Time::MAX);
        }
    }

    /// Takes over a live job's mean (refresh only).
    pub(crate) fn refresh_job(&mut self, leaf: QueueRow, job: &mut JobQuantum) {
        let mean = job.mean();
        let before = std::mem::replace(&mut job.quantum, mean);
        job.dirty = false;
        if self.untried == Untried::Handed {
            let entry = &mut self.queues[leaf.index()];
            entry.sum = entry.sum + u128::from(mean.as_micros()) - u128::from(before.as_micros());
            self.dirty.insert(leaf);
        }
    }

    /// With [`Untried::Ended`], leaves whose means are taken at the next refresh: their jobs of
    /// which no task has ended are to be brought in by [`QuantumUpdater::hand_down`] behind it.
    pub(crate) fn learners(&self) -> BTreeSet<QueueRow> {
        match self.untried {
            Untried::Handed => BTreeSet::new(),
            Untried::Ended => self.dirty.clone(),
        }
    }

    /// A job has its leaf's quantum of now, if none of its tasks has ended; whether that is another
    /// one.
    pub(crate) fn hand_down(&self, leaf: QueueRow, job: &mut JobQuantum) -> bool {
        let quantum = self.queues[leaf.index()].quantum;
        job.ended == 0 && std::mem::replace(&mut job.quantum, quantum) != quantum
    }

    /// A job is gone; what it learnt counts at the next refresh.
    pub(crate) fn job_leaves(&mut self, now: Time, leaf: QueueRow, job: &JobQuantum) {
        if self.untried == Untried::Ended {
            return;
        }
        let entry = &mut self.queues[leaf.index()];
        entry.sum -= u128::from(job.quantum.as_micros());
        entry.count -= 1;
        if job.ended > 0 {
            entry.departed_sum += u128::from(job.mean().as_micros());
            entry.departed += 1;
            self.dirty.insert(leaf);
            self.schedule(now);
        }
    }

    /// Takes all averages, leaves first. Live jobs were brought in by
    /// [`QuantumUpdater::refresh_job`].
    pub(crate) fn refresh(&mut self, parent_of: impl Fn(QueueRow) -> Option<QueueRow>) {
        self.next_refresh = Time::MAX;
        // Children are declared after their parents: the largest number first is bottom up.
        while let Some(queue) = self.dirty.pop_last() {
            let entry = &mut self.queues[queue.index()];
            let (sum, count) = (entry.sum + entry.departed_sum, entry.count + entry.departed);
            if self.untried == Untried::Handed {
                (entry.departed_sum, entry.departed) = (0, 0);
            }
            if count == 0 {
                continue;
            }
            let mean = Span::from_micros((sum / u128::from(count)) as u64).unwrap_or(Span::MAX);
            let before = std::mem::replace(&mut entry.quantum, mean);
            if let Some(parent) = parent_of(queue).filter(|_| before != mean) {
                let above = &mut self.queues[parent.index()];
                above.sum =
                    above.sum + u128::from(mean.as_micros()) - u128::from(before.as_micros());
                self.dirty.insert(parent);
            }
        }
    }

    /// A queue is gone: its quantum no longer counts in its parent's mean.
    pub(crate) fn remove_queue(&mut self, queue: QueueRow, parent: QueueRow) {
        let entry = std::mem::take(&mut self.queues[queue.index()]);
        self.dirty.remove(&queue);
        if entry.known {
            let above = &mut self.queues[parent.index()];
            above.sum -= u128::from(entry.quantum.as_micros());
            above.count -= 1;
        }
    }
}

impl JobQuantum {
    fn mean(&self) -> Span {
        match self.ended_micros.checked_div(self.ended) {
            Some(mean) => Span::from_micros(mean).unwrap_or(Span::MAX),
            None => self.quantum,
        }
    }
}

/// As plain data, and back: sums and numbers of what is below follow from the jobs and queues.
impl QuantumUpdater {
    pub(crate) fn state(&self) -> QuantaState {
        let row = |(index, of): (usize, &QueueQuantum)| QueueQuantumState {
            quantum: of.quantum,
            known: of.known,
            departed: (of.departed_sum, of.departed),
            dirty: self.dirty.contains(&QueueRow(index as u32)),
        };
        QuantaState {
            interval: self.interval,
            untried: self.untried,
            next_refresh: self.next_refresh,
            queues: self.queues.iter().enumerate().map(row).collect(),
        }
    }

    /// `parent_of` a queue that is not removed; the jobs with their leaves.
    pub(crate) fn from_state<'a>(
        state: &QuantaState,
        now: Time,
        parent_of: impl Fn(QueueRow) -> Option<QueueRow>,
        jobs: impl Iterator<Item = (QueueRow, &'a JobQuantum)>,
    ) -> Result<QuantumUpdater, StateError> {
        ensure!(state.interval > Span::ZERO, "quanta.interval", "must be above zero");
        ensure!(state.next_refresh >= now, "quanta.next_refresh", "it lies before the present");
        let (mut queues, mut dirty) = (Vec::new(), BTreeSet::new());
        for (index, row) in state.queues.iter().enumerate() {
            let (departed_sum, departed) = row.departed;
            let fine = departed_sum <= u128::from(departed) * u128::from(crate::MAX_MICROS);
            ensure!(fine, format!("quanta.queues[{index}].departed"), "a mean above 2^53 us");
            let (quantum, known) = (row.quantum, row.known);
            let blank = QueueQuantum { quantum, known, ..QueueQuantum::default() };
            queues.push(QueueQuantum { departed_sum, departed, ..blank });
            if row.dirty {
                dirty.insert(QueueRow(index as u32));
            }
        }
        let mut add = |to: QueueRow, quantum: Span| {
            let row = &mut queues[to.index()];
            row.sum += u128::from(quantum.as_micros());
            row.count += 1;
        };
        for (index, row) in state.queues.iter().enumerate().filter(|(_, row)| row.known) {
            if let Some(parent) = parent_of(QueueRow(index as u32)) {
                add(parent, row.quantum);
            }
        }
        let untried = state.untried;
        if untried == Untried::Handed {
            jobs.for_each(|(leaf, job)| add(leaf, job.quantum));
        }
        let (interval, next_refresh) = (state.interval, state.next_refresh);
        Ok(QuantumUpdater { interval, untried, next_refresh, queues, dirty })
    }
}

impl JobQuantum {
    pub(crate) fn state(&self) -> JobQuantumState {
        let JobQuantum { quantum, ended_micros, ended, dirty } = *self;
        JobQuantumState { quantum, ended_micros, ended, dirty }
    }

    pub(crate) fn from_state(state: &JobQuantumState) -> JobQuantum {
        let JobQuantumState { quantum, ended_micros, ended, dirty } = *state;
        JobQuantum { quantum, ended_micros, ended, dirty }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(seconds: u64) -> Span {
        Span::from_secs(seconds).expect("in range")
    }

    /// Root with leaves 1 and 2; Q_0 = 600 s (ICS'14 Sec. 6.5).
    fn two_leaves() -> QuantumUpdater {
        let mut updater = QuantumUpdater::new(secs(600), secs(1), Untried::Handed);
        updater.add_queue();
        updater.add_queue();
        updater
    }

    #[test]
    fn hands_down_and_averages_up() {
        let (first, second) = (QueueRow(1), QueueRow(2));
        let mut updater = two_leaves();
        let mut a = updater.job_arrives(&[first]);
        let mut b = updater.job_arrives(&[first]);
        let mut c = updater.job_arrives(&[second]);
        assert_eq!((a.quantum, b.quantum, c.quantum), (secs(600), secs(600), secs(600)));
        let now = Time::from_secs(5).expect("in range");
        updater.task_ends(now, first, &mut a, secs(10));
        for (leaf, job, ran) in [(first, &mut a, 20), (first, &mut b, 45), (second, &mut c, 70)] {
            updater.task_ends(now, leaf, job, secs(ran));
        }
        assert_eq!(updater.next_refresh(), Time::from_secs(6).expect("in range"));
        for (leaf, job) in [(first, &mut a), (first, &mut b), (second, &mut c)] {
            updater.refresh_job(leaf, job);
        }
        updater.refresh(|queue| (queue != QueueRow::ROOT).then_some(QueueRow::ROOT));
        assert_eq!((a.quantum, b.quantum, c.quantum), (secs(15), secs(45), secs(70)));
        assert_eq!((updater.queue(first), updater.queue(second)), (secs(30), secs(70)));
        assert_eq!(updater.queue(QueueRow::ROOT), secs(50));
        assert_eq!(updater.job_arrives(&[second]).quantum, secs(70));
    }

    #[test]
    fn a_queue_of_one_task_jobs_learns_too() {
        let leaf = QueueRow(1);
        let mut updater = two_leaves();
        let mut job = updater.job_arrives(&[leaf]);
        updater.task_ends(Time::ZERO, leaf, &mut job, secs(11));
        updater.job_leaves(Time::ZERO, leaf, &job);
        updater.refresh(|queue| (queue == leaf).then_some(QueueRow::ROOT));
        assert_eq!((updater.queue(leaf), updater.queue(QueueRow::ROOT)), (secs(11), secs(11)));
    }

    #[test]
    fn a_queue_of_many_that_wait_learns_from_those_that_ended() {
        for (untried, learnt) in [(Untried::Handed, secs(594)), (Untried::Ended, secs(11))] {
            let leaf = QueueRow(1);
            let mut updater = QuantumUpdater::new(secs(600), secs(1), untried);
            updater.add_queue();
            let mut waiting: Vec<JobQuantum> =
                (0..99).map(|_| updater.job_arrives(&[leaf])).collect();
            let mut job = updater.job_arrives(&[leaf]);
            updater.task_ends(Time::ZERO, leaf, &mut job, secs(11));
            updater.job_leaves(Time::ZERO, leaf, &job);
            let learners = updater.learners();
            updater.refresh(|queue| (queue == leaf).then_some(QueueRow::ROOT));
            let changed = waiting
                .iter_mut()
                .filter(|_| learners.contains(&leaf))
                .filter_map(|job| updater.hand_down(leaf, job).then_some(job.quantum));
            let changed = changed.filter(|quantum| *quantum == learnt).count();
            assert_eq!(changed, if untried == Untried::Ended { 99 } else { 0 });
            assert_eq!(updater.queue(leaf).as_micros() / 1_000_000, learnt.as_micros() / 1_000_000);
        }
    }
}
