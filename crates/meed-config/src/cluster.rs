//! A whole cluster as people configure it: resources, nodes, queues and the policy.
//!
//! The tables are those of scenario files (docs/scenario.md), without a workload: what a live world
//! needs to know before the first job comes.

use meed::place::PlacementPreset;
use meed::{Config, NodeSpec, Policy};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::nodes::{MAX_NODES, NodeForm, ResourceForm, kinds};
use crate::place::{Place, TextError};
use crate::policy::{InToml, PolicySpec, SLOTS, STATIC};
use crate::queues::{self, QueueForm};
use crate::tree::{self, Spanned};
use crate::words::did_you_mean;

/// Resources, nodes, queues and policy of a cluster, as they are written.
///
/// ```
/// use meed_config::ClusterConfig;
///
/// let text = r#"
/// policy = "long-term,half_life=24h,t_wait=5min"
/// queue = [
///     { name = "research", weight = 3, min = { cpu = 8 } },
///     { name = "research.vision", order = "fifo" },
///     { name = "sales" },
/// ]
/// [cluster]
/// resources = ["cpu", "memory"]
/// node = [{ name = "n", count = 4, capacity = { cpu = 16, memory = "64GiB" } }]
/// "#;
/// let setup = ClusterConfig::from_toml("cluster.toml", text)?.resolve_in("cluster.toml", text)?;
/// assert_eq!(setup.config.nodes.len(), 4);
/// assert_eq!(setup.config.queues[0].weight, 3000);
/// assert_eq!(setup.placement.name, "first-fit");
///
/// let engine = meed::Engine::new(setup.config, (setup.placement.new)(2, 0))?;
/// # let _ = engine;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterConfig {
    /// How queues are ordered and tasks are placed: a table of keys, or the short form as text.
    #[serde(default)]
    pub policy: PolicySpec,
    /// Resources and nodes.
    pub cluster: ClusterForm,
    /// What fairness is measured in.
    #[serde(default)]
    pub fairness: FairnessForm,
    /// The tree of queues.
    #[serde(default)]
    pub queue: Vec<QueueForm>,
}

/// Resources and nodes.
///
/// It is part of a [`ClusterConfig`], whose page has an example.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a [cluster] table")]
pub struct ClusterForm {
    /// What nodes have and tasks ask for.
    pub resources: Vec<ResourceForm>,
    /// Nodes that are there at the start.
    #[serde(default)]
    pub node: Vec<NodeForm>,
}

/// What fairness is measured in.
///
/// It is part of a [`ClusterConfig`], whose page has an example.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a [fairness] table")]
pub struct FairnessForm {
    /// The first resource, where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}

/// What an engine starts from.
///
/// [`ClusterConfig::resolve`] makes it; the page of that type has an example.
pub struct ClusterSetup {
    /// For [`meed::Engine::new`].
    pub config: Config,
    /// What each queue has of its own under every policy, in the order of the configuration's.
    pub keys: Vec<PolicySpec>,
    /// The policy of a leaf that is added later and says nothing of its own.
    pub leaf: Policy,
    /// How tasks are placed.
    pub placement: &'static PlacementPreset,
    /// What was taken for granted; worth a line to the user.
    pub remarks: Vec<String>,
}

/// What is wrong with a configuration: the sentence, and which part it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClusterError {
    /// The part.
    pub part: Part,
    /// The sentence. It names the part where a name says more than a line.
    pub what: String,
}

/// A part of a configuration.
///
/// ```
/// use meed_config::ClusterConfig;
/// use meed_config::cluster::Part;
///
/// let text = r#"
/// policy = "fair"
/// queue = [{ name = "a" }, { name = "a" }]
/// [cluster]
/// resources = ["cpu"]
/// node = [{ name = "n", count = 1, capacity = { cpu = 1 } }]
/// "#;
/// let config = ClusterConfig::from_toml("cluster.toml", text)?;
/// let wrong = config.resolve().err().ok_or("two queues have one name")?;
/// assert!(matches!(wrong.part, Part::Queue(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The list of resources.
    Resources,
    /// A group of nodes, by its number.
    Node(usize),
    /// What fairness is measured in.
    Fairness,
    /// A queue, by its number.
    Queue(usize),
    /// The policy, or a key of it.
    Policy(Option<&'static str>),
}

