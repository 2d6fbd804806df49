//! ICS'14 Fig. 7: accumulated resources under a fixed and under an adaptive task quantum, both
//! starting from 600 s.

use meed_sim::record::{Comparison, QueueSeries};
use meed_workload::macro_workload::Workload;

use super::claim::{Claim, check_all};
use super::experiment::{
    Experiment, FACEBOOK, ICS, NAMES, SCALES, SIDE_BY_SIDE, WORKLOADS, assumptions,
};
use super::reading::{Reading, chart};
use crate::reproduce::{Context, ItemOutcome, ReproduceError};

const EXPERIMENT: Experiment = Experiment {
    cluster: ICS,
    groups: None,
    starts: SIDE_BY_SIDE,
    factors: [1.0; 4],
    policies: &["long-term,quantum=600s", "long-term,quantum_initial=600s"],
    until_s: Some(HOUR_S),
    samples: 1800,
};

/// What the figure shows: one hour.
const HOUR_S: u64 = 3600;
/// The paper's example: 76 of Facebook's tasks, of about 11 s, end within 11 s.
const FALL_S: f64 = 11.0;
/// Under the adaptive quantum the first tasks are charged 600 s too, until some have ended.
const LEARNT_S: f64 = 300.0;

const CLAIMS: [Claim; 5] = [
    Claim {
        chart: "Downward jumps over the final value",
        what: "all downward jumps of accumulated resources, over their final value, fixed quantum",
        paper: "fluctuates significantly",
        unit: "",
        reference: None,
        agrees: (0.5, f64::INFINITY),
        otherwise: "",
    },
    Claim {
        chart: "Downward jumps over the final value",
        what: "the same from 300 s on, adaptive quantum",
        paper: "much smoother",
        unit: "",
        reference: None,
        agrees: (0.0, 0.1),
        otherwise: "tasks of a queue differ from their mean",
    },
    Claim {
        chart: "Largest fall of Facebook's accumulated resources within the time of a task",
        what: "Facebook's largest fall within 11 s, fixed quantum",
        paper: "389 (from 1,019 at 1,439 s to 630 at 1,450 s)",
        unit: "s of the whole cluster",
        reference: Some((389.0, 389.0)),
        agrees: (195.0, 600.0),
        otherwise: "",
    },
    Claim {
        chart: "Largest fall of Facebook's accumulated resources within the time of a task",
        what: "Facebook's largest fall within 11 s, adaptive quantum, from 300 s on",
        paper: "much smoother",
        unit: "s of the whole cluster",
        reference: None,
        agrees: (0.0, 20.0),
        otherwise: "",
    },
    Claim {
        chart: "Queues whose quantum has become that of their tasks",
        what: "queues whose adaptive quantum after an hour lies among the mean times of their \
            tasks",
        paper: "each workload has its own (Fig. 7c)",
        unit: "queues",
        reference: Some((4.0, 4.0)),
        agrees: (4.0, 4.0),
        otherwise: "a job that has just come starts with what its queue had learnt before",
    },
];

pub(in super::super) fn ics_fig7(context: &Context) -> Result<ItemOutcome, ReproduceError> {
    let runs = EXPERIMENT.sweep(context, &SCALES, read)?;
    let (checks, spreads) = check_all(&CLAIMS, &runs);
    let typical = EXPERIMENT.typical(context)?;
    let [fixed, adaptive] = [0, 1].map(|i| Reading::of(&typical.runs[i]));
    let accumulated = |title: &str, run: Reading<'_>| {
        let lines = run.lines(ICS.bytes(), HOUR_S as f64, |queue| &queue.charged);
        chart(title, "seconds of the whole cluster", lines, &[], &[])
    };
    let quanta = (0..NAMES.len()).filter(|&i| !adaptive.queue(i).quantum_s.is_empty());
    let quanta = quanta
        .map(|i| adaptive.line(NAMES[i], &adaptive.queue(i).quantum_s, 1.0, HOUR_S as f64))
        .collect();
    let mut blocks = vec![
        accumulated("Accumulated resources, fixed quantum of 600 s", fixed),
        accumulated("Accumulated resources, adaptive quantum from 600 s", adaptive),
        chart(
            "Adaptive quantum",
            "s",
            quanta,
            &[],
            &[(11.0, "a Facebook task"), (23.6, "a TPC-H task")],
        ),
    ];
    blocks.extend(spreads);
    Ok(ItemOutcome { checks, assumptions: assumptions(context, ICS), blocks })
}

fn read(comparison: &Comparison, scale: f64) -> [Option<f64>; 5] {
    let [fixed, adaptive] = [0, 1].map(|i| Reading::of(&comparison.runs[i]));
    let fall = |run: Reading<'_>, from: f64| largest_fall(run, from, FALL_S * scale) / ICS.bytes();
    let learnt = (0..NAMES.len()).filter(|&i| knows_its_tasks(adaptive.queue(i), i, scale)).count();
    [
        jumps(fixed, 0.0),
        jumps(adaptive, LEARNT_S * scale),
        Some(fall(fixed, 0.0)),
        Some(fall(adaptive, LEARNT_S * scale)),
        Some(learnt as f64),
    ]
}

/// The sum of all falls of all queues' accumulated resources from `from` on, over the sum of their
/// final values.
fn jumps(run: Reading<'_>, from: f64) -> Option<f64> {
    let after = |i: usize| &run.queue(i).charged[run.index(from)..];
    let falls =
        |i: usize| after(i).windows(2).map(|pair| (pair[0] - pair[1]).max(0.0)).sum::<f64>();
    let last: f64 = (0..NAMES.len()).filter_map(|i| after(i).last()).sum();
    (last > 0.0).then(|| (0..NAMES.len()).map(falls).sum::<f64>() / last)
}

/// The most by which Facebook's accumulated resources fall within `span` seconds.
fn largest_fall(run: Reading<'_>, from: f64, span: f64) -> f64 {
    let (times, charged) = (run.times(), &run.queue(FACEBOOK).charged);
    let fall = |i: usize| {
        let later = run.within(times[i], times[i] + span);
        charged[later].iter().map(|later| charged[i] - later).fold(0.0, f64::max)
    };
    (run.index(from)..times.len()).map(fall).fold(0.0, f64::max)
}

/// Whether a queue's quantum at the end lies between the shortest and the longest mean time of its
/// stages, with a quarter to spare on both sides.
fn knows_its_tasks(queue: &QueueSeries, i: usize, scale: f64) -> bool {
    let (Some(quantum), Some(workload)) =
        (queue.quantum_s.last(), WORKLOADS.get(i).and_then(|name| Workload::find(name)))
    else {
        return false;
    };
    let means =
        || workload.kinds.iter().flat_map(|kind| kind.stages).map(|stage| stage.mean_s * scale);
    let (least, most) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
    (0.75 * least..=1.25 * most).contains(quantum)
}
