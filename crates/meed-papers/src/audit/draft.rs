//! From a case to a scenario: queues, jobs and changes, once; as a setup that is run at once in the
//! search, and as the text of a scenario file that says the same. A test replays files, so the two
//! cannot drift apart.
//!
//! Useless tasks hold a slot and one unit of a second resource called `useless`, of which there is
//! as much as slots: it never runs short and no policy counts it, but usage of it is exactly the
//! work that is to be left out.

use std::fmt::Write;

use meed::{
    Config, ConfigError, NodeSpec, Policy, QueueChange, QueueSpec, ResourceKinds, Resources, Span,
    Time, Unit,
};
use meed_scenario::changes::{Change, TimedChange};
use meed_sim::log::Log;
use meed_sim::world::{Failures, StopAt, WorldSetup};
use meed_workload::inline::Inline;
use meed_workload::{Durations, Job, JobGroup, JobLabel};

use super::case::{Case, Lie};
use super::error::AuditError;
use super::ground::Ground;

/// Name of the counted resource.
pub(super) const SLOT: &str = "slot";
/// Name of the resource that marks useless work.
pub(super) const USELESS: &str = "useless";

/// Both of them.
pub(super) fn kinds() -> Result<ResourceKinds, ConfigError> {
    ResourceKinds::new([SLOT, USELESS].map(|name| (name.to_owned(), Unit::Milli)).to_vec())
}

/// Weight of a queue that is not yet, or no longer, used: the smallest there is.
const NO_WEIGHT: u32 = 1;

struct DraftQueue {
    name: String,
    /// In thousandths.
    weight: u32,
}

#[derive(Clone)]
struct DraftJob {
    name: String,
    queue: String,
    submit: u32,
    tasks: u32,
    length: u32,
    width: u32,
    /// Slots of each task that are of no use.
    useless: u32,
    /// Minutes that each says that it runs at most.
    limit: Option<u32>,
}

enum Step {
    Withdraw(String),
    Weight(String, u32),
    Close(String),
}

/// A scenario in the making.
pub(super) struct Draft {
    capacity: u32,
    groups: Vec<&'static str>,
    queues: Vec<DraftQueue>,
    jobs: Vec<DraftJob>,
    changes: Vec<(u32, Step)>,
    until: u32,
}

/// Short name of a tenant.
fn letter(tenant: usize) -> char {
    char::from(b'a' + tenant as u8)
}

const GROUPS: [&str; 2] = ["g1", "g2"];

/// Name of a tenant's queue.
pub(super) fn queue_of(case: &Case, tenant: usize) -> String {
    match case.grouped {
        true => format!("{}.{}", GROUPS[case.group(tenant)], letter(tenant)),
        false => letter(tenant).to_string(),
    }
}

/// Name of the job that a tenant's burst is.
pub(super) fn job_of(tenant: usize, burst: usize) -> String {
    format!("{}{}", letter(tenant), burst + 1)
}

/// Names of all queues that a tenant goes by, when it lies.
pub(super) fn names_of(case: &Case, tenant: usize) -> Vec<String> {
    let mut names = vec![queue_of(case, tenant)];
    let doubles = case.lies.iter().any(|lie| matches!(lie, Lie::Split { .. } | Lie::Rejoin { .. }));
    if tenant == case.liar && doubles {
        names.push(second_name(case));
    }
    names
}

fn second_name(case: &Case) -> String {
    format!("{}-again", queue_of(case, case.liar))
}

impl Draft {
    /// The case as it is when all are honest, or when the liar lies.
    pub(super) fn of(case: &Case, lying: bool) -> Draft {
        let queue =
            |i| DraftQueue { name: queue_of(case, i), weight: case.tenants[i].weight * 1000 };
        let mut draft = Draft {
            capacity: case.capacity(),
            groups: if case.grouped { GROUPS.to_vec() } else { Vec::new() },
            queues: (0..case.tenants.len()).map(queue).collect(),
            jobs: Vec::new(),
            changes: Vec::new(),
            until: case.end(),
        };
        for tenant in 0..case.tenants.len() {
            draft.add_demand(case, tenant);
        }
        if lying {
            case.lies.iter().for_each(|lie| draft.lie(case, lie));
        }
        draft
    }

    fn add_demand(&mut self, case: &Case, tenant: usize) {
        let queue = queue_of(case, tenant);
        for (number, burst) in case.tenants[tenant].bursts.iter().enumerate() {
            self.jobs.push(DraftJob {
                name: job_of(tenant, number),
                queue: queue.clone(),
                submit: burst.at,
                tasks: burst.tasks * case.scale,
                length: burst.length,
                width: burst.width,
                useless: 0,
                limit: case.limits.then_some(burst.length),
            });
        }
        if case.settle {
            let length = case.tenants[tenant].bursts.last().map_or(1, |burst| burst.length);
            let tasks = (case.capacity() * case.settling()).div_ceil(length) + case.capacity();
            self.jobs.push(DraftJob {
                name: format!("{}-all", letter(tenant)),
                queue,
                submit: case.horizon,
                tasks,
                length,
                width: 1,
                useless: 0,
                limit: case.limits.then_some(length),
            });
        }
    }