impl std::fmt::Display for ClusterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for ClusterError {}

/// Where the parts stand in a text.
#[derive(Deserialize)]
struct Spans {
    cluster: ClusterSpans,
    fairness: Option<Spanned<IgnoredAny>>,
    #[serde(default)]
    queue: Vec<Spanned<IgnoredAny>>,
    policy: Option<Spanned<IgnoredAny>>,
}

#[derive(Deserialize)]
struct ClusterSpans {
    resources: Spanned<IgnoredAny>,
    #[serde(default)]
    node: Vec<Spanned<IgnoredAny>>,
}

/// Keys of a policy that is written as a table.
#[derive(Deserialize)]
struct PolicySpans {
    policy: InToml,
}

impl ClusterConfig {
    /// Reads TOML; messages call the text `file`.
    pub fn from_toml(file: &str, text: &str) -> Result<ClusterConfig, TextError> {
        tree::read(text).map_err(|error| Place { file, text }.toml(&error))
    }

    /// What an engine starts from.
    pub fn resolve(&self) -> Result<ClusterSetup, ClusterError> {
        let fail = |part: Part| move |what: String| ClusterError { part, what };
        let kinds = kinds(&self.cluster.resources).map_err(fail(Part::Resources))?;
        let mut nodes: Vec<NodeSpec> = Vec::new();
        for (number, form) in self.cluster.node.iter().enumerate() {
            let fail = fail(Part::Node(number));
            let group = form.nodes(&format!("n{number}"), &kinds).map_err(fail)?;
            if nodes.len() + group.len() > MAX_NODES {
                return Err(fail(format!("more than {MAX_NODES} nodes")));
            }
            nodes.extend(group);
        }
        let measured = match &self.fairness.resource {
            None => 0,
            Some(name) => kinds.find(name).ok_or_else(|| {
                let near = did_you_mean(name, kinds.names()).unwrap_or_default();
                let what = format!("fairness is measured in an unknown resource; {near}");
                fail(Part::Fairness)(what)
            })?,
        };
        let mut remarks = Vec::new();
        let plans = queues::plans(&self.queue, &kinds)
            .map_err(|(number, what)| fail(Part::Queue(number))(what))?;
        let mut plans = queues::with_parents(plans, &mut remarks);
        queues::settle_orders(&mut plans, |_| true);
        self.check_policy()?;
        let in_policy =
            |why: crate::policy::SpecError| fail(Part::Policy(why.key()))(why.to_string());
        let (root, queues) = queues::resolve(&plans, &self.policy, &kinds).map_err(in_policy)?;
        queues::check_minimums(&root, &queues, &kinds).map_err(|(number, what)| {
            // Parents that are not declared have none.
            let named = |form: &QueueForm| form.name == queues[number].name;
            fail(Part::Queue(self.queue.iter().position(named).unwrap_or(number)))(what)
        })?;
        remarks.extend(queues::dominant_minimums(&root, &queues, &kinds));
        let leaf = queues::leaf_policy(&self.policy, &kinds).map_err(in_policy)?;
        let placement = self.policy.placement().map_err(in_policy)?;
        let config = Config { kinds, measured, root, queues, nodes };
        let keys = plans.into_iter().map(|plan| plan.keys).collect();
        Ok(ClusterSetup { config, keys, leaf, placement, remarks })
    }

    /// As [`ClusterConfig::resolve`]; what is wrong is said with its line in `text`, from which
    /// this was read.
    pub fn resolve_in(&self, file: &str, text: &str) -> Result<ClusterSetup, TextError> {
        self.resolve().map_err(|error| error.in_toml(&Place { file, text }))
    }

    /// What can be named, but not be run by an engine alone.
    fn check_policy(&self) -> Result<(), ClusterError> {
        let fail = |key, what: String| Err(ClusterError { part: Part::Policy(key), what });
        if let Some(why) = self.policy.contradiction() {
            return fail(why.key(), why.to_string());
        }
        let baseline = match (self.policy.is_partitioned(), self.policy.slots()) {
            (true, _) => STATIC,
            (_, Some(_)) => SLOTS,
            _ => return Ok(()),
        };
        let what = format!("`{baseline}` is a yardstick of simulations; name an order");
        fail(Some("order"), what)
    }
}

