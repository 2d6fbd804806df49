//! What the exact allocation costs: the level of two resources once users are sorted, whole
//! allocations, three and four resources, and a general LP solver on the same problem. Run with
//! `cargo bench -p meed-bench --bench level`; docs/performance.md has the figures. `-- quick` style
//! filters work as usual: `cargo bench -p meed-bench --bench level -- level`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use meed_level::{AllocationPolicy, Problem, Server, Sorted, User, UserLedgers, allocate};

/// A fixed sequence of numbers in [0, 1) (SplitMix64): the same problems on every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Users of random demand, weight 1 to 4, half of them with finitely many tasks if asked for, on 10
/// classes of servers.
fn problem(users: usize, resources: usize, finite: bool) -> Problem {
    let mut dice = Dice(7);
    let servers: Vec<Server> = (0..10)
        .map(|_| Server {
            count: 1.0 + (1000.0 * dice.next()).floor(),
            capacity: (0..resources).map(|_| 0.25 + dice.next()).collect(),
        })
        .collect();
    let size: f64 = servers.iter().map(|server| server.count).sum();
    let user = |number: usize| User {
        name: format!("u{number}"),
        demand: (0..resources).map(|_| 0.01 + 0.2 * dice.next()).collect(),
        weight: 1.0 + (4.0 * dice.next()).floor(),
        tasks: (finite && dice.next() < 0.5).then(|| 20.0 * dice.next() * size / users as f64),
        used: 0.0,
        ledgers: UserLedgers::default(),
    };
    Problem {
        resources: (0..resources).map(|r| format!("r{r}")).collect(),
        users: (0..users).map(user).collect(),
        servers,
        slots_per_server: 14.0,
        worth: 1.0,
    }
}

/// The program as a general solver takes it: a variable for each user and class.
fn general(problem: &Problem) -> f64 {
    use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, SolveOutcome};
    let totals = problem.totals();
    let mut lp = microlp::Problem::new(OptimizationDirection::Maximize);
    let level = lp.add_var(1.0, (0.0, f64::INFINITY));
    let mut rows = vec![LinearExpr::empty(); problem.servers.len() * totals.len()];
    for user in &problem.users {
        let shares: Vec<f64> =
            user.demand.iter().zip(&totals).map(|(need, total)| need / total).collect();
        let dominant = shares.iter().copied().fold(0.0, f64::max);
        let mut sum = LinearExpr::empty();
        sum.add(level, -user.weight);
        for server in 0..problem.servers.len() {
            let pair = lp.add_var(0.0, (0.0, f64::INFINITY));
            sum.add(pair, 1.0);
            for (r, share) in shares.iter().enumerate() {
                rows[server * totals.len() + r].add(pair, share / dominant);
            }
        }
        lp.add_constraint(sum, ComparisonOp::Ge, 0.0);
    }
    for (row, sum) in rows.into_iter().enumerate() {
        let (server, r) = (&problem.servers[row / totals.len()], row % totals.len());
        lp.add_constraint(sum, ComparisonOp::Le, server.count * server.capacity[r] / totals[r]);
    }
    match lp.solve() {
        Ok(SolveOutcome::Solution(solution)) => solution[level],
        _ => f64::NAN,
    }
}

fn level(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("level of two resources, sorted");
    for (users, finite) in [(10_000, false), (10_000, true), (1_000_000, false), (1_000_000, true)]
    {
        let sorted = Sorted::new(&problem(users, 2, finite), AllocationPolicy::Drfh)
            .expect("sound")
            .expect("two resources");
        let id = BenchmarkId::new(if finite { "half finite" } else { "endless" }, users);
        group.bench_function(id, |bencher| bencher.iter(|| black_box(&sorted).level()));
    }
    group.finish();
}

fn whole(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("allocate");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    let cases = [
        (10_000, 2, true),
        (1_000_000, 2, true),
        (10_000, 3, false),
        (10_000, 4, false),
        (10_000, 3, true),
        (10_000, 4, true),
    ];
    for (users, resources, finite) in cases {
        let problem = problem(users, resources, finite);
        let gap = allocate(&problem, AllocationPolicy::Drfh)
            .expect("sound")
            .certificate
            .expect("DRFH has one")
            .gap;
        let kind = if finite { "half finite" } else { "endless" };
        let id = BenchmarkId::new(format!("{resources} resources, {kind}, gap {gap:.0e}"), users);
        group.bench_function(id, |bencher| {
            bencher.iter(|| allocate(black_box(&problem), AllocationPolicy::Drfh))
        });
    }
    group.finish();
}

fn against_a_general_solver(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("against a general solver");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    for (users, resources) in [(100, 2), (1000, 2), (100, 4), (1000, 4)] {
        let problem = problem(users, resources, false);
        let ours = allocate(&problem, AllocationPolicy::Drfh)
            .expect("sound")
            .level
            .expect("endless tasks");
        let theirs = general(&problem);
        assert!((ours - theirs).abs() <= 1e-6 * ours, "{ours} or {theirs}");
        let id = |who: &str| BenchmarkId::new(format!("{who}, {resources} resources"), users);
        group.bench_function(id("ours"), |bencher| {
            bencher.iter(|| allocate(black_box(&problem), AllocationPolicy::Drfh))
        });
        group
            .bench_function(id("microlp"), |bencher| bencher.iter(|| general(black_box(&problem))));
    }
    group.finish();
}

criterion_group!(benches, level, whole, against_a_general_solver);
criterion_main!(benches);
