//! The four workloads as data: what the papers give, and what is assumed in its place.
//!
//! Counts of Facebook jobs and tasks are Table 3 (TSC'18; the same in ICS'14). The rest, number by
//! number and each with its reason, is in docs/macro-workloads.md; a test compares the two.

/// One of the workloads.
#[derive(Clone, PartialEq, Debug)]
pub struct Workload {
    /// What scenarios call it.
    pub name: &'static str,
    /// Its kinds of jobs.
    pub kinds: &'static [JobKind],
    /// Which job comes when.
    pub order: Order,
    /// When jobs are submitted.
    pub flow: Flow,
    /// Deviation of the logarithm of a task's time around its stage's mean (log-normal).
    pub sigma: f64,
}

/// Jobs of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct JobKind {
    /// Name of the program or query.
    pub name: &'static str,
    /// How many such jobs there are.
    pub jobs: u32,
    /// Its stages, one after the other.
    pub stages: &'static [Stage],
}

/// Equal tasks of a job.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stage {
    /// How many.
    pub tasks: u32,
    /// Their mean time.
    pub mean_s: f64,
}

/// Which job comes when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Shuffled by the seed.
    Shuffled,
    /// One of each kind, and again.
    RoundRobin,
}

/// When jobs are submitted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Flow {
    /// At the times of the SWIM sample, or, without it, at random distances: log-normal.
    Submissions {
        /// Median distance.
        median_s: f64,
        /// Deviation of its logarithm.
        sigma: f64,
    },
    /// At equal distances.
    Every {
        /// The distance.
        gap_s: f64,
    },
    /// Each when the last has ended, after a pause.
    After {
        /// The pause.
        pause_s: f64,
    },
}

const fn stage(tasks: u32, mean_s: f64) -> Stage {
    Stage { tasks, mean_s }
}

/// Facebook tasks run "about 11 s" (ICS'14 Sec. 6.5); taken for maps and reduces of all bins.
const FB: f64 = 11.0;

/// TPC-H tasks run 23.6 s on average (TSC'18 Fig. 11a); taken for all stages.
const TPCH: f64 = 23.6;

/// Maps of 40 GiB in blocks of 128 MiB.
const MAPS_40G: u32 = 320;

const fn kind(name: &'static str, jobs: u32, stages: &'static [Stage]) -> JobKind {
    JobKind { name, jobs, stages }
}

/// The nine bins of Table 3.
const FACEBOOK: &[JobKind] = &[
    kind("rankings selection 1", 38, &[stage(1, FB)]),
    kind("grep search 2", 18, &[stage(2, FB)]),
    kind("uservisits aggregation 3", 14, &[stage(10, FB), stage(2, FB)]),
    kind("rankings selection 4", 10, &[stage(50, FB)]),
    kind("uservisits aggregation 5", 6, &[stage(100, FB), stage(10, FB)]),
    kind("rankings selection 6", 6, &[stage(200, FB)]),
    kind("grep search 7", 4, &[stage(400, FB)]),
    kind("rankings-uservisits join 8", 2, &[stage(400, FB), stage(30, FB)]),
    kind("grep search 9", 2, &[stage(800, FB), stage(60, FB)]),
];

const PURDUE: &[JobKind] = &[
    kind("WordCount", 1, &[stage(MAPS_40G, 20.0), stage(54, 15.0)]),
    kind("TeraSort", 1, &[stage(MAPS_40G, 30.0), stage(54, 60.0)]),
    kind("Grep", 1, &[stage(MAPS_40G, 15.0), stage(1, 10.0)]),
    kind("InvertedIndex", 1, &[stage(MAPS_40G, 25.0), stage(54, 30.0)]),
    kind("HistogramMovies", 1, &[stage(MAPS_40G, 15.0), stage(1, 10.0)]),
];

/// At scale 40 lineitem has 227 blocks of 128 MiB, orders 52, partsupp 36, part 8; Hive gave a
/// reducer 1 GB.
const TPC_H: &[JobKind] = &[
    kind("Q1", 5, &[stage(227, TPCH), stage(29, TPCH), stage(1, TPCH)]),
    kind(
        "Q9",
        5,
        &[
            stage(37, TPCH),
            stage(5, TPCH),
            stage(263, TPCH),
            stage(34, TPCH),
            stage(60, TPCH),
            stage(20, TPCH),
            stage(1, TPCH),
        ],
    ),
    kind("Q12", 5, &[stage(279, TPCH), stage(36, TPCH), stage(1, TPCH)]),
    kind(
        "Q17",
        5,
        &[stage(227, TPCH), stage(29, TPCH), stage(235, TPCH), stage(30, TPCH), stage(1, TPCH)],
    ),
];

/// On YARN, Spark holds its executors from the application's start to its end: they are the tasks.
const SPARK: &[JobKind] =
    &[kind("k-means", 10, &[stage(54, 60.0)]), kind("ALS", 10, &[stage(54, 90.0)])];

/// All four, in the order in which the papers name them.
pub static WORKLOADS: [Workload; 4] = [
    Workload {
        name: "facebook",
        kinds: FACEBOOK,
        order: Order::Shuffled,
        flow: Flow::Submissions { median_s: 6.19, sigma: 1.30 },
        sigma: 0.4,
    },
    Workload {
        name: "purdue",
        kinds: PURDUE,
        order: Order::RoundRobin,
        flow: Flow::Every { gap_s: 180.0 },
        sigma: 0.3,
    },
    Workload {
        name: "tpch",
        kinds: TPC_H,
        order: Order::RoundRobin,
        flow: Flow::After { pause_s: 0.0 },
        sigma: 0.5,
    },
    Workload {
        name: "spark",
        kinds: SPARK,
        order: Order::RoundRobin,
        flow: Flow::After { pause_s: 120.0 },
        sigma: 0.1,
    },
];