    fn lie(&mut self, case: &Case, lie: &Lie) {
        let queue = queue_of(case, case.liar);
        match *lie {
            Lie::Useless { at, tasks, length, keep } => {
                let before = self.jobs.iter().filter(|job| job.useless > 0).count();
                let name = format!("{}-useless{}", letter(case.liar), before + 1);
                if at + keep < self.until {
                    self.changes.push((at + keep, Step::Withdraw(name.clone())));
                }
                let tasks = tasks * case.scale;
                self.jobs.push(DraftJob {
                    name,
                    queue,
                    submit: at,
                    tasks,
                    length,
                    width: 1,
                    useless: 1,
                    limit: case.limits.then_some(length),
                });
            }
            Lie::Later { burst, by } => {
                self.of_burst(case, burst).for_each(|job| job.submit += by);
            }
            Lie::Wider { burst, by } => self.of_burst(case, burst).for_each(|job| {
                job.width += by;
                job.useless += by;
            }),
            Lie::ShortLimit { burst } => {
                self.of_burst(case, burst).for_each(|job| job.limit = Some(1));
            }
            Lie::Forgo { burst } => {
                let name = job_of(case.liar, burst);
                self.jobs.retain(|job| job.name != name);
            }
            Lie::Split { full, alternate } => {
                let weight = case.tenants[case.liar].weight * if full { 1000 } else { 500 };
                self.queues[case.liar].weight = weight;
                self.queues.push(DraftQueue { name: second_name(case), weight });
                self.split_jobs(&queue, &second_name(case), alternate);
            }
            Lie::Rejoin { at } => {
                let (weight, again) = (case.tenants[case.liar].weight * 1000, second_name(case));
                self.queues.push(DraftQueue { name: again.clone(), weight: NO_WEIGHT });
                let later =
                    self.jobs.iter_mut().filter(|job| job.queue == queue && job.submit >= at);
                later.for_each(|job| job.queue.clone_from(&again));
                self.changes.push((at, Step::Weight(queue.clone(), NO_WEIGHT)));
                self.changes.push((at, Step::Close(queue)));
                self.changes.push((at, Step::Weight(again, weight)));
            }
        }
        self.changes.sort_by_key(|(at, _)| *at);
    }

    /// The job that a burst of the liar's has become.
    fn of_burst(&mut self, case: &Case, burst: usize) -> impl Iterator<Item = &mut DraftJob> {
        let name = job_of(case.liar, burst);
        self.jobs.iter_mut().filter(move |job| job.name == name)
    }

    fn split_jobs(&mut self, first: &str, second: &str, alternate: bool) {
        let mut number = 0usize;
        for job in std::mem::take(&mut self.jobs) {
            if job.queue != first {
                self.jobs.push(job);
                continue;
            }
            number += 1;
            if alternate {
                let queue = if number.is_multiple_of(2) { second } else { first }.to_owned();
                self.jobs.push(DraftJob { queue, ..job });
                continue;
            }
            let half = job.tasks / 2;
            let name = format!("{}-half", job.name);
            let other = DraftJob { name, queue: second.to_owned(), tasks: half, ..job.clone() };
            self.jobs.push(DraftJob { tasks: job.tasks - half, ..job });
            self.jobs.extend((half > 0).then_some(other));
        }
    }

