//! A scenario from a log's header, and the header of a run from its scenario.
//!
//! Of a logged run cluster, tree, policies and options are known; its workload is the log's own. So
//! a scenario from a header has no jobs: it answers what a policy's name means for the recorded
//! tree, and for a changed one.

use std::collections::BTreeSet;
use std::path::Path;

use meed::place::PLACEMENTS;
use meed::policy::Policy;
use meed::{Config, MAX_WEIGHT, NodeSpec, ResourceKinds, Time};
use meed_config::number::Number;
use meed_config::policy::PolicySpec;
use meed_config::queues::QueuePlan;
use meed_config::tree;
use meed_config::words::{did_you_mean, with_hint};
use meed_config::{Place, TextError as ScenarioError};
use meed_driver::{StopAt, header_of};
use meed_journal::keys_line;
use meed_journal::{Header, Keys, QueueEntry};
use meed_workload::OnBadLine;
use serde::Deserialize;

use super::cluster;
use super::counting::{self, CountingPlan};
use super::delays;
use super::jobs::InlineJobs;
use super::machines;
use super::queues;
use super::raw::RawScenario;
use super::set::Draft;
use super::setting::{Setting, of_set};
use super::{Load, Scenario, ScenarioWorld, measured, run_options};
use crate::log::infeasible;
use crate::logged::Placing;
use crate::plan::Plan;

/// Tables of a scenario that make its workload, which is the log's.
const WORKLOAD: [&str; 5] = ["job", "generator", "workload", "trace", "change"];

/// Roots of keys that can be changed about a recorded run.
const CHANGEABLE: [&str; 7] =
    ["cluster", "fairness", "policy", "policies", "queue", "queues", "run"];

impl Scenario {
    /// The first line of the log of a run under `plan`, which the user calls `policy`.
    pub fn header(&self, policy: &str, seed: u64, plan: &Plan, assumptions: Vec<String>) -> Header {
        let own = |name: &str| {
            let plan = self.queues.iter().find(|plan| plan.name == name);
            plan.map(|plan| keys_line(&plan.keys)).unwrap_or_default()
        };
        let (fails, max_attempts) = self.failures();
        // Found by position where possible: there can be ten thousand.
        let own_at = |index: usize, name: &str| match self.queues.get(index) {
            Some(plan) if plan.name == name => keys_line(&plan.keys),
            _ => own(name),
        };
        let mut told = header_of(self.world.name(), policy, &plan.config, &plan.placement_name);
        for (index, queue) in told.queues.iter_mut().enumerate() {
            queue.own = own_at(index, queue.queue.as_str());
        }
        Header {
            scenario: self.file.clone(),
            seed,
            partitioned: plan.partitioned,
            slots_per_server: plan.slots.map(|slots| slots.per_largest()),
            max_attempts,
            checkpoint: self.checkpoint,
            detail: counting::told(
                self.counted(),
                infeasible::told(
                    self.infeasible,
                    delays::told(&plan.delays(self.delays), &plan.config.kinds),
                ),
            ),
            fail_rate: (fails > 0).then(|| Number::Fraction(f64::from(fails) / 1e6)),
            until: (self.stop != StopAt::END).then_some(self.stop.at),
            base: Some(keys_line(&self.base)),
            policies: self
                .named
                .iter()
                .map(|(name, keys)| (name.clone(), keys_line(keys)))
                .collect(),
            assumptions,
            scenario_text: self.text.clone(),
            ..told
        }
    }

