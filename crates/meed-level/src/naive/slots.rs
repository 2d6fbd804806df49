//! Slots of fixed size, shared max-min fairly, as by Hadoop's Fair Scheduler (TPDS'15 Sec. 6.2 and
//! Table 2).
//!
//! A slot is the largest server divided by N (`slots_per_server`): of every resource 1/N of the
//! most that a server has. A server has as many whole slots as fit; a task takes as many as cover
//! its demand, all on one server, and uses of them what it demands. Slots held per weight are
//! raised together. A task of s slots runs only on servers with s or more: the servers of larger
//! tasks are among those of smaller ones, so totals y fit exactly if for every s the tasks of s or
//! more slots hold no more than the servers with s or more have, and each round stops the users of
//! those limits.
//!
//! Slots never hold more than the server has. Cost: O(distinct slot counts^2 x users).

use crate::line::{Line, Sum, fill};
use crate::pool::{Pieces, Pool};
use crate::problem::Problem;

/// Ratios this close below a whole number are that number.
const ROUNDING: f64 = 1e-9;

/// Users and dominant shares (of the pool) on each server class, and who can run nowhere.
pub(crate) fn solve(problem: &Problem, pool: &Pool) -> (Pieces, Vec<String>) {
    let most =
        |r: usize| problem.servers.iter().map(|server| server.capacity[r]).fold(0.0, f64::max);
    let slot: Vec<f64> =
        (0..problem.resources.len()).map(|r| most(r) / problem.slots_per_server).collect();
    let whole = |capacity: &[f64]| {
        let fits = capacity
            .iter()
            .zip(&slot)
            .filter(|(_, slot)| **slot > 0.0)
            .map(|(have, slot)| have / slot);
        (fits.fold(f64::INFINITY, f64::min) + ROUNDING).floor()
    };
    let covers = |demand: &[f64]| {
        let takes = demand
            .iter()
            .zip(&slot)
            .filter(|(need, _)| **need > 0.0)
            .map(|(need, slot)| need / slot);
        (takes.fold(0.0, f64::max) - ROUNDING).ceil().max(1.0)
    };
    let each: Vec<f64> = problem.servers.iter().map(|server| whole(&server.capacity)).collect();
    let takes: Vec<f64> = problem.users.iter().map(|user| covers(&user.demand)).collect();
    let largest = each.iter().copied().fold(0.0, f64::max);
    let mut remarks = Vec::new();
    for (user, takes) in problem.users.iter().zip(&takes).filter(|(_, takes)| **takes > largest) {
        let name = &user.name;
        remarks.push(format!(
            "user `{name}` gets nothing: a task takes {takes} slots, and no server has more than \
             {largest}"
        ));
    }
    let held = raise(problem, &each, &takes);
    (place(problem, pool, &each, &takes, held), remarks)
}

/// Slots held by each user.
fn raise(problem: &Problem, each: &[f64], takes: &[f64]) -> Vec<f64> {
    let lines: Vec<Line> = problem
        .users
        .iter()
        .zip(takes)
        .map(|(user, takes)| Line {
            weight: user.weight,
            history: 0.0,
            cap: user.tasks.map_or(f64::INFINITY, |tasks| tasks * takes),
        })
        .collect();
    let mut sizes: Vec<f64> = takes.to_vec();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let slots = |size: f64| {
        let servers = problem.servers.iter().zip(each).filter(|(_, each)| **each >= size);
        servers.map(|(server, each)| server.count * each).sum::<f64>()
    };
    let mut held = vec![0.0; lines.len()];
    let mut stopped = vec![false; lines.len()];
    while stopped.contains(&false) {
        let level_of = |&size: &f64| {
            let mut used = Sum::default();
            let mut rising = Vec::new();
            for user in (0..lines.len()).filter(|&user| takes[user] >= size) {
                match stopped[user] {
                    true => used.add(held[user]),
                    false => rising.push((lines[user], 1.0)),
                }
            }
            (fill(&rising, slots(size) - used.total()), size)
        };
        let least = sizes.iter().map(level_of).min_by(|a, b| a.0.total_cmp(&b.0));
        let (level, size) =
            least.filter(|(level, _)| level.is_finite()).unwrap_or((f64::INFINITY, 0.0));
        for user in (0..lines.len()).filter(|&user| takes[user] >= size) {
            if !std::mem::replace(&mut stopped[user], true) {
                held[user] = lines[user].share(level);
            }
        }
        sizes.retain(|&other| other < size);
    }
    held
}

/// Puts slots on servers: users of the largest tasks first, for they have the fewest servers to
/// choose from.
fn place(problem: &Problem, pool: &Pool, each: &[f64], takes: &[f64], held: Vec<f64>) -> Pieces {
    let mut pieces: Pieces = vec![Vec::new(); each.len()];
    let mut servers: Vec<(usize, f64)> = problem
        .servers
        .iter()
        .zip(each)
        .enumerate()
        .map(|(number, (server, each))| (number, server.count * each))
        .filter(|(_, slots)| *slots > 0.0)
        .collect();
    servers.sort_by(|a, b| each[b.0].total_cmp(&each[a.0]).then(a.0.cmp(&b.0)));
    let mut order: Vec<usize> = (0..takes.len()).collect();
    order.sort_by(|&a, &b| takes[b].total_cmp(&takes[a]).then(a.cmp(&b)));
    let mut first = 0;
    for user in order {
        let mut wanted = held[user];
        while wanted > 0.0 && first < servers.len() && each[servers[first].0] >= takes[user] {
            let (server, free) = &mut servers[first];
            let part = wanted.min(*free);
            pieces[*server].push((user, part / takes[user] * pool.dominant[user]));
            wanted -= part;
            *free -= part;
            if *free <= 0.0 {
                first += 1;
            }
        }
    }
    pieces
}
