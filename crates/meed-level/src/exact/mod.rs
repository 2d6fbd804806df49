//! The largest level, exactly, by the number of resources and of kinds of servers.
//!
//! | module | when | how |
//! |---|---|---|
//! | [`one_server`] | one server, or all servers proportional; any number of resources | a water level per resource |
//! | [`two`], [`windows`] | two resources | the closed form: one sort, and sweeps; servers take windows of sorted demand |
//! | [`many`], [`groups`], [`bundles`], [`interior`], [`fit`] | three and more | prices by an interior-point method, the level by Newton's method over prices; users that go to the same servers are one, and servers of the same prices |

pub(crate) mod bundles;
pub(crate) mod fit;
pub(crate) mod groups;
pub(crate) mod interior;
pub(crate) mod many;
pub(crate) mod one_server;
pub(crate) mod two;
pub(crate) mod windows;

use crate::pool::{Pool, Solved};

/// The lexicographically largest levels on the pool's servers.
pub(crate) fn solve(pool: &Pool) -> Solved {
    let classes = pool.classes();
    match (classes.len(), pool.kinds()) {
        (1, _) | (_, 1) => one_server::solve(pool, &classes),
        (_, 2) => two::solve(pool, &classes),
        _ => many::solve(pool, &classes),
    }
}
