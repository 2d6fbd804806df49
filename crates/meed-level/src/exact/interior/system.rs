//! The equations of one step of [`super`], reduced to the prices.
//!
//! With theta = g / z, D_i = sum_k theta_ik, and right sides r (users), R (servers), t (reduced
//! costs), the step solves
//!
//! ```text
//!  M dp - v dt = f
//! -v dp - w dt = e
//!
//! M = sum_i (diag_k(theta_ik) - theta_i theta_i^T / D_i) x d_i d_i^T + diag(s / p)
//! v = sum_i theta_ik d_ir b_i / D_i,   w = sum_i b_i^2 / D_i + z_t / t
//! ```
//!
//! and with dt eliminated, (M + v v^T / w) dp = f - v e / w. M alone comes close to singular where
//! all servers are used up (raising all prices alike costs nothing), v v^T is what fixes the price
//! level. The point starts dual feasible and every step keeps it so; the dual residuals are left
//! out, for what rounding makes of them would be divided by w.

use super::{Inside, Program};

/// Users that are assembled at once.
const LANES: usize = 4;

/// A direction for all variables.
pub(super) struct Deltas {
    pub(super) shares: Vec<f64>,
    pub(super) free: Vec<f64>,
    pub(super) factor: f64,
    pub(super) values: Vec<f64>,
    pub(super) reduced: Vec<f64>,
    pub(super) prices: Vec<f64>,
    pub(super) slack: f64,
}

/// Products of each variable with its dual one, or changes of them.
pub(super) struct Products {
    pub(super) shares: Vec<f64>,
    pub(super) free: Vec<f64>,
    pub(super) factor: f64,
}

/// The reduced equations, assembled and factored at a point.
pub(super) struct System {
    /// g / z: users x servers; zero where not allowed.
    theta: Vec<f64>,
    /// D.
    sums: Vec<f64>,
    /// Lower Cholesky factor of M + v v^T / w.
    factor: Vec<f64>,
    /// v.
    border: Vec<f64>,
    /// w.
    corner: f64,
}

impl System {
    pub(super) fn new(program: &Program<'_>) -> System {
        let rows = program.capacity.len();
        System {
            theta: vec![0.0; program.users() * program.servers()],
            sums: vec![0.0; program.users()],
            factor: vec![0.0; rows * rows],
            border: vec![0.0; rows],
            corner: 0.0,
        }
    }

    /// Assembles and factors the equations at `point`.
    pub(super) fn assemble(&mut self, program: &Program<'_>, point: &Inside) {
        let (servers, kinds) = (program.servers(), program.kinds);
        let (packed, pairs) = (kinds * (kinds + 1) / 2, servers * (servers + 1) / 2);
        // By entry of a block, then by pair of servers: long rows for the innermost loop, and
        // several users at once, for each of whom the entries would be read and written.
        let mut blocks = vec![0.0; packed * pairs];
        let mut weights = vec![0.0; LANES * pairs];
        let mut border = vec![0.0; kinds * servers];
        let mut parts = vec![0.0; servers];
        self.corner = point.slack / point.factor;
        let users = program.users();
        for first in (0..users).step_by(LANES) {
            let count = LANES.min(users - first);
            weights[count * pairs..].fill(0.0);
            for (user, weights) in (first..first + count).zip(weights.chunks_exact_mut(pairs)) {
                let theta = &mut self.theta[user * servers..][..servers];
                let shares = &point.shares[user * servers..][..servers];
                let reduced = &point.reduced[user * servers..][..servers];
                theta
                    .iter_mut()
                    .zip(shares.iter().zip(reduced))
                    .for_each(|(theta, (g, z))| *theta = g / z);
                let sum: f64 = theta.iter().sum();
                self.sums[user] = sum;
                let total = program.totals[user];
                self.corner += total * total / sum;
                parts.iter_mut().zip(&*theta).for_each(|(part, theta)| *part = theta / sum);
                for (border, demand) in border.chunks_exact_mut(servers).zip(program.demand(user)) {
                    add(border, &parts, demand * total);
                }
                pairs_of(theta, &parts, weights);
            }
            let mut entries = blocks.chunks_exact_mut(pairs);
            for row in 0..kinds {
                for (column, entry) in (0..=row).zip(&mut entries) {
                    let by = |lane: usize| match lane < count {
                        true => {
                            let demand = program.demand(first + lane);
                            demand[row] * demand[column]
                        }
                        false => 0.0,
                    };
                    add_lanes(entry, &weights, [by(0), by(1), by(2), by(3)]);
                }
            }
        }
        turn(&border, servers, &mut self.border);
        self.unpack(program, point, &blocks);
        cholesky(&mut self.factor, program.capacity.len());
    }

