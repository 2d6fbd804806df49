//! What the reader of job histories assumes where the file leaves a choice. Every choice can be
//! set.

use meed::{ResourceKinds, Resources};

use crate::TraceError;
use crate::yarn::Kinds;

/// Which jobs share a queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum HistoryQueues {
    /// Those of one YARN queue: `root.eng.ml` is `ml` below `eng`.
    #[default]
    Queue,
    /// Those of one user.
    User,
    /// All, in a queue of this name.
    Single(String),
}

/// How long a task ran that was tried several times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HistoryEpisode {
    /// As long as all its attempts together, so the work is what it was.
    #[default]
    Total,
    /// As long as the attempt that ended well; tasks without one are left out.
    Finished,
}

/// When reduces run, which hold containers while the last maps run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HistoryReduces {
    /// When all maps have ended; their run times count from then, too.
    #[default]
    AfterMaps,
    /// At once, for as long as they held their containers.
    WithMaps,
}

/// All choices of the reader.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HistoryAssumptions {
    /// Which jobs share a queue.
    pub queues: HistoryQueues,
    /// How long a task ran that was tried several times.
    pub episode: HistoryEpisode,
    /// When reduces run.
    pub reduces: HistoryReduces,
    /// What a map holds where the history does not tell; when not given Hadoop's default.
    pub map_demand: Option<Resources>,
    /// The same of a reduce.
    pub reduce_demand: Option<Resources>,
    /// The resource that vcores are; when not given the first that is counted in pieces.
    pub processor_kind: Option<String>,
    /// The resource that memory is; when not given the first kind counted in bytes.
    pub memory_kind: Option<String>,
}

/// What a task holds by Hadoop's defaults: a vcore (in thousandths) and a gibibyte.
pub(super) const DEFAULT: [u64; 2] = [1000, 1 << 30];

impl HistoryAssumptions {
    pub(super) fn resolve(&self, kinds: &ResourceKinds) -> Result<Kinds, TraceError> {
        let (processor, memory) = (self.processor_kind.as_deref(), self.memory_kind.as_deref());
        Kinds::resolve(kinds, processor, memory, "the job history reader's")
    }

    /// The choices in words; `first_ms` is the first submission, in milliseconds since 1970.
    pub(super) fn words(&self, kinds: &ResourceKinds, resolved: &Kinds) -> Vec<String> {
        let queue = match &self.queues {
            HistoryQueues::Queue => {
                "one queue per YARN queue, without the leading `root.`".to_owned()
            }
            HistoryQueues::User => "one queue per user".to_owned(),
            HistoryQueues::Single(name) => format!("all jobs in the queue {name}"),
        };
        let episode = match self.episode {
            HistoryEpisode::Total => "a task runs as long as all its attempts together",
            HistoryEpisode::Finished => "a task runs as long as the attempt that ended well",
        };
        let reduces = match self.reduces {
            HistoryReduces::AfterMaps => {
                "reduces start when all maps have ended, and run as long as they then ran"
            }
            HistoryReduces::WithMaps => {
                "reduces start with the maps, and run as long as they held their containers"
            }
        };
        let [vcores, memory] = resolved.names(kinds);
        vec![
            queue,
            format!("{episode}; {reduces}"),
            format!(
                "vcores are {vcores}; memory is {memory}; of each task what the job's counters \
                 say (MB_MILLIS_MAPS / MILLIS_MAPS and so on)"
            ),
            "masters, locality and dependencies between jobs are passed over; jobs that have not \
             ended, or of which no task ran, are left out"
                .to_owned(),
        ]
    }
}
