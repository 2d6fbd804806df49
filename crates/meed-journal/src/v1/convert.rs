//! From lines of schema 1 to facts: who is meant by queue and label.

use std::collections::BTreeMap;

use super::line::{ArriveLine, ChangeLine, Line, StartLine, TaskLine, What};
use crate::change::{NodeAmounts, NodeMark, QueueMark};
use crate::header::NodeEntry;
use crate::job::{Arrival, Cancelled, Group, JobEnd, Outcome, Refusal, TasksAdded};
use crate::name::{JobKey, Name};
use crate::record::Fact;
use crate::task::{Started, TaskFact};

/// What is known of a run so far.
#[derive(Default)]
pub(crate) struct Convert {
    /// Jobs that have come, refused ones too.
    arrived: u64,
    /// Jobs that are alive, by their keys.
    alive: BTreeMap<u64, Alive>,
    /// Their keys, by queue and label.
    keys: BTreeMap<(Name, JobKey), Vec<u64>>,
}

struct Alive {
    queue: Name,
    label: JobKey,
    /// Tasks of the begun stages.
    tasks: u64,
    /// Of each task, whether it has started, as bits.
    started: Vec<u64>,
    /// Attempts of tasks that run now.
    running: BTreeMap<u32, u32>,
    /// Attempts that tasks which wait again have had.
    again: BTreeMap<u32, u32>,
    cancelled: bool,
}

impl Alive {
    /// The attempt that a start of `task` would be; `None`: it cannot start.
    fn next_attempt(&self, task: u32) -> Option<u32> {
        match self.again.get(&task) {
            Some(attempts) => Some(*attempts),
            None => (u64::from(task) < self.tasks && !self.has_started(task)).then_some(0),
        }
    }

    fn has_started(&self, task: u32) -> bool {
        self.started.get(task as usize / 64).is_some_and(|bits| bits >> (task % 64) & 1 == 1)
    }

    fn start(&mut self, task: u32, attempt: u32) {
        let word = task as usize / 64;
        if self.started.len() <= word {
            self.started.resize(word + 1, 0);
        }
        self.started[word] |= 1 << (task % 64);
        self.again.remove(&task);
        self.running.insert(task, attempt);
    }
}

impl Convert {
    /// The fact that a line tells; in words why it cannot be.
    pub(crate) fn fact(&mut self, line: Line) -> Result<Fact, String> {
        match line.what {
            What::Arrive(arrive) if arrive.stage > 0 => self.stage(*arrive),
            What::Arrive(arrive) => Ok(self.arrive(*arrive)),
            What::Refuse(mut refused) => {
                let key = self.arrived;
                self.arrived += 1;
                let why = refused.why.take().unwrap_or_default();
                Ok(Fact::JobRefused(Box::new(Refusal { why, arrival: arrival(*refused, key) })))
            }
            What::Start(start) => self.start(*start),
            What::Task(what, task) => self.task(what, &task),
            What::JobEnd(end) => {
                let key = self.meant(&end.queue, &end.job, |_| true)?;
                let outcome = match (end.outcome.as_deref(), self.forget(key).cancelled) {
                    (Some("done"), _) => Outcome::Done,
                    (_, true) => Outcome::Cancelled,
                    _ => Outcome::Failed,
                };
                Ok(Fact::JobEnded(JobEnd { job: key.into(), outcome, detail: None }))
            }
            What::Change(change) => self.change(*change),
            What::Finish(finish) => Ok(Fact::Finish(finish)),
            What::Other(word) => Ok(Fact::Other(word)),
        }
    }

    fn arrive(&mut self, line: ArriveLine) -> Fact {
        let key = self.arrived;
        self.arrived += 1;
        let (queue, label) = (line.queue.clone(), line.job.clone());
        let alive = Alive {
            queue: queue.clone(),
            label: label.clone(),
            tasks: line.groups.iter().map(|group| u64::from(group.tasks)).sum(),
            started: Vec::new(),
            running: BTreeMap::new(),
            again: BTreeMap::new(),
            cancelled: false,
        };
        self.alive.insert(key, alive);
        self.keys.entry((queue, label)).or_default().push(key);
        Fact::JobArrived(Box::new(arrival(line, key)))
    }

    fn stage(&mut self, line: ArriveLine) -> Result<Fact, String> {
        let key = self.meant(&line.queue, &line.job, |_| true)?;
        let more: u64 = line.groups.iter().map(|group| u64::from(group.tasks)).sum();
        self.alive.get_mut(&key).expect("it is meant").tasks += more;
        let groups = line.groups.into_iter().map(Group::from).collect();
        let (job, stage) = (key.into(), line.stage);
        Ok(Fact::TasksAdded(TasksAdded { job, stage, groups, open: false }))
    }

