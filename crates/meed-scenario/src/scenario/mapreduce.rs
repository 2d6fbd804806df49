//! A scenario of the MapReduce world: its document, checked, and what of the other world means
//! nothing there. Its own tables are read by [`meed_mapreduce::tables`].

use std::collections::BTreeMap;

use meed::{Blocked, Config, ResourceKinds, Unit};
use meed_config::policy::InToml;
use meed_config::queues::Names;
use meed_config::{Place, Spanned, tree};
use meed_mapreduce::MapReduceSetup;
use meed_mapreduce::tables::{MapReduceForm, MapReducePlan};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::jobs::InlineJobs;
use super::policy::{DEFAULT_POLICIES, MOST_SPLIT};
use super::queues;
use super::raw::{Fairness, Queue, QueueDefaults, Run};
use super::{DEFAULT_ATTEMPTS, Scenario, ScenarioError};
use crate::plans::AS_YOU_PAY;

/// The world in which the runs of a scenario happen, with what that world has of its own.
///
/// ```
/// # let text = r#"
/// # [cluster]
/// # resources = ["cpu"]
/// # node = [{ name = "n", capacity = { cpu = 2 } }]
/// # [[queue]]
/// # name = "ads"
/// # [[job]]
/// # queue = "ads"
/// # duration = "10s"
/// # demand = { cpu = 1 }
/// # "#;
/// # let (reading, folder) = (meed_workload::OnBadLine::Stop, std::path::Path::new("."));
/// # let scenario = meed_scenario::Scenario::parse("s.toml", text, folder, &[], reading)?;
/// use meed_scenario::ScenarioWorld;
/// assert!(matches!(scenario.world(), ScenarioWorld::Cluster));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub enum ScenarioWorld {
    /// A cluster on which tasks run as long as the workload says.
    Cluster,
    /// Machines for which maps and reduces contend.
    MapReduce(Box<MapReducePlan>),
}

impl ScenarioWorld {
    /// What the header of a run calls it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            ScenarioWorld::Cluster => "",
            ScenarioWorld::MapReduce(_) => meed_mapreduce::WORLD,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMapReduce {
    mapreduce: MapReduceForm,
    #[serde(default)]
    fairness: Fairness,
    #[serde(default)]
    policy: InToml,
    #[serde(default)]
    policies: BTreeMap<String, InToml>,
    #[serde(default)]
    queue: Vec<Spanned<Queue>>,
    queues: Option<Spanned<QueueDefaults>>,
    #[serde(default)]
    run: Run,
    // Of the other world: each is refused with a sentence.
    cluster: Option<Spanned<IgnoredAny>>,
    job: Option<Spanned<IgnoredAny>>,
    generator: Option<Spanned<IgnoredAny>>,
    workload: Option<Spanned<IgnoredAny>>,
    trace: Option<Spanned<IgnoredAny>>,
    change: Option<Spanned<IgnoredAny>>,
}

/// Whether the text is of this world. Cheap where the word is not in it.
pub(super) fn is_mapreduce(text: &str) -> bool {
    text.contains("mapreduce")
        && toml::from_str::<toml::Table>(text).is_ok_and(|table| table.contains_key("mapreduce"))
}

pub(super) fn parse(file: &str, text: String) -> Result<Scenario, ScenarioError> {
    let raw = read(file, &text)?;
    of_raw(file, raw, text, &[], &|_| true)
}

fn read(file: &str, text: &str) -> Result<RawMapReduce, ScenarioError> {
    tree::read(text).map_err(|error| Place { file, text }.toml(&error))
}

/// What `raw` says, which `text` says as well; `added` are queues that only changes name.
pub(super) fn of_raw(
    file: &str,
    raw: RawMapReduce,
    text: String,
    added: &[(String, String)],
    by_arrival: &dyn Fn(&str) -> bool,
) -> Result<Scenario, ScenarioError> {
    let place = Place { file, text: &text };
    refuse_other_world(&raw, &place)?;
    let names = ["map", "reduce"].map(|name| (name.to_owned(), Unit::Milli));
    let kinds = ResourceKinds::new(names.to_vec()).expect("two different names");
    let mut warnings = Vec::new();
    let mut queues = queues::queues(&raw.queue, &kinds, &place, &mut warnings)?;
    queues::with_defaults(&mut queues, raw.queues.as_ref(), &raw.queue, &kinds, &place)?;
    meed_config::queues::settle_orders(&mut queues, by_arrival);
    let (stop, load, _) = super::run_options(&raw.run, &place)?;
    let plan = MapReducePlan::read(&raw.mapreduce, load, &place)?;
    let scenario = Scenario {
        file: file.to_owned(),
        seed: raw.run.seed.unwrap_or(0),
        warnings,
        cluster_notes: Vec::new(),
        assumes_size: false,
        format: None,
        measured: super::measured(&raw.fairness, &kinds, &place)?,
        nodes: plan.nodes(),
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
        inputs: Vec::new(),
        trace_queues: Vec::new(),
        changes: Vec::new(),
        timetable: None,
        stop,
        load,
        counting: Default::default(),
        enforce_limit: false,
        fail_per_million: 0,
        max_attempts: DEFAULT_ATTEMPTS,
        checkpoint: None,
        delays: Default::default(),
        infeasible: Default::default(),
        world: ScenarioWorld::MapReduce(Box::new(plan)),
        kinds,
        text: String::new(),
    };
    scenario.check_added(added)?;
    let names = Names::of(&scenario.queues);
    for (entry, queue) in raw.mapreduce.queues() {
        super::cluster::at(&place, &Spanned::new(entry, ()), names.check_leaf(queue))?;
    }
    scenario.check_policies(&raw.queue, None, &place)?;
    Ok(Scenario { text, ..scenario })
}

/// Tables and keys that mean nothing here.
fn refuse_other_world(raw: &RawMapReduce, place: &Place<'_>) -> Result<(), ScenarioError> {
    let tables = [
        ("cluster", &raw.cluster, "nodes are [[mapreduce.node]]"),
        ("job", &raw.job, "jobs are [[mapreduce.job]]"),
        ("generator", &raw.generator, "jobs are [[mapreduce.job]] and [[mapreduce.request]]"),
        ("workload", &raw.workload, "jobs are [[mapreduce.job]] and [[mapreduce.request]]"),
        ("trace", &raw.trace, "jobs are [[mapreduce.job]] and [[mapreduce.request]]"),
        ("change", &raw.change, "speeds change with [[mapreduce.node.change]]"),
    ];
    for (name, table, instead) in tables {
        if let Some(table) = table {
            let what = format!("`{name}` means nothing beside [mapreduce]: {instead}");
            return Err(place.error(table.span(), what));
        }
    }
    if let Some(rate) = &raw.run.fail_rate {
        return Err(place.error(
            rate.span(),
            "fail_rate means nothing beside [mapreduce]: tasks do not fail there",
        ));
    }
    if raw.run.enforce_limit {
        return Err(place
            .whole("enforce_limit means nothing beside [mapreduce]: tasks have no limits there"));
    }
    if let Some(given) = &raw.run.infeasible {
        let what = "infeasible means nothing beside [mapreduce]: every task fits a slot there";
        return Err(place.error(given.span(), what));
    }
    if raw.run.checkpoint.is_some() {
        return Err(
            place.whole("checkpoint means nothing beside [mapreduce]: nobody is stopped there")
        );
    }
    if raw.run.warm_up.is_some() || raw.run.cool_down.is_some() {
        let what = "warm_up and cool_down of [run] mean nothing beside [mapreduce]: all counts";
        return Err(place.whole(what));
    }
    if raw.run.heartbeat.is_some() || raw.run.master_start.is_some() || raw.run.master.is_some() {
        return Err(place.whole(
            "heartbeat, master_start and master of [run] mean nothing beside [mapreduce], which \
             has heartbeats of its own",
        ));
    }
    if raw.run.max_attempts.is_some() {
        return Err(
            place.whole("max_attempts means nothing beside [mapreduce]: tasks do not fail there")
        );
    }
    Ok(())
}

impl Scenario {
    /// The world in which its runs happen.
    pub fn world(&self) -> &ScenarioWorld {
        &self.world
    }

