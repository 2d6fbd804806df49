//! `tsf`: task share fairness (Wang, Li, Liang, Li, SC'16): what part of the tasks that a child
//! could run, had it all servers for itself and no constraints, it runs.
//!
//! > key = s / w,  s = sum over running tasks of 1 / h(demand)
//! >
//! > h(D) = sum over servers k of min over r with D_r > 0 of C_kr / D_r
//!
//! The paper's jobs have tasks of one demand: then s = n / h. For more than one, and for parents,
//! each task counts as the part of its own h: ours. Sums over tasks add up, so a parent's share is
//! the sum of its children's. Of one server h is C / D at the dominant resource, and s a dominant
//! share.
//!
//! A kind of which no server has anything does not count. A task that no server could run (servers
//! shrink while it runs) counts as the whole: h is 1. Tasks may be divided in h, as in the paper.
//!
//! **Exact** are shares of up to [`FEW`] shapes, as a fraction, where it fits. Of more, each task's
//! part is rounded down to 2^-96, a grain ([`GRAINS`]). Keys rise with each start all the same: a
//! queue would have to run 2^40 tasks before what rounding takes reached what a task adds, for h is
//! below 2^56.
//!
//! Servers alike in proportion are one row, the sum of them, for h is the same. Cost: O(shapes that
//! run) at each start and end, O(rows x kinds) for the first task of a shape.

use num_bigint::BigUint;
use std::collections::BTreeMap;

use super::key::{cmp_ratios, gcd, mul_div};
use crate::resources::Resources;

/// Of how many shapes a share is a fraction.
const FEW: usize = 4;

/// Grains of a whole. Times the largest weight they fit 128 bits.
const GRAINS: u128 = 1 << 96;

/// The largest numerator of a share.
const MOST: u128 = 1 << 126;

/// What a task could have for itself: capacities of all servers, those alike in proportion summed
/// up.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Alone {
    rows: Vec<Resources>,
}

impl Alone {
    pub(crate) fn new<'a>(servers: impl Iterator<Item = &'a Resources>) -> Alone {
        let mut rows: BTreeMap<Resources, Resources> = BTreeMap::new();
        for server in servers.filter(|server| !server.is_zero()) {
            let common = server.as_slice().iter().fold(0, |a, &b| gcd(a.into(), b.into()) as u64);
            let mut direction = *server;
            direction.as_mut_slice().iter_mut().for_each(|amount| *amount /= common);
            rows.entry(direction).or_insert_with(|| Resources::zero(server.kinds())).add(server);
        }
        Alone { rows: rows.into_values().collect() }
    }

    /// 1 / h of a task of `demand`.
    fn part(&self, demand: &Resources) -> Part {
        let kinds = demand.kinds();
        let there = |kind: usize| self.rows.iter().any(|row| row.get(kind) > 0);
        let mut asked = [0; crate::resources::MAX_KINDS];
        for kind in (0..kinds).filter(|&kind| there(kind)) {
            asked[kind] = demand.get(kind);
        }
        let asked = &asked[..kinds];
        if asked.iter().all(|&amount| amount == 0) {
            return Part { exact: Some((0, 1)), grains: 0 };
        }
        // h = sum over kinds of what the servers have of it that run out of it first, over D.
        let mut bound = [0u64; crate::resources::MAX_KINDS];
        for row in &self.rows {
            let least = (0..kinds).filter(|&kind| asked[kind] > 0).min_by(|&a, &b| {
                cmp_ratios(row.get(a).into(), asked[a], row.get(b).into(), asked[b])
            });
            let kind = least.expect("something is asked for");
            bound[kind] += row.get(kind);
        }
        let terms = bound.iter().zip(asked).filter(|(has, _)| **has > 0);
        Part::of(terms.map(|(&has, &asked)| (has, asked)))
    }
}

/// The part of all that a task is: 1 / h.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    /// As a fraction in lowest terms, where both fit.
    exact: Option<(u64, u64)>,
    /// Rounded down.
    grains: u128,
}

