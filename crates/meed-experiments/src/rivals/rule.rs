//! What a rival is: a ledger rule that ticks, and ranks that follow from it.
//!
//! > at each tick: (what was used since the last one, what is held, what waits) -> state
//! > after a tick: state -> a rank for each child ([`Rank`])
//!
//! A rule knows one parent's children, and nothing of trees, clocks or engines: [`super::teller`]
//! makes one for each parent. Between two ticks the engine serves by the last ranks; so a rule's
//! ledger and its dispatch stay apart, and its cadence is a number that can be changed.
//!
//! Numbers are floats where the source's are. They are added, multiplied and divided, and `libm`'s
//! functions are used beside that: the same on every machine. What goes to the engine are integers.

use std::cmp::Ordering;
use std::num::NonZeroU32;

use meed::Rank;

/// One child of a parent at a tick. Amounts are in natural units (cores) of the measured resource.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Child {
    /// 1 is usual.
    pub(crate) weight: f64,
    /// What it holds now.
    pub(crate) held: f64,
    /// What it holds and waits for.
    pub(crate) wants: f64,
    /// What it used since the last tick, unit-seconds.
    pub(crate) used: f64,
    /// Of a parent: what the rule of its children holds against those that want something
    /// ([`Rule::active`]); 0 of a leaf.
    pub(crate) active: f64,
    /// Whether it takes jobs itself.
    pub(crate) is_leaf: bool,
    /// The same of all resources, where the rule counts them ([`Rule::counts_all`]).
    pub(crate) part: DominantPart,
}

/// Dominant shares: of all resources the largest part of what the parent has.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct DominantPart {
    /// Of what it used since the last tick, mean.
    pub(crate) used: f64,
    /// Of what it holds now.
    pub(crate) held: f64,
    /// Of what it holds and waits for.
    pub(crate) wants: f64,
}

impl Child {
    /// Whether something of it waits.
    pub(crate) fn waits(&self) -> bool {
        self.wants > self.held
    }
}

/// What a rule sees at a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'s> {
    /// Since the last tick.
    pub(crate) seconds: f64,
    /// What the parent has for all of them, natural units.
    pub(crate) capacity: f64,
    /// Smallest units in a natural one.
    pub(crate) unit: f64,
    /// All children that there ever were, in order of declaration; more may follow.
    pub(crate) children: &'s [Child],
}

impl Seen<'_> {
    /// The sum of all weights.
    pub(crate) fn weights(&self) -> f64 {
        self.children.iter().map(|child| child.weight).sum()
    }

    /// An amount in smallest units, rounded up: who holds less has less than that.
    pub(crate) fn smallest(&self, amount: f64) -> u64 {
        libm::ceil(amount * self.unit) as u64
    }

    /// What amounts in smallest units may be multiplied by, so that ranks are fine integers: at
    /// most `wished`, and less where the pool is so large that a rank would not fit.
    pub(crate) fn fineness(&self, wished: f64) -> f64 {
        let largest = (1u64 << 60) as f64;
        wished.min(largest / (self.capacity * self.unit).max(1.0)).max(1.0)
    }
}

/// A rule. It keeps a row for each child, and adds rows where there are more.
pub(crate) trait Rule {
    /// Whether it wants to see dominant shares too.
    fn counts_all(&self) -> bool {
        false
    }

