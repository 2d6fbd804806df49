//! A world without a twin that writes down what happens: what rules are checked by that are told
//! from the stream of events alone.

use super::{engine, micros, span};
use meed::*;
use std::collections::BTreeMap;

/// A job. All its tasks run for the same time. Times are in microseconds.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// The place of its queue among those of the configuration.
    pub(crate) queue: usize,
    pub(crate) at: u64,
    pub(crate) runs: u64,
    pub(crate) groups: Vec<TaskGroup>,
}

impl Work {
    /// The group of a task, by its number in the job.
    pub(crate) fn group_of(&self, task: u32) -> usize {
        let mut first = 0;
        let ends = self.groups.iter().map(|group| {
            first += group.count;
            first
        });
        ends.take_while(|end| *end <= task).count()
    }
}

/// A task: its job's place in order of arrival, and its number there.
pub(crate) type TaskName = (usize, u32);

/// What happened.
#[derive(Clone, Debug)]
pub(crate) enum Record {
    Arrived,
    Started {
        task: TaskName,
        node: usize,
        reserved_for: Option<u64>,
    },
    Ended(TaskName),
    /// It was told to stop, and has.
    Lost(TaskName),
    /// It is told to stop for a job that has had its reservation for so long.
    Told {
        task: TaskName,
        winner: usize,
        /// The group of the winner's job that the reservation is of.
        group: usize,
        waited: u64,
        ran: u64,
    },
}

/// What happened, and when, in order.
pub(crate) type Stream = Vec<(u64, Record)>;

struct Live {
    engine: Engine,
    stream: Stream,
    /// By handle: its name, and since when it runs.
    running: BTreeMap<AllocationId, (TaskName, u64)>,
    jobs: BTreeMap<JobId, usize>,
    ends: BTreeMap<(u64, AllocationId), u64>,
    stops: Vec<(u64, AllocationId)>,
}

impl Live {
    fn tell(&mut self, at: u64, record: Record) {
        self.stream.push((at, record));
    }

    fn arrives(&mut self, at: u64, number: usize, work: &Work) {
        let queue = self.engine.view().queue_ids().nth(work.queue + 1).expect("declared");
        let spec = JobSpec { max_attempts: 0, ..JobSpec::new(queue, &work.groups) };
        let effect = self.engine.apply(micros(at), Event::JobArrived(spec)).expect("sound");
        let Effect::Job(id) = effect else { panic!("{effect:?}") };
        self.jobs.insert(id, number);
        self.tell(at, Record::Arrived);
    }

    fn leaves(&mut self, at: u64, task: AllocationId, stopped: bool) {
        let Some((name, _)) = self.running.remove(&task) else { return };
        let event = if stopped { Event::TaskLost(task) } else { Event::TaskEnded(task) };
        self.engine.apply(micros(at), event).expect("it runs");
        self.ends.retain(|(_, other), _| *other != task);
        self.tell(at, if stopped { Record::Lost(name) } else { Record::Ended(name) });
    }

    fn decide(&mut self, at: u64, jobs: &[Work]) {
        self.engine.advance(micros(at)).expect("time goes on");
        let mut starts = Vec::new();
        self.engine.decide(true, |start| starts.push(start));
        for start in starts {
            let job = self.jobs[&start.job];
            let task = (job, start.task);
            self.running.insert(start.allocation, (task, at));
            self.ends.insert((at + jobs[job].runs, start.allocation), at);
            let reserved = start.reason.and_then(|reason| reason.reserved_for);
            let (node, reserved_for) = (start.node.index(), reserved.map(Span::as_micros));
            self.tell(at, Record::Started { task, node, reserved_for });
        }
        while let Some(stop) = self.engine.next_stop() {
            let (task, _) = self.running[&stop.allocation];
            let (winner, group) = (self.jobs[&stop.winner.job], stop.winner.group as usize);
            let waited = stop.winner.waited.as_micros();
            self.stops.push((at + stop.grace.as_micros(), stop.allocation));
            self.tell(at, Record::Told { task, winner, group, waited, ran: stop.ran.as_micros() });
        }
    }
}

/// All that happens to these jobs, in order of arrival, until nothing is left, or so many records
/// are written.
pub(crate) fn live(config: &Config, jobs: &[Work], most: usize) -> Stream {
    let (running, ends, stops) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let (engine, stream, ids) = (engine(config), Vec::new(), BTreeMap::new());
    let mut live = Live { engine, stream, running, jobs: ids, ends, stops };
    let mut next = 0;
    while live.stream.len() < most {
        let arrival = jobs.get(next).map(|job| job.at);
        let end = live.ends.first_key_value().map(|(&(at, _), _)| at);
        let stop = live.stops.iter().map(|(at, _)| *at).min();
        let look = live.engine.view().next_look().map(Time::as_micros).filter(|_| end.is_some());
        let Some(now) = [arrival, end, stop, look].into_iter().flatten().min() else { break };
        while let Some((&(at, task), _)) = live.ends.first_key_value()
            && at == now
        {
            live.leaves(now, task, false);
        }
        let due: Vec<_> = live.stops.extract_if(.., |(at, _)| *at == now).collect();
        due.into_iter().for_each(|(_, task)| live.leaves(now, task, true));
        while let Some(job) = jobs.get(next).filter(|job| job.at == now) {
            live.arrives(now, next, job);
            next += 1;
        }
        live.decide(now, jobs);
    }
    live.stream
}

/// So many seconds.
pub(crate) fn for_seconds(seconds: u64) -> Span {
    span(seconds * MICROS_PER_S)
}
