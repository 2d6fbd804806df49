//! Site factors for an order, with as few changes as possible.
//!
//! Slurm starts jobs of the highest priority first. The first jobs of the order get factors that
//! fall by at least one step from job to job; a step is more than all factors that Meed's order
//! overrules can add up to. All other jobs have 0, as new jobs do.
//!
//! > keep the longest part of the order whose factors are right already; place the others between
//!
//! With `n` jobs, factors `v` and step `s`, jobs at `i < j` can both keep their factors where
//! `v_i - v_j >= s (j - i)`, which is `v_i + s i >= v_j + s j`: a longest non-increasing
//! subsequence. Invariant: the factors that result fall by at least a step, and lie between a step
//! and the ceiling. Cost: O(n log n).

/// A job in its place of the order, with the factor that Slurm has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OrderPlace {
    /// Slurm's number.
    pub job: u32,
    /// Its site factor now.
    pub factor: i64,
}

/// A site factor that is to be another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FactorChange {
    /// Slurm's number.
    pub job: u32,
    /// What it becomes.
    pub site_factor: i64,
}

/// The distance of factors, and the highest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scale {
    step: i64,
    ceiling: i64,
}

/// The largest site factor that `scontrol` takes.
const LARGEST: i64 = 2_147_483_645;

/// So many steps are left between jobs where there is room, so that others can come between.
const ROOM: i64 = 16;

impl Scale {
    /// The scale for `first` jobs over other factors that add up to `overruled`.
    ///
    /// # Errors
    ///
    /// Factors that leave no room for so many steps below the largest site factor: in a sentence.
    pub(crate) fn new(overruled: i64, first: usize) -> Result<Scale, String> {
        let step = overruled.max(0) + 1;
        let jobs = i64::try_from(first).unwrap_or(i64::MAX).max(1);
        let least = step.checked_mul(jobs.saturating_mul(2)).filter(|least| *least <= LARGEST);
        if least.is_none() {
            return Err(format!(
                "PriorityWeightAge, -FairShare, -JobSize, -Assoc and -TRES add up to {overruled}: \
                 {first} jobs in order would need factors above {LARGEST}; lower the weights \
                 (PriorityWeightFairshare=0 would do), or give a lower --first"
            ));
        }
        let wide = step.saturating_mul(jobs).saturating_mul(2 * ROOM);
        Ok(Scale { step, ceiling: wide.min(LARGEST) })
    }

    /// The changes that bring `order` into force, the first of the order first. `rest`: jobs behind
    /// it that have a factor, which is taken back.
    pub(crate) fn changes(&self, order: &[OrderPlace], rest: &[OrderPlace]) -> Vec<FactorChange> {
        let kept = self.kept(order);
        let mut factors: Vec<i64> = vec![0; order.len()];
        let (mut from, mut above) = (0, None);
        for next in kept.iter().copied().chain([order.len()]) {
            let below = order.get(next).map(|place| place.factor);
            self.fill(&mut factors[from..next], above, below);
            if let Some(below) = below {
                factors[next] = below;
            }
            (from, above) = (next + 1, below);
        }
        let changed = order.iter().zip(&factors).filter(|(place, factor)| place.factor != **factor);
        let front =
            changed.map(|(place, &site_factor)| FactorChange { job: place.job, site_factor });
        let back = rest.iter().filter(|place| place.factor != 0);
        front.chain(back.map(|place| FactorChange { job: place.job, site_factor: 0 })).collect()
    }

    /// Factors of new jobs, as many as `places` has. `places`: how many jobs of the order come
    /// before each, rising; `order`: the factors of the order.
    pub(crate) fn between(&self, order: &[i64], places: &[usize]) -> Vec<i64> {
        let mut factors = vec![0; places.len()];
        let mut from = 0;
        for same in places.chunk_by(|one, other| one == other) {
            let (at, to) = (same[0], from + same.len());
            let above = at.checked_sub(1).and_then(|above| order.get(above)).copied();
            self.fill(&mut factors[from..to], above, order.get(at).copied());
            from = to;
        }
        factors
    }

    /// Indices of the jobs that keep their factors.
    fn kept(&self, order: &[OrderPlace]) -> Vec<usize> {
        let count = order.len() as i64;
        let rising = |at: usize| order[at].factor + self.step * at as i64;
        // Least index last: `tails[l]` ends the best subsequence of length `l + 1` so far.
        let mut tails: Vec<usize> = Vec::new();
        let mut before: Vec<Option<usize>> = vec![None; order.len()];
        for at in 0..order.len() {
            let highest = self.ceiling - self.step * at as i64;
            let lowest = self.step * (count - at as i64);
            if !(lowest..=highest).contains(&order[at].factor) {
                continue;
            }
            let length = tails.partition_point(|&tail| rising(tail) >= rising(at));
            before[at] = length.checked_sub(1).map(|last| tails[last]);
            match tails.get_mut(length) {
                Some(tail) => *tail = at,
                None => tails.push(at),
            }
        }
        let mut kept = Vec::new();
        let mut at = tails.last().copied();
        while let Some(index) = at {
            kept.push(index);
            at = before[index];
        }
        kept.reverse();
        kept
    }