    /// A tick.
    fn tick(&mut self, seen: &Seen<'_>);

    /// So many more ticks, at each of which all is the same. Where a rule has a closed form, it
    /// comes to the same as [`Rule::tick`] again and again, but for the rounding.
    fn ticks(&mut self, seen: &Seen<'_>, more: u64) {
        for _ in 0..more {
            self.tick(seen);
        }
    }

    /// What it holds against each child, unit-seconds, where it keeps such an account.
    fn used(&self) -> &[f64] {
        &[]
    }

    /// What it holds against the children that want something, unit-seconds, where the rule of the
    /// parent's siblings counts that alone.
    fn active(&self, _seen: &Seen<'_>) -> f64 {
        0.0
    }

    /// Where each child stands until the next tick, in order.
    fn ranks(&mut self, seen: &Seen<'_>, ranks: &mut Vec<Rank>);
}

/// An order of children that is kept from one tick to the next: most stand as they stood.
#[derive(Default)]
pub(crate) struct KeptOrder(Vec<usize>);

impl KeptOrder {
    /// So many children by `compare`, of which no two are equal. O(count + pairs that have changed
    /// their order), and O(count log count) where these are many.
    pub(crate) fn sort(
        &mut self,
        count: usize,
        compare: impl Fn(usize, usize) -> Ordering,
    ) -> &[usize] {
        let KeptOrder(order) = self;
        if order.len() != count {
            *order = (0..count).collect();
        }
        let mut moves = 8 * count;
        for next in 1..count {
            let (child, mut place) = (order[next], next);
            while place > 0 && moves > 0 && compare(child, order[place - 1]).is_lt() {
                order[place] = order[place - 1];
                place -= 1;
                moves -= 1;
            }
            order[place] = child;
        }
        if moves == 0 {
            order.sort_by(|&a, &b| compare(a, b));
        }
        order
    }
}

/// Plain ranks: the smallest value comes first, equal ones stand together.
pub(crate) fn strict(values: &[f64], kept: &mut KeptOrder, ranks: &mut Vec<Rank>) {
    let by_value = |a: usize, b: usize| values[a].total_cmp(&values[b]).then(a.cmp(&b));
    let order = kept.sort(values.len(), by_value);
    ranks.clear();
    ranks.resize(values.len(), Rank::default());
    let mut place = 0;
    for (i, &child) in order.iter().enumerate() {
        if i > 0 && values[order[i - 1]] < values[child] {
            place += 1;
        }
        ranks[child].amount = place;
    }
}

/// A weight as what ranks are divided by, in thousandths.
pub(crate) fn per(weight: f64) -> NonZeroU32 {
    let thousandths = libm::round(weight * 1000.0).clamp(1.0, f64::from(u32::MAX)) as u32;
    NonZeroU32::new(thousandths).unwrap_or(NonZeroU32::MIN)
}

/// Shares `capacity` in proportion to weights, nobody more than he wants: what is left goes to the
/// others in the same way.
pub(crate) fn fill(capacity: f64, all: &[(f64, f64)], kept: &mut KeptOrder) -> Vec<f64> {
    // Who is satisfied at the lowest level comes first.
    let levels: Vec<f64> = all.iter().map(|(weight, wants)| wants / weight).collect();
    let by_level = |a: usize, b: usize| levels[a].total_cmp(&levels[b]).then(a.cmp(&b));
    let order = kept.sort(all.len(), by_level);
    let taking = || order.iter().copied().filter(|&i| all[i].0 > 0.0);
    let mut weights: f64 = taking().map(|i| all[i].0).sum();
    let (mut left, mut shares) = (capacity, vec![0.0; all.len()]);
    for i in taking() {
        let (weight, wants) = all[i];
        let part = if weights > 0.0 { left * (weight / weights) } else { 0.0 };
        shares[i] = part.min(wants).max(0.0);
        left -= shares[i];
        weights -= weight;
    }
    shares
}

/// Raises a common level until rows that stand at `from`, and rise by `price` a unit up to `most`
/// units, have got `sum` units together (or all that they can take): units of each. O(n log n).
pub(crate) fn raise(sum: f64, rows: &[(f64, f64, f64)]) -> Vec<f64> {
    let whole: f64 = rows.iter().map(|&(_, most, _)| most).sum();
    if sum >= whole {
        return rows.iter().map(|&(_, most, _)| most).collect();
    }
    // The slope changes where a row begins and where it is full.
    let mut turns: Vec<(f64, f64)> = Vec::with_capacity(2 * rows.len());
    for &(from, most, price) in rows.iter().filter(|(_, most, _)| *most > 0.0) {
        turns.extend([(from, 1.0 / price), (from + most * price, -1.0 / price)]);
    }
    turns.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let (mut level, mut slope, mut got) = (turns.first().map_or(0.0, |turn| turn.0), 0.0, 0.0);
    for (at, change) in turns {
        let more = (at - level) * slope;
        if got + more >= sum {
            break;
        }
        (level, slope, got) = (at, slope + change, got + more);
    }
    if slope > 0.0 {
        level += (sum - got) / slope;
    }
    let units = |&(from, most, price): &(f64, f64, f64)| ((level - from) / price).clamp(0.0, most);
    rows.iter().map(units).collect()
}

/// Shares `total` in proportion to weights between bounds, from rows of weight, least and most:
///
/// > x_i = clip(w_i lambda, least_i, most_i), lambda such that they sum to `total`
///
/// All that each can take where that is less, and the least of each where that is more. O(n log n).
pub(crate) fn between(total: f64, rows: &[(f64, f64, f64)]) -> Vec<f64> {
    let row = |&(weight, least, most): &(f64, f64, f64)| match weight > 0.0 {
        true => (least / weight, (most - least).max(0.0), 1.0 / weight),
        false => (0.0, 0.0, 1.0),
    };
    let least: f64 = rows.iter().map(|row| row.1).sum();
    let above = raise((total - least).max(0.0), &rows.iter().map(row).collect::<Vec<_>>());
    rows.iter().zip(above).map(|(row, above)| row.1 + above).collect()
}

/// Ranks from grants: below his grant, and above it, who has the smallest part of it comes first.
pub(crate) fn by_grant(seen: &Seen<'_>, grants: &[f64], ranks: &mut Vec<Rank>) {
    let finest = f64::from(1u32 << 31);
    let rank = |&grant: &f64| {
        let part = (grant / seen.capacity.max(f64::MIN_POSITIVE) * finest).clamp(1.0, finest);
        let per = NonZeroU32::new(part as u32).unwrap_or(NonZeroU32::MIN);
        Rank { amount: 0, step: 1, per, quota: seen.smallest(grant) }
    };
    ranks.clear();
    ranks.extend(grants.iter().map(rank));
}

/// The factor by which what was before still counts after `seconds`; 1 where nothing is forgotten.
pub(crate) fn kept(half_life: f64, seconds: f64) -> f64 {
    if half_life > 0.0 { libm::exp2(-seconds / half_life) } else { 1.0 }
}

/// `q^n`, and `1 + q + ... + q^(n-1)`.
pub(crate) fn geometric(q: f64, n: u64) -> (f64, f64) {
    let power = libm::pow(q, n as f64);
    let sum = if q < 1.0 { (1.0 - power) / (1.0 - q) } else { n as f64 };
    (power, sum)
}
