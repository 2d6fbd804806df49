//! A point of one program of bundles, as the start of the next: of bundles that were split or
//! joined since, or of other totals.
//!
//! Both programs share their variables but for who is one. What a bundle is served where is its
//! members' by their totals, so the same shares serve whatever bundles they are put into, and the
//! point still fits. Of other totals it nearly does: products stay what they were, and the next
//! steps mend what is used too much or too little; of far other ones all shares are scaled to fit.
//! Prices stay as well; a bundle's value is set below its least cost. So a start
//! is strictly inside from its first step, and what it lacks to the end is what the point lacked
//! and what its bundles have lost: a program goes on where the last one was, in place of coming
//! back from far outside.

use crate::exact::interior::{Inside, Program};

/// A product is at least this part of its bundle's mean where the bundle is cheapest.
const LEAST: f64 = 0.1;
/// Totals whose proportions differ by more than this are far from a point's.
const FAR: f64 = 0.5;

/// A point, and what its bundles were.
pub(super) struct Point {
    /// The bundle of each user, and its total.
    of: Vec<usize>,
    totals: Vec<f64>,
    /// Totals of bundles.
    sums: Vec<f64>,
    inside: Inside,
}

impl Point {
    /// `inside` is a point of bundles of these members.
    pub(super) fn new<'a>(
        program: &Program<'_>,
        members: impl Iterator<Item = &'a [usize]>,
        sums: &[f64],
        inside: &Inside,
    ) -> Point {
        let mut of = vec![0; program.totals.len()];
        for (bundle, members) in members.enumerate() {
            members.iter().for_each(|&user| of[user] = bundle);
        }
        let totals = program.totals.to_vec();
        Point { of, totals, sums: sums.to_vec(), inside: inside.clone() }
    }

    /// The same where servers that are put into groups are one each: what a group is worth stays.
    /// For servers that have some of everything.
    pub(super) fn grouped(&self, groups: &[Vec<usize>], capacity: &[f64], kinds: usize) -> Point {
        let (servers, inside) = (capacity.len() / kinds, &self.inside);
        let sums = |values: &[f64], by: usize| -> Vec<f64> {
            let pairs = groups.iter().flat_map(|group| (0..by).map(move |r| (group, r)));
            let sum = |(group, r): (&Vec<usize>, usize)| {
                group.iter().map(|server| values[server * by + r]).sum::<f64>()
            };
            pairs.map(sum).collect()
        };
        let products =
            |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a * b).collect() };
        let mean = |sums: Vec<f64>, of: &[f64]| -> Vec<f64> {
            sums.iter().zip(of).map(|(sum, of)| sum / of).collect()
        };
        let by_bundle = |values: &[f64]| -> Vec<f64> {
            values.chunks_exact(servers).flat_map(|parts| sums(parts, 1)).collect()
        };
        let shares = by_bundle(&inside.shares);
        let reduced = mean(by_bundle(&products(&inside.shares, &inside.reduced)), &shares);
        let worth = sums(&products(&inside.prices, capacity), kinds);
        let prices = mean(worth, &sums(capacity, kinds));
        let free = sums(&inside.free, kinds);
        let inside = Inside { shares, free, prices, reduced, ..inside.clone() };
        Point { of: self.of.clone(), totals: self.totals.clone(), sums: self.sums.clone(), inside }
    }

    /// The server that is cheapest for all of a bundle's members, where no more than such a part of
    /// it is served elsewhere.
    pub(super) fn server(
        &self,
        program: &Program<'_>,
        members: &[usize],
        elsewhere: f64,
    ) -> Option<usize> {
        let wanting = || members.iter().copied().filter(|&user| self.totals[user] > 0.0);
        let servers = program.servers();
        let parts = &self.inside.shares[self.of[wanting().next()?] * servers..][..servers];
        let most = parts.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let (server, most) = most.filter(|(_, most)| *most > 0.0)?;
        let there = |user: usize| program.cheapest(&self.inside.prices, user).1 == server;
        let clear = most >= (1.0 - elsewhere) * parts.iter().sum::<f64>();
        (clear && wanting().all(there)).then_some(server)
    }

    /// By what part a program's totals are in other proportions.
    pub(super) fn apart(&self, program: &Program<'_>) -> f64 {
        let totals = self.totals.iter().zip(program.totals);
        let ratios = totals.filter(|(old, new)| **old + **new > 0.0).map(|(old, new)| new / old);
        let (least, most) = ratios
            .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), ratio| {
                (least.min(ratio), most.max(ratio))
            });
        1.0 - least / most
    }

    /// The point of `few`, whose bundles have these members; none where somebody wants something
    /// who wanted nothing, or where rounding has left nothing strictly inside.
    pub(super) fn carried<'a>(
        &self,
        program: &Program<'_>,
        few: &Program<'_>,
        members: impl Iterator<Item = &'a [usize]>,
    ) -> Option<Inside> {
        let servers = program.servers();
        let mut shares = vec![0.0; few.users() * servers];
        let mut products = vec![0.0; few.users()];
        let before: Vec<f64> = self
            .inside
            .shares
            .chunks_exact(servers)
            .zip(self.inside.reduced.chunks_exact(servers))
            .map(|(shares, reduced)| shares.iter().zip(reduced).map(|(g, z)| g * z).sum())
            .collect();
        for (at, members) in members.enumerate() {
            let shares = &mut shares[at * servers..][..servers];
            let mut take = |bundle: usize, total: f64| {
                let part = total / self.sums[bundle];
                products[at] += part * before[bundle];
                let from = &self.inside.shares[bundle * servers..][..servers];
                shares.iter_mut().zip(from).for_each(|(share, all)| *share += part * all);
            };
            // Members were mostly in one bundle.
            let mut run: Option<(usize, f64)> = None;
            for &user in members {
                let (total, bundle) = (program.totals[user], self.of[user]);
                if total <= 0.0 {
                    continue;
                }
                if self.totals[user] <= 0.0 {
                    return None;
                }
                run = match run {
                    Some((last, sum)) if last == bundle => Some((last, sum + total)),
                    other => {
                        other.into_iter().for_each(|(bundle, total)| take(bundle, total));
                        Some((bundle, total))
                    }
                };
            }
            run.into_iter().for_each(|(bundle, total)| take(bundle, total));
        }
        let mut point = Inside { shares, ..self.inside.clone() };
        if program.totals != self.totals && self.apart(program) > FAR {
            self.fit(few, &mut point);
        }
        value(few, &mut point, &products).then_some(point)
    }

    /// Shares as large as leave free everywhere what was free, and what they leave free.
    fn fit(&self, few: &Program<'_>, point: &mut Inside) {
        let (servers, kinds) = (few.servers(), few.kinds);
        let mut used = vec![0.0; few.capacity.len()];
        for (user, parts) in point.shares.chunks_exact(servers).enumerate() {
            for (part, used) in parts.iter().zip(used.chunks_exact_mut(kinds)) {
                let demand = few.demand(user);
                used.iter_mut().zip(demand).for_each(|(used, demand)| *used += part * demand);
            }
        }
        let rows = used.iter().zip(few.capacity).zip(&self.inside.free);
        let room = rows.filter(|((used, _), _)| **used > 0.0);
        // Where hardly anything was used, rounding says what: half of it may be.
        let before = |have: f64, free: f64| (have - free).max(0.5 * have);
        let scale = room
            .map(|((used, have), free)| before(*have, *free) / used)
            .fold(f64::INFINITY, f64::min);
        point.factor *= scale;
        point.shares.iter_mut().for_each(|share| *share *= scale);
        for ((free, used), have) in point.free.iter_mut().zip(used).zip(few.capacity) {
            *free = if *have > 0.0 { have - scale * used } else { 0.0 };
        }
    }
}

