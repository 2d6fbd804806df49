//! What delays a grant: the setting that `[run]` gives and worlds of virtual time carry out.

use meed::{Blocked, Config, Resources, Span};
use meed_workload::{Durations, Job, JobGroup};

use crate::slots::SlotCut;

/// What delays grants; nothing by default.
///
/// ```
/// use meed::Span;
/// use meed_scenario::grants::Delays;
///
/// let delays = Delays { heartbeat: Span::from_secs(3), ..Delays::default() };
/// assert!(!delays.is_off() && !delays.comes_empty());
/// assert!(Delays::default().is_off());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delays {
    /// How often nodes and masters are heard and told.
    pub heartbeat: Option<Span>,
    /// How long a job's master takes before it asks for tasks.
    pub master_start: Span,
    /// What it holds until its job has ended.
    pub master: Option<Resources>,
}

impl Delays {
    /// The same where servers are cut into slots: what masters hold, in slots as well.
    pub fn in_slots(self, slots: &SlotCut) -> Delays {
        Delays { master: self.master.map(|demand| slots.demand(&demand)), ..self }
    }

    /// Whether nothing is late.
    pub fn is_off(&self) -> bool {
        *self == Delays::default()
    }

    /// Why no run can have them under these policies.
    pub fn check(&self, config: &Config) -> Result<(), String> {
        if self.heartbeat.is_some() && config.root.per_server {
            let order = config.root.name();
            return Err(format!(
                "run.heartbeat: nodes ask one by one, and order `{order}` is how each server \
                 decides; leave one of them out"
            ));
        }
        let policies = config.queues.iter().map(|queue| &queue.policy).chain([&config.root]);
        match self.heartbeat.is_some()
            && policies.into_iter().any(|policy| policy.blocked != Blocked::Skip)
        {
            true => Err("run.heartbeat: a node that is heard is given what fits it; say \
                 when_blocked = \"skip\""
                .to_owned()),
            false => Ok(()),
        }
    }

    /// Why this job cannot be served.
    pub fn check_job(&self, job: &Job) -> Result<(), String> {
        match self.heartbeat.is_some() && job.groups.iter().any(|group| group.gang.is_some()) {
            true => Err(format!(
                "job {}: run.heartbeat gives one node at a time a task, and a gang starts on \
                 several at once; leave one of them out",
                job.label
            )),
            false => Ok(()),
        }
    }

    /// The job as it runs, and as it was submitted where that differs. Compiled into its caller:
    /// where jobs have no master, none is moved.
    #[inline]
    pub fn with_master(&self, job: Job, submitted: Option<Job>) -> (Job, Option<Job>) {
        match self.master {
            Some(demand) => Delays::put_master(demand, job, submitted),
            None => (job, submitted),
        }
    }

    fn put_master(demand: Resources, mut job: Job, submitted: Option<Job>) -> (Job, Option<Job>) {
        let submitted = submitted.unwrap_or_else(|| job.clone());
        for group in &mut job.groups {
            group.stage = group.stage.saturating_add(1);
        }
        // How long it runs is known when the rest has ended.
        let duration = Durations::Same(Span::ZERO);
        job.groups.insert(0, JobGroup::new(1, demand, duration));
        (job, Some(submitted))
    }

    /// Whether no task is asked for when a job arrives.
    pub fn comes_empty(&self) -> bool {
        self.master_start > Span::ZERO && self.master.is_none()
    }
}
