//! Scenario files: cluster, queue tree, policies and workload in one TOML file (docs/scenario.md).
//!
//! Reading is strict: an unknown key, an impossible value or a contradiction is an error that names
//! file, line, key and what would be right. A [`Scenario`] that could be read can be run, but for
//! what only the trace itself shows.

mod assumed;
mod changes;
mod cluster;
mod contributions;
mod counting;
mod delays;
mod error;
mod first_look;
mod generators;
pub(crate) mod given;
mod infeasible;
mod jobs;
mod machines;
mod mapreduce;
mod minimums;
mod of_data;
pub(crate) mod of_log;
pub(crate) mod of_logged;
mod of_trace;
mod policy;
mod possible;
mod queues;
mod raw;
mod read;
mod reader;
mod reading;
mod set;
mod setting;
mod trace;
mod trace_keys;
mod window;
mod workloads;

use given::GivenJobs;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use meed::{Config, ConfigError, Infeasible, NodeSpec, ResourceKinds, Resources, Span, Time};
pub use meed_config::TextError as ScenarioError;
use meed_config::nodes::NodeForm;
use meed_config::policy::{InToml, PolicySpec, SpecError};
pub use meed_config::policy::{SLOTS, STATIC};
use meed_config::quantity::amounts as amounts_of;
use meed_config::queues::{Names, QueuePlan};
use meed_config::words::did_you_mean;
use meed_config::{Place, Spanned, tree};
use meed_driver::StopAt;
use meed_mapreduce::classes::Rule;
use meed_workload::format::TraceFormat;
use meed_workload::generate::{Arrivals, GeneratorSpec, Limit};
use meed_workload::macro_workload::MacroSpec;
use meed_workload::outliers::Outliers;
use meed_workload::size::Footprints;
use meed_workload::stretch::Load;

use crate::changes::{Change, TimedChange};
use crate::grants::Delays;
use crate::plan::{NewPlacement, Plan};
use crate::plans::Timetable;
use crate::slots::SlotCut;
use counting::CountingPlan;
pub use error::LoadError;
use jobs::InlineJobs;
pub use mapreduce::ScenarioWorld;
pub use policy::{DEFAULT_POLICIES, MOST_SPLIT};
use raw::RawScenario;
pub use reading::TraceReading;
pub use setting::Setting;
use trace::TracePlan;

/// A scenario, checked.
///
/// ```
/// use std::path::Path;
/// use meed_scenario::{Scenario, Setting};
/// use meed_workload::OnBadLine;
///
/// let text = r#"
/// [cluster]
/// resources = ["cpu"]
/// node = [{ capacity = { cpu = 2 } }]
/// [[queue]]
/// name = "ads"
/// [[job]]
/// queue = "ads"
/// duration = "10s"
/// demand = { cpu = 1 }
/// "#;
/// let read = |set: &[Setting]| {
///     Scenario::parse("s.toml", text, Path::new("."), set, OnBadLine::Stop)
/// };
/// let scenario = read(&[])?;
/// assert_eq!(scenario.queue_names().collect::<Vec<_>>(), ["ads"]);
/// assert_eq!(scenario.capacity().get(0), 2000); // thousandths of a core
/// assert!(scenario.source(1, OnBadLine::Stop)?.next_job()?.is_some());
/// assert!(read(&[Setting::parse("run.lod=2")?]).is_err()); // no such key
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scenario {
    /// The file it was read from.
    pub file: String,
    /// Seed of all random choices, unless another is asked for.
    pub seed: u64,
    /// What was taken for granted; worth a line to the user.
    pub warnings: Vec<String>,
    /// What is known, or assumed, of its cluster: the first assumptions.
    cluster_notes: Vec<String>,
    /// Nobody said how large the cluster is.
    assumes_size: bool,
    /// Of the trace that it was made of, where no scenario file names one.
    format: Option<TraceFormat>,
    text: String,
    kinds: ResourceKinds,
    measured: usize,
    nodes: Vec<NodeSpec>,
    queues: Vec<QueuePlan>,
    base: PolicySpec,
    named: BTreeMap<String, PolicySpec>,
    jobs: InlineJobs,
    generators: Vec<GeneratorSpec>,
    workloads: Vec<MacroSpec>,
    trace: Option<TracePlan>,
    /// Rows of the trace that are left out; `None`: nobody looked for them.
    outliers: Option<Arc<Outliers>>,
    /// What the trace's jobs held and when, while it is being read.
    ran: Option<Footprints>,
    /// Jobs that a program hands over, instead of a trace.
    given: Option<Arc<dyn GivenJobs>>,
    /// Files that it reads besides its own.
    inputs: Vec<PathBuf>,
    /// Queues of the trace or of what is given, known from the first opening.
    trace_queues: Vec<String>,
    changes: Vec<TimedChange>,
    /// Who contributes what when, where tenants contribute the nodes.
    timetable: Option<Arc<Timetable>>,
    stop: StopAt,
    load: Load,
    /// What of a run is left out of figures.
    counting: CountingPlan,
    /// Tasks are stopped at their time limits.
    enforce_limit: bool,
    fail_per_million: u32,
    max_attempts: u16,
    checkpoint: Option<Span>,
    delays: Delays,
    /// What becomes of tasks that no node could hold.
    infeasible: Infeasible,
    /// The world in which it runs.
    world: ScenarioWorld,
}

