//! Small worked examples: tables of users and minutes.
//!
//! The state during minute m is read half way through it: the scenario is run until then, and the
//! last sample shows what each queue wants and holds. Runs are tiny, and nothing is interpolated.

use std::path::Path;

use meed_scenario::{Scenario, Setting};
use meed_sim::record::{QueueSeries, RunRecord};
use meed_sim::{SimulateOptions, Unwatched, simulate};
use meed_workload::OnBadLine;

use crate::reproduce::ReproduceError;

/// Runs a scenario's text under `policies`, until `until` where it is given.
pub(super) fn run(
    text: &str,
    policies: &[&str],
    until: Option<&str>,
) -> Result<Vec<RunRecord>, ReproduceError> {
    let settings: Vec<Setting> = until.map(Setting::until).into_iter().collect();
    let scenario =
        Scenario::parse("worked example", text, Path::new("."), &settings, OnBadLine::Stop)?;
    let options = SimulateOptions {
        policies: policies.iter().map(|&policy| policy.to_owned()).collect(),
        series_points: 64,
        strict: true,
        ..SimulateOptions::default()
    };
    Ok(simulate(&scenario, &options, None, &mut Unwatched)?.runs)
}

/// A queue half way through a minute.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Seen {
    /// Waiting and running.
    pub(super) demand: f64,
    /// Running.
    pub(super) held: f64,
    /// Charged so far, in resource-minutes, with the whole of what runs.
    pub(super) charged: f64,
    /// Its share.
    pub(super) share: f64,
}

/// Each queue in each of the first `minutes` minutes under `policy`: rows are minutes.
pub(super) fn minutes(
    text: &str,
    policy: &str,
    minutes: u32,
) -> Result<Vec<Vec<Seen>>, ReproduceError> {
    let row = |minute: u32| {
        let until = format!("{}s", 60 * minute + 30);
        let record = &run(text, &[policy], Some(&until))?[0];
        Ok(record
            .queues
            .iter()
            .zip(&record.series.queues)
            .map(|(queue, series)| seen(queue, series))
            .collect())
    };
    (0..minutes).map(row).collect()
}

fn seen(queue: &meed_sim::record::QueueRecord, series: &QueueSeries) -> Seen {
    let last = |values: &[f64]| values.last().copied().unwrap_or_default();
    Seen {
        demand: last(&series.demand),
        held: last(&series.allocation),
        charged: queue.charged / 60.0,
        share: queue.share,
    }
}

/// A scenario with one node of `slots` slots, equal queues, and jobs of unit tasks of a minute.
pub(super) fn unit_scenario(
    slots: u32,
    queues: &[&str],
    jobs: impl Iterator<Item = (u32, usize, u32)>,
) -> String {
    use std::fmt::Write as _;
    let mut text = format!(
        "[cluster]\nresources = [\"slot\"]\n[[cluster.node]]\ncapacity = {{ slot = {slots} }}\n\
         [policy]\nquantum = \"1min\"\n"
    );
    for queue in queues {
        // Writing to a String cannot fail.
        let _ = write!(text, "[[queue]]\nname = \"{queue}\"\n");
    }
    for (minute, queue, tasks) in jobs.filter(|&(_, _, tasks)| tasks > 0) {
        let _ = write!(
            text,
            "[[job]]\nqueue = \"{}\"\nsubmit = \"{minute}min\"\ntasks = {tasks}\nduration = \
             \"1min\"\ndemand = {{ slot = 1 }}\n",
            queues[queue]
        );
    }
    text
}
