//! The papers' experiments as scenarios, and how they are run: over seeds, task times and all
//! cores.
//!
//! Scenarios are data in the shape of a user's file. Random numbers come from the seed
//! alone, results are collected in order: the same context gives the same outcome, on however many
//! cores.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use meed_scenario::Scenario;
use meed_sim::record::Comparison;
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;
use serde_json::{Map, Value, json};

use crate::cores;
use crate::reproduce::{Context, ReproduceError};

/// Bytes of a container. Two GiB: with them the 107 tasks that Facebook ran at 1,439 s (ICS'14 Fig.
/// 7a) are all but one of the 108 containers of nine nodes, the drop from 1,019 to 630 that the
/// loss of 76 of them made is what 76 x 589 s over 108 containers makes (414), and 3.85 of 4 shares
/// (Fig. 4b) is 104 of 108.
pub(super) const CONTAINER: f64 = (2u64 << 30) as f64;

/// Task times, as factors of those assumed: half, as assumed, double.
pub(super) const SCALES: [f64; 3] = [0.5, 1.0, 2.0];

/// Leaf queues, in order of declaration: that of records and series.
pub(super) const NAMES: [&str; 4] = ["Facebook", "Purdue", "TPC-H", "Spark"];
pub(super) const FACEBOOK: usize = 0;
pub(super) const PURDUE: usize = 1;
pub(super) const TPC_H: usize = 2;
pub(super) const SPARK: usize = 3;

/// What scenarios call the workloads of [`NAMES`].
pub(super) const WORKLOADS: [&str; 4] = ["facebook", "purdue", "tpch", "spark"];

/// A cluster of the papers.
#[derive(Clone, Copy)]
pub(super) struct Cluster {
    nodes: u64,
    node_gib: u64,
    cores: u64,
}

/// TSC'18 Sec. 7: 59 virtual machines of two cores and 4 GB.
pub(super) const TSC: Cluster = Cluster { nodes: 59, node_gib: 4, cores: 2 };
/// ICS'14 Sec. 6: nine nodes of 12 cores and 24 GB.
pub(super) const ICS: Cluster = Cluster { nodes: 9, node_gib: 24, cores: 12 };

impl Cluster {
    /// How many containers it holds at once.
    pub(super) fn containers(self) -> f64 {
        (self.nodes * self.node_gib / 2) as f64
    }

    /// A fourth of it, in bytes: each workload's share.
    pub(super) fn share(self) -> f64 {
        self.bytes() / 4.0
    }

    /// All its memory.
    pub(super) fn bytes(self) -> f64 {
        self.containers() * CONTAINER
    }
}

/// One experiment.
#[derive(Clone, Copy)]
pub(super) struct Experiment {
    pub(super) cluster: Cluster,
    /// The parents of [`NAMES`], if they have any.
    pub(super) groups: Option<[&'static str; 4]>,
    /// When each workload begins, in seconds.
    pub(super) starts: [u64; 4],
    /// Factor of each workload's task times, beside that of the sweep.
    pub(super) factors: [f64; 4],
    /// Words of `--policy`.
    pub(super) policies: &'static [&'static str],
    /// When to stop; without it when all has ended.
    pub(super) until_s: Option<u64>,
    /// Samples over time.
    pub(super) samples: usize,
}

/// What delays grants: heartbeats of nodes and masters, and how long a master takes to start, in
/// seconds.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Late {
    pub(super) heartbeat_s: u64,
    pub(super) master_s: u64,
    /// Whether a job's master holds a container as long as the job is there. Not beside `static`:
    /// alone on a share of 29 containers Facebook has 29 jobs at once, whose masters would leave no
    /// room for a task.
    pub(super) masters_hold: bool,
}

/// Heartbeats of Hadoop 2.2 (its default), and masters that start within some seconds: a process is
/// launched, reads its job and registers.
pub(super) const HADOOP: Late = Late { heartbeat_s: 1, master_s: 4, masters_hold: false };

/// The same, and masters hold a container, as those of YARN do.
pub(super) const MASTERS: Late = Late { masters_hold: true, ..HADOOP };

/// So many seeds are enough where grants are late: each run is ten times as long to simulate.
const LATE_SEEDS: u64 = 5;

