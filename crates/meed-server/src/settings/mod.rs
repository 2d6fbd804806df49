//! How a server is set up: the tables of scenarios without a workload, and `[server]`.
//!
//! What is missing is the machine as it is: its processors, memory and GPUs, one queue for each
//! user, and `long-term` with a half-life of a week. Everything is checked before any of it is
//! taken.

mod machine;
mod members;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use meed::{Config, QueueSpec, Resources, Unit};
use meed_config::cluster::{ClusterForm, FairnessForm};
use meed_config::nodes::{NodeForm, ResourceForm};
use meed_config::policy::{INHERIT, PolicySpec};
use meed_config::quantity::{AmountsByName, Quantity, bound};
use meed_config::queues::QueueForm;
use meed_config::units::parse_amount;
use meed_config::{ClusterConfig, Place, tree};
use meed_journal::Keys;
use serde::Deserialize;

use crate::group::{Device, Wall, Walls};
pub use machine::ThisMachine;
pub use members::{Members, Role};

/// Output of one task that is kept where nothing is said of it, in bytes.
pub const MAX_OUTPUT: u64 = 4 << 30;

/// What is taken where no policy is named.
pub const POLICY: &str = "long-term,half_life=7d";

/// The file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    server: ServerForm,
    #[serde(default)]
    http: HttpForm,
    policy: Option<PolicySpec>,
    cluster: Option<ClusterForm>,
    #[serde(default)]
    fairness: FairnessForm,
    #[serde(default)]
    queue: Vec<QueueForm>,
}

/// `[server]`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a [server] table")]
struct ServerForm {
    /// Users who may do everything.
    #[serde(default)]
    admins: Vec<String>,
    /// Users who may see and cancel jobs of others.
    #[serde(default)]
    operators: Vec<String>,
    /// Who may use a queue: users, and groups as `@group`.
    #[serde(default)]
    members: BTreeMap<String, Vec<String>>,
    /// What a task asks for that says nothing.
    #[serde(default)]
    default: AmountsByName,
    /// What a task asks for at least.
    #[serde(default)]
    min: AmountsByName,
    /// What the tasks of one user hold together in one queue, at most.
    user_max: Option<AmountsByName>,
    /// Time limit of a task that names none.
    default_time: Option<Quantity>,
    /// Longest time limit that can be asked for.
    max_time: Option<Quantity>,
    /// From SIGTERM to SIGKILL.
    grace: Option<Quantity>,
    /// Jobs of one user that have not ended, at most.
    max_jobs: Option<u32>,
    /// Whether tasks get processors of their own.
    affinity: Option<bool>,
    /// Whether tasks get control groups, where there are any.
    control_groups: Option<bool>,
    /// Whether a task gets no more time of processors than it asks for.
    cpu_max: Option<bool>,
    /// Processes and threads of one task, at most.
    max_processes: Option<u64>,
    /// Output of one task that is kept, at most.
    max_output: Option<Quantity>,
    /// Devices of the GPUs, in the order of their numbers.
    gpu_devices: Option<Vec<PathBuf>>,
}

/// `[http]`.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an [http] table")]
struct HttpForm {
    /// Address and port; without it the interface is off.
    listen: Option<String>,
    /// What the server is called besides its address.
    #[serde(default)]
    hosts: Vec<String>,
    /// Certificates, in PEM.
    certificate: Option<PathBuf>,
    /// Their key, in PEM.
    key: Option<PathBuf>,
}

/// How the HTTP interface is met.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HttpSettings {
    /// Address and port; `None`: it is off.
    pub listen: Option<SocketAddr>,
    /// What the server is called besides its address.
    pub hosts: Vec<String>,
    /// Certificates and their key.
    pub tls: Option<(PathBuf, PathBuf)>,
}

impl HttpSettings {
    fn of(form: HttpForm) -> Result<HttpSettings, String> {
        let HttpForm { listen, hosts, certificate, key } = form;
        let tls = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("[http]: `certificate` and `key` belong together".to_owned()),
        };
        if let Some(host) = hosts.iter().find(|host| host.is_empty() || host.contains(['/', '*'])) {
            return Err(format!("[http] hosts: `{host}` is no name of a host"));
        }
        let address = |text: String| {
            text.parse().map_err(|_| {
                format!("[http] listen: `{text}` is no address with a port; write 127.0.0.1:7433")
            })
        };
        let listen = listen.map(address).transpose()?;
        Ok(HttpSettings { listen, hosts, tls })
    }
}

