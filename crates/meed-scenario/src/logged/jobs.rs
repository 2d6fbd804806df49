//! The jobs of a live world's run.
//!
//! Tasks that are added to a job later come as another job of its name and queue, when they were
//! added: so nothing is known before its time. Tasks that never ran are left out, and jobs of which
//! none did; a gang is one of those that are left.
//!
//! In a run that begins in the middle, tasks that ran come at time 0, those that waited and all
//! others a microsecond later at the soonest, as another job of that name where some of its tasks
//! ran: so what ran has room first, under any policy.

use std::collections::{BTreeMap, BTreeSet};

use meed::{ResourceKinds, Span, Time};
use meed_journal::{Arrival, Fact, Group, JobKey, Kind};
use meed_workload::{Durations, Job, JobGroup, JobLabel};
use smallvec::SmallVec;

use super::head::{self, HeadJob};
use super::labels::LabelHistory;
use super::ran::{Known, Ran};
use super::run::{Logged, shifted};
use crate::log::forms::{group_with, label_of};
use crate::log::read::LogError;

/// Which run of a log is meant, and what is taken of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LogAssumptions {
    /// Its number, or its policy; without it the only one.
    pub(crate) run: Option<String>,
    /// Tasks of which no end is known are left out.
    pub(crate) drops_unfinished: bool,
}

/// All jobs of a run, in order of submission.
pub(crate) struct LiveJobs {
    pub(super) queues: Vec<String>,
    pub(super) jobs: Vec<Job>,
    pub(super) clock_us: Option<u64>,
    /// Lines that were read.
    pub(super) lines: u64,
    /// Jobs that are left out.
    pub(super) left_out: u64,
    words: Vec<String>,
    remarks: Vec<String>,
}

/// Tasks of a job that came at one instant.
struct Batch {
    label: JobLabel,
    queue: u32,
    submit: Time,
    weight: u32,
    groups: Vec<JobGroup>,
    /// The number in its job of its first task, and how many there are.
    first: u32,
    count: u32,
    /// How many of them wait or run when it comes.
    alive: u64,
    /// For each group: behind its last task, by their places in the batch.
    ends: SmallVec<[u32; 1]>,
    /// For each group: those that have started, by their place in the batch; in order.
    ran: SmallVec<[Started; 1]>,
}

/// Tasks that have started.
type Started = SmallVec<[(u32, Ran); 1]>;

/// What is counted of tasks and jobs.
#[derive(Default)]
struct Counts {
    known: BTreeMap<Known, u64>,
    never: u64,
    nothing: u64,
    refused: u64,
    weights: u64,
    kept_away: u64,
    relabelled: u64,
    left_out: u64,
    at_head: u64,
}

/// A run while it is read.
struct Reading<'l> {
    kinds: &'l ResourceKinds,
    begin: Time,
    /// Jobs come no sooner.
    soonest: Time,
    queues: Vec<String>,
    numbers: BTreeMap<String, u32>,
    batches: Vec<Batch>,
    /// The batches of each job.
    of_job: BTreeMap<JobKey, Vec<usize>>,
    /// Jobs that have ended: their keys may come again.
    ended: BTreeSet<JobKey>,
    labels: LabelHistory,
    counts: Counts,
}

impl LiveJobs {
    /// Reads the run.
    pub(super) fn read(
        logged: &Logged,
        kinds: &ResourceKinds,
        assumed: &LogAssumptions,
    ) -> Result<LiveJobs, LogError> {
        let (log, run) = (&logged.log, &logged.run);
        let queues = leaves(&logged.queue_names()).0;
        let numbers = queues.iter().cloned().zip(0..).collect();
        let mut reading = Reading {
            kinds,
            begin: run.begin,
            soonest: Time::ZERO,
            queues,
            numbers,
            batches: Vec::new(),
            of_job: BTreeMap::new(),
            ended: BTreeSet::new(),
            labels: LabelHistory::of(&run.header),
            counts: Counts::default(),
        };
        if let Some(driver) = &logged.head {
            let jobs = head::jobs(driver).map_err(|what| LogError::whole(log.file(), what))?;
            reading.head(jobs);
        }
        let mut reader = log.read(run)?;
        let mut lines = 0;
        while let Some((line, record)) = reader.next(TOLD)? {
            reading.fact(record.t, &record.fact).map_err(|what| reader.wrong(line, what))?;
            lines += 1;
        }
        let at_head = reading.counts.at_head;
        let mut counts = std::mem::take(&mut reading.counts);
        let (queues, jobs) = reading
            .jobs(run.end, assumed, &mut counts)
            .map_err(|what| LogError::whole(log.file(), what))?;
        let mut remarks = counts.words(assumed);
        if !run.finished {
            remarks.insert(0, logged.cut());
        }
        if at_head > 0 {
            remarks.push(format!(
                "log: {at_head} tasks ran when it began: they come at time 0, for the rest of \
                 their time; what waited comes a microsecond later"
            ));
        }
        let mut words = vec![logged.about()];
        words.extend(remarks.iter().cloned());
        let (clock_us, left_out) = (logged.clock_us(), counts.left_out + counts.refused);
        Ok(LiveJobs { queues, jobs, clock_us, lines, left_out, words, remarks })
    }

