//! DRFH's properties where the paper proves them (Sec. 4), and how often strong sharing incentive
//! fails.

use meed_level::audit::{departure, envy, lies, strong_sharing, weak_sharing};
use meed_level::{AllocationPolicy, Problem};
use proptest::prelude::*;

use crate::common::{Kind, near, problems, solved};

const LEAST: f64 = 1.0 - 1e-7;

fn plain(resources: usize) -> impl Strategy<Value = Problem> {
    problems(Kind { resources, zeros: false, finite: false }, 6)
}

fn of_two_or_three() -> impl Strategy<Value = Problem> {
    prop_oneof![3 => plain(2), 1 => plain(3)]
}

fn all_at_least(ratios: &[f64], what: &str, problem: &Problem) {
    assert!(ratios.iter().all(|ratio| *ratio >= LEAST), "{what}: {ratios:?} {problem:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Prop. 1, 5 and, by the certificate that `solved` checks, 2.
    #[test]
    fn no_envy_pareto_optimal_weak_sharing_incentive(problem in of_two_or_three()) {
        let allocation = solved(&problem, AllocationPolicy::Drfh);
        all_at_least(&envy(&problem, &allocation), "envy", &problem);
        all_at_least(&weak_sharing(&problem, &allocation), "weak sharing incentive", &problem);
    }

    /// Sec. 5.1: with weights and finitely many tasks too, nobody envies (per weight).
    #[test]
    fn no_envy_with_weights_and_ends(problem in problems(
        Kind { resources: 2, zeros: false, finite: true }, 6)) {
        all_at_least(&envy(&problem, &solved(&problem, AllocationPolicy::Drfh)), "envy", &problem);
    }

    /// Prop. 3: no coalition whose members all gain by lying about their demands.
    #[test]
    fn group_strategy_proofness(
        problem in of_two_or_three(),
        claims in prop::collection::vec((0..6usize, prop::collection::vec(1u32..=40, 3)), 1..=3),
    ) {
        let mut coalition: Vec<(usize, Vec<f64>)> = Vec::new();
        for (user, demand) in claims {
            let user = user % problem.users.len();
            let demand: Vec<f64> = demand.iter().take(problem.resources.len())
                .map(|v| f64::from(*v) / 4.0).collect();
            if coalition.iter().all(|(known, _)| *known != user) {
                coalition.push((user, demand));
            }
        }
        // A lie that is refused gains nothing.
        if let Ok(ratios) = lies(&problem, AllocationPolicy::Drfh, &coalition) {
            prop_assert!(ratios.iter().any(|ratio| *ratio >= LEAST), "{:?} {:?} \
                {:#?}", ratios, coalition, problem);
        }
    }

    /// Prop. 9.
    #[test]
    fn population_monotonicity(problem in of_two_or_three(), leaver in 0..6usize) {
        prop_assume!(problem.users.len() > 1);
        let leaver = leaver % problem.users.len();
        let remaining = departure(&problem, AllocationPolicy::Drfh, leaver);
        all_at_least(&remaining.unwrap(), "departure", &problem);
    }

    /// Prop. 6: on one server (or equal ones) DRFH is DRF.
    #[test]
    fn single_server_drf(problem in problems(Kind { resources: 3, zeros: true, finite: true }, 6)) {
        let mut problem = problem;
        // A server on which everybody's tasks fit.
        for r in 0..problem.resources.len() {
            let most = problem.servers.iter().map(|server| server.capacity[r]).fold(0.0, f64::max);
            problem.servers[0].capacity[r] = most;
        }
        problem.servers.truncate(1);
        let both = [AllocationPolicy::Drf, AllocationPolicy::Drfh];
        let [drf, drfh] = both.map(|policy| solved(&problem, policy));
        for (drf, drfh) in drf.users.iter().zip(&drfh.users) {
            prop_assert!(near(drf.tasks, drfh.tasks, 1e-9), "{:?} {:?}", drf, drfh);
        }
    }

    /// Prop. 7: one resource is shared max-min fairly: all the same, or all tasks.
    #[test]
    fn single_resource_fairness(problem in problems(
        Kind { resources: 1, zeros: false, finite: true }, 6)) {
        let allocation = solved(&problem, AllocationPolicy::Drfh);
        let used: f64 = allocation.users.iter().map(|user| user.dominant_share).sum();
        let wanting = |user: &usize| problem.users[*user]
            .tasks.is_none_or(|most| allocation.users[*user].tasks < most * LEAST);
        let levels = (0..problem.users.len()).filter(wanting);
        let levels: Vec<f64> =
            levels.map(|user| allocation.users[user].dominant_share / problem.users[user].weight)
                .collect();
        prop_assert!(levels.is_empty() || near(used, 1.0, 1e-9));
        prop_assert!(levels.iter().all(|level| near(*level, allocation.level.unwrap(), 1e-9)));
    }

    /// Prop. 8: who all demand most of the same resource share that max-min fairly; here with as
    /// much of the others as needed, all of the first is used and everybody has the same.
    #[test]
    fn bottleneck_fairness(problem in plain(2)) {
        let mut problem = problem;
        for server in &mut problem.servers {
            server.capacity[1] = server.capacity[0] * 100.0;
        }
        for user in &mut problem.users {
            user.demand[1] = user.demand[1].min(user.demand[0]);
        }
        prop_assume!(problem.check().is_ok());
        let allocation = solved(&problem, AllocationPolicy::Drfh);
        let equal = 1.0 / problem.users.len() as f64;
        prop_assert!(allocation.users.iter().all(|user| near(user.dominant_share, equal, 1e-9)),
            "{:?}", allocation);
    }

    /// DRF on every server by itself keeps the strong sharing incentive (Sec. 4.5.3).
    #[test]
    fn per_server_drf_has_strong_sharing_incentive(problem in plain(2)) {
        let allocation = solved(&problem, AllocationPolicy::PerServerDrf);
        all_at_least(&strong_sharing(&problem, &allocation), "strong sharing incentive", &problem);
    }

    /// Whatever is drawn, every policy serves no more than there is and says what is so.
    #[test]
    fn every_policy_fits(problem in problems(Kind { resources: 3, zeros: true, finite: true }, 8)) {
        for (_, policy) in meed_level::POLICIES {
            solved(&problem, *policy);
        }
    }

    /// The level of DRFH is at least that of any allocation that fits: DRF's bounds it, per-server
    /// DRF's and slots' do not exceed it.
    #[test]
    fn drfh_is_between(problem in plain(2)) {
        let level = |policy| solved(&problem, policy).level.unwrap();
        let drfh = level(AllocationPolicy::Drfh);
        prop_assert!(drfh <= level(AllocationPolicy::Drf) * (1.0 + 1e-9));
        prop_assert!(drfh >= level(AllocationPolicy::PerServerDrf) * LEAST
            && drfh >= level(AllocationPolicy::Slots) * LEAST);
    }
}

/// The measures tell when a property does not hold: of results that are made worse, and of policies
/// without it. (No policy here misses population monotonicity.)
#[test]
fn the_measures_can_fail() {
    let example = meed_level::examples::figure_2();
    let mut worse = solved(&example, AllocationPolicy::Drfh);
    // User 1 keeps a quarter of its tasks, and user 2 has the rest's room.
    worse.users[0].tasks /= 4.0;
    worse.users[0].dominant_share /= 4.0;
    worse.servers[0] = vec![(0, worse.users[0].tasks), (1, 1.0)];
    assert!(weak_sharing(&example, &worse)[0] < LEAST);
    assert!(strong_sharing(&example, &worse)[0] < LEAST);
    worse.servers = vec![vec![(1, 1.0)], vec![(0, 1.0), (1, 9.0)]];
    worse.users[0].tasks = 1.0;
    assert!(envy(&example, &worse)[0] < LEAST);
    // Prop. 4: 12/25 instead of 1/2.
    let fourth = meed_level::examples::proposition_4();
    let strong = strong_sharing(&fourth, &solved(&fourth, AllocationPolicy::Drfh));
    assert!((strong[1] - 24.0 / 25.0).abs() < 1e-9, "{strong:?}");
    // A task of a slot and a bit takes two: claiming all of both pays.
    let slots =
        meed_level::examples::cpu_and_memory(&[(1.0, 14.0, 14.0)], &[(0.4, 0.4), (1.0, 1.0)]);
    let lie = lies(&slots, AllocationPolicy::Slots, &[(0, vec![0.8, 0.8])]).unwrap();
    assert!(lie[0] < LEAST, "{lie:?}");
}

/// Strong sharing incentive is not proven (Prop. 4 is a counterexample): how often does it fail? On
/// Google's servers (Table 1), and on four random ones; users of random demands. The paper finds 2
/// % of the users of its trace (Sec. 6.3).
#[test]
fn strong_sharing_incentive_fails_for_few() {
    let mut state = 1u64;
    let mut dice = move |from: f64, to: f64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        from + (to - from) * (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for (google, runs, most_users, most_failing, least_ratio) in
        [(true, 200, 50.0, 0.0, 0.999), (false, 2000, 10.0, 0.006, 0.85)]
    {
        let (mut worse, mut all, mut least) = (0, 0, f64::INFINITY);
        for _ in 0..runs {
            let users = dice(2.0, most_users) as usize;
            let users: Vec<(f64, f64)> =
                (0..users).map(|_| (dice(0.01, 0.5), dice(0.01, 0.5))).collect();
            let random: Vec<(f64, f64, f64)> =
                (0..4).map(|_| (1.0, dice(0.5, 2.0), dice(0.5, 2.0))).collect();
            let servers = if google { meed_level::examples::GOOGLE } else { &random };
            let problem = meed_level::examples::cpu_and_memory(servers, &users);
            let ratios = strong_sharing(&problem, &solved(&problem, AllocationPolicy::Drfh));
            worse += ratios.iter().filter(|ratio| **ratio < LEAST).count();
            all += ratios.len();
            least = ratios.iter().copied().fold(least, f64::min);
        }
        let rate = worse as f64 / all as f64;
        // Measured: none of 5,355 users, and 45 of 11,028 of whom the least has 0.897 of its part.
        assert!(rate <= most_failing && least >= least_ratio, "{worse} of {all}, {least}");
    }
}