/// A server's settings, checked.
#[derive(Clone)]
pub struct Settings {
    /// Queues and the one node.
    pub config: Config,
    /// Queues with their keys, as they were written; empty: one for each user.
    pub queues: Vec<QueueForm>,
    /// The policy.
    pub policy: PolicySpec,
    /// How tasks are placed.
    pub placement: &'static meed::place::PlacementPreset,
    /// The policy of a leaf that is added later.
    leaf: meed::Policy,
    /// What each queue of the configuration has of its own.
    keys: Vec<PolicySpec>,
    /// Queues whose members have turns of their own, each in a queue below.
    pub turns: BTreeSet<String>,
    /// Queues of the configuration that have none below them in it.
    leaves: BTreeSet<String>,
    /// Who may do what.
    pub members: Members,
    /// What a task asks for that says nothing.
    pub default_demand: AmountsByName,
    /// What a task asks for at least.
    pub least: meed::Resources,
    /// What the tasks of one user hold together in one queue, at most.
    pub user_max: Option<Resources>,
    /// Time limit of a task that names none.
    pub default_time: Option<Duration>,
    /// Longest time limit that can be asked for.
    pub max_time: Option<Duration>,
    /// From SIGTERM to SIGKILL.
    pub grace: Duration,
    /// Jobs of one user that have not ended, at most.
    pub max_jobs: u32,
    /// Whether tasks get processors of their own.
    pub affinity: bool,
    /// Whether tasks get control groups, where there are any.
    pub control_groups: bool,
    /// Whether a task gets no more time of processors than it asks for.
    pub cpu_max: bool,
    /// Processes and threads of one task, at most.
    pub max_processes: u64,
    /// Output of one task that is kept, in bytes, at most.
    pub max_output: u64,
    /// The GPUs that there are, by their devices, where these are known.
    pub gpus: Vec<Option<Device>>,
    /// The HTTP interface.
    pub http: HttpSettings,
    /// Worth a line to the operator each.
    pub remarks: Vec<String>,
    /// The file, where there is one.
    pub file: Option<PathBuf>,
}

/// Why settings cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// What it says is wrong.
    #[error("{0}")]
    Wrong(String),
}

impl Settings {
    /// The settings of `file`, or of the machine as it is. `alone`: the name of the only user that
    /// the server serves, where it does not run as root.
    ///
    /// # Errors
    ///
    /// What is wrong, with its line where it has one.
    pub fn read(
        file: Option<&Path>,
        machine: &ThisMachine,
        alone: Option<&str>,
    ) -> Result<Settings, SettingsError> {
        let (form, name, text) = match file {
            None => (None, String::new(), String::new()),
            Some(path) => {
                let unreadable = |error| SettingsError::File { path: path.to_owned(), error };
                let text = std::fs::read_to_string(path).map_err(unreadable)?;
                let name = path.display().to_string();
                let wrong = |error| Place { file: &name, text: &text }.toml(&error).to_string();
                let form: File = tree::read(&text).map_err(wrong).map_err(SettingsError::Wrong)?;
                (Some(form), name, text)
            }
        };
        let settings = match form {
            Some(form) => Settings::of(form, machine, alone, Some((&name, &text))),
            None => {
                let form = tree::read("").map_err(|why| why.to_string());
                form.and_then(|form| Settings::of(form, machine, alone, None))
            }
        };
        let settings = settings.map_err(SettingsError::Wrong)?;
        Ok(Settings { file: file.map(Path::to_owned), ..settings })
    }