/// Values of bundles at a point's shares and prices, such that products are what they were in sum;
/// prices and values then as the point's slack says. False where that is not strictly inside: where
/// demands are far apart, a value may come out below zero, and so may what all are worth.
fn value(few: &Program<'_>, point: &mut Inside, products: &[f64]) -> bool {
    let servers = few.servers();
    point.values = vec![0.0; few.users()];
    point.reduced = vec![1.0; few.users() * servers];
    let mut worth = 0.0;
    for (user, &product) in products.iter().enumerate().take(few.users()) {
        let shares = &point.shares[user * servers..][..servers];
        let reduced = &mut point.reduced[user * servers..][..servers];
        let (mut cost, mut all, mut served) = (0.0, 0.0, 0.0);
        let mut least = (f64::INFINITY, 0.0);
        for (server, (share, reduced)) in shares.iter().zip(reduced.iter_mut()).enumerate() {
            if *share <= 0.0 {
                continue;
            }
            *reduced = few.cost_on(&point.prices, user, server);
            (cost, all, served) = (cost + share * *reduced, all + share, served + 1.0);
            if *reduced < least.0 {
                least = (*reduced, *share);
            }
        }
        let below = (LEAST * product / (served * least.1)).min(product / all);
        let value = ((cost - product) / all).min(least.0 - below);
        let parts = reduced.iter_mut().zip(shares).filter(|(_, share)| **share > 0.0);
        parts.for_each(|(reduced, _)| *reduced -= value);
        point.values[user] = value;
        worth += few.totals[user] * value;
    }
    let scale = (1.0 + point.slack) / worth;
    let mut pairs = point.shares.iter().zip(&point.reduced);
    let inside = pairs.all(|(share, reduced)| *share <= 0.0 || *reduced > 0.0);
    if !(inside && scale > 0.0 && scale.is_finite()) {
        return false;
    }
    let shares = point.shares.iter();
    point.prices.iter_mut().chain(&mut point.values).for_each(|dual| *dual *= scale);
    let served = point.reduced.iter_mut().zip(shares).filter(|(_, share)| **share > 0.0);
    served.for_each(|(reduced, _)| *reduced *= scale);
    true
}
