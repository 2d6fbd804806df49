//! Google's trace on 2,000 servers (TPDS'15 Sec. 6.2, 6.3): read once, and each policy run once,
//! for all items.
//!
//! The paper takes 24 h of demand; what a user of Meed has may be less (the slice that our figures
//! are from is 19.65 h), so runs last as long as the trace, at most 24 h: what would have ended
//! later counts as not ended, and a task that still ran when the trace ended is as long as it was
//! known to be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use meed::{NodeSpec, ResourceKinds, Resources, Time, Unit};
use meed_scenario::Scenario;
use meed_sim::record::RunRecord;
use meed_sim::world::{StopAt, WorldSetup};
use meed_sim::{Unwatched, run_one};
use meed_workload::google::{GoogleAssumptions, GoogleSource, GoogleTrace, GoogleUnfinished};
use meed_workload::{Job, JobSource, OnBadLine, Origin, TraceError};
use serde_json::{Value, json};

use crate::cores;
use crate::reproduce::{Context, ReproduceError};

/// Servers of the simulations.
pub(in super::super) const SERVERS: usize = 2000;
/// Samples over time of each run.
const SAMPLES: usize = 120;

pub(in super::super) const BEST_FIT: &str = "drfh";
pub(in super::super) const FIRST_FIT: &str = "drfh,placement=first-fit";
pub(in super::super) const LONG_TERM: &str = "long-term-drf";
/// The paper's best: 14 slots of the largest server.
pub(in super::super) const SLOTS: &str = "slots,slots_per_server=14";

/// What is needed, in words.
pub(in super::super) const NEEDED: &str = "Google's task_events (google2011/task_events*.csv, \
    compressed or not) in the folder of --traces or MEED_TRACES";

/// What items share: the trace, and the runs so far.
#[derive(Clone, Default)]
pub(in crate::reproduce) struct Shared {
    whole: Place,
    known: Place,
}

type Place = Arc<Mutex<Option<Arc<Google>>>>;

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

/// The trace, a cluster for it, and runs.
pub(in super::super) struct Google {
    trace: Arc<GoogleTrace>,
    scenario: Scenario,
    /// When runs end.
    pub(in super::super) end: Time,
    seed: u64,
    /// Tasks that each user submits, in order of queues.
    pub(in super::super) submitted: Vec<u64>,
    runs: Mutex<BTreeMap<String, Arc<RunRecord>>>,
}

impl Google {
    /// The trace of the user's folder, if there is one.
    pub(in super::super) fn of(context: &Context) -> Result<Option<Arc<Google>>, ReproduceError> {
        Google::in_place(context, &context.shared.drfh.whole, GoogleUnfinished::UntilEnd)
    }

    /// The same without the tasks that still ran when the trace ended: how long the others take is
    /// known.
    pub(in super::super) fn known(
        context: &Context,
    ) -> Result<Option<Arc<Google>>, ReproduceError> {
        Google::in_place(context, &context.shared.drfh.known, GoogleUnfinished::Drop)
    }

    fn in_place(
        context: &Context,
        place: &Place,
        unfinished: GoogleUnfinished,
    ) -> Result<Option<Arc<Google>>, ReproduceError> {
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(google) = &*place {
            return Ok(Some(Arc::clone(google)));
        }
        let Some(path) = context.traces.as_deref().and_then(find) else { return Ok(None) };
        let google = Arc::new(Google::read(&path, context.first_seed, unfinished)?);
        Ok(Some(Arc::clone(place.insert(google))))
    }

    fn read(
        path: &Path,
        seed: u64,
        unfinished: GoogleUnfinished,
    ) -> Result<Google, ReproduceError> {
        let kinds = vec![("cpu".to_owned(), Unit::Milli), ("memory".to_owned(), Unit::Milli)];
        let kinds = ResourceKinds::new(kinds)?;
        let assumptions = GoogleAssumptions { unfinished, ..GoogleAssumptions::default() };
        let trace = Arc::new(GoogleTrace::read(
            &Origin::path(path),
            &kinds,
            &assumptions,
            OnBadLine::Skip,
        )?);
        let mut source = GoogleSource::new(Arc::clone(&trace));
        let data = data(source.queues(), seed);
        let mut submitted = vec![0; source.queues().len()];
        while let Some(job) = source.next_job()? {
            submitted[job.queue as usize] +=
                job.groups.iter().map(|group| u64::from(group.count)).sum::<u64>();
        }
        let end = trace.end().min(Time::from_micros(24 * 3_600_000_000).unwrap_or(Time::MAX));
        let scenario = Scenario::of_data("Google's trace", &data, Path::new(""), OnBadLine::Skip)?;
        Ok(Google { trace, scenario, end, seed, submitted, runs: Mutex::default() })
    }

