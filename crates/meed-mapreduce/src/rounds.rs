//! When nodes' heartbeats come: in rounds, in which they follow each other at equal distances.
//!
//! > due(r, i) = r x interval + floor(i x interval / nodes)
//!
//! The second part is the same in each round, so it is worked out once. Cost: O(1) for the next
//! heartbeat, without a division.

use meed::{Span, Time};

/// See the module.
pub(super) struct Rounds {
    interval: u64,
    /// Of each node: how long after the round's beginning.
    within: Vec<u64>,
    /// When the round begins, in microseconds; `None` after the last instant.
    begin: Option<u64>,
    /// Whose heartbeat is the next.
    node: usize,
    due: Option<Time>,
}

impl Rounds {
    /// Of so many nodes, at least one; the first heartbeat comes at time 0.
    pub(super) fn new(nodes: usize, interval: Span) -> Rounds {
        let interval = interval.as_micros();
        let count = u128::from(nodes as u64);
        let within = |node: u64| (u128::from(node) * u128::from(interval) / count) as u64;
        let within = (0..nodes as u64).map(within).collect();
        Rounds { interval, within, begin: Some(0), node: 0, due: Some(Time::ZERO) }
    }

    /// When the next heartbeat is due; `None` after the last instant.
    #[inline]
    pub(super) fn due(&self) -> Option<Time> {
        self.due
    }

    /// Whose it is.
    #[inline]
    pub(super) fn node(&self) -> usize {
        self.node
    }

    /// On to the one after it.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.node += 1;
        if self.node == self.within.len() {
            self.node = 0;
            self.begin = self.begin.and_then(|begin| begin.checked_add(self.interval));
        }
        self.set_due();
    }

    /// On to the first that is due at `at` or later.
    pub(super) fn pass_until(&mut self, at: Time) {
        while let Some(due) = self.due.filter(|&due| due < at) {
            match (at - due).as_micros() / self.interval {
                0 => self.pass(),
                rounds => {
                    let later = rounds.checked_mul(self.interval);
                    self.begin = self.begin.and_then(|begin| begin.checked_add(later?));
                    self.set_due();
                }
            }
        }
    }

    #[inline]
    fn set_due(&mut self) {
        let due = self.begin.and_then(|begin| begin.checked_add(self.within[self.node]));
        self.due = due.and_then(Time::from_micros);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed_workload::generate::Stream;

    /// One after the other, or many at once: those of the formula, none left out.
    #[test]
    fn heartbeats_come_when_the_formula_says() {
        let mut stream = Stream::new(7, "rounds");
        for nodes in [1, 2, 7, 99] {
            let interval = 1 + stream.below(3_000_000);
            let span = Span::from_micros(interval).expect("in range");
            let mut rounds = Rounds::new(nodes, span);
            let due = |beat: u64| {
                let (round, node) = (beat / nodes as u64, beat % nodes as u64);
                Time::from_micros(round * interval + node * interval / nodes as u64)
            };
            let mut beat = 0;
            for _ in 0..2000 {
                assert_eq!(rounds.due(), due(beat));
                assert_eq!(rounds.node() as u64, beat % nodes as u64);
                if stream.below(4) > 0 {
                    rounds.pass();
                    beat += 1;
                    continue;
                }
                let micros = due(beat).map_or(0, Time::as_micros) + stream.below(4 * interval);
                let at = Time::from_micros(micros);
                rounds.pass_until(at.expect("in range"));
                while due(beat) < at {
                    beat += 1;
                }
            }
        }
    }

    #[test]
    fn none_comes_after_the_last_instant() {
        let span = Span::from_micros(1 << 40).expect("in range");
        let mut rounds = Rounds::new(3, span);
        rounds.pass_until(Time::MAX);
        (0..4).for_each(|_| rounds.pass());
        assert_eq!(rounds.due(), None);
    }
}
