//! Between the simulator's jobs and changes and what records hold.

use meed::{ResourceKinds, Span, Time};
use meed_config::constraints::ConstraintsForm;
use meed_config::gang::GangForm;
use meed_journal::{Amounts, Arrival, Cancelled, Fact, Group, JobKey, Name};
use meed_workload::{Cause, Durations, Job, JobGroup, JobLabel};

use crate::changes::Change;

/// A job's label as records hold it.
pub fn key_of(label: &JobLabel) -> JobKey {
    match label {
        JobLabel::Number(number) => JobKey::Number(*number),
        JobLabel::Name(name) => JobKey::Text(Name::from(&**name)),
    }
}

/// The label of a job that records hold as `key`.
pub fn label_of(key: &JobKey) -> JobLabel {
    match key {
        JobKey::Number(number) => JobLabel::Number(*number),
        JobKey::Text(name) => JobLabel::Name(name.as_str().into()),
    }
}

/// What a job is called, where that is not its key: the number of its arrival.
pub fn name_beside(number: u64, label: &JobLabel) -> Option<JobKey> {
    (*label != JobLabel::Number(number)).then(|| key_of(label))
}

/// What else is known of a job when it arrives.
pub fn terms(arrival: &mut Arrival, chain: Option<u32>, cause: Option<Cause>) {
    let not_before = cause.map(|cause| cause.not_before);
    arrival.chain = chain;
    arrival.pause = cause.map(|cause| cause.pause);
    arrival.not_before = not_before.filter(|time| *time > Time::ZERO);
}

/// What is told of a job that is cut ([`JobGroup::cut`]); nothing of others.
pub fn cut_told(is_cut: bool) -> meed_journal::Detail {
    is_cut.then(|| Box::new(serde_json::json!({ CUT: true })))
}

const CUT: &str = "cut";

/// Whether a job is told to be cut.
fn is_cut(arrival: &Arrival) -> bool {
    let detail = arrival.detail.as_ref();
    detail.and_then(|detail| detail.get(CUT)).and_then(serde_json::Value::as_bool) == Some(true)
}

/// A job that is refused: all its groups together.
pub fn whole(
    number: u64,
    queue: Name,
    job: &Job,
    cause: Option<Cause>,
    kinds: &ResourceKinds,
) -> Arrival {
    let mut arrival = Arrival {
        name: name_beside(number, &job.label),
        weight: u64::from(job.weight) * 1000,
        ..Arrival::new(queue, number.into(), groups(&job.groups, kinds))
    };
    terms(&mut arrival, job.chain, cause);
    arrival.detail = cut_told(job.groups.iter().any(|group| group.cut));
    arrival
}

/// Equal tasks as records hold them.
pub fn groups(groups: &[JobGroup], kinds: &ResourceKinds) -> Vec<Group> {
    let form = |group: &JobGroup| Group {
        stage: group.stage,
        tasks: group.count,
        demand: Amounts::of(&group.demand, kinds),
        durations: durations(&group.duration),
        constraints: group
            .constraints
            .as_deref()
            .map(|constraints| Box::new(ConstraintsForm::of(constraints))),
        limit: group.limit,
        checkpoint: group.checkpoint,
        gang: GangForm::of(group.gang.as_deref()),
        same: group.gang.as_ref().and_then(|gang| gang.same.clone()),
    };
    groups.iter().map(form).collect()
}

/// One duration for all tasks, or one for each.
pub fn durations(durations: &Durations) -> Vec<Span> {
    match durations {
        Durations::Same(span) => vec![*span],
        Durations::Each(spans) => spans.to_vec(),
    }
}

/// The whole job as it was submitted at `t`, and how it was caused if the end of another did.
/// `queue` numbers queues. In words what is wrong with it.
pub fn job_of(
    arrival: &Arrival,
    t: Time,
    kinds: &ResourceKinds,
    queues: usize,
    queue: u32,
) -> Result<(Job, Option<Cause>), String> {
    let groups = match arrival.submitted.is_empty() {
        true => arrival.groups.iter().chain(&arrival.later),
        false => arrival.submitted.iter().chain(&[]),
    };
    let not_before = arrival.not_before.unwrap_or(Time::ZERO);
    let cause = arrival.pause.map(|pause| Cause { pause, not_before });
    if cause.is_some() && arrival.chain.is_none() {
        return Err("pause_s: a job that the end of another caused is of a `chain`".to_owned());
    }
    let weight = Some(arrival.weight).filter(|weight| weight.is_multiple_of(1000));
    let weight = weight.and_then(|weight| u32::try_from(weight / 1000).ok());
    let (limit, cut) = (arrival.limit_of_groups(), is_cut(arrival));
    let group =
        |group: &Group| group_of(group, limit, kinds).map(|group| JobGroup { cut, ..group });
    let job = Job {
        label: label_of(arrival.name()),
        queue,
        submit: t,
        weight: weight.ok_or("weight: the simulator takes whole weights below 2^32")?,
        chain: arrival.chain,
        groups: groups.map(group).collect::<Result<_, _>>()?,
    };
    job.check(queues, kinds.len())?;
    Ok((job, cause))
}

/// `limit` is that of the job, for groups that have none of their own.
fn group_of(group: &Group, limit: Option<Span>, kinds: &ResourceKinds) -> Result<JobGroup, String> {
    let duration = match group.durations.as_slice() {
        [] => return Err("duration_s: give one for all tasks, or one for each".to_owned()),
        [one] => Durations::Same(*one),
        all => Durations::Each(all.into()),
    };
    group_with(group, limit, kinds, duration)
}

/// The same, of tasks that run so long, whatever the record says of that.
pub fn group_with(
    group: &Group,
    limit: Option<Span>,
    kinds: &ResourceKinds,
    duration: Durations,
) -> Result<JobGroup, String> {
    Ok(JobGroup {
        stage: group.stage,
        count: group.tasks,
        demand: group.demand.read(kinds).map_err(|why| format!("demand: {why}"))?,
        duration,
        constraints: group.constraints.as_ref().map(|form| form.read()).transpose()?.flatten(),
        limit: group.limit.or(limit),
        checkpoint: group.checkpoint,
        gang: GangForm::read(group.gang, group.same.as_deref(), group.tasks)?,
        cut: false,
    })
}

/// What is changed; `None` where the change follows from others, and for what no simulated world
/// does.
pub fn change_of(fact: &Fact, kinds: &ResourceKinds) -> Result<Option<Change>, String> {
    Ok(Some(match fact {
        Fact::NodeJoined(node) if !node.of_share => Change::NodeJoins(node.read(kinds)?),
        Fact::NodeLeft(node) if !node.of_share => Change::NodeLeaves(node.name.to_string()),
        Fact::NodeResized(node) if !node.of_share => {
            let capacity = node.capacity.read(kinds).map_err(|why| format!("capacity: {why}"))?;
            Change::NodeResized(node.name.to_string(), capacity)
        }
        Fact::QueueChanged(queue) => Change::Queue(queue.name.to_string(), queue.read(kinds)?),
        Fact::QueueRemoved(queue) => Change::QueueRemoved(queue.name.to_string()),
        Fact::JobCancelled(Cancelled { job, name }) => match name.as_ref().or(job.as_ref()) {
            Some(name) => Change::JobCancelled(name.to_string()),
            None => return Err("say by `job` or by `name` which job is cancelled".to_owned()),
        },
        _ => return Ok(None),
    }))
}