    /// What `header` tells, as a scenario without a workload; messages say that they are about
    /// `place`.
    pub fn of_header(header: &Header, place: &str) -> Result<Scenario, ScenarioError> {
        let place = Place { file: place, text: "" };
        let fail = |what: String| place.whole(what);
        let kinds = header.kinds().map_err(fail)?;
        let measured = kinds.find(&header.measured);
        let queue = |form: &QueueEntry| {
            let named =
                |what: &str, why: String| fail(format!("queue `{}`, {what}: {why}", form.queue));
            let min = form.min.as_ref().map(|min| min.read(&kinds)).transpose();
            let max = form.max.as_ref().map(|max| max.read_maximum(&kinds)).transpose();
            if form.weight > MAX_WEIGHT {
                return Err(named("weight", format!("at most {}", MAX_WEIGHT / 1000)));
            }
            Ok(QueuePlan {
                name: form.queue.to_string(),
                weight: form.weight,
                min: min.map_err(|why| named("min", why))?,
                max: max.map_err(|why| named("max", why))?,
                keys: keys_of(&form.own, &format!("{}, queue `{}`", place.file, form.queue))?,
            })
        };
        let named = |(name, keys): (&String, &Keys)| Ok((name.clone(), keys_of(keys, place.file)?));
        let mut text_of_base = header.base.clone().unwrap_or_else(|| header.root.clone());
        if header.base.is_none() {
            text_of_base.insert("placement".to_owned(), header.placement.clone().into());
        }
        Ok(Scenario {
            file: header.scenario.clone(),
            seed: header.seed,
            warnings: Vec::new(),
            cluster_notes: Vec::new(),
            assumes_size: false,
            format: None,
            text: header.scenario_text.clone(),
            measured: measured
                .ok_or_else(|| fail(format!("measured `{}` is no resource", header.measured)))?,
            nodes: header
                .nodes
                .iter()
                .map(|node| node.read(&kinds).map_err(fail))
                .collect::<Result<_, _>>()?,
            queues: header.queues.iter().map(queue).collect::<Result<_, ScenarioError>>()?,
            base: keys_of(&text_of_base, place.file)?,
            named: header.policies.iter().map(named).collect::<Result<_, ScenarioError>>()?,
            jobs: InlineJobs::default(),
            generators: Vec::new(),
            workloads: Vec::new(),
            trace: None,
            outliers: None,
            ran: None,
            given: None,
            trace_queues: Vec::new(),
            inputs: Vec::new(),
            changes: Vec::new(),
            timetable: None,
            stop: stop_of(header),
            load: Load::ONE,
            counting: counting::of_detail(&header.detail).map_err(fail)?,
            // Recorded durations are cut already.
            enforce_limit: false,
            fail_per_million: match &header.fail_rate {
                Some(rate) => rate
                    .parts(1_000_000, 999_999)
                    .map_err(|why| fail(format!("fail_rate: {why}")))?
                    as u32,
                None => 0,
            },
            max_attempts: header.max_attempts,
            checkpoint: header.checkpoint,
            delays: delays::of_detail(&header.detail, &kinds).map_err(fail)?,
            infeasible: infeasible::of_detail(&header.detail).map_err(fail)?,
            world: ScenarioWorld::Cluster,
            kinds,
        })
    }

    /// The plan that a run was recorded under: its policies as they stand in the header, not as
    /// they are called.
    pub fn recorded_plan(&self, header: &Header, place: &str) -> Result<Plan, ScenarioError> {
        let fail = |what: String| Place { file: place, text: "" }.whole(what);
        let resolve = |keys: &Keys, of: &str| {
            let place = format!("{place}, {of}");
            let policy = keys_of(keys, &place)?.policy(&self.kinds);
            policy.map_err(|why| Place { file: &place, text: "" }.spec(&why))
        };
        let root = resolve(&header.root, "root")?;
        let mut queues = Vec::with_capacity(self.queues.len());
        // Most queues have the policy of the one before.
        let mut last: Option<(&Keys, Policy)> = None;
        for (plan, line) in self.queues.iter().zip(&header.queues) {
            let policy = match (&line.policy, &last) {
                (None, _) => root.clone(),
                (Some(keys), Some((known, policy))) if keys == *known => policy.clone(),
                (Some(keys), _) => resolve(keys, &format!("queue `{}`", line.queue))?,
            };
            last = line.policy.as_ref().map(|keys| (keys, policy.clone()));
            queues.push(plan.spec(policy));
        }
        let placement =
            PLACEMENTS.iter().find(|row| row.name == header.placement).ok_or_else(|| {
                let known: Vec<&str> = PLACEMENTS.iter().map(|row| row.name).collect();
                fail(format!(
                    "placement `{}` is not known; known are {}",
                    header.placement,
                    known.join(", ")
                ))
            })?;
        let config = Config {
            kinds: self.kinds.clone(),
            measured: self.measured,
            root: root.clone(),
            queues,
            nodes: self.nodes.clone(),
        };
        Ok(Plan {
            config,
            partitioned: header.partitioned,
            placement: placement.new,
            placement_name: header.placement.clone(),
            // Tasks and nodes are recorded with their slots.
            slots: None,
            rule: None,
            pays: None,
        })
    }

