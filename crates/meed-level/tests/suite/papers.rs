//! The papers' worked examples.

use meed_level::audit::strong_sharing;
use meed_level::examples::*;
use meed_level::{AllocationPolicy, Problem};

use crate::common::{near, solved};

/// Level and tasks under a policy.
fn check(problem: &Problem, policy: AllocationPolicy, level: f64, tasks: &[f64]) {
    let allocation = solved(problem, policy);
    let got: Vec<f64> = allocation.users.iter().map(|user| user.tasks).collect();
    let same = got.iter().zip(tasks).all(|(got, tasks)| near(*got, *tasks, 1e-12));
    assert!(same && got.len() == tasks.len(), "{policy:?}: {got:?} instead of {tasks:?}");
    assert!(
        near(allocation.level.unwrap(), level, 1e-12),
        "{policy:?}: {:?} instead of {level}",
        allocation.level
    );
}

#[test]
fn section_2_drf_of_one_system() {
    check(&section_2(), AllocationPolicy::Drf, 2.0 / 3.0, &[3.0, 2.0]);
    // One server: the same (Prop. 6).
    check(&section_2(), AllocationPolicy::Drfh, 2.0 / 3.0, &[3.0, 2.0]);
    check(&section_2(), AllocationPolicy::PerServerDrf, 2.0 / 3.0, &[3.0, 2.0]);
}

#[test]
fn figure_1_drf_cannot_be_placed() {
    check(&figure_1(), AllocationPolicy::Drf, 2.0 / 3.0, &[3.0, 2.0]);
    let mut alone = figure_1();
    alone.users.truncate(1);
    let allocation = solved(&alone, AllocationPolicy::Drfh);
    assert!(near(allocation.users[0].tasks, 2.0, 1e-12), "{allocation:?}");
    assert!(
        allocation.servers.iter().all(|served| near(served[0].1, 1.0, 1e-12)),
        "one on each: {allocation:?}"
    );
}

#[test]
fn figures_3_and_4() {
    check(&figure_2(), AllocationPolicy::PerServerDrf, 3.0 / 7.0, &[6.0, 6.0]);
    let split = solved(&figure_2(), AllocationPolicy::PerServerDrf).servers;
    let tasks =
        |server: usize, user: usize| split[server].iter().find(|(who, _)| *who == user).unwrap().1;
    for (server, user, expected) in [(0, 0, 5.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 5.0)] {
        assert!(near(tasks(server, user), expected, 1e-12), "{split:?}");
    }
    check(&figure_2(), AllocationPolicy::Drfh, 5.0 / 7.0, &[10.0, 10.0]);
    let split = solved(&figure_2(), AllocationPolicy::Drfh).servers;
    let most =
        |server: usize, user: usize| split[server].iter().find(|(who, _)| *who == user).unwrap().1;
    assert!(
        near(most(0, 0), 10.0, 1e-12) && near(most(1, 1), 10.0, 1e-12),
        "each has a server of its own: {split:?}"
    );
    // Two slots of 12/14 on either server. A task of either user covers two, so both have one
    // server's worth.
    check(&figure_2(), AllocationPolicy::Slots, 1.0 / 14.0, &[1.0, 1.0]);
}

#[test]
fn proposition_4_strong_sharing_incentive_fails() {
    let problem = proposition_4();
    check(&problem, AllocationPolicy::Drfh, 12.0 / 25.0, &[12.0 / 5.0, 4.0 / 5.0]);
    let ratios = strong_sharing(&problem, &solved(&problem, AllocationPolicy::Drfh));
    assert!(near(ratios[1], (12.0 / 25.0) / 0.5, 1e-12) && ratios[0] >= 0.96, "{ratios:?}");
}

#[test]
fn section_5_2_best_fit() {
    let demand = [1.0 / 10.0, 1.0 / 30.0];
    assert!(misfit(&demand, &[1.0 / 5.0, 1.0 / 15.0]) < 1e-15);
    assert!(near(misfit(&demand, &[1.0 / 8.0, 1.0 / 4.0]), 5.0 / 3.0, 1e-12));
}

