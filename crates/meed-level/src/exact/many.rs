//! Three and more resources on unequal servers: no closed form, so prices are found by a linear
//! program.
//!
//! For shares x, the largest factor t such that t x fits, and the prices p that prove it, come from
//! [`super::interior`]. Prices alone bound the level: sum_i x_i(level) f_i(p) <= sum_k p_k C_k,
//! f_i(p) = min_k p_k d_i, whose largest solution U(p) is exact ([`crate::line::fill`]). From a
//! level that is too high, level <- U(p) is Newton's method (Dinkelbach's) on a piecewise linear
//! function: it falls, and ends at the largest feasible level after a few programs; one suffices
//! when shares are proportional to the level.
//!
//! Whoever pays a price stops there: sum_i x_i f_i is all the pool is worth, so more for them is
//! less for others. Users of zero price (whose every demand is for something not used up on some
//! server) go on with the next round.
//!
//! *What is certain:* the prices prove the level not to be exceeded; shares are scaled by what the
//! program's point lacks to that, which is stated as the gap. Nothing rests on the program being
//! solved well but the gap's size. What is not used up has a small price at the program's end,
//! which stops nobody: who stops must be proven not to rise ([`Evidence`]).
//!
//! Users of one direction are one user here, and users that go to the same servers are one user of
//! the program ([`super::bundles`]). In the first round servers of the same prices are one server
//! ([`super::groups`]); in later ones what is used up already has prices of its own. The last
//! digits come from [`super::fit`], for prices as for shares: a gap of the program itself would
//! cost more programs, and rounds that are none. Cost: 1 to 4 programs for each round.

use crate::exact::bundles::Bundles;
use crate::exact::fit::{fit, fit_prices};
use crate::exact::groups::Groups;
use crate::exact::interior::{Inside, Program};
use crate::line::{Line, Sum, fill};
use crate::pool::{Class, Pieces, Pool, Solved, Stop};

/// Gaps of programs that only serve to come closer, where shares bend below the level: of the
/// first, and by how much the next one's is smaller, until it is tight.
const LOOSE: f64 = 1e-2;
const CLOSER: f64 = 1e-1;
/// The last of them.
const LAST: f64 = 1e-4;
/// Gap of the last program: close enough for the point to be made to fit exactly. A step less would
/// often leave more to be mended than [`fit`] can, and another program costs as much as many steps.
const TIGHT: f64 = 1e-13;
/// Gap of the last program where that is not enough.
const TIGHTEST: f64 = 1e-14;
/// A gap that is accepted at once.
const ACCEPTED: f64 = 5e-13;
/// The same of a placement.
const GROUPS_ACCEPTED: f64 = 1e-12;
/// The same of groups before they are placed: what they lack is lacking to the placement too, and
/// where that is not accepted, more than one program is solved again.
const BEFORE: f64 = 1e-13;
/// How often a placement is made to fit.
const REFITS: usize = 3;
/// What a point may lack that is rounding.
const FITS: f64 = 1e-15;
/// Programs in one round at most.
const PROGRAMS: usize = 30;
/// Parts of a share below this are rounding of the program: they go to where the rest is.
const DUST: f64 = 1e-11;

/// What the pool's worth of one's dominant resource costs at least, where it is a price; below, it
/// is rounding.
const PAYS: f64 = 1e-8;

/// By what part of its share and past somebody who stops could still rise at most.
const RISE: f64 = 1e-8;

/// Users of one direction.
struct Directions {
    /// Directions x resources.
    demand: Vec<f64>,
    /// The direction of each user.
    of: Vec<usize>,
}

/// A round's end: level, prices by class, where totals are served (directions x classes), and what
/// is lacking to them.
struct Round {
    level: f64,
    prices: Vec<f64>,
    shares: Vec<f64>,
    /// By direction: what is served over what the level says.
    factors: Vec<f64>,
}

impl Round {
    /// By what part somebody is served less than the level says at most.
    fn lacking(&self) -> f64 {
        1.0 - self.factors.iter().copied().fold(1.0, f64::min)
    }
}