    /// How a run placed tasks, as its header tells.
    pub(crate) fn recorded_placing(header: &Header, place: &str) -> Result<Placing, ScenarioError> {
        let scenario = Scenario::of_header(header, place)?;
        let plan = scenario.recorded_plan(header, place)?;
        Ok(Placing { new: plan.placement, kinds: plan.config.kinds.len(), seed: scenario.seed })
    }

    /// The recorded scenario with changes of anything but its workload. Needs the
    /// scenario's text.
    pub fn of_text(header: &Header, settings: &[Setting]) -> Result<Scenario, ScenarioError> {
        for setting in settings {
            let root = setting.key().first().map_or("", |part| part.text.as_str());
            if !CHANGEABLE.contains(&root) {
                let near = did_you_mean(root, CHANGEABLE).map(|near| format!("; {near}"));
                let what = match WORKLOAD.contains(&root) {
                    true => "changes the workload, which is the recorded one".to_owned(),
                    false => format!(
                        "can change {} only{}",
                        CHANGEABLE.join(", "),
                        near.unwrap_or_default()
                    ),
                };
                return Err(of_set(setting.words(), what));
            }
        }
        let file = &header.scenario;
        if header.scenario_text.trim().is_empty() {
            let what = "the log holds no scenario text, which --set would change; use --policy or \
                --cluster";
            return Err(Place { file, text: "" }.whole(what));
        }
        let mut draft = Draft::of(file, &header.scenario_text, settings)?;
        WORKLOAD.iter().for_each(|table| draft.remove(table));
        let (text, raw) = (draft.text(), draft.read::<RawScenario>(file)?);
        // The recorded text stands in no file, and has no lines.
        let place = Place { file, text: "" };
        let kinds = cluster::kinds(&raw.cluster, &place)?;
        if kinds != header.kinds().map_err(|what| place.whole(what))? {
            return Err(
                place.whole("the cluster's resources cannot change: recorded tasks ask for them")
            );
        }
        let changes = |key: &[&str]| settings.iter().any(|setting| setting.touches(key));
        // The nodes are known from the log; their files need not be there any more.
        let nodes = match changes(&["cluster"]) {
            true => nodes_of(&raw, Path::new(file), &kinds, &place)?,
            false => {
                let nodes = header.nodes.iter().map(|node| node.read(&kinds));
                nodes.collect::<Result<_, _>>().map_err(|what| place.whole(what))?
            }
        };
        let seed = raw.run.seed.filter(|_| changes(&["run", "seed"]));
        let mut warnings = Vec::new();
        let mut queues = queues::queues(&raw.queue, &kinds, &place, &mut warnings)?;
        let names: Vec<String> = header.queues.iter().map(|form| form.queue.to_string()).collect();
        meed_config::queues::add(&mut queues, &names, &mut warnings);
        let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        if let Some(new) = queues.iter().find(|plan| !known.contains(plan.name.as_str())) {
            let near = did_you_mean(&new.name, names.iter().map(String::as_str));
            let near = near.map(|near| format!("; {near}")).unwrap_or_default();
            let what = format!("queue `{}` is not of the recorded tree{near}", new.name);
            return Err(place.whole(what));
        }
        if !raw.contribution.is_empty() {
            // They follow from what was contributed, which is recorded as changes.
            for queue in &mut queues {
                let told = header.queues.iter().find(|told| queue.name == told.queue.as_str());
                queue.weight = told.map_or(queue.weight, |told| told.weight);
            }
        }
        // The text may declare queues that only a change named, then or now.
        queues::in_order(&mut queues, names.iter().map(String::as_str));
        queues::with_defaults(&mut queues, raw.queues.as_ref(), &raw.queue, &kinds, &place)?;
        let told = told_order(header);
        meed_config::queues::settle_orders(&mut queues, |name| told.contains(name));
        // Recorded submissions are at the recorded load.
        let (stop, _, fail_per_million) = run_options(&raw.run, &place)?;
        let counting = counting::of_detail(&header.detail).map_err(|what| place.whole(what))?;
        if changes(&["run", "cool_down"]) {
            let what = "cool_down counts back from the last submission, which a log does not tell";
            return Err(place.whole(what));
        }
        let counting = match changes(&["run", "warm_up"]) {
            true => counting.from(CountingPlan::read(&raw.run, &place)?.warm_up),
            false => counting,
        };
        let scenario = Scenario {
            file: file.clone(),
            seed: seed.unwrap_or(header.seed),
            warnings: Vec::new(),
            cluster_notes: Vec::new(),
            assumes_size: false,
            format: None,
            measured: measured(&raw.fairness, &kinds, &place)?,
            nodes,
            queues,
            base: raw.policy.0.clone(),
            named: super::named(&raw.policies),
            jobs: InlineJobs::default(),
            generators: Vec::new(),
            workloads: Vec::new(),
            trace: None,
            outliers: None,
            ran: None,
            given: None,
            trace_queues: Vec::new(),
            inputs: Vec::new(),
            changes: Vec::new(),
            timetable: None,
            stop,
            load: Load::ONE,
            counting,
            // Recorded durations are cut already.
            enforce_limit: false,
            fail_per_million,
            max_attempts: raw.run.max_attempts.unwrap_or(super::DEFAULT_ATTEMPTS),
            checkpoint: super::checkpoint_of(&raw.run, &place)?,
            delays: delays::read(&raw.run, &kinds, &place)?,
            infeasible: super::infeasible::read(&raw.run, &place)?,
            world: ScenarioWorld::Cluster,
            kinds,
            text: text.clone(),
        };
        scenario.check_policies(&raw.queue, raw.cluster.node.first(), &place)?;
        Ok(scenario)
    }

