//! Jobs one by one as CSV, for other programs (docs/jobs.md).
//!
//! Numbers have as many digits as it takes to read back the same float; what does not exist is an
//! empty cell.

use std::io::Write;

use meed_driver::record::{Comparison, JobRecord};

/// Shorter jobs count as long as this in [`bounded_slowdown`], in seconds: Feitelson and Rudolph,
/// "Metrics and Benchmarking for Parallel Job Scheduling" (JSSPP 1998), Sec. 2.
const SHORT: f64 = 10.0;

const COLUMNS: [&str; 12] = [
    "policy", "job", "queue", "submit_s", "start_s", "end_s", "wait_s", "job_s", "slowdown",
    "tasks", "width", "counted",
];

/// Writes a heading and a line for each job of each run that has kept its jobs.
pub fn write_jobs(comparison: &Comparison, out: impl Write) -> std::io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    for run in &comparison.runs {
        for job in &run.jobs {
            let queue = run.queues.get(job.queue).map_or("", |queue| queue.queue.as_str());
            csv.write_record(cells(&run.policy, queue, job))?;
        }
    }
    csv.flush()
}

fn cells(policy: &str, queue: &str, job: &JobRecord) -> [String; 12] {
    let since = |at: Option<f64>| at.map(|at| at - job.submit_s);
    [
        policy.to_owned(),
        job.label.to_string(),
        queue.to_owned(),
        cell(Some(job.submit_s)),
        cell(job.started_s),
        cell(job.ended_s),
        cell(since(job.started_s)),
        cell(since(job.ended_s)),
        cell(bounded_slowdown(job)),
        job.tasks.to_string(),
        cell(Some(job.width)),
        u8::from(job.counts).to_string(),
    ]
}

fn cell(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// Bounded slowdown: max(1, (end - submit) / max(end - start, 10 s)); nothing for a job that has
/// not ended.
pub fn bounded_slowdown(job: &JobRecord) -> Option<f64> {
    let (started, ended) = (job.started_s?, job.ended_s?);
    Some(((ended - job.submit_s) / (ended - started).max(SHORT)).max(1.0))
}