/// Attempts of a task before its job fails, as Hadoop has it.
const DEFAULT_ATTEMPTS: u16 = 4;

impl Scenario {
    /// What `key` of a change names here: the same for all ways to write it.
    pub fn path_of(&self, key: &str) -> Vec<String> {
        set::path_of(&self.text, key)
    }

    /// Queues that only a change names are the trace's, or above such.
    fn check_added(&self, added: &[(String, String)]) -> Result<(), ScenarioError> {
        if added.is_empty() {
            return Ok(());
        }
        let new: BTreeSet<&str> = added.iter().map(|(name, _)| name.as_str()).collect();
        let declared = self.queues.iter().map(|queue| queue.name.as_str());
        let known: BTreeSet<&str> = declared
            .filter(|name| !new.contains(name))
            .chain(self.trace_queues.iter().map(String::as_str))
            .collect();
        let is_used = |name: &str| {
            let below = format!("{name}.");
            let next = known.range(below.as_str()..).next();
            known.contains(name) || next.is_some_and(|next| next.starts_with(&below))
        };
        match added.iter().find(|(name, _)| !is_used(name)) {
            None => Ok(()),
            Some((name, set)) => {
                let near = meed_config::words::suggest(name, known.iter().copied());
                Err(setting::of_set(set, format!("there is no queue `{name}`; {near}")))
            }
        }
    }

    /// Queues that only a change names stand where they stand without it: where the file, or else
    /// the trace, first names them.
    fn place_added(&mut self, declared: &[Spanned<raw::Queue>], added: &[(String, String)]) {
        if added.is_empty() {
            return;
        }
        let new: BTreeSet<&str> = added.iter().map(|(name, _)| name.as_str()).collect();
        let declared = declared.iter().map(|entry| entry.get_ref().name.as_str());
        let names = declared.filter(|name| !new.contains(name));
        let names = names.chain(self.trace_queues.iter().map(String::as_str));
        queues::in_order(&mut self.queues, names);
    }