    fn start(&mut self, line: StartLine) -> Result<Fact, String> {
        let task = line.task;
        let may = |job: &Alive| job.next_attempt(task).is_some();
        let key = self.meant(&line.queue, &line.job, may)?;
        let job = self.alive.get_mut(&key).expect("it is meant");
        let attempt = job.next_attempt(task).expect("it may start");
        job.start(task, attempt);
        Ok(Fact::TaskStarted(Started {
            queue: line.queue,
            job: key.into(),
            task,
            attempt,
            node: line.node,
            failures: line.failures,
            by: None,
            since: None,
            reason: line.reason,
            detail: None,
        }))
    }

    fn task(&mut self, what: &str, line: &TaskLine) -> Result<Fact, String> {
        let task = line.task;
        let key = self.meant(&line.queue, &line.job, |job| job.running.contains_key(&task))?;
        let job = self.alive.get_mut(&key).expect("it is meant");
        let attempt = job.running.remove(&task).expect("it runs");
        let fact = TaskFact { job: key.into(), task, attempt, why: None, detail: None };
        Ok(match what {
            "end" => Fact::TaskEnded(fact),
            "stop" => Fact::TaskStopped(fact),
            _ => {
                job.again.insert(task, attempt + 1);
                if what == "fail" { Fact::TaskFailed(fact) } else { Fact::TaskLost(fact) }
            }
        })
    }

    fn change(&mut self, line: ChangeLine) -> Result<Fact, String> {
        let of_share = line.of_share;
        let joins = line.node_joins.map(|node| NodeEntry {
            name: node.name,
            capacity: node.capacity,
            weight: node.weight,
            labels: node.labels,
            of_share,
            detail: None,
        });
        let leaves = |name| NodeMark { of_share, ..NodeMark::of(name) };
        let given = [
            joins.map(|node| Fact::NodeJoined(Box::new(node))),
            line.node_leaves.map(|name| Fact::NodeLeft(leaves(name))),
            line.node_resized.map(|node| {
                let (name, capacity) = (node.name, node.capacity);
                Fact::NodeResized(NodeAmounts { name, capacity, keeps_tasks: false, of_share })
            }),
            line.queue.map(|queue| Fact::QueueChanged(Box::new(queue))),
            line.queue_removed.map(|name| Fact::QueueRemoved(QueueMark { name })),
            line.job_cancelled.map(|label| Fact::JobCancelled(self.cancel(&label))),
        ];
        let mut given = given.into_iter().flatten();
        match (given.next(), given.next()) {
            (_, Some(_)) => Err("a change is one thing".to_owned()),
            (first, None) => Ok(first.unwrap_or_else(|| Fact::Other("change".into()))),
        }
    }

    /// The first alive job of that label, whatever its queue.
    fn cancel(&mut self, label: &str) -> Cancelled {
        let ours = self.alive.iter_mut().find(|(_, job)| job.label.to_string() == label);
        let Some((key, job)) = ours else {
            return Cancelled { job: None, name: Some(label.into()) };
        };
        job.cancelled = true;
        let key = JobKey::Number(*key);
        let name = (job.label != key).then(|| job.label.clone());
        Cancelled { job: Some(key), name }
    }

    /// The first alive job of that queue and label for which `may` says so.
    fn meant(
        &self,
        queue: &Name,
        label: &JobKey,
        may: impl Fn(&Alive) -> bool,
    ) -> Result<u64, String> {
        let keys = self.keys.get(&(queue.clone(), label.clone()));
        let found = keys.into_iter().flatten().find(|key| may(&self.alive[key]));
        found.copied().ok_or_else(|| format!("there is no such task of a job {label} of `{queue}`"))
    }

    fn forget(&mut self, key: u64) -> Alive {
        let job = self.alive.remove(&key).expect("it is meant");
        let place = (job.queue.clone(), job.label.clone());
        if let Some(keys) = self.keys.get_mut(&place) {
            keys.retain(|other| *other != key);
            if keys.is_empty() {
                self.keys.remove(&place);
            }
        }
        job
    }
}

fn arrival(line: ArriveLine, key: u64) -> Arrival {
    let groups = |lines: Vec<_>| lines.into_iter().map(Group::from).collect();
    let job = JobKey::Number(key);
    Arrival {
        queue: line.queue,
        name: (line.job != job).then_some(line.job),
        job,
        weight: u64::from(line.weight) * 1000,
        chain: line.chain,
        pause: line.pause_s,
        not_before: line.not_before_s,
        limit: None,
        max_attempts: None,
        open: false,
        groups: groups(line.groups),
        later: groups(line.later),
        submitted: groups(line.submitted),
        detail: None,
    }
}
