//! With what a run begins that begins in the middle: jobs that wait and tasks that run, as its
//! driver's state tells.

use meed::state::{GroupState, LiveJobState, State};
use meed::{Constraints, Gang, Labels, Resources, Span};
use meed_driver::{Driver, LiveJob, Off};
use meed_journal::JobKey;
use meed_workload::{Durations, JobGroup, MAX_TASKS};

use super::begun::Came;
use super::labels::LabelHistory;
use super::ran::Ran;

/// A job that was alive.
pub(super) struct HeadJob {
    pub(super) key: JobKey,
    pub(super) name: JobKey,
    pub(super) queue: String,
    /// In thousandths.
    pub(super) weight: u64,
    /// The number of its arrival: those of one queue came in this order.
    arrival: u64,
    /// How long their tasks run is not known.
    pub(super) groups: Vec<JobGroup>,
    /// Those of its tasks that run, in order.
    pub(super) running: Vec<(u32, Ran)>,
    /// How many wait.
    pub(super) waiting: u64,
    /// Labels of others that keep them away, and that a node has on which one of them runs.
    pub(super) overtaken: Vec<String>,
}

/// The jobs of a driver, in the order in which they came; in words what is wrong with them.
pub(super) fn jobs(driver: &Driver<Came, Off>) -> Result<Vec<HeadJob>, String> {
    let state = driver.engine_state();
    // Rows of the state stand in the order of the engine's jobs.
    let rows = driver.jobs().zip(&state.jobs.live);
    let all = rows.map(|(live, (_, row))| job(driver, live, row, &state));
    let mut all = all.collect::<Result<Vec<HeadJob>, String>>()?;
    all.sort_by_key(|job| job.arrival);
    Ok(all)
}

fn job(
    driver: &Driver<Came, Off>,
    live: &LiveJob<Came>,
    row: &LiveJobState,
    state: &State,
) -> Result<HeadJob, String> {
    let engine = driver.engine();
    let now = engine.now();
    let mut groups: Vec<JobGroup> = row.groups.iter().map(|group| group_of(group, state)).collect();
    let tasks: u64 = groups.iter().map(|group| u64::from(group.count)).sum();
    let few = u32::try_from(tasks).ok().filter(|&tasks| tasks <= MAX_TASKS);
    let count = few.ok_or_else(|| {
        let (name, most) = (live.name(), MAX_TASKS);
        format!("job {name} of the state that it begins with: {tasks} tasks; at most {most}")
    })?;
    let running = |task| {
        let since = engine.started(engine.running_task(live.id(), task)?)?;
        Some((task, Ran::at_head(since, now)))
    };
    let running: Vec<(u32, Ran)> = (0..count).filter_map(running).collect();
    let labels = |task: u32| {
        let place = driver.running(engine.running_task(live.id(), task)?)?;
        Some(&engine.node(place.node).0.labels)
    };
    let (mut first, mut overtaken) = (0, Vec::new());
    for group in &mut groups {
        let end = first + group.count;
        let at = |number| running.partition_point(|(task, _)| *task < number);
        let own = running[at(first)..at(end)].iter().map(|(task, _)| *task);
        let places: Vec<&Labels> = own.filter_map(labels).collect();
        first = end;
        if let Some(constraints) = &mut group.constraints {
            overtaken.extend(held_when_it_started(constraints, &places));
        }
    }
    Ok(HeadJob {
        key: live.key().clone(),
        name: live.name().clone(),
        queue: engine.queue(live.queue()).name.to_owned(),
        weight: row.weight,
        arrival: row.arrival,
        groups,
        running,
        overtaken,
        waiting: engine.waiting_of(live.id()).len() as u64,
    })
}

/// What tasks ask of nodes held when they started, and need not hold where they run now: a label
/// that they forbid may have come with themselves, one that they require may have gone with others.
/// Takes such requirements away; the labels that they forbid and that come and go with tasks.
fn held_when_it_started(constraints: &mut Constraints, places: &[&Labels]) -> Vec<String> {
    let has = Constraints::has;
    let everywhere =
        |label: &String, values: &[String]| places.iter().all(|labels| has(labels, label, values));
    constraints.require.retain(|label, values| everywhere(label, values));
    let somewhere = |(label, values): &(&String, &Vec<String>)| {
        places.iter().any(|labels| has(labels, label, values))
    };
    let found = constraints.forbid.iter().filter(somewhere);
    let found: Vec<String> = found.map(|(label, _)| label.clone()).collect();
    let (moving, own): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|label| LabelHistory::comes_and_goes(label));
    // Others say nothing of these tasks alone.
    constraints.forbid.retain(|label, _| !own.contains(label));
    moving
}

/// A group as it was submitted, but for how long its tasks run.
fn group_of(group: &GroupState, state: &State) -> JobGroup {
    // The driver was made from this state: its rows are there.
    let shape = state.shapes.get(group.shape as usize).and_then(Option::as_ref);
    let amounts = shape.map(|shape| shape.demand.as_slice()).unwrap_or_default();
    let mut demand = Resources::zero(state.kinds.len());
    demand.as_mut_slice().iter_mut().zip(amounts).for_each(|(to, from)| *to = *from);
    let rules = shape.and_then(|shape| state.rules.get(shape.rules? as usize)).cloned();
    let distinct = shape.is_some_and(|shape| shape.distinct.is_some());
    let constraints = match rules {
        None if !distinct => None,
        rules => {
            let mut rules = rules.unwrap_or_default();
            rules.distinct_nodes = distinct;
            Some(Box::new(rules))
        }
    };
    let gang = group.gang.map(|gang| {
        let label = (gang.same as usize).checked_sub(1).and_then(|row| state.gang_labels.get(row));
        let joint = gang.joint.is_some();
        Box::new(Gang { least: gang.least, same: label.cloned(), joint })
    });
    JobGroup {
        constraints,
        limit: shape.and_then(|shape| shape.limit),
        gang,
        ..JobGroup::new(group.count, demand, Durations::Same(Span::ZERO))
    }
}
