//! Many users solved as few: users that go to the same servers are one user.
//!
//! A *bundle* is a set of users whose totals are spread over the servers in one proportion, so that
//! it is one user of the program, of demand sum_i b_i d_i / sum_i b_i. What bundles can have, their
//! users can have. Of the prices p that prove it, each bundle's cost min_k p_k sum_i b_i d_i is at
//! least that of its users, sum_i b_i min_k p_k d_i, and the *loss* is the difference: prices of
//! the bundles prove as much for the users when no bundle loses anything, that is, when all users
//! of each have a cheapest server in common. So bundles that lose are split: by which of two
//! servers is cheaper, and finer near those to whom both cost the same, where the next prices will
//! lie. The program then goes on from its point ([`point`]), and so does the next one, of other
//! totals, for which the bundles stay. Cost: one look at all users for every tenth of the gap,
//! instead of one in each step of a large program.
//!
//! Splits follow prices on their way, so most of the bundles that they leave are soon far from
//! where prices are going: all of each is clearly on one server. Those of one server are *joined*,
//! and what is left is as many bundles as there are near the borders between servers, not as many
//! as have ever been near. A bundle that was joined too early loses again, and is split again.

use std::rc::Rc;

use crate::exact::bundles::point::Point;
use crate::exact::interior::{Inside, Program, Run};

mod point;

/// As many users are solved as they are.
const FEW: usize = 48;
/// So many bundles are not joined: their steps are short, and programs of a few large bundles end
/// in rounding earlier.
const JOINED: usize = 24;
/// Bundles at first: a quarter as many as users, but no more than this.
const FIRST: usize = 48;
/// Looks at all users at most; then users are solved as they are.
const LOOKS: usize = 200;
/// The gap at which bundles are first looked at, the same where it is asked whether totals fit, and
/// how much smaller it becomes until the next look.
const FIRST_GAP: f64 = 1e-1;
const FITS_GAP: f64 = 1e-2;
const CLOSER: f64 = 1e-1;
/// What bundles may lose, of the gap; the same where it is asked whether totals fit. An early split
/// is cheap: what is served where has not been settled yet.
const MUCH: f64 = 0.1;
const FITS_MUCH: f64 = 1.0;
/// Totals do not fit as soon as prices prove it, which is certain however rough they are. Prices
/// that are to tell servers apart should not be: what the point lacks is at most so many times what
/// the totals are too much.
const CLEARLY: f64 = 3.0;
/// A point is a start for another program while its gap is at least this part of what totals differ
/// in proportion: closer to the end, it is too close to the boundary for them.
const NEAR: f64 = 0.3;
/// The same in any case: of still smaller gaps rounding leaves nothing strictly inside.
const INSIDE: f64 = 1e-7;

/// A partition of users.
pub(crate) struct Bundles {
    /// Users by bundle.
    members: Vec<Vec<usize>>,
    /// The gap at which the next program's bundles are looked at.
    gap: f64,
    /// Where the last program was whenever it was looked at, and its gaps.
    left: Vec<(f64, Rc<Point>)>,
}

impl Bundles {
    /// Users of like demand together, of one that is zero in the same resources only.
    pub(crate) fn new(demand: &[f64], kinds: usize) -> Bundles {
        let users = demand.len() / kinds;
        if users <= FEW {
            return Bundles::single(users);
        }
        let demands = |user: usize| demand[user * kinds..][..kinds].iter().map(|d| *d > 0.0);
        let mut order: Vec<usize> = (0..users).collect();
        order.sort_by(|a, b| demands(*a).cmp(demands(*b)));
        let first = (users / 4).min(FIRST);
        let alike = order.chunk_by(|a, b| demands(*a).eq(demands(*b)));
        let mut bundles = Bundles { members: Vec::new(), gap: FIRST_GAP, left: Vec::new() };
        for group in alike {
            let most = (first * group.len()).div_ceil(users);
            bundles.halve(demand, kinds, group.to_vec(), most);
        }
        bundles
    }

    fn single(users: usize) -> Bundles {
        let members = (0..users).map(|user| vec![user]).collect();
        Bundles { members, gap: FIRST_GAP, left: Vec::new() }
    }