/// A pool of three or more demanded resources, and of several classes.
pub(crate) fn solve(pool: &Pool, classes: &[Class]) -> Solved {
    let directions = directions(pool);
    let capacity: Vec<f64> =
        classes.iter().flat_map(|class| class.capacity.iter().copied()).collect();
    let mut bundles = Bundles::new(&directions.demand, pool.kinds());
    let mut lines = pool.lines.clone();
    let mut active: Vec<usize> = (0..lines.len()).collect();
    let mut stops = Vec::new();
    let mut promised = vec![0.0; lines.len()];
    let mut floor: f64 = 0.0;
    let shares = loop {
        let round = Search {
            pool,
            directions: &directions,
            capacity: &capacity,
            lines: &lines,
            floor,
            accepted: ACCEPTED,
            bundles: &mut bundles,
        }
        .run();
        floor = floor.max(round.level);
        let program = program(pool, &directions, &capacity, &[]);
        let costs: Vec<f64> = (0..directions.demand.len() / pool.kinds())
            .map(|direction| program.cost(&round.prices, direction))
            .collect();
        let evidence = Evidence::new(pool, &directions, &lines, &round, &costs, &capacity);
        let most = active.iter().map(|&user| evidence.weight(user)).fold(0.0, f64::max);
        let pays = |user: usize| evidence.weight(user) > 1.0f64.min(0.5 * most);
        let mut stop = Stop {
            level: floor,
            users: Vec::new(),
            prices: by_server(pool, classes, &round.prices),
        };
        let before = active.len();
        active.retain(|&user| {
            let served = pool.lines[user].to() <= floor;
            if !served && !pays(user) {
                return true;
            }
            if !served {
                stop.users.push(user);
            }
            promised[user] = pool.lines[user].share(floor);
            lines[user] = Line::fixed(promised[user] * round.factors[directions.of[user]]);
            false
        });
        if round.level.is_finite() {
            stops.push(stop);
        }
        if active.is_empty() || active.len() == before || !round.level.is_finite() {
            break round.shares;
        }
    };
    let wanted: Vec<f64> = lines.iter().map(|line| line.share(floor)).collect();
    let mut solved = finish(pool, classes, &directions, &wanted, &shares, stops);
    let lacking = |user: usize| match promised[user] > 0.0 {
        true => {
            (promised[user] - solved.shares[user]) / (promised[user] + pool.lines[user].history)
        }
        false => 0.0,
    };
    solved.gap = (0..promised.len()).map(lacking).fold(0.0, f64::max);
    solved
}

/// What prices prove about who cannot rise. With the prices of a round user i cannot have more than
/// what is left unsold over c_i: a price that rounding has made proves nothing.
struct Evidence<'a> {
    pool: &'a Pool,
    directions: &'a Directions,
    costs: &'a [f64],
    level: f64,
    /// What is not sold, of what the pool is worth.
    left: f64,
}

impl<'a> Evidence<'a> {
    fn new(
        pool: &'a Pool,
        directions: &'a Directions,
        lines: &[Line],
        round: &Round,
        costs: &'a [f64],
        capacity: &[f64],
    ) -> Self {
        let mut left = Sum::default();
        round.prices.iter().zip(capacity).for_each(|(price, amount)| left.add(price * amount));
        for (line, &direction) in lines.iter().zip(&directions.of) {
            left.add(-costs[direction] * line.share(round.level) * round.factors[direction]);
        }
        Evidence { pool, directions, costs, level: round.level, left: left.total().max(0.0) }
    }

    /// More than 1 where it is proven that a user cannot rise by more than [`RISE`] of what it has.
    fn weight(&self, user: usize) -> f64 {
        let (line, cost) = (&self.pool.lines[user], self.costs[self.directions.of[user]]);
        let has = (line.share(self.level) + line.history).max(1e-3);
        (cost * has * RISE / self.left.max(f64::MIN_POSITIVE)).min(cost / PAYS)
    }
}

/// Distinct demand vectors, and whose they are.
fn directions(pool: &Pool) -> Directions {
    let by_demand = |a: &usize, b: &usize| {
        let pairs = pool.demand(*a).iter().zip(pool.demand(*b)).map(|(a, b)| a.total_cmp(b));
        pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then(a.cmp(b))
    };
    let mut order: Vec<usize> = (0..pool.lines.len()).collect();
    order.sort_unstable_by(by_demand);
    let mut found = Directions { demand: Vec::new(), of: vec![0; pool.lines.len()] };
    for user in order {
        let demand = pool.demand(user);
        if !found.demand.ends_with(demand) || found.demand.is_empty() {
            found.demand.extend(demand);
        }
        found.of[user] = found.demand.len() / pool.kinds() - 1;
    }
    found
}

