//! How amounts stand in columns, and what somebody misses at least by them.
//!
//! > column a = most of ever(node)[a], column j = most of min(s_j a, b), s_j a rounded up
//!
//! Whoever is below a vertex has no more than its columns of each kind, and of a and b, for each j,
//! either at most along_j / s_j of a, or at most along_j of b: so it misses at least
//!
//! > max over j of min(miss(a, along_j / s_j) + miss(b, b), miss(a, a) + miss(b, along_j)) + others
//!
//! [`Scale::missing_below`] is that in integers, for a node just what it misses, as places are
//! ranked ([`Core::rank_missing`](crate::engine::Engine)). [`Short`] bounds sixteen vertices at
//! once in floats that are never above it, so that few are asked for the exact one.

use super::blocks::{FAN, Lanes};
use crate::place::{PARTS, parts_of_pool};
use crate::resources::{MAX_KINDS, Resources};

/// Powers of two that s is, in parts of the pool, and how much each is raised by.
const DIRECTIONS: [u32; 3] = [0, 2, 4];
const RAISED: u32 = 2;

/// Most columns of a vertex.
pub(super) const MAX_COLUMNS: usize = MAX_KINDS + DIRECTIONS.len();

pub(super) type Columns = [u32; MAX_COLUMNS];

/// How amounts stand in columns: in units of so large a power of two that what the pool has takes
/// 31 bits, rounded up.
#[derive(Default)]
pub(super) struct Scale {
    /// What all nodes had when it was made.
    pub(super) total: Resources,
    /// The same, or one where that is nothing.
    whole: [u64; MAX_KINDS],
    shifts: [u32; MAX_KINDS],
    /// s for each direction, in units of b for one of a, in parts of `1 << FINE`: below 2^29.
    ratios: [u32; DIRECTIONS.len()],
}

const FINE: u32 = 16 + RAISED;

/// Most units.
const MOST: u32 = i32::MAX as u32;

impl Scale {
    pub(super) fn of(total: &Resources) -> Scale {
        let (mut whole, mut shifts) = ([1; MAX_KINDS], [0; MAX_KINDS]);
        for ((whole, shift), &total) in whole.iter_mut().zip(&mut shifts).zip(total.as_slice()) {
            *whole = total.max(1);
            *shift = (u64::BITS - total.leading_zeros()).saturating_sub(31);
        }
        let (a, b) = (whole[0] >> shifts[0], whole[1] >> shifts[1]);
        // Any will do; these tell most where nodes have of both what the pool has.
        let ratio = ((b << 16) / a.max(1)).clamp(1, 1 << 24) as u32;
        let ratios = DIRECTIONS.map(|direction| ratio << direction);
        Scale { total: *total, whole, shifts, ratios }
    }

    #[inline]
    fn units(&self, kind: usize, amount: u64) -> u32 {
        let shift = self.shifts[kind];
        let units = (amount >> shift) + u64::from(amount & ((1 << shift) - 1) > 0);
        // More than all of the pool is as good as that.
        u32::try_from(units).unwrap_or(MOST).min(MOST)
    }

    /// s a, rounded up, where it is below b, in units of b.
    #[inline(always)]
    fn along(&self, direction: usize, a: u32, b: u32) -> u32 {
        let raised = u64::from(a) * u64::from(self.ratios[direction]);
        ((raised + ((1 << FINE) - 1)) >> FINE).min(u64::from(b)) as u32
    }