    /// Ready to run under a policy.
    pub(super) fn setup<'a>(
        &self,
        ground: &Ground,
        log: Log<'a>,
    ) -> Result<WorldSetup<'a>, AuditError> {
        let spec = |name: &str, weight: u32, policy: &Policy| QueueSpec {
            name: name.to_owned(),
            weight: u64::from(weight),
            min: None,
            max: None,
            policy: policy.clone(),
        };
        let groups = self.groups.iter().map(|name| spec(name, 1000, &ground.root));
        let leaves = self.queues.iter().map(|queue| spec(&queue.name, queue.weight, &ground.leaf));
        let node = NodeSpec::new("n0", amounts(self.capacity, self.capacity));
        let kinds = kinds()?;
        let source = Inline::new(
            self.queues.iter().map(|queue| queue.name.clone()).collect(),
            self.inline(),
            kinds.len(),
        )?;
        Ok(WorldSetup {
            config: Config {
                kinds,
                measured: 0,
                root: ground.root.clone(),
                queues: groups.chain(leaves).collect(),
                nodes: vec![node],
            },
            placement: ground.placement,
            partitioned: ground.partitioned,
            source: Box::new(source),
            changes: self
                .changes
                .iter()
                .map(|(at, step)| TimedChange { at: minute(*at), change: change(step) })
                .collect(),
            stop: StopAt { at: minute(self.until), hold: true },
            failures: Failures::default(),
            max_attempts: 4,
            checkpoint: None,
            delays: Default::default(),
            infeasible: Default::default(),
            counted: Default::default(),
            strict: false,
            series_points: 0,
            keep_jobs: false,
            looks: Default::default(),
            attendant: None,
            accounts: None,
            log,
        })
    }

    fn inline(&self) -> Vec<Job> {
        let place = |name: &str| {
            self.queues.iter().position(|queue| queue.name == name).unwrap_or(0) as u32
        };
        let job = |job: &DraftJob| Job {
            label: JobLabel::Name(job.name.as_str().into()),
            queue: place(&job.queue),
            submit: minute(job.submit),
            weight: 1,
            chain: None,
            groups: vec![JobGroup {
                limit: job.limit.map(|limit| minute(limit) - Time::ZERO),
                ..JobGroup::new(
                    job.tasks,
                    amounts(job.width, job.useless),
                    Durations::Same(minute(job.length) - Time::ZERO),
                )
            }],
        };
        self.jobs.iter().map(job).collect()
    }

    /// The scenario's text, below `remarks` (lines of a comment).
    pub(super) fn text(&self, remarks: &[String]) -> String {
        let mut text = String::new();
        for line in remarks {
            text += format!("# {line}").trim_end();
            text.push('\n');
        }
        self.write(&mut text).expect("a string takes all that is written to it");
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let slots = self.capacity;
        writeln!(out, "\n[cluster]\nresources = [\"{SLOT}\", \"{USELESS}\"]")?;
        writeln!(
            out,
            "\n[[cluster.node]]\ncapacity = {{ {SLOT} = {slots}, {USELESS} = {slots} }}"
        )?;
        for group in &self.groups {
            writeln!(out, "\n[[queue]]\nname = \"{group}\"")?;
        }
        for queue in &self.queues {
            let weight = decimal(queue.weight);
            writeln!(
                out,
                "\n[[queue]]\nname = \"{}\"\nweight = {weight}\norder = \"fifo\"",
                queue.name
            )?;
        }
        for job in &self.jobs {
            let mark = match job.useless {
                0 => String::new(),
                useless => format!(", {USELESS} = {useless}"),
            };
            writeln!(out, "\n[[job]]\nname = \"{}\"\nqueue = \"{}\"", job.name, job.queue)?;
            if job.submit > 0 {
                writeln!(out, "submit = \"{}min\"", job.submit)?;
            }
            writeln!(out, "tasks = {}\nduration = \"{}min\"", job.tasks, job.length)?;
            if let Some(limit) = job.limit {
                writeln!(out, "limit = \"{limit}min\"")?;
            }
            writeln!(out, "demand = {{ {SLOT} = {}{mark} }}", job.width)?;
        }
        for (at, step) in &self.changes {
            writeln!(out, "\n[[change]]\nat = \"{at}min\"")?;
            match step {
                Step::Withdraw(job) => writeln!(out, "job_cancelled = \"{job}\"")?,
                Step::Weight(queue, weight) => {
                    writeln!(
                        out,
                        "queue = {{ name = \"{queue}\", weight = {} }}",
                        decimal(*weight)
                    )?;
                }
                Step::Close(queue) => writeln!(out, "queue_removed = \"{queue}\"")?,
            }
        }
        writeln!(out, "\n[run]\nuntil = \"{}min\"", self.until)
    }
}

/// Thousandths, as people write them.
fn decimal(thousandths: u32) -> f64 {
    f64::from(thousandths) / 1000.0
}

fn amounts(slots: u32, useless: u32) -> Resources {
    Resources::new(&[u64::from(slots) * 1000, u64::from(useless) * 1000])
}

fn minute(count: u32) -> Time {
    let micros = u64::from(count) * 60_000_000;
    Time::ZERO.saturating_add(Span::from_micros(micros).unwrap_or(Span::ZERO))
}

fn change(step: &Step) -> Change {
    match step {
        Step::Withdraw(job) => Change::JobCancelled(job.clone()),
        Step::Weight(queue, weight) => {
            let change = QueueChange { weight: Some(u64::from(*weight)), ..QueueChange::default() };
            Change::Queue(queue.clone(), change)
        }
        Step::Close(queue) => Change::QueueRemoved(queue.clone()),
    }
}
