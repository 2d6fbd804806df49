//! Which job is meant, and when it waited longest: one look through the recorded lines.
//!
//! Labels need not be distinct, neither over queues nor within one: a job is known by queue, label
//! and arrival. Memory: the jobs looked for that are alive, and of each that has ended a few
//! numbers.

use std::collections::BTreeMap;

use meed::{Span, Time};
use meed_config::words::{did_you_mean, slips};
use meed_workload::JobLabel;

use crate::log::read::{Content, LogError, What};
use crate::replay::Recording;

/// A job of the record, and its waits.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) queue: String,
    pub(super) label: JobLabel,
    pub(super) arrived: Time,
    pub(super) ended: Option<Time>,
    pub(super) refused: bool,
    pub(super) why_refused: Option<String>,
    /// Its longest wait: from when a task could have started to when it did (or the job, or the
    /// record, ended).
    pub(super) longest: Option<(Time, Time)>,
    /// When its tasks were started.
    pub(super) starts: Vec<Time>,
    ready: Time,
    unstarted: u64,
    again: BTreeMap<u32, Time>,
}

impl Found {
    fn waited(&mut self, since: Time, until: Time) {
        let longest = self.longest.map_or(Span::ZERO, |(from, to)| to - from);
        if until.saturating_since(since) > longest {
            self.longest = Some((since, until));
        }
    }

    fn start(&mut self, t: Time, task: u32) {
        let since = match self.again.remove(&task) {
            Some(since) => since,
            None => {
                self.unstarted = self.unstarted.saturating_sub(1);
                self.ready
            }
        };
        self.starts.push(t);
        self.waited(since, t);
    }

    /// What waits when the job or the record ends has waited until then.
    fn stop(&mut self, t: Time) {
        let first = (self.unstarted > 0).then_some(self.ready);
        if let Some(since) = first.into_iter().chain(self.again.values().copied()).min() {
            self.waited(since, t);
        }
    }
}

/// All jobs for which `wanted` says so, in order of arrival.
pub(super) fn jobs(
    recording: &Recording,
    wanted: impl Fn(&str, &JobLabel) -> bool,
) -> Result<Vec<Found>, LogError> {
    let (mut found, mut alive) = (Vec::<Found>::new(), Alive::default());
    let kinds = [What::Arrive, What::Refuse, What::Start, What::Fail, What::Lost, What::JobEnd];
    let mut reader = recording.log.read(&recording.run)?;
    reader.find_map(&kinds, |_, _, line| {
        let t = line.t;
        match line.content {
            Content::Arrive(arrive) if wanted(&arrive.queue, &arrive.job.0) => {
                let tasks = arrive.groups.iter().map(|group| u64::from(group.tasks)).sum();
                let refused = line.what == What::Refuse;
                if arrive.stage > 0 {
                    if let Some((_, job)) =
                        alive.find(&mut found, &arrive.queue, &arrive.job.0, |_| true)
                    {
                        (job.ready, job.unstarted) = (t, tasks);
                    }
                    return Ok(None);
                }
                if !refused {
                    alive
                        .0
                        .entry(Alive::key(&arrive.queue, &arrive.job.0))
                        .or_default()
                        .push(found.len());
                }
                found.push(Found {
                    queue: arrive.queue.into_owned(),
                    label: arrive.job.0,
                    arrived: t,
                    ended: refused.then_some(t),
                    refused,
                    why_refused: arrive.why,
                    longest: None,
                    starts: Vec::new(),
                    ready: t,
                    unstarted: tasks,
                    again: BTreeMap::new(),
                });
            }
            Content::Task(task) if wanted(&task.queue, &task.job.0) => {
                let number = task.task;
                let starts = line.what == What::Start;
                let may =
                    |job: &Found| !starts || job.unstarted > 0 || job.again.contains_key(&number);
                if let Some((_, job)) = alive.find(&mut found, &task.queue, &task.job.0, may) {
                    match starts {
                        true => job.start(t, number),
                        false => drop(job.again.insert(number, t)),
                    }
                }
            }
            Content::JobEnd(end) if wanted(&end.queue, &end.job.0) => {
                if let Some((place, job)) = alive.find(&mut found, &end.queue, &end.job.0, |_| true)
                {
                    job.ended = Some(t);
                    job.stop(t);
                    if let Some(places) = alive.0.get_mut(&Alive::key(&end.queue, &end.job.0)) {
                        places.retain(|&other| other != place);
                    }
                }
            }
            _ => {}
        }
        Ok(None::<()>)
    })?;
    let end = recording.run.end;
    found.iter_mut().filter(|job| job.ended.is_none()).for_each(|job| job.stop(end));
    Ok(found)
}