impl Part {
    /// Of h = the sum of these fractions.
    fn of(terms: impl Iterator<Item = (u64, u64)> + Clone) -> Part {
        let mut h = Some((0, 1));
        for (up, down) in terms.clone() {
            h = h.and_then(|h| plus(h, (u128::from(up), u128::from(down))));
        }
        let narrow = |(up, down): (u128, u128)| {
            let common = gcd(up, down);
            Some((u64::try_from(down / common).ok()?, u64::try_from(up / common).ok()?))
        };
        match h {
            Some((0, _)) => Part { exact: Some((1, 1)), grains: GRAINS },
            h => match h.and_then(narrow) {
                Some((up, down)) => {
                    Part { exact: Some((up, down)), grains: mul_div(GRAINS, up, down) }
                }
                None => Part { exact: None, grains: grains_of(terms) },
            },
        }
    }
}

/// floor(grains / the sum of the fractions).
fn grains_of(terms: impl Iterator<Item = (u64, u64)>) -> u128 {
    let (mut up, mut down) = (BigUint::default(), BigUint::from(1u64));
    for (more, below) in terms {
        up = up * below + &down * more;
        down *= below;
    }
    u128::try_from(down * GRAINS / up).unwrap_or(u128::MAX)
}

/// The sum of two fractions; `None` where it takes more than 128 bits on the way.
fn plus((a, b): (u128, u128), (c, d): (u128, u128)) -> Option<(u128, u128)> {
    if b == d {
        return Some((a.checked_add(c)?, b));
    }
    let common = gcd(b, d);
    let (left, right) = (d / common, b / common);
    let up = a.checked_mul(left)?.checked_add(c.checked_mul(right)?)?;
    Some((up, b.checked_mul(left)?))
}

/// What a child runs, shape by shape.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    shapes: BTreeMap<Resources, (u64, Part)>,
    /// Numerator and denominator.
    share: (u128, u128),
}

impl Default for Tasks {
    fn default() -> Tasks {
        Tasks { shapes: BTreeMap::new(), share: (0, 1) }
    }
}

impl Tasks {
    /// The share of all that could run: numerator and denominator, which is at most 2^96.
    pub(crate) fn share(&self) -> (u128, u128) {
        self.share
    }

    /// A task of `demand` starts.
    pub(crate) fn start(&mut self, alone: &Alone, demand: &Resources) {
        let new = || (0, alone.part(demand));
        self.shapes.entry(*demand).or_insert_with(new).0 += 1;
        self.sum_up();
    }

    /// One ends.
    pub(crate) fn end(&mut self, demand: &Resources) {
        let (count, _) = self.shapes.get_mut(demand).expect("only what runs ends");
        *count -= 1;
        if *count == 0 {
            self.shapes.remove(demand);
        }
        self.sum_up();
    }

    /// Servers have come, gone or changed.
    pub(crate) fn weigh_anew(&mut self, alone: &Alone) {
        self.shapes.iter_mut().for_each(|(demand, (_, part))| *part = alone.part(demand));
        self.sum_up();
    }

    fn sum_up(&mut self) {
        let few = self.shapes.len() <= FEW;
        let exact = few.then(|| self.exact_share()).flatten();
        self.share = exact.unwrap_or_else(|| {
            let grains = self.shapes.values().fold(0u128, |sum, (count, part)| {
                sum.saturating_add(part.grains.saturating_mul(u128::from(*count)))
            });
            (grains.min(MOST), GRAINS)
        });
    }

