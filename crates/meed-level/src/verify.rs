//! Checks a result against its problem by arithmetic alone, without any of the code that found it.
//!
//! 1. *It fits.* On every server the tasks served use at most what there is; they add up to the
//!    users' tasks; nobody has more than there are.
//! 2. *Nobody can rise* (weak duality). A round's prices make one task of user i cost c_i on the
//!    server where it is cheapest, and all that the servers have is worth 1. So whatever fits costs
//!    at most 1: sum_i n_i c_i <= 1. At the round's level, with those that stopped before as they
//!    are, the tasks cost 1 already. Whoever stops in the round has c_i > 0: with more for one of
//!    them, another gets less.
//! 3. *How much that proves.* A c_i that is but rounding proves nothing. While nobody has less than
//!    the smaller of what it has and what the round's level says, user i can have at most (1 -
//!    sum_j n_j c_j) / c_i tasks more: that is how far it may be from the optimum, however prices
//!    and shares were found, and it must be next to nothing.
//! 4. *Shares are what the levels say*, but for the gap.
//!
//! Cost: O(rounds x users x servers of different prices).

use crate::allocation::{Allocation, Round};
use crate::policy::AllocationPolicy;
use crate::problem::{Problem, Server, User};

/// What rounding may do.
const TOLERANCE: f64 = 1e-9;
/// How far a level may be from what its prices prove, and a share from the optimum: rounding of a
/// program of three and more resources. The figures of [`Verified`] say how far they are.
const LEVEL: f64 = 1e-7;
/// Shares (with the past) below this part of the pool are compared as if they were as large.
const SMALL: f64 = 1e-3;

/// Figures of a result that is right.
///
/// ```
/// use meed_level::{AllocationPolicy, allocate, examples, verify};
///
/// let problem = examples::figure_2();
/// let mut solved = allocate(&problem, AllocationPolicy::Drfh)?;
/// assert!(verify(&problem, AllocationPolicy::Drfh, &solved)?.overuse < 1e-9);
/// solved.users[0].tasks += 1.0; // more than it was served
/// assert!(verify(&problem, AllocationPolicy::Drfh, &solved).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Verified {
    /// The largest part by which a server is used beyond its capacity: rounding, below 1e-9.
    pub overuse: f64,
    /// The largest part of the pool that is worth something in a round and not used at its level.
    pub unsold: f64,
    /// The largest part by which share and past fall short of what the level says.
    pub short: f64,
    /// The largest part by which share and past of a user could be larger with nobody who has no
    /// more getting less, as far as the prices prove. Shares below 1e-3 of the pool count as that.
    pub rise: f64,
}

/// What is wrong with a result.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct VerifyError(String);

fn fail<T>(what: String) -> Result<T, VerifyError> {
    Err(VerifyError(what))
}

/// Checks everything that a result claims.
pub fn verify(
    problem: &Problem,
    policy: AllocationPolicy,
    allocation: &Allocation,
) -> Result<Verified, VerifyError> {
    if allocation.users.len() != problem.users.len() {
        return fail(format!("{} users in, {} out", problem.users.len(), allocation.users.len()));
    }
    let servers = servers(problem, policy);
    let mut verified = Verified {
        overuse: fits(problem, &servers, allocation)?,
        unsold: 0.0,
        short: 0.0,
        rise: 0.0,
    };
    adds_up(problem, allocation)?;
    if let Some(certificate) = &allocation.certificate {
        let users = &problem.users;
        let mean_weight = users.iter().map(|user| user.weight).sum::<f64>() / users.len() as f64;
        let credits = users.iter().map(|user| user.ledgers.credits).fold(0.0, f64::max);
        let check = Check { problem, policy, servers: &servers, allocation, mean_weight, credits };
        check.rounds(&certificate.rounds, certificate.gap, &mut verified)?;
        if verified.short > certificate.gap + TOLERANCE {
            return fail(format!(
                "shares fall short by {:e}, more than the gap of {:e}",
                verified.short, certificate.gap
            ));
        }
        let first = certificate.rounds.first().map(|round| round.level);
        if first != allocation.level {
            return fail(format!(
                "the level is {:?}, the first round's {first:?}",
                allocation.level
            ));
        }
    }
    Ok(verified)
}

/// The servers that a policy sees: for DRF the pool as one.
fn servers(problem: &Problem, policy: AllocationPolicy) -> Vec<Server> {
    match policy {
        AllocationPolicy::Drf => vec![Server { count: 1.0, capacity: problem.totals() }],
        _ => problem.servers.clone(),
    }
}