    /// What `raw` says, which `text` says as well; `added` are queues that only changes name, and
    /// `given` are jobs that no text says.
    fn of_raw(
        file: &str,
        raw: RawScenario,
        text: String,
        added: &[(String, String)],
        given: Option<Arc<dyn GivenJobs>>,
        folder: &Path,
        reading: &TraceReading,
    ) -> Result<Scenario, LoadError> {
        let place = Place { file, text: &text };
        let kinds = cluster::kinds(&raw.cluster, &place)?;
        let (machines, on_bad_line) = (raw.cluster.machines.as_ref(), reading.on_bad_line());
        let machines = machines::read(machines, folder, &kinds, &place, on_bad_line)?;
        let mut nodes = cluster::nodes(&raw.cluster, &machines.nodes, &kinds, &place)?;
        let timetable = contributions::read(&raw, folder, &kinds, &place)?;
        nodes.extend(timetable.iter().flat_map(|table| table.nodes()));
        let mut warnings = machines::remarks(&machines);
        let queues = queues::queues(&raw.queue, &kinds, &place, &mut warnings)?;
        let measured = measured(&raw.fairness, &kinds, &place)?;
        let (stop, load, fail_per_million) = run_options(&raw.run, &place)?;
        let folder_of_trace =
            |entry: &Spanned<raw::Trace>| TracePlan::read(entry.get_ref(), folder, &kinds, reading);
        let trace = match &raw.trace {
            Some(entry) => Some(cluster::at(&place, entry, folder_of_trace(entry))?),
            None => None,
        };
        let mut later = machines::changes(&machines);
        later.extend(timetable.iter().flat_map(|table| table.node_changes()));
        let mut scenario = Scenario {
            file: file.to_owned(),
            seed: raw.run.seed.unwrap_or(0),
            warnings,
            cluster_notes: machines.told.clone(),
            assumes_size: false,
            format: None,
            measured,
            queues,
            base: raw.policy.0.clone(),
            named: named(&raw.policies),
            jobs: InlineJobs::read(&raw.job, load, &kinds, &place)?,
            generators: generators::read(&raw.generator, &kinds, &place)?,
            workloads: workloads::read(&raw.workload, &kinds, folder, &place)?,
            trace,
            outliers: None,
            ran: None,
            given,
            trace_queues: Vec::new(),
            inputs: inputs(&raw, folder),
            changes: changes::read(&raw.change, later, &kinds, &place)?,
            timetable,
            stop,
            load,
            counting: CountingPlan::read(&raw.run, &place)?,
            enforce_limit: raw.run.enforce_limit,
            fail_per_million,
            max_attempts: raw.run.max_attempts.unwrap_or(DEFAULT_ATTEMPTS),
            checkpoint: checkpoint_of(&raw.run, &place)?,
            delays: delays::read(&raw.run, &kinds, &place)?,
            infeasible: infeasible::read(&raw.run, &place)?,
            world: ScenarioWorld::Cluster,
            nodes,
            kinds,
            text: String::new(),
        };
        scenario.check_workload(&raw, &place)?;
        scenario.end_generators();
        scenario.check_possible(&raw, &place)?;
        scenario.keep_to_partitions(&machines)?;
        scenario.open_trace(on_bad_line)?;
        scenario.open_given()?;
        scenario.find_last(&raw.run, &place)?;
        scenario.check_added(added)?;
        scenario.place_added(&raw.queue, added);
        let (all, given) = (&mut scenario.queues, raw.queues.as_ref());
        queues::with_defaults(all, given, &raw.queue, &scenario.kinds, &place)?;
        meed_config::queues::settle_orders(all, |_| true);
        scenario.follow_contributions(&raw, &place)?;
        scenario.check_names(&raw, &place)?;
        scenario.check_policies(&raw.queue, raw.cluster.node.first(), &place)?;
        scenario.text = text;
        Ok(scenario)
    }

    /// Nothing is asked for that can never be.
    fn check_possible(
        &mut self,
        raw: &RawScenario,
        place: &Place<'_>,
    ) -> Result<(), ScenarioError> {
        let mut most = self.capacity();
        let joins = self.changes.iter().filter_map(|timed| self.joins(timed));
        joins.for_each(|capacity| most.add(capacity));
        let entries = raw.queue.iter().map(|entry| (entry.get_ref().name.as_str(), entry));
        let entries: BTreeMap<_, _> = entries.collect();
        for queue in &self.queues {
            let span = entries.get(queue.name.as_str()).map_or(0..0, |entry| entry.span());
            possible::minimum(&queue.name, queue.min.as_ref(), &most, &self.kinds)
                .map_err(|what| place.error(span, what))?;
        }
        for entry in &raw.change {
            let Some((name, min)) = changes::minimum(entry.get_ref(), &self.kinds) else {
                continue;
            };
            possible::minimum(name, Some(&min), &most, &self.kinds)
                .map_err(|what| place.error(entry.span(), what))?;
        }
        let minimums = self.queues.iter().map(|queue| (queue.name.as_str(), queue.min.as_ref()));
        self.warnings.extend(possible::sums(minimums, &most, &self.kinds));
        let allowed = raw.run.most_jobs.unwrap_or(possible::MOST_JOBS);
        for (entry, spec) in raw.generator.iter().zip(&self.generators) {
            possible::jobs(spec, allowed).map_err(|what| place.error(entry.span(), what))?;
            let remark = |what: String| format!("generator `{}`: {what}", spec.stream);
            self.warnings.extend(spec.cuts().into_iter().map(remark));
        }
        Ok(())
    }

