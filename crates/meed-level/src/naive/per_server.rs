//! DRF on every server by itself (TPDS'15 Sec. 3.4): simple, and arbitrarily far from what the pool
//! could do.
//!
//! On each server a user's dominant resource is the one of which a task takes the largest share *of
//! that server*. Servers are gone through in the order given; a user's tasks that one has served
//! are no more wanted on the next. Servers of one class are equal, so they are filled alike. Who
//! demands what a server lacks altogether gets nothing there. Past usage does not count. Cost:
//! O(servers x resources^2 x users).

use crate::exact::one_server::pour;
use crate::line::Line;
use crate::pool::{Pieces, Pool};
use crate::problem::Problem;

/// Users and dominant shares (of the pool) on each server.
pub(crate) fn solve(problem: &Problem, pool: &Pool) -> Pieces {
    let kinds = pool.kinds();
    // Dominant shares of the pool still wanted.
    let mut left: Vec<f64> = pool.lines.iter().map(|line| line.cap).collect();
    (0..pool.servers())
        .map(|server| {
            let capacity = pool.capacity(server);
            let (mut lines, mut demand, mut scales) = (Vec::new(), Vec::new(), Vec::new());
            for (user, wanted) in problem.users.iter().zip(&left) {
                let user_demand = &pool.demand[lines.len() * kinds..][..kinds];
                let share =
                    |(need, have): (&f64, &f64)| if *need > 0.0 { need / have } else { 0.0 };
                // Shares of this server per share of the pool; infinite where it lacks what is
                // demanded.
                let scale = user_demand.iter().zip(capacity).map(share).fold(0.0, f64::max);
                let possible = scale.is_finite();
                demand.extend(user_demand.iter().zip(capacity).map(|pair| match possible {
                    true => share(pair) / scale,
                    false => 0.0,
                }));
                let cap = if possible { wanted * scale } else { 0.0 };
                lines.push(Line { weight: user.weight, history: 0.0, cap });
                scales.push(scale);
            }
            let shares = pour(&lines, &demand, kinds).shares;
            let served =
                shares.iter().zip(&scales).enumerate().filter(|(_, (share, _))| **share > 0.0);
            let served: Vec<(usize, f64)> =
                served.map(|(user, (share, scale))| (user, share / scale)).collect();
            served.iter().for_each(|(user, share)| left[*user] = (left[*user] - share).max(0.0));
            served
        })
        .collect()
}