    /// What is assumed, in words.
    pub(super) fn words(&self) -> Vec<String> {
        self.words.clone()
    }

    /// What of it is to be said before anything runs.
    pub(super) fn remarks(&self) -> &[String] {
        &self.remarks
    }
}

/// Kinds of records that tell of jobs and tasks.
const TOLD: &[Kind] = &[
    Kind::JobArrived,
    Kind::JobRefused,
    Kind::TasksAdded,
    Kind::JobChanged,
    Kind::JobEnded,
    Kind::TaskStarted,
    Kind::StartFailed,
    Kind::TaskEnded,
    Kind::TaskFailed,
    Kind::TaskLost,
    Kind::TaskWithdrawn,
    Kind::TaskStopped,
    Kind::QueueAdded,
    Kind::NodeJoined,
    Kind::NodeRelabelled,
];

impl Reading<'_> {
    /// Since the run began.
    fn shifted(&self, t: Time) -> Time {
        shifted(self.begin, t).max(self.soonest)
    }

    /// The queues that jobs go to, and all jobs in order of submission; in words what is wrong.
    fn jobs(
        self,
        end: Time,
        assumed: &LogAssumptions,
        counts: &mut Counts,
    ) -> Result<(Vec<String>, Vec<Job>), String> {
        let Reading { kinds, queues: all, batches, labels, soonest, .. } = self;
        let (queues, numbers) = leaves(&all);
        let mut jobs = Vec::with_capacity(batches.len());
        for mut batch in batches {
            let name = &all[batch.queue as usize];
            batch.queue = numbers[batch.queue as usize].ok_or_else(|| {
                let job = &batch.label;
                format!("job {job}: queue `{name}` has others below it, so it takes no jobs")
            })?;
            let both = batch.jobs(end, soonest, assumed, counts);
            counts.left_out += u64::from(both.is_empty());
            for mut job in both {
                settle(&mut job, &labels, counts);
                let checked = job.check(queues.len(), kinds.len());
                checked.map_err(|why| format!("job {}: {why}", job.label))?;
                jobs.push(job);
            }
        }
        jobs.sort_by_key(|job| job.submit);
        match jobs.is_empty() {
            true => Err("holds no task that ran, so there is nothing to simulate".to_owned()),
            false => Ok((queues, jobs)),
        }
    }

    /// What was alive when it began.
    fn head(&mut self, jobs: Vec<HeadJob>) {
        self.soonest = Time::ZERO.saturating_add(Span::from_micros(1).unwrap_or(Span::ZERO));
        for job in jobs {
            let HeadJob { key, name, queue, weight, groups, running, waiting, overtaken, .. } = job;
            self.labels.come_and_go(overtaken);
            self.counts.at_head += running.len() as u64;
            let submit = if running.is_empty() { self.soonest } else { Time::ZERO };
            let queue = self.number_of(&queue);
            let (weight, label) = (self.weight(weight), label_of(&name));
            let mut batch = Batch::new(label, (queue, weight), submit, groups, 0);
            batch.alive = running.len() as u64 + waiting;
            running.into_iter().for_each(|(task, ran)| *batch.ran_mut(task) = ran);
            self.of_job.insert(key, vec![self.batches.len()]);
            self.batches.push(batch);
        }
    }

    fn number_of(&mut self, queue: &str) -> u32 {
        if let Some(&number) = self.numbers.get(queue) {
            return number;
        }
        let number = self.queues.len() as u32;
        self.queues.push(queue.to_owned());
        self.numbers.insert(queue.to_owned(), number);
        number
    }

    /// Weights of jobs are whole numbers here.
    fn weight(&mut self, thousandths: u64) -> u32 {
        self.counts.weights += u64::from(!thousandths.is_multiple_of(1000));
        u32::try_from(thousandths.div_ceil(1000).max(1)).unwrap_or(u32::MAX)
    }

    fn fact(&mut self, t: Time, fact: &Fact) -> Result<(), String> {
        match fact {
            Fact::JobArrived(arrival) => self.arrives(t, arrival),
            Fact::TasksAdded(added) => self.added(t, &added.job, &added.groups),
            Fact::JobRefused(_) => {
                self.counts.refused += 1;
                Ok(())
            }
            Fact::JobChanged(_) => {
                self.counts.weights += 1;
                Ok(())
            }
            Fact::JobEnded(end) => {
                self.ended.insert(end.job.clone());
                Ok(())
            }
            Fact::QueueAdded(entry) => {
                self.number_of(&entry.queue);
                Ok(())
            }
            Fact::TaskStarted(start) => {
                let since = start.since.unwrap_or(t);
                self.ran(&start.job, start.task)?.starts(since, start.since.is_some());
                Ok(())
            }
            Fact::StartFailed(task) => self.ran(&task.job, task.task).map(|ran| ran.is_undone()),
            Fact::TaskEnded(task) => self.ran(&task.job, task.task).map(|ran| ran.ends(t)),
            Fact::TaskFailed(task) => self.ran(&task.job, task.task).map(|ran| ran.fails(t)),
            Fact::TaskLost(task) => self.ran(&task.job, task.task).map(|ran| ran.is_lost(t)),
            Fact::TaskWithdrawn(task) | Fact::TaskStopped(task) => {
                self.ran(&task.job, task.task).map(|ran| ran.stops(t))
            }
            _ => {
                self.labels.hears(fact);
                Ok(())
            }
        }
    }

    fn arrives(&mut self, t: Time, arrival: &Arrival) -> Result<(), String> {
        let Some(&queue) = self.numbers.get(arrival.queue.as_str()) else {
            let near = meed_config::words::suggest(
                &arrival.queue,
                self.numbers.keys().map(String::as_str),
            );
            return Err(format!("there is no queue `{}` by then; {near}", arrival.queue));
        };
        if !self.ended.remove(&arrival.job) && self.of_job.contains_key(&arrival.job) {
            return Err(format!("job {} is there already", arrival.job));
        }
        let of_queue = (queue, self.weight(arrival.weight));
        let groups = groups(&arrival.groups, arrival.limit_of_groups(), self.kinds)?;
        let submit = self.shifted(t);
        let batch = Batch::new(label_of(arrival.name()), of_queue, submit, groups, 0);
        self.of_job.insert(arrival.job.clone(), vec![self.batches.len()]);
        self.batches.push(batch);
        Ok(())
    }

    fn added(&mut self, t: Time, job: &JobKey, added: &[Group]) -> Result<(), String> {
        let submit = self.shifted(t);
        let batches = self.of_job.get_mut(job).ok_or_else(|| no_job(job))?;
        let last = &self.batches[*batches.last().expect("a job has a batch")];
        let first = last.first.checked_add(last.count).ok_or("more tasks than can be numbered")?;
        let (label, of_queue) = (last.label.clone(), (last.queue, last.weight));
        let batch = Batch::new(label, of_queue, submit, groups(added, None, self.kinds)?, first);
        batches.push(self.batches.len());
        self.batches.push(batch);
        Ok(())
    }

    fn ran(&mut self, job: &JobKey, task: u32) -> Result<&mut Ran, String> {
        let batches = self.of_job.get(job).ok_or_else(|| no_job(job))?;
        // The last that begins at or before the task.
        let place = batches.partition_point(|&batch| self.batches[batch].first <= task);
        let batch = &mut self.batches[batches[place.saturating_sub(1)]];
        let number = task.wrapping_sub(batch.first);
        if number >= batch.count {
            return Err(format!("job {job} has no task {task} by then"));
        }
        Ok(batch.ran_mut(number))
    }
}

