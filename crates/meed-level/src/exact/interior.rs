//! The largest factor by which given totals fit on the servers: a linear program, by an
//! interior-point method.
//!
//! ```text
//! max t   subject to   sum_k g_ik = t b_i,   sum_i g_ik d_ir + s_kr = C_kr,   g, s, t >= 0
//! ```
//!
//! and its dual, prices p_kr >= 0 with sum_i b_i y_i >= 1, y_i <= p_k d_i, which minimise sum_k p_k
//! C_k. Mehrotra's predictor-corrector method. Of the equations of a Newton step everything is
//! eliminated but the prices: what is left is as large as servers x resources, however many users
//! there are. Every pair of servers contributes theta_k theta_k' / D d d^T (theta = g / z, D its
//! sum over the servers), assembled without a difference of larger numbers.
//!
//! Both start strictly inside: totals in proportion to the servers, prices inverse to the free
//! room. A start may use somewhat more or less than there is ([`Run`]): each step mends as much of
//! that as it is long, and what is left of it counts as missing. Cost: 10 to 30 steps of O(users x
//! (servers x resources)^2 / 4 + (servers x resources)^3 / 6).

use crate::exact::interior::system::{Deltas, Products, System};

mod system;

/// Steps at most; 10 to 30 are usual.
const STEPS: usize = 120;
/// Steps near the end that get no better at most.
const PATIENCE: usize = 3;
/// How far towards the boundary a step goes.
const REACH: f64 = 0.9995;
/// Correctors of a step at most, and the length from which on it needs none.
const CORRECTORS: usize = 3;
const LONG: f64 = 0.8;
/// Parts of a corrector that are tried.
const WEIGHTS: [f64; 3] = [0.25, 0.6, 1.0];
/// How far products may be from their target.
const SPREAD: f64 = 10.0;

/// Smaller parts that a start lacks are rounding.
const ROUNDING: f64 = 1e-14;

/// What is to fit where. Pairs whose user demands what the server lacks altogether are left out of
/// the program.
pub(crate) struct Program<'a> {
    /// Users (directions) x resources.
    pub(crate) demand: &'a [f64],
    /// Servers (classes) x resources.
    pub(crate) capacity: &'a [f64],
    pub(crate) kinds: usize,
    /// b, above zero.
    pub(crate) totals: &'a [f64],
    /// Whether every server has some of everything.
    pub(crate) complete: bool,
}

/// A point strictly inside: shares where they are served, free room, prices.
#[derive(Clone)]
pub(crate) struct Inside {
    /// t.
    pub(crate) factor: f64,
    /// g: users x servers.
    pub(crate) shares: Vec<f64>,
    /// s: servers x resources.
    pub(crate) free: Vec<f64>,
    /// p: servers x resources.
    pub(crate) prices: Vec<f64>,
    /// y.
    pub(crate) values: Vec<f64>,
    /// z of shares: users x servers.
    pub(crate) reduced: Vec<f64>,
    /// z of the factor.
    pub(crate) slack: f64,
}

impl<'a> Program<'a> {
    /// A program of users x resources, on servers x resources.
    pub(crate) fn new(
        demand: &'a [f64],
        capacity: &'a [f64],
        kinds: usize,
        totals: &'a [f64],
    ) -> Program<'a> {
        let complete = capacity.iter().all(|have| *have > 0.0);
        Program { demand, capacity, kinds, totals, complete }
    }
}

