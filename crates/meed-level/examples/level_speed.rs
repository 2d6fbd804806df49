//! The shortest of many runs, for machines on which others work too: `cargo run --release -p
//! meed-level --example level_speed`. Criterion's means are in `cargo bench -p meed-bench --bench
//! level`.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "measures and prints")]

use std::hint::black_box;
use std::time::Instant;

use meed_level::{AllocationPolicy, Problem, Server, Sorted, User, UserLedgers, allocate};

fn problem(users: usize, resources: usize, finite: bool) -> Problem {
    let mut state = 7u64;
    let mut dice = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let server = |_| Server {
        count: 1.0 + (1000.0 * dice()).floor(),
        capacity: (0..resources).map(|_| 0.25 + dice()).collect(),
    };
    let servers: Vec<Server> = (0..10).map(server).collect();
    let size: f64 = servers.iter().map(|server| server.count).sum();
    let user = |number: usize| User {
        name: format!("u{number}"),
        demand: (0..resources).map(|_| 0.01 + 0.2 * dice()).collect(),
        weight: 1.0 + (4.0 * dice()).floor(),
        tasks: (finite && dice() < 0.5).then(|| 20.0 * dice() * size / users as f64),
        used: 0.0,
        ledgers: UserLedgers::default(),
    };
    let users = (0..users).map(user).collect();
    Problem {
        resources: (0..resources).map(|r| format!("r{r}")).collect(),
        users,
        servers,
        slots_per_server: 14.0,
        worth: 1.0,
    }
}

fn best(runs: usize, mut work: impl FnMut()) -> f64 {
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    });
    times.fold(f64::INFINITY, f64::min)
}

fn main() {
    for (users, resources, finite, runs) in [
        (10_000, 2, false, 200),
        (10_000, 2, true, 200),
        (1_000_000, 2, false, 10),
        (1_000_000, 2, true, 10),
        (10_000, 3, false, 5),
        (10_000, 4, false, 5),
        (10_000, 3, true, 5),
        (10_000, 4, true, 5),
    ] {
        let problem = problem(users, resources, finite);
        let what = format!(
            "{users} users, {resources} resources, {}",
            if finite { "half finite" } else { "endless" }
        );
        if let Ok(Some(sorted)) = Sorted::new(&problem, AllocationPolicy::Drfh) {
            let level = best(runs, || {
                black_box(black_box(&sorted).level());
            });
            println!("{what}: level once sorted {level:.3} ms");
        }
        let whole =
            best(runs.min(10), || drop(black_box(allocate(&problem, AllocationPolicy::Drfh))));
        let gap = allocate(&problem, AllocationPolicy::Drfh)
            .ok()
            .and_then(|result| result.certificate)
            .map(|proof| proof.gap);
        println!("{what}: whole allocation {whole:.1} ms, gap {gap:?}");
    }
}
