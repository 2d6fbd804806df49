//! What the MWF reader assumes where the format leaves a choice. Every choice can be set.

use meed::{ResourceKinds, Unit};

use crate::fields::pick_kind;
use crate::{TimeLimits, TraceError};

/// Which jobs share a queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum MwfQueues {
    /// Jobs of one user (column 12): `u62`.
    #[default]
    User,
    /// Jobs of one queue of the original system (column 20): `q_1d`.
    Queue,
    /// All jobs, in a queue of this name.
    Single(String),
}

/// Which properties that jobs ask of their nodes become constraints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MwfProperties {
    /// Those that a machines file tells: cluster, host, number of cpus.
    #[default]
    Known,
    /// Those, and every other one as a label of its name that the node must have.
    All,
    /// None: every job may run anywhere.
    Ignore,
}

/// All choices of the MWF reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MwfAssumptions {
    /// Which jobs share a queue.
    pub queues: MwfQueues,
    /// Which properties become constraints.
    pub properties: MwfProperties,
    /// The resource that processors are; the cluster's first kind when not given.
    pub processor_kind: Option<String>,
    /// Whether the requested memory counts.
    pub count_memory: bool,
    /// The resource that memory is; when not given the first kind counted in bytes, if there is
    /// one.
    pub memory_kind: Option<String>,
    /// Which time limits tasks have (column 9).
    pub limits: TimeLimits,
}

impl Default for MwfAssumptions {
    fn default() -> MwfAssumptions {
        MwfAssumptions {
            queues: MwfQueues::default(),
            properties: MwfProperties::default(),
            processor_kind: None,
            count_memory: true,
            memory_kind: None,
            limits: TimeLimits::default(),
        }
    }
}

/// The kinds that processors and memory are; `what` is named in messages.
pub(super) fn resolve(
    kinds: &ResourceKinds,
    processor: Option<&str>,
    memory: Option<&str>,
    what: &str,
) -> Result<(usize, Option<usize>), TraceError> {
    let setting = format!("{what} processor_kind");
    let fail = |setting: &str, why: String| Err(TraceError::settings(setting, why));
    let Some(cpu) = pick_kind(kinds, processor, &setting, |kind| kind == 0)? else {
        return fail(&setting, "the cluster has no resources".to_owned());
    };
    if kinds.unit(cpu) == Unit::Bytes {
        let name = kinds.name(cpu);
        return fail(
            &setting,
            format!(
                "\"{name}\" is counted in bytes; name a resource that is counted in pieces, such \
                 as cores"
            ),
        );
    }
    let setting = format!("{what} memory_kind");
    let ram = pick_kind(kinds, memory, &setting, |kind| kinds.unit(kind) == Unit::Bytes)?;
    match ram {
        Some(kind) if kinds.unit(kind) != Unit::Bytes => {
            fail(&setting, format!("\"{}\" is not counted in bytes", kinds.name(kind)))
        }
        _ => Ok((cpu, ram)),
    }
}

impl MwfAssumptions {
    /// The kinds that processors and memory are.
    pub(super) fn resolve(
        &self,
        kinds: &ResourceKinds,
    ) -> Result<(usize, Option<usize>), TraceError> {
        let (cpu, ram) = resolve(
            kinds,
            self.processor_kind.as_deref(),
            self.memory_kind.as_deref(),
            "the MWF reader's",
        )?;
        Ok((cpu, ram.filter(|_| self.count_memory)))
    }

    /// The choices in words.
    pub(super) fn words(
        &self,
        kinds: &ResourceKinds,
        processor: usize,
        memory: Option<usize>,
    ) -> Vec<String> {
        let queue = match &self.queues {
            MwfQueues::User => "one queue per user (column 12)".to_owned(),
            MwfQueues::Queue => "one queue per queue of the original system (column 20)".to_owned(),
            MwfQueues::Single(name) => format!("all jobs in the queue {name}"),
        };
        let properties = match self.properties {
            MwfProperties::Known => {
                "cluster, host and number of cpus that a job asks for are constraints; other \
                 properties are passed over"
            }
            MwfProperties::All => "all properties that a job asks for are constraints",
            MwfProperties::Ignore => "properties that a job asks for are passed over",
        };
        let mut words = vec![
            format!("MWF: {queue}"),
            format!(
                "MWF: a job is one task per node that it asks for, with that node's processors \
                 (column 21), taken as \
                 {}; tasks of one job run on different nodes, but need not start together",
                kinds.name(processor)
            ),
            format!("MWF: {properties}"),
            "MWF: exclusive use of a node (#excl) is passed over; parts of processors are cut"
                .to_owned(),
            "MWF: time 0 is the submission of the first job; jobs without an end are left out"
                .to_owned(),
        ];
        if let Some(kind) = memory {
            words.push(format!(
                "MWF: {} as requested, bytes per node (column 10)",
                kinds.name(kind)
            ));
        }
        words.extend(self.limits.words("MWF"));
        words
    }
}