impl Program<'_> {
    pub(crate) fn users(&self) -> usize {
        self.totals.len()
    }

    pub(crate) fn servers(&self) -> usize {
        self.capacity.len() / self.kinds
    }

    pub(crate) fn demand(&self, user: usize) -> &[f64] {
        &self.demand[user * self.kinds..][..self.kinds]
    }

    /// Whether a server has some of everything that a user demands.
    pub(crate) fn allowed(&self, user: usize, server: usize) -> bool {
        if self.complete {
            return true;
        }
        let capacity = &self.capacity[server * self.kinds..][..self.kinds];
        self.demand(user).iter().zip(capacity).all(|(need, have)| *need == 0.0 || *have > 0.0)
    }

    /// What one unit of share costs on the cheapest server.
    pub(crate) fn cost(&self, prices: &[f64], user: usize) -> f64 {
        self.cheapest(prices, user).0
    }

    /// The least cost of one unit of share, and the first server where it costs that.
    pub(crate) fn cheapest(&self, prices: &[f64], user: usize) -> (f64, usize) {
        let demand = self.demand(user);
        match self.kinds {
            // All users are asked in each look: the usual numbers of resources without a loop.
            3 if self.complete => least::<3>(demand, prices),
            4 if self.complete => least::<4>(demand, prices),
            _ => {
                let servers = 0..self.servers();
                first_least(servers.map(|server| self.cost_on(prices, user, server)))
            }
        }
    }

    /// What one unit of share costs on a server; infinite where it cannot be served.
    pub(crate) fn cost_on(&self, prices: &[f64], user: usize, server: usize) -> f64 {
        if !self.allowed(user, server) {
            return f64::INFINITY;
        }
        let prices = &prices[server * self.kinds..][..self.kinds];
        self.demand(user).iter().zip(prices).map(|(demand, price)| demand * price).sum()
    }

    /// The factor that prices prove not to be exceeded: what the pool is worth over what the totals
    /// cost.
    fn bound(&self, prices: &[f64]) -> f64 {
        let worth: f64 =
            prices.iter().zip(self.capacity).map(|(price, amount)| price * amount).sum();
        let cost: f64 =
            (0..self.users()).map(|user| self.totals[user] * self.cost(prices, user)).sum();
        worth / cost
    }

    /// By what part of what there is, what a point uses and leaves free differ from it at most;
    /// zero where that is rounding.
    fn apart(&self, point: &Inside) -> f64 {
        let (servers, kinds) = (self.servers(), self.kinds);
        let mut left: Vec<f64> =
            self.capacity.iter().zip(&point.free).map(|(have, free)| have - free).collect();
        for (user, parts) in point.shares.chunks_exact(servers).enumerate() {
            for (part, left) in parts.iter().zip(left.chunks_exact_mut(kinds)) {
                let demand = self.demand(user);
                left.iter_mut().zip(demand).for_each(|(left, demand)| *left -= part * demand);
            }
        }
        let rows = left.iter().zip(self.capacity).filter(|(_, have)| **have > 0.0);
        let most = rows.map(|(left, have)| (left / have).abs()).fold(0.0, f64::max);
        if most > ROUNDING { most } else { 0.0 }
    }

    /// Where nobody wants anything.
    fn empty(&self) -> Inside {
        let (free, prices) = (self.capacity.to_vec(), vec![1.0; self.capacity.len()]);
        let nothing = Vec::new;
        Inside {
            factor: 1.0,
            shares: nothing(),
            free,
            prices,
            values: nothing(),
            reduced: nothing(),
            slack: 1.0,
        }
    }

    /// Strictly inside: everybody spread over the servers in proportion to their size.
    fn start(&self) -> Inside {
        let (users, servers, kinds) = (self.users(), self.servers(), self.kinds);
        let size = |server: usize| self.capacity[server * kinds..][..kinds].iter().sum::<f64>();
        let mut shares = vec![0.0; users * servers];
        let mut free = vec![0.0; servers * kinds];
        for user in 0..users {
            let allowed = (0..servers).filter(|&server| self.allowed(user, server));
            let all: f64 = allowed.clone().map(size).sum();
            for server in allowed {
                let share = self.totals[user] * size(server) / all;
                shares[user * servers + server] = share;
                for (r, demand) in self.demand(user).iter().enumerate() {
                    free[server * kinds + r] += share * demand;
                }
            }
        }
        let fullest = free.iter().zip(self.capacity).filter(|(_, capacity)| **capacity > 0.0);
        let factor = 0.5 / fullest.map(|(used, capacity)| used / capacity).fold(0.0, f64::max);
        shares.iter_mut().for_each(|share| *share *= factor);
        free.iter_mut()
            .zip(self.capacity)
            .for_each(|(free, capacity)| *free = capacity - *free * factor);
        let mut prices: Vec<f64> =
            free.iter().map(|free| if *free > 0.0 { 1.0 / free } else { 0.0 }).collect();
        let mut values: Vec<f64> = (0..users).map(|user| 0.5 * self.cost(&prices, user)).collect();
        let scale =
            2.0 / values.iter().zip(self.totals).map(|(value, total)| value * total).sum::<f64>();
        prices.iter_mut().for_each(|price| *price *= scale);
        values.iter_mut().for_each(|value| *value *= scale);
        let reduced = (0..users * servers)
            .map(|pair| match shares[pair] > 0.0 {
                true => {
                    self.cost_on(&prices, pair / servers, pair % servers) - values[pair / servers]
                }
                false => 1.0,
            })
            .collect();
        Inside { factor, shares, free, prices, values, reduced, slack: 1.0 }
    }
}

