//! The paper's environments as scenarios of the MapReduce world, and how they are run: over seeds,
//! rules and all cores.
//!
//! Scenarios are data in the shape of a user's file (docs/mapreduce.md). What the paper does not
//! give is an assumption and stands in [`DISK_MB_S`] to [`requests`]; `study` varies each of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use meed_journal::Record;
use meed_mapreduce::classes::{Locality, RULES, Rule};
use meed_mapreduce::{KINDS, MapReduceSetup, RATIO_ONE};
use meed_scenario::Scenario;
use meed_sim::log::Log;
use meed_sim::record::RunRecord;
use meed_sim::record::mapreduce::{MapReduceJobRecord, MapReduceRecord, RequestRecord};
use meed_sim::{SimulateError, Unwatched, run_mapreduce};
use meed_workload::OnBadLine;
use serde_json::{Value, json};

use crate::cores;
use crate::reproduce::{Context, ReproduceError};

/// Of a node's disk with one stream. The paper's 99 virtual machines share four partitions; it
/// gives no rate but the 35 MB/s above which a node counts as overloaded, so a full disk must reach
/// more: 60 MB/s are 46 with four streams.
pub(super) const DISK_MB_S: f64 = 60.0;
/// Of the link into a node: 1 Gbit/s.
pub(super) const NETWORK_MB_S: f64 = 125.0;
/// Of each task: `start_up` of docs/scenario.md, as it is by default.
const START_UP_S: f64 = 1.0;
/// DIOR, against which jobs are classified: the only disk rate that the paper gives.
pub(super) const AVERAGE_DISK_MB_S: f64 = 35.0;
/// Ten requests of all eight types in random order, one after the other: jobs of 5 GB (Sec. 4.1) to
/// 20 GB, so that a request has "nearly 100 GB" (Sec. 4.2.1).
pub(super) fn requests() -> Value {
    json!({ "queue": "all", "input": ["5GB", "20GB"], "count": 10 })
}

/// Ten requests of larger jobs, for worlds that no paper has.
fn large_requests() -> Value {
    json!({ "queue": "all", "input": ["5GB", "100GB"], "count": 10 })
}

/// Table 5: map slots of each worker.
const MAP_SLOTS: u32 = 4;

/// Nodes of one sort.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Nodes {
    pub(super) count: u32,
    pub(super) cores: u32,
    /// Of one core, in units of the reference core.
    pub(super) speed: f64,
    pub(super) disk_mb_s: f64,
    pub(super) network_mb_s: f64,
    /// `None`: not modelled.
    pub(super) memory_gb: Option<u32>,
    /// Which of the hosts with disks theirs lie on; `None`: on all there are.
    pub(super) disk_on: Option<&'static str>,
    /// Map tasks at once.
    pub(super) map_slots: u32,
}

impl Nodes {
    /// A third of the paper's 99 workers.
    pub(super) const fn third(cores: u32) -> Nodes {
        Nodes {
            count: 33,
            cores,
            speed: 1.0,
            disk_mb_s: DISK_MB_S,
            network_mb_s: NETWORK_MB_S,
            memory_gb: None,
            disk_on: None,
            map_slots: MAP_SLOTS,
        }
    }

    /// Whether they are on the host.
    fn is_on(&self, host: &Value) -> bool {
        let other = |name: &str| host["name"].as_str() != Some(name);
        !(self.disk_on.is_some_and(other) && host["disk_bytes_per_s"].is_string())
    }
}

