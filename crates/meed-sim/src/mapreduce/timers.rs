//! Which of many servers has the next end: a tree of winners.
//!
//! Each leaf holds one server's next time; each inner node the earlier of its two children, the
//! lower number where they are equal. Changing one costs log2(servers) comparisons, whatever the
//! others do.

use meed::Time;

/// See the module.
pub(super) struct Timers {
    /// Leaves stand at `half` and after; node i has the children 2i and 2i + 1. `u64::MAX`: never.
    tree: Vec<(u64, u32)>,
    half: usize,
}

const NEVER: u64 = u64::MAX;

impl Timers {
    pub(super) fn new(count: usize) -> Timers {
        let half = count.max(1).next_power_of_two();
        Timers { tree: vec![(NEVER, u32::MAX); 2 * half], half }
    }

    /// Number `id` is due at `at`.
    #[inline]
    pub(super) fn set(&mut self, id: u32, at: Option<Time>) {
        let mut place = self.half + id as usize;
        self.tree[place] = at.map_or((NEVER, u32::MAX), |at| (at.as_micros(), id));
        while place > 1 {
            place /= 2;
            let winner = self.tree[2 * place].min(self.tree[2 * place + 1]);
            if self.tree[place] == winner {
                return;
            }
            self.tree[place] = winner;
        }
    }

    /// The earliest, and whose it is.
    #[inline]
    pub(super) fn first(&self) -> Option<(Time, u32)> {
        let (micros, id) = self.tree[1];
        Time::from_micros(micros).map(|at| (at, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed_workload::generate::Stream;

    #[test]
    fn first_is_what_a_scan_finds() {
        for count in [1, 2, 5, 64, 99] {
            let (mut timers, mut plain) = (Timers::new(count), vec![None; count]);
            let mut stream = Stream::new(3, "timers");
            for _ in 0..2000 {
                let id = stream.below(count as u64) as usize;
                let at = Time::from_micros(stream.below(40)).filter(|_| stream.below(4) > 0);
                plain[id] = at;
                timers.set(id as u32, at);
                let scan = (0..).zip(&plain).filter_map(|(id, at)| at.map(|at| (at, id))).min();
                assert_eq!(timers.first(), scan);
            }
        }
    }
}