/// The queues without others below them, and for each of all its number among them; those that have
/// got others take no jobs.
pub(super) fn leaves(all: &[String]) -> (Vec<String>, Vec<Option<u32>>) {
    let above = |name: &String| Some(name.rsplit_once('.')?.0.to_owned());
    let parents: BTreeSet<String> = all.iter().filter_map(above).collect();
    let (mut queues, mut numbers) = (Vec::with_capacity(all.len()), Vec::with_capacity(all.len()));
    for name in all {
        let is_leaf = !parents.contains(name);
        numbers.push(is_leaf.then_some(queues.len() as u32));
        queues.extend(is_leaf.then(|| name.clone()));
    }
    (queues, numbers)
}

fn no_job(job: &JobKey) -> String {
    format!("there is no job {job} by then")
}

/// Groups of tasks, of which nobody knows how long they run.
fn groups(
    groups: &[Group],
    limit: Option<Span>,
    kinds: &ResourceKinds,
) -> Result<Vec<JobGroup>, String> {
    let of = |group: &Group| {
        let read = group_with(group, limit, kinds, Durations::Same(Span::ZERO))?;
        let tasks = u64::from(read.count);
        match tasks > u64::from(meed_workload::MAX_TASKS) {
            true => Err(format!("{tasks} tasks; a job has at most {}", meed_workload::MAX_TASKS)),
            false => Ok(JobGroup { stage: 0, ..read }),
        }
    };
    groups.iter().map(of).collect()
}