/// Jobs that are alive, by queue and label.
#[derive(Default)]
struct Alive(BTreeMap<(String, String), Vec<usize>>);

impl Alive {
    fn key(queue: &str, label: &JobLabel) -> (String, String) {
        (queue.to_owned(), label.to_string())
    }

    /// The first of that queue and label for which `may` says so.
    fn find<'f>(
        &self,
        found: &'f mut [Found],
        queue: &str,
        label: &JobLabel,
        may: impl Fn(&Found) -> bool,
    ) -> Option<(usize, &'f mut Found)> {
        let places = self.0.get(&Alive::key(queue, label))?;
        let place = places.iter().copied().find(|&place| may(&found[place]))?;
        Some((place, &mut found[place]))
    }
}

/// The job that `words` name, as LABEL or QUEUE/LABEL; `at` tells jobs of one label apart.
pub(super) fn the_job(
    recording: &Recording,
    words: &str,
    at: Option<Time>,
) -> Result<Found, LogError> {
    let fail = |what: String| LogError::Which { file: recording.log.file().clone(), what };
    let matches = |queue: &str, label: &JobLabel| {
        let label = label.to_string();
        words == label
            || words
                .strip_prefix(queue)
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|rest| rest == label)
    };
    let mut found = jobs(recording, matches)?;
    if found.is_empty() {
        return Err(fail(unknown_job(recording, words)?));
    }
    let mut queues: Vec<&str> = found.iter().map(|job| job.queue.as_str()).collect();
    queues.sort_unstable();
    queues.dedup();
    if queues.len() > 1 {
        let ways: Vec<String> =
            queues.iter().take(10).map(|queue| format!("{queue}/{words}")).collect();
        let more = if queues.len() > 10 {
            format!(" and {} more", queues.len() - 10)
        } else {
            String::new()
        };
        return Err(fail(format!(
            "has jobs `{words}` in {} queues; say which with --job {}{more}",
            queues.len(),
            ways.join(", ")
        )));
    }
    if found.len() > 1 {
        let times: Vec<String> = found.iter().take(10).map(|job| job.arrived.to_string()).collect();
        let count = found.len();
        if let Some(at) = at {
            found.retain(|job| job.arrived <= at && job.ended.is_none_or(|ended| at < ended));
        }
        if found.len() != 1 {
            return Err(fail(format!(
                "has {count} jobs `{words}` of one queue, which arrive at {}; say with --at when \
                 the one that you \
                 mean was there alone",
                times.join(", ")
            )));
        }
    }
    Ok(found.remove(0))
}

fn unknown_job(recording: &Recording, words: &str) -> Result<String, LogError> {
    let mut near: Option<(usize, String)> = None;
    let own = words.rsplit('/').next().unwrap_or(words);
    let mut reader = recording.log.read(&recording.run)?;
    reader.find_map(&[What::Arrive, What::Refuse], |_, _, line| {
        if let Content::Arrive(arrive) = line.content {
            let label = arrive.job.0.to_string();
            if let Some(far) = slips(own, &label)
                && near.as_ref().is_none_or(|(best, _)| far < *best)
            {
                near = Some((far, format!("{}/{label}", arrive.queue)));
            }
        }
        Ok(None::<()>)
    })?;
    let near = near.map_or(String::new(), |(_, name)| format!("; did you mean `{name}`?"));
    Ok(format!("has no job `{words}` under {}{near}", recording.policy()))
}

/// The error of a queue that was never there.
pub(super) fn unknown_queue(recording: &Recording, name: &str) -> LogError {
    let known = recording.run.header.queues.iter().map(|line| line.queue.as_str());
    let near = did_you_mean(name, known).map_or(String::new(), |near| format!("; {near}"));
    LogError::Which {
        file: recording.log.file().clone(),
        what: format!("has no queue `{name}`{near}"),
    }
}