fn program<'a>(
    pool: &Pool,
    directions: &'a Directions,
    capacity: &'a [f64],
    totals: &'a [f64],
) -> Program<'a> {
    Program::new(&directions.demand, capacity, pool.kinds(), totals)
}

/// The search for one round's level.
struct Search<'a> {
    pool: &'a Pool,
    directions: &'a Directions,
    capacity: &'a [f64],
    lines: &'a [Line],
    floor: f64,
    /// What a round may lack.
    accepted: f64,
    bundles: &'a mut Bundles,
}

impl Search<'_> {
    fn run(&mut self) -> Round {
        if self.floor == 0.0
            && let Some(round) = self.by_groups()
        {
            return round;
        }
        self.bundles.forget();
        let known = self.pool_bound();
        let (mut round, mut inside) = self.search(known);
        if self.floor > 0.0 && round.level.is_finite() {
            self.polish(&mut round, &mut inside);
        }
        self.fitted(&mut round, &inside);
        round
    }

    /// The round by groups of servers; none where that does not end as close as it should.
    fn by_groups(&mut self) -> Option<Round> {
        let mut groups = Groups::one(self.capacity, self.pool.kinds());
        let mut known = self.pool_bound();
        self.bundles.forget();
        while groups.len() < groups.servers() {
            let (round, free) = self.of_groups(&groups, &known);
            known = (round.level, groups.of_servers(&round.prices));
            let whole = program(self.pool, self.directions, self.capacity, &[]);
            match groups.place(&whole, &round.shares, &free, &round.prices) {
                Ok(inside) => match self.placed(round.level, inside) {
                    Some(round) => return Some(round),
                    // Rounding: other groups round otherwise.
                    None => {
                        groups = groups.parted(self.capacity, self.pool.kinds());
                        self.bundles.forget();
                    }
                },
                Err((split, start)) => {
                    groups = split;
                    match start {
                        Some(bundles) => *self.bundles = bundles,
                        None => self.bundles.forget(),
                    }
                }
            }
        }
        None
    }

    /// The round of groups, each as one server, and what they have free. A level is known that they
    /// cannot exceed, and the prices of servers that prove it: of the pool, or of larger groups.
    fn of_groups(&mut self, groups: &Groups, known: &(f64, Vec<f64>)) -> (Round, Vec<f64>) {
        let capacity = groups.capacity(self.capacity, self.pool.kinds());
        let mut coarse =
            Search { capacity: &capacity, accepted: BEFORE, bundles: self.bundles, ..*self };
        let (level, prices) = (known.0, groups.of_first(&known.1));
        if groups.len() == 1 {
            let shares = coarse.totals(level);
            let factors = vec![1.0; shares.len()];
            return (Round { level, prices, shares, factors }, Vec::new());
        }
        let (round, inside) = coarse.search((level, prices));
        (round, inside.free)
    }

    /// The round of a placement, made to fit.
    fn placed(&self, level: f64, mut inside: Inside) -> Option<Round> {
        let mut round = self.round(level, level, &inside, &inside.prices);
        for _ in 0..REFITS {
            self.fitted(&mut round, &inside);
            if round.lacking() <= GROUPS_ACCEPTED {
                break;
            }
            inside.shares.clone_from(&round.shares);
        }
        (round.lacking() <= GROUPS_ACCEPTED && self.proves(&round)).then_some(round)
    }

    /// Whether the prices of a round prove that nobody rises who pays one.
    fn proves(&self, round: &Round) -> bool {
        let costs = self.costs(&round.prices);
        let evidence =
            Evidence::new(self.pool, self.directions, self.lines, round, &costs, self.capacity);
        let cost = |user: usize| costs[self.directions.of[user]];
        let mut paying = (0..self.lines.len()).filter(|&user| cost(user) > PAYS);
        paying.all(|user| evidence.weight(user) >= 1.0)
    }

    /// What each direction costs.
    fn costs(&self, prices: &[f64]) -> Vec<f64> {
        let program = program(self.pool, self.directions, self.capacity, &[]);
        let directions = self.directions.demand.len() / self.pool.kinds();
        (0..directions).map(|direction| program.cost(prices, direction)).collect()
    }

    /// Takes the point to what fits exactly, where the program has ended before.
    fn fitted(&self, round: &mut Round, inside: &Inside) {
        if round.lacking() <= FITS {
            return;
        }
        let servers = self.capacity.len() / self.pool.kinds();
        let totals = self.totals(round.level);
        let program =
            Program { totals: &totals, ..program(self.pool, self.directions, self.capacity, &[]) };
        let mut shares = self.served(&program, inside);
        for (parts, total) in shares.chunks_mut(servers).zip(&totals) {
            let sum: f64 = parts.iter().sum();
            let scale = if sum > 0.0 { total / sum } else { 0.0 };
            parts.iter_mut().for_each(|part| *part *= scale);
        }
        let worth = self.worth(&inside.prices);
        let full: Vec<bool> =
            (0..self.capacity.len()).map(|row| self.used_up(inside, worth, row)).collect();
        fit(&program, &full, &mut shares);
        let inside = Inside { shares, ..inside.clone() };
        let fitted = self.round(round.level, round.level, &inside, &round.prices);
        if fitted.lacking() < round.lacking() {
            *round = fitted;
        }
    }

    /// Shares without those that are zero in the limit: of each pair of a variable and its dual
    /// one, in parts of what there is, the smaller is zero in the end.
    fn served(&self, program: &Program<'_>, inside: &Inside) -> Vec<f64> {
        let (servers, worth) = (program.servers(), self.worth(&inside.prices));
        let mut shares = inside.shares.clone();
        for (user, parts) in shares.chunks_mut(servers).enumerate() {
            let total: f64 = parts.iter().sum();
            if total <= 0.0 {
                continue;
            }
            let cost = program.cost(&inside.prices, user);
            for (server, share) in parts.iter_mut().enumerate() {
                let dearer = program.cost_on(&inside.prices, user, server) - cost;
                if *share / total < dearer * total / worth {
                    *share = 0.0;
                }
            }
        }
        shares
    }

    fn worth(&self, prices: &[f64]) -> f64 {
        prices.iter().zip(self.capacity).map(|(price, amount)| price * amount).sum()
    }

    fn used_up(&self, inside: &Inside, worth: f64, row: usize) -> bool {
        let (price, amount) = (inside.prices[row], self.capacity[row]);
        amount > 0.0 && inside.free[row] / amount < price * amount / worth
    }

    /// After the first round resources are used up by those who have stopped, and at the level
    /// found their old prices prove as much as the new ones: the program returns some mixture, and
    /// not even a good one. Just above the level only the new ones do. Whatever prices prove is
    /// proven, so the least level counts.
    fn polish(&mut self, round: &mut Round, inside: &mut Inside) {
        let from = round.level;
        for above in [1e-2, 1e-4, 1e-6] {
            self.bundles.forget();
            let inside = self.inside(round.level * (1.0 + above), TIGHTEST);
            let (prices, level) = self.cleaned(&inside, true);
            let level = level.max(self.floor);
            let close = (level - round.level).abs() <= ACCEPTED * round.level;
            if close || level < round.level {
                (round.level, round.prices) = (level, prices);
            }
            if close {
                break;
            }
        }
        if round.level < from * (1.0 - ACCEPTED) {
            self.bundles.forget();
            *inside = self.inside(round.level, TIGHTEST);
            *round = self.round(round.level, round.level, inside, &round.prices);
        }
    }

    /// From a level that is not exceeded, and the prices that prove it.
    fn search(&mut self, (mut level, mut prices): (f64, Vec<f64>)) -> (Round, Inside) {
        let curved = self
            .lines
            .iter()
            .any(|line| line.weight > 0.0 && (line.from() > 0.0 || line.to() < level));
        let mut tolerance = if curved { LOOSE } else { TIGHT };
        let mut programs = 0;
        // Rounding may make a program that was to be tighter worse.
        let mut best: Option<(Round, Inside)> = None;
        loop {
            let inside = self.inside(level, tolerance);
            let close = tolerance <= TIGHT;
            if close && inside.factor >= 1.0 - ACCEPTED {
                let as_is = self.round(level, level, &inside, &prices);
                if as_is.lacking() <= FITS {
                    return (as_is, inside);
                }
            }
            let (found, next) = self.cleaned(&inside, close);
            let next = next.max(self.floor);
            let closer = next < level * (1.0 - 1e-13) || (next < level && !level.is_finite());
            let from = level;
            // The level and the prices that prove it stay together.
            if next < level {
                (level, prices) = (next, found);
            }
            if !close {
                tolerance = if tolerance <= LAST || !closer { TIGHT } else { CLOSER * tolerance };
                continue;
            }
            let mut round = self.round(from, level, &inside, &prices);
            self.fitted(&mut round, &inside);
            let lacking = round.lacking();
            programs += 1;
            let stuck = tolerance == TIGHTEST && !closer;
            let (round, inside) = match best.take() {
                Some((least, inside)) if least.lacking() <= lacking => (least, inside),
                _ => (round, inside),
            };
            if lacking <= self.accepted || programs == PROGRAMS || stuck {
                return (round, inside);
            }
            best = Some((round, inside));
            tolerance = TIGHTEST;
        }
    }

    /// The level that the totals of the pool allow, which is at least that of its servers, and the
    /// prices that prove it.
    fn pool_bound(&self) -> (f64, Vec<f64>) {
        let kinds = self.pool.kinds();
        let bound = |r: usize| {
            let lines = self.lines.iter().enumerate();
            fill(
                &lines.map(|(user, line)| (*line, self.pool.demand(user)[r])).collect::<Vec<_>>(),
                1.0,
            )
        };
        let least = (0..kinds).map(|r| (bound(r), r)).min_by(|a, b| a.0.total_cmp(&b.0));
        let (level, resource) = least.unwrap_or((f64::INFINITY, 0));
        let price = |row: usize| f64::from(u8::from(row % kinds == resource));
        (level.max(self.floor), (0..self.capacity.len()).map(price).collect())
    }

    fn totals(&self, level: f64) -> Vec<f64> {
        let mut totals = vec![Sum::default(); self.directions.demand.len() / self.pool.kinds()];
        for (user, line) in self.lines.iter().enumerate() {
            totals[self.directions.of[user]].add(line.share(level));
        }
        totals.iter().map(Sum::total).collect()
    }

    /// The program for the shares at a level.
    fn inside(&mut self, level: f64, tolerance: f64) -> Inside {
        let totals = self.totals(level);
        let program =
            Program { totals: &totals, ..program(self.pool, self.directions, self.capacity, &[]) };
        self.bundles.solve(&program, tolerance)
    }

    /// Prices without those of what is not used up, which are zero in the limit, and the level that
    /// they allow; as they are if that would prove less, or while they are rough.
    fn cleaned(&self, inside: &Inside, close: bool) -> (Vec<f64>, f64) {
        let worth = self.worth(&inside.prices);
        let clean = |row: usize| {
            if self.used_up(inside, worth, row) { inside.prices[row] / worth } else { 0.0 }
        };
        let raw: Vec<f64> = inside.prices.iter().map(|price| price / worth).collect();
        let large = |row: usize| if raw[row] * self.capacity[row] > PAYS { raw[row] } else { 0.0 };
        let least = self.bound(&raw);
        if !close {
            return (raw, least);
        }
        let rows = 0..self.capacity.len();
        let cleaned: [Vec<f64>; 2] = [rows.clone().map(clean).collect(), rows.map(large).collect()];
        let bounded = cleaned.into_iter().map(|prices| {
            let level = self.bound(&prices);
            (prices, level)
        });
        let mut enough = bounded.filter(|(_, level)| *level <= least * (1.0 + 1e-9));
        let (clean, level) = enough.next().unwrap_or((raw, least));
        let program = program(self.pool, self.directions, self.capacity, &[]);
        let mut exact = clean.clone();
        fit_prices(&program, &self.served(&program, inside), &mut exact);
        let fitted = self.bound(&exact);
        if fitted < level { (exact, fitted) } else { (clean, level) }
    }

    /// The largest level that prices allow.
    fn bound(&self, prices: &[f64]) -> f64 {
        let worth = self.worth(prices);
        let costs = self.costs(prices);
        let users: Vec<(Line, f64)> = self
            .lines
            .iter()
            .zip(&self.directions.of)
            .map(|(line, &direction)| (*line, costs[direction]))
            .filter(|(_, cost)| *cost > 0.1 * PAYS * worth)
            .collect();
        fill(&users, worth)
    }

    /// A point for the shares at level `from`, turned into one for the shares at level `to`.
    fn round(&self, from: f64, to: f64, inside: &Inside, prices: &[f64]) -> Round {
        let (kinds, servers) = (self.pool.kinds(), self.capacity.len() / self.pool.kinds());
        let (before, after) = (self.totals(from), self.totals(to));
        let mut shares = inside.shares.clone();
        let mut used = vec![Sum::default(); self.capacity.len()];
        for (direction, total) in after.iter().enumerate() {
            let parts = &mut shares[direction * servers..][..servers];
            if before[direction] <= 0.0 {
                continue;
            }
            settle(parts, *total);
            let demand = &self.directions.demand[direction * kinds..][..kinds];
            for (server, part) in parts.iter().enumerate().filter(|(_, part)| **part > 0.0) {
                used[server * kinds..][..kinds]
                    .iter_mut()
                    .zip(demand)
                    .for_each(|(used, by)| used.add(part * by));
            }
        }
        // Where more is used than there is, and nowhere else, all that uses it becomes smaller.
        let over: Vec<f64> = used
            .iter()
            .zip(self.capacity)
            .map(
                |(used, amount)| if *amount > 0.0 { (used.total() / amount).max(1.0) } else { 1.0 },
            )
            .collect();
        let mut factors = vec![1.0; after.len()];
        for (direction, factor) in
            factors.iter_mut().enumerate().filter(|(at, _)| before[*at] > 0.0)
        {
            let demand = &self.directions.demand[direction * kinds..][..kinds];
            let parts = &mut shares[direction * servers..][..servers];
            let mut sum = Sum::default();
            for (part, over) in parts.iter_mut().zip(over.chunks(kinds)) {
                let over = over.iter().zip(demand).filter(|(_, demand)| **demand > 0.0);
                *part /= over.map(|(over, _)| *over).fold(1.0, f64::max);
                sum.add(*part);
            }
            if after[direction] > 0.0 {
                *factor = (sum.total() / after[direction]).min(1.0);
            }
        }
        Round { level: to, prices: prices.to_vec(), shares, factors }
    }
}

