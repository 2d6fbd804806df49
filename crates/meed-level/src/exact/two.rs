//! Two resources and unequal servers: the level in closed form, without a linear program.
//!
//! **Claim.** Shares x fit on the servers exactly if for both resources sum_i x_i d_ir <= 1, and
//! for every ratio tau = d_i2 / d_i1 of a user that demands both,
//!
//! ```text
//! sum_i x_i min(d_i2, tau d_i1)  <=  sum_k min(C_k2, tau C_k1).
//! ```
//!
//! *Proof.* By Farkas' lemma x fits exactly if for all prices p_kr >= 0: sum_i x_i f(d_i) <= sum_k
//! p_k C_k, where f(d) = min_k p_k d. f is concave, homogeneous and does not fall. For a given f
//! the right side is smallest when p_k is a tangent of f at C_k, and is then sum_k f(C_k). Every
//! such f of two variables is a positive combination of d_1, d_2 and min(d_2, tau d_1) over tau >
//! 0. So these suffice. Between the ratios of neighbouring users the left side is linear in tau and
//! the right side concave: the users' own ratios suffice. Below the smallest ratio the left side is
//! proportional to tau and the right side concave, above the largest the left side is constant and
//! the right side does not fall: nothing is lost at the ends.
//!
//! **Rounds.** Every limit but those of the two resources binds each user that demands both, with a
//! positive factor. So these stop together, at the first limit met. Users of a single resource go
//! on until that resource is used up. There are at most three levels.
//!
//! **Prices.** Those of the limit that was met: (0, 1) on servers with C_k2 < tau C_k1 and (tau, 0)
//! on others.
//!
//! Cost: a sort by ratio, then at most log2(2n) + 2 sweeps over the users ([`crate::line`]); one
//! sweep if nobody has finitely many tasks or a history. Sums run from both ends, so that none is a
//! difference of larger ones.

use crate::exact::windows::split;
use crate::line::{BLOCK, Bracket, Line, Running, Sum, bracket, fill, meets};
use crate::pool::{Class, Pool, Solved, Stop};

/// What stopped the users that demand both resources.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Limit {
    Resource(usize),
    Ratio(f64),
}

/// Users that demand both resources, by rising ratio; and what the servers allow at each ratio.
pub(crate) struct Sorted {
    users: Vec<usize>,
    lines: Vec<Line>,
    demand: Vec<[f64; 2]>,
    ratio: Vec<f64>,
    room: Vec<f64>,
}

/// A pool of two demanded resources.
pub(crate) fn solve(pool: &Pool, classes: &[Class]) -> Solved {
    let (sorted, single) = sort(pool, classes);
    level(pool, classes, &sorted, &single)
}

/// The levels of sorted users, and the split that follows from them.
fn level(pool: &Pool, classes: &[Class], sorted: &Sorted, single: &[Vec<usize>; 2]) -> Solved {
    let mut shares = vec![0.0; pool.lines.len()];
    let mut stops = Vec::new();
    let mut stop = |level: f64, users: &[usize], limit: Limit| {
        let wanting = users.iter().copied().filter(|&user| pool.lines[user].to() > level).collect();
        stops.push(Stop { level, users: wanting, prices: prices(pool, limit) });
    };
    let (both, limit) = sorted.largest_level(&pool_lines(pool, single));
    sorted.users.iter().for_each(|&user| shares[user] = pool.lines[user].share(both));
    if both.is_finite() {
        let mut users = sorted.users.clone();
        if let Limit::Resource(r) = limit {
            users.extend(&single[r]);
            single[r].iter().for_each(|&user| shares[user] = pool.lines[user].share(both));
        }
        stop(both, &users, limit);
    }
    for (r, users) in single.iter().enumerate() {
        if users.is_empty() || (both.is_finite() && limit == Limit::Resource(r)) {
            continue;
        }
        let mut used = Sum::default();
        sorted
            .users
            .iter()
            .zip(&sorted.demand)
            .for_each(|(&user, demand)| used.add(shares[user] * demand[r]));
        let lines: Vec<(Line, f64)> = users.iter().map(|&user| (pool.lines[user], 1.0)).collect();
        let alone = fill(&lines, 1.0 - used.total());
        users.iter().for_each(|&user| shares[user] = pool.lines[user].share(alone));
        if alone.is_finite() {
            stop(alone, users, Limit::Resource(r));
        }
    }
    stops.sort_by(|a, b| a.level.total_cmp(&b.level));
    let order = single[0].iter().chain(&sorted.users).chain(&single[1]).copied();
    let pieces = split(pool, classes, order, &shares);
    Solved { shares, stops, pieces, gap: 0.0 }
}

