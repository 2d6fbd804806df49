//! How long tasks are expected to run, learned from those that have ended.
//!
//! > learned(queue) = mean run time of the last two tasks of the queue that ended well
//!
//! (Tsafrir, Etsion and Feitelson, "Backfilling Using System-Generated Predictions Rather Than User
//! Runtime Estimates", TPDS 2007, Sec. 4, where a queue is a user.) It is rounded up, so that
//! tasks of one demand have few distinct estimates, and each of these is one shape: to eight steps
//! for each doubling, at most an eighth above the mean.
//!
//! Only tasks without a limit have one: replacing limits was tried, and is far worse
//! (`docs/wide-jobs.md`). A group gets it when it arrives, and keeps it. Where it was too short,
//! the reservation that it puts off is drained (`holds`).
//!
//! Tasks that failed, were lost or stopped teach nothing: how long they would have run is unknown.
//! A queue that is removed keeps what it has learned until it is forgotten. Cost: O(1) for each end
//! and each group.

use crate::ids::QueueRow;
use crate::policy::{Estimates, Policy};
use crate::state::{State, StateError, ensure};
use crate::time::Span;

/// Significant bits of an estimate below its first.
const FINE_BITS: u32 = 3;

/// The run times of the last two tasks of a queue that ended well, the later first.
pub(super) type LastRuns = [Option<Span>; 2];

/// See the module.
#[derive(Default)]
pub(super) struct Learned {
    /// By queue; queues of which nothing is known may lack a row.
    queues: Vec<LastRuns>,
}

impl Learned {
    /// `None`: the policy learns nothing.
    pub(super) fn of(root: &Policy) -> Option<Learned> {
        (root.estimates == Estimates::Learned).then(Learned::default)
    }

    /// A task of `leaf` has ended well after `ran`.
    #[inline]
    pub(super) fn learn(&mut self, leaf: QueueRow, ran: Span) {
        if self.queues.len() <= leaf.index() {
            self.queues.resize(leaf.index() + 1, [None; 2]);
        }
        let last = &mut self.queues[leaf.index()];
        *last = [Some(ran), last[0]];
    }

    /// How long a task of `leaf` without a limit is expected to run; `None`: nothing has ended yet.
    pub(super) fn estimate(&self, leaf: QueueRow) -> Option<Span> {
        self.queues.get(leaf.index()).and_then(mean).map(round_up)
    }

    /// A row for each queue.
    pub(super) fn state(&self, queues: usize) -> Vec<LastRuns> {
        let mut rows = self.queues.clone();
        rows.resize(queues, [None; 2]);
        rows
    }

    pub(super) fn restore(&mut self, state: &State) -> Result<(), StateError> {
        let (given, queues) = (state.last_runs.len(), state.queues.len());
        ensure!(given == queues || given == 0, "last_runs", "{given} rows of {queues} queues");
        for (index, row) in state.last_runs.iter().enumerate() {
            let fine = row[0].is_some() || row[1].is_none();
            ensure!(fine, format!("last_runs[{index}]"), "one but last, and no last");
        }
        self.queues = state.last_runs.clone();
        Ok(())
    }
}

/// Of those that are known, rounded down.
fn mean(last: &LastRuns) -> Option<Span> {
    let [later, earlier] = last.map(|ran| ran.map(Span::as_micros));
    let later = later?;
    Span::from_micros(earlier.map_or(later, |earlier| u64::midpoint(later, earlier)))
}

/// The next span with few significant bits; above zero.
fn round_up(span: Span) -> Span {
    let micros = span.as_micros().max(1);
    let step = 1 << micros.ilog2().saturating_sub(FINE_BITS);
    Span::from_micros(micros.next_multiple_of(step)).unwrap_or(Span::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(micros: u64) -> Span {
        Span::from_micros(micros).expect("in range")
    }

    #[test]
    fn rounds_up_by_an_eighth_at_most() {
        for (exact, rounded) in
            [(0, 1), (1, 1), (7, 7), (8, 8), (15, 15), (16, 16), (17, 18), (1000, 1024), (513, 576)]
        {
            assert_eq!(round_up(micros(exact)), micros(rounded), "{exact}");
        }
        assert_eq!(round_up(Span::MAX), Span::MAX);
    }

    #[test]
    fn the_last_two_that_ended_count() {
        let leaf = QueueRow(3);
        for (runs, expected) in
            [(&[][..], None), (&[8], Some(8)), (&[100, 8, 16], Some(12)), (&[7, 8], Some(7))]
        {
            let mut learned = Learned::default();
            learned.learn(QueueRow(0), micros(1));
            runs.iter().for_each(|&ran| learned.learn(leaf, micros(ran)));
            let estimate = learned.estimate(leaf).map(Span::as_micros);
            assert_eq!(estimate, expected, "{runs:?}");
            assert_eq!(learned.estimate(QueueRow(9)), None);
        }
    }
}
