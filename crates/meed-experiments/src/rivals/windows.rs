//! How service spreads over windows of time, whoever orders.
//!
//! Once an hour each tenant that waits for something is noted with what it has used so far. Of a
//! window, those count that waited at each hour of it, both ends included:
//!
//! > gap = (largest - smallest of what they used / weight) / (capacity x window)
//!
//! 0 is the same to all that wanted more; 1 is all of the cluster to one tenant (of weight 1) and
//! nothing to another, for the whole window. Windows begin at each hour. Beside that the longest
//! time for which a tenant waited and used nothing, at the same grain. Cost: O(tenants) for each
//! hour, and O(hours waited x windows) at the end.

use std::collections::BTreeSet;

use meed::{QueueId, Span, Time, View};
use meed_sim::world::CountedSpan;

use super::lent::{Claims, Glance};

/// The windows, with their names, in hours.
pub const WINDOWS: [(&str, usize); 5] =
    [("1h", 1), ("6h", 6), ("1d", 24), ("7d", 7 * 24), ("30d", 30 * 24)];

/// Takes the notes.
#[derive(Default)]
pub(super) struct Windows {
    next: Time,
    hours: usize,
    tenants: Vec<Tenant>,
    known: BTreeSet<QueueId>,
    last: Option<QueueId>,
    capacity: f64,
    /// Hours outside are no figure.
    counted: CountedSpan,
}

struct Tenant {
    queue: QueueId,
    weight: f64,
    runs: Vec<Run>,
    claims: Claims,
}

/// Hours in a row at which a tenant waited: the first, and what it had used by each.
struct Run {
    first: usize,
    used: Vec<f64>,
}

/// A window's gaps, parts of the cluster.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gap {
    /// The largest.
    pub worst: f64,
    /// Mean over windows that two tenants or more waited through.
    pub mean: f64,
    /// How many these are.
    pub windows: usize,
}

pub(super) const HOUR: f64 = 3600.0;

impl Windows {
    pub(super) fn new() -> Windows {
        Windows::default()
    }

    /// Notes of the hours in this span.
    pub(super) fn over(counted: CountedSpan) -> Windows {
        Windows { counted, ..Windows::default() }
    }

    /// Time passes to `at`.
    pub(super) fn passes(&mut self, at: Time, engine: View<'_>) {
        let hour = Span::from_secs(3600).unwrap_or(Span::MAX);
        while self.next <= at {
            if self.counted.holds(self.next) {
                self.note(engine);
            }
            self.next = self.next.saturating_add(hour);
            self.hours += 1;
        }
    }

    fn note(&mut self, engine: View<'_>) {
        let (measured, now) = (engine.measured(), self.next);
        let unit = engine.kinds().unit(measured).scale() as f64;
        self.capacity = self.capacity.max(engine.capacity().get(measured) as f64 / unit);
        // Those that have come are the last: of the others some may have been forgotten.
        let last = Some(engine.last_queue());
        if last != self.last {
            self.last = last;
            for queue in engine.queue_ids().skip(1).filter(|&queue| engine.queue(queue).is_leaf) {
                if self.known.insert(queue) {
                    let (runs, claims) = (Vec::new(), Claims::default());
                    self.tenants.push(Tenant { queue, weight: 1.0, runs, claims });
                }
            }
        }
        for tenant in self.tenants.iter_mut().filter(|one| engine.knows_queue(one.queue)) {
            let integrals = engine.integrals(tenant.queue, now);
            let used = integrals.usage[measured] as f64 / unit / 1e6;
            let (works, waits) =
                (integrals.demand > 0, integrals.demand > u128::from(integrals.held));
            let share = integrals.share as f64 / unit;
            tenant.claims.note(self.hours, Glance { share, used, works, waits });
            if !waits {
                continue;
            }
            tenant.weight = engine.queue(tenant.queue).weight as f64 / 1000.0;
            tenant.note(self.hours, used);
        }
    }