    /// There is something to run and something to run it on, and every task fits some node.
    fn check_workload(&self, raw: &RawScenario, place: &Place<'_>) -> Result<(), ScenarioError> {
        if self.jobs.is_empty() && self.is_only_inline() {
            return Err(
                place.whole("has no jobs; add [[job]], [[generator]], [[workload]] or [trace]")
            );
        }
        if self.nodes.is_empty() && !self.changes.iter().any(|change| self.joins(change).is_some())
        {
            return Err(place
                .whole("has no nodes; add [[cluster.node]] with count and capacity, or machines"));
        }
        for (entry, spec) in raw.generator.iter().zip(&self.generators) {
            if spec.limit == Limit::default()
                && self.stop == StopAt::END
                && !matches!(spec.arrivals, Arrivals::At(_))
            {
                let what = format!(
                    "generator `{}` never ends; give it `jobs` or `until`, or the run an end with \
                     [run] until",
                    spec.stream
                );
                return Err(place.error(entry.span(), what));
            }
            for stage in &spec.stages {
                cluster::at(place, entry, self.fits(&stage.demand))?;
            }
        }
        for (entry, spec) in raw.workload.iter().zip(&self.workloads) {
            cluster::at(place, entry, self.fits(&spec.demand))?;
        }
        let fits = |demand| self.fits(demand).map_err(|what| place.whole(what));
        let mut seen = BTreeSet::new();
        for (queue, demand) in self.jobs.demands() {
            if seen.insert(*demand) {
                fits(demand).map_err(|error| ScenarioError {
                    line: first_line_of_queue(raw, queue, demand, &self.kinds, place),
                    what: format!("queue `{queue}`: {}", error.what),
                    ..error
                })?;
            }
        }
        Ok(())
    }

    /// Whether jobs come from `[[job]]` only, if at all.
    fn is_only_inline(&self) -> bool {
        let no_source = self.trace.is_none() && self.given.is_none();
        no_source && self.generators.is_empty() && self.workloads.is_empty()
    }

    /// Generators make no jobs for after the run's end: what they make has an end of its own.
    fn end_generators(&mut self) {
        let end = self.stop.at.saturating_add(Span::from_micros(1).unwrap_or(Span::ZERO));
        // Open arrivals are stretched afterwards.
        let origin = self.load.origin(end);
        for spec in self.generators.iter_mut().filter(|_| self.stop != StopAt::END) {
            let end = if is_closed(spec) { end } else { origin };
            spec.limit.until = Some(spec.limit.until.map_or(end, |until| until.min(end)));
        }
    }

    /// Every job goes to a leaf, and changes name what there is. Queues of the trace are known by
    /// now.
    fn check_names(&self, raw: &RawScenario, place: &Place<'_>) -> Result<(), ScenarioError> {
        let names = Names::of(&self.queues);
        for entry in &raw.job {
            cluster::at(place, entry, names.check_leaf(&entry.get_ref().queue))?;
        }
        for (entry, spec) in raw.generator.iter().zip(&self.generators) {
            cluster::at(place, entry, names.check_leaf(&spec.queue))?;
        }
        for (entry, spec) in raw.workload.iter().zip(&self.workloads) {
            cluster::at(place, entry, names.check_leaf(&spec.queue))?;
        }
        for name in &self.trace_queues {
            names.check_leaf(name).map_err(|why| place.whole(format!("the trace: {why}")))?;
        }
        let labels = self
            .is_only_inline()
            .then(|| self.jobs.labels().map(|label| label.to_string()).collect());
        changes::check(&self.changes, &self.nodes, &self.queues, labels.as_ref())
            .map_err(|what| place.whole(what))
    }