    fn of(
        form: File,
        machine: &ThisMachine,
        alone: Option<&str>,
        text: Option<(&str, &str)>,
    ) -> Result<Settings, String> {
        let File { server, http, policy, cluster, fairness, queue } = form;
        let mut remarks = Vec::new();
        let machine = &match &server.gpu_devices {
            Some(paths) => ThisMachine { gpus: devices(paths)?, ..machine.clone() },
            None => machine.clone(),
        };
        let cluster = cluster.unwrap_or_else(|| machine.cluster());
        let policy = match policy {
            Some(policy) => policy,
            None => {
                POLICY.parse().map_err(|why: meed_config::policy::SpecError| why.to_string())?
            }
        };
        let leaves = leaves(&queue);
        let turns = members::with_turns(&server.members, &queue, &leaves);
        // These order their members as the root orders queues.
        let ordered = |form: &QueueForm| match turns.contains(&form.name) {
            true => QueueForm { order: Some(INHERIT.to_owned()), ..form.clone() },
            false => form.clone(),
        };
        let whole = ClusterConfig {
            policy: policy.clone(),
            cluster: with_one_node(cluster, machine)?,
            fairness,
            queue: queue.iter().map(ordered).collect(),
        };
        let setup = match text {
            Some((file, text)) => whole.resolve_in(file, text).map_err(|why| why.to_string())?,
            None => whole.resolve().map_err(|why| why.to_string())?,
        };
        remarks.extend(setup.remarks);
        let (mut config, mut keys) = (setup.config, setup.keys);
        let user_max = bound(server.user_max.as_ref(), &config.kinds, meed::MAX_AMOUNT);
        let user_max = user_max.map_err(|why| format!("[server] user_max: {why}"))?;
        if user_max.is_some() && !config.queues.is_empty() && turns.is_empty() {
            remarks.push(
                "[server] user_max: no queue has several members that have turns of their own: \
                 nobody is bounded"
                    .to_owned(),
            );
        }
        if config.queues.is_empty() {
            // The engine has at least one; those of others come with their first job.
            config.queues.push(user_queue(alone.unwrap_or("root"), &setup.leaf, user_max));
            keys.push(meed_config::queues::leaf_keys());
        }
        let span = |key: &str, quantity: &Option<Quantity>| {
            let span = quantity.as_ref().map(|quantity| quantity.span(key)).transpose();
            let span = span.map_err(|why| format!("[server] {why}"))?;
            Ok::<_, String>(span.map(|span| Duration::from_micros(span.as_micros())))
        };
        let amounts = |key: &str, amounts: &AmountsByName| {
            let read = meed_config::quantity::amounts(amounts, &config.kinds);
            read.map_err(|why| format!("[server] {key}: {why}"))
        };
        amounts("default", &server.default)?;
        let least = amounts("min", &server.min)?;
        remarks.extend(machine.lacks(&config));
        let names: Vec<&str> = config.queues.iter().map(|queue| queue.name.as_str()).collect();
        let members = Members::new(server.admins, server.operators, server.members, &names)?;
        Ok(Settings {
            queues: queue,
            policy,
            placement: setup.placement,
            leaf: setup.leaf,
            keys,
            turns,
            leaves,
            members,
            default_demand: server.default,
            least,
            user_max,
            default_time: span("default_time", &server.default_time)?,
            max_time: span("max_time", &server.max_time)?,
            grace: span("grace", &server.grace)?.unwrap_or(Duration::from_secs(10)),
            max_jobs: server.max_jobs.unwrap_or(100_000),
            affinity: server.affinity.unwrap_or(true),
            control_groups: server.control_groups.unwrap_or(true),
            cpu_max: server.cpu_max.unwrap_or(true),
            max_processes: server.max_processes.unwrap_or_else(usual_processes),
            max_output: match &server.max_output {
                Some(amount) => parse_amount(&amount.text(), Unit::Bytes)
                    .map_err(|why| format!("[server] max_output: {why}"))?,
                None => MAX_OUTPUT,
            },
            gpus: machine.gpus.clone(),
            http: HttpSettings::of(http)?,
            remarks,
            file: None,
            config,
        })
    }

    /// Whether each user has a queue of the same name, made when it is first needed.
    pub fn queue_per_user(&self) -> bool {
        self.queues.is_empty()
    }

    /// The queues as they were written, and what bounds those of users: two that are equal need not
    /// be told.
    pub(crate) fn known(&self) -> Option<String> {
        let queues = serde_json::to_string(&self.queues).ok()?;
        Some(match &self.user_max {
            Some(max) => format!("{queues} {:?}", max.as_slice()),
            None => queues,
        })
    }

    /// The queue of a user, below that of a team or by itself.
    pub(crate) fn user_queue(&self, name: &str) -> QueueSpec {
        user_queue(name, &self.leaf, self.user_max)
    }

    /// The keys that a queue has under every policy, for readers of the journal.
    pub(crate) fn own_keys(&self, queue: &str) -> Keys {
        let at = self.config.queues.iter().position(|spec| spec.name == queue);
        let keys = at.and_then(|at| self.keys.get(at)).cloned();
        // A user's queue is in no configuration.
        meed_journal::keys_line(&keys.unwrap_or_else(meed_config::queues::leaf_keys))
    }

    /// Whether the configuration has the queue, and none below it.
    pub(crate) fn is_leaf(&self, queue: &str) -> bool {
        self.leaves.contains(queue)
    }

    /// The policy of a user's queue.
    pub(crate) fn leaf(&self) -> &meed::Policy {
        &self.leaf
    }

