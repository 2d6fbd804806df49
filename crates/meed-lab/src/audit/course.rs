//! The course of a run, read off its log: which jobs' tasks begin to wait, start, end or are lost.
//!
//! Cost: linear in the lines of the log.

use std::collections::BTreeMap;

use serde_json::Value;

use super::AuditError;
use super::draft::SLOT;

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
}

/// What a line says of a task, with what it does to those that wait, and to those that run. A task
/// that is lost waits again.
const OF_A_TASK: [(&str, i64, i64); 3] = [("start", -1, 1), ("end", 0, -1), ("lost", 1, -1)];

impl Course {
    /// Reads the lines of a log.
    pub(super) fn of(log: &[u8]) -> Result<Course, AuditError> {
        let (mut course, mut places, mut at) = (Course::default(), BTreeMap::new(), 0.0);
        for line in log.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let line: Value = serde_json::from_slice(line)?;
            at = line["t"].as_f64().unwrap_or(at);
            if let Some(arrive) = line.get("arrive") {
                places.insert(arrive["job"].to_string(), course.jobs.len());
                course.arrive(at, arrive);
            }
            for (what, waits, runs) in OF_A_TASK {
                let job = line.get(what).and_then(|task| places.get(&task["job"].to_string()));
                if let Some(&job) = job {
                    course.steps.push(Step { at, job, waits, runs });
                }
            }
        }
        Ok(course)
    }

    fn arrive(&mut self, at: f64, arrive: &Value) {
        let groups = || arrive["groups"].as_array().into_iter().flatten();
        let width = groups().filter_map(|group| group["demand"][SLOT].as_f64()).fold(0.0, f64::max);
        let waits = groups().filter_map(|group| group["tasks"].as_i64()).sum();
        let job = self.jobs.len();
        let queue = arrive["queue"].as_str().unwrap_or_default().to_owned();
        self.jobs.push(CourseJob { queue, width });
        self.steps.push(Step { at, job, waits, runs: 0 });
    }
}