    /// At least `most` parts of about equal size, halved where demands differ most.
    fn halve(&mut self, demand: &[f64], kinds: usize, mut users: Vec<usize>, most: usize) {
        if most <= 1 || users.len() <= 1 {
            users.sort_unstable();
            self.members.push(users);
            return;
        }
        let at = |user: usize, r: usize| demand[user * kinds + r];
        let spread = |r: usize| {
            let values = users.iter().map(|&user| at(user, r));
            let (low, high) =
                values.fold((f64::INFINITY, 0.0), |(low, high), v: f64| (v.min(low), v.max(high)));
            high - low
        };
        let widest = (0..kinds).map(|r| (spread(r), r)).max_by(|a, b| a.0.total_cmp(&b.0));
        let (_, r) = widest.expect("there is a resource");
        let middle = users.len() / 2;
        users
            .select_nth_unstable_by(middle, |&a, &b| at(a, r).total_cmp(&at(b, r)).then(a.cmp(&b)));
        let rest = users.split_off(middle);
        self.halve(demand, kinds, users, most / 2);
        self.halve(demand, kinds, rest, most - most / 2);
    }

    /// Solves a program of all users, some of whose totals may be zero, until the factor and what
    /// prices prove differ by less than `tolerance`. The bundles are then fine enough for it.
    pub(crate) fn solve(&mut self, program: &Program<'_>, tolerance: f64) -> Inside {
        self.until(program, tolerance, false)
    }

    /// The same, but no further than it takes to know that the totals do not fit, and why.
    pub(crate) fn fits(&mut self, program: &Program<'_>, tolerance: f64) -> Inside {
        self.until(program, tolerance, true)
    }

    fn until(&mut self, program: &Program<'_>, tolerance: f64, fits: bool) -> Inside {
        let mut point = self.start(program);
        // Once for each gap: what is split again then stays apart, so there is an end.
        let mut joined = f64::INFINITY;
        for _ in 0..LOOKS {
            match self.attempt(program, tolerance, fits, point) {
                Ok(solved) => return solved,
                Err(split) => {
                    if self.gap < joined && self.members.len() > JOINED {
                        joined = self.gap;
                        self.join(program, &split);
                    }
                    point = Some(split);
                }
            }
        }
        *self = Bundles::single(program.totals.len());
        let solved = self.attempt(program, tolerance, fits, None);
        solved.ok().expect("a single user loses nothing")
    }

    /// The point that the next program starts from: the last one that is far enough from its end.
    fn start(&mut self, program: &Program<'_>) -> Option<Rc<Point>> {
        let left = std::mem::take(&mut self.left);
        let apart = left.first().map_or(0.0, |(_, point)| point.apart(program));
        let far = left.iter().rev().find(|(gap, _)| *gap >= INSIDE.max(NEAR * apart));
        far.or(left.first()).map(|(_, point)| Rc::clone(point))
    }

    /// The same for a program of the same users whose servers are groups of this one's, which goes
    /// on from this one's point.
    pub(crate) fn grouped(
        mut self,
        groups: &[Vec<usize>],
        capacity: &[f64],
        kinds: usize,
    ) -> Bundles {
        for (_, point) in &mut self.left {
            *point = Rc::new(point.grouped(groups, capacity, kinds));
        }
        self
    }

    /// The next program starts from the beginning: where little has changed but what is used up,
    /// the last one's prices are a bad start.
    pub(crate) fn forget(&mut self) {
        self.left.clear();
    }

    /// Solves it with the bundles as they are; the point where they had to be split otherwise.
    fn attempt(
        &mut self,
        program: &Program<'_>,
        tolerance: f64,
        fits: bool,
        from: Option<Rc<Point>>,
    ) -> Result<Inside, Rc<Point>> {
        let (demand, totals, wanted) = self.sums(program);
        let few = Program { demand: &demand, totals: &totals, ..*program };
        let start = from.and_then(|from| from.carried(program, &few, self.of(&wanted)));
        let mut run = Run::new(&few, start);
        let (first, much) = if fits { (FITS_GAP, FITS_MUCH) } else { (FIRST_GAP, MUCH) };
        let mut gap = self.gap.min(first);
        loop {
            gap = gap.max(tolerance);
            run.solve(gap);
            let inside = run.best();
            let point = Rc::new(Point::new(program, self.of(&wanted), &totals, inside));
            self.left.push((run.gap(), Rc::clone(&point)));
            let (losses, loss, bound) = self.losses(program, &few, &wanted, &inside.prices);
            let refused = fits && 1.0 - inside.factor / bound < CLEARLY * (1.0 - bound);
            let coarse = !refused && loss > much * gap.max(tolerance);
            if coarse && self.split(program, &wanted, &losses, &inside.prices) {
                self.gap = gap;
                return Err(point);
            }
            if gap <= tolerance || run.ended() || refused {
                self.gap = FIRST_GAP;
                return Ok(self.expand(program, &wanted, &totals, inside));
            }
            gap = CLOSER * gap.min(run.gap());
        }
    }