    /// Blocks of pairs of servers to the lower half of M + v v^T / w.
    fn unpack(&mut self, program: &Program<'_>, point: &Inside, blocks: &[f64]) {
        let (servers, kinds, rows) = (program.servers(), program.kinds, program.capacity.len());
        let pairs = servers * (servers + 1) / 2;
        for (row, line) in self.factor.chunks_exact_mut(rows).enumerate() {
            let (server, r) = (row / kinds, row % kinds);
            let level = self.border[row] / self.corner;
            let others = line.chunks_exact_mut(kinds).zip(self.border.chunks_exact(kinds));
            for (other, (entries, border)) in others.enumerate().take(server + 1) {
                let pair = server * (server + 1) / 2 + other;
                for (s, (entry, border)) in entries.iter_mut().zip(border).enumerate() {
                    let (high, low) = (r.max(s), r.min(s));
                    *entry = blocks[(high * (high + 1) / 2 + low) * pairs + pair] + level * border;
                }
            }
            // A server without the resource: nobody who demands it comes here, and its price stays.
            let free = point.free[row];
            line[row] += if free > 0.0 { free / point.prices[row] } else { 1.0 };
        }
    }

    /// The direction that changes the products by `wanted`; with `mend` 1 it also takes away what
    /// totals and capacities lack to equality, with 0 it leaves that as it is.
    pub(super) fn direction(
        &self,
        program: &Program<'_>,
        point: &Inside,
        wanted: &Products,
        mend: f64,
    ) -> Option<Deltas> {
        let (users, servers, kinds) = (program.users(), program.servers(), program.kinds);
        // h: what shares change by when neither values nor prices do.
        let mut h = vec![0.0; users * servers];
        let mut offsets = vec![0.0; users];
        let mut right: Vec<f64> = (0..kinds * servers)
            .map(|row| match point.prices[row] > 0.0 {
                true => {
                    wanted.free[row] / point.prices[row]
                        + mend * (point.free[row] - program.capacity[row])
                }
                false => 0.0,
            })
            .collect();
        let mut edge = -wanted.factor / point.factor;
        let mut moved = vec![0.0; servers];
        let mut used = vec![0.0; kinds * servers];
        for (user, offset) in offsets.iter_mut().enumerate() {
            let (demand, total) = (program.demand(user), program.totals[user]);
            let pairs = user * servers..(user + 1) * servers;
            let (theta, shares) = (&self.theta[pairs.clone()], &point.shares[pairs.clone()]);
            let h = &mut h[pairs.clone()];
            let changes = wanted.shares[pairs.clone()].iter().zip(&point.reduced[pairs]);
            let mut missing = mend * total * point.factor;
            for (((h, (wanted, reduced)), g), theta) in
                h.iter_mut().zip(changes).zip(shares).zip(theta)
            {
                *h = if *theta == 0.0 { 0.0 } else { wanted / reduced };
                missing -= mend * g + *h;
            }
            *offset = missing;
            let each = missing / self.sums[user];
            edge += total * each;
            let parts = h.iter().zip(theta).zip(shares);
            for (moved, ((h, theta), g)) in moved.iter_mut().zip(parts) {
                *moved = mend * g + h + theta * each;
            }
            for (used, demand) in used.chunks_exact_mut(servers).zip(demand) {
                add(used, &moved, *demand);
            }
        }
        for (server, right) in right.chunks_exact_mut(kinds).enumerate() {
            let used = used.iter().skip(server).step_by(servers);
            right.iter_mut().zip(used).for_each(|(right, used)| *right += used);
        }
        (0..kinds * servers)
            .filter(|&row| point.prices[row] <= 0.0)
            .for_each(|row| right[row] = 0.0);
        right
            .iter_mut()
            .zip(&self.border)
            .for_each(|(right, border)| *right -= border * edge / self.corner);
        substitute(&self.factor, &mut right);
        let factor = -(edge + dot(&self.border, &right)) / self.corner;
        let deltas = self.unfold(program, point, (h, offsets), right, factor, wanted);
        deltas.is_finite().then_some(deltas)
    }

    /// All other variables from the prices and the factor.
    fn unfold(
        &self,
        program: &Program<'_>,
        point: &Inside,
        (mut shares, offsets): (Vec<f64>, Vec<f64>),
        prices: Vec<f64>,
        factor: f64,
        wanted: &Products,
    ) -> Deltas {
        let (users, servers, kinds) = (program.users(), program.servers(), program.kinds);
        let mut reduced = vec![0.0; users * servers];
        let mut values = vec![0.0; users];
        let mut costs = vec![0.0; servers];
        let mut by_kind = vec![0.0; prices.len()];
        turn(&prices, kinds, &mut by_kind);
        for user in 0..users {
            let theta = &self.theta[user * servers..][..servers];
            costs.fill(0.0);
            for (prices, demand) in by_kind.chunks_exact(servers).zip(program.demand(user)) {
                add(&mut costs, prices, *demand);
            }
            let change = offsets[user] + program.totals[user] * factor + dot(theta, &costs);
            let value = change / self.sums[user];
            values[user] = value;
            let pairs = user * servers..(user + 1) * servers;
            let pairs = shares[pairs.clone()].iter_mut().zip(&mut reduced[pairs]);
            for ((theta, cost), (share, reduced)) in theta.iter().zip(&costs).zip(pairs) {
                let rise = if *theta == 0.0 { 0.0 } else { cost - value };
                *share -= theta * rise;
                *reduced = rise;
            }
        }
        let free = (0..kinds * servers)
            .map(|row| match point.prices[row] > 0.0 {
                true => (wanted.free[row] - point.free[row] * prices[row]) / point.prices[row],
                false => 0.0,
            })
            .collect();
        let slack = (wanted.factor - point.slack * factor) / point.factor;
        Deltas { shares, free, factor, values, reduced, prices, slack }
    }
}