    fn joins<'a>(&self, change: &'a TimedChange) -> Option<&'a Resources> {
        match &change.change {
            Change::NodeJoins(spec) => Some(&spec.capacity),
            Change::NodeResized(_, capacity) => Some(capacity),
            _ => None,
        }
    }

    fn fits(&self, demand: &Resources) -> Result<(), String> {
        let there = self.nodes.iter().map(|node| &node.capacity);
        let later = self.changes.iter().filter_map(|change| self.joins(change));
        cluster::fits_some(demand, &mut there.chain(later), &self.kinds)
    }

    /// Every policy that the file names can be resolved, and the tree it makes is sound.
    fn check_policies(
        &self,
        queues: &[Spanned<raw::Queue>],
        node: Option<&Spanned<NodeForm>>,
        place: &Place<'_>,
    ) -> Result<(), ScenarioError> {
        for keys in std::iter::once(&self.base).chain(self.named.values()) {
            let at = |why: SpecError| place.spec(&why);
            if let Some(why) = keys.contradiction() {
                return Err(at(why));
            }
            let keys = keys.over(&self.base);
            let (config, _) = self.config(&keys, place, &at)?;
            let ((placement, _), kinds) = (self.place(&keys, place, &at)?, config.kinds.len());
            meed::Engine::new(config, placement(kinds, 0)).map_err(|why| ScenarioError {
                line: line_of(&why, queues, node, place),
                ..place.whole(why.to_string())
            })?;
        }
        Ok(())
    }

    /// How tasks are placed: by a placement, or in the MapReduce world, which asks none, by a rule.
    fn place(
        &self,
        keys: &PolicySpec,
        place: &Place<'_>,
        at: &dyn Fn(SpecError) -> ScenarioError,
    ) -> Result<(NewPlacement, Option<&'static Rule>), ScenarioError> {
        let world = match &self.world {
            ScenarioWorld::Cluster => return Ok((policy::placement(keys).map_err(at)?.new, None)),
            ScenarioWorld::MapReduce(world) => world,
        };
        let rule = policy::rule(keys).map_err(at)?;
        world.check_rule(rule).map_err(|why| place.whole(why.to_string()))?;
        Ok((|_, _| Box::new(meed::place::Unasked), Some(rule)))
    }

    fn config(
        &self,
        keys: &PolicySpec,
        place: &Place<'_>,
        at: &dyn Fn(SpecError) -> ScenarioError,
    ) -> Result<(Config, Option<SlotCut>), ScenarioError> {
        let (root, queues) =
            meed_config::queues::resolve(&self.queues, keys, &self.kinds).map_err(at)?;
        let config = Config {
            kinds: self.kinds.clone(),
            measured: self.measured,
            root,
            queues,
            nodes: self.nodes.clone(),
        };
        let slots = keys.slots();
        if let ScenarioWorld::MapReduce(_) = &self.world {
            mapreduce::check_order(&config, slots.is_some(), place)?;
        }
        match slots {
            None => Ok((config, None)),
            Some(per_largest) => {
                let cut = SlotCut::cut(config, per_largest).map_err(|why| place.whole(why))?;
                Ok((cut.0, Some(cut.1)))
            }
        }
    }

    /// What `--policy WORDS` means here.
    pub fn plan(&self, words: &str) -> Result<Plan, ScenarioError> {
        let choice = self.choose(words)?;
        let place = Place { file: &self.file, text: &self.text };
        // Keys of the command line stand in no file.
        let at = |why: SpecError| match (why.span(), words.contains(',')) {
            (None, true) => policy::outside(words, why.to_string()),
            _ => place.spec(&why),
        };
        let outside = |error: ScenarioError| match (error.line, words.contains(',')) {
            (None, true) => policy::outside(words, error.what),
            _ => error,
        };
        let (config, slots) = self.config(&choice.keys, &place, &at).map_err(outside)?;
        let reads_minimums = slots.is_none() && !choice.partitioned;
        minimums::check(&config, &self.changes, reads_minimums)
            .map_err(|why| outside(place.whole(format!("under `{words}`: {why}"))))?;
        let (placement, rule) = self.place(&choice.keys, &place, &at).map_err(outside)?;
        if choice.partitioned && rule.is_some() {
            let what = "the static partition means nothing in the MapReduce world: a share of it \
                has no disks";
            return Err(policy::outside(words, what));
        }
        let placement_name = match rule {
            Some(rule) => rule.name,
            None => policy::placement(&choice.keys).map_err(at)?.name,
        };
        let placement_name = placement_name.to_owned();
        let (partitioned, pays) = (choice.partitioned, choice.pays);
        Ok(Plan { config, partitioned, placement, placement_name, slots, rule, pays })
    }

    /// The cluster's resource kinds.
    pub fn kinds(&self) -> &ResourceKinds {
        &self.kinds
    }

    /// Whether `--policy WORDS` means something here: the error that running it would give.
    pub fn check_policy(&self, words: &str) -> Result<(), ScenarioError> {
        let plan = self.plan(words)?;
        let place = Place { file: &format!("--policy {words}"), text: "" };
        let kinds = plan.config.kinds.len();
        let engine = meed::Engine::new(plan.config, (plan.placement)(kinds, 0));
        engine.map(|_| ()).map_err(|why| place.whole(why.to_string()))
    }

    /// The policy of the root under `words`, with what the scenario says of it; none for a policy
    /// that there is not.
    pub fn root_policy(&self, words: &str) -> Option<meed::Policy> {
        self.plan(words).ok().map(|plan| plan.config.root)
    }

    /// Whether its trace is a table of jobs, of which much may be guessed.
    pub fn has_table(&self) -> bool {
        self.trace.as_ref().is_some_and(TracePlan::is_table)
    }

    /// Files that it reads besides its own: the trace, machines, submission times.
    pub fn input_files(&self) -> &[PathBuf] {
        &self.inputs
    }

    /// The same of the scenario file at `path`, unread otherwise; none where it is no scenario.
    pub fn files_named_in(path: &Path) -> Vec<PathBuf> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new(""));
        tree::read(&text).map_or_else(|_| Vec::new(), |raw| inputs(&raw, folder))
    }

    /// Whether another seed gives another run.
    pub fn is_random(&self) -> bool {
        let draws = match &self.world {
            ScenarioWorld::Cluster => self.fail_per_million > 0,
            // Where blocks lie is drawn.
            ScenarioWorld::MapReduce(_) => true,
        };
        draws || !self.generators.is_empty()
    }

    /// Names of all queues, parents included, in the order of the tree.
    pub fn queue_names(&self) -> impl Iterator<Item = &str> {
        self.queues.iter().map(|queue| queue.name.as_str())
    }

    /// How many queues there are, parents included.
    pub fn queue_count(&self) -> usize {
        self.queues.len()
    }

    /// How many tenants there are: queues without others below them.
    pub fn tenant_count(&self) -> usize {
        let parent = |name: &'_ str| name.rsplit_once('.').map(|(parent, _)| parent.to_owned());
        let parents: BTreeSet<String> = self.queue_names().filter_map(parent).collect();
        self.queue_names().filter(|name| !parents.contains(*name)).count()
    }

    /// How fast jobs come, against how the workload has it (`run.load`).
    pub fn load_factor(&self) -> Load {
        self.load
    }

    /// Capacity of all nodes at the start.
    pub fn capacity(&self) -> Resources {
        let mut total = Resources::zero(self.kinds.len());
        self.nodes.iter().for_each(|node| total.add(&node.capacity));
        total
    }

    /// The effective text: the file with all `--set` changes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Changes of cluster and tree, in order of time.
    pub fn changes(&self) -> Vec<TimedChange> {
        self.changes.clone()
    }

    /// When its runs end, where that is not when everything has ended.
    pub fn until(&self) -> Option<Time> {
        (self.stop != StopAt::END).then_some(self.stop.at)
    }

    /// When its runs end.
    pub fn stop(&self) -> StopAt {
        self.stop
    }

    /// Tasks that fail by chance, of a million; and attempts of a task before its job fails.
    pub fn failures(&self) -> (u32, u16) {
        (self.fail_per_million, self.max_attempts)
    }

    /// How often tasks save what they have done, where they do not say it themselves.
    pub fn checkpoint(&self) -> Option<Span> {
        self.checkpoint
    }

    /// What delays grants.
    pub fn delays(&self) -> Delays {
        self.delays
    }

    /// What becomes of tasks that no node could hold.
    pub fn infeasible(&self) -> Infeasible {
        self.infeasible
    }
}