    /// Members of some bundles.
    fn of<'a>(&'a self, wanted: &'a [usize]) -> impl Iterator<Item = &'a [usize]> {
        wanted.iter().map(|&bundle| &self.members[bundle][..])
    }

    /// Demand and totals of the bundles of which something is wanted, and which these are.
    fn sums(&self, program: &Program<'_>) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
        let kinds = program.kinds;
        let (mut demand, mut totals, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
        for (bundle, members) in self.members.iter().enumerate() {
            let total: f64 = members.iter().map(|&user| program.totals[user]).sum();
            if total <= 0.0 {
                continue;
            }
            let from = demand.len();
            demand.resize(from + kinds, 0.0);
            for &user in members {
                let part = program.totals[user] / total;
                let sums = demand[from..].iter_mut().zip(program.demand(user));
                sums.for_each(|(sum, demand)| *sum += part * demand);
            }
            totals.push(total);
            wanted.push(bundle);
        }
        (demand, totals, wanted)
    }

    /// What each bundle loses and where it is cheapest, the losses of all over what they cost, and
    /// the factor that prices prove not to be exceeded.
    fn losses(
        &self,
        program: &Program<'_>,
        few: &Program<'_>,
        wanted: &[usize],
        prices: &[f64],
    ) -> (Vec<(f64, usize)>, f64, f64) {
        let (mut all, mut least) = (0.0, 0.0);
        let mut losses = Vec::with_capacity(wanted.len());
        for (at, &bundle) in wanted.iter().enumerate() {
            let (_, server) = few.cheapest(prices, at);
            let mut loss = 0.0;
            for &user in &self.members[bundle] {
                let (total, (cost, _)) = (program.totals[user], program.cheapest(prices, user));
                loss += total * (program.cost_on(prices, user, server) - cost);
                least += total * cost;
            }
            all += loss;
            losses.push((loss, server));
        }
        let worth: f64 =
            prices.iter().zip(program.capacity).map(|(price, have)| price * have).sum();
        (losses, all / least, worth / least)
    }

    /// Splits the bundles that lose most; false if there are none.
    fn split(
        &mut self,
        program: &Program<'_>,
        wanted: &[usize],
        losses: &[(f64, usize)],
        prices: &[f64],
    ) -> bool {
        let all: f64 = losses.iter().map(|(loss, _)| loss).sum();
        let much = 0.1 * all / losses.len() as f64;
        let before = self.members.len();
        for (&bundle, &(loss, server)) in wanted.iter().zip(losses) {
            if loss <= much || self.members[bundle].len() < 2 {
                continue;
            }
            // The server to which most is lost.
            let mut lost = vec![0.0; program.servers()];
            for &user in &self.members[bundle] {
                let (cost, there) = program.cheapest(prices, user);
                lost[there] +=
                    program.totals[user] * (program.cost_on(prices, user, server) - cost);
            }
            let most = lost.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            let (other, _) = most.expect("there is a server");
            let members = std::mem::take(&mut self.members[bundle]);
            let dearer = |user: usize| {
                program.cost_on(prices, user, other) - program.cost_on(prices, user, server)
            };
            let mut sorted: Vec<(f64, usize)> =
                members.into_iter().map(|user| (dearer(user), user)).collect();
            sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let cut = sorted.partition_point(|(dearer, _)| *dearer < 0.0);
            // As far on the other side as anybody has moved.
            let reach = -sorted[0].0;
            let near = sorted.partition_point(|(dearer, _)| *dearer < reach);
            let middle = cut + (sorted.len() - cut).div_ceil(2);
            let near = if near == sorted.len() { middle } else { near };
            let ends = [0, cut, near, sorted.len()];
            let parts = ends.windows(2).filter(|ends| ends[0] < ends[1]).map(|ends| {
                let mut part: Vec<usize> =
                    sorted[ends[0]..ends[1]].iter().map(|(_, user)| *user).collect();
                part.sort_unstable();
                part
            });
            for (number, part) in parts.enumerate() {
                match number {
                    0 => self.members[bundle] = part,
                    _ => self.members.push(part),
                }
            }
        }
        self.members.len() > before
    }

    /// Joins the bundles that are clearly on one server each, server by server. A gap leaves prices
    /// open by about its square root (near the optimum what they prove is flat), and what is served
    /// elsewhere is the gap over what it costs more there: so who is further from the border than
    /// prices are open is served elsewhere by less than that root.
    fn join(&mut self, program: &Program<'_>, point: &Point) {
        let elsewhere = self.gap.sqrt();
        let mut joined = vec![Vec::new(); program.servers()];
        let mut rest = Vec::with_capacity(self.members.len());
        for members in std::mem::take(&mut self.members) {
            match point.server(program, &members, elsewhere) {
                Some(server) => joined[server].extend(members),
                None => rest.push(members),
            }
        }
        rest.extend(joined.into_iter().filter(|members| !members.is_empty()));
        self.members = rest;
    }

    /// Shares of bundles as shares of their users.
    fn expand(
        &self,
        program: &Program<'_>,
        wanted: &[usize],
        totals: &[f64],
        inside: &Inside,
    ) -> Inside {
        let servers = program.servers();
        let mut shares = vec![0.0; program.totals.len() * servers];
        for ((&bundle, total), parts) in
            wanted.iter().zip(totals).zip(inside.shares.chunks_exact(servers))
        {
            for &user in &self.members[bundle] {
                let part = program.totals[user] / total;
                let shares = shares[user * servers..][..servers].iter_mut().zip(parts);
                shares.for_each(|(share, all)| *share = part * all);
            }
        }
        Inside { shares, ..inside.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in [0, 1).
    fn dice(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// The twin: every user by itself. Programs one after the other start from the last one's
    /// bundles and point, with some users gone and others new.
    #[test]
    fn bundles_prove_as_much_as_single_users() {
        let (users, servers) = (400, 6);
        for (seed, kinds, zeros) in (0..24).map(|n| (n, 3 + n as usize % 2, n % 3 == 0)) {
            let mut dice = dice(seed);
            let mut amount = |least: f64| {
                let value = least + dice();
                if zeros && dice() < 0.15 { 0.0 } else { value }
            };
            let mut capacity: Vec<f64> = (0..servers * kinds).map(|_| amount(0.3)).collect();
            // Everybody fits on the first.
            capacity[..kinds].fill(1.0);
            let mut demand: Vec<f64> = (0..users * kinds).map(|_| amount(0.05)).collect();
            demand.chunks_mut(kinds).for_each(|demand| demand[0] = demand[0].max(0.01));
            let mut bundles = Bundles::new(&demand, kinds);
            assert!(bundles.members.len() < users / 2);
            for _ in 0..3 {
                let totals: Vec<f64> = (0..users).map(|_| (5.0 * amount(0.0)).floor()).collect();
                let program = Program::new(&demand, &capacity, kinds, &totals);
                let found = bundles.solve(&program, 1e-10);
                let mut members: Vec<usize> = bundles.members.iter().flatten().copied().collect();
                members.sort_unstable();
                assert!(members.into_iter().eq(0..users), "a partition");
                let (demand, totals, _) = Bundles::single(users).sums(&program);
                let single = Program::new(&demand, &capacity, kinds, &totals);
                let mut twin = Run::new(&single, None);
                twin.solve(1e-10);
                let near = |a: f64, b: f64| (a - b).abs() < 1e-8 * b;
                let twin = twin.best().factor;
                assert!(near(found.factor, twin), "{seed}: {} or {twin}", found.factor);
                let worth: f64 = found.prices.iter().zip(&capacity).map(|(p, c)| p * c).sum();
                let cost: f64 =
                    (0..totals.len()).map(|u| totals[u] * single.cost(&found.prices, u)).sum();
                assert!(near(worth / cost, twin), "{seed}: {} is proven, {twin}", worth / cost);
            }
        }
    }
}