impl Batch {
    /// Tasks none of which has started; `of_queue`: the queue and the weight of its job.
    fn new(
        label: JobLabel,
        (queue, weight): (u32, u32),
        submit: Time,
        groups: Vec<JobGroup>,
        first: u32,
    ) -> Batch {
        let mut count = 0u32;
        let mut end = |group: &JobGroup| {
            count = count.saturating_add(group.count);
            count
        };
        let ends: SmallVec<[u32; 1]> = groups.iter().map(&mut end).collect();
        let ran = SmallVec::from_elem(Started::new(), groups.len());
        let alive = u64::from(count);
        Batch { label, queue, submit, weight, groups, first, count, alive, ends, ran }
    }

    /// What is known of one of its tasks, from now on.
    fn ran_mut(&mut self, number: u32) -> &mut Ran {
        let of_group = &mut self.ran[self.ends.partition_point(|&end| end <= number)];
        let place = of_group.binary_search_by_key(&number, |(number, _)| *number);
        let place = place.unwrap_or_else(|place| {
            of_group.insert(place, (number, Ran::default()));
            place
        });
        &mut of_group[place].1
    }

    /// The job of those tasks that ran when the record began, and of those that ran later; none
    /// where no task did. What did not run when it began comes at `soonest`.
    fn jobs(
        self,
        end: Time,
        soonest: Time,
        assumed: &LogAssumptions,
        counts: &mut Counts,
    ) -> SmallVec<[Job; 1]> {
        let Batch { label, queue, submit, weight, groups, alive, ran, .. } = self;
        let (mut first, mut later, mut known) = (Vec::new(), Vec::with_capacity(1), 0);
        for (group, ran) in groups.into_iter().zip(ran) {
            let (mut at_head, mut after) = (Vec::new(), Vec::new());
            for (_, ran) in ran {
                let Some((span, how)) = ran.lasts(end) else { continue };
                known += 1;
                *counts.known.entry(how).or_default() += 1;
                let is_kept = how != Known::AtLeast || !assumed.drops_unfinished;
                let spans = if ran.is_of_head() { &mut at_head } else { &mut after };
                spans.extend(is_kept.then_some(span));
            }
            if group.demand.is_zero() {
                counts.nothing += (at_head.len() + after.len()) as u64;
                continue;
            }
            let (running, waiting) = split(group, at_head.len());
            first.extend(of_spans(running, at_head));
            later.extend(of_spans(waiting, after));
        }
        counts.never += alive.saturating_sub(known);
        let both = [(submit, first), (submit.max(soonest), later)];
        let some = both.into_iter().filter(|(_, groups)| !groups.is_empty());
        let job = |(submit, mut groups): (Time, Vec<JobGroup>)| {
            if groups.iter().filter(|group| is_joint(group)).count() == 1 {
                let gangs = groups.iter_mut().filter_map(|group| group.gang.as_mut());
                gangs.for_each(|gang| gang.joint = false);
            }
            Job { label: label.clone(), queue, submit, weight, chain: None, groups }
        };
        some.map(job).collect()
    }
}

/// A group of which so many tasks ran when the record began: these, and the others. Its gang is one
/// of those that ran where they are enough for it, else of the others.
fn split(group: JobGroup, running: usize) -> (JobGroup, JobGroup) {
    let (mut first, mut later) = (group.clone(), group);
    let is_whole = first.gang.as_ref().is_some_and(|gang| running as u64 >= u64::from(gang.least));
    match (running > 0, is_whole) {
        (true, true) => later.gang = None,
        (true, false) => first.gang = None,
        (false, _) => {}
    }
    (first, later)
}

