//! Jobs as they come, change and go.

use meed::{Span, Time};
use meed_config::constraints::ConstraintsForm;
use meed_config::gang::GangForm;
use serde::{Deserialize, Serialize};

use crate::amounts::Amounts;
use crate::detail::Detail;
use crate::exact;
use crate::exact::{is_one, is_usual, one};
use crate::name::{JobKey, Name};

/// A job that arrives: all of it.
///
/// ```
/// use meed_journal::{Arrival, Group};
///
/// let group = Group { tasks: 3, ..Group::default() };
/// let job = Arrival::new("physics".into(), "9f1c".into(), vec![group]);
/// assert_eq!(job.name(), &job.job); // without a name of its own its key is its name
/// assert_eq!((job.weight, job.open), (1000, false));
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Arrival {
    /// Its leaf queue.
    pub queue: Name,
    /// Its key.
    pub job: JobKey,
    /// What people call it, where that is not its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<JobKey>,
    /// Its weight among the jobs of its queue, in thousandths.
    #[serde(default = "one", with = "exact::thousandths", skip_serializing_if = "is_one")]
    pub weight: u64,
    /// The closed chain it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<u32>,
    /// It came so long after the end of the chain's job before it.
    #[serde(default, rename = "pause_s", with = "exact", skip_serializing_if = "Option::is_none")]
    pub pause: Option<Span>,
    /// But not before this instant.
    #[serde(
        default,
        rename = "not_before_s",
        with = "exact",
        skip_serializing_if = "Option::is_none"
    )]
    pub not_before: Option<Time>,
    /// Longest run time that it asked for: that of its tasks whose group says none.
    #[serde(default, rename = "limit_s", with = "exact", skip_serializing_if = "Option::is_none")]
    pub limit: Option<Span>,
    /// How often each of its tasks may fail before the job does, 0 for no limit; `None`: as the
    /// header says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u16>,
    /// Tasks may be added that no record tells of yet: the job does not end with its last task.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub open: bool,
    /// Of its first stage.
    pub groups: Vec<Group>,
    /// Of the stages to come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<Group>,
    /// All groups as they were submitted, where tasks were cut to a share (`static`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submitted: Vec<Group>,
    /// The world's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Detail,
}

impl Arrival {
    /// A job of `groups` and nothing else.
    pub fn new(queue: Name, job: JobKey, groups: Vec<Group>) -> Arrival {
        Arrival {
            queue,
            job,
            name: None,
            weight: exact::ONE,
            chain: None,
            pause: None,
            not_before: None,
            limit: None,
            max_attempts: None,
            open: false,
            groups,
            later: Vec::new(),
            submitted: Vec::new(),
            detail: None,
        }
    }

    /// The limit of the tasks of groups that have none of their own: what the job asked for. 0 is
    /// none.
    pub fn limit_of_groups(&self) -> Option<Span> {
        self.limit.filter(|limit| *limit > Span::ZERO)
    }

    /// What people call it.
    pub fn name(&self) -> &JobKey {
        self.name.as_ref().unwrap_or(&self.job)
    }
}

/// Equal tasks of a job.
///
/// It is part of an [`Arrival`], whose page has an example.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Group {
    /// Its stage, where that does not follow from where the group stands.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub stage: u16,
    /// Number of tasks.
    pub tasks: u32,
    /// What each holds while it runs.
    pub demand: Amounts,
    /// How long they run: one for all, or one for each. Empty where nobody knows (a live world):
    /// there the ends tell.
    #[serde(default, rename = "duration_s", with = "exact", skip_serializing_if = "Vec::is_empty")]
    pub durations: Vec<Span>,
    /// Where they may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Box<ConstraintsForm>>,
    /// The longest that each may run, above zero; `None`: as its job's arrival says.
    #[serde(default, rename = "limit_s", with = "exact", skip_serializing_if = "Option::is_none")]
    pub limit: Option<Span>,
    /// How often each saves what it has done, above zero; `None`: as the run's header says.
    #[serde(
        default,
        rename = "checkpoint_s",
        with = "exact",
        skip_serializing_if = "Option::is_none"
    )]
    pub checkpoint: Option<Span>,
    /// How many of them start together or not at all; `None`: each as it fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gang: Option<GangForm>,
    /// The label of which all nodes where they run have one value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same: Option<String>,
}

/// A job that is refused: all of it, for under another policy or on another cluster it may run.
///
/// The content of a [`Fact::JobRefused`](crate::Fact); [`Arrival`] has an example of the job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// Why.
    pub why: String,
    /// The job.
    pub arrival: Arrival,
}

/// A job gets more tasks: its next stage begins, or tasks that nobody knew of are added.
///
/// The content of a [`Fact::TasksAdded`](crate::Fact); [`Arrival`] has an example of groups.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TasksAdded {
    /// The job.
    pub job: JobKey,
    /// The stage; 0 where the job has none.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub stage: u16,
    /// The tasks, numbered on from those before.
    pub groups: Vec<Group>,
    /// Still more may be added of which no record tells yet.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub open: bool,
}

/// A job's weight changes.
///
/// The content of a [`Fact::JobChanged`](crate::Fact); the page of [`Record`](crate::Record) has
/// an example of a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobChanged {
    /// The job.
    pub job: JobKey,
    /// Its weight from now on, in thousandths.
    #[serde(with = "exact::thousandths")]
    pub weight: u64,
}

/// Somebody asks to cancel a job. What it stops and that it ends are records of their own.
///
/// The content of a [`Fact::JobCancelled`](crate::Fact); the page of [`Record`](crate::Record) has
/// an example of a line.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Cancelled {
    /// The job; `None`: none of that name was alive, and nothing happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobKey>,
    /// What it was called by, where that is not its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<JobKey>,
}

/// A job that has ended.
///
/// ```
/// use meed_journal::{Fact, JobEnd, Kind, Outcome};
///
/// let end = JobEnd { job: 7.into(), outcome: Outcome::Done, detail: None };
/// let fact = Fact::JobEnded(end);
/// assert_eq!((fact.kind(), fact.kind().word()), (Kind::JobEnded, "job_end"));
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobEnd {
    /// The job.
    pub job: JobKey,
    /// What became of it.
    pub outcome: Outcome,
    /// The world's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Detail,
}

/// What became of a job. Whoever settles jobs by it must know all of them.
///
/// It is part of a [`JobEnd`], whose page has an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All its tasks have ended.
    Done,
    /// A task used up its attempts, or a stage could not begin.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
}