/// Users of one resource, as lines.
pub(crate) fn pool_lines(pool: &Pool, single: &[Vec<usize>; 2]) -> [Vec<Line>; 2] {
    [0, 1].map(|r| single[r].iter().map(|&user| pool.lines[user]).collect())
}

fn prices(pool: &Pool, limit: Limit) -> Vec<f64> {
    let price = |server: usize| match limit {
        Limit::Resource(0) => [1.0, 0.0],
        Limit::Resource(_) => [0.0, 1.0],
        Limit::Ratio(tau) => match pool.capacity(server) {
            [first, second] if *second < tau * first => [0.0, 1.0],
            _ => [tau, 0.0],
        },
    };
    (0..pool.servers()).flat_map(price).collect()
}

/// Users of both resources, sorted; users of one.
pub(crate) fn sort(pool: &Pool, classes: &[Class]) -> (Sorted, [Vec<usize>; 2]) {
    let mut single = [Vec::new(), Vec::new()];
    let mut both: Vec<(f64, usize)> = Vec::with_capacity(pool.lines.len());
    for user in 0..pool.lines.len() {
        match *pool.demand(user) {
            [first, second] if first > 0.0 && second > 0.0 => both.push((second / first, user)),
            [first, _] => single[usize::from(first == 0.0)].push(user),
            _ => {}
        }
    }
    both.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let ratio: Vec<f64> = both.iter().map(|(ratio, _)| *ratio).collect();
    let sorted = Sorted {
        lines: both.iter().map(|(_, user)| pool.lines[*user]).collect(),
        demand: both
            .iter()
            .map(|(_, user)| [pool.demand(*user)[0], pool.demand(*user)[1]])
            .collect(),
        users: both.into_iter().map(|(_, user)| user).collect(),
        room: room(classes, &ratio),
        ratio,
    };
    (sorted, single)
}

/// sum_k min(C_k2, tau C_k1) at each of the rising ratios tau.
fn room(classes: &[Class], ratios: &[f64]) -> Vec<f64> {
    let mut servers: Vec<[f64; 2]> =
        classes.iter().map(|class| [class.capacity[0], class.capacity[1]]).collect();
    servers.sort_by(|a, b| (a[1] / a[0]).total_cmp(&(b[1] / b[0])));
    // Of servers from here on the first resource counts: summed from the end.
    let mut first = vec![0.0; servers.len() + 1];
    let mut sum = Sum::default();
    for (at, server) in servers.iter().enumerate().rev() {
        sum.add(server[0]);
        first[at] = sum.total();
    }
    let (mut at, mut second) = (0, Sum::default());
    let rooms = ratios.iter().map(|&tau| {
        while at < servers.len() && servers[at][1] < tau * servers[at][0] {
            second.add(servers[at][1]);
            at += 1;
        }
        second.total() + tau * first[at]
    });
    rooms.collect()
}

impl Sorted {
    /// The largest level of those that demand both, and what stops them; infinite if nothing does.
    /// Users of one resource rise along.
    fn largest_level(&self, single: &[Vec<Line>; 2]) -> (f64, Limit) {
        if self.users.is_empty() {
            return (f64::INFINITY, Limit::Resource(0));
        }
        let mut breakpoints = Vec::new();
        self.lines
            .iter()
            .chain(&single[0])
            .chain(&single[1])
            .for_each(|line| line.breakpoints(&mut breakpoints));
        let mut scratch = vec![[0.0; 2]; self.users.len()];
        let found = bracket(&mut breakpoints, |level| self.feasible(single, level, &mut scratch));
        self.first_limit(single, found, &mut scratch)
    }