    fn setup(
        &self,
        words: &str,
        source: Box<dyn JobSource + Send>,
    ) -> Result<WorldSetup<'static>, ReproduceError> {
        let setup = meed_sim::setup_with(&self.scenario, words, self.seed, source)?;
        Ok(WorldSetup { stop: StopAt { at: self.end, hold: true }, ..setup })
    }

    fn run_now(&self, words: &str) -> Result<Arc<RunRecord>, ReproduceError> {
        let source = Box::new(GoogleSource::new(Arc::clone(&self.trace)));
        let setup =
            WorldSetup { series_points: SAMPLES, keep_jobs: true, ..self.setup(words, source)? };
        Ok(Arc::new(run_one(words, setup, &mut Unwatched)?))
    }

    /// The runs under these policies: those that were not made yet are made, on all cores.
    pub(in super::super) fn runs<const N: usize>(
        &self,
        policies: [&str; N],
    ) -> Result<[Arc<RunRecord>; N], ReproduceError> {
        let known = |words: &str| {
            let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            runs.get(words).map(Arc::clone)
        };
        let missing: Vec<&str> =
            policies.iter().copied().filter(|words| known(words).is_none()).collect();
        let made = cores::map(&missing, |words| self.run_now(words))?;
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        for (words, run) in missing.into_iter().zip(made) {
            runs.insert(words.to_owned(), run);
        }
        Ok(policies.map(|words| Arc::clone(&runs[words])))
    }

    /// As [`Google::runs`] under slots, so many of the largest server, without the tasks that are
    /// larger than a slot; and the part of all tasks that this leaves out.
    pub(in super::super) fn one_slot_each<const N: usize>(
        &self,
        per_largest: [u32; N],
    ) -> Result<[(Arc<RunRecord>, f64); N], ReproduceError> {
        let largest = self.largest()?;
        let made = cores::map(&per_largest, |&per_largest| {
            let words = format!("slots,slots_per_server={per_largest}");
            let within = || WithinSlot { tasks: self.source(), largest, per_largest };
            let setup =
                WorldSetup { series_points: SAMPLES, ..self.setup(&words, Box::new(within()))? };
            let (mut kept, mut tasks) = (0, within());
            while let Some(job) = tasks.next_job()? {
                kept += job.tasks();
            }
            let all = self.submitted.iter().sum::<u64>().max(1);
            let run = Arc::new(run_one(&words, setup, &mut Unwatched)?);
            Ok::<_, ReproduceError>((run, 1.0 - kept as f64 / all as f64))
        })?;
        Ok(made.try_into().unwrap_or_else(|_| unreachable!("as many as were asked for")))
    }

    /// The most of each kind that a server has.
    fn largest(&self) -> Result<Resources, ReproduceError> {
        let mut largest = Resources::zero(2);
        for node in self.nodes()? {
            let most = largest.as_mut_slice().iter_mut().zip(node.capacity.as_slice());
            most.for_each(|(most, &amount)| *most = amount.max(*most));
        }
        Ok(largest)
    }

    /// Hours that runs last.
    pub(in super::super) fn hours(&self) -> f64 {
        self.end.as_secs_f64() / 3600.0
    }

    /// The servers.
    pub(in super::super) fn nodes(&self) -> Result<Vec<NodeSpec>, ReproduceError> {
        let source = Box::new(GoogleSource::new(Arc::clone(&self.trace)));
        Ok(self.setup(BEST_FIT, source)?.config.nodes)
    }

    /// The trace from its beginning.
    pub(in super::super) fn source(&self) -> GoogleSource {
        GoogleSource::new(Arc::clone(&self.trace))
    }

    /// `source` under best-fit DRFH on these servers, for user `user` alone.
    pub(in super::super) fn alone(
        &self,
        user: usize,
        nodes: Vec<NodeSpec>,
        source: Box<dyn JobSource + Send>,
    ) -> Result<RunRecord, ReproduceError> {
        let mut setup = self.setup(BEST_FIT, source)?;
        setup.config.queues = setup.config.queues.into_iter().skip(user).take(1).collect();
        setup.config.nodes = nodes;
        Ok(run_one("dedicated cloud", setup, &mut Unwatched)?)
    }

    /// What all items on the trace take for granted.
    pub(in super::super) fn assumptions(&self) -> Vec<String> {
        vec![
            format!(
                "{SERVERS} servers drawn from Table 1 with seed {}: --seed gives another draw",
                self.seed
            ),
            format!(
                "runs last {:.2} h, as the trace does, at most the paper's 24 h; the paper's 24 h \
                 are not named, so it may \
                 be another day. A task that still ran at the trace's end takes as long as was \
                 known; of those that \
                 were evicted or failed the last run counts",
                self.hours()
            ),
            "every user has weight 1; nothing is preempted; priorities are not read".to_owned(),
        ]
    }
}

/// The trace without tasks that one slot does not hold.
struct WithinSlot {
    tasks: GoogleSource,
    /// The most of each kind that a server has.
    largest: Resources,
    /// Slots of a server that has all of it.
    per_largest: u32,
}

impl WithinSlot {
    fn holds(&self, demand: &Resources) -> bool {
        let mut pairs = demand.as_slice().iter().zip(self.largest.as_slice());
        pairs.all(|(&demand, &largest)| {
            u128::from(demand) * u128::from(self.per_largest) <= u128::from(largest)
        })
    }
}

impl JobSource for WithinSlot {
    fn queues(&self) -> &[String] {
        self.tasks.queues()
    }

    fn next_job(&mut self) -> Result<Option<Job>, TraceError> {
        while let Some(mut job) = self.tasks.next_job()? {
            job.groups.retain(|group| self.holds(&group.demand));
            if !job.groups.is_empty() {
                return Ok(Some(job));
            }
        }
        Ok(None)
    }
}

/// task_events in `google2011` below `folder`, or in it; the first by name.
fn find(folder: &Path) -> Option<PathBuf> {
    let in_folder = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).ok()?;
        let is_it = |path: &PathBuf| {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            name.starts_with("task_events") && name.contains(".csv") && path.is_file()
        };
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(is_it).min()
    };
    in_folder(folder.join("google2011")).or_else(|| in_folder(folder.to_owned()))
}

fn data(queues: &[String], seed: u64) -> Value {
    let name = queues.first().map_or("", String::as_str);
    // A scenario has jobs; ours come from the trace instead.
    let job = json!({ "queue": name, "duration": 1, "demand": { "cpu": 1, "memory": 1 } });
    json!({
        "cluster": {
            "resources": ["cpu", { "name": "memory", "unit": "milli" }],
            "machines": { "mix": "google", "count": SERVERS, "seed": seed },
        },
        "queue": queues.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
        "queues": { "order": "inherit" },
        "job": [job],
    })
}
