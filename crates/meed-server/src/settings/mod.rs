//! How a server is set up: the tables of scenarios without a workload, and `[server]`.
//!
//! What is missing is the machine as it is: its processors, memory and GPUs, one queue for each
//! user, and `long-term` with a half-life of a week. Everything is checked before any of it is
//! taken.

mod machine;
mod members;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use meed::{Config, QueueSpec};
use meed_config::cluster::{ClusterForm, FairnessForm};
use meed_config::nodes::{NodeForm, ResourceForm};
use meed_config::policy::PolicySpec;
use meed_config::quantity::{AmountsByName, Quantity};
use meed_config::queues::QueueForm;
use meed_config::{ClusterConfig, Place, tree};
use meed_journal::Keys;
use serde::Deserialize;

pub use machine::ThisMachine;
pub use members::{Members, Role};

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
    /// Who may do what.
    pub members: Members,
    /// What a task asks for that says nothing.
    pub default_demand: AmountsByName,
    /// What a task asks for at least.
    pub least: meed::Resources,
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
        let cluster = cluster.unwrap_or_else(|| machine.cluster());
        let policy = match policy {
            Some(policy) => policy,
            None => {
                POLICY.parse().map_err(|why: meed_config::policy::SpecError| why.to_string())?
            }
        };
        let whole = ClusterConfig {
            policy: policy.clone(),
            cluster: with_one_node(cluster, machine)?,
            fairness,
            queue: queue.clone(),
        };
        let setup = match text {
            Some((file, text)) => whole.resolve_in(file, text).map_err(|why| why.to_string())?,
            None => whole.resolve().map_err(|why| why.to_string())?,
        };
        remarks.extend(setup.remarks);
        let (mut config, mut keys) = (setup.config, setup.keys);
        if config.queues.is_empty() {
            // The engine has at least one; those of others come with their first job.
            config.queues.push(user_queue(alone.unwrap_or("root"), &setup.leaf));
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
            members,
            default_demand: server.default,
            least,
            default_time: span("default_time", &server.default_time)?,
            max_time: span("max_time", &server.max_time)?,
            grace: span("grace", &server.grace)?.unwrap_or(Duration::from_secs(10)),
            max_jobs: server.max_jobs.unwrap_or(100_000),
            affinity: server.affinity.unwrap_or(true),
            control_groups: server.control_groups.unwrap_or(true),
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

    /// The queues as they were written: two that are equal need not be told.
    pub(crate) fn known(&self) -> Option<String> {
        serde_json::to_string(&self.queues).ok()
    }

    /// The keys that a queue has under every policy, for readers of the journal.
    pub(crate) fn own_keys(&self, queue: &str) -> Keys {
        let at = self.config.queues.iter().position(|spec| spec.name == queue);
        let keys = at.and_then(|at| self.keys.get(at)).cloned();
        // A user's queue is in no configuration.
        meed_journal::keys_line(&keys.unwrap_or_else(meed_config::queues::leaf_keys))
    }

    /// The policy of a user's queue.
    pub(crate) fn leaf(&self) -> &meed::Policy {
        &self.leaf
    }

    /// What nothing bounds, a sentence each: what a task takes beyond what it has asked for.
    pub fn not_bounded(&self) -> Vec<String> {
        let has = |name: &str| {
            let kind = self.config.kinds.find(name);
            kind.is_some_and(|kind| self.node().capacity.get(kind) > 0)
        };
        let processors = match self.affinity {
            true => {
                "processors are not bounded: a task that asks for whole ones starts on its own, \
                 and can leave them; a task that asks for a part of one may use all"
            }
            false => "processors are not bounded: a task may use all, whatever it asks for",
        };
        let gpus = "GPUs are named to tasks (CUDA_VISIBLE_DEVICES) and not bounded: a task that \
                    ignores the name reaches all of them";
        let all = [("cpu", processors), ("gpu", gpus)].into_iter();
        all.filter(|(name, _)| has(name)).map(|(_, words)| words.to_owned()).collect()
    }

    /// The machine's node.
    pub fn node(&self) -> &meed::NodeSpec {
        &self.config.nodes[0]
    }
}

/// The queue of a user who has none.
pub fn user_queue(name: &str, policy: &meed::Policy) -> QueueSpec {
    let name = name.to_owned();
    QueueSpec { name, weight: 1000, min: None, max: None, policy: policy.clone() }
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
        let machine =
            ThisMachine { name: "box".into(), processors: vec![0, 1], memory: 8 << 30, gpus: 2 };
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
    fn a_part_of_the_machine_can_be_given() {
        let text = "[cluster]\nresources = [\"cpu\", \"memory\"]\n\
                    node = [{ capacity = { cpu = 1.5, memory = \"2GiB\" } }]\n";
        let settings = read(text).unwrap();
        assert_eq!(settings.node().capacity.as_slice(), [1500, 2 << 30]);
        assert_eq!(settings.node().name, "box");
    }
}