    /// Factors for a run of jobs between two that keep theirs; at the ends with some room.
    fn fill(&self, run: &mut [i64], above: Option<i64>, below: Option<i64>) {
        let count = run.len() as i64;
        let wide = self.step * ROOM;
        let (top, gap) = match (above, below) {
            (Some(above), Some(below)) => (above, (above - below) / (count + 1)),
            // Behind the last: down from it.
            (Some(above), None) => (above, wide.min(above / (count + 1))),
            // Before the first: up from it.
            (None, Some(below)) => {
                let gap = wide.min((self.ceiling - below) / count.max(1));
                (below + gap * (count + 1), gap)
            }
            // Nothing is kept: in the middle, for jobs leave at the front and come at the end.
            (None, None) => {
                let gap = wide.min(self.ceiling / (count + 1));
                (self.ceiling, gap)
            }
        };
        for (place, factor) in (1..).zip(run) {
            *factor = top - gap * place;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn places(factors: &[(u32, i64)]) -> Vec<OrderPlace> {
        factors.iter().map(|&(job, factor)| OrderPlace { job, factor }).collect()
    }

    #[test]
    fn an_order_in_force_changes_nothing() {
        let scale = Scale::new(9, 4).unwrap();
        let order = places(&[(1, 500), (2, 400), (3, 390)]);
        assert_eq!(scale.changes(&order, &[]), []);
        let moved = places(&[(2, 400), (1, 500), (3, 390)]);
        assert_eq!(scale.changes(&moved, &[]).len(), 1);
        let back = scale.changes(&places(&[(2, 400)]), &places(&[(1, 500), (7, 0)]));
        assert_eq!(back, [FactorChange { job: 1, site_factor: 0 }]);
    }

    #[test]
    fn a_job_that_starts_and_one_that_comes_cost_one_change() {
        let scale = Scale::new(9, 10).unwrap();
        let fresh: Vec<OrderPlace> = (0..10).map(|job| OrderPlace { job, factor: 0 }).collect();
        let set = scale.changes(&fresh, &[]);
        assert_eq!(set.len(), 10);
        let mut next: Vec<OrderPlace> = set[1..]
            .iter()
            .map(|change| OrderPlace { job: change.job, factor: change.site_factor })
            .collect();
        next.push(OrderPlace { job: 99, factor: 0 });
        assert_eq!(scale.changes(&next, &[]).len(), 1);
    }

    #[test]
    fn new_jobs_come_between_those_that_wait() {
        let scale = Scale::new(9, 10).unwrap();
        let (order, places) = ([900, 600, 300], [0, 1, 1, 3]);
        let factors = scale.between(&order, &places);
        let bounds = [(900, i64::MAX), (600, 900), (600, 900), (0, 300)];
        for (factor, (low, high)) in factors.iter().zip(bounds) {
            assert!(low < *factor && *factor < high, "{factors:?}");
        }
        assert!(factors[1] > factors[2]);
        let alone = scale.between(&[], &[0, 0]);
        assert!(alone[0] > alone[1] && alone[1] > 0, "{alone:?}");
    }

    #[test]
    fn factors_without_room_are_refused() {
        assert!(Scale::new(50_000_000, 100).unwrap_err().contains("lower the weights"));
        assert!(Scale::new(101_000, 100).is_ok());
    }

    proptest! {
        /// Whatever Slurm has: the order is in force afterwards, by whole steps.
        #[test]
        fn the_order_is_in_force(
            factors in proptest::collection::vec(-50_000i64..50_000, 0..40),
            overruled in 0i64..50,
            rest in proptest::collection::vec(-9i64..9, 0..4),
        ) {
            let scale = Scale::new(overruled, 40).unwrap();
            let order: Vec<OrderPlace> =
                (0..).zip(&factors).map(|(job, &factor)| OrderPlace { job, factor }).collect();
            let rest: Vec<OrderPlace> =
                (100..).zip(&rest).map(|(job, &factor)| OrderPlace { job, factor }).collect();
            let changes = scale.changes(&order, &rest);
            let of = |place: &OrderPlace| (place.job, place.factor);
            let mut now: BTreeMap<u32, i64> = order.iter().chain(&rest).map(of).collect();
            now.extend(changes.iter().map(|change| (change.job, change.site_factor)));
            let after: Vec<i64> = order.iter().map(|place| now[&place.job]).collect();
            for pair in after.windows(2) {
                prop_assert!(pair[0] - pair[1] > overruled, "{after:?}");
            }
            prop_assert!(after.iter().all(|factor| (overruled + 1..=LARGEST).contains(factor)));
            prop_assert!(rest.iter().all(|place| now[&place.job] == 0));
        }
    }
}