/// The largest relative use beyond a capacity.
fn fits(
    problem: &Problem,
    servers: &[Server],
    allocation: &Allocation,
) -> Result<f64, VerifyError> {
    if allocation.servers.len() != servers.len() {
        return fail(format!("{} servers in, {} out", servers.len(), allocation.servers.len()));
    }
    let mut worst: f64 = 0.0;
    for (number, (server, served)) in servers.iter().zip(&allocation.servers).enumerate() {
        for (r, resource) in problem.resources.iter().enumerate() {
            let used = exact_sum(
                served.iter().map(|(user, tasks)| tasks * problem.users[*user].demand[r]),
            );
            let room = server.count * server.capacity[r];
            let over = if used > 0.0 { used / room - 1.0 } else { 0.0 };
            if over.is_nan() || over > TOLERANCE {
                return fail(format!(
                    "servers[{number}]: {used} of `{resource}` is used, there is {room}"
                ));
            }
            worst = worst.max(over);
        }
    }
    Ok(worst)
}

/// A sum whose rounding does not grow with the number of terms: what each addition loses is kept
/// (Kahan).
fn exact_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0, 0.0);
    for value in values {
        let value = value - lost;
        let next: f64 = sum + value;
        lost = (next - sum) - value;
        sum = next;
    }
    sum
}

/// Tasks on the servers are the users' tasks, and no more than there are.
fn adds_up(problem: &Problem, allocation: &Allocation) -> Result<(), VerifyError> {
    let mut tasks = vec![0.0; problem.users.len()];
    for &(user, part) in allocation.servers.iter().flatten() {
        if part.is_nan() || part < 0.0 {
            return fail(format!(
                "user `{}` has {part} tasks on a server",
                problem.users[user].name
            ));
        }
        tasks[user] += part;
    }
    let totals = problem.totals();
    for ((user, share), sum) in problem.users.iter().zip(&allocation.users).zip(tasks) {
        let near = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * a.abs().max(b.abs());
        if !near(share.tasks, sum) || !near(share.dominant_share, sum * dominant(user, &totals)) {
            return fail(format!(
                "user `{}` has {} tasks, on servers {sum}",
                user.name, share.tasks
            ));
        }
        if user.tasks.is_some_and(|most| share.tasks > most * (1.0 + TOLERANCE)) {
            return fail(format!(
                "user `{}` has {} tasks, more than there are",
                user.name, share.tasks
            ));
        }
    }
    Ok(())
}

/// The largest share of a resource of the pool that a task takes.
fn dominant(user: &User, totals: &[f64]) -> f64 {
    let shares = user.demand.iter().zip(totals).filter(|(need, _)| **need > 0.0);
    shares.map(|(need, total)| need / total).fold(0.0, f64::max)
}

struct Check<'a> {
    problem: &'a Problem,
    policy: AllocationPolicy,
    servers: &'a [Server],
    allocation: &'a Allocation,
    mean_weight: f64,
    /// The most that a user has.
    credits: f64,
}