#[test]
fn economic_fairness_figure_4() {
    check(&economic_figure_4(), AllocationPolicy::Drfh, 2.0 / 3.0, &[40.0 / 3.0, 40.0 / 3.0]);
}

#[test]
fn figure_5_is_below_what_divisible_tasks_could_have() {
    // Printed: shares of 62 %, 44 % and 26 % for one, two and three users, of 100 servers drawn at
    // random from these. There tasks are whole: two in three servers hold one task of user 1 or
    // none, and most a single one of user 2.
    for (users, printed, fluid) in [(1, 0.62, 0.9998), (2, 0.44, 0.6276), (3, 0.26, 0.4495)] {
        let level = solved(&figure_5(users), AllocationPolicy::Drfh).level.unwrap();
        assert!(level > printed && near(level, fluid, 1e-3), "{users} users: {level}");
    }
}

#[test]
fn the_past_counts_under_long_term_drf_only() {
    let mut problem = cpu_and_memory(&[(1.0, 10.0, 10.0)], &[(1.0, 1.0), (1.0, 1.0)]);
    problem.users[0].used = 0.5;
    check(&problem, AllocationPolicy::Drfh, 0.5, &[5.0, 5.0]);
    // 1 to share and 0.5 used: 0.75 each, of which user 1 has had 0.5.
    check(&problem, AllocationPolicy::LongTermDrf, 0.75, &[2.5, 7.5]);
    problem.users[0].used = 7.0;
    check(&problem, AllocationPolicy::LongTermDrf, 1.0, &[0.0, 10.0]);
}

/// docs/prices-and-plans.md, "spot lent cheap, wanted dear": two tenants of ten instances each, at
/// 1 an hour and then at 4. `b` is idle in the first hour, so `a` receives all of it, worth 20.
#[test]
fn as_you_pay_of_the_page() {
    let mut problem = cpu_and_memory(&[(20.0, 1.0, 1.0)], &[(1.0, 1.0), (1.0, 1.0)]);
    problem.worth = 80.0;
    problem.users.iter_mut().for_each(|user| user.ledgers.paid = 50.0);
    problem.users[0].ledgers.received = 20.0;
    check(&problem, AllocationPolicy::AsYouPay, 1.0, &[7.5, 12.5]);
}

/// Who has most credits is served first, until all who are served have equally many left: a credit
/// buys the whole pool at the mean weight.
#[test]
fn credits_by_hand() {
    let mut problem = cpu_and_memory(&[(10.0, 1.0, 1.0)], &[(1.0, 1.0), (1.0, 1.0)]);
    problem.users[0].ledgers.credits = 1.2;
    problem.users[1].ledgers.credits = 1.0;
    check(&problem, AllocationPolicy::MrKarma, -0.6, &[6.0, 4.0]);
    problem.users[0].ledgers.credits = 3.0;
    check(&problem, AllocationPolicy::MrKarma, -2.0, &[10.0, 0.0]);
    // Three times the weight: what `1` gets costs it half as much a piece (mean weight 2).
    problem.users[0].weight = 3.0;
    problem.users[0].ledgers.credits = 1.0;
    // 3 (l + 1/2) + (l + 1/2) = 1
    check(&problem, AllocationPolicy::MrKarma, -0.25, &[7.5, 2.5]);
}

/// Stateful DRF: the least of what is held and the commitment, per weight.
#[test]
fn commitments_by_hand() {
    let mut problem = cpu_and_memory(&[(10.0, 1.0, 1.0)], &[(1.0, 1.0), (1.0, 1.0)]);
    problem.users[0].ledgers.commitment = 0.2;
    check(&problem, AllocationPolicy::Sdrf, 0.6, &[4.0, 6.0]);
}
