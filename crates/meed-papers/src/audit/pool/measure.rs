//! From what was decided to a property's value: the formulas of [`super::property`], the same in
//! search and replay.

use meed_level::{AllocationPolicy, Problem, Server, User, UserLedgers, allocate};

use super::super::AuditError;
use super::case::{KINDS, PoolCase};
use super::property::PoolProperty;
use super::run::{Counts, of_case};

/// Below this a value is 0: sums of floats of this size.
const NOTHING: f64 = 1e-7;

/// A user that has less than it could.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Lack {
    pub(super) user: usize,
    /// Tasks that it runs.
    pub(super) has: f64,
    /// Tasks that it could run.
    pub(super) could: f64,
    /// Tasks of the difference that whole tasks alone explain.
    pub(super) rounding: f64,
}

impl Lack {
    /// The part of what it could have that it lacks.
    pub(super) fn value(&self) -> f64 {
        self.part(self.could - self.has)
    }

    /// The part of it that whole tasks explain.
    pub(super) fn tolerance(&self) -> f64 {
        self.part(self.rounding)
    }

    fn part(&self, tasks: f64) -> f64 {
        if self.could > 0.0 { (tasks / self.could).max(0.0) } else { 0.0 }
    }

    pub(super) fn excess(&self) -> f64 {
        if self.could > 0.0 { (self.could - self.has - self.rounding) / self.could } else { 0.0 }
    }

    /// More than whole tasks explain.
    pub(super) fn violates(&self) -> bool {
        self.excess() > NOTHING
    }

    /// More than one task.
    pub(super) fn is_task(&self) -> bool {
        self.could - self.has > 1.0 + NOTHING
    }
}

/// A case, evaluated.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Judged {
    pub(super) case: PoolCase,
    /// The user that fares worst; of a coalition the one that gains least.
    pub(super) lack: Lack,
}

/// Runs a case under the policy and judges it.
pub(super) fn judge(
    property: PoolProperty,
    case: &PoolCase,
    words: &str,
) -> Result<Judged, AuditError> {
    let honest = of_case(case, false, words)?;
    let other = if property.deviates() { Some(of_case(case, true, words)?) } else { None };
    let lack = value(property, case, &honest, other.as_ref())?;
    Ok(Judged { case: case.clone(), lack })
}

/// The worst lack of the property.
pub(super) fn value(
    property: PoolProperty,
    case: &PoolCase,
    honest: &Counts,
    other: Option<&Counts>,
) -> Result<Lack, AuditError> {
    let users = 0..case.users.len();
    let has = |user: usize| total(honest, user);
    let lack = |user: usize, could: f64| Lack {
        user,
        has: has(user),
        could,
        rounding: rounding(case, user),
    };
    let all: Vec<Lack> = match property {
        PoolProperty::EnvyFreeness => users.flat_map(|user| envies(case, honest, user)).collect(),
        PoolProperty::Pareto => {
            let one = |user: usize| Ok(lack(user, most(case, honest, user)?));
            users.map(one).collect::<Result<_, AuditError>>()?
        }
        PoolProperty::GroupStrategyProofness => return Ok(coalition(case, honest, other)),
        PoolProperty::StrongSharingIncentive => {
            users.map(|user| lack(user, by_server(case, user))).collect()
        }
        PoolProperty::WeakSharingIncentive => {
            let partitions = [
                as_proved(case, honest),
                users.clone().map(|user| by_server(case, user)).collect(),
            ];
            let worst = partitions.map(|could| {
                worst(could.iter().enumerate().map(|(user, could)| lack(user, *could)))
            });
            return Ok(if worst[1].excess() < worst[0].excess() { worst[1] } else { worst[0] });
        }
        PoolProperty::SingleServerDrf | PoolProperty::SingleResource | PoolProperty::Bottleneck => {
            let exact = solve(&problem(case), AllocationPolicy::Drfh)?;
            users.map(|user| lack(user, exact[user])).collect()
        }
        PoolProperty::PopulationMonotonicity => {
            let after = |user: usize| other.map_or(0.0, |other| total(other, user));
            let stays = users.filter(|user| Some(*user) != case.leaver);
            let of = |user: usize| Lack {
                user,
                has: after(user),
                could: has(user),
                rounding: 2.0 * rounding(case, user),
            };
            stays.map(of).collect()
        }
    };
    Ok(worst(all.into_iter()))
}

fn worst(all: impl Iterator<Item = Lack>) -> Lack {
    all.reduce(|a, b| if b.excess() > a.excess() { b } else { a }).unwrap_or_default()
}

fn total(counts: &Counts, user: usize) -> f64 {
    counts[user].iter().sum::<u64>() as f64
}

/// Dominant share of one task.
fn dominant(case: &PoolCase, demand: &[u32]) -> f64 {
    let parts = demand.iter().zip(case.totals());
    parts
        .map(|(&need, total)| f64::from(need) / (total as f64 * f64::from(case.scale)))
        .fold(0.0, f64::max)
}

/// e_i.
fn rounding(case: &PoolCase, user: usize) -> f64 {
    let asked = case.users.iter().enumerate().map(|(other, demand)| {
        let claim = case.claims.iter().find(|(who, _)| *who == other);
        dominant(case, demand).max(claim.map_or(0.0, |(_, claim)| dominant(case, claim)))
    });
    let (sum, largest) =
        asked.fold((0.0, 0.0), |(sum, most): (f64, f64), share| (sum + share, most.max(share)));
    (case.servers.len() as f64 * sum + largest) / dominant(case, &case.users[user])
}

/// Tasks of a demand that amounts hold, divisible.
fn tasks_in(demand: &[u32], amounts: impl Fn(usize) -> f64) -> f64 {
    let needs = demand.iter().enumerate().filter(|(_, need)| **need > 0);
    needs.map(|(r, &need)| amounts(r) / f64::from(need)).fold(f64::INFINITY, f64::min)
}

