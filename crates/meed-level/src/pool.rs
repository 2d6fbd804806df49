//! A problem in the terms in which it is solved: everything as a share of the pool (DRFH Sec. 3.1).
//!
//! Each resource's total is 1. A user's *dominant demand* D*_i is the largest share of a resource
//! that one task takes; d_ir = D_ir / D*_i is what it takes of r per unit of dominant share, at
//! most 1. Resources that nobody demands are left out: they limit nothing.

use crate::line::Line;
use crate::past::Past;
use crate::problem::Problem;

/// Shares of the pool.
pub(crate) struct Pool {
    /// The demanded resources, as indices into the problem's.
    pub(crate) resources: Vec<usize>,
    /// What the pool has of them, in the problem's units.
    pub(crate) totals: Vec<f64>,
    /// d_ir: users x resources.
    pub(crate) demand: Vec<f64>,
    /// D*_i.
    pub(crate) dominant: Vec<f64>,
    /// Shares as functions of the level.
    pub(crate) lines: Vec<Line>,
    /// Servers x resources.
    pub(crate) capacity: Vec<f64>,
}

impl Pool {
    /// The pool of a sound problem, with what counts of the past.
    pub(crate) fn new(problem: &Problem, past: &Past) -> Pool {
        let totals = problem.totals();
        let demanded = |r: &usize| problem.users.iter().any(|user| user.demand[*r] > 0.0);
        let resources: Vec<usize> = (0..totals.len()).filter(demanded).collect();
        let totals: Vec<f64> = resources.iter().map(|&r| totals[r]).collect();
        let mut pool = Pool {
            demand: Vec::with_capacity(problem.users.len() * resources.len()),
            dominant: Vec::with_capacity(problem.users.len()),
            lines: Vec::with_capacity(problem.users.len()),
            capacity: Vec::with_capacity(problem.servers.len() * resources.len()),
            resources,
            totals,
        };
        for server in &problem.servers {
            let share = |(&r, total): (&usize, &f64)| server.count * server.capacity[r] / total;
            pool.capacity.extend(pool.resources.iter().zip(&pool.totals).map(share));
        }
        for (number, user) in problem.users.iter().enumerate() {
            let shares = || {
                pool.resources.iter().zip(&pool.totals).map(|(&r, total)| user.demand[r] / total)
            };
            let dominant = shares().fold(0.0, f64::max);
            pool.demand.extend(shares().map(|share| share / dominant));
            pool.dominant.push(dominant);
            let (weight, history) = past.line(number);
            let cap = user.tasks.map_or(f64::INFINITY, |tasks| tasks * dominant);
            pool.lines.push(Line { weight, history, cap });
        }
        pool
    }

    /// The same users before one server that has everything, as if the pool were one machine.
    pub(crate) fn into_one_server(mut self) -> Pool {
        self.capacity = vec![1.0; self.kinds()];
        self
    }

    /// How many resources are demanded.
    pub(crate) fn kinds(&self) -> usize {
        self.resources.len()
    }

    /// How many servers (classes) there are.
    pub(crate) fn servers(&self) -> usize {
        self.capacity.len() / self.kinds()
    }

    /// What user `user` takes per unit of dominant share.
    pub(crate) fn demand(&self, user: usize) -> &[f64] {
        &self.demand[user * self.kinds()..][..self.kinds()]
    }

    /// What server `server` has.
    pub(crate) fn capacity(&self, server: usize) -> &[f64] {
        &self.capacity[server * self.kinds()..][..self.kinds()]
    }

    /// Servers with proportional capacity, merged.
    pub(crate) fn classes(&self) -> Vec<Class> {
        let mut order: Vec<usize> = (0..self.servers()).collect();
        let direction = |server: usize| {
            let capacity = self.capacity(server);
            let size: f64 = capacity.iter().sum();
            capacity.iter().map(move |part| if size > 0.0 { part / size } else { 0.0 })
        };
        let by_direction = |&a: &usize, &b: &usize| {
            let pairs = direction(a).zip(direction(b)).map(|(a, b)| a.total_cmp(&b));
            pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then(a.cmp(&b))
        };
        order.sort_by(by_direction);
        let mut classes: Vec<Class> = Vec::new();
        for server in order {
            let capacity = self.capacity(server);
            if capacity.iter().all(|part| *part == 0.0) {
                // It has only what nobody demands.
                continue;
            }
            match classes.last_mut() {
                Some(class) if direction(class.servers[0]).eq(direction(server)) => {
                    class.servers.push(server);
                    class.capacity.iter_mut().zip(capacity).for_each(|(sum, part)| *sum += part);
                }
                _ => classes.push(Class { servers: vec![server], capacity: capacity.to_vec() }),
            }
        }
        classes
    }
}

/// Servers whose capacities are proportional: for divisible tasks they are one.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Class {
    pub(crate) servers: Vec<usize>,
    pub(crate) capacity: Vec<f64>,
}

/// Who is served where: for each server, users and their dominant shares there.
pub(crate) type Pieces = Vec<Vec<(usize, f64)>>;

/// One round: nobody of these users can rise above the level.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Stop {
    /// The level, proven by the prices not to be exceeded.
    pub(crate) level: f64,
    /// Users that stop here.
    pub(crate) users: Vec<usize>,
    /// Price of each resource on each server: servers x resources, per share of the pool.
    pub(crate) prices: Vec<f64>,
}

/// A solved pool.
pub(crate) struct Solved {
    /// Dominant shares.
    pub(crate) shares: Vec<f64>,
    pub(crate) stops: Vec<Stop>,
    pub(crate) pieces: Pieces,
    /// By how much shares fall short of what the levels say, relatively.
    pub(crate) gap: f64,
}
