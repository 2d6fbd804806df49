//! A placement that nearly fits, made to fit: the last digits that an interior-point method does
//! not give.
//!
//! The parts g_ik of totals b_i change by as little as possible, each relative to itself, such that
//!
//! ```text
//! sum_k g_ik = b_i   for every user,      sum_i g_ik d_ir = C_kr   for what is used up
//! ```
//!
//! The change of least sum of squares (change)^2 / g is g_ik (l_i + d_i m_k); without the l_i that
//! is a system as large as the number of amounts used up, sum_i (diag_k(g_ik) - g_i g_i^T / D_i) x
//! d_i d_i^T, D_i = sum_k g_ik. It is singular wherever totals and capacity say the same twice, as
//! they do when a level is met exactly; what depends on others is left out, and the residuals of
//! the next pass mend what that leaves.
//!
//! Nothing is certain about the outcome: the caller takes it if it fits better. Cost: as one step
//! of [`super::interior`].

use crate::exact::interior::Program;
use crate::line::Sum;

/// Passes with the same factors; two are usual.
const PASSES: usize = 3;
/// A pivot below this part of its diagonal depends on those before.
const DEPENDENT: f64 = 1e-9;

/// Changes `shares` (users x servers) towards `program.totals`, with all of the rows (servers x
/// resources) `full` used.
pub(crate) fn fit(program: &Program<'_>, full: &[bool], shares: &mut [f64]) {
    let rows: Vec<usize> = (0..full.len()).filter(|&row| full[row]).collect();
    let equations = Equations::new(program, rows, shares);
    for _ in 0..PASSES {
        equations.pass(program, shares);
    }
}

/// Changes `prices` (servers x resources) such that all servers that serve a user, by `shares`,
/// cost it the same: by as little as possible, and those above zero only.
///
/// By duality these are the same equations: prices that prove the most are in the null space of
/// their matrix, and what takes p there solves M dp = -M p.
pub(crate) fn fit_prices(program: &Program<'_>, shares: &[f64], prices: &mut [f64]) {
    let rows: Vec<usize> = (0..prices.len()).filter(|&row| prices[row] > 0.0).collect();
    let equations = Equations::new(program, rows, shares);
    for _ in 0..PASSES {
        equations.pass_prices(program, prices);
    }
}

/// The reduced system at a point, factored.
struct Equations {
    /// What is used up.
    rows: Vec<usize>,
    /// Parts at the start, and their sums by user.
    parts: Vec<f64>,
    sums: Vec<f64>,
    /// Scales that make the diagonal 1, and the lower Cholesky factor of what they make.
    scales: Vec<f64>,
    factor: Vec<f64>,
}

impl Equations {
    fn new(program: &Program<'_>, rows: Vec<usize>, shares: &[f64]) -> Equations {
        let (servers, kinds, size) = (program.servers(), program.kinds, rows.len());
        let sums: Vec<f64> = shares.chunks(servers).map(|parts| parts.iter().sum()).collect();
        let mut factor = vec![0.0; size * size];
        let mut moved: Vec<(usize, usize, f64)> = Vec::with_capacity(size);
        for (user, parts) in shares.chunks(servers).enumerate() {
            // Who is on one server only stays there.
            if parts.iter().filter(|part| **part > 0.0).count() < 2 {
                continue;
            }
            let demand = program.demand(user);
            // Most users are on few servers.
            moved.clear();
            moved.extend(rows.iter().enumerate().filter_map(|(at, &row)| {
                let moves = parts[row / kinds] * demand[row % kinds];
                (moves > 0.0).then_some((at, row, moves))
            }));
            let mut first = 0;
            for (number, &(at, row, moves)) in moved.iter().enumerate() {
                let server = row / kinds;
                if moved[first].1 / kinds != server {
                    first = number;
                }
                let by = moves / sums[user];
                // Without a difference of nearly equal numbers.
                let elsewhere: f64 =
                    parts[..server].iter().sum::<f64>() + parts[server + 1..].iter().sum::<f64>();
                let line = &mut factor[at * size..=at * size + at];
                for &(other, _, moves) in &moved[..first] {
                    line[other] -= by * moves;
                }
                for &(other, row, _) in &moved[first..=number] {
                    line[other] += by * elsewhere * demand[row % kinds];
                }
            }
        }
        let scales: Vec<f64> = (0..size)
            .map(|at| match factor[at * size + at] {
                diagonal if diagonal > 0.0 => 1.0 / diagonal.sqrt(),
                _ => 0.0,
            })
            .collect();
        for at in 0..size {
            (0..=at).for_each(|other| factor[at * size + other] *= scales[at] * scales[other]);
        }
        decompose(&mut factor, size);
        Equations { rows, parts: shares.to_vec(), sums, scales, factor }
    }

