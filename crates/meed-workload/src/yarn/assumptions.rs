//! What the reader of YARN's applications assumes where the file leaves a choice. Every choice can
//! be set.

use meed::{MAX_AMOUNT, ResourceKinds, Resources, Unit};

use crate::TraceError;
use crate::fields::pick_kind;

/// Which applications share a queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum YarnQueues {
    /// Those of one YARN queue: `root.eng.ml` is `ml` below `eng`.
    #[default]
    Queue,
    /// Those of one user.
    User,
    /// All, in a queue of this name.
    Single(String),
}

/// How an application becomes tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum YarnShape {
    /// One task for each vcore of its mean width: the scheduler may start them one by one, as YARN
    /// starts containers.
    #[default]
    Split,
    /// One task that holds all at once.
    Rigid,
}

/// All choices of the reader.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct YarnAssumptions {
    /// Which applications share a queue.
    pub queues: YarnQueues,
    /// How an application becomes tasks.
    pub shape: YarnShape,
    /// The resource that vcores are; when not given the first that is counted in pieces, if there
    /// is one.
    pub processor_kind: Option<String>,
    /// The resource that memory is; when not given the first kind counted in bytes, if there is
    /// one.
    pub memory_kind: Option<String>,
}

/// Where vcores and memory stand among the resources of the cluster.
pub(crate) struct Kinds {
    count: usize,
    vcores: Option<usize>,
    memory: Option<usize>,
}

impl Kinds {
    /// Those that `reader`'s settings name, or the first of their kind.
    pub(crate) fn resolve(
        kinds: &ResourceKinds,
        processor: Option<&str>,
        memory: Option<&str>,
        reader: &str,
    ) -> Result<Kinds, TraceError> {
        let pick = |named: Option<&str>, key: &str, unit: Unit, wanted: &str| {
            let setting = format!("{reader} {key}");
            let found = pick_kind(kinds, named, &setting, |kind| kinds.unit(kind) == unit)?;
            match found {
                Some(kind) if kinds.unit(kind) != unit => {
                    let why = format!("\"{}\" is not counted in {wanted}", kinds.name(kind));
                    Err(TraceError::settings(setting, why))
                }
                found => Ok(found),
            }
        };
        let vcores = pick(processor, "processor_resource", Unit::Milli, "pieces")?;
        let memory = pick(memory, "memory_resource", Unit::Bytes, "bytes")?;
        Ok(Kinds { count: kinds.len(), vcores, memory })
    }

    /// Thousandths of vcores, and bytes of memory, as the cluster counts them. All of a wide
    /// application at once may be beyond the largest amount, and is the largest then: no node can
    /// hold either.
    pub(crate) fn demand(&self, [vcores, memory]: [u64; 2]) -> Resources {
        let mut demand = Resources::zero(self.count);
        for (kind, amount) in [(self.vcores, vcores), (self.memory, memory)] {
            if let Some(kind) = kind {
                demand.as_mut_slice()[kind] = amount.min(MAX_AMOUNT);
            }
        }
        demand
    }

    /// What vcores and memory are called.
    pub(crate) fn names<'a>(&self, kinds: &'a ResourceKinds) -> [&'a str; 2] {
        [self.vcores, self.memory].map(|kind| kind.map_or("not counted", |kind| kinds.name(kind)))
    }
}

impl YarnAssumptions {
    pub(super) fn resolve(&self, kinds: &ResourceKinds) -> Result<Kinds, TraceError> {
        let (processor, memory) = (self.processor_kind.as_deref(), self.memory_kind.as_deref());
        Kinds::resolve(kinds, processor, memory, "the YARN reader's")
    }

    /// The choices in words; `first_ms` is the first submission, in milliseconds since 1970.
    pub(super) fn words(
        &self,
        kinds: &ResourceKinds,
        resolved: &Kinds,
        first_ms: u64,
    ) -> Vec<String> {
        let queue = match &self.queues {
            YarnQueues::Queue => "one queue per YARN queue, without the leading `root.`".to_owned(),
            YarnQueues::User => "one queue per user".to_owned(),
            YarnQueues::Single(name) => format!("all applications in the queue {name}"),
        };
        let shape = match self.shape {
            YarnShape::Split => "one task for each vcore of it, startable one by one",
            YarnShape::Rigid => "one task that holds all of it at once",
        };
        let [vcores, memory] = resolved.names(kinds);
        vec![
            format!("YARN: {queue}"),
            format!(
                "YARN: an application has its mean width (vcore-seconds over seconds from launch \
                 to end, rounded up), as {shape}; containers, waves and stages are not in the \
                 list, and its master is one of its vcores"
            ),
            format!(
                "YARN: vcores are {vcores}; memory, spread evenly over the vcores, is {memory}"
            ),
            "YARN: applications that have not ended, or have used nothing, are left out; run \
             times and widths are those of the scheduler of then"
                .to_owned(),
            format!(
                "YARN: time 0 is the first submission, {}.{:03} s after 1970-01-01T00:00:00Z",
                first_ms / 1000,
                first_ms % 1000
            ),
        ]
    }
}