/// The least cost of so many resources on any server, and the first where it is that.
fn least<const KINDS: usize>(demand: &[f64], prices: &[f64]) -> (f64, usize) {
    let (Some(demand), (prices, _)) = (demand.first_chunk::<KINDS>(), prices.as_chunks::<KINDS>())
    else {
        return (f64::INFINITY, 0);
    };
    first_least(prices.iter().map(|prices| (0..KINDS).map(|r| demand[r] * prices[r]).sum()))
}

/// The least of some costs, and the first place of it.
fn first_least(costs: impl Iterator<Item = f64>) -> (f64, usize) {
    let places = costs.enumerate().map(|(at, cost)| (cost, at));
    places.fold((f64::INFINITY, 0), |least, next| if next.0 < least.0 { next } else { least })
}

/// A program on its way to the optimum.
pub(crate) struct Run<'a> {
    program: &'a Program<'a>,
    point: Inside,
    system: System,
    /// The best point so far, what it lacks to the bound, and the steps since.
    best: Inside,
    least: f64,
    since: usize,
    steps: usize,
    /// By what part a start of other totals uses more than there is, or less than it says; each
    /// step mends as much of it as it is long.
    lacks: f64,
    /// It gets no better.
    ended: bool,
}

impl<'a> Run<'a> {
    /// At a point that fits, or at the start.
    pub(crate) fn new(program: &'a Program<'a>, from: Option<Inside>) -> Run<'a> {
        let nothing = program.totals.is_empty();
        let point = match from {
            _ if nothing => program.empty(),
            Some(point) => point,
            None => program.start(),
        };
        Run {
            program,
            lacks: program.apart(&point),
            best: point.clone(),
            point,
            system: System::new(program),
            least: if nothing { 0.0 } else { f64::INFINITY },
            since: 0,
            steps: 0,
            ended: nothing,
        }
    }

    /// Goes on until factor and bound differ by less than `tolerance`, or it gets no better.
    pub(crate) fn solve(&mut self, tolerance: f64) {
        while self.least >= tolerance && !self.ended {
            if self.steps > 0 && !self.step() {
                self.ended = true;
                break;
            }
            self.steps += 1;
            let fits = self.point.factor / (1.0 + self.lacks);
            let gap = 1.0 - fits / self.program.bound(&self.point.prices);
            // Close to the end rounding takes over: the best point counts, and what is past the
            // bound lacks as much as what is below it.
            let gap = gap.abs();
            let better = gap < self.least;
            self.since = if better { 0 } else { self.since + 1 };
            if better {
                self.least = gap;
                self.best.clone_from(&self.point);
            }
            // Far from the end the bound may get worse for a while.
            let patience = if self.least < 1e-6 { PATIENCE } else { STEPS };
            self.ended = self.since > patience || self.steps > STEPS;
        }
    }

    /// What the best point lacks to the bound.
    pub(crate) fn gap(&self) -> f64 {
        self.least
    }

    /// The best point so far.
    pub(crate) fn best(&self) -> &Inside {
        &self.best
    }

    /// Whether it gets no better.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// One predictor-corrector step; false when it leads nowhere, and then the point is as before.
    fn step(&mut self) -> bool {
        let Run { program, point, system, lacks, .. } = self;
        system.assemble(program, point);
        let mut wanted = point.products(None, |product, _| -product);
        let Some(predictor) = system.direction(program, point, &wanted, 1.0) else { return false };
        let (primal, dual) = point.lengths(&predictor);
        let (now, pairs) = point.complementarity();
        // Rounding has left the inside.
        if now.is_nan() || now <= 0.0 {
            return false;
        }
        let sigma = {
            let after = point.complementarity_after(&predictor, primal, dual);
            let ratio = (after / now).clamp(0.0, 1.0);
            ratio * ratio * ratio
        };
        let target = sigma * now / pairs;
        wanted = point.products(Some(&predictor), |product, second| target - product - second);
        let Some(mut way) = system.direction(program, point, &wanted, 1.0) else {
            return false;
        };
        let (mut primal, mut dual) = point.lengths(&way);
        for _ in 0..CORRECTORS {
            if primal.min(dual) >= LONG {
                break;
            }
            let wanted = point.towards_the_middle(&way, primal, dual, target);
            let Some(corrector) = system.direction(program, point, &wanted, 0.0) else { break };
            let (longer_primal, longer_dual) = point.correct(&mut way, &corrector, (primal, dual));
            let enough = longer_primal.min(longer_dual) > 1.1 * primal.min(dual);
            (primal, dual) = (longer_primal, longer_dual);
            if !enough {
                break;
            }
        }
        if primal.max(dual) < 1e-10 {
            return false;
        }
        let (primal, dual) = ((REACH * primal).min(1.0), (REACH * dual).min(1.0));
        point.advance(&way, primal, dual);
        *lacks *= 1.0 - primal;
        true
    }
}