    /// One correction of prices by what costs differ.
    fn pass_prices(&self, program: &Program<'_>, prices: &mut [f64]) {
        let (servers, kinds) = (program.servers(), program.kinds);
        let mut residual = vec![0.0; prices.len()];
        let mut costs = vec![0.0; servers];
        for (user, parts) in self.parts.chunks(servers).enumerate() {
            if self.sums[user] <= 0.0 {
                continue;
            }
            let demand = program.demand(user);
            for (cost, prices) in costs.iter_mut().zip(prices.chunks(kinds)) {
                *cost = dot(demand, prices);
            }
            let mean = dot(parts, &costs) / self.sums[user];
            for ((part, cost), row) in parts.iter().zip(&costs).zip(residual.chunks_mut(kinds)) {
                let by = part * (cost - mean);
                row.iter_mut().zip(demand).for_each(|(row, demand)| *row -= by * demand);
            }
        }
        let scaled = self.rows.iter().zip(&self.scales).map(|(&row, scale)| scale * residual[row]);
        let mut right: Vec<f64> = scaled.collect();
        substitute(&self.factor, &mut right);
        for ((&row, scale), value) in self.rows.iter().zip(&self.scales).zip(right) {
            prices[row] = (prices[row] + scale * value).max(0.0);
        }
    }

    /// One correction by the residuals.
    fn pass(&self, program: &Program<'_>, shares: &mut [f64]) {
        let (servers, kinds) = (program.servers(), program.kinds);
        let mut free: Vec<Sum> = program
            .capacity
            .iter()
            .map(|amount| {
                let mut sum = Sum::default();
                sum.add(*amount);
                sum
            })
            .collect();
        let mut missing = vec![0.0; self.sums.len()];
        for (user, parts) in
            shares.chunks(servers).enumerate().filter(|(user, _)| self.sums[*user] > 0.0)
        {
            let mut rest = Sum::default();
            rest.add(program.totals[user]);
            for (server, part) in parts.iter().enumerate().filter(|(_, part)| **part > 0.0) {
                rest.add(-part);
                let free = &mut free[server * kinds..][..kinds];
                free.iter_mut()
                    .zip(program.demand(user))
                    .for_each(|(free, by)| free.add(-part * by));
            }
            missing[user] = rest.total() / self.sums[user];
        }
        // What would be left after each total has been mended in proportion.
        let mut left: Vec<f64> = free.iter().map(Sum::total).collect();
        for (user, parts) in self.parts.chunks(servers).enumerate() {
            if missing[user] == 0.0 {
                continue;
            }
            for (part, left) in parts.iter().zip(left.chunks_mut(kinds)) {
                let by = part * missing[user];
                left.iter_mut().zip(program.demand(user)).for_each(|(left, d)| *left -= by * d);
            }
        }
        let mut prices = vec![0.0; free.len()];
        let scaled = self.rows.iter().zip(&self.scales).map(|(&row, scale)| scale * left[row]);
        let mut right: Vec<f64> = scaled.collect();
        substitute(&self.factor, &mut right);
        for ((&row, scale), value) in self.rows.iter().zip(&self.scales).zip(right) {
            prices[row] = scale * value;
        }
        let mut costs = vec![0.0; servers];
        for user in (0..missing.len()).filter(|&user| self.sums[user] > 0.0) {
            for (cost, prices) in costs.iter_mut().zip(prices.chunks(kinds)) {
                *cost = dot(program.demand(user), prices);
            }
            let parts = &self.parts[user * servers..][..servers];
            let mean: f64 = parts.iter().zip(&costs).map(|(part, cost)| part * cost).sum::<f64>()
                / self.sums[user];
            for ((share, part), cost) in shares[user * servers..].iter_mut().zip(parts).zip(&costs)
            {
                *share = (*share + part * (missing[user] + cost - mean)).max(0.0);
            }
        }
    }
}

/// Replaces the lower half of a semidefinite matrix of diagonal 1 by its Cholesky factor; the
/// unknown of a row that depends on those before stays zero.
fn decompose(matrix: &mut [f64], size: usize) {
    for row in 0..size {
        let (before, rest) = matrix.split_at_mut(row * size);
        let own = &mut rest[..size];
        for column in 0..row {
            let other = &before[column * size..][..size];
            own[column] = (own[column] - dot(&own[..column], &other[..column])) / other[column];
        }
        let pivot = own[row] - dot(&own[..row], &own[..row]);
        own[row] = if pivot > DEPENDENT { pivot.sqrt() } else { f64::INFINITY };
    }
}

/// Solves with the factor, in place.
fn substitute(factor: &[f64], right: &mut [f64]) {
    let size = right.len();
    for row in 0..size {
        let own = &factor[row * size..][..size];
        right[row] = (right[row] - dot(&own[..row], &right[..row])) / own[row];
    }
    for row in (0..size).rev() {
        right[row] /= factor[row * size + row];
        let value = right[row];
        let own = &factor[row * size..][..row];
        right[..row].iter_mut().zip(own).for_each(|(right, factor)| *right -= factor * value);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
