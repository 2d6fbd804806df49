//! The slow twin: DRFH's rounds as they are written (Sec. 5.1), each by a general LP solver over
//! all pairs of users and servers, and for every user another program that asks whether it can
//! rise.

use meed_level::{AllocationPolicy, Problem};
use microlp::{
    ComparisonOp, LinearExpr, OptimizationDirection, Problem as Lp, Solution, SolveOutcome,
    Variable,
};
use proptest::prelude::*;

use crate::common::{Kind, near, problems, solved};

/// Dominant demand, and demand per unit of dominant share.
fn normal(problem: &Problem) -> Vec<(f64, Vec<f64>)> {
    let totals = problem.totals();
    let of = |demand: &Vec<f64>| {
        let shares: Vec<f64> = demand
            .iter()
            .zip(&totals)
            .map(|(need, total)| if *need > 0.0 { need / total } else { 0.0 })
            .collect();
        let most = shares.iter().copied().fold(0.0, f64::max);
        (most, shares.iter().map(|share| share / most).collect())
    };
    problem.users.iter().map(|user| of(&user.demand)).collect()
}

/// A program with a variable for each pair; the caller adds what users are to get.
fn program(problem: &Problem, goal: &dyn Fn(usize) -> f64) -> (Lp, Vec<Vec<Variable>>) {
    let mut lp = Lp::new(OptimizationDirection::Maximize);
    let (users, totals) = (normal(problem), problem.totals());
    let pairs: Vec<Vec<Variable>> = (0..users.len())
        .map(|user| {
            problem.servers.iter().map(|_| lp.add_var(goal(user), (0.0, f64::INFINITY))).collect()
        })
        .collect();
    for (number, server) in problem.servers.iter().enumerate() {
        for r in 0..problem.resources.len() {
            let mut sum = LinearExpr::empty();
            users
                .iter()
                .zip(&pairs)
                .for_each(|((_, demand), pairs)| sum.add(pairs[number], demand[r]));
            let room =
                if totals[r] > 0.0 { server.count * server.capacity[r] / totals[r] } else { 0.0 };
            lp.add_constraint(sum, ComparisonOp::Le, room);
        }
    }
    (lp, pairs)
}

fn total(pairs: &[Variable]) -> LinearExpr {
    let mut sum = LinearExpr::empty();
    pairs.iter().for_each(|pair| sum.add(*pair, 1.0));
    sum
}

fn solve(lp: &Lp) -> Solution {
    match lp.solve().unwrap() {
        SolveOutcome::Solution(solution) => solution,
        SolveOutcome::Interrupted(_) => panic!("there is no limit of time"),
    }
}

/// What is asked of those who are not asked for is less by this part, or rounding would leave no
/// solution at all.
const SLACK: f64 = 1e-11;

/// What a program's optimum would be without slack. Somebody who hardly uses what is used up gains
/// a thousand times the slack of the others and more, so the slack may not be left in the result.
/// An optimum is concave in its slack, and linear as long as the same limits bind: the second value
/// takes out what the first one gained, and never more.
fn without_slack(optimum: impl Fn(f64) -> f64) -> f64 {
    2.0 * optimum(SLACK) - optimum(2.0 * SLACK)
}

/// x = weight * level - past of a user, from the policy's key: x over weight and past that make the
/// key the level.
fn line(problem: &Problem, policy: AllocationPolicy, user: usize) -> (f64, f64) {
    let mean = problem.users.iter().map(|user| user.weight).sum::<f64>();
    let mean = mean / problem.users.len() as f64;
    let user = &problem.users[user];
    match policy {
        AllocationPolicy::LongTermDrf => (user.weight, user.used),
        AllocationPolicy::Sdrf => (user.weight, user.ledgers.commitment),
        AllocationPolicy::MrKarma => (user.weight, -user.ledgers.credits * user.weight / mean),
        AllocationPolicy::AsYouPay => {
            (user.ledgers.paid / problem.worth, user.ledgers.received / problem.worth)
        }
        _ => (user.weight, 0.0),
    }
}