    /// Puts the nodes of a scenario file (or of one with a `[cluster]` only) in place of the
    /// recorded ones.
    pub fn take_cluster(&mut self, path: &Path) -> Result<(), ScenarioError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|why| ScenarioError {
            unreadable: true,
            ..Place { file: &file, text: "" }.whole(format!("cannot be read: {why}"))
        })?;
        let place = Place { file: &file, text: &text };
        let raw: RawScenario = tree::read(&text).map_err(|error| place.toml(&error))?;
        let kinds = cluster::kinds(&raw.cluster, &place)?;
        if kinds != self.kinds {
            let known: Vec<&str> = self.kinds.names().collect();
            let what =
                format!("resources must be those of the log, in its order: {}", known.join(", "));
            return Err(place.error(raw.cluster.resources.span(), what));
        }
        self.nodes = nodes_of(&raw, path, &kinds, &place)?;
        match self.nodes.is_empty() {
            true => Err(place.whole("has no nodes; add [[cluster.node]] with count and capacity")),
            false => Ok(()),
        }
    }

    /// Why a replay under `words` is refused where slots are shared, then or now.
    pub fn no_slots(&self, words: &str) -> ScenarioError {
        let what = "slots are a resource of their own: a run that shares slots, or a replay under \
            `slots` of one that \
                    does not, cannot be compared; use `meed simulate`";
        Place { file: &format!("--policy {words}"), text: "" }.whole(what)
    }

    /// Nodes at the start.
    pub fn node_names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|node| node.name.as_str())
    }

    /// Ends the run at `at`, whatever is left then.
    pub fn stop_at(&mut self, at: Time) {
        self.stop = StopAt { at, hold: true };
    }
}

/// The nodes at the start of a scenario that lies at `path`.
fn nodes_of(
    raw: &RawScenario,
    path: &Path,
    kinds: &ResourceKinds,
    place: &Place<'_>,
) -> Result<Vec<NodeSpec>, ScenarioError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let machines =
        machines::read(raw.cluster.machines.as_ref(), folder, kinds, place, OnBadLine::Skip);
    let machines = machines.map_err(|why| match why {
        super::LoadError::Scenario(error) => error,
        super::LoadError::Trace(error) => {
            ScenarioError { unreadable: error.is_file(), ..place.whole(error.to_string()) }
        }
    })?;
    cluster::nodes(&raw.cluster, &machines.nodes, kinds, place)
}

fn stop_of(header: &Header) -> StopAt {
    header.until.map_or(StopAt::END, |at| StopAt { at, hold: true })
}

/// Queues that were told how to order their children when the run was recorded. A leaf that said
/// nothing is among them, but for logs of version 0.1: there it ordered its jobs as the run did.
pub fn told_order(header: &Header) -> BTreeSet<&str> {
    let told = header.queues.iter().filter(|form| !form.own.is_empty());
    told.map(|form| form.queue.as_str()).collect()
}

/// Policy keys of a log; messages say that they are about `file`.
fn keys_of(keys: &Keys, file: &str) -> Result<PolicySpec, ScenarioError> {
    let place = Place { file, text: "" };
    PolicySpec::deserialize(keys).map_err(|why| place.whole(with_hint(&why.to_string())))
}