/// A cluster with its workload.
#[derive(Clone, Debug)]
pub(super) struct World {
    /// What groups of runs are called: "Environment 2".
    pub(super) label: &'static str,
    pub(super) nodes: Vec<Nodes>,
    /// `[[mapreduce.host]]`; all nodes are on each, one after the other, but for `disk_on`.
    pub(super) hosts: Vec<Value>,
    /// Keys of `[mapreduce]` that are not as usual.
    pub(super) keys: Vec<(&'static str, Value)>,
    /// What happens to the last of `nodes` later: `[[mapreduce.node.change]]`.
    pub(super) change: Option<Value>,
    /// `[[mapreduce.job]]`.
    pub(super) jobs: Vec<Value>,
    /// `[[mapreduce.request]]`.
    pub(super) requests: Vec<Value>,
    /// Their names.
    pub(super) queues: Vec<String>,
    /// Whether its runs are asked for more than once.
    pub(super) kept: bool,
}

/// Tables 5 to 7. Environments 3 and 4 are Environment 1 with more memory in the workers, and with
/// a larger master: neither is modelled here, so they are the same world. `hosts` has both.
pub(super) fn environments() -> Vec<World> {
    let environment = |(label, cores): (&'static str, [u32; 3])| {
        let nodes = cores.map(Nodes::third).to_vec();
        World { requests: vec![requests()], ..World::new(label, nodes) }
    };
    [("Environment 1, 3, 4", [1, 1, 1]), ("Environment 2", [2, 4, 8])].map(environment).to_vec()
}

/// What all these experiments take for granted.
pub(super) fn assumptions() -> Vec<String> {
    vec![
        "What each job type does per byte is not in the paper; ours is in docs/mapreduce.md. Which \
         verdicts hang on it: \
         jas-study."
            .to_owned(),
        format!(
            "Each worker has a disk of its own with {DISK_MB_S} MB/s for one stream, 10 % less for \
             each further one, and a link \
             of {NETWORK_MB_S} MB/s; blocks are 64 MiB with three replicas. In the paper 99 \
             virtual machines share four \
             partitions. DIOR is {AVERAGE_DISK_MB_S} MB/s, the one disk rate that is printed."
        ),
        "Requests follow one after the other: all eight jobs of one are submitted at once, in \
         random order, the next ones when \
         the last has ended. Sizes are drawn evenly from 5 to 20 GB, 100 GB a request in the mean \
         (Sec. 4.2.1). What JAS has learned stays from one request to the \
         next (Algorithm 6 sets its tables back with each batch; see jas-study)."
            .to_owned(),
        "Environments 3 and 4 differ from 1 in memory and in the master only, which our world does \
         not model: they would \
         give the figures of Environment 1, and are not run again."
            .to_owned(),
    ]
}

/// A rule, as it is run.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    /// What charts call it.
    pub(super) name: &'static str,
    /// Words of `--policy`.
    pub(super) words: &'static str,
    /// In place of the one that the words name.
    instead: Option<&'static Rule>,
}

pub(super) const fn choice(name: &'static str, words: &'static str) -> Choice {
    Choice { name, words, instead: None }
}

pub(super) const HADOOP: Choice = choice("Hadoop", "fifo,placement=hadoop");
pub(super) const DELAY: Choice = choice("delay scheduling", "fifo,placement=delay");
pub(super) const DMR: Choice = choice("DMR", "fifo,placement=dmr");
pub(super) const JAS: Choice = choice("JAS", "fifo,placement=jas");
pub(super) const JASL: Choice = choice("JASL", "fifo,placement=jasl");
pub(super) const DJASL: Choice = choice("DJASL", "fifo,placement=djasl");

/// JAS that takes, within the job whose turn it is, a block of the node where there is one, as
/// Hadoop does: the other reading of "select a task of Job" (Algorithms 4 and 5).
static JAS_NEAR_RULE: Rule = Rule { name: "jas-near", locality: Locality::First, ..*jas_row() };

const fn jas_row() -> &'static Rule {
    // Row 3 is `jas`; a test checks it.
    &RULES[3]
}

pub(super) const JAS_NEAR: Choice = Choice {
    name: "JAS with local blocks first",
    words: "fifo,placement=jas",
    instead: Some(&JAS_NEAR_RULE),
};

impl World {
    pub(super) fn new(label: &'static str, nodes: Vec<Nodes>) -> World {
        World {
            label,
            nodes,
            hosts: Vec::new(),
            keys: Vec::new(),
            change: None,
            jobs: Vec::new(),
            requests: vec![large_requests()],
            queues: vec!["all".to_owned()],
            kept: false,
        }
    }

