//! A user's share as a function of the level, and the search for the level at which a limit is met.
//!
//! x_i(level) = clip(w_i level - H_i, 0, cap_i): weighted max-min fairness (DRFH Sec. 5.1) with a
//! history H_i (zero for memoryless policies) and a finite number of tasks, cap_i = tasks_i x
//! dominant demand_i. It is piecewise linear with two breakpoints, H_i / w_i and (H_i + cap_i) /
//! w_i.
//!
//! The search is exact up to rounding: bisection over the *breakpoints* (by repeated selection of
//! the median, no sort) leaves an interval in which every share is linear, and there the level is a
//! quotient. Cost: O(n) for selection, and one evaluation of the limits for each halving, at most
//! log2(2n) + 1; of a single limit, only of the shares that bend in what is left, O(n) in all.

/// One user's share as a function of the level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Line {
    pub(crate) weight: f64,
    pub(crate) history: f64,
    pub(crate) cap: f64,
}

impl Line {
    /// A share that does not depend on the level: that of somebody who is served.
    pub(crate) fn fixed(share: f64) -> Line {
        Line { weight: 0.0, history: -share, cap: share }
    }

    /// The share at a level.
    #[inline]
    pub(crate) fn at(&self, level: f64) -> f64 {
        (self.weight * level - self.history).max(0.0).min(self.cap)
    }

    /// The share at a level that may be infinite, exactly the cap once that is reached.
    pub(crate) fn share(&self, level: f64) -> f64 {
        if level >= self.to() { self.cap } else { self.at(level) }
    }

    /// The level from which on the share is above zero.
    #[inline]
    pub(crate) fn from(&self) -> f64 {
        if self.weight > 0.0 { self.history / self.weight } else { 0.0 }
    }

    /// The level from which on all tasks are served.
    #[inline]
    pub(crate) fn to(&self) -> f64 {
        if self.weight > 0.0 { (self.history + self.cap) / self.weight } else { 0.0 }
    }

    /// How fast the share rises at a level between two breakpoints (where rounding cannot mistake
    /// the piece).
    #[inline]
    pub(crate) fn slope(&self, between: f64) -> f64 {
        let share = self.weight * between - self.history;
        if share > 0.0 && share < self.cap { self.weight } else { 0.0 }
    }

    /// Appends the breakpoints that lie above zero.
    pub(crate) fn breakpoints(&self, into: &mut Vec<f64>) {
        into.extend(
            [self.from(), self.to()]
                .into_iter()
                .filter(|&level| level > 0.0 && level < f64::INFINITY),
        );
    }
}

/// Where the largest feasible level lies: between these two neighbouring breakpoints (or 0, or
/// infinity).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bracket {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Bracket {
    /// A level well inside.
    pub(crate) fn between(&self) -> f64 {
        if self.high.is_finite() { 0.5 * (self.low + self.high) } else { 2.0 * self.low + 1.0 }
    }
}

/// Finds the two neighbouring breakpoints between which `feasible` ends to hold. It holds at zero,
/// and is monotone.
pub(crate) fn bracket(breakpoints: &mut [f64], mut feasible: impl FnMut(f64) -> bool) -> Bracket {
    let mut found = Bracket { low: 0.0, high: f64::INFINITY };
    let mut rest = breakpoints;
    while !rest.is_empty() {
        let points = std::mem::take(&mut rest);
        let middle = points.len() / 2;
        let (below, &mut level, above) = points.select_nth_unstable_by(middle, f64::total_cmp);
        // Many users may share a breakpoint; it is asked about once.
        let holds = level <= found.low || (level < found.high && feasible(level));
        if holds {
            found.low = found.low.max(level);
            rest = above;
        } else {
            found.high = found.high.min(level);
            rest = below;
        }
    }
    found
}

/// The largest level at which the sum of `coefficient x share` is at most `room`; infinite when all
/// can be served.
pub(crate) fn fill(users: &[(Line, f64)], room: f64) -> f64 {
    // What is used already, and does not rise, limits nothing: rounding may have taken it past the
    // room.
    let rising = || users.iter().filter(|(line, by)| line.weight > 0.0 && *by > 0.0);
    if rising().next().is_none() {
        return f64::INFINITY;
    }
    let mut breakpoints = Vec::with_capacity(2 * users.len());
    rising().for_each(|(line, _)| line.breakpoints(&mut breakpoints));
    let mut used = Used { bending: users.to_vec(), value: 0.0, slope: 0.0 };
    let mut found = Bracket { low: 0.0, high: f64::INFINITY };
    let found = bracket(&mut breakpoints, |level| {
        let holds = used.at(level) <= room;
        match holds {
            true => found.low = level,
            false => found.high = level,
        }
        used.narrow(found);
        holds
    });
    let Bracket { low, high } = found;
    let mut value = Sum::default();
    let mut slope = Sum::default();
    for (line, by) in users {
        value.add(by * line.at(low));
        slope.add(by * line.slope(found.between()));
    }
    meets(low, high, room - value.total(), slope.total())
}