/// Task times of Facebook and Purdue, as factors of those assumed, under which the cluster is full
/// nearly to the end: what the papers' memoryless scheduler lost there, it loses here.
pub(super) const FULL: [f64; 4] = [3.0, 15.0, 1.0, 1.0];

/// Those of all but TPC-H, whose 23.6 s are printed (TSC'18 Fig. 11a). Facebook's follows from the
/// print: Table 3's 6,782 tasks of 11 s are 632 s of 118 containers, and Group1 has used about 680
/// s of them when Fig. 10's starvation ends, with half of its jobs submitted.
pub(super) const OTHERS_LONGER: [f64; 4] = [3.0, 3.0, 1.0, 3.0];

/// Starts of a single-level run: Facebook's submissions count from 0, the others begin to ask for
/// more than their share at 24 and 28 s (TSC'18 Fig. 6a).
pub(super) const SIDE_BY_SIDE: [u64; 4] = [0, 24, 28, 28];

impl Experiment {
    /// The scenario with task times times `scale`.
    pub(super) fn scenario(
        &self,
        context: &Context,
        scale: f64,
        late: Option<Late>,
    ) -> Result<Scenario, ReproduceError> {
        let submissions = submissions(context);
        let data = self.data(scale, submissions.as_deref(), late);
        Ok(Scenario::of_data("the papers' workloads", &data, Path::new(""), OnBadLine::Stop)?)
    }

    /// In the shape of a scenario file.
    fn data(&self, scale: f64, submissions: Option<&Path>, late: Option<Late>) -> Value {
        let Cluster { nodes, node_gib, cores } = self.cluster;
        let capacity = json!({ "memory": format!("{node_gib}GiB"), "cpu": cores });
        let parents: BTreeSet<&str> = self.groups.iter().flatten().copied().collect();
        let parents = parents.into_iter().map(|name| json!({ "name": name }));
        // Jobs of a queue share it equally, as in the Hadoop Fair Scheduler, under every policy of
        // the root.
        let leaves = (0..NAMES.len()).map(|i| json!({ "name": self.queue(i), "order": "fair" }));
        let workload = |(i, name)| {
            let mut workload = json!({
                "name": name,
                "queue": self.queue(i),
                "start": self.starts[i],
                "task_time_scale": self.factors[i] * scale,
                "demand": { "memory": "2GiB", "cpu": 1 },
            });
            if let Some(file) = submissions.filter(|_| i == FACEBOOK) {
                workload["submissions"] = file.to_string_lossy().into();
            }
            workload
        };
        let mut run = Map::new();
        run.extend(self.until_s.map(|until| ("until".to_owned(), until.into())));
        if let Some(Late { heartbeat_s, master_s, masters_hold }) = late {
            run.insert("heartbeat".to_owned(), heartbeat_s.into());
            run.insert("master_start".to_owned(), master_s.into());
            let container = || json!({ "memory": "2GiB", "cpu": 1 });
            run.extend(masters_hold.then(|| ("master".to_owned(), container())));
        }
        json!({
            "cluster": {
                "resources": ["memory", "cpu"],
                "node": [{ "count": nodes, "capacity": capacity }],
            },
            "queue": parents.chain(leaves).collect::<Vec<_>>(),
            "workload": WORKLOADS.into_iter().enumerate().map(workload).collect::<Vec<_>>(),
            "run": run,
        })
    }

    fn queue(&self, i: usize) -> String {
        match self.groups {
            Some(groups) => format!("{}.{}", groups[i], NAMES[i]),
            None => NAMES[i].to_owned(),
        }
    }

    fn options(&self, seed: u64) -> SimulateOptions {
        SimulateOptions {
            policies: self.policies.iter().map(|&words| words.to_owned()).collect(),
            seed: Some(seed),
            series_points: self.samples,
            strict: true,
            keep_jobs: true,
        }
    }

    /// The run that is drawn: the first seed, task times as assumed.
    pub(super) fn typical(&self, context: &Context) -> Result<Comparison, ReproduceError> {
        let scenario = self.scenario(context, 1.0, None)?;
        Ok(simulate(&scenario, &self.options(context.first_seed), None, &mut Unwatched)?)
    }