impl ClusterError {
    /// With the line, where the configuration was read from this text.
    fn in_toml(self, place: &Place<'_>) -> TextError {
        let Ok(spans) = tree::read::<Spans>(place.text) else { return place.whole(self.what) };
        let span = match self.part {
            Part::Resources => Some(spans.cluster.resources.span()),
            Part::Node(number) => spans.cluster.node.get(number).map(Spanned::span),
            Part::Fairness => spans.fairness.map(|fairness| fairness.span()),
            Part::Queue(number) => spans.queue.get(number).map(Spanned::span),
            Part::Policy(key) => {
                let keys = tree::read::<PolicySpans>(place.text);
                let own = keys.ok().and_then(|keys| keys.policy.0.error(key?, "").span());
                own.or_else(|| spans.policy.map(|policy| policy.span()))
            }
        };
        match span {
            Some(span) => place.error(span, self.what),
            None => place.whole(self.what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[cluster]\nresources = [\"cpu\", \"memory\"]\n[[cluster.node]]\n\
        capacity = { cpu = 4, memory = \"1.5GiB\" }\nlabels = { zone = \"a\" }\n\
        [[queue]]\nname = \"a.b\"\nmin = { cpu = 1 }\npolicy = { round = \"1h\" }\n\
        [policy]\norder = \"long-term\"\nhalf_life = \"24h\"\n\
        prices = { cpu = 1, memory = 1e-9 }\n";

    #[test]
    fn what_is_written_reads_back_in_toml_and_json() {
        let config = ClusterConfig::from_toml("c.toml", TEXT).unwrap();
        let text = toml::to_string(&config).unwrap();
        assert_eq!(ClusterConfig::from_toml("c.toml", &text).unwrap(), config);
        let json = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<ClusterConfig>(&json).unwrap(), config);
        let setup = config.resolve().unwrap();
        assert_eq!(setup.remarks.len(), 1, "a parent is not declared");
        assert_eq!(setup.config.queues.len(), 2);
    }

    #[test]
    fn a_minimum_that_is_a_dominant_share_is_told() {
        let remarks = |order: &str| {
            let text = TEXT.replace("order = \"long-term\"\nhalf_life = \"24h\"", order);
            let text = text.replace("prices = { cpu = 1, memory = 1e-9 }\n", "");
            let text = text.replace(", memory = 1e-9", "").replace("\"a.b\"", "\"a\"");
            let text = text.replace("policy = { round = \"1h\" }\n", "");
            ClusterConfig::from_toml("c.toml", &text).unwrap().resolve().unwrap().remarks
        };
        assert_eq!(remarks("order = \"fair\""), Vec::<String>::new());
        let told = remarks("order = \"drf\"");
        assert!(told.len() == 1 && told[0].contains("`a` is a dominant share"), "{told:?}");
        assert!(told[0].contains("part of memory has it, whatever it holds of cpu"), "{told:?}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (from, to, message) in [
            ("\"memory\"]", "\"cpu\"]", "c.toml:2: resources: "),
            ("cpu = 4", "gpu = 4", "c.toml:3: node `n0`, capacity: unknown resource `gpu`"),
            ("a.b", "a..b", "c.toml:6: queue name `a..b` has an empty part"),
            ("\"1h\"", "\"1 fortnight\"", "c.toml:10: round: \"1 fortnight\" has the unknown"),
            ("24h", "400d", "c.toml:12: half_life must be at most a year"),
            ("half_life", "half_live", "c.toml:12: unknown field `half_live`, expected one of"),
            ("half_life", "half_live", "did you mean `half_life`?"),
            ("order = \"long-term\"", "order = \"slots\"", "c.toml:11: `slots` is a yardstick"),
            ("[policy]", "[fairness]\nresource = \"cpus\"\n[policy]", "did you mean `cpu`?"),
        ] {
            assert!(TEXT.contains(from), "{from}");
            let text = TEXT.replacen(from, to, 1);
            let read = ClusterConfig::from_toml("c.toml", &text);
            let error = read.and_then(|config| config.resolve_in("c.toml", &text));
            let error = error.map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(message), "`{message}` is not in: {error}");
        }
    }
}