/// Scales the parts of a share to a total, without the dust.
fn settle(parts: &mut [f64], total: f64) {
    let sum: f64 = parts.iter().sum();
    parts.iter_mut().filter(|part| **part < DUST * sum).for_each(|part| *part = 0.0);
    let rest: f64 = parts.iter().sum();
    let scale = if rest > 0.0 { total / rest } else { 0.0 };
    parts.iter_mut().for_each(|part| *part *= scale);
}

/// Prices by server from those by class.
fn by_server(pool: &Pool, classes: &[Class], prices: &[f64]) -> Vec<f64> {
    let kinds = pool.kinds();
    let mut all = vec![0.0; pool.capacity.len()];
    for (class, prices) in classes.iter().zip(prices.chunks(kinds)) {
        for &server in &class.servers {
            all[server * kinds..][..kinds].copy_from_slice(prices);
        }
    }
    all
}

/// Hands out what each direction has on each class to its users and the class's servers, in
/// proportion.
fn finish(
    pool: &Pool,
    classes: &[Class],
    directions: &Directions,
    wanted: &[f64],
    shares: &[f64],
    stops: Vec<Stop>,
) -> Solved {
    let count = classes.len();
    let mut totals = vec![Sum::default(); directions.demand.len() / pool.kinds()];
    wanted.iter().zip(&directions.of).for_each(|(share, &direction)| totals[direction].add(*share));
    let mut solved = Solved {
        shares: vec![0.0; wanted.len()],
        stops,
        pieces: vec![Vec::new(); pool.servers()],
        gap: 0.0,
    };
    let pieces: &mut Pieces = &mut solved.pieces;
    for (number, class) in classes.iter().enumerate() {
        let all: f64 = class.capacity.iter().sum();
        for (user, &direction) in directions.of.iter().enumerate() {
            let total = totals[direction].total();
            let here = if total > 0.0 {
                shares[direction * count + number] * wanted[user] / total
            } else {
                0.0
            };
            if here <= 0.0 {
                continue;
            }
            solved.shares[user] += here;
            for &server in &class.servers {
                let part = pool.capacity(server).iter().sum::<f64>() / all;
                pieces[server].push((user, here * part));
            }
        }
    }
    solved
}
