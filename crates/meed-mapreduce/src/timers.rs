//! Which of many servers has the next end: a tree of winners.
//!
//! Each leaf holds one server's next time; each inner node the earlier of its two children, the
//! lower number where they are equal. Changing one costs log2(servers) comparisons, whatever the
//! others do.
//!
//! Servers that share a pool ([`super::pools`]) have one leaf: the earliest of them.

use meed::Time;

/// When a server is due, in microseconds, and its number below that: one comparison for both.
type Due = u128;

const NEVER: Due = Due::MAX;

const NUMBER_BITS: u32 = u32::BITS;

/// See the module.
pub(super) struct Timers {
    /// Leaves stand at `half` and after. Node i has the children 2i and 2i + 1.
    tree: Vec<Due>,
    half: usize,
}

impl Timers {
    /// With so many leaves.
    pub(super) fn new(leaves: usize) -> Timers {
        let half = leaves.max(1).next_power_of_two();
        Timers { tree: vec![NEVER; 2 * half], half }
    }

    /// The server that is due first of those of a leaf, and when.
    #[inline]
    pub(super) fn set(&mut self, leaf: usize, due: Option<(Time, u32)>) {
        let mut place = self.half + leaf;
        self.tree[place] = due
            .map_or(NEVER, |(at, id)| u128::from(at.as_micros()) << NUMBER_BITS | u128::from(id));
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
        let first = self.tree[1];
        Time::from_micros((first >> NUMBER_BITS) as u64).map(|at| (at, first as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meed_workload::generate::Stream;

    #[test]
    fn first_is_what_a_scan_finds() {
        for leaves in [1, 2, 5, 64, 99] {
            let mut stream = Stream::new(3, "timers");
            let mut timers = Timers::new(leaves);
            let mut plain = vec![None; leaves];
            for _ in 0..2000 {
                let leaf = stream.below(leaves as u64) as usize;
                let at = Time::from_micros(stream.below(40));
                // A leaf of several servers speaks for another one each time.
                let id = leaf as u32 + 100 * stream.below(3) as u32;
                plain[leaf] = at.filter(|at| at.as_micros() % 4 > 0).map(|at| (at, id));
                timers.set(leaf, plain[leaf]);
                assert_eq!(timers.first(), plain.iter().flatten().min().copied());
            }
        }
    }
}
