//! The canonical job: what every reader and generator makes and every world takes.

use std::fmt;

use meed::{Resources, Span, Time};

/// One job: who submits it, when, and which tasks it has.
#[derive(Clone, PartialEq, Debug)]
pub struct Job {
    /// What the source calls it.
    pub label: JobLabel,
    /// Its queue, as an index into [`crate::JobSource::queues`].
    pub queue: u32,
    /// When it is submitted.
    pub submit: Time,
    /// Its weight among the jobs of its queue, at least 1; only some orders of jobs read it.
    pub weight: u32,
    /// The closed arrival chain it belongs to: its end may submit the chain's next job.
    pub chain: Option<u32>,
    /// Its tasks, grouped; in order of their stage.
    pub groups: Vec<TaskGroup>,
}

/// Equal tasks of one stage of a job.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskGroup {
    /// Tasks of stage n + 1 wait until all tasks of stage n have ended (map, then reduce). Counted from 0.
    pub stage: u16,
    /// Number of tasks, at least 1.
    pub count: u32,
    /// What each task holds while it runs.
    pub demand: Resources,
    /// How long the tasks run.
    pub duration: Durations,
}

/// Run times of a group's tasks.
#[derive(Clone, PartialEq, Debug)]
pub enum Durations {
    /// All tasks run equally long.
    Same(Span),
    /// One length per task, in task order; as many as the group has tasks.
    Each(Box<[Span]>),
}

impl Durations {
    /// Run time of the group's task number `index`.
    pub fn get(&self, index: u32) -> Span {
        match self {
            Durations::Same(span) => *span,
            Durations::Each(spans) => spans[index as usize],
        }
    }
}

/// What the source calls a job: numbers cost nothing, names are kept as they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobLabel {
    /// A number.
    Number(u64),
    /// A name.
    Name(Box<str>),
}

impl fmt::Display for JobLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobLabel::Number(number) => number.fmt(f),
            JobLabel::Name(name) => name.fmt(f),
        }
    }
}
