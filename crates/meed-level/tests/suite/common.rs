//! Random problems, and comparison.

use meed_level::{
    Allocation, AllocationPolicy, Problem, Server, User, UserLedgers, allocate, verify,
};
use proptest::prelude::*;

/// Solves and checks by the certificate and for the split: nothing is overused beyond rounding.
pub(crate) fn solved(problem: &Problem, policy: AllocationPolicy) -> Allocation {
    let allocation = allocate(problem, policy).unwrap();
    let verified = verify(problem, policy, &allocation)
        .unwrap_or_else(|why| panic!("{why}\n{problem:#?}\n{allocation:#?}"));
    // Exact but for rounding in closed form; with more resources as far as the program was solved.
    let most = if problem.resources.len() <= 2 { 1e-12 } else { 1e-7 };
    let right = verified.overuse <= 1e-12 && verified.unsold <= most && verified.short <= most;
    assert!(right, "{verified:?} {problem:?}");
    allocation
}

pub(crate) fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1e-3)
}

/// Which problems to draw.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) resources: usize,
    /// Whether demands and capacities may be zero.
    pub(crate) zeros: bool,
    /// Whether users may have finitely many tasks, weights and a past.
    pub(crate) finite: bool,
}

fn amount(zeros: bool) -> BoxedStrategy<f64> {
    // Few values: equal directions and ratios are common.
    let plain = prop_oneof![
        (1u32..=6).prop_map(f64::from),
        (1u32..=1000).prop_map(|v| f64::from(v) / 64.0)
    ];
    match zeros {
        true => prop_oneof![1 => Just(0.0), 3 => plain].boxed(),
        false => plain.boxed(),
    }
}

/// What was paid, received and so on: several of them like, none or far apart.
fn ledgers() -> impl Strategy<Value = UserLedgers> {
    let some = || prop_oneof![Just(0.0), Just(1.0), 0.0..3.0f64];
    (some(), 0.0..1.0f64, prop_oneof![Just(1.0), 0.1..40.0f64], 0.0..30.0f64).prop_map(
        |(credits, commitment, paid, received)| UserLedgers { credits, commitment, paid, received },
    )
}

/// Problems with up to `users` users on up to 4 classes of servers.
pub(crate) fn problems(kind: Kind, users: usize) -> impl Strategy<Value = Problem> {
    let server = (1u32..=3, prop::collection::vec(amount(kind.zeros), kind.resources));
    let finite = kind.finite;
    let user = (
        prop::collection::vec(amount(kind.zeros), kind.resources),
        1u32..=4,
        prop::option::of(0u32..60),
        prop_oneof![Just(0.0), 0.0..1.0f64],
        ledgers(),
    );
    let worth = prop_oneof![Just(1.0), 0.5..100.0f64];
    (prop::collection::vec(server, 1..=4), prop::collection::vec(user, 1..=users), worth)
        .prop_filter_map("every task fits a server", move |(servers, users, worth)| {
            let servers = servers.into_iter().map(|(count, capacity)| Server {
                count: f64::from(count),
                capacity: capacity.iter().map(|amount| amount * 20.0).collect(),
            });
            let users = users.into_iter().enumerate().map(
                |(number, (demand, weight, tasks, used, ledgers))| User {
                    name: format!("u{number}"),
                    demand,
                    weight: if finite { f64::from(weight) } else { 1.0 },
                    tasks: tasks.filter(|_| finite).map(f64::from),
                    used: if finite { used } else { 0.0 },
                    ledgers,
                },
            );
            let problem = Problem {
                resources: (0..kind.resources).map(|r| format!("r{r}")).collect(),
                servers: servers.collect(),
                users: users.collect(),
                slots_per_server: 14.0,
                worth,
            };
            problem.check().is_ok().then_some(problem)
        })
}
