//! Capacity left idle while a task waited that would have fitted, read off a run's log.
//!
//! > integral over t of min(R - sum g_i(t), what waits in tasks of at most that width), over R T
//!
//! Exact: between two instants nothing changes. One node, so what is free is free in one piece.
//! Cost: linear in the lines of the log, times the jobs with waiting tasks.

use std::collections::BTreeMap;

use serde_json::Value;

use super::AuditError;
use super::draft::SLOT;

#[derive(Default)]
struct Job {
    /// Slots of one task.
    width: f64,
    waiting: u64,
}

#[derive(Default)]
struct State {
    jobs: BTreeMap<String, Job>,
    held: f64,
}

/// The idle part of `capacity` x the run's time during which a waiting task would have fitted.
pub(super) fn idle_while_wanted(log: &[u8], capacity: f64, end_s: f64) -> Result<f64, AuditError> {
    let (mut state, mut at, mut idle) = (State::default(), 0.0, 0.0);
    for line in log.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let line: Value = serde_json::from_slice(line)?;
        let t = line["t"].as_f64().unwrap_or(at);
        idle += (t - at) * state.idle(capacity);
        at = t;
        state.pass(&line);
    }
    idle += (end_s - at) * state.idle(capacity);
    Ok(idle / (capacity * end_s))
}

impl State {
    fn pass(&mut self, line: &Value) {
        let name = |what: &Value| what["job"].to_string();
        if let Some(arrive) = line.get("arrive") {
            for group in arrive["groups"].as_array().into_iter().flatten() {
                let job = self.jobs.entry(name(arrive)).or_default();
                job.width = group["demand"][SLOT].as_f64().unwrap_or(0.0);
                job.waiting += group["tasks"].as_u64().unwrap_or(0);
            }
        } else if let Some(start) = line.get("start") {
            if let Some(job) = self.jobs.get_mut(&name(start)) {
                job.waiting -= 1;
                self.held += job.width;
            }
        } else if let Some(end) = line.get("end")
            && let Some(job) = self.jobs.get(&name(end))
        {
            self.held -= job.width;
        }
    }

    fn idle(&self, capacity: f64) -> f64 {
        let free = capacity - self.held;
        let fits = self.jobs.values().filter(|job| job.waiting > 0 && job.width <= free);
        fits.map(|job| job.width * job.waiting as f64).sum::<f64>().min(free)
    }
}