impl Inside {
    /// What each product is to change by: `change` of the product now and, where there is a
    /// direction, of the product of its steps.
    fn products(&self, steps: Option<&Deltas>, change: impl Fn(f64, f64) -> f64) -> Products {
        let all = |a: &[f64], b: &[f64], steps: Option<(&[f64], &[f64])>| -> Vec<f64> {
            let now = a.iter().zip(b).map(|(a, b)| a * b);
            match steps {
                Some((da, db)) => {
                    now.zip(da.iter().zip(db)).map(|(now, (a, b))| change(now, a * b)).collect()
                }
                None => now.map(|now| change(now, 0.0)).collect(),
            }
        };
        let second = steps.map_or(0.0, |steps| steps.factor * steps.slack);
        Products {
            shares: all(
                &self.shares,
                &self.reduced,
                steps.map(|steps| (&steps.shares[..], &steps.reduced[..])),
            ),
            free: all(
                &self.free,
                &self.prices,
                steps.map(|steps| (&steps.free[..], &steps.prices[..])),
            ),
            factor: change(self.factor * self.slack, second),
        }
    }

    /// What products would have to change by for none to be far from `target` after a longer step
    /// than is possible (Gondzio's multiple centrality correctors).
    fn towards_the_middle(&self, way: &Deltas, primal: f64, dual: f64, target: f64) -> Products {
        let (primal, dual) = ((1.5 * primal + 0.3).min(1.0), (1.5 * dual + 0.3).min(1.0));
        let change = |a: f64, da: f64, b: f64, db: f64| {
            let after = (a + primal * da) * (b + dual * db);
            (after.clamp(target / SPREAD, target * SPREAD) - after).max(-SPREAD * target)
        };
        let all = |a: &[f64], da: &[f64], b: &[f64], db: &[f64]| -> Vec<f64> {
            let steps = da.iter().zip(db);
            let pairs = a.iter().zip(b).zip(steps);
            let change = |((a, b), (da, db)): ((&f64, &f64), (&f64, &f64))| match *a > 0.0 {
                true => change(*a, *da, *b, *db),
                false => 0.0,
            };
            pairs.map(change).collect()
        };
        Products {
            shares: all(&self.shares, &way.shares, &self.reduced, &way.reduced),
            free: all(&self.free, &way.free, &self.prices, &way.prices),
            factor: change(self.factor, way.factor, self.slack, way.slack),
        }
    }

