//! What the reader of Spark's event logs assumes where these leave a choice. Every choice can be
//! set.

use std::path::PathBuf;

use meed::{ResourceKinds, Resources, Unit};

use crate::TraceError;
use crate::fields::pick_kind;
use crate::yarn::Kinds;

/// Which applications share a queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum SparkQueues {
    /// Those of one YARN queue (`root.eng.ml` is `ml` below `eng`) or of one namespace of
    /// Kubernetes; where there is neither, those of one user.
    #[default]
    Queue,
    /// Those of one user.
    User,
    /// Those of one name.
    Name,
    /// All, in a queue of this name.
    Single(String),
}

/// What of an application becomes tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SparkShape {
    /// What was held: each executor is a task, and the master is one.
    #[default]
    Executors,
    /// What its tasks needed: each job of Spark is a job, with its stages and tasks.
    Tasks,
}

/// How long a task ran that was tried several times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SparkEpisode {
    /// As long as all its attempts together, so the work is what it was.
    #[default]
    Total,
    /// As long as the attempt that ended well; tasks without one are left out.
    Finished,
}

/// Applications whose log has no end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SparkUnfinished {
    /// They held what they held until the last event, or until YARN's list says that they ended.
    #[default]
    UntilEnd,
    /// They are left out.
    Drop,
}

/// What YARN rounds containers up to by default, in bytes:
/// `yarn.scheduler.minimum-allocation-mb`.
pub const CONTAINER_STEP: u64 = 1 << 30;

/// All choices of the reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SparkAssumptions {
    /// Which applications share a queue.
    pub queues: SparkQueues,
    /// What of an application becomes tasks.
    pub shape: SparkShape,
    /// How long a task ran that was tried several times.
    pub episode: SparkEpisode,
    /// Applications whose log has no end.
    pub unfinished: SparkUnfinished,
    /// YARN's list of applications, which tells how long containers were held.
    pub applications: Option<PathBuf>,
    /// Memory of containers of YARN is a multiple of so many bytes, at least 1.
    pub container_step: u64,
    /// The resource that cores are; when not given the first that is counted in pieces.
    pub processor_kind: Option<String>,
    /// The resource that memory is; when not given the first kind counted in bytes.
    pub memory_kind: Option<String>,
    /// The resource that GPUs are; when not given the one called `gpu`, if there is one.
    pub gpu_kind: Option<String>,
}

impl Default for SparkAssumptions {
    fn default() -> SparkAssumptions {
        SparkAssumptions {
            queues: SparkQueues::default(),
            shape: SparkShape::default(),
            episode: SparkEpisode::default(),
            unfinished: SparkUnfinished::default(),
            applications: None,
            container_step: CONTAINER_STEP,
            processor_kind: None,
            memory_kind: None,
            gpu_kind: None,
        }
    }
}

/// What something holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Holds {
    /// Thousandths of a core.
    pub(super) cores: u64,
    /// Bytes.
    pub(super) memory: u64,
    /// Thousandths of a GPU.
    pub(super) gpus: u64,
}

/// Where cores, memory and GPUs stand among the resources of the cluster.
pub(super) struct SparkKinds {
    both: Kinds,
    gpu: Option<usize>,
}

impl SparkKinds {
    pub(super) fn demand(&self, holds: Holds) -> Resources {
        let mut demand = self.both.demand([holds.cores, holds.memory]);
        if let Some(gpu) = self.gpu {
            demand.as_mut_slice()[gpu] = holds.gpus.min(meed::MAX_AMOUNT);
        }
        demand
    }

    pub(super) fn counts_gpus(&self) -> bool {
        self.gpu.is_some()
    }
}

impl SparkAssumptions {
    pub(super) fn resolve(&self, kinds: &ResourceKinds) -> Result<SparkKinds, TraceError> {
        const READER: &str = "the Spark reader's";
        let (processor, memory) = (self.processor_kind.as_deref(), self.memory_kind.as_deref());
        let setting = format!("{READER} gpu_resource");
        let is_gpu = |kind: usize| kinds.name(kind) == "gpu" && kinds.unit(kind) == Unit::Milli;
        let gpu = pick_kind(kinds, self.gpu_kind.as_deref(), &setting, is_gpu)?;
        if let Some(kind) = gpu.filter(|kind| kinds.unit(*kind) != Unit::Milli) {
            let why = format!("\"{}\" is not counted in pieces", kinds.name(kind));
            return Err(TraceError::settings(setting, why));
        }
        Ok(SparkKinds { both: Kinds::resolve(kinds, processor, memory, READER)?, gpu })
    }

    /// The choices in words.
    pub(super) fn words(&self, kinds: &ResourceKinds, resolved: &SparkKinds) -> Vec<String> {
        let queue = match &self.queues {
            SparkQueues::Queue => "one queue per YARN queue, without the leading `root.`, or per \
                namespace of Kubernetes, or, where there is neither, per user"
                .to_owned(),
            SparkQueues::User => "one queue per user".to_owned(),
            SparkQueues::Name => "one queue per name of an application".to_owned(),
            SparkQueues::Single(name) => format!("all applications in the queue {name}"),
        };
        let [cores, memory] = resolved.both.names(kinds);
        let shape = match self.shape {
            SparkShape::Executors => "what was held: each executor is a task, from when it \
                registered until it was removed or its application ended, and so is the master on \
                YARN, and on Kubernetes in cluster mode; executors that were asked for later come \
                later, as a job of the same name (`shape = \"tasks\"` takes what tasks needed)"
                .to_owned(),
            SparkShape::Tasks => {
                let episode = match self.episode {
                    SparkEpisode::Total => "all its attempts together",
                    SparkEpisode::Finished => "the attempt that ended well",
                };
                format!(
                    "what tasks needed: each job of Spark comes when its driver submitted it, \
                     with its stages behind each other; a task runs as long as {episode}, and \
                     holds its cores and as large a part of its executor's memory (`shape = \
                     \"executors\"` takes what was held)"
                )
            }
        };
        vec![queue, shape, format!("cores are {cores}; memory, with its overhead, is {memory}")]
    }
}
