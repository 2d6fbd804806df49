//! Many users solved as few: users that go to the same servers are one user.
//!
//! A *bundle* is a set of users whose totals are spread over the servers in one proportion, so that
//! it is one user of the program, of demand sum_i b_i d_i / sum_i b_i. What bundles can have, their
//! users can have. Of the prices p that prove it, each bundle's cost min_k p_k sum_i b_i d_i is at
//! least that of its users, sum_i b_i min_k p_k d_i, and the *loss* is the difference: prices of
//! the bundles prove as much for the users when no bundle loses anything, that is, when all users
//! of each have a cheapest server in common. So bundles that lose are split: by which of two
//! servers is cheaper, and finer near those to whom both cost the same, where the next prices will
//! lie.
//!
//! Bundles stay for the next program, of other totals. Cost: one look at all users for each of
//! about ten small programs, instead of one in each step of a large one.

use crate::exact::interior::{Inside, Program, Run};

/// As many users are solved as they are.
const FEW: usize = 48;
/// Bundles at first: a quarter as many as users, but no more than this.
const FIRST: usize = 48;
/// Programs at most; then users are solved as they are.
const PROGRAMS: usize = 40;
/// Gap at which bundles are looked at, at first, and once they have served for a program.
const FIRST_GAP: f64 = 1e-2;
const KNOWN_GAP: f64 = 1e-4;
/// Gaps between which a point is a good start for the next program.
const NEAR: (f64, f64) = (1e-2, 1e-4);
/// How much smaller it becomes while they lose less than it.
const CLOSER: f64 = 1e-3;

/// A partition of users.
pub(crate) struct Bundles {
    /// Users by bundle, each ascending.
    members: Vec<Vec<usize>>,
    /// The gap at which the next program's bundles are looked at.
    gap: f64,
    /// Where the last program was at the first look.
    near: Option<Inside>,
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
        let mut bundles = Bundles { members: Vec::new(), gap: FIRST_GAP, near: None };
        for group in alike {
            let most = (first * group.len()).div_ceil(users);
            bundles.halve(demand, kinds, group.to_vec(), most);
        }
        bundles
    }

    fn single(users: usize) -> Bundles {
        let members = (0..users).map(|user| vec![user]).collect();
        Bundles { members, gap: FIRST_GAP, near: None }
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
        for _ in 0..PROGRAMS {
            if let Some(solved) = self.attempt(program, tolerance) {
                return solved;
            }
        }
        *self = Bundles::single(program.totals.len());
        self.attempt(program, tolerance).expect("a single user loses nothing")
    }

    /// The next program starts from the beginning: where little has changed but what is used up,
    /// the last one's prices are a bad start.
    pub(crate) fn forget(&mut self) {
        self.near = None;
    }

    /// Solves it with the bundles as they are; `None` when they had to be split.
    fn attempt(&mut self, program: &Program<'_>, tolerance: f64) -> Option<Inside> {
        let single = self.members.len() == program.totals.len();
        let (demand, totals, wanted) = self.sums(program);
        let few = Program { demand: &demand, totals: &totals, ..*program };
        let mut gap = self.gap.max(tolerance);
        let mut run = match &self.near {
            Some(near) => Run::near(&few, near),
            None => Run::new(&few),
        };
        run.solve(NEAR.0);
        let mut warm = self.near.is_some();
        if warm && !run.within(NEAR.0) {
            run = Run::new(&few);
            run.solve(NEAR.0);
            warm = false;
        }
        if self.near.is_none() || !run.within(NEAR.1) {
            self.near = Some(run.best().clone());
        }
        loop {
            run.solve(gap);
            if warm && !run.within(gap) {
                self.forget();
                return None;
            }
            let inside = run.best();
            if single && gap > tolerance {
                gap = tolerance;
                continue;
            }
            if single {
                return Some(self.expand(program, &wanted, &totals, inside));
            }
            let (losses, loss) = self.losses(program, &few, &wanted, &inside.prices);
            if loss > gap && self.split(program, &wanted, &losses, &inside.prices) {
                self.gap = (0.1 * loss).min(gap);
                return None;
            }
            self.gap = gap.max(KNOWN_GAP);
            if gap <= tolerance || run.ended() {
                return Some(self.expand(program, &wanted, &totals, inside));
            }
            gap = (CLOSER * gap).max(tolerance);
        }
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

    /// What each bundle loses and where it is cheapest, and the losses of all over what they cost.
    fn losses(
        &self,
        program: &Program<'_>,
        few: &Program<'_>,
        wanted: &[usize],
        prices: &[f64],
    ) -> (Vec<(f64, usize)>, f64) {
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
        (losses, all / least)
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
            let ends = [0, cut / 2, cut, cut + (sorted.len() - cut).div_ceil(2), sorted.len()];
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
                let mut twin = Run::new(&single);
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