    /// What `read` sees in each run, with its factor of task times: all seeds of the first factor,
    /// then of the next.
    pub(super) fn sweep<T: Send>(
        &self,
        context: &Context,
        scales: &[f64],
        read: impl Fn(&Comparison, f64) -> T + Sync,
    ) -> Result<Vec<(f64, T)>, ReproduceError> {
        let scenarios = scales
            .iter()
            .map(|&scale| self.scenario(context, scale, None))
            .collect::<Result<Vec<_>, _>>()?;
        self.over(context, (scales, &scenarios), context.seeds, read)
    }

    /// The same with task times as assumed and grants that are late, over few seeds.
    pub(super) fn sweep_late<T: Send>(
        &self,
        context: &Context,
        late: Late,
        read: impl Fn(&Comparison, f64) -> T + Sync,
    ) -> Result<Vec<(f64, T)>, ReproduceError> {
        let scenario = self.scenario(context, 1.0, Some(late))?;
        self.over(context, (&[1.0], &[scenario]), context.seeds.min(LATE_SEEDS), read)
    }

    /// The same with grants at once and task times as assumed, over few seeds.
    pub(super) fn few<T: Send>(
        &self,
        context: &Context,
        read: impl Fn(&Comparison, f64) -> T + Sync,
    ) -> Result<Vec<(f64, T)>, ReproduceError> {
        let scenario = self.scenario(context, 1.0, None)?;
        self.over(context, (&[1.0], &[scenario]), context.seeds.min(LATE_SEEDS), read)
    }

    fn over<T: Send>(
        &self,
        context: &Context,
        (scales, scenarios): (&[f64], &[Scenario]),
        seeds: u64,
        read: impl Fn(&Comparison, f64) -> T + Sync,
    ) -> Result<Vec<(f64, T)>, ReproduceError> {
        let seeds = seeds.max(1);
        let runs: Vec<(usize, u64)> = (0..scales.len())
            .flat_map(|scale| {
                (0..seeds).map(move |seed| (scale, context.first_seed.wrapping_add(seed)))
            })
            .collect();
        cores::map(&runs, |&(scale, seed)| {
            let run = simulate(&scenarios[scale], &self.options(seed), None, &mut Unwatched)?;
            Ok((scales[scale], read(&run, scales[scale])))
        })
    }
}

/// The SWIM sample that the papers take submission times from, if the user has it.
fn submissions(context: &Context) -> Option<PathBuf> {
    let folder = context.traces.as_ref()?;
    let names = ["", ".xz", ".gz", ".zst"]
        .map(|ending| format!("FB-2009_samples_24_times_1hr_1.tsv{ending}"));
    let places = names.iter().flat_map(|name| [folder.join("swim").join(name), folder.join(name)]);
    let found = places.into_iter().find(|path| path.is_file())?;
    // Scenarios look for files beside themselves; these have no place.
    Some(std::path::absolute(&found).unwrap_or(found))
}

/// What all these experiments take for granted, in words.
pub(super) fn assumptions(context: &Context, cluster: Cluster) -> Vec<String> {
    let arrivals = match submissions(context) {
        Some(_) => {
            "Facebook's submissions are the first 100 of the SWIM sample \
             FB-2009_samples_24_times_1hr_1.tsv; the seed \
             shuffles which job comes when, and draws task times."
        }
        None => {
            "Facebook's submissions are random, from a log-normal distribution fitted to the SWIM \
             sample \
             FB-2009_samples_24_times_1hr_1.tsv, which was not found among the traces: its bursts \
             are missing. The seed \
             draws them, shuffles which job comes when, and draws task times."
        }
    };
    vec![
        format!(
            "{} containers of 2 GiB on {} nodes; memory is the measured resource. 2 GiB is what \
             ICS'14 Fig. 7 leaves: \
             107 running tasks in 216 GB.",
            cluster.containers(),
            cluster.nodes
        ),
        "Task times and sizes that the papers do not give are those of docs/macro-workloads.md; \
         every check is repeated \
         with half and with double the times."
            .to_owned(),
        arrivals.to_owned(),
        "A container is granted the instant that one is free: no application masters, heartbeats \
         or start-up. Jobs of a \
         queue share it equally."
            .to_owned(),
        format!(
            "Rows with late grants: nodes and masters are heard each {} s (Hadoop 2.2's default), \
             each job's master takes {} s to start, which is assumed, and holds nothing.",
            HADOOP.heartbeat_s, HADOOP.master_s
        ),
    ]
}