    /// The largest level of those that demand both.
    pub(crate) fn level(&self, single: &[Vec<Line>; 2]) -> f64 {
        self.largest_level(single).0
    }

    /// Whether all limits hold at a level. Each half of `scratch` is overwritten: the share, and
    /// the use of the first resource by this user and all of higher ratio.
    fn feasible(&self, single: &[Vec<Line>; 2], level: f64, scratch: &mut [[f64; 2]]) -> bool {
        let alone =
            single.each_ref().map(|lines| lines.iter().map(|line| line.at(level)).sum::<f64>());
        let mut first = 0.0;
        for ((line, demand), note) in
            self.lines.iter().zip(&self.demand).zip(scratch.iter_mut()).rev()
        {
            let share = line.at(level);
            *note = [share * demand[1], first];
            first += share * demand[0];
        }
        if alone[0] + first > 1.0 {
            return false;
        }
        let mut second = 0.0;
        for ((note, tau), room) in scratch.iter().zip(&self.ratio).zip(&self.room) {
            second += note[0];
            if second + tau * note[1] > *room {
                return false;
            }
        }
        alone[1] + second <= 1.0
    }

    /// The first limit met above `found.low`, where all shares are linear; but for rounding that is
    /// below `found.high`. `scratch` is overwritten: use of the first resource by all of higher
    /// ratio, at `low` and its slope.
    fn first_limit(
        &self,
        single: &[Vec<Line>; 2],
        found: Bracket,
        scratch: &mut [[f64; 2]],
    ) -> (f64, Limit) {
        let (low, between) = (found.low, found.between());
        let mut first = [Running::default(); 2];
        let lines =
            self.lines.chunks(BLOCK).zip(self.demand.chunks(BLOCK)).zip(scratch.chunks_mut(BLOCK));
        for ((lines, demand), notes) in lines.rev() {
            for ((line, demand), note) in lines.iter().zip(demand).zip(notes).rev() {
                *note = first.map(|sum| sum.total());
                first[0].add(line.at(low) * demand[0]);
                first[1].add(line.slope(between) * demand[0]);
            }
            first.iter_mut().for_each(Running::end);
        }
        let mut second = [Running::default(); 2];
        // How far above `low` the first limit of a ratio is met, and of which.
        let (mut rise, mut at) = (f64::INFINITY, 0);
        let users = self
            .lines
            .iter()
            .zip(&self.demand)
            .zip(&self.ratio)
            .zip(&self.room)
            .zip(scratch.iter());
        for (index, ((((line, demand), tau), room), above)) in users.enumerate() {
            if index % BLOCK == 0 {
                second.iter_mut().for_each(Running::end);
            }
            second[0].add(line.at(low) * demand[1]);
            second[1].add(line.slope(between) * demand[1]);
            let room = (room - second[0].total() - tau * above[0]).max(0.0);
            let slope = second[1].total() + tau * above[1];
            if room < rise * slope {
                (rise, at) = (room / slope, index);
            }
        }
        let mut least = (f64::INFINITY, Limit::Resource(0));
        for (r, (mut used, lines)) in [first, second].into_iter().zip(single).enumerate() {
            lines.iter().for_each(|line| {
                used[0].add(line.at(low));
                used[1].add(line.slope(between));
            });
            let slope = used[1].total();
            let level = if slope > 0.0 {
                meets(low, f64::INFINITY, 1.0 - used[0].total(), slope)
            } else {
                f64::INFINITY
            };
            if level < least.0 {
                least = (level, Limit::Resource(r));
            }
        }
        if rise.is_finite() && low + rise < least.0 {
            least = (low + rise, Limit::Ratio(self.ratio[at]));
        }
        // Only now: all limits beyond the bracket would be alike, and prices are those of the
        // first.
        (if least.0.is_finite() { least.0.min(found.high) } else { least.0 }, least.1)
    }
}