/// Whole tasks of a demand that `count` tasks of another make room for.
fn whole_tasks(demand: &[u32], held: &[u32], count: u64) -> u64 {
    let needs = demand.iter().zip(held).filter(|(need, _)| **need > 0);
    needs.map(|(&need, &held)| count * u64::from(held) / u64::from(need)).min().unwrap_or(0)
}

/// What the user would run with what each other holds.
fn envies(case: &PoolCase, counts: &Counts, user: usize) -> Vec<Lack> {
    let demand = &case.users[user];
    let of = |other: usize| {
        let held = &case.users[other];
        let here = |count: u64| whole_tasks(demand, held, count);
        let could: u64 = counts[other].iter().map(|&count| here(count)).sum();
        // One task of the other's less, where that takes most.
        let less = counts[other]
            .iter()
            .filter(|count| **count > 0)
            .map(|&count| here(count) - here(count - 1));
        let rounding = less.max().unwrap_or(0) as f64;
        Lack { user, has: total(counts, user), could: could as f64, rounding }
    };
    (0..case.users.len()).filter(|&other| other != user).map(of).collect()
}

/// Tasks that 1/n of every server would serve.
fn by_server(case: &PoolCase, user: usize) -> f64 {
    let part = |server: usize| {
        let capacity = case.capacity(server);
        tasks_in(&case.users[user], |r| capacity[r] / case.users.len() as f64)
    };
    (0..case.servers.len()).map(part).sum()
}

/// Tasks that each user has in the equal partition of Prop. 5's proof: what it has (no more than
/// 1/n of the pool, of any resource), and of what is left on each server the part of what it lacks
/// of 1/n.
fn as_proved(case: &PoolCase, counts: &Counts) -> Vec<f64> {
    let (n, kinds) = (case.users.len() as f64, case.kinds());
    let totals: Vec<f64> =
        case.totals().iter().map(|&total| total as f64 * f64::from(case.scale)).collect();
    let kept: Vec<f64> = (0..case.users.len())
        .map(|user| {
            let share = total(counts, user) * dominant(case, &case.users[user]);
            if share > 1.0 / n { 1.0 / n / share } else { 1.0 }
        })
        .collect();
    let held = |user: usize, server: usize, r: usize| {
        kept[user] * counts[user][server] as f64 * f64::from(case.users[user][r])
    };
    let users = || 0..case.users.len();
    let servers = || 0..case.servers.len();
    let free = |server: usize, r: usize| {
        (case.capacity(server)[r] - users().map(|user| held(user, server, r)).sum::<f64>()).max(0.0)
    };
    let left: Vec<f64> =
        (0..kinds).map(|r| servers().map(|server| free(server, r)).sum()).collect();
    let of = |user: usize| -> f64 {
        let lacks = |r: usize| {
            let has: f64 = servers().map(|server| held(user, server, r)).sum();
            if left[r] > 0.0 { ((totals[r] / n - has) / left[r]).max(0.0) } else { 0.0 }
        };
        let part: Vec<f64> = (0..kinds).map(lacks).collect();
        let on = |server: usize| {
            tasks_in(&case.users[user], |r| held(user, server, r) + free(server, r) * part[r])
        };
        servers().map(on).sum()
    };
    users().map(of).collect()
}

/// The member of the coalition that gains least.
fn coalition(case: &PoolCase, honest: &Counts, lying: Option<&Counts>) -> Lack {
    let gain = |(user, claim): &(usize, Vec<u32>)| {
        let held = lying.map(|lying| lying[*user].as_slice()).unwrap_or_default();
        let useful: u64 =
            held.iter().map(|&count| whole_tasks(&case.users[*user], claim, count)).sum();
        Lack {
            user: *user,
            has: total(honest, *user),
            could: useful as f64,
            rounding: 2.0 * rounding(case, *user),
        }
    };
    let all = case.claims.iter().map(gain);
    all.reduce(|a, b| if b.excess() < a.excess() { b } else { a }).unwrap_or_default()
}

/// The most that the user could run with nobody else having less, were tasks divisible. By the
/// exact long-term level: a past that is larger than any share lets all others have theirs first.
fn most(case: &PoolCase, counts: &Counts, user: usize) -> Result<f64, AuditError> {
    const LATE: f64 = 4.0;
    let mut problem = problem(case);
    for (number, other) in
        problem.users.iter_mut().enumerate().filter(|(number, _)| *number != user)
    {
        other.tasks = Some(total(counts, number));
    }
    problem.users[user].used = LATE;
    Ok(solve(&problem, AllocationPolicy::LongTermDrf)?[user])
}

fn problem(case: &PoolCase) -> Problem {
    let user = |(number, demand): (usize, &Vec<u32>)| User {
        name: PoolCase::name(number),
        demand: demand.iter().map(|&need| f64::from(need)).collect(),
        weight: 1.0,
        tasks: None,
        used: 0.0,
        ledgers: UserLedgers::default(),
    };
    let server = |number: usize| Server { count: 1.0, capacity: case.capacity(number) };
    Problem {
        resources: KINDS[..case.kinds()].iter().map(|&kind| kind.to_owned()).collect(),
        servers: (0..case.servers.len()).map(server).collect(),
        users: case.users.iter().enumerate().map(user).collect(),
        slots_per_server: meed_level::limits::SLOTS_PER_SERVER,
        worth: 1.0,
    }
}

/// Tasks of each user.
fn solve(problem: &Problem, policy: AllocationPolicy) -> Result<Vec<f64>, AuditError> {
    let allocation = allocate(problem, policy)?;
    Ok(allocation.users.iter().map(|user| user.tasks).collect())
}