    /// The scenario in the shape of a user's file.
    fn data(&self) -> Value {
        let name = |number: usize| format!("sort{number}");
        let node = |(number, nodes): (usize, &Nodes)| {
            json!({
                "name": name(number),
                "count": nodes.count,
                "cores": nodes.cores,
                "speed": nodes.speed,
                "disk_bytes_per_s": megabytes(nodes.disk_mb_s),
                "network_bytes_per_s": megabytes(nodes.network_mb_s),
                "map_slots": nodes.map_slots,
                "host": self.hosts.iter().filter(|host| nodes.is_on(host))
                    .map(|host| &host["name"]).collect::<Vec<_>>(),
            })
        };
        let mut nodes: Vec<Value> = self.nodes.iter().enumerate().map(node).collect();
        for (node, given) in nodes.iter_mut().zip(&self.nodes) {
            if let Some(gigabytes) = given.memory_gb {
                node["memory"] = format!("{gigabytes}GB").into();
            }
        }
        if let (Some(change), Some(last)) = (&self.change, nodes.last_mut()) {
            last["change"] = json!([change]);
        }
        let mut mapreduce = json!({
            "average_disk_bytes_per_s": megabytes(AVERAGE_DISK_MB_S),
            "host": self.hosts,
            "node": nodes,
            "job": self.jobs,
            "request": self.requests,
        });
        for (key, value) in &self.keys {
            mapreduce[*key] = value.clone();
        }
        let queue = |name: &String| json!({ "name": name });
        json!({
            "mapreduce": mapreduce,
            "queue": self.queues.iter().map(queue).collect::<Vec<_>>(),
            "queues": { "order": "inherit" },
        })
    }

    /// One run.
    pub(super) fn run(&self, choice: &Choice, seed: u64) -> Result<Run, ReproduceError> {
        run(self.label, &self.data(), choice, seed)
    }

    /// One run with its log, and samples of all nodes.
    pub(super) fn traced(&self, choice: &Choice, seed: u64) -> Result<Traced, ReproduceError> {
        let setup = setup_of(self.label, &self.data(), choice, seed)?;
        let setup = MapReduceSetup { series_points: SAMPLES, ..setup };
        let mut log = Vec::new();
        let record = run_mapreduce(choice.name, setup, Log::to(&mut log), &mut Unwatched)
            .map_err(SimulateError::from)?;
        let lines = log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let log = lines.map(|line| Record::decode(line).expect("the program reads its own log"));
        Ok(Traced { run: Run { record: Arc::new(record) }, log: log.collect() })
    }

    /// The same, made once where it is kept.
    fn run_once(&self, runs: &Runs, choice: &Choice, seed: u64) -> Result<Run, ReproduceError> {
        if !self.kept {
            return self.run(choice, seed);
        }
        let data = self.data();
        let rule = choice.instead.map(|rule| rule.name);
        let key = (data.to_string(), choice.words, rule, seed);
        if let Some(run) = runs.lock().get(&key) {
            return Ok(run.clone());
        }
        // Items that share a run have names of their own for its policy.
        let run = run(self.label, &data, &Choice { name: choice.words, ..*choice }, seed)?;
        runs.lock().insert(key, run.clone());
        Ok(run)
    }
}

fn run(label: &str, data: &Value, choice: &Choice, seed: u64) -> Result<Run, ReproduceError> {
    let setup = setup_of(label, data, choice, seed)?;
    let record = run_mapreduce(choice.name, setup, Log::off(), &mut Unwatched)
        .map_err(SimulateError::from)?;
    Ok(Run { record: Arc::new(record) })
}

fn setup_of(
    label: &str,
    data: &Value,
    choice: &Choice,
    seed: u64,
) -> Result<MapReduceSetup, ReproduceError> {
    let scenario = Scenario::of_data(label, data, Path::new(""), OnBadLine::Stop)?;
    let setup = scenario.mapreduce_setup(choice.words, seed).map_err(SimulateError::from)?;
    let mut setup = setup.expect("these scenarios are of the MapReduce world");
    setup.strict = true;
    if let Some(rule) = choice.instead {
        setup.rule = rule;
    }
    Ok(setup)
}

/// The scenario, the policy, the rule in place of its own, the seed.
type RunKey = (String, &'static str, Option<&'static str>, u64);

/// Runs of worlds that are kept, by what makes them.
#[derive(Clone, Default)]
pub(super) struct Runs(Arc<Mutex<BTreeMap<RunKey, Run>>>);

