//! What Java asks of the library. JSON, for it is short and rare: once a tick.
//!
//! Times are milliseconds since 1970, as the ResourceManager's clock tells them; amounts of memory
//! are mebibytes, of processors virtual cores, as in YARN.

use serde::{Deserialize, Serialize};

/// A question.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PluginRequest {
    /// Opens the ledger of an epoch.
    Open(Open),
    /// What happened since the last tick.
    Tick(Tick),
    /// All rows as of the last tick: what the answers to ticks must add up to.
    Rows {},
    /// Checks settings; says nothing, or what is wrong.
    Check(PluginSettings),
    /// Whose turn it is, and why, for people.
    Explain(Explain),
    /// Whether containers are to be stopped for others: asked after a tick.
    TakeBack(TakeBackAsked),
    /// Panics: to test that nobody dies of it.
    Panic {},
}

/// Opens the ledger of an epoch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// The version that Java speaks: [`crate::PROTOCOL`].
    pub protocol: u32,
    /// The folder of all epochs; without one nothing outlives the process.
    #[serde(default)]
    pub folder: Option<String>,
    /// This ResourceManager's epoch.
    pub epoch: u64,
    /// Now.
    pub now: u64,
    /// Policies and queues.
    pub settings: PluginSettings,
    /// The name of the ResourceManager, for the journal.
    #[serde(default)]
    pub by: String,
}

/// Policies and queues, as they are configured.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginSettings {
    /// Keys that hold for the root and for every queue that says nothing else.
    #[serde(default)]
    pub policy: Vec<(String, String)>,
    /// Parents before their children; without the root.
    pub queues: Vec<Queue>,
    /// How many days of journal are kept.
    #[serde(default)]
    pub keep_days: Option<u32>,
}

/// A queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Full name in YARN: `root.a.b`.
    pub name: String,
    /// In thousandths.
    pub weight: u64,
    /// Keys of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy: Vec<(String, String)>,
}

/// What happened since the last tick.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tick {
    /// Until when: all events up to here are told.
    pub now: u64,
    /// All rows are to be told, whatever was told before.
    #[serde(default)]
    pub whole: bool,
    /// The queues, where they have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<PluginSettings>,
    /// All nodes, where they have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<Node>>,
    /// Containers that started or ended, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<ContainerEvent>,
    /// All containers that run, where they were looked at: what differs is put right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<Vec<ContainerStarted>>,
    /// What applications still ask for, of those where that has changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<Pending>,
    /// Applications that are over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
}

/// A node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name, with its port.
    pub name: String,
    /// Mebibytes.
    pub memory: u64,
    /// Virtual cores.
    pub cores: u64,
}

/// Something that happened to a container.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ContainerEvent {
    /// It started.
    Start(ContainerStarted),
    /// It ended.
    End {
        /// Its identity.
        id: String,
        /// When.
        at: u64,
    },
}

/// A container that runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContainerStarted {
    /// Its identity.
    pub id: String,
    /// Its application.
    pub app: String,
    /// The leaf queue of that.
    pub queue: String,
    /// Its node, with its port.
    pub node: String,
    /// Mebibytes.
    pub memory: u64,
    /// Virtual cores.
    pub cores: u64,
    /// Since when.
    pub since: u64,
}

/// What an application still asks for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pending {
    /// The application.
    pub app: String,
    /// Its leaf queue.
    pub queue: String,
    /// Mebibytes, virtual cores, number of containers: of each size once.
    pub asks: Vec<(u64, u64, u32)>,
}

/// Whose turn it is, and why.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    /// Now.
    pub now: u64,
    /// An application; without one the queues are told.
    #[serde(default)]
    pub app: Option<String>,
}

/// The answer to [`PluginRequest::Open`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LedgerOpened {
    /// Up to when the ledger was durable; 0: it begins now.
    pub through: u64,
    /// From which epoch it came, where it was another.
    pub from_epoch: Option<u64>,
    /// Worth a line of the log each.
    pub remarks: Vec<String>,
}

/// Whether containers are to be stopped for others, by `reclaim_after` and the keys beside it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakeBackAsked {
    /// Now.
    pub now: u64,
    /// Only say what would be stopped.
    #[serde(default)]
    pub dry: bool,
    /// Containers in which application masters run.
    #[serde(default)]
    pub masters: Vec<String>,
    /// Applications that could start nothing, whatever were free.
    #[serde(default)]
    pub held_up: Vec<String>,
    /// Leaves of which nothing is to be stopped.
    #[serde(default)]
    pub spared: Vec<String>,
    /// What queues keep: mebibytes, virtual cores.
    #[serde(default)]
    pub floors: Vec<(String, u64, u64)>,
}

/// The answer to [`PluginRequest::TakeBack`]: lines of words with tabs between.
///
/// | line | what |
/// |---|---|
/// | `mark CONTAINER SENTENCE` | its application is to be told that it will be stopped |
/// | `kill CONTAINER` | its grace is over |
/// | `say SENTENCE` | worth a line of the log |
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TakenBack {
    /// Containers that are told to stop, each with a sentence for the log.
    pub marks: Vec<(String, String)>,
    /// Containers whose grace is over.
    pub kills: Vec<String>,
    /// Worth a line of the log each.
    pub remarks: Vec<String>,
}

impl TakenBack {
    /// The lines.
    pub fn lines(&self) -> String {
        let marks = self.marks.iter().map(|(id, words)| format!("mark\t{id}\t{words}\n"));
        let kills = self.kills.iter().map(|id| format!("kill\t{id}\n"));
        let remarks = self.remarks.iter().map(|words| format!("say\t{words}\n"));
        marks.chain(kills).chain(remarks).collect()
    }
}
