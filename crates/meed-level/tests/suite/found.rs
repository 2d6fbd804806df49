//! Problems that random tests have found, with shares from exact rational arithmetic (a simplex
//! method over fractions, round by round), and what the check must refuse.

use meed_level::{
    Allocation, AllocationPolicy, Problem, Server, User, UserLedgers, allocate, verify,
};

use crate::common::{near, solved};

/// Demand, weight, tasks (infinite: no end), past.
type Row<'a> = (&'a [f64], f64, f64, f64);

fn problem(servers: &[(f64, &[f64])], users: &[Row<'_>]) -> Problem {
    let user = |(number, &(demand, weight, tasks, used)): (usize, &Row<'_>)| User {
        name: format!("u{number}"),
        demand: demand.to_vec(),
        weight,
        tasks: Some(tasks).filter(|tasks| tasks.is_finite()),
        used,
        ledgers: UserLedgers::default(),
    };
    Problem {
        resources: (0..servers[0].1.len()).map(|r| format!("r{r}")).collect(),
        servers: servers
            .iter()
            .map(|&(count, capacity)| Server { count, capacity: capacity.to_vec() })
            .collect(),
        users: users.iter().enumerate().map(user).collect(),
        slots_per_server: 14.0,
        worth: 1.0,
    }
}

const ENDLESS: f64 = f64::INFINITY;

/// Users 2 and 4 can rise above the first level: the last server has 0.02 % of its third resource
/// left, whose price is zero, but for rounding.
fn nearly_used_up() -> Problem {
    problem(
        &[(2.0, &[20.0, 140.0, 20.0]), (2.0, &[20.0, 40.0, 0.0]), (2.0, &[162.5, 20.0, 120.0])],
        &[
            (&[0.0, 1.0, 11.65625], 1.0, ENDLESS, 0.0),
            (&[2.9375, 6.0, 9.890625], 2.0, ENDLESS, 0.0),
            (&[1.0, 0.0, 2.0], 3.0, ENDLESS, 0.0),
            (&[4.0, 1.0, 0.0], 2.0, ENDLESS, 0.0),
            (&[3.0, 0.0, 2.0], 1.0, ENDLESS, 0.0),
        ],
    )
}

/// Dominant shares under a policy, all within 1e-10.
fn check(problem: &Problem, policy: AllocationPolicy, expected: &[f64]) {
    let allocation = solved(problem, policy);
    let right = |(user, expected): (&meed_level::UserShare, &f64)| {
        near(user.dominant_share, *expected, 1e-10)
    };
    assert!(
        allocation.users.len() == expected.len()
            && allocation.users.iter().zip(expected).all(right),
        "{expected:?} {allocation:#?}"
    );
}

#[test]
fn a_price_that_is_rounding_stops_nobody() {
    let expected = [
        0.14357134216654868,
        0.28714268433309736,
        0.4308110069732408,
        0.28714268433309736,
        0.14360366899108026,
    ];
    check(&nearly_used_up(), AllocationPolicy::Drfh, &expected);
}

/// The wrong answer that was given once: all stop at the first level, by a price of 1e-8 of the
/// pool.
#[test]
fn a_price_that_is_rounding_proves_nothing() {
    let problem = nearly_used_up();
    let right = allocate(&problem, AllocationPolicy::Drfh).unwrap();
    let forged = |price: f64| {
        let mut forged: Allocation = right.clone();
        let certificate = forged.certificate.as_mut().unwrap();
        certificate.rounds.truncate(1);
        let round = &mut certificate.rounds[0];
        round.users = (0..5).collect();
        // Of the third resource the last servers have 240.
        let by = (1.0 - 240.0 * price) / (1.0 - 240.0 * round.prices[2][2]);
        round.prices.iter_mut().flatten().for_each(|other| *other *= by);
        round.prices[2][2] = price;
        let share = |user: usize| round.level * problem.users[user].weight;
        for user in 0..5 {
            let by = share(user) / forged.users[user].dominant_share;
            forged.users[user].dominant_share *= by;
            forged.users[user].tasks *= by;
            forged
                .servers
                .iter_mut()
                .flatten()
                .filter(|(who, _)| *who == user)
                .for_each(|(_, part)| *part *= by);
        }
        verify(&problem, AllocationPolicy::Drfh, &forged)
    };
    for price in [1e-9, 1e-10, 4e-11, 1e-11] {
        let why = forged(price).unwrap_err().to_string();
        assert!(
            why.contains("and could rise by") || why.contains("pays nothing"),
            "{price:e}: {why}"
        );
    }
    assert!(verify(&problem, AllocationPolicy::Drfh, &right).unwrap().rise < 1e-10);
}

/// In the second round the first round's prices prove as much at its level: the program ends far
/// from the optimum there.
#[test]
fn a_late_round_is_as_exact_as_the_first() {
    let problem = problem(
        &[(1.0, &[220.0, 4.375, 0.0]), (1.0, &[60.0, 60.0, 100.3125]), (2.0, &[0.0, 40.0, 0.0])],
        &[
            (&[0.0, 4.0, 6.0], 1.0, ENDLESS, 0.075),
            (&[6.0, 0.0, 0.0], 1.0, 24.0, 0.885),
            (&[9.984375, 8.984375, 0.0], 4.0, 16.0, 0.0),
        ],
    );
    check(
        &problem,
        AllocationPolicy::LongTermDrf,
        &[0.08986003246895705, 0.5142857142857142, 0.4042639676442493],
    );
}

/// The new users of the second round pay 2e-4 of what the others do.
#[test]
fn a_small_price_is_a_price() {
    let problem = problem(
        &[
            (2.0, &[278.125, 0.0, 215.0, 100.0]),
            (2.0, &[100.0, 216.875, 75.625, 60.0]),
            (2.0, &[215.0, 100.0, 81.25, 28.4375]),
        ],
        &[
            (&[0.0, 0.421875, 13.359375, 0.0], 2.0, 12.0, 0.697),
            (&[3.0, 12.484375, 7.625, 15.390625], 1.0, 12.0, 0.32),
            (&[5.359375, 6.0, 0.0, 0.0], 2.0, ENDLESS, 0.0),
            (&[1.0, 0.0, 0.0, 5.796875], 1.0, 37.0, 0.0),
            (&[0.0, 0.0, 0.078125, 9.984375], 1.0, 20.0, 0.803),
        ],
    );
    let expected = [
        0.21554621848739497,
        0.31248761871133457,
        0.6249752374226691,
        0.3407960199004975,
        0.3407960199004975,
    ];
    check(&problem, AllocationPolicy::Drfh, &expected);
}

/// All tasks take exactly what there is; rounding says that they take more. The prices are those of
/// the ratio's limit, not of a resource that is far from used up.
#[test]
fn two_resources_all_tasks_take_exactly_what_there_is() {
    let mut problem = problem(
        &[(2.0, &[31.5625, 80.0]), (2.0, &[0.0, 60.0]), (1.0, &[52.5, 20.0])],
        &[(&[1.0, 4.0], 1.0, 45.0, 0.758)],
    );
    check(&problem, AllocationPolicy::LongTermDrf, &[0.6]);
    problem.servers = vec![
        Server { count: 3.0, capacity: vec![244.0625, 20.0] },
        Server { count: 2.0, capacity: vec![0.0, 100.0] },
        Server { count: 2.0, capacity: vec![0.0, 181.5625] },
    ];
    problem.users[0] = User {
        demand: vec![0.171875, 5.0],
        weight: 3.0,
        tasks: Some(12.0),
        ..problem.users[0].clone()
    };
    check(&problem, AllocationPolicy::Drfh, &[0.09628886659979939]);
}

/// The last server's window ends where an item of demand ends: nothing of the next one is in it.
#[test]
fn two_resources_a_window_ends_with_an_item() {
    let problem = problem(
        &[
            (1.0, &[60.0, 20.0]),
            (1.0, &[74.6875, 20.0]),
            (2.0, &[177.1875, 82.5]),
            (1.0, &[149.375, 40.0]),
        ],
        &[(&[14.796875, 5.0], 1.0, 16.0, 0.0)],
    );
    check(&problem, AllocationPolicy::Drfh, &[0.3708272148800783]);
}

/// Amounts a thousand times apart, and zeros: hard for numerical methods. Of such pools some ended
/// in a panic once, for a program began where values were below zero.
#[test]
fn amounts_far_apart_pass_their_check() {
    for seed in 0..1500u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut dice = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        };
        let [kinds, servers, users] = [2.0, 3.0, 5.0].map(|many| (many * dice()) as usize);
        let mut amounts = |scale: f64| -> Vec<f64> {
            let amount = |zero: f64, size: f64| if zero < 0.25 { 0.0 } else { size };
            (0..kinds + 3).map(|_| scale * amount(dice(), 1.0 / (1.0 - 0.999 * dice()))).collect()
        };
        let capacity: Vec<Vec<f64>> = (0..servers + 2).map(|_| amounts(1e3)).collect();
        let demand: Vec<Vec<f64>> = (0..users + 1).map(|_| amounts(1.0)).collect();
        let servers: Vec<(f64, &[f64])> = capacity.iter().map(|have| (1.0, &have[..])).collect();
        let weights = [1.0, 2.0, 3.0, 4.0].into_iter().cycle();
        let users: Vec<Row<'_>> = demand
            .iter()
            .zip(weights)
            .map(|(need, weight)| (&need[..], weight, ENDLESS, 0.0))
            .collect();
        let problem = problem(&servers, &users);
        if problem.check().is_ok() {
            let allocation = allocate(&problem, AllocationPolicy::Drfh).unwrap();
            let verified = verify(&problem, AllocationPolicy::Drfh, &allocation);
            assert!(verified.is_ok(), "{seed}: {verified:?} {problem:#?}");
        }
    }
}