    /// Adds as much of a corrector as makes the steps longest, and says how long they are; without
    /// it they are `before`.
    fn correct(&self, way: &mut Deltas, corrector: &Deltas, before: (f64, f64)) -> (f64, f64) {
        let longest = |before: f64, falls: [[f64; WEIGHTS.len()]; 3]| {
            let (mut best, mut part) = (before, 0.0);
            for (at, weight) in WEIGHTS.into_iter().enumerate() {
                let length = reach(falls.iter().map(|falls| falls[at]).fold(0.0, f64::max));
                if length > best {
                    (best, part) = (length, weight);
                }
            }
            (best, part)
        };
        let (primal, primal_part) = longest(
            before.0,
            [
                falls(&self.shares, &way.shares, &corrector.shares),
                falls(&self.free, &way.free, &corrector.free),
                falls(&[self.factor], &[way.factor], &[corrector.factor]),
            ],
        );
        let (dual, dual_part) = longest(
            before.1,
            [
                falls(&self.reduced, &way.reduced, &corrector.reduced),
                falls(&self.prices, &way.prices, &corrector.prices),
                falls(&[self.slack], &[way.slack], &[corrector.slack]),
            ],
        );
        way.add(corrector, primal_part, dual_part);
        (primal, dual)
    }

    /// How far a direction can be followed, in the primal and the dual variables.
    fn lengths(&self, deltas: &Deltas) -> (f64, f64) {
        let reach = |values: &[f64], steps: &[f64]| reach(fastest(values, steps));
        let primal = reach(&self.shares, &deltas.shares)
            .min(reach(&self.free, &deltas.free))
            .min(reach(&[self.factor], &[deltas.factor]));
        let dual = reach(&self.reduced, &deltas.reduced)
            .min(reach(&self.prices, &deltas.prices))
            .min(reach(&[self.slack], &[deltas.slack]));
        (primal, dual)
    }

    /// The sum of all products of a variable and its dual one, and how many there are.
    fn complementarity(&self) -> (f64, f64) {
        let products = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let sum = products(&self.shares, &self.reduced)
            + products(&self.free, &self.prices)
            + self.factor * self.slack;
        let pairs = self.shares.iter().chain(&self.free).filter(|value| **value > 0.0).count() + 1;
        (sum, pairs as f64)
    }

    fn complementarity_after(&self, deltas: &Deltas, primal: f64, dual: f64) -> f64 {
        let (primal, dual) = (primal.min(1.0), dual.min(1.0));
        let products = |a: &[f64], da: &[f64], b: &[f64], db: &[f64]| {
            let terms = a.iter().zip(da).zip(b.iter().zip(db));
            terms.map(|((a, da), (b, db))| (a + primal * da) * (b + dual * db)).sum::<f64>()
        };
        products(&self.shares, &deltas.shares, &self.reduced, &deltas.reduced)
            + products(&self.free, &deltas.free, &self.prices, &deltas.prices)
            + (self.factor + primal * deltas.factor) * (self.slack + dual * deltas.slack)
    }