    fn exact_share(&self) -> Option<(u128, u128)> {
        let mut sum = (0, 1);
        for (count, part) in self.shapes.values() {
            let (up, down) = part.exact?;
            let term = (u128::from(*count) * u128::from(up), u128::from(down));
            sum = plus(sum, term).filter(|&(up, down)| up <= MOST && down <= GRAINS)?;
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn alone(servers: &[&[u64]]) -> Alone {
        let servers: Vec<Resources> = servers.iter().map(|row| Resources::new(row)).collect();
        Alone::new(servers.iter())
    }

    fn share(alone: &Alone, tasks: &[(u64, &[u64])]) -> (u128, u128) {
        let mut held = Tasks::default();
        for (count, demand) in tasks {
            (0..*count).for_each(|_| held.start(alone, &Resources::new(demand)));
        }
        let (up, down) = held.share();
        let common = gcd(up, down);
        (up / common, down / common)
    }

    #[test]
    fn of_one_server_it_is_the_dominant_share() {
        // DRF, NSDI'11 Sec. 4.1: 9 CPUs and 18 GB, tasks of <1, 4> and <3, 1>.
        let pool = alone(&[&[9, 18]]);
        assert_eq!(share(&pool, &[(3, &[1, 4])]), (2, 3));
        assert_eq!(share(&pool, &[(2, &[3, 1])]), (2, 3));
        // Servers alike in proportion are one.
        assert_eq!(alone(&[&[3, 6], &[6, 12]]), pool);
    }

    #[test]
    fn of_unlike_servers_it_is_the_part_of_what_fits_them_all() {
        // Alone the first could run 20 + 6 tasks, as could the second.
        let two = alone(&[&[100, 30], &[30, 100]]);
        assert_eq!(share(&two, &[(13, &[5, 1])]), (1, 2));
        assert_eq!(share(&two, &[(13, &[1, 5])]), (1, 2));
        assert_eq!(share(&two, &[(13, &[1, 5]), (2, &[5, 1])]), (15, 26));
        // A kind that no server has does not count; one that a server lacks keeps tasks off it.
        assert_eq!(share(&alone(&[&[4, 0]]), &[(1, &[1, 7])]), (1, 4));
        assert_eq!(share(&alone(&[&[4, 0], &[4, 2]]), &[(1, &[1, 1])]), (1, 2));
        assert_eq!(share(&alone(&[&[4, 0], &[0, 2]]), &[(3, &[1, 1])]), (3, 1));
    }

    #[test]
    fn a_share_falls_with_more_servers_and_ends_where_it_began() {
        let mut held = Tasks::default();
        let (small, large) = (alone(&[&[10, 10]]), alone(&[&[10, 10], &[20, 10]]));
        let demand = Resources::new(&[2, 1]);
        held.start(&small, &demand);
        assert_eq!(held.share(), (1, 5));
        held.weigh_anew(&large);
        assert_eq!(held.share(), (1, 15));
        held.end(&demand);
        assert_eq!(held.share(), (0, 1));
    }

    proptest! {
        /// h, counted up server by server in whole parts of all demands.
        #[test]
        fn h_is_the_sum_over_servers(
            servers in prop::collection::vec(prop::collection::vec(0u64..40, 3), 1..6),
            demand in prop::collection::vec(0u64..12, 3),
        ) {
            let there = |kind: usize| servers.iter().any(|row| row[kind] > 0);
            let asked: Vec<u64> =
                (0..3).map(|kind| if there(kind) { demand[kind] } else { 0 }).collect();
            let parts: u128 = asked.iter().filter(|&&d| d > 0).map(|&d| u128::from(d)).product();
            let fits = |row: &Vec<u64>| {
                let kinds = (0..3).filter(|&kind| asked[kind] > 0);
                kinds.map(|kind| u128::from(row[kind]) * parts / u128::from(asked[kind])).min()
            };
            let h: u128 = servers.iter().filter_map(fits).sum();
            let rows: Vec<&[u64]> = servers.iter().map(Vec::as_slice).collect();
            let (up, down) = share(&alone(&rows), &[(1, &demand)]);
            match (asked.iter().any(|&d| d > 0), h) {
                (false, _) => prop_assert_eq!(up, 0),
                (true, 0) => prop_assert_eq!((up, down), (1, 1)),
                (true, h) => prop_assert_eq!(up * h, down * parts),
            }
        }

        /// Whatever the amounts: a start raises the share, its end takes back what it added, and
        /// rounding takes less than a grain of each task.
        #[test]
        fn shares_rise_with_each_start(
            servers in prop::collection::vec(prop::collection::vec(1u64..1 << 50, 3), 1..4),
            tasks in prop::collection::vec(
                (prop::collection::vec(1u64..1 << 48, 3), 1u64..5), 1..9),
        ) {
            let rows: Vec<&[u64]> = servers.iter().map(Vec::as_slice).collect();
            let alone = alone(&rows);
            let mut held = Tasks::default();
            let mut seen = vec![held.share()];
            let order = |a: (u128, u128), b: (u128, u128)| {
                super::super::key::cmp_wide_ratios(a, b)
            };
            for (demand, count) in &tasks {
                for _ in 0..*count {
                    held.start(&alone, &Resources::new(demand));
                    let last = seen[seen.len() - 1];
                    prop_assert!(order(last, held.share()).is_lt(), "{last:?} {held:?}");
                    prop_assert!(held.share().1 <= GRAINS && held.share().0 <= MOST);
                    seen.push(held.share());
                }
            }
            for (demand, count) in tasks.iter().rev() {
                for _ in 0..*count {
                    seen.pop();
                    held.end(&Resources::new(demand));
                    prop_assert_eq!(held.share(), seen[seen.len() - 1]);
                }
            }
        }
    }
}