impl Deltas {
    /// Becomes the sum of it and parts of another direction, in the primal and dual variables.
    pub(super) fn add(&mut self, other: &Deltas, primal: f64, dual: f64) {
        add(&mut self.shares, &other.shares, primal);
        add(&mut self.free, &other.free, primal);
        self.factor += primal * other.factor;
        add(&mut self.values, &other.values, dual);
        add(&mut self.reduced, &other.reduced, dual);
        add(&mut self.prices, &other.prices, dual);
        self.slack += dual * other.slack;
    }

    fn is_finite(&self) -> bool {
        self.factor.is_finite()
            && self.prices.iter().chain(&self.values).all(|value| value.is_finite())
    }
}

/// Weights of pairs of servers, of one user: theta_k theta_l / D, negative off the diagonal; on it
/// theta_k (D - theta_k) / D without a difference.
fn pairs_of(theta: &[f64], parts: &[f64], weights: &mut [f64]) {
    let mut after: f64 = 0.0;
    let mut end = weights.len();
    for row in (0..theta.len()).rev() {
        let weights = &mut weights[end - row - 1..end];
        end -= row + 1;
        let mut before = 0.0;
        for (weight, other) in weights.iter_mut().zip(&theta[..row]) {
            *weight = -parts[row] * other;
            before += other;
        }
        weights[row] = parts[row] * (before + after);
        after += theta[row];
    }
}

/// Turns a matrix of rows of `columns`.
fn turn(matrix: &[f64], columns: usize, turned: &mut [f64]) {
    let rows = matrix.len() / columns;
    for (row, line) in matrix.chunks_exact(columns).enumerate() {
        line.iter().zip(turned.chunks_exact_mut(rows)).for_each(|(value, to)| to[row] = *value);
    }
}

/// Adds as many vectors as there are lanes, each by its own part.
fn add_lanes(into: &mut [f64], values: &[f64], by: [f64; LANES]) {
    let (first, rest) = values.split_at(into.len());
    let (second, rest) = rest.split_at(into.len());
    let (third, fourth) = rest.split_at(into.len());
    let values = first.iter().zip(second).zip(third.iter().zip(fourth));
    for (into, ((a, b), (c, d))) in into.iter_mut().zip(values) {
        *into += (by[0] * a + by[1] * b) + (by[2] * c + by[3] * d);
    }
}

fn add(into: &mut [f64], values: &[f64], by: f64) {
    into.iter_mut().zip(values).for_each(|(into, value)| *into += by * value);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The same in four lanes, which need not wait for each other.
fn long_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (a, b) in a.iter().zip(b) {
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(lane, (a, b))| *lane += a * b);
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) + dot(a_rest, b_rest)
}

/// Replaces the lower half of a matrix by its Cholesky factor. A pivot that rounding has eaten up
/// becomes so large that its unknown stays zero in this step.
fn cholesky(matrix: &mut [f64], rows: usize) {
    let largest = (0..rows).map(|row| matrix[row * rows + row]).fold(0.0, f64::max);
    for row in 0..rows {
        let (before, rest) = matrix.split_at_mut(row * rows);
        let own = &mut rest[..rows];
        for column in 0..row {
            let other = &before[column * rows..][..rows];
            own[column] =
                (own[column] - long_dot(&own[..column], &other[..column])) / other[column];
        }
        let pivot = own[row] - long_dot(&own[..row], &own[..row]);
        own[row] = if pivot > 1e-30 * largest { pivot.sqrt() } else { 1e64 };
    }
}

/// Solves with the Cholesky factor, in place.
fn substitute(factor: &[f64], right: &mut [f64]) {
    let rows = right.len();
    for row in 0..rows {
        let line = &factor[row * rows..][..rows];
        right[row] = (right[row] - long_dot(&line[..row], &right[..row])) / line[row];
    }
    for row in (0..rows).rev() {
        right[row] /= factor[row * rows + row];
        let value = right[row];
        let line = &factor[row * rows..][..row];
        right[..row].iter_mut().zip(line).for_each(|(right, factor)| *right -= factor * value);
    }
}