impl Check<'_> {
    /// The dominant share that a level means.
    fn share_at(&self, user: usize, level: f64, totals: &[f64]) -> f64 {
        let user = &self.problem.users[user];
        let cap = user.tasks.map_or(f64::INFINITY, |tasks| tasks * dominant(user, totals));
        // The x at which the policy's key is the level.
        let share = match self.policy {
            AllocationPolicy::LongTermDrf => user.weight * level - user.used,
            AllocationPolicy::Sdrf => user.weight * level - user.ledgers.commitment,
            AllocationPolicy::MrKarma => {
                user.weight * (level + user.ledgers.credits / self.mean_weight)
            }
            AllocationPolicy::AsYouPay => {
                (user.ledgers.paid * level - user.ledgers.received) / self.problem.worth
            }
            _ => user.weight * level,
        };
        share.max(0.0).min(cap)
    }

    /// What of a user's past counts, beside which rounding is measured.
    fn past(&self, user: usize) -> f64 {
        let user = &self.problem.users[user];
        match self.policy {
            AllocationPolicy::LongTermDrf => user.used,
            AllocationPolicy::Sdrf => user.ledgers.commitment,
            AllocationPolicy::MrKarma => {
                user.weight * (self.credits - user.ledgers.credits) / self.mean_weight
            }
            AllocationPolicy::AsYouPay => user.ledgers.received / self.problem.worth,
            _ => 0.0,
        }
    }

    /// Fills in the largest part unsold in a round, by which a user could rise, and by which a
    /// share falls short.
    fn rounds(
        &self,
        rounds: &[Round],
        gap: f64,
        verified: &mut Verified,
    ) -> Result<(), VerifyError> {
        // Prices in closed form are exact: whatever is paid is paid. Others are right but for the
        // gap.
        let nothing = if gap > 0.0 { TOLERANCE } else { 0.0 };
        let totals = self.problem.totals();
        let users = &self.problem.users;
        let mut stopped: Vec<Option<f64>> = vec![None; users.len()];
        let mut last = f64::NEG_INFINITY;
        for (number, round) in rounds.iter().enumerate() {
            if round.level.is_nan() || round.level < last {
                return fail(format!("round {number} has the level {}, below {last}", round.level));
            }
            last = round.level;
            // Per unit of dominant share: what the whole pool's worth of one's dominant resource
            // would cost.
            let mut costs = self.costs(number, round)?;
            costs.iter_mut().zip(users).for_each(|(cost, user)| *cost /= dominant(user, &totals));
            let left = self.left(number, round, &costs, &stopped, verified)?;
            for &user in &round.users {
                let name = &users[user].name;
                let cost = costs[user];
                if cost.is_nan() || cost <= nothing {
                    return fail(format!(
                        "round {number}: user `{name}` pays nothing and could rise"
                    ));
                }
                let has = self.share_at(user, round.level, &totals) + self.past(user);
                let rise = left / cost / has.max(SMALL);
                if rise.is_nan() || rise > LEVEL {
                    return fail(format!(
                        "round {number}: user `{name}` pays {cost:e} only, and could rise by \
                         {rise:e}"
                    ));
                }
                verified.rise = verified.rise.max(rise);
                if stopped[user].replace(round.level).is_some() {
                    return fail(format!("round {number}: user `{name}` has stopped before"));
                }
            }
        }
        verified.short = self.short(&stopped, &totals)?;
        Ok(())
    }

    /// What is left of the pool's worth when everybody has the smaller of its share and what the
    /// round's level says.
    fn left(
        &self,
        number: usize,
        round: &Round,
        costs: &[f64],
        stopped: &[Option<f64>],
        verified: &mut Verified,
    ) -> Result<f64, VerifyError> {
        let totals = self.problem.totals();
        let has = |user: usize| self.allocation.users[user].dominant_share;
        let says = |user: usize| match stopped[user] {
            Some(_) => has(user),
            None => self.share_at(user, round.level, &totals),
        };
        let sold = exact_sum((0..costs.len()).map(|user| says(user) * costs[user]));
        verified.unsold = verified.unsold.max(1.0 - sold);
        if sold.is_nan() || verified.unsold > LEVEL {
            return fail(format!(
                "round {number}: the tasks of its level cost {sold}, the pool is worth 1"
            ));
        }
        // What is used beyond a capacity is not there: the shares that fit are smaller by that.
        let fits = 1.0 + verified.overuse;
        let held =
            exact_sum((0..costs.len()).map(|user| says(user).min(has(user)) / fits * costs[user]));
        Ok((1.0 - held).max(0.0))
    }

    /// The largest part by which share and past fall short of what the level says at which a user
    /// has stopped.
    fn short(&self, stopped: &[Option<f64>], totals: &[f64]) -> Result<f64, VerifyError> {
        let users = &self.problem.users;
        let mut short: f64 = 0.0;
        for (user, stopped) in stopped.iter().enumerate() {
            let expected = match stopped {
                Some(level) => self.share_at(user, *level, totals),
                None => users[user]
                    .tasks
                    .map_or(f64::INFINITY, |tasks| tasks * dominant(&users[user], totals)),
            };
            let share = self.allocation.users[user].dominant_share;
            if share > expected + LEVEL * expected.max(SMALL) || expected.is_infinite() {
                return fail(format!(
                    "user `{}` has the share {share}, its level says {expected}",
                    users[user].name
                ));
            }
            if expected > 0.0 {
                short = short.max((expected - share) / (expected + self.past(user)));
            }
        }
        Ok(short)
    }

    /// What one task of each user costs where it is cheapest.
    fn costs(&self, number: usize, round: &Round) -> Result<Vec<f64>, VerifyError> {
        let mut worth = 0.0;
        let mut distinct: Vec<(&[f64], Vec<bool>)> = Vec::new();
        if round.prices.len() != self.servers.len() {
            return fail(format!("round {number} has prices for {} servers", round.prices.len()));
        }
        for (server, prices) in self.servers.iter().zip(&round.prices) {
            if prices.iter().any(|price| price.is_nan() || *price < 0.0) {
                return fail(format!("round {number} has a price below zero"));
            }
            let values = prices
                .iter()
                .zip(&server.capacity)
                .map(|(price, have)| price * have * server.count);
            worth += values.sum::<f64>();
            let has: Vec<bool> = server.capacity.iter().map(|have| *have > 0.0).collect();
            if !distinct.iter().any(|(known, known_has)| known == prices && *known_has == has) {
                distinct.push((prices, has));
            }
        }
        if (worth - 1.0).abs() > TOLERANCE {
            return fail(format!("round {number}: the pool is worth {worth}, not 1"));
        }
        let cost = |user: &User| {
            let possible =
                |has: &[bool]| user.demand.iter().zip(has).all(|(need, has)| *need == 0.0 || *has);
            let on = distinct.iter().filter(|(_, has)| possible(has));
            on.map(|(prices, _)| {
                prices.iter().zip(&user.demand).map(|(price, need)| price * need).sum()
            })
            .fold(f64::INFINITY, f64::min)
        };
        Ok(self.problem.users.iter().map(cost).collect())
    }
}