    /// The scenario of this world that `text` is.
    /// A leaf that says nothing serves its jobs by arrival where `by_arrival` says so of its name.
    pub fn of_mapreduce_text(
        file: &str,
        text: String,
        by_arrival: &dyn Fn(&str) -> bool,
    ) -> Result<Scenario, ScenarioError> {
        let raw = read(file, &text)?;
        of_raw(file, raw, text, &[], by_arrival)
    }

    /// Something that this scenario cannot do.
    pub fn error(&self, what: &str) -> ScenarioError {
        Place { file: &self.file, text: "" }.whole(what)
    }

    /// The policies that are run when none are asked for: not `static` among more than
    /// [`MOST_SPLIT`] tenants, for nobody would give each of so many a part of its own.
    pub fn default_policies(&self) -> Vec<String> {
        match &self.world {
            ScenarioWorld::MapReduce(_) => ["hadoop", "dmr", "jas", "jasl", "djasl"]
                .map(|rule| format!("fifo,placement={rule}"))
                .to_vec(),
            ScenarioWorld::Cluster => DEFAULT_POLICIES
                .into_iter()
                .filter(|policy| *policy != super::STATIC || self.tenant_count() <= MOST_SPLIT)
                .chain(self.has_accounts().then_some(AS_YOU_PAY))
                .map(str::to_owned)
                .collect(),
        }
    }

    /// What a run of the MapReduce world under the policy `words` starts from, without samples;
    /// `None` when the scenario is of the other world.
    pub fn mapreduce_setup(
        &self,
        words: &str,
        seed: u64,
    ) -> Result<Option<MapReduceSetup>, ScenarioError> {
        let ScenarioWorld::MapReduce(world) = &self.world else { return Ok(None) };
        let plan = self.plan(words)?;
        let rule = plan.rule.expect("plans of this world have a rule");
        Ok(Some(world.setup(plan.config, rule, self.stop, seed)))
    }
}

/// What of an order means nothing beside `[mapreduce]`; `slots`: the order shares slots.
pub(super) fn check_order(
    config: &Config,
    slots: bool,
    place: &Place<'_>,
) -> Result<(), ScenarioError> {
    if !slots && config.root.per_server {
        return Err(place.whole(format!(
            "order `{}` means nothing beside [mapreduce]: nodes there ask for work one by one",
            config.root.name()
        )));
    }
    if matches!(config.root.blocked, Blocked::Reserve(_)) {
        return Err(place.whole(
            "when_blocked = \"reserve\" means nothing beside [mapreduce]: nodes there ask for \
             work one by one",
        ));
    }
    match slots {
        false => Ok(()),
        true => Err(place.whole(
            "order `slots` means nothing beside [mapreduce]: nodes there have map and reduce slots",
        )),
    }
}