    /// The same of sixteen nodes in each direction.
    #[inline]
    pub(super) fn along_all(&self, a: &Lanes, b: &Lanes) -> [Lanes; DIRECTIONS.len()] {
        let mut all = [[0; FAN]; DIRECTIONS.len()];
        for (direction, lanes) in all.iter_mut().enumerate() {
            for (along, (&a, &b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
                *along = self.along(direction, a, b);
            }
        }
        all
    }

    /// The most of a for which s a, rounded up, is at most this.
    #[inline]
    fn before(&self, direction: usize, along: u32) -> u64 {
        (u64::from(along) << FINE) / u64::from(self.ratios[direction].max(1))
    }

    /// What of an amount so many units lack, in parts of the pool, as places are ranked
    /// ([`Core::rank_missing`]).
    #[inline(always)]
    fn lacks(&self, kind: usize, amount: u64, units: u32) -> u64 {
        let missing = amount.saturating_sub(u64::from(units) << self.shifts[kind]);
        match missing {
            0 => 0,
            _ => {
                let parts = parts_of_pool(u128::from(missing), self.whole[kind]);
                u64::try_from(parts).unwrap_or(u64::MAX)
            }
        }
    }

    /// The kinds of a node.
    #[inline]
    pub(super) fn columns(&self, amounts: impl Iterator<Item = u64>) -> Columns {
        let mut row = [0; MAX_COLUMNS];
        let units = amounts.enumerate().map(|(kind, amount)| self.units(kind, amount));
        row.iter_mut().zip(units).for_each(|(column, units)| *column = units);
        row
    }

    /// The other columns of a node, from its kinds.
    #[inline]
    pub(super) fn widen(&self, row: &mut Columns) {
        let kinds = self.total.kinds();
        if kinds > 1 {
            let (a, b) = (row[0], row[1]);
            let columns = row[kinds..].iter_mut().take(DIRECTIONS.len()).enumerate();
            columns.for_each(|(direction, column)| *column = self.along(direction, a, b));
        }
    }

    /// Columns that a vertex above the nodes has where there are so many kinds.
    pub(super) fn columns_of(kinds: usize) -> usize {
        kinds + if kinds > 1 { DIRECTIONS.len() } else { 0 }
    }

    /// What somebody who demands so much misses on a node with these kinds, in parts of the pool.
    #[inline]
    pub(super) fn missing_on(&self, most: &Columns, demand: &Resources) -> u64 {
        let each = demand.as_slice().iter().zip(most).enumerate();
        let lacks = each.map(|(kind, (&amount, &units))| self.lacks(kind, amount, units));
        lacks.fold(0, u64::saturating_add)
    }

    /// What somebody who demands so much misses at least below a vertex with these columns, in
    /// parts of the pool; no look is taken at pairs of kinds where what single ones tell is too
    /// much.
    #[inline]
    pub(super) fn missing_below(
        &self,
        most: &Columns,
        demand: &Resources,
        needs: &Columns,
        mut may_be: impl FnMut(u64) -> bool,
    ) -> Option<u64> {
        let mut each = [0u64; 3];
        for (kind, (&amount, &units)) in demand.as_slice().iter().zip(most).enumerate() {
            let sum = &mut each[kind.min(2)];
            *sum = sum.saturating_add(self.lacks(kind, amount, units));
        }
        let sum = each[0].saturating_add(each[1]).saturating_add(each[2]);
        let by_pairs = |sum: u64| sum.max(self.both_missing(most, demand, needs, each));
        may_be(sum).then(|| by_pairs(sum)).filter(|&missing| may_be(missing))
    }

    /// The same of all kinds, for no node has the most of both of the first two.
    fn both_missing(
        &self,
        most: &Columns,
        demand: &Resources,
        needs: &Columns,
        [short_of_a, short_of_b, others]: [u64; 3],
    ) -> u64 {
        let kinds = demand.kinds();
        if kinds < 2 {
            return 0;
        }
        let ([most_a, most_b], [a, b]) = ([most[0], most[1]], [demand.get(0), demand.get(1)]);
        let mut missing: u64 = 0;
        let columns = most[kinds..].iter().zip(&needs[kinds..]).take(DIRECTIONS.len());
        for (direction, (&along, &need)) in columns.enumerate() {
            // Nobody has s a and b above this: each node has no more than it of one.
            if along >= need.min(most_b) {
                continue;
            }
            let before = self.before(direction, along);
            if before < u64::from(most_a) {
                let by_a = self.lacks(0, a, before as u32).saturating_add(short_of_b);
                let by_b = self.lacks(1, b, along).saturating_add(short_of_a);
                missing = missing.max(by_a.min(by_b));
            }
        }
        missing.saturating_add(others)
    }
}

/// What sixteen vertices miss at least of one demand, in floats: see the module.
///
/// Rounding: amounts are whole units below 2^31, so that each step is off by 2^-23 of what it makes
/// at most, and a bound of a few steps by less than 2^-19 of itself; what is subtracted from is
/// rounded down first. Weights are lowered by that, so no bound is above the exact one.
pub(super) struct Short {
    kinds: usize,
    /// What is demanded, in whole units, rounded down.
    needs: [i32; MAX_KINDS],
    /// Parts of the pool in a unit.
    weights: [f32; MAX_KINDS],
    /// The demand of the first kind, and how much of it one of the second is along a direction.
    a: f32,
    per_along: [f32; DIRECTIONS.len()],
}

/// By so much a float may be off.
const SLACK: f32 = 1.0 / (1 << 18) as f32;

impl Short {
    pub(super) fn of(scale: &Scale, demand: &Resources) -> Short {
        let (mut needs, mut weights) = ([0; MAX_KINDS], [0.0; MAX_KINDS]);
        for (kind, &amount) in demand.as_slice().iter().enumerate() {
            let units = amount >> scale.shifts[kind];
            needs[kind] = i32::try_from(units).unwrap_or(i32::MAX);
            let unit = PARTS as f32 * (1u64 << scale.shifts[kind]) as f32;
            weights[kind] = unit / scale.whole[kind] as f32 * (1.0 - SLACK);
        }
        let per_along =
            scale.ratios.map(|ratio| (1u32 << FINE) as f32 / ratio.max(1) as f32 * (1.0 + SLACK));
        let a = needs[0] as f32 * (1.0 - SLACK);
        Short { kinds: demand.kinds(), needs, weights, a, per_along }
    }