/// `run.checkpoint`.
fn checkpoint_of(run: &raw::Run, place: &Place<'_>) -> Result<Option<Span>, ScenarioError> {
    let Some(given) = &run.checkpoint else { return Ok(None) };
    jobs::checkpoint(Some(given.get_ref())).map_err(|why| place.error(given.span(), why))
}

/// `[policies]`, by their names.
fn named(policies: &BTreeMap<String, InToml>) -> BTreeMap<String, PolicySpec> {
    policies.iter().map(|(name, keys)| (name.clone(), keys.0.clone())).collect()
}

/// Files that a scenario in `folder` names.
fn inputs(raw: &RawScenario, folder: &Path) -> Vec<PathBuf> {
    let trace = raw.trace.iter().map(|trace| &trace.get_ref().file);
    let machines =
        raw.cluster.machines.iter().filter_map(|machines| machines.get_ref().file.as_ref());
    let submissions =
        raw.workload.iter().filter_map(|workload| workload.get_ref().submissions.as_ref());
    let prices = raw.contribution.iter().filter_map(|one| match &one.get_ref().price {
        Some(raw::Price::File(prices)) => Some(&prices.file),
        _ => None,
    });
    let applications = raw.trace.iter().filter_map(|trace| trace.get_ref().applications.as_ref());
    let all = trace.chain(applications).chain(machines).chain(submissions).chain(prices);
    all.map(|file| folder.join(file)).collect()
}