/// What shares use at the levels of a bracket: those that bend inside one by one, and the sum of
/// the others, which is linear there.
struct Used {
    bending: Vec<(Line, f64)>,
    value: f64,
    slope: f64,
}

impl Used {
    fn at(&self, level: f64) -> f64 {
        let bending = self.bending.iter().map(|(line, by)| by * line.at(level));
        self.value + self.slope * level + bending.sum::<f64>()
    }

    /// Goes on inside a smaller bracket.
    fn narrow(&mut self, inside: Bracket) {
        let Used { bending, value, slope } = self;
        bending.retain(|(line, by)| {
            let (from, to) = (line.from(), line.to());
            if to <= inside.low {
                *value += by * line.cap;
            } else if from <= inside.low && to >= inside.high {
                *value -= by * line.history;
                *slope += by * line.weight;
            } else {
                return from < inside.high;
            }
            false
        });
    }
}

/// The level in a bracket at which a limit with so much room left at `low`, falling at `slope`, is
/// met.
pub(crate) fn meets(low: f64, high: f64, room: f64, slope: f64) -> f64 {
    match slope > 0.0 {
        true => (low + room.max(0.0) / slope).min(high),
        false => high,
    }
}

/// A sum that loses no digits (Knuth's and Neumaier's): shares of a million users add up to one.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let total = self.total + value;
        let added = total - self.total;
        self.lost += (self.total - (total - added)) + (value - added);
        self.total = total;
    }

    #[inline]
    pub(crate) fn total(&self) -> f64 {
        self.total + self.lost
    }
}

/// A running sum for hot loops: plain within a block of terms, exact from block to block.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Running {
    blocks: Sum,
    before: f64,
    block: f64,
}

impl Running {
    /// The sum so far.
    #[inline]
    pub(crate) fn total(&self) -> f64 {
        self.before + self.block
    }

    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        self.block += value;
    }

    /// Ends a block.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.blocks.add(self.block);
        self.before = self.blocks.total();
        self.block = 0.0;
    }
}

/// Terms in a block of a [`Running`] sum.
pub(crate) const BLOCK: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn line(weight: f64, history: f64, cap: f64) -> Line {
        Line { weight, history, cap }
    }

    #[test]
    fn the_level_at_which_a_limit_is_met() {
        let endless = f64::INFINITY;
        let check = |users: &[(Line, f64)], room: f64, expected: f64| {
            assert_eq!(fill(users, room), expected, "{users:?}")
        };
        check(&[(line(1.0, 0.0, endless), 1.0), (line(3.0, 0.0, endless), 1.0)], 1.0, 0.25);
        check(&[(line(1.0, 0.0, 0.125), 1.0), (line(1.0, 0.0, endless), 1.0)], 1.0, 0.875);
        check(&[(line(1.0, 0.0, 0.125), 1.0), (line(1.0, 0.0, 0.5), 1.0)], 1.0, endless);
        check(&[(line(1.0, 2.0, endless), 1.0), (line(1.0, 0.0, endless), 1.0)], 1.0, 1.0);
        check(&[(line(1.0, 2.0, endless), 1.0), (line(1.0, 0.0, endless), 1.0)], 4.0, 3.0);
        check(&[(line(1.0, 0.0, endless), 0.5)], 1.0, 2.0);
        check(&[(Line::fixed(0.5), 1.0), (line(2.0, 0.0, endless), 1.0)], 1.0, 0.25);
        check(&[(Line::fixed(1.5), 1.0), (line(2.0, 1.0, endless), 0.0)], 1.0, endless);
        check(&[], 1.0, endless);
    }

    #[test]
    fn a_bracket_has_no_breakpoint_inside() {
        for limit in 0..12 {
            let mut points = [3.0, 1.0, 2.0, 2.0, 8.0, 3.0, 3.0];
            let found = bracket(&mut points, |level| level <= f64::from(limit));
            let inside = |p: &f64| *p > found.low && *p < found.high;
            assert!(
                !points.iter().any(inside)
                    && found.low <= f64::from(limit)
                    && found.high > f64::from(limit)
            );
        }
    }

    #[test]
    fn small_terms_are_not_lost() {
        let mut sum = Sum::default();
        [1.0, 1e-17, 1e-17, 1e-17, -1.0].iter().for_each(|&value| sum.add(value));
        assert_eq!(sum.total(), 3e-17);
    }
}
