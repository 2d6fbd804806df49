//! DRF on one server, for any number of resources, by progressive filling (Ghodsi et al.; DRFH
//! Prop. 6).
//!
//! All shares rise with the level until a resource is used up: sum_i x_i(level) d_ir = 1. Who
//! demands it stops; the others, whose demand for it is zero, go on. Each resource is used up at
//! most once, so there are at most as many rounds as resources. The prices of a round are 1 for its
//! resource and 0 for the others: every share then costs its demand of it, and together they cost
//! all there is.
//!
//! Also right for several servers of proportional capacity, and for one resource: whatever fits the
//! pool as a whole fits its servers, each taking the same part of everything. Cost: O(resources^2 x
//! users).

use crate::exact::windows::split;
use crate::line::{Line, Sum, fill};
use crate::pool::{Class, Pieces, Pool, Solved, Stop};

/// Shares, and which resource stopped whom at what level.
pub(crate) struct Filled {
    pub(crate) shares: Vec<f64>,
    /// Level, resource, users.
    pub(crate) stops: Vec<(f64, usize, Vec<usize>)>,
}

/// Fills one server that has 1 of each resource; `demand` is users x resources.
pub(crate) fn pour(lines: &[Line], demand: &[f64], kinds: usize) -> Filled {
    let mut filled = Filled { shares: vec![0.0; lines.len()], stops: Vec::new() };
    let mut active: Vec<usize> = (0..lines.len()).collect();
    let mut floor: f64 = 0.0;
    loop {
        let level_of = |r: usize| {
            let room = 1.0 - used(&filled.shares, demand, kinds, r);
            let users: Vec<(Line, f64)> = active
                .iter()
                .map(|&user| (lines[user], demand[user * kinds + r]))
                .filter(|(_, by)| *by > 0.0)
                .collect();
            fill(&users, room)
        };
        let least = (0..kinds).map(|r| (level_of(r), r)).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((level, resource)) = least.filter(|(level, _)| level.is_finite()) else {
            active.iter().for_each(|&user| filled.shares[user] = lines[user].cap);
            return filled;
        };
        // Rounding may not lead back below a level that has been reached.
        floor = floor.max(level);
        let (stopped, going): (Vec<usize>, Vec<usize>) =
            active.iter().partition(|&&user| demand[user * kinds + resource] > 0.0);
        active = going;
        stopped.iter().for_each(|&user| filled.shares[user] = lines[user].share(floor));
        let wanting = stopped.into_iter().filter(|&user| lines[user].to() > floor).collect();
        filled.stops.push((floor, resource, wanting));
    }
}

/// What those that have stopped use of a resource; the others' shares are still zero.
fn used(shares: &[f64], demand: &[f64], kinds: usize, resource: usize) -> f64 {
    let mut sum = Sum::default();
    shares
        .iter()
        .enumerate()
        .for_each(|(user, share)| sum.add(share * demand[user * kinds + resource]));
    sum.total()
}

/// A pool whose servers all belong to one class, or that has one resource.
pub(crate) fn solve(pool: &Pool, classes: &[Class]) -> Solved {
    let Filled { shares, stops } = pour(&pool.lines, &pool.demand, pool.kinds());
    let pieces = match pool.kinds() {
        1 | 2 => split(pool, classes, by_ratio(pool).into_iter(), &shares),
        _ => in_proportion(pool, classes, &shares),
    };
    let prices = |resource: usize| {
        let one = |index: usize| f64::from(u8::from(index % pool.kinds() == resource));
        (0..pool.servers() * pool.kinds()).map(one).collect()
    };
    let stops = stops.into_iter().map(|(level, resource, users)| Stop {
        level,
        users,
        prices: prices(resource),
    });
    Solved { stops: stops.collect(), shares, pieces, gap: 0.0 }
}

/// Users by rising ratio of their two resources.
fn by_ratio(pool: &Pool) -> Vec<usize> {
    let ratio =
        |user: usize| pool.demand(user).last().map_or(0.0, |last| last / pool.demand(user)[0]);
    let mut order: Vec<(f64, usize)> =
        (0..pool.lines.len()).map(|user| (ratio(user), user)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, user)| user).collect()
}

/// Every server takes its part of everything.
fn in_proportion(pool: &Pool, classes: &[Class], shares: &[f64]) -> Pieces {
    let all: f64 = classes.iter().map(|class| class.capacity.iter().sum::<f64>()).sum();
    let of = |server: usize| {
        let part = pool.capacity(server).iter().sum::<f64>() / all;
        let shares = shares.iter().enumerate().filter(|(_, share)| **share > 0.0 && part > 0.0);
        shares.map(|(user, share)| (user, share * part)).collect()
    };
    (0..pool.servers()).map(of).collect()
}
