//! TPDS'15 Fig. 8: tasks completed over tasks submitted, for each user, under best-fit DRFH and under slots.

use meed_report::page::{Block, Line, LineChart};
use meed_sim::record::RunRecord;

use super::claim::{Claim, beyond};
use super::trace::{BEST_FIT, Google, NEEDED, SLOTS};
use crate::reproduce::{Context, Measured, Outcome, ReproduceError};

const NO_WORSE: Claim = Claim {
    what: "users whose ratio under best fit is no lower than under slots",
    paper: "almost all",
    unit: "%",
    agrees: (90.0, 100.0),
    otherwise: "slots share tasks, not dominant shares: a user whose tasks are large in one resource holds more under slots",
};

const ALL_DONE: Claim = Claim {
    what: "users all of whose tasks are completed under best fit, but not under slots",
    paper: "around 20 %",
    unit: "%",
    agrees: (15.0, 25.0),
    otherwise: "a task that still ran when the trace ended is as long as was known, so whoever waits even a little does not \
        complete it by the end: that hides users who have such tasks",
};

/// Tasks completed over tasks submitted; `None` for users that submit nothing.
pub(super) fn ratios(run: &RunRecord, submitted: &[u64]) -> Vec<Option<f64>> {
    let ratio = |(queue, submitted): (&meed_sim::record::QueueRecord, &u64)| {
        (*submitted > 0).then(|| queue.tasks as f64 / *submitted as f64)
    };
    run.queues.iter().zip(submitted).map(ratio).collect()
}

pub(in super::super) fn figure_8(context: &Context) -> Result<Outcome, ReproduceError> {
    let Some(google) = Google::of(context)? else {
        return Ok(Outcome::skipped(ALL_DONE.what, ALL_DONE.paper, NEEDED));
    };
    let runs = google.runs([BEST_FIT, SLOTS])?;
    let [best, slots] = runs.each_ref().map(|run| ratios(run, &google.submitted));
    let users: Vec<(f64, f64)> = best.iter().zip(&slots).filter_map(|(a, b)| (*a).zip(*b)).collect();
    let part = |holds: fn(&&(f64, f64)) -> bool| {
        100.0 * users.iter().filter(holds).count() as f64 / users.len().max(1) as f64
    };
    let done = |ratios: &[Option<f64>]| ratios.iter().flatten().filter(|ratio| **ratio >= 1.0).count();
    let words = format!("{} and {} of {}", done(&best), done(&slots), users.len());
    Ok(Outcome {
        checks: vec![
            NO_WORSE.of(part(|(best, slots)| best >= slots)),
            ALL_DONE.of(part(|(best, slots)| *best >= 1.0 && *slots < 1.0)),
            beyond(
                "users all of whose tasks are completed, best fit and 14 slots",
                Measured::Words(words),
                "",
            ),
        ],
        assumptions: google.assumptions(),
        blocks: vec![sorted(
            "Task completion ratio of users",
            &[
                ("best fit", &users.iter().map(|pair| pair.0).collect::<Vec<_>>()),
                ("14 slots", &users.iter().map(|pair| pair.1).collect::<Vec<_>>()),
            ],
        )],
    })
}

/// Users from the lowest ratio to the highest, for each policy on its own.
pub(super) fn sorted(title: &str, policies: &[(&str, &[f64])]) -> Block {
    let line = |(name, ratios): &(&str, &[f64])| {
        let mut ratios = ratios.to_vec();
        ratios.sort_by(f64::total_cmp);
        let last = ratios.len().saturating_sub(1).max(1) as f64;
        Line {
            name: (*name).to_owned(),
            x: (0..ratios.len()).map(|place| 100.0 * place as f64 / last).collect(),
            y: ratios.into_iter().map(|ratio| Some(100.0 * ratio)).collect(),
            ..Line::default()
        }
    };
    Block::Lines(LineChart {
        title: title.to_owned(),
        caption: "Users in order of the ratio, for each line on its own.".to_owned(),
        x: "users (%)".to_owned(),
        y: "tasks completed (% of those submitted)".to_owned(),
        lines: policies.iter().map(line).collect(),
        ..LineChart::default()
    })
}
