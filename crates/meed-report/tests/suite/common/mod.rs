//! Synthetic comparisons for tests and for the sample reports: a small fluid cluster with bursty
//! demand under three policies, so that the curves look like those of a real run. Deterministic: no
//! clock, no random source but [`Lcg`].

#![expect(
    clippy::disallowed_methods,
    reason = "curves to look at; nothing is compared between machines"
)]

pub(crate) mod mapreduce;

use std::collections::BTreeMap;

use meed_driver::record::{
    Comparison, GroupRecord, JOB_PERCENTILES, QueueRecord, QueueSeries, RunRecord, SCHEMA, Series,
};

/// Cores of the toy cluster.
const CAPACITY: f64 = 400.0;
/// Length of one step, seconds.
const STEP_S: f64 = 60.0;

/// The policies of the samples, in the order of a typical command line.
pub(crate) const POLICIES: [&str; 3] = ["static", "fair", "long-term"];

/// A small linear congruential generator: enough for test data.
pub(crate) struct Lcg(u64);

impl Lcg {
    /// Starts from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// A number in 0..1.
    pub(crate) fn next_f64(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Four tenants with the names of the paper's workloads.
pub(crate) fn four_tenants() -> Comparison {
    comparison(&["facebook", "purdue", "spark", "tpc-h"], &[2.0, 1.0, 1.0, 1.0], 480, &POLICIES)
}

/// As many tenants as a real trace has.
pub(crate) fn many_tenants(tenants: usize, steps: usize) -> Comparison {
    let names: Vec<String> = (0..tenants).map(|i| format!("dept{}.user{i:03}", i % 9)).collect();
    let weights: Vec<f64> = (0..tenants).map(|i| 1.0 + (i % 3) as f64).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many = comparison(&names, &weights, steps, &POLICIES);
    Comparison { scenario: "many-tenants.toml".into(), ..many }
}

/// A comparison of these tenants over `steps` steps.
pub(crate) fn comparison(
    names: &[&str],
    weights: &[f64],
    steps: usize,
    policies: &[&str],
) -> Comparison {
    let arrivals = arrivals(weights, steps);
    let mut runs: Vec<RunRecord> =
        policies.iter().map(|policy| run(policy, names, weights, &arrivals)).collect();
    let base: Option<Vec<Option<f64>>> = runs
        .iter()
        .find(|r| r.policy == "static")
        .map(|r| r.queues.iter().map(|q| q.mean_job_s).collect());
    if let Some(base) = base {
        for run in &mut runs {
            for (queue, base) in run.queues.iter_mut().zip(&base) {
                queue.speedup = queue.mean_job_s.zip(*base).map(|(here, base)| base / here);
            }
        }
    }
    Comparison {
        schema: SCHEMA,
        scenario: "four-tenants.toml".into(),
        seed: 42,
        assumptions: vec![
            "The trace holds no memory request: every task takes 2 GiB.".into(),
            "A task killed in the trace ran to its end here.".into(),
        ],
        clock_us: None,
        baseline: None,
        is_usual: false,
        runs,
    }
}

/// Thirty days under six policies, one of them with a long name.
pub(crate) fn month_of_six_policies() -> Comparison {
    let policies =
        ["static", "fair", "long-term", "long-term(half-life=14d,discount=0.5)", "drf", "karma"];
    let names: Vec<String> = (1..=9).map(|i| format!("research.group-{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut c = comparison(&names, &[1.0, 2.0, 1.0, 1.0, 4.0, 1.0, 1.0, 0.5, 1.0], 480, &policies);
    let stretch = 30.0 * 86_400.0 / (480.0 * STEP_S);
    for run in &mut c.runs {
        run.end_s *= stretch;
        run.series.t_s.iter_mut().for_each(|t| *t *= stretch);
        for q in &mut run.queues {
            q.balance *= stretch;
            q.lent *= stretch;
            q.borrowed *= stretch;
            q.usage.values_mut().for_each(|u| *u *= stretch);
        }
        for q in &mut run.series.queues {
            q.usage.iter_mut().for_each(|u| *u *= stretch);
            q.balance.iter_mut().for_each(|b| *b *= stretch);
        }
    }
    c
}

/// Names that try to break out of a page.
pub(crate) fn two_hostile() -> Comparison {
    let names = [
        "</script><img src=x onerror=alert(1)>",
        "<!-- a tenant with a rather long name, on purpose",
    ];
    let hostile = comparison(&names, &[1.0, 3.0], 120, &["fair"]);
    Comparison { scenario: "<b>&\"hostile\"</b></title>.toml".into(), ..hostile }
}

/// The same comparison without samples over time, as `--no-series` would leave it.
pub(crate) fn without_series(mut comparison: Comparison) -> Comparison {
    for run in &mut comparison.runs {
        run.series = Series::default();
    }
    comparison
}

/// A run in which nothing ever ended: most values are missing.
pub(crate) fn nothing_ended() -> Comparison {
    let mut c = comparison(&["a", "b"], &[1.0, 1.0], 12, &["fair"]);
    for run in &mut c.runs {
        run.jain = None;
        run.mean_job_s = None;
        run.unfinished = 3;
        for q in &mut run.queues {
            q.rho = None;
            q.jobs = 0;
            q.tasks = 0;
            q.mean_job_s = None;
            q.p50_job_s = None;
            q.p99_job_s = None;
            q.mean_wait_s = None;
            q.longest_wait_s = None;
            q.speedup = None;
            q.job_s_percentiles.clear();
        }
        for q in &mut run.series.queues {
            q.rho.fill(None);
        }
    }
    c
}

/// New work per tenant and step, in core-seconds: bursts that begin at different times.
fn arrivals(weights: &[f64], steps: usize) -> Vec<Vec<f64>> {
    let total: f64 = weights.iter().sum();
    let mut rng = Lcg::new(7);
    weights
        .iter()
        .map(|w| {
            let share = CAPACITY * w / total;
            let (start, mood) = (rng.next_f64() * 0.25, 0.45 + 1.0 * rng.next_f64());
            let period = 30.0 + 150.0 * rng.next_f64();
            let mut level = 0.0;
            (0..steps)
                .map(|s| {
                    if (s as f64) < start * steps as f64 {
                        return 0.0;
                    }
                    let burst = ((s as f64 / period).sin() > 0.35) as u8 as f64;
                    level = 0.8 * level + 0.2 * (0.2 + 2.2 * burst) * mood * (0.5 + rng.next_f64());
                    level * share * STEP_S
                })
                .collect()
        })
        .collect()
}

/// How much each tenant holds in this step.
///
/// Tasks are not preempted: a tenant keeps most of what it held before, so the policies can be
/// late.
fn allocate(
    policy: &str,
    demand: &[f64],
    shares: &[f64],
    usage: &[f64],
    before: &[f64],
) -> Vec<f64> {
    if policy == "static" {
        return demand.iter().zip(shares).map(|(d, s)| d.min(*s)).collect();
    }
    // Serve in small portions whoever is poorest: in what it holds now (fair) or in what it used so
    // far (long-term).
    let mut held: Vec<f64> = demand.iter().zip(before).map(|(d, b)| d.min(0.93 * b)).collect();
    let portion = CAPACITY / (demand.len().max(50) as f64 * 2.0);
    let mut left = CAPACITY - held.iter().sum::<f64>();
    while left > 1e-9 {
        let key = |i: usize| {
            let now = held[i] / shares[i];
            if policy == "fair" { now } else { (usage[i] + held[i] * STEP_S) / shares[i] }
        };
        let poorest = (0..demand.len())
            .filter(|&i| held[i] + 1e-9 < demand[i])
            .min_by(|&a, &b| key(a).total_cmp(&key(b)));
        let Some(i) = poorest else { break };
        let give = portion.min(demand[i] - held[i]).min(left);
        held[i] += give;
        left -= give;
    }
    held
}

fn run(policy: &str, names: &[&str], weights: &[f64], arrivals: &[Vec<f64>]) -> RunRecord {
    let n = names.len();
    let steps = arrivals.first().map_or(0, Vec::len);
    let total: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|w| CAPACITY * w / total).collect();
    let mut backlog = vec![0.0; n];
    let (mut usage, mut alone) = (vec![0.0; n], vec![0.0; n]);
    let (mut lent, mut borrowed) = (vec![0.0; n], vec![0.0; n]);
    let mut held = vec![0.0; n];
    let mut series = Series { queues: vec![QueueSeries::default(); n], ..Series::default() };
    let mut used_total = 0.0;
    for s in 0..steps {
        for (backlog, arrivals) in backlog.iter_mut().zip(arrivals) {
            *backlog += arrivals[s];
        }
        let demand: Vec<f64> = backlog.iter().map(|b| (b / STEP_S).min(CAPACITY)).collect();
        held = allocate(policy, &demand, &shares, &usage, &held);
        let over: f64 = (0..n).map(|i| (held[i] - shares[i]).max(0.0)).sum();
        let idle: f64 = (0..n).map(|i| (shares[i] - held[i]).max(0.0)).sum();
        let (mut psi, mut omega) = (0.0, 0.0);
        for i in 0..n {
            usage[i] += held[i] * STEP_S;
            backlog[i] -= held[i] * STEP_S;
            alone[i] += demand[i].min(shares[i]) * STEP_S;
            borrowed[i] += (held[i] - shares[i]).max(0.0) * STEP_S;
            if idle > 0.0 {
                lent[i] += (shares[i] - held[i]).max(0.0) / idle * over * STEP_S;
            }
            let rho = (alone[i] > 0.0).then(|| usage[i] / alone[i]);
            psi += rho.map_or(0.0, |r| (r - 1.0).max(0.0));
            omega += rho.map_or(0.0, |r| (r - 1.0).min(0.0));
            let q = &mut series.queues[i];
            q.demand.push(demand[i]);
            q.allocation.push(held[i]);
            q.usage.push(usage[i]);
            q.rho.push(rho);
            q.balance.push(lent[i] - borrowed[i]);
        }
        let used: f64 = held.iter().sum();
        used_total += used;
        series.t_s.push((s + 1) as f64 * STEP_S);
        series.psi.push(psi);
        series.omega.push(omega);
        series.utilization.entry("cpu".into()).or_default().push(used / CAPACITY);
        series.utilization.entry("memory".into()).or_default().push(0.8 * used / CAPACITY);
    }
    let queues: Vec<QueueRecord> = (0..n)
        .map(|i| QueueRecord {
            queue: names[i].into(),
            weight: weights[i],
            share: shares[i],
            usage: BTreeMap::from([("cpu".into(), usage[i]), ("memory".into(), usage[i] * 2.0e9)]),
            charged: usage[i] * 0.9,
            rho: series.queues[i].rho.last().copied().flatten(),
            dominant_rho: series.queues[i].rho.last().copied().flatten(),
            lent: lent[i],
            borrowed: borrowed[i],
            balance: lent[i] - borrowed[i],
            ..job_times(policy, i, &series.queues[i])
        })
        .collect();
    let rho: Vec<f64> = queues.iter().filter_map(|q| q.rho).collect();
    let (sum, squares): (f64, f64) = (rho.iter().sum(), rho.iter().map(|r| r * r).sum());
    let jobs: u64 = queues.iter().map(|q| q.jobs).sum();
    let weighted: f64 = queues.iter().filter_map(|q| q.mean_job_s.map(|m| m * q.jobs as f64)).sum();
    RunRecord {
        accounts: None,
        counted: None,
        policy: policy.into(),
        measured: "cpu".into(),
        end_s: steps as f64 * STEP_S,
        events: 2 * jobs * 40,
        decisions: jobs * 40,
        refused: 1,
        failed: 0,
        first_refused: None,
        unfinished: 0,
        trace_lines: 1000,
        skipped_lines: 2,
        ignored_lines: 117,
        utilization: BTreeMap::from([
            ("cpu".into(), used_total / (CAPACITY * steps.max(1) as f64)),
            ("memory".into(), 0.8 * used_total / (CAPACITY * steps.max(1) as f64)),
        ]),
        held_idle: None,
        stopped: None,
        psi: series.psi.last().copied().unwrap_or(0.0),
        omega: series.omega.last().copied().unwrap_or(0.0),
        jain: (squares > 0.0).then(|| sum * sum / (rho.len() as f64 * squares)),
        dominant_psi: 0.0,
        dominant_omega: 0.0,
        dominant_jain: None,
        mean_job_s: (jobs > 0).then(|| weighted / jobs as f64),
        p50_job_s: None,
        p99_job_s: None,
        mean_wait_s: None,
        longest_wait_s: None,
        groups: groups(&queues),
        queues,
        series,
        jobs: Vec::new(),
        chart: None,
        mapreduce: None,
    }
}

/// Parents of dotted names: sums over their leaves.
fn groups(queues: &[QueueRecord]) -> Vec<GroupRecord> {
    let mut groups: BTreeMap<String, GroupRecord> = BTreeMap::new();
    for q in queues {
        if let Some((parent, _)) = q.queue.rsplit_once('.') {
            let group = groups.entry(parent.to_string()).or_insert_with(|| GroupRecord {
                queue: parent.into(),
                weight: 0.0,
                usage: BTreeMap::new(),
                charged: 0.0,
            });
            group.weight += q.weight;
            group.charged += q.charged;
            for (name, used) in &q.usage {
                *group.usage.entry(name.clone()).or_default() += used;
            }
        }
    }
    groups.into_values().collect()
}

/// Job times that follow from how long demand waited; a tenant without jobs now and then.
fn job_times(policy: &str, tenant: usize, series: &QueueSeries) -> QueueRecord {
    let (demand, held): (f64, f64) = (series.demand.iter().sum(), series.allocation.iter().sum());
    let none = tenant % 50 == 13 || held <= 0.0;
    let stretch = if held > 0.0 { (demand / held).powf(0.6) } else { 1.0 };
    let mut rng = Lcg::new(1000 + tenant as u64);
    let median =
        (40.0 + 400.0 * rng.next_f64()) * stretch * if policy == "static" { 1.1 } else { 1.0 };
    let spread = 0.5 + 0.5 * rng.next_f64();
    let z = [-2.33, -1.645, -1.28, -0.674, 0.0, 0.674, 1.28, 1.645, 2.33];
    assert_eq!(z.len(), JOB_PERCENTILES.len());
    let at = |z: f64| median * (spread * z).exp();
    let some = |v: f64| (!none).then_some(v);
    QueueRecord {
        queue: String::new(),
        weight: 0.0,
        share: 0.0,
        usage: BTreeMap::new(),
        held_idle: None,
        stopped: None,
        charged: 0.0,
        rho: None,
        dominant_rho: None,
        lent: 0.0,
        borrowed: 0.0,
        balance: 0.0,
        jobs: if none { 0 } else { 20 + (tenant as u64 * 37) % 400 },
        tasks: if none { 0 } else { 800 + (tenant as u64 * 1571) % 16_000 },
        mean_job_s: some(median * (spread * spread / 2.0).exp()),
        p50_job_s: some(median),
        p99_job_s: some(at(2.33)),
        mean_wait_s: some(median * 0.2 * (stretch - 0.9)),
        longest_wait_s: some(median * 2.5 * stretch),
        speedup: None,
        job_s_percentiles: if none { Vec::new() } else { z.iter().map(|z| at(*z)).collect() },
        overtaken: None,
    }
}
