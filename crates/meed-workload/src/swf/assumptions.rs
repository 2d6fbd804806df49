//! What the SWF reader assumes where the format leaves a choice. Every choice can be set.

use meed::{ResourceKinds, Span, Unit};

use crate::fields::pick_kind;
use crate::{TimeLimits, TraceError};

/// Which jobs share a queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum SwfQueues {
    /// Jobs of one user (column 12): `u97`.
    #[default]
    User,
    /// Jobs of one group (column 13): `g3`.
    Group,
    /// Jobs of one application (column 14): `x307`.
    Executable,
    /// Jobs of one queue of the original system (column 15): `q1`.
    Queue,
    /// Jobs of one partition (column 16): `p2`.
    Partition,
    /// All jobs, in a queue of this name.
    Single(String),
}

/// How a job's processors become tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SwfShape {
    /// One task that holds all processors at once: parallel jobs as they were.
    #[default]
    Rigid,
    /// One task per processor, each as long as the job: the scheduler may start them one by one.
    Split,
    /// One task per processor, all of which start together, on whichever nodes.
    Gang,
}

/// Which number of processors counts; the other one where it is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SwfProcessors {
    /// Column 5, what the job got: the archive's own recommendation.
    #[default]
    Allocated,
    /// Column 8, what the job asked for.
    Requested,
}

/// Which memory counts (kilobytes per processor); the other one where it is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SwfMemory {
    /// Column 10, what the job asked for: what a scheduler sees.
    #[default]
    Requested,
    /// Column 7, what the job used.
    Used,
    /// Jobs hold no memory.
    Ignore,
}

/// All choices of the SWF reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwfAssumptions {
    /// Which jobs share a queue.
    pub queues: SwfQueues,
    /// How a job's processors become tasks.
    pub shape: SwfShape,
    /// Which number of processors counts.
    pub processors: SwfProcessors,
    /// The resource that processors are; the cluster's first kind when not given.
    pub processor_kind: Option<String>,
    /// Which memory counts.
    pub memory: SwfMemory,
    /// The resource that memory is; when not given the first kind counted in bytes, if there is
    /// one.
    pub memory_kind: Option<String>,
    /// Which time limits tasks have (column 9).
    pub limits: TimeLimits,
    /// Shorter run times are raised to this; 0 keeps jobs that ran for less than a second as they
    /// are.
    pub min_duration: Span,
    /// Leave out jobs that were cancelled (status 5) before they ran.
    pub ignore_cancelled: bool,
    /// Leave out the parts (status 2, 3, 4) of jobs that were swapped out: their summary line
    /// counts.
    pub ignore_partial: bool,
}

impl Default for SwfAssumptions {
    fn default() -> SwfAssumptions {
        SwfAssumptions {
            queues: SwfQueues::default(),
            shape: SwfShape::default(),
            processors: SwfProcessors::default(),
            processor_kind: None,
            memory: SwfMemory::default(),
            memory_kind: None,
            limits: TimeLimits::default(),
            min_duration: Span::ZERO,
            ignore_cancelled: true,
            ignore_partial: true,
        }
    }
}

impl SwfAssumptions {
    /// The kinds that processors and memory are.
    pub(super) fn resolve(
        &self,
        kinds: &ResourceKinds,
    ) -> Result<(usize, Option<usize>), TraceError> {
        let fail = |why: &str| Err(TraceError::settings("the SWF reader's processor_kind", why));
        let named = self.processor_kind.as_deref();
        let Some(processor) =
            pick_kind(kinds, named, "the SWF reader's processor_kind", |kind| kind == 0)?
        else {
            return fail("the cluster has no resources");
        };
        if kinds.unit(processor) == Unit::Bytes {
            return fail(&format!(
                "\"{}\" is counted in bytes; name a resource that is counted in pieces, such as \
                 cores",
                kinds.name(processor)
            ));
        }
        let memory = match self.memory {
            SwfMemory::Ignore => None,
            SwfMemory::Requested | SwfMemory::Used => {
                let setting = "the SWF reader's memory_kind";
                let bytes = |kind| kinds.unit(kind) == Unit::Bytes;
                let memory = pick_kind(kinds, self.memory_kind.as_deref(), setting, bytes)?;
                if let Some(kind) = memory
                    && !bytes(kind)
                {
                    let why = format!("\"{}\" is not counted in bytes", kinds.name(kind));
                    return Err(TraceError::settings(setting, why));
                }
                memory
            }
        };
        Ok((processor, memory))
    }

    /// The choices in words.
    pub(super) fn words(
        &self,
        kinds: &ResourceKinds,
        processor: usize,
        memory: Option<usize>,
    ) -> Vec<String> {
        let queue = match &self.queues {
            SwfQueues::User => "one queue per user (column 12)".to_owned(),
            SwfQueues::Group => "one queue per group (column 13)".to_owned(),
            SwfQueues::Executable => "one queue per application (column 14)".to_owned(),
            SwfQueues::Queue => "one queue per queue of the original system (column 15)".to_owned(),
            SwfQueues::Partition => "one queue per partition (column 16)".to_owned(),
            SwfQueues::Single(name) => format!("all jobs in the queue {name}"),
        };
        let shape = match self.shape {
            SwfShape::Rigid => "a job is one task that holds all its processors at once",
            SwfShape::Split => "a job is one task per processor",
            SwfShape::Gang => "a job is one task per processor, which start together",
        };
        let processors = match self.processors {
            SwfProcessors::Allocated => {
                "processors as allocated (column 5), else as requested (column 8)"
            }
            SwfProcessors::Requested => {
                "processors as requested (column 8), else as allocated (column 5)"
            }
        };
        let mut words = vec![
            format!("SWF: {queue}"),
            format!("SWF: {shape}; {processors}, taken as {}", kinds.name(processor)),
            "SWF: jobs whose run time or processors are unknown are left out".to_owned(),
        ];
        if let Some(kind) = memory {
            let memory = match self.memory {
                SwfMemory::Used => "as used (column 7), else as requested (column 10)",
                SwfMemory::Requested | SwfMemory::Ignore => {
                    "as requested (column 10), else as used (column 7)"
                }
            };
            words.push(format!("SWF: {} {memory}, else none", kinds.name(kind)));
        }
        words.extend(self.limits.words("SWF"));
        if self.min_duration > Span::ZERO {
            words.push(format!("SWF: run times are at least {}", self.min_duration));
        }
        if self.ignore_cancelled {
            words.push("SWF: jobs cancelled before they ran are left out".to_owned());
        }
        if self.ignore_partial {
            words.push(
                "SWF: parts of swapped jobs are left out; their summary line counts".to_owned(),
            );
        }
        words
    }
}
