//! The canonical job: what every reader and generator makes and every world takes.

use std::fmt;

use meed::{Constraints, Gang, MAX_AMOUNT, Resources, Span, Time};

/// Most tasks that one job can have: 2^24. A world may keep something per task.
pub const MAX_TASKS: u32 = 1 << 24;

/// One job: who submits it, when, and which tasks it has.
///
/// ```
/// use meed::{Resources, Span, Time};
/// use meed_workload::{Durations, Job, JobGroup, JobLabel};
///
/// let minute = Span::from_secs(60).ok_or("in range")?;
/// let group = JobGroup::new(3, Resources::new(&[1000]), Durations::Same(minute));
/// let mut job = Job {
///     label: JobLabel::Number(7),
///     queue: 0,
///     submit: Time::ZERO,
///     weight: 1000,
///     chain: None,
///     groups: vec![group],
/// };
/// assert_eq!(job.tasks(), 3);
/// job.check(1, 1)?; // a source of one queue, a cluster of one resource
/// job.queue = 1;
/// assert!(job.check(1, 1).is_err());
/// # Ok::<(), String>(())
/// ```
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
    /// Its tasks, grouped; in order of their stage, which begin at 0 and leave no gap.
    pub groups: Vec<JobGroup>,
}

impl Job {
    /// Number of its tasks.
    pub fn tasks(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.count)).sum()
    }

    /// Whether it is what a world may be given, with `queues` queues and `kinds` resource kinds:
    /// the first thing that is wrong, as a sentence. Every source hands out only jobs that pass.
    pub fn check(&self, queues: usize, kinds: usize) -> Result<(), String> {
        if self.queue as usize >= queues {
            return Err(format!(
                "its queue has the number {}, but there are {queues} queues",
                self.queue
            ));
        }
        if self.weight == 0 {
            return Err("its weight is 0; a weight is at least 1".to_owned());
        }
        if self.groups.is_empty() {
            return Err("it has no tasks; a job has at least one".to_owned());
        }
        if self.tasks() > u64::from(MAX_TASKS) {
            return Err(format!("it has {} tasks; a job has at most {MAX_TASKS}", self.tasks()));
        }
        let mut stage = 0;
        for (number, group) in self.groups.iter().enumerate() {
            let next = if number == 0 { 0 } else { u32::from(stage) + 1 };
            if group.stage != stage && u32::from(group.stage) != next {
                return Err(format!(
                    "a group of stage {} follows stage {stage}; stages begin at 0, ascend and \
                     leave no gap",
                    group.stage
                ));
            }
            stage = group.stage;
            group.check(kinds)?;
        }
        Ok(())
    }
}

/// Equal tasks of one stage of a job.
///
/// The example of [`Job`] has one.
#[derive(Clone, PartialEq, Debug)]
pub struct JobGroup {
    /// Tasks of stage n + 1 wait until all tasks of stage n have ended (map, then reduce). Counted
    /// from 0.
    pub stage: u16,
    /// Number of tasks, at least 1.
    pub count: u32,
    /// What each task holds while it runs.
    pub demand: Resources,
    /// How long the tasks run.
    pub duration: Durations,
    /// Where they may run; `None`: anywhere.
    pub constraints: Option<Box<Constraints>>,
    /// The longest that each may run, as whoever submits them says: above zero, and as wrong as
    /// people are. `None`: nobody says.
    pub limit: Option<Span>,
    /// How often each saves what it has done, above zero: one that is stopped goes on from there.
    /// `None`: as the run says.
    pub checkpoint: Option<Span>,
    /// Whether they start together or not at all; `None`: each as it fits.
    pub gang: Option<Box<Gang>>,
    /// They ran still when their log ended: they run for as long as is known, and what that makes
    /// of their job's time is no figure.
    pub cut: bool,
}

impl JobGroup {
    /// Tasks of the first stage that may run anywhere, each as it fits, of which nothing more is
    /// said.
    pub fn new(count: u32, demand: Resources, duration: Durations) -> JobGroup {
        JobGroup {
            stage: 0,
            count,
            demand,
            duration,
            constraints: None,
            limit: None,
            checkpoint: None,
            gang: None,
            cut: false,
        }
    }

    fn check(&self, kinds: usize) -> Result<(), String> {
        if self.count == 0 {
            return Err("a group of 0 tasks; a group has at least one".to_owned());
        }
        if let Durations::Each(spans) = &self.duration
            && spans.len() != self.count as usize
        {
            return Err(format!(
                "{} durations for {} tasks; give one for each",
                spans.len(),
                self.count
            ));
        }
        if self.demand.kinds() != kinds {
            return Err(format!(
                "a demand for {} resources; there are {kinds}",
                self.demand.kinds()
            ));
        }
        if self.demand.is_zero() {
            return Err(
                "a task that holds nothing; demand some of at least one resource".to_owned()
            );
        }
        if let Some(amount) = self.demand.as_slice().iter().find(|amount| **amount > MAX_AMOUNT) {
            return Err(format!(
                "a demand of {amount} smallest units; the largest is {MAX_AMOUNT}"
            ));
        }
        if self.limit == Some(Span::ZERO) {
            return Err("a time limit of 0; a limit is above zero".to_owned());
        }
        if self.checkpoint == Some(Span::ZERO) {
            return Err("a checkpoint every 0 s; the time between two is above zero".to_owned());
        }
        if let Some(gang) = &self.gang
            && !(1..=self.count).contains(&gang.least)
        {
            let (least, count) = (gang.least, self.count);
            return Err(format!("a gang of {least} of {count} tasks; from 1 to all are right"));
        }
        Ok(())
    }
}

/// Run times of a group's tasks.
///
/// ```
/// use meed::Span;
/// use meed_workload::Durations;
///
/// let seconds = |s| Span::from_secs(s).expect("in range");
/// let each = Durations::Each([seconds(10), seconds(30)].into());
/// assert_eq!((each.get(0), each.longest()), (seconds(10), seconds(30)));
/// assert_eq!(Durations::Same(seconds(10)).total_micros(2), 20_000_000);
/// ```
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

    /// Run time of the task that runs longest.
    ///
    /// ```
    /// use meed::Span;
    /// use meed_workload::Durations;
    ///
    /// let [one, two] = [1, 2].map(|seconds| Span::from_secs(seconds).unwrap_or_default());
    /// assert_eq!(Durations::Each([two, one].into()).longest(), two);
    /// ```
    pub fn longest(&self) -> Span {
        match self {
            Durations::Same(span) => *span,
            Durations::Each(spans) => spans.iter().copied().max().unwrap_or(Span::ZERO),
        }
    }

    /// Run times of all `count` tasks of the group together, in microseconds.
    pub fn total_micros(&self, count: u32) -> u128 {
        match self {
            Durations::Same(span) => u128::from(span.as_micros()) * u128::from(count),
            Durations::Each(spans) => spans.iter().map(|span| u128::from(span.as_micros())).sum(),
        }
    }
}

/// What the source calls a job: numbers cost nothing, names are kept as they are.
///
/// ```
/// use meed_workload::JobLabel;
///
/// assert_eq!(JobLabel::Number(7).to_string(), "7");
/// assert_eq!(JobLabel::Name("render".into()).to_string(), "render");
/// ```
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