    /// What nothing bounds here, a sentence each: what a task takes beyond what it has asked for.
    pub fn not_bounded(&self, walls: &Walls) -> Vec<String> {
        let has = |name: &str| {
            let kind = self.config.kinds.find(name);
            kind.is_some_and(|kind| self.node().capacity.get(kind) > 0)
        };
        let why = |wall: Wall| walls.why_not(wall).unwrap_or_default();
        let mut told = Vec::new();
        if has("cpu") && !(self.cpu_max && walls.has(Wall::Processors)) {
            let why = if self.cpu_max { why(Wall::Processors) } else { "cpu_max = false" };
            let affinity = self.affinity && !walls.has(Wall::OwnProcessors);
            told.push(match (walls.has(Wall::Processors), affinity) {
                (true, _) => format!(
                    "processors are shared by weight and not bounded ({why}): a task may use what \
                     nobody else uses, whatever it asks for"
                ),
                (false, true) => format!(
                    "processors are not bounded ({why}): a task that asks for whole ones starts on \
                     its own, and can leave them; a task that asks for a part of one may use all"
                ),
                (false, false) => format!(
                    "processors are not bounded ({why}): a task may use all, whatever it asks for"
                ),
            });
        }
        if !walls.has(Wall::Processes) {
            let why = why(Wall::Processes);
            told.push(format!(
                "processes are not counted ({why}): one task may start as many as the system takes"
            ));
        }
        if has("gpu") && !(walls.has(Wall::Gpus) && self.closes_gpus()) {
            let unknown = "not all have a device that is known; gpu_devices names them";
            let why = walls.why_not(Wall::Gpus).unwrap_or(unknown);
            told.push(format!(
                "GPUs are named to tasks (CUDA_VISIBLE_DEVICES) and not bounded ({why}): a task \
                 that ignores the name reaches all of them"
            ));
        }
        told
    }

    /// Whether each GPU that is lent has a device that can be closed to those who do not hold it.
    pub fn closes_gpus(&self) -> bool {
        let lent = self.config.kinds.find("gpu");
        let lent = lent.map_or(0, |gpu| self.node().capacity.get(gpu) / 1000);
        lent > 0 && lent <= self.gpus.len() as u64 && self.gpus.iter().all(Option::is_some)
    }

    /// The machine's node.
    pub fn node(&self) -> &meed::NodeSpec {
        &self.config.nodes[0]
    }
}

/// Queues that have none below them.
fn leaves(queues: &[QueueForm]) -> BTreeSet<String> {
    let names = || queues.iter().map(|queue| queue.name.clone());
    let mut leaves: BTreeSet<String> = names().collect();
    for name in names() {
        for (end, _) in name.match_indices('.') {
            leaves.remove(&name[..end]);
        }
    }
    leaves
}

/// Half of what the system has numbers for, so that one task does not take them all.
fn usual_processes() -> u64 {
    let most = std::fs::read_to_string("/proc/sys/kernel/pid_max").ok();
    let most: Option<u64> = most.and_then(|text| text.trim().parse().ok());
    (most.unwrap_or(32_768) / 2).min(16_384)
}

fn devices(paths: &[PathBuf]) -> Result<Vec<Option<Device>>, String> {
    let device = |path: &PathBuf| {
        let wrong = |why| format!("[server] gpu_devices: {}: {why}", path.display());
        Device::of(path).map(Some).map_err(wrong)
    };
    paths.iter().map(device).collect()
}

/// The queue of a user who has none.
fn user_queue(name: &str, policy: &meed::Policy, max: Option<Resources>) -> QueueSpec {
    let name = name.to_owned();
    QueueSpec { name, weight: 1000, min: None, max, policy: policy.clone() }
}

/// A user's name as that of a queue: a point would say that it lies below another. No tool gives
/// users names with a plus, so two users never have one queue.
pub fn queue_name(user: &str) -> String {
    user.replace('.', "+")
}