    /// What is missing of a kind, in units; where there is as much as that at most.
    #[inline(always)]
    fn lacks(&self, kind: usize, most: &Lanes) -> [f32; FAN] {
        let (need, mut lacks) = (self.needs[kind], [0.0; FAN]);
        lacks.iter_mut().zip(most).for_each(|(lacks, &most)| {
            *lacks = (need - most as i32).max(0) as f32;
        });
        lacks
    }

    #[inline(always)]
    fn weigh(&self, kind: usize, lacks: &[f32; FAN]) -> [f32; FAN] {
        let mut parts = *lacks;
        parts.iter_mut().for_each(|part| *part *= self.weights[kind]);
        parts
    }

    /// In parts of the pool, node by node.
    pub(super) fn of_nodes(&self, lanes: &[Lanes]) -> [f32; FAN] {
        let mut lower = [0.0; FAN];
        for (kind, most) in lanes.iter().enumerate() {
            let more = self.weigh(kind, &self.lacks(kind, most));
            lower.iter_mut().zip(&more).for_each(|(sum, more)| *sum += more);
        }
        lower
    }

    /// In parts of the pool, vertex by vertex.
    pub(super) fn of_all(&self, lanes: &[Lanes]) -> [f32; FAN] {
        let weigh = |kind: usize, lacks: &[f32; FAN]| self.weigh(kind, lacks);
        let lacks_a = self.lacks(0, &lanes[0]);
        let all_a = weigh(0, &lacks_a);
        if self.kinds == 1 {
            return all_a;
        }
        let lacks_b = self.lacks(1, &lanes[1]);
        let all_b = weigh(1, &lacks_b);
        let mut lower = all_a;
        lower.iter_mut().zip(&all_b).for_each(|(sum, more)| *sum += more);
        for (direction, along) in lanes[self.kinds..].iter().enumerate() {
            let by_b = self.lacks(1, along);
            for at in 0..FAN {
                let by_a = self.a - along[at] as i32 as f32 * self.per_along[direction];
                let by_a = larger(lacks_a[at], by_a) * self.weights[0] + all_b[at];
                let by_b = larger(lacks_b[at], by_b[at]) * self.weights[1] + all_a[at];
                lower[at] = larger(lower[at], if by_a < by_b { by_a } else { by_b });
            }
        }
        for (kind, most) in lanes.iter().enumerate().take(self.kinds).skip(2) {
            let more = weigh(kind, &self.lacks(kind, most));
            lower.iter_mut().zip(&more).for_each(|(sum, more)| *sum += more);
        }
        lower
    }

    /// Whoever misses more than this by a bound misses more than `most` exactly: kinds are rounded
    /// down one by one there.
    pub(super) fn limit(&self, most: Option<u64>) -> f32 {
        most.map_or(f32::MAX, |most| (most as f32 + self.kinds as f32) * (1.0 + SLACK))
    }
}

/// Neither is NaN.
#[inline(always)]
fn larger(one: f32, other: f32) -> f32 {
    if one > other { one } else { other }
}