impl Runs {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<RunKey, Run>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An amount as scenarios write it: `35MB`.
pub(super) fn megabytes(amount: f64) -> String {
    format!("{amount}MB")
}

/// Samples over time of a run that is traced.
const SAMPLES: usize = 240;

/// A run, and all that happened in it.
pub(super) struct Traced {
    pub(super) run: Run,
    pub(super) log: Vec<Record>,
}

/// What came of a run.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) record: Arc<RunRecord>,
}

impl Run {
    pub(super) fn world(&self) -> &MapReduceRecord {
        self.record.mapreduce.as_deref().expect("a run of the MapReduce world")
    }

    /// Mean time of a request, in seconds.
    pub(super) fn request_s(&self) -> f64 {
        self.world().mean_request_s.unwrap_or(f64::NAN)
    }

    /// Of each request.
    pub(super) fn requests_s(&self) -> Vec<f64> {
        let time = |request: &RequestRecord| Some(request.end_s? - request.submit_s?);
        self.world().requests.iter().filter_map(time).collect()
    }

    /// How long its maps would hold their slots if each ran alone on a node of the best that
    /// `world` has, with its block there, in seconds.
    ///
    /// > sum over maps of start-up + read / disk + cpu / speed + written / disk
    ///
    /// With a page cache what is read may lie in memory: then reading takes nothing.
    pub(super) fn map_seconds_alone(&self, world: &World) -> f64 {
        let best =
            |of: fn(&Nodes) -> f64| world.nodes.iter().map(of).fold(f64::MIN_POSITIVE, f64::max);
        let (disk_mb_s, speed) = (best(|nodes| nodes.disk_mb_s), best(|nodes| nodes.speed));
        let cached = world.keys.iter().any(|(key, value)| *key == "page_cache" && value == true);
        let of_job = |job: &MapReduceJobRecord| {
            let kind = KINDS.iter().find(|kind| kind.name == job.kind.as_str());
            let kind = kind.expect("these worlds have the paper's types");
            let read = if cached { 0.0 } else { f64::from(kind.map_read) };
            let moved = (read + f64::from(kind.map_output)) / f64::from(RATIO_ONE) / disk_mb_s;
            let computed = kind.map_cpu_micros_per_mb as f64 / 1e6 / speed;
            job.maps as f64 * START_UP_S + job.input_bytes as f64 / 1e6 * (moved + computed)
        };
        self.world().jobs.iter().map(of_job).sum()
    }

    /// The part of the time of all map slots that these seconds are.
    pub(super) fn slots_needed(&self, world: &World) -> f64 {
        let slots = world.nodes.iter().map(|nodes| nodes.count * nodes.map_slots).sum::<u32>();
        let end = self.world().requests.iter().filter_map(|request| request.end_s);
        self.map_seconds_alone(world) / (f64::from(slots) * end.fold(f64::MIN_POSITIVE, f64::max))
    }

    /// Part of the maps that had their block on their node, in percent.
    pub(super) fn locality(&self) -> f64 {
        100.0 * self.world().locality.unwrap_or(f64::NAN)
    }

    /// By how many percent less time it takes than `other`.
    pub(super) fn better_than(&self, other: &Run) -> f64 {
        100.0 * (1.0 - self.request_s() / other.request_s())
    }
}

/// What `read` sees in the runs of all `choices`, for each world and seed; those of a world follow
/// each other. At most `most` seeds.
pub(super) fn sweep<T: Send>(
    context: &Context,
    most: u64,
    worlds: &[World],
    choices: &[Choice],
    read: impl Fn(&[Run]) -> T + Sync,
) -> Result<Vec<(&'static str, T)>, ReproduceError> {
    let seeds = context.seeds.clamp(1, most);
    let pairs: Vec<(&World, u64)> = worlds
        .iter()
        .flat_map(|world| {
            (0..seeds).map(move |seed| (world, context.first_seed.wrapping_add(seed)))
        })
        .collect();
    cores::map(&pairs, |&(world, seed)| {
        let runs =
            choices.iter().map(|choice| world.run_once(&context.shared.jas.runs, choice, seed));
        Ok((world.label, read(&runs.collect::<Result<Vec<Run>, _>>()?)))
    })
}