    /// The gap of windows of so many hours; nothing where no two tenants waited through one.
    pub(super) fn gap(&self, hours: usize) -> Option<Gap> {
        let mut ends = vec![(f64::INFINITY, f64::NEG_INFINITY, 0u32); self.hours];
        for tenant in &self.tenants {
            for run in &tenant.runs {
                for (at, pair) in run.used.windows(hours + 1).enumerate() {
                    let served = (pair[hours] - pair[0]) / tenant.weight;
                    let (least, most, count) = &mut ends[run.first + at];
                    (*least, *most) = (least.min(served), most.max(served));
                    *count += 1;
                }
            }
        }
        let whole = self.capacity * HOUR * hours as f64;
        let gap = |&(least, most, _): &(f64, f64, u32)| (most - least) / whole;
        let gaps: Vec<f64> = ends.iter().filter(|(_, _, count)| *count > 1).map(gap).collect();
        let worst = gaps.iter().copied().fold(None, |worst: Option<f64>, gap| {
            Some(worst.map_or(gap, |worst| worst.max(gap)))
        })?;
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        Some(Gap { worst, mean, windows: gaps.len() })
    }

    /// The longest time, in seconds, for which a tenant waited and used nothing.
    pub(super) fn unserved(&self) -> f64 {
        let runs = self.tenants.iter().flat_map(|tenant| &tenant.runs);
        let longest = runs.flat_map(|run| run.used.chunk_by(|a, b| a == b)).map(<[f64]>::len).max();
        longest.map_or(0.0, |hours| (hours - 1) as f64 * HOUR)
    }

    /// How long tenants claimed what they had lent ([`super::lent`]), in seconds, rising.
    pub(super) fn claims(&self) -> Vec<f64> {
        let last = self.hours.saturating_sub(1);
        let hours = self.tenants.iter().flat_map(|tenant| tenant.claims.hours(last));
        let mut seconds: Vec<f64> = hours.map(|hours| hours as f64 * HOUR).collect();
        seconds.sort_by(f64::total_cmp);
        seconds
    }
}

impl Tenant {
    fn note(&mut self, hour: usize, used: f64) {
        match self.runs.last_mut() {
            Some(run) if run.first + run.used.len() == hour => run.used.push(used),
            _ => self.runs.push(Run { first: hour, used: vec![used] }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run: its first hour, and core-hours by each.
    type Hours<'h> = (usize, &'h [f64]);
    /// A weight, and runs.
    type Waits<'w> = (f64, &'w [Hours<'w>]);

    fn windows(hours: usize, tenants: &[Waits<'_>]) -> Windows {
        let tenant = |(weight, runs): &Waits<'_>| {
            let run = |(first, used): &Hours<'_>| {
                let used = used.iter().map(|hours| hours * HOUR).collect();
                Run { first: *first, used }
            };
            let (runs, claims) = (runs.iter().map(run).collect(), Claims::default());
            Tenant { queue: QueueId::ROOT, weight: *weight, runs, claims }
        };
        let tenants = tenants.iter().map(tenant).collect();
        Windows { hours, tenants, capacity: 10.0, ..Windows::default() }
    }

    #[test]
    fn a_gap_is_between_those_who_waited_all_the_time() {
        // In core-hours. The second counts by its weight of 2; the third did not wait at hour 1.
        let all = windows(
            3,
            &[
                (1.0, &[(0, &[0.0, 10.0, 12.0])]),
                (2.0, &[(0, &[0.0, 0.0, 8.0])]),
                (1.0, &[(0, &[0.0]), (2, &[0.0])]),
            ],
        );
        let hour = all.gap(1).unwrap();
        assert_eq!((hour.worst, hour.windows), (1.0, 2));
        assert_eq!(hour.mean, (1.0 + 0.2) / 2.0);
        assert_eq!(all.gap(2).map(|gap| gap.worst), Some((12.0 - 4.0) / 20.0));
        assert_eq!(all.gap(24), None);
        assert_eq!(all.unserved(), HOUR);
    }
}
