//! The one entry point: a problem and a policy in, an allocation out.

use crate::allocation::{Allocation, Certificate, Round, UserShare};
use crate::error::InputError;
use crate::exact::{self, two};
use crate::line::Line;
use crate::naive::{per_server, slots};
use crate::past::Past;
use crate::policy::AllocationPolicy;
use crate::pool::{Pieces, Pool, Solved};
use crate::problem::Problem;

/// Smaller parts of a user's share on one server are rounding.
const DUST: f64 = 1e-13;

/// Shares the pool under a policy.
pub fn allocate(problem: &Problem, policy: AllocationPolicy) -> Result<Allocation, InputError> {
    problem.check_for(policy)?;
    let past = Past::new(problem, policy);
    let pool = Pool::new(problem, &past);
    Ok(match policy {
        AllocationPolicy::Drf => {
            let pool = pool.into_one_server();
            certified(problem, &past, &pool, exact::solve(&pool))
        }
        AllocationPolicy::Drfh
        | AllocationPolicy::LongTermDrf
        | AllocationPolicy::Sdrf
        | AllocationPolicy::MrKarma
        | AllocationPolicy::AsYouPay => certified(problem, &past, &pool, exact::solve(&pool)),
        AllocationPolicy::PerServerDrf => {
            uncertified(&pool, per_server::solve(problem, &pool), Vec::new())
        }
        AllocationPolicy::Slots => {
            let (pieces, remarks) = slots::solve(problem, &pool);
            uncertified(&pool, pieces, remarks)
        }
    })
}

/// From shares of the pool to tasks, and prices per unit.
fn certified(problem: &Problem, past: &Past, pool: &Pool, solved: Solved) -> Allocation {
    let users = solved.shares.iter().zip(&pool.dominant);
    let users = users
        .map(|(&share, dominant)| UserShare { dominant_share: share, tasks: share / dominant });
    let kinds = pool.kinds();
    let rounds: Vec<Round> = solved
        .stops
        .into_iter()
        .map(|stop| {
            let worth: f64 =
                stop.prices.iter().zip(&pool.capacity).map(|(price, amount)| price * amount).sum();
            let on_server = |prices: &[f64]| {
                let mut all = vec![0.0; problem.resources.len()];
                for ((&r, total), price) in pool.resources.iter().zip(&pool.totals).zip(prices) {
                    all[r] = price / worth / total;
                }
                all
            };
            let mut users = stop.users;
            users.sort_unstable();
            Round {
                level: past.level(stop.level),
                users,
                prices: stop.prices.chunks(kinds).map(on_server).collect(),
            }
        })
        .collect();
    Allocation {
        level: rounds.first().map(|round| round.level),
        users: users.collect(),
        servers: in_tasks(pool, solved.pieces, &solved.shares),
        certificate: Some(Certificate { gap: solved.gap, rounds }),
        remarks: Vec::new(),
    }
}

/// A policy that proves nothing: its level is the least that somebody is left with who wants more.
fn uncertified(pool: &Pool, pieces: Pieces, remarks: Vec<String>) -> Allocation {
    let mut shares = vec![0.0; pool.lines.len()];
    pieces.iter().flatten().for_each(|(user, share)| shares[*user] += share);
    let wanting =
        shares.iter().zip(&pool.lines).filter(|(share, line)| **share < line.cap * (1.0 - 1e-12));
    let level = wanting.map(|(share, line)| share / line.weight).min_by(f64::total_cmp);
    let users = shares.iter().zip(&pool.dominant);
    let users = users
        .map(|(&share, dominant)| UserShare { dominant_share: share, tasks: share / dominant });
    Allocation {
        level,
        users: users.collect(),
        servers: in_tasks(pool, pieces, &shares),
        certificate: None,
        remarks,
    }
}

/// Pieces in tasks, by user, without the dust that rounding leaves on a server.
fn in_tasks(pool: &Pool, pieces: Pieces, shares: &[f64]) -> Vec<Vec<(usize, f64)>> {
    let tasks = |served: Vec<(usize, f64)>| {
        let served = served.into_iter().filter(|(user, share)| *share > DUST * shares[*user]);
        let mut served: Vec<(usize, f64)> =
            served.map(|(user, share)| (user, share / pool.dominant[user])).collect();
        served.sort_unstable_by_key(|(user, _)| *user);
        // A server may take the same user's demand from two ends.
        served.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        served
    };
    pieces.into_iter().map(tasks).collect()
}

/// A pool of two resources, sorted once: for callers that ask for the level alone.
///
/// ```
/// use meed_level::{AllocationPolicy, Sorted, allocate, examples};
///
/// let (problem, policy) = (examples::figure_2(), AllocationPolicy::Drfh);
/// let sorted = Sorted::new(&problem, policy)?.ok_or("two resources")?;
/// let level = allocate(&problem, policy)?.level.ok_or("a policy with a level")?;
/// assert!((sorted.level() - level).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sorted {
    past: Past,
    both: two::Sorted,
    single: [Vec<Line>; 2],
}

impl Sorted {
    /// Sorts the users of a problem with two demanded resources; `None` when there are more or
    /// fewer.
    pub fn new(problem: &Problem, policy: AllocationPolicy) -> Result<Option<Sorted>, InputError> {
        problem.check_for(policy)?;
        let past = Past::new(problem, policy);
        let pool = Pool::new(problem, &past);
        Ok((pool.kinds() == 2).then(|| {
            let (both, single) = two::sort(&pool, &pool.classes());
            let single = two::pool_lines(&pool, &single);
            Sorted { past, both, single }
        }))
    }

    /// The level of the users that demand both resources: infinite when all their tasks can be
    /// served.
    pub fn level(&self) -> f64 {
        self.past.level(self.both.level(&self.single))
    }
}