/// Dominant shares and levels of the rounds, by linear programs only.
pub(crate) fn shares(problem: &Problem, policy: AllocationPolicy) -> Vec<f64> {
    let users = problem.users.len();
    let (past, weight) =
        (|user| line(problem, policy, user).1, |user| line(problem, policy, user).0);
    let normal = normal(problem);
    let cap = |user: usize| {
        problem.users[user].tasks.map_or(f64::INFINITY, |tasks| tasks * normal[user].0)
    };
    let mut done: Vec<Option<f64>> =
        (0..users).map(|user| (cap(user) == 0.0).then_some(0.0)).collect();
    while done.contains(&None) {
        let level = without_slack(|slack| {
            let (mut lp, pairs) = program(problem, &|_| 0.0);
            let level = lp.add_var(1.0, (f64::NEG_INFINITY, f64::INFINITY));
            for user in 0..users {
                match done[user] {
                    Some(share) => {
                        let least = share * (1.0 - slack);
                        lp.add_constraint(total(&pairs[user]), ComparisonOp::Ge, least);
                    }
                    None => {
                        let mut above = total(&pairs[user]);
                        above.add(level, -weight(user));
                        lp.add_constraint(above, ComparisonOp::Ge, -past(user));
                        if cap(user).is_finite() {
                            let most = (cap(user) + past(user)) / weight(user);
                            lp.add_constraint([(level, 1.0)], ComparisonOp::Le, most);
                        }
                    }
                }
            }
            solve(&lp)[level]
        });
        let at = |user: usize| (weight(user) * level - past(user)).clamp(0.0, cap(user));
        let rest: Vec<usize> = (0..users).filter(|&user| done[user].is_none()).collect();
        let before = done.clone();
        for &user in &rest {
            if at(user) >= cap(user) * (1.0 - 1e-10) {
                done[user] = Some(cap(user));
                continue;
            }
            // The most that it could have while the others keep what the level gives them.
            let most = without_slack(|slack| {
                let (mut lp, pairs) = program(problem, &|who| f64::from(u8::from(who == user)));
                for other in (0..users).filter(|&other| other != user) {
                    let share = before[other].unwrap_or_else(|| at(other)) * (1.0 - slack);
                    lp.add_constraint(total(&pairs[other]), ComparisonOp::Ge, share);
                }
                solve(&lp).objective()
            });
            if most <= at(user) + 1e-8 {
                done[user] = Some(at(user));
            }
        }
        assert_ne!(done, before, "a round of the twin ends with somebody: {problem:?}");
    }
    done.into_iter().flatten().collect()
}

fn compare(problem: &Problem, tolerance: f64) {
    for policy in [
        AllocationPolicy::Drfh,
        AllocationPolicy::LongTermDrf,
        AllocationPolicy::Sdrf,
        AllocationPolicy::MrKarma,
        AllocationPolicy::AsYouPay,
    ] {
        let allocation = solved(problem, policy);
        let twin = shares(problem, policy);
        for (user, (ours, theirs)) in allocation.users.iter().zip(&twin).enumerate() {
            // The solver's own tolerance is absolute.
            assert!(
                near(ours.dominant_share, *theirs, tolerance)
                    || (ours.dominant_share - theirs).abs() < 0.05 * tolerance,
                "{policy:?}, user {user}: {} or {theirs}\n{problem:#?}\n{allocation:#?}",
                ours.dominant_share
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn one_resource(problem in problems(Kind { resources: 1, zeros: false, finite: true }, 6)) {
        compare(&problem, 1e-8);
    }

    #[test]
    fn two_resources(problem in problems(Kind { resources: 2, zeros: false, finite: false }, 6)) {
        compare(&problem, 1e-9);
    }

    #[test]
    fn two_resources_with_everything(problem in problems(
        Kind { resources: 2, zeros: true, finite: true }, 6)) {
        compare(&problem, 1e-8);
    }

    #[test]
    fn three_resources(problem in problems(Kind { resources: 3, zeros: false, finite: false }, 5)) {
        compare(&problem, 1e-8);
    }

    #[test]
    fn three_resources_with_everything(problem in problems(
        Kind { resources: 3, zeros: true, finite: true }, 5)) {
        compare(&problem, 1e-6);
    }

    #[test]
    fn four_resources_with_everything(problem in problems(
        Kind { resources: 4, zeros: true, finite: true }, 4)) {
        compare(&problem, 1e-6);
    }
}