    fn advance(&mut self, deltas: &Deltas, primal: f64, dual: f64) {
        let go = |values: &mut [f64], steps: &[f64], by: f64| {
            values.iter_mut().zip(steps).for_each(|(value, step)| *value += by * step);
        };
        go(&mut self.shares, &deltas.shares, primal);
        go(&mut self.free, &deltas.free, primal);
        self.factor += primal * deltas.factor;
        go(&mut self.values, &deltas.values, dual);
        go(&mut self.reduced, &deltas.reduced, dual);
        go(&mut self.prices, &deltas.prices, dual);
        self.slack += dual * deltas.slack;
    }
}

/// How far a step can go in which some value falls by such a part of itself.
fn reach(fastest: f64) -> f64 {
    (1.0 / fastest).min(1.0 / REACH)
}

/// The largest part of itself by which a value above zero falls with each part of a corrector.
fn falls(values: &[f64], steps: &[f64], more: &[f64]) -> [f64; WEIGHTS.len()] {
    let mut lanes = [[0.0f64; 4]; WEIGHTS.len()];
    let mut look = |lane: usize, value: f64, step: f64, more: f64| {
        let by = if value > 0.0 { -1.0 / value } else { 0.0 };
        let (step, more) = (step * by, more * by);
        for (most, weight) in lanes.iter_mut().zip(WEIGHTS) {
            let fall = step + weight * more;
            most[lane] = if fall > most[lane] { fall } else { most[lane] };
        }
    };
    let ((values, rest), (steps, last)) = (values.as_chunks::<4>(), steps.as_chunks::<4>());
    let (corrections, corrected) = more.as_chunks::<4>();
    for ((values, steps), more) in values.iter().zip(steps).zip(corrections) {
        (0..4).for_each(|lane| look(lane, values[lane], steps[lane], more[lane]));
    }
    let last = rest.iter().zip(last).zip(corrected);
    last.for_each(|((value, step), more)| look(0, *value, *step, *more));
    lanes.map(|lanes| lanes.into_iter().fold(0.0, f64::max))
}

/// The largest part of itself by which a value above zero falls; in four lanes: the loop is hot.
fn fastest(values: &[f64], steps: &[f64]) -> f64 {
    let falls = |value: f64, step: f64| if value > 0.0 { -step / value } else { 0.0 };
    let mut lanes = [0.0f64; 4];
    let (values, rest) = values.as_chunks::<4>();
    let (steps, last) = steps.as_chunks::<4>();
    for (values, steps) in values.iter().zip(steps) {
        for (lane, (value, step)) in lanes.iter_mut().zip(values.iter().zip(steps)) {
            let fall = falls(*value, *step);
            *lane = if fall > *lane { fall } else { *lane };
        }
    }
    let last = rest.iter().zip(last).map(|(value, step)| falls(*value, *step));
    last.chain(lanes).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_user_takes_all_that_it_can() {
        // d = (1, 2, 0.1) on servers of (1, 2, 9) and (4, 2, 3): one unit on each.
        let (demand, capacity) = ([1.0, 2.0, 0.1], [1.0, 2.0, 9.0, 4.0, 2.0, 3.0]);
        let program = Program::new(&demand, &capacity, 3, &[0.5]);
        let mut run = Run::new(&program, None);
        run.solve(1e-10);
        let point = run.best();
        assert!((point.factor - 4.0).abs() < 1e-8, "{}", point.factor);
        assert!((program.bound(&point.prices) - 4.0).abs() < 1e-8, "{:?}", point.prices);
    }

    #[test]
    fn who_lacks_something_on_a_server_is_not_served_there() {
        let (demand, capacity) = ([1.0, 1.0, 0.0, 1.0, 0.0, 0.0], [2.0, 0.0, 1.0, 2.0, 2.0, 1.0]);
        let program = Program::new(&demand, &capacity, 3, &[1.0, 2.0]);
        let mut run = Run::new(&program, None);
        run.solve(1e-10);
        let point = run.best();
        // Of the first resource there is 4, of which user 1 can use 2: the factor is 4 / 3.
        assert!((point.factor - 4.0 / 3.0).abs() < 1e-8, "{}", point.factor);
        assert_eq!(point.shares[0], 0.0);
    }
}
