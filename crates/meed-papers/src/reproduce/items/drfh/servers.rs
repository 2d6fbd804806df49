//! All servers that Fig. 5 may have had: compositions of 100 servers of Table 1 with the totals
//! that are printed, 52.75 CPUs and 51.32 units of memory.
//!
//! > weight(n) = 100! / (n1! .. nk!) x p1^n1 .. pk^nk, p the parts of Table 1
//!
//! is how likely a draw is the composition n. But for those of one CPU and of a quarter all servers
//! have half a CPU, and the memory of the three large classes is one equation more: a few hundred
//! compositions are nearly all there are. Capacities are those of ClusterData2011, which the table
//! rounds.
//! Cost: some 10^6 steps.

use meed_workload::google::PUBLISHED_MACHINES;

const SERVERS: u32 = 100;
/// Printed, in thousandths.
const CPU: u64 = 52_750;
/// Printed to a hundredth, in parts of 10^-5: 51.315 up to 51.325.
const MEMORY: std::ops::Range<u64> = 5_131_500..5_132_500;

/// Memory of each class of Table 1, in parts of 10^-5.
const MEMORY_OF: [u64; CLASSES] =
    [49_950, 24_930, 74_900, 100_000, 24_980, 12_410, 3_085, 96_780, 50_000, 6_158];

const CLASSES: usize = 10;

/// Servers of each class that are looked at, at most; the first three are what is left. With more
/// of the rare ones there are thousands of compositions: all of them together are less than one
/// draw of a hundred.
const MOST: [u32; CLASSES] = [SERVERS, SERVERS, SERVERS, 24, 8, 5, 1, 1, 1, 1];

/// A draw, whatever its order.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Composition {
    /// Servers of each class of Table 1.
    counts: [u32; CLASSES],
    /// Its part of all draws that have the printed totals.
    pub(super) part: f64,
}

impl Composition {
    /// Servers as (count, CPUs, memory); the largest has 1000 of each.
    pub(super) fn classes(&self) -> Vec<(f64, f64, f64)> {
        let class = |class: usize| {
            let cpu = PUBLISHED_MACHINES[class].share[0] as f64 * 10.0;
            (f64::from(self.counts[class]), cpu, MEMORY_OF[class] as f64 / 100.0)
        };
        (0..CLASSES).map(class).filter(|(count, ..)| *count > 0.0).collect()
    }

    /// How many whole tasks of this size the empty servers hold.
    pub(super) fn places(&self, (cpu, memory): (f64, f64)) -> f64 {
        let of = |(count, cpus, memories): (f64, f64, f64)| {
            count * (cpus / cpu).floor().min((memories / memory).floor())
        };
        self.classes().into_iter().map(of).sum()
    }
}

/// All of them, the likeliest first.
pub(super) fn compositions() -> Vec<Composition> {
    let mut found = Vec::new();
    fill(3, &mut [0; CLASSES], &mut found);
    let weights: Vec<f64> = found.iter().map(log_weight).collect();
    let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let all: f64 = weights.iter().map(|weight| libm::exp(weight - most)).sum();
    let composition = |(counts, weight): ([u32; CLASSES], &f64)| Composition {
        counts,
        part: libm::exp(weight - most) / all,
    };
    let mut found: Vec<Composition> = found.into_iter().zip(&weights).map(composition).collect();
    found.sort_by(|a, b| b.part.total_cmp(&a.part).then(a.counts.cmp(&b.counts)));
    found
}

/// Every number of servers of class `class` and of those after it.
fn fill(class: usize, counts: &mut [u32; CLASSES], found: &mut Vec<[u32; CLASSES]>) {
    if class == CLASSES {
        return fill_large(counts, found);
    }
    for count in 0..=MOST[class] {
        counts[class] = count;
        fill(class + 1, counts, found);
    }
    counts[class] = 0;
}

/// The three large classes, all of half a CPU, are the rest.
fn fill_large(counts: &[u32; CLASSES], found: &mut Vec<[u32; CLASSES]>) {
    let sum = |of: &dyn Fn(usize) -> u64| -> u64 {
        (3..CLASSES).map(|class| u64::from(counts[class]) * of(class)).sum()
    };
    let Some(rest) = u64::from(SERVERS).checked_sub(sum(&|_| 1)) else { return };
    let cpu = sum(&|class| PUBLISHED_MACHINES[class].share[0] * 10);
    if cpu + rest * 500 != CPU {
        return;
    }
    let memory = sum(&|class| MEMORY_OF[class]);
    for third in 0..=rest {
        for second in 0..=rest - third {
            let first = rest - third - second;
            let all = memory + first * MEMORY_OF[0] + second * MEMORY_OF[1] + third * MEMORY_OF[2];
            if MEMORY.contains(&all) {
                let mut counts = *counts;
                for (count, of) in counts.iter_mut().zip([first, second, third]) {
                    *count = of as u32;
                }
                found.push(counts);
            }
        }
    }
}

/// The logarithm of the formula above.
fn log_weight(counts: &[u32; CLASSES]) -> f64 {
    let factorial = |n: u32| (2..=n).map(|n| libm::log(f64::from(n))).sum::<f64>();
    let all: f64 = PUBLISHED_MACHINES.iter().map(|class| f64::from(class.count)).sum();
    let of = |(count, class): (&u32, &meed_workload::google::MachineClass)| {
        f64::from(*count) * libm::log(f64::from(class.count) / all) - factorial(*count)
    };
    factorial(SERVERS) + counts.iter().zip(&PUBLISHED_MACHINES).map(of).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_the_printed_totals_and_none_is_there_twice() {
        let all = compositions();
        assert_eq!(all.len(), 683);
        for composition in &all {
            let sum = |of: fn(&(f64, f64, f64)) -> f64| -> f64 {
                composition.classes().iter().map(|class| class.0 * of(class)).sum()
            };
            assert_eq!((sum(|_| 1.0), sum(|class| class.1)), (100.0, 52_750.0));
            assert!((51_315.0..51_325.0).contains(&sum(|class| class.2)), "{composition:?}");
        }
        assert!((all.iter().map(|one| one.part).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(all.is_sorted_by(|a, b| a.part >= b.part));
        let mut counts: Vec<_> = all.iter().map(|one| one.counts).collect();
        counts.sort_unstable();
        counts.dedup();
        assert_eq!(counts.len(), all.len());
        // Worked apart: the likeliest, and what user 1 of Fig. 5 alone can run there.
        assert_eq!(all[0].counts, [58, 19, 15, 6, 1, 1, 0, 0, 0, 0]);
        assert_eq!(all[0].places((200.0, 300.0)), 106.0);
    }
}