/// Takes away constraints that say nothing here, and counts tasks that had some.
fn settle(job: &mut Job, labels: &LabelHistory, counts: &mut Counts) {
    for group in &mut job.groups {
        let Some(constraints) = &mut group.constraints else { continue };
        let passed_over = labels.settle(constraints);
        let count = |is_some: bool| if is_some { u64::from(group.count) } else { 0 };
        counts.kept_away += count(passed_over.away);
        counts.relabelled += count(passed_over.value);
        group.constraints = group.constraints.take().filter(|constraints| !constraints.is_open());
    }
}

fn is_joint(group: &JobGroup) -> bool {
    group.gang.as_ref().is_some_and(|gang| gang.joint)
}

/// The tasks of a group that ran, so long each; none where no task did.
fn of_spans(group: JobGroup, spans: Vec<Span>) -> Option<JobGroup> {
    let count = u32::try_from(spans.len()).ok().filter(|&count| count > 0)?;
    let all = group.count;
    let gang = group.gang.map(|mut gang| {
        gang.least = if gang.least == all { count } else { gang.least.min(count) };
        gang
    });
    let gang = gang.filter(|gang| gang.least > 1 || gang.joint || gang.same.is_some());
    let duration = match spans.iter().all(|span| *span == spans[0]) {
        true => Durations::Same(spans[0]),
        false => Durations::Each(spans.into()),
    };
    Some(JobGroup { count, duration, gang, ..group })
}

impl Counts {
    fn of(&self, known: Known) -> u64 {
        self.known.get(&known).copied().unwrap_or(0)
    }

    /// What is said of it.
    fn words(&self, assumed: &LogAssumptions) -> Vec<String> {
        let kept = match assumed.drops_unfinished {
            true => "and they are left out",
            false => {
                "and they run as long as they had by then (--set trace.unfinished=drop leaves \
                them out)"
            }
        };
        let table = [
            (
                self.of(Known::AtLeast),
                format!(
                    "tasks ran still at its end, or were lost and did not start again: how \
                    long they take is not known, {kept}"
                ),
            ),
            (
                self.of(Known::Stopped),
                "tasks were stopped with their job: they run as long as they had by then"
                    .to_owned(),
            ),
            (
                self.of(Known::Failed),
                "tasks failed for good: they run as long as all their attempts together".to_owned(),
            ),
            (self.never, "tasks never ran: they are left out".to_owned()),
            (
                self.kept_away,
                "tasks keep away from where others ran then: where these run now they do not"
                    .to_owned(),
            ),
            (
                self.relabelled,
                "tasks required a value of a label of which a node had several in turn: here they \
                 do not"
                    .to_owned(),
            ),
            (self.nothing, "tasks asked for nothing: they are left out".to_owned()),
            (self.refused, "jobs were refused: they are left out".to_owned()),
            (
                self.weights,
                "weights of jobs changed, or are no whole numbers: they are those of the \
                 arrivals, rounded up"
                    .to_owned(),
            ),
        ];
        let said = table.into_iter().filter(|(count, _)| *count > 0);
        said.map(|(count, words)| format!("log: {count} {words}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_and_what_waited_of_a_job_come_one_after_the_other() {
        let at = |seconds: u64| Time::ZERO + Span::from_secs(seconds).unwrap();
        let one = JobGroup::new(4, meed::Resources::new(&[1000]), Durations::Same(Span::ZERO));
        let group = JobGroup { gang: Some(Box::new(meed::Gang::of(3))), ..one };
        let mut batch = Batch::new(JobLabel::Number(7), (0, 1), Time::ZERO, vec![group], 0);
        for task in [2, 0, 1] {
            *batch.ran_mut(task) = Ran::at_head(at(1), at(2));
            batch.ran_mut(task).ends(at(6));
        }
        batch.ran_mut(3).starts(at(7), false);
        batch.ran_mut(3).ends(at(9));
        let soonest = Time::ZERO + Span::from_micros(1).unwrap();
        let (assumed, mut counts) = (LogAssumptions::default(), Counts::default());
        let both = batch.jobs(at(10), soonest, &assumed, &mut counts);
        let told = |job: &Job| {
            let JobGroup { count, duration, gang, .. } = &job.groups[0];
            let least = gang.as_ref().map(|gang| gang.least);
            (job.submit, *count, duration.get(0).as_secs_f64(), least)
        };
        let told: Vec<_> = both.iter().map(told).collect();
        assert_eq!(told, [(Time::ZERO, 3, 4.0, Some(3)), (soonest, 1, 2.0, None)]);
        assert_eq!(counts.never, 0);
    }
}
