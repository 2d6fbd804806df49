//! The course of a run, read off its log: which jobs' tasks begin to wait, start, end or are lost.
//!
//! Cost: linear in the lines of the log; of what a line says only what is asked for is read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::draft::{SLOT, USELESS};
use super::error::AuditError;

/// See the module.
#[derive(Default)]
pub(super) struct Course {
    pub(super) jobs: Vec<CourseJob>,
    /// In order of time.
    pub(super) steps: Vec<Step>,
}

/// A job; all its tasks are alike.
pub(super) struct CourseJob {
    pub(super) queue: String,
    /// Slots of one task.
    pub(super) width: f64,
    /// Those of them that are of no use.
    useless: f64,
    /// Seconds of one task.
    length: f64,
}

/// What happens to tasks of a job at an instant.
pub(super) struct Step {
    /// Seconds.
    pub(super) at: f64,
    /// Its place among the jobs.
    pub(super) job: usize,
    /// How many more wait.
    pub(super) waits: i64,
    /// How many more run.
    pub(super) runs: i64,
    /// How many more there are.
    comes: i64,
}

/// A time in which nothing changes, and what each queue holds, waits for, and got at its beginning;
/// in the order in which the queues were asked for.
#[derive(Clone)]
pub(super) struct Spell {
    pub(super) from: f64,
    pub(super) to: f64,
    /// Slots.
    pub(super) held: Vec<f64>,
    /// Those of them that are of use.
    pub(super) useful: Vec<f64>,
    /// Slots.
    pub(super) waits: Vec<f64>,
    /// Slot-seconds of work that came at its beginning.
    pub(super) comes: Vec<f64>,
}

impl Spell {
    pub(super) fn seconds(&self) -> f64 {
        self.to - self.from
    }
}

#[derive(Deserialize)]
struct Line<'l> {
    t: Option<f64>,
    #[serde(borrow)]
    arrive: Option<Arrive<'l>>,
    start: Option<OfTask>,
    end: Option<OfTask>,
    lost: Option<OfTask>,
}

#[derive(Deserialize)]
struct OfTask {
    job: u64,
}

#[derive(Deserialize)]
struct Arrive<'l> {
    #[serde(borrow)]
    queue: Cow<'l, str>,
    job: u64,
    #[serde(default)]
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    tasks: i64,
    demand: BTreeMap<String, f64>,
    #[serde(default)]
    duration_s: Vec<f64>,
}

impl Group {
    fn of(&self, kind: &str) -> f64 {
        self.demand.get(kind).copied().unwrap_or(0.0)
    }
}

impl Course {
    /// Reads the lines of a log.
    pub(super) fn of(log: &[u8]) -> Result<Course, AuditError> {
        let (mut course, mut places, mut at) = (Course::default(), BTreeMap::new(), 0.0);
        for line in log.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let line: Line<'_> = serde_json::from_slice(line)?;
            at = line.t.unwrap_or(at);
            if let Some(arrive) = line.arrive {
                places.insert(arrive.job, course.jobs.len());
                course.arrive(at, &arrive);
            }
            // A task that is lost waits again.
            for (what, waits, runs) in [(line.start, -1, 1), (line.end, 0, -1), (line.lost, 1, -1)]
            {
                if let Some(&job) = what.and_then(|task| places.get(&task.job)) {
                    course.steps.push(Step { at, job, waits, runs, comes: 0 });
                }
            }
        }
        Ok(course)
    }

    fn arrive(&mut self, at: f64, arrive: &Arrive<'_>) {
        let most = |of: &dyn Fn(&Group) -> f64| arrive.groups.iter().map(of).fold(0.0, f64::max);
        let tasks = arrive.groups.iter().map(|group| group.tasks).sum();
        let job = self.jobs.len();
        self.jobs.push(CourseJob {
            queue: arrive.queue.as_ref().to_owned(),
            width: most(&|group| group.of(SLOT)),
            useless: most(&|group| group.of(USELESS)),
            length: most(&|group| group.duration_s.iter().copied().fold(0.0, f64::max)),
        });
        self.steps.push(Step { at, job, waits: tasks, runs: 0, comes: tasks });
    }

    /// The course of these queues up to the end.
    pub(super) fn spells(&self, queues: &[String], end_s: f64) -> Vec<Spell> {
        let none = || vec![0.0; queues.len()];
        let place = |job: &CourseJob| queues.iter().position(|name| *name == job.queue);
        let places: Vec<Option<usize>> = self.jobs.iter().map(place).collect();
        let (held, useful, waits) = (none(), none(), none());
        let mut spell = Spell { from: 0.0, to: 0.0, held, useful, waits, comes: none() };
        let mut spells = Vec::new();
        for instant in self.steps.chunk_by(|a, b| a.at == b.at) {
            let at = instant[0].at;
            spells.push(Spell { to: at, ..spell.clone() });
            spell = Spell { from: at, to: end_s.max(at), comes: none(), ..spell };
            for (step, queue) in instant.iter().filter_map(|step| Some((step, places[step.job]?))) {
                let job = &self.jobs[step.job];
                spell.held[queue] += step.runs as f64 * job.width;
                spell.useful[queue] += step.runs as f64 * (job.width - job.useless);
                spell.waits[queue] += step.waits as f64 * job.width;
                spell.comes[queue] += step.comes as f64 * job.width * job.length;
            }
        }
        spells.push(spell);
        spells
    }
}