fn is_closed(spec: &GeneratorSpec) -> bool {
    matches!(spec.arrivals, Arrivals::Closed { .. })
}

fn measured(
    raw: &raw::Fairness,
    kinds: &ResourceKinds,
    place: &Place<'_>,
) -> Result<usize, ScenarioError> {
    let Some(resource) = &raw.resource else { return Ok(0) };
    kinds.find(resource.get_ref()).ok_or_else(|| {
        let near = did_you_mean(resource.get_ref(), kinds.names()).unwrap_or_default();
        place.error(resource.span(), format!("fairness is measured in an unknown resource; {near}"))
    })
}

fn run_options(run: &raw::Run, place: &Place<'_>) -> Result<(StopAt, Load, u32), ScenarioError> {
    let stop = match &run.until {
        None => StopAt::END,
        Some(until) => {
            let span = jobs::span("until", until.get_ref())
                .map_err(|what| place.error(until.span(), what))?;
            if span == Span::ZERO {
                return Err(place.error(until.span(), "until must be above zero"));
            }
            StopAt { at: Time::ZERO.saturating_add(span), hold: true }
        }
    };
    let load = match &run.load {
        None => Load::ONE,
        Some(load) => {
            // As a cast saturates, what is too large, negative or no number is refused as well.
            let thousandths = (load.get_ref() * 1000.0).round() as u32;
            Load::from_thousandths(thousandths).ok_or_else(|| {
                let what = format!(
                    "load is {}; it must be 0.001 to 1000, 1 for the workload as it is",
                    load.get_ref()
                );
                place.error(load.span(), what)
            })?
        }
    };
    let fails = match &run.fail_rate {
        None => 0,
        Some(rate) if (0.0..1.0).contains(rate.get_ref()) => {
            // Below one even when rounded: a task that always fails would be tried for ever.
            ((rate.get_ref() * 1e6).round() as u32).min(999_999)
        }
        Some(rate) => {
            return Err(place.error(rate.span(), "fail_rate is a chance: 0 or more, below 1"));
        }
    };
    Ok((stop, load, fails))
}

/// Where what the engine refuses stands in the file.
fn line_of(
    why: &ConfigError,
    queues: &[Spanned<raw::Queue>],
    node: Option<&Spanned<NodeForm>>,
    place: &Place<'_>,
) -> Option<usize> {
    let span = match why {
        ConfigError::DuplicateQueue { queue }
        | ConfigError::QueueName { queue }
        | ConfigError::ParentIsLeaf { queue, .. }
        | ConfigError::Weight { queue }
        | ConfigError::MinAboveMax { queue, .. }
        | ConfigError::ChildrenMinimum { queue, .. }
        | ConfigError::Policy { queue, .. } => {
            queues.iter().find(|entry| entry.get_ref().name == *queue).map(Spanned::span)
        }
        ConfigError::TotalOverflow { .. } => node.map(Spanned::span),
        _ => None,
    };
    place.error(span?, "").line
}

/// Where a demand that fits nowhere stands in the file.
fn first_line_of_queue(
    raw: &RawScenario,
    queue: &str,
    demand: &Resources,
    kinds: &ResourceKinds,
    place: &Place<'_>,
) -> Option<usize> {
    let is = |amounts: &raw::AmountsByName| {
        amounts_of(amounts, kinds).is_ok_and(|found| found == *demand)
    };
    let entry = raw.job.iter().find(|entry| {
        let job = entry.get_ref();
        let own = job.demand.as_ref().is_some_and(is);
        job.queue == queue && (own || job.group.iter().any(|group| is(&group.demand)))
    })?;
    place.error(entry.span(), "").line
}