/// A server is one machine: one node, which is called as the machine is unless it has a name.
fn with_one_node(mut cluster: ClusterForm, machine: &ThisMachine) -> Result<ClusterForm, String> {
    match cluster.node.as_mut_slice() {
        [] => {
            let known = |resource: &ResourceForm| match resource {
                ResourceForm::Name(name) | ResourceForm::Detailed { name, .. } => name.clone(),
            };
            let names: Vec<String> = cluster.resources.iter().map(known).collect();
            let mut capacity = machine.capacity();
            capacity.retain(|name, _| names.contains(name));
            cluster.node.push(NodeForm::one(machine.name.clone(), capacity));
        }
        [node] if node.count == 1 => {
            node.name.get_or_insert_with(|| machine.name.clone());
        }
        _ => {
            return Err("[cluster]: a server has one machine; declare one node, or none for the \
                        machine as it is"
                .to_owned());
        }
    }
    Ok(cluster)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let machine = ThisMachine {
            name: "box".into(),
            processors: vec![0, 1],
            memory: 8 << 30,
            gpus: vec![None; 2],
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("meed.toml");
        std::fs::write(&path, text).unwrap();
        Settings::read(Some(&path), &machine, None).map_err(|why| why.to_string())
    }

    #[test]
    fn an_empty_file_is_the_machine_as_it_is() {
        let settings = read("").unwrap();
        assert!(settings.queue_per_user());
        assert_eq!(settings.node().name, "box");
        let capacity = settings.node().capacity;
        assert_eq!(capacity.as_slice(), [2000, 8 << 30, 2000]);
        assert_eq!(settings.policy.word("order"), Some("long-term"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, message) in [
            ("[server]\ngrace = \"soon\"", "grace"),
            ("[server]\nadmin = []", "unknown field `admin`"),
            ("[server.default]\ncpus = 1", "did you mean `cpu`"),
            ("[server.min]\ncpus = 1", "[server] min: "),
            ("[server.members]\nnobody = [\"ann\"]", "unknown queue `nobody`"),
            (
                "[cluster]\nresources = [\"cpu\"]\nnode = [{ count = 2, capacity = { cpu = 1 } }]",
                "one machine",
            ),
            ("[[queue]]\nname = \"a..b\"", "empty part"),
            ("policy = \"long-turm\"", "long-turm"),
            ("[http]\nlisten = \"here\"", "write 127.0.0.1:7433"),
            ("[http]\nkey = \"k.pem\"", "belong together"),
            ("[http]\nhosts = [\"*.org\"]", "no name of a host"),
        ] {
            let why = read(text).map(|_| ()).unwrap_err();
            assert!(why.contains(message), "`{message}` is not in: {why}");
        }
    }

    #[test]
    fn what_the_machine_does_not_have_is_named() {
        let node = |amounts: &str| {
            let resources = "[\"cpu\", \"memory\", \"gpu\"]";
            let text =
                format!("[cluster]\nresources = {resources}\nnode = [{{ capacity = {amounts} }}]");
            read(&text).unwrap().remarks
        };
        assert_eq!(node("{ cpu = 2, memory = \"8GiB\", gpu = 2 }"), Vec::<String>::new());
        let told = node("{ cpu = 512, memory = \"64TiB\", gpu = 64 }");
        let says = |at: usize, words: &[&str]| words.iter().all(|word| told[at].contains(word));
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(says(0, &["512 cpu", "2 on this machine"]), "{told:?}");
        assert!(says(1, &["64TiB memory", "8GiB on this machine"]), "{told:?}");
        assert!(says(2, &["64 gpu", "2 on this machine"]), "{told:?}");
    }

    #[test]
    fn members_of_a_queue_have_turns_unless_it_says_how_it_orders() {
        let queue = |more: &str| format!("[[queue]]\nname = \"a\"\n{more}\n");
        let turns = |members: &str, queues: &str| {
            let text = format!("[server]\nmembers = {{ a = {members} }}\n{queues}");
            read(&text).unwrap().turns.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(turns("[\"ann\", \"bob\"]", &queue("")), ["a"]);
        assert_eq!(turns("[\"@staff\"]", &queue("weight = 2")), ["a"]);
        assert!(turns("[\"ann\"]", &queue("")).is_empty(), "one has all turns anyway");
        assert!(turns("[\"ann\", \"bob\"]", &queue("order = \"fifo\"")).is_empty());
        let above = queue("") + "[[queue]]\nname = \"a.b\"\n";
        assert!(turns("[\"ann\", \"bob\"]", &above).is_empty(), "its jobs are in queues below");
        let text = "[server]\nmembers = { a = [\"@staff\"] }\n".to_owned() + &queue("");
        let settings = read(&text).unwrap();
        let order = settings.config.queues[0].policy.name();
        assert_eq!(order, "long-term", "members as the root orders queues");
    }

    #[test]
    fn a_part_of_the_machine_can_be_given() {
        let text = "[cluster]\nresources = [\"cpu\", \"memory\"]\n\
                    node = [{ capacity = { cpu = 1.5, memory = \"2GiB\" } }]\n";
        let settings = read(text).unwrap();
        assert_eq!(settings.node().capacity.as_slice(), [1500, 2 << 30]);
        assert_eq!(settings.node().name, "box");
    }
}
