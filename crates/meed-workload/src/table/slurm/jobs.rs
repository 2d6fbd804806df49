//! Jobs of several rows: components that start together, or sizes that follow each other.

use std::collections::BTreeMap;

use meed::Gang;

use super::super::rows::Row;
use super::part::Part;
use crate::{Durations, Job, JobGroup, JobLabel};

/// Most rows of one job: a heterogeneous job has at most 128 components (`MAX_HET_JOB_COMPS`).
pub(in super::super) const MOST_ROWS: usize = 1000;
/// A joint gang is told by counting, so it may have few tasks beside those of its largest group:
/// their numbers plus one, multiplied, are at most this (`Rejected::GangOfTooManyParts`).
const MOST_COUNTS: u64 = 64;

/// What of a row tells whether it is like another component of its job.
pub(in super::super) struct Component {
    demand: u32,
    limit: u64,
    tasks: u32,
}

impl Component {
    pub(in super::super) fn of(row: &Row) -> Component {
        Component { demand: row.demand, limit: row.limit, tasks: row.count }
    }
}

/// Whether these components of a job start together.
pub(in super::super) fn is_one_gang(components: &[Component]) -> bool {
    let mut groups: BTreeMap<(u32, u64), u32> = BTreeMap::new();
    for component in components {
        let tasks = groups.entry((component.demand, component.limit)).or_default();
        *tasks = tasks.saturating_add(component.tasks);
    }
    are_few(&groups.into_values().collect::<Vec<_>>())
}

/// `job`, which has a group for each row, as its `part` says.
pub(in super::super) fn job(job: Job, part: Part) -> Job {
    match part {
        Part::Whole => job,
        Part::Size(_) => sizes(job),
        Part::Component(_) => components(job),
    }
}

/// One stage for each size.
fn sizes(mut job: Job) -> Job {
    for (stage, group) in job.groups.iter_mut().enumerate() {
        group.stage = u16::try_from(stage).expect("a job has at most 1000 rows");
    }
    job
}

/// One gang of all components; like ones are one group.
fn components(mut job: Job) -> Job {
    if job.groups.len() < 2 {
        return job;
    }
    job.label = whole_name(job.label);
    let mut groups: Vec<JobGroup> = Vec::new();
    for group in job.groups {
        let is_like =
            |known: &&mut JobGroup| known.demand == group.demand && known.limit == group.limit;
        match groups.iter_mut().find(is_like) {
            Some(known) => add(known, &group),
            None => groups.push(group),
        }
    }
    let tasks: Vec<u32> = groups.iter().map(|group| group.count).collect();
    let is_joint = groups.len() > 1 && are_few(&tasks);
    for group in &mut groups {
        let all = group.count;
        // What the engine does not take as one gang is a gang for each group.
        group.gang = if is_joint { Some(Box::new(Gang::part(all))) } else { Gang::all(all) };
    }
    Job { groups, ..job }
}

/// `2000` of `2000+1`.
fn whole_name(label: JobLabel) -> JobLabel {
    let JobLabel::Name(name) = label else { return label };
    let whole = name.split_once('+').map_or(&*name, |(whole, _)| whole);
    whole.parse().map_or_else(|_| JobLabel::Name(whole.into()), JobLabel::Number)
}

/// Adds tasks that ask for the same.
fn add(group: &mut JobGroup, more: &JobGroup) {
    if group.duration != more.duration || matches!(group.duration, Durations::Each(_)) {
        let own = (0..group.count).map(|task| group.duration.get(task));
        let others = (0..more.count).map(|task| more.duration.get(task));
        group.duration = Durations::Each(own.chain(others).collect());
    }
    group.count += more.count;
    group.cut |= more.cut;
}

/// Whether the engine can count the ways in which groups of so many tasks fit at once.
fn are_few(groups: &[u32]) -> bool {
    let largest = groups.iter().copied().max().unwrap_or(0);
    let mut counts = 1u64;
    let mut is_left_out = false;
    for count in groups {
        if *count == largest && !is_left_out {
            is_left_out = true;
            continue;
        }
        counts = counts.saturating_mul(u64::from(*count) + 1);
    }
    counts <= MOST_COUNTS
}

#[cfg(test)]
mod tests {
    use meed::{Resources, Span, Time};

    use super::*;

    fn group(count: u32, cpus: u64, seconds: u64) -> JobGroup {
        let span = Span::from_secs(seconds).expect("few seconds");
        JobGroup::new(count, Resources::new(&[cpus]), Durations::Same(span))
    }

    fn joined(groups: Vec<JobGroup>) -> Job {
        let label = JobLabel::Name("7+0".into());
        let submit = Time::ZERO;
        let all = Job { label, queue: 0, submit, weight: 1, chain: None, groups };
        let joined = job(all, Part::Component(1));
        joined.check(1, 1).expect("a job");
        joined
    }

    #[test]
    fn like_components_are_one_group() {
        let job = joined(vec![group(1, 8, 60), group(1, 8, 90), group(2, 4, 60), group(1, 8, 60)]);
        assert_eq!(job.label, JobLabel::Number(7));
        let seconds = |group: &JobGroup| {
            (0..group.count).map(|task| group.duration.get(task).as_micros() / 1_000_000).collect()
        };
        let found: Vec<(u32, Vec<u64>)> =
            job.groups.iter().map(|group| (group.count, seconds(group))).collect();
        assert_eq!(found, [(3, vec![60, 90, 60]), (2, vec![60, 60])]);
        assert!(job.groups.iter().all(|group| group.gang.as_ref().is_some_and(|gang| gang.joint)));
        let alike = joined(vec![group(1, 8, 60), group(1, 8, 60)]);
        assert_eq!((alike.groups.len(), alike.groups[0].count), (1, 2));
        assert!(alike.groups[0].gang.as_ref().is_some_and(|gang| !gang.joint && gang.least == 2));
    }

    /// Seven unlike tasks have 2^6 counts; more are a gang for each group.
    #[test]
    fn what_the_engine_cannot_count_is_a_gang_for_each_group() {
        let joint = |group: &JobGroup| group.gang.as_ref().is_some_and(|gang| gang.joint);
        let seven = joined((1..=7).map(|cpus| group(1, cpus, 60)).collect());
        assert!(seven.groups.iter().all(joint));
        let many = joined((1..=8).map(|cpus| group(1, cpus, 60)).collect());
        assert!(many.groups.iter().all(|group| group.gang.is_none()));
        let wide = joined(vec![group(100, 1, 60), group(64, 2, 60)]);
        assert!(wide.groups.iter().all(|group| group.gang.is_some() && !joint(group)));
    }
}
